/** Recordings for tests: folders written for one test, and the folder of the real ones. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { it } from 'vitest';

/** Writes the files (in folders where their names have some, gzipped where they end in .gz), calls with the folder, and removes it. */
export async function withFolder<T>(
  files: Readonly<Record<string, string>>,
  call: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-tape-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), name.endsWith('.gz') ? gzipSync(text) : text);
    }
    return await call(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const DATA = process.env['PUNTAS_DATA'] ?? '../shared/data';

/** A test on one set of the real recordings; skipped, saying so, where they are not. `patienceMs`: of a set of millions of rows, on a busy machine. */
export function itOnRecording(
  set: string,
  name: string,
  test: (dir: string) => Promise<void>,
  patienceMs?: number,
): void {
  const dir = join(DATA, set);
  const there = existsSync(dir);
  const told = there ? name : `${name} (skipped: no recording at ${dir}; PUNTAS_DATA says where they are)`;
  it.skipIf(!there)(told, () => test(dir), patienceMs);
}
