/** Results of earlier runs, kept by the content of the file and of its tests: a run that was broken off continues. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { keyOf, type Mutant } from './mutants.ts';

type Line = { readonly key: string; readonly status: string };

/** Results of one file with one set of tests. */
export class KeptResults {
  readonly #path: string;
  readonly #statuses = new Map<string, string>();

  constructor(folder: string, file: string, text: string, testsHash: string) {
    const hash = createHash('sha256').update(`${file}\n${testsHash}\n${text}`).digest('hex').slice(0, 24);
    this.#path = join(folder, `${hash}.jsonl`);
    if (!existsSync(this.#path)) return;
    for (const line of readFileSync(this.#path, 'utf8').split('\n')) {
      // A process that was killed leaves half a line.
      const { key, status } = parsedLine(line) ?? {};
      if (key !== undefined && status !== undefined) this.#statuses.set(key, status);
    }
    // Its half line must not be the beginning of the next.
    appendFileSync(this.#path, '\n');
  }

  statusOf(mutant: Mutant): string | undefined {
    return this.#statuses.get(keyOf(mutant));
  }

  keep(mutant: Mutant, status: string): void {
    const line: Line = { key: keyOf(mutant), status };
    this.#statuses.set(line.key, status);
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
  }
}

function parsedLine(line: string): Line | undefined {
  try {
    return line === '' ? undefined : (JSON.parse(line) as Line);
  } catch {
    return undefined;
  }
}

/** The folder of kept results, beside the history: all worktrees share it. */
export function resultsFolder(isFresh: boolean): string {
  const folder = join(
    execFileSync('git', ['rev-parse', '--path-format=absolute', '--git-common-dir'], { encoding: 'utf8' }).trim(),
    'mutation',
  );
  if (isFresh) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}
