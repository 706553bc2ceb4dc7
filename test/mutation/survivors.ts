/** Survivors that stay, each with its reason, and what a run found beside them. */
import { existsSync, readFileSync } from 'node:fs';
import { isMessage, keyOf, type Key, type Mutant } from './mutants.ts';

export type ListedSurvivor = Key & {
  /** Reason why no test can or should kill it. */
  readonly reason: string;
};
/** Counts of a file's mutants. */
export type Counts = {
  readonly killed: number;
  readonly timeouts: number;
  readonly survived: number;
  readonly uncovered: number;
  /** Not run: tried only while a module is loaded, in a folder with slow tests. */
  readonly static: number;
};
/** Result of a whole run for one file. */
export type FileFigures = {
  readonly file: string;
  readonly commit: string;
  /** Counts of Stryker's mutators, deletions included, and of our own. */
  readonly standard: Counts;
  readonly own: Counts;
  /** Survivors without a reason. */
  readonly open: readonly Omit<Key, 'file'>[];
};
export type Figures = {
  readonly commit: string;
  readonly machine: string;
  readonly node: string;
  readonly date: string;
  readonly files: readonly FileFigures[];
};

export const SURVIVORS = 'test/mutation/survivors.json';
export const FIGURES = 'test/mutation/figures.json';

export const listedSurvivors = (): readonly ListedSurvivor[] =>
  JSON.parse(readFileSync(SURVIVORS, 'utf8')) as readonly ListedSurvivor[];
export const readFigures = (): Figures | null =>
  existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, 'utf8')) as Figures) : null;

export type Outcome = { readonly mutant: Mutant; readonly isOwn: boolean; readonly status: string };

export const isSurvivor = ({ status }: Pick<Outcome, 'status'>): boolean =>
  status === 'Survived' || status === 'NoCoverage';

export function countsOf(outcomes: readonly Outcome[]): Counts {
  const count = (...statuses: readonly string[]): number =>
    outcomes.filter(({ status }) => statuses.includes(status)).length;
  return {
    // A mutant that breaks the process of the tests counts as found, though by no test.
    killed: count('Killed', 'RuntimeError'),
    timeouts: count('Timeout'),
    survived: count('Survived'),
    uncovered: count('NoCoverage'),
    static: count('Ignored'),
  };
}

export const totalOf = ({ killed, timeouts, survived, uncovered }: Counts): number =>
  killed + timeouts + survived + uncovered;
export const sumOf = (all: readonly Counts[]): Counts => {
  const sum = (key: keyof Counts): number => all.reduce((total, counts) => total + counts[key], 0);
  return {
    killed: sum('killed'),
    timeouts: sum('timeouts'),
    survived: sum('survived'),
    uncovered: sum('uncovered'),
    static: sum('static'),
  };
};

/** Survivors that must have a reason and have none. Words of messages need none. */
export const openOf = (outcomes: readonly Outcome[], listed: readonly ListedSurvivor[]): readonly Mutant[] => {
  const known = new Set(listed.map(keyOf));
  return outcomes
    .filter(outcome => isSurvivor(outcome) && !isMessage(outcome.mutant) && !known.has(keyOf(outcome.mutant)))
    .map(({ mutant }) => mutant);
};

/**
 * Open survivors that an earlier whole run of their file did not have. A file without such a run has gained all of them if it is
 * `isChanged`, and none otherwise.
 */
export function gainedOf(open: readonly Mutant[], figures: Figures | null, isChanged: boolean): readonly Mutant[] {
  const files = new Map(
    (figures?.files ?? []).map(({ file, open: keys }) => [file, keys.map(key => keyOf({ file, ...key }))]),
  );
  return open.filter(mutant => {
    const before = files.get(mutant.file);
    return before === undefined ? isChanged : !before.includes(keyOf(mutant));
  });
}

/** Wilson's interval of a share, at 95 %. */
export function interval(found: number, all: number): readonly [low: number, high: number] {
  if (all === 0) return [0, 1];
  const z = 1.959964;
  const share = found / all;
  const center = share + (z * z) / (2 * all);
  const half = z * Math.sqrt((share * (1 - share)) / all + (z * z) / (4 * all * all));
  const scale = 1 + (z * z) / all;
  return [Math.max(0, (center - half) / scale), Math.min(1, (center + half) / scale)];
}
