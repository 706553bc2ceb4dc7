/** The 99th percentile (p99) of decisions in turns with a load and without, and their ratio over pairs of neighboring turns. */
import { randomOf } from '../../src/core/index.ts';
import type { Decisions } from './decisionProbe.ts';

export type Turn = { readonly isLoaded: boolean; readonly decisions: Decisions };
export type TurnRatio = {
  readonly without: number;
  readonly loaded: number;
  /** p99 of all decisions with the load to that of all without, and its middle 95 % over resampled pairs. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly medianOfTurns: number;
};
type By = keyof Decisions;

const RESAMPLES = 2_000;

/** ABBA: what grows or shrinks meanwhile comes to both alike. */
export const isLoadedTurn = (turn: number): boolean => turn % 4 === 1 || turn % 4 === 2;

export const quantile = (all: readonly number[], share: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN;

/** Returns the figures by the clock and in processor time, of an even number of turns. */
export function turnRatios(turns: readonly Turn[]): Readonly<Record<By, TurnRatio>> {
  const pairs = Array.from({ length: Math.floor(turns.length / 2) }, (_, i) => {
    const two = turns.slice(2 * i, 2 * i + 2);
    return [two.find(({ isLoaded }) => !isLoaded)!, two.find(({ isLoaded }) => isLoaded)!] as const;
  });
  return { processor: ratioOf(pairs, 'processor'), clock: ratioOf(pairs, 'clock') };
}

/** Returns a line for each. `load`: what the turns have, like `100 pages`. */
export const ratioLines = (found: Readonly<Record<By, TurnRatio>>, load: string): readonly string[] =>
  Object.entries(found).map(
    ([name, { without, loaded, ratio, low, high, medianOfTurns }]) =>
      `p99 of a decision, by the ${name}: ${without.toFixed(0)} µs without ${load}, ${loaded.toFixed(0)} µs with; ` +
      `ratio ${ratio.toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)}; median of pairs of turns ${medianOfTurns.toFixed(3)})`,
  );

function ratioOf(pairs: readonly (readonly [without: Turn, loaded: Turn])[], by: By): TurnRatio {
  const p99 = (some: typeof pairs, side: 0 | 1): number =>
    quantile(
      some.flatMap(pair => pair[side].decisions[by]),
      0.99,
    );
  const of = (some: typeof pairs): number => p99(some, 1) / p99(some, 0);
  const random = randomOf(1);
  const drawn = Array.from({ length: RESAMPLES }, () =>
    of(pairs.map(() => pairs[random.integer(0, pairs.length - 1)]!)),
  );
  return {
    ...{ without: p99(pairs, 0), loaded: p99(pairs, 1), ratio: of(pairs) },
    ...{ low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) },
    medianOfTurns: quantile(
      pairs.map(pair => of([pair])),
      0.5,
    ),
  };
}
