/**
 * Quick model of several polled books under one budget (formulas-desk E15): fair values move as Brownian motions, and
 * takers who know them take the quotes that they are beyond. Reads are chosen as the run chooses them, or in turn.
 */
import { nextRead, normal, oldestAge, randomOf, readCountValue, type StaleRisk } from '../../../src/core/index.ts';

const SECOND = 1_000;
const HOUR_S = 3_600;
/** Moves and takers per read slot of one second. */
const STEPS = 10;

const risksOf = (sigmas: readonly number[], distances: readonly number[], takers: readonly number[]): StaleRisk[] =>
  sigmas.map((sigma, i) => ({ sigma, distance: distances[i]!, takers: takers[i]!, worth: 1 }));
const [MOVES, FIVE] = [
  [0.5, 1, 2, 4, 8],
  [1, 1, 1, 1, 1],
];
const all = (value: number): number[] => FIVE.map(() => value);

/** Sets of five books of formulas-desk E15; volatilities and distances in bps. */
export const READ_SETS: Readonly<Record<string, readonly StaleRisk[]>> = {
  A: risksOf(MOVES, all(12), all(0.1)),
  D: risksOf(MOVES, all(12), [0.02, 0.05, 0.1, 0.2, 0.4]),
  E: risksOf(all(3), all(6), [0.02, 0.04, 0.1, 0.2, 0.4]),
  B: risksOf(
    MOVES,
    MOVES.map(sigma => 3 * sigma),
    all(0.1),
  ),
  C: risksOf(all(3), all(9), all(0.1)),
};

export type ReadHour = {
  /** Number of quotes that were taken while the fair value was beyond them, and how far beyond in all, in bps. */
  readonly losses: number;
  readonly cost: number;
  /** Reads of each book. */
  readonly reads: readonly number[];
  /** Longest time between two reads of one book, in seconds. */
  readonly oldestS: number;
};

/** Order of the reads: in turn; by value; or by value without the bound on the age of a book. */
export type ReadOrder = 'in turn' | 'by value' | 'by value alone';

/** Returns one hour with 60 reads per minute. `known`: what the scheduler takes the risks for. */
export function readHour(
  risks: readonly StaleRisk[],
  seed: number,
  order: ReadOrder,
  known: readonly StaleRisk[] = risks,
): ReadHour {
  const random = randomOf(seed);
  let second = 0;
  const readAt = risks.map(() => -Infinity);
  const moved = risks.map(() => 0);
  const reads = risks.map(() => 0);
  let [losses, cost, oldestS] = [0, 0, 0];
  const read = (i: number): void => {
    if (readAt[i]! >= 0) oldestS = Math.max(oldestS, second - readAt[i]!);
    readAt[i] = second;
    moved[i] = 0;
    reads[i]!++;
  };
  const oldestMs = order === 'by value' ? oldestAge(risks.length, SECOND, 120 * SECOND) : Infinity;
  const next = (): number => {
    if (order === 'in turn') return second % risks.length;
    const books = known.map((risk, i) => {
      const ageS = second - readAt[i]!;
      return { age: ageS * SECOND, ...readCountValue(risk, ageS) };
    });
    return nextRead(books, SECOND, oldestMs);
  };
  for (; second < HOUR_S; second++) {
    read(next());
    for (let step = 0; step < STEPS; step++)
      risks.forEach(({ sigma, distance, takers }, i) => {
        moved[i]! += sigma * Math.sqrt(1 / STEPS) * normal(random);
        if (random.next() >= 1 - Math.exp(-takers / STEPS)) return;
        const beyond = Math.abs(moved[i]!) - distance;
        if (beyond <= 0) return;
        losses++;
        cost += beyond;
      });
  }
  return { losses, cost, reads, oldestS };
}

/** Mean and half of the 95% interval of values, by Student's t with 19 degrees of freedom or more. */
export function meanAndError(values: readonly number[]): readonly [mean: number, error: number] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1);
  return [mean, 2.093 * Math.sqrt(variance / values.length)];
}
