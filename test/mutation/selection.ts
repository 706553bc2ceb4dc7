/** Files and mutants of a run: whole folders, changed lines, or a draw by seed. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { keyOf, type Mutant } from './mutants.ts';
import { WHOLE } from './rooms.ts';

const git = (...words: readonly string[]): string =>
  execFileSync('git', [...words], { encoding: 'utf8', maxBuffer: 256e6 }).trim();

/** `core/orders` is `src/core/orders`. Throws if there is no such folder or file. */
export function pathNamed(word: string): string {
  const path = word.replace(/\/$/, '');
  const found = [path, `src/${path}`].find(existsSync);
  if (found === undefined) throw new Error(`${word}: no such folder or file; expected one of src or strategies`);
  return found;
}

/** Files with code below the paths. Scripts of a page run in a browser. */
export function sourcesBelow(paths: readonly string[]): readonly string[] {
  const files = git('ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths).split('\n');
  return [...new Set(files)]
    .filter(file => file.endsWith('.ts') && existsSync(file) && !/^src\/(?:console\/page|pages\/script)\//.test(file))
    .sort();
}

/** Lines that a file has and `base` does not, by file; of whole runs' folders only. */
export function changedLines(base: string): ReadonlyMap<string, ReadonlySet<number>> {
  const lines = new Map<string, Set<number>>();
  let file = '';
  for (const line of git(
    'diff',
    '--unified=0',
    '--no-color',
    '--no-ext-diff',
    '--src-prefix=a/',
    '--dst-prefix=b/',
    base,
    '--',
    ...WHOLE,
  ).split('\n')) {
    if (line.startsWith('+++ ')) file = line.replace(/^\+\+\+ (?:b\/)?/, '');
    const [, start, count = '1'] = /^@@ .* \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start === undefined || file === '/dev/null') continue;
    const changed = lines.get(file) ?? new Set<number>();
    lines.set(file, changed);
    // If lines were only removed, the lines before and after stand for the change.
    const [from, to] =
      count === '0' ? [Number(start), Number(start) + 1] : [Number(start), Number(start) + Number(count) - 1];
    for (let n = from; n <= to; n++) changed.add(n);
  }
  return lines;
}

/** `count` of the mutants, the same ones for a seed whatever the order in which they come. */
export function drawn<T extends { readonly mutant: Mutant }>(
  all: readonly T[],
  count: number,
  seed: string,
): readonly T[] {
  const rank = ({ mutant }: T): string =>
    createHash('sha256')
      .update(`${seed}\n${keyOf(mutant)}`)
      .digest('hex');
  return all
    .map(one => ({ one, at: rank(one) }))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .slice(0, count)
    .map(({ one }) => one);
}

/** Groups in the order in which they come up first. */
export function grouped<T, K>(all: readonly T[], keyOfOne: (one: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const group = groups.get(keyOfOne(one));
    if (group === undefined) groups.set(keyOfOne(one), [one]);
    else group.push(one);
  }
  return groups;
}
