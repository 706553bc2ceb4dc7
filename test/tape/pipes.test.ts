/** A recording is read more than once: a pipe in its place is refused at once, with any ending. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parquetGroups } from '../../src/tape/import/read/parquet.ts';
import { openEntry, unpackedBytes } from '../../src/tape/import/read/packed.ts';

const READERS: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  csv: path => unpackedBytes(path, () => undefined).next(),
  'csv.gz': path => unpackedBytes(path, () => undefined).next(),
  'csv.zst': path => unpackedBytes(path, () => undefined).next(),
  'csv.lz4': path => unpackedBytes(path, () => undefined).next(),
  'csv.zip': path => unpackedBytes(path, () => undefined).next(),
  npz: path => openEntry(path, () => true),
  parquet: path =>
    parquetGroups(
      path,
      () => [],
      () => undefined,
    ).next(),
};

test.each(Object.entries(READERS))('a pipe that ends in .%s is refused, not waited for', async (ending, read) => {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-pipe-'));
  try {
    const path = join(dir, `trades.${ending}`);
    execFileSync('mkfifo', [path]);
    await expect(read(path)).rejects.toThrow('not a regular file');
  } finally {
    rmSync(dir, { recursive: true });
  }
});
