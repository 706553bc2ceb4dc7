/** Hash of the program. Machines with equal code run a trial with identical results. */
import { LARGE_FILE, readRegularFile } from '../../../src/guard/index.ts';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM_FOLDERS = ['src', 'strategies', 'backtest'];

/**
 * Returns one SHA-256 over all files of the program and the versions of its dependencies. Compiled and uncompiled code
 * have different hashes.
 */
export function programCode(): string {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const hash = createHash('sha256');
  for (const room of PROGRAM_FOLDERS)
    for (const file of filesIn(root, room, ending))
      hash.update(`${file}\n`).update(readRegularFile(join(root, file), LARGE_FILE));
  const manifest = [join(root, 'package.json'), join(root, '..', 'package.json')].find(existsSync);
  const { dependencies } = JSON.parse(manifest === undefined ? '{}' : readRegularFile(manifest, LARGE_FILE)) as {
    readonly dependencies?: object;
  };
  return hash.update(JSON.stringify(dependencies ?? {})).digest('hex');
}

const filesIn = (root: string, below: string, ending: string): readonly string[] =>
  readdirSync(join(root, below), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(entry =>
      entry.isDirectory()
        ? filesIn(root, `${below}/${entry.name}`, ending)
        : entry.name.endsWith(ending) && !entry.name.endsWith('.d.ts')
          ? [`${below}/${entry.name}`]
          : [],
    );

/** Returns the prefix of a hash that is shown to the operator. */
export const shortCode = (code: string): string => code.slice(0, 12);
