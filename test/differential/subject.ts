/** Part of the program that is compared with a slow model on random lists of operations. */
import type { Random } from '../../src/core/index.ts';

/** First difference, and the index of the operation after which the comparison found it. */
export type Divergence = { readonly at: number; readonly what: string };

export type Subject<Operation, Setting> = {
  /** Number of operations in one list: enough to reach rare states, but few enough to shrink. */
  readonly listLength: number;
  /** Number of operations between two full comparisons. A cheaper comparison follows each operation. */
  readonly compareEvery: number;
  readonly drawSetting: (random: Random) => { readonly setting: Setting; readonly draw: () => Operation };
  /** Returns the first difference, or `null`. An error of the program counts as a difference. */
  readonly divergence: (operations: readonly Operation[], setting: Setting, every?: number) => Divergence | null;
};

/** Describes the difference of two values; `null` if they are equal. */
export const differs = (what: string, found: unknown, expected: unknown): string | null =>
  Object.is(found, expected) ? null : `${what}: expected ${String(expected)}, found ${String(found)}`;

type Drawn<Operation, Setting> = { readonly operations: readonly Operation[]; readonly setting: Setting };

/** Draws a setting and a list of operations. */
export function drawnList<Operation, Setting>(
  { drawSetting, listLength }: Subject<Operation, Setting>,
  random: Random,
): Drawn<Operation, Setting> {
  const { setting, draw } = drawSetting(random);
  return { setting, operations: Array.from({ length: listLength }, draw) };
}

/** Returns the fewest operations found that still cause a difference, and this difference. */
export function shrunk<Operation, Setting>(
  { divergence, compareEvery }: Subject<Operation, Setting>,
  { operations, setting }: Drawn<Operation, Setting>,
): { readonly operations: readonly Operation[]; readonly what: string } {
  // A comparison after each operation may hide a difference, because its queries may change cached values.
  const every = divergence(operations, setting, 1) === null ? compareEvery : 1;
  const differenceOf = (some: readonly Operation[]) => divergence(some, setting, every);
  let left = operations.slice(0, differenceOf(operations)!.at + 1);
  for (let size = Math.ceil(left.length / 2); ; size = Math.ceil(size / 2)) {
    const before = left.length;
    for (let from = 0; from < left.length;) {
      const without = left.toSpliced(from, size);
      if (differenceOf(without) !== null) left = without;
      else from += size;
    }
    if (size === 1 && left.length === before) return { operations: left, what: differenceOf(left)!.what };
  }
}
