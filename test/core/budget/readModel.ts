/**
 * Quick model of several books under one budget (formulas-desk E15): fair values move as Brownian motions, and takers
 * who know them take the quotes that they are beyond. Polled books are read in the order of the run, or in turn. Of
 * streamed books each move is known, and new quotes are shared as the run shares them, or evenly.
 */
import {
  FairShares,
  nextRead,
  normal,
  oldestAge,
  randomOf,
  readCountValue,
  requoteFrom,
  requoteValue,
  type Random,
  type StaleRisk,
} from '../../../src/core/index.ts';

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
      for (const beyond of lossesIn(risks, moved, random)) {
        losses++;
        cost += beyond;
      }
  }
  return { losses, cost, reads, oldestS };
}

/** Moves the fair values by one step; returns how far they were beyond each quote that was taken. */
function lossesIn(risks: readonly StaleRisk[], moved: number[], random: Random): number[] {
  return risks.flatMap(({ sigma, distance, takers }, i) => {
    moved[i]! += sigma * Math.sqrt(1 / STEPS) * normal(random);
    if (random.next() >= 1 - Math.exp(-takers / STEPS)) return [];
    const beyond = Math.abs(moved[i]!) - distance;
    return beyond > 0 ? [beyond] : [];
  });
}

/** Share of its distance by which the fair value must have moved before a book wants a new quote. */
const MOVED_FROM = 0.85;
/** Assumed time until the next chance to quote, as in the run. */
const NEXT_CHANCE_S = 10;

export type RequoteHour = Pick<ReadHour, 'losses' | 'cost'> & { readonly requests: number };

/**
 * Returns one hour of streamed books that send at most `perMinute` new quotes in any minute: an even part of them for
 * each book, or all of them shared by value.
 */
export function requoteHour(
  risks: readonly StaleRisk[],
  seed: number,
  order: 'evenly' | 'by value',
  perMinute: number,
): RequoteHour {
  const random = randomOf(seed);
  let now = 0;
  const moved = risks.map(() => 0);
  const sent = risks.map((): number[] => []);
  const recent = (i: number): number => {
    const times = sent[i]!;
    while (times.length > 0 && times[0]! <= now - 60 * SECOND) times.shift();
    return times.length;
  };
  const left = (): number => perMinute - risks.reduce((sum, _, i) => sum + recent(i), 0);
  const names = risks.map((_, i) => `${i}`);
  const shares = new FairShares({ elapsed: () => now }, left, names, (books, scarcity) =>
    books.map(Number).map(i => {
      const [risk, move] = [risks[i]!, Math.abs(moved[i]!)];
      return move < requoteFrom(risk.distance, scarcity) ? 0 : requoteValue(risk, move, NEXT_CHANCE_S);
    }),
  );
  const maySend = (i: number): boolean => {
    if (order === 'evenly') return recent(i) < perMinute / risks.length;
    const may = left() >= 1 && shares.mayPlace(names[i]!);
    if (may) shares.place(names[i]!);
    else shares.refuse(names[i]!);
    return may;
  };
  let [losses, cost, requests] = [0, 0, 0];
  for (let step = 0; step < HOUR_S * STEPS; step++) {
    now = (step * SECOND) / STEPS;
    for (const beyond of lossesIn(risks, moved, random)) {
      losses++;
      cost += beyond;
    }
    risks.forEach(({ distance }, i) => {
      if (Math.abs(moved[i]!) < MOVED_FROM * distance || !maySend(i)) return;
      sent[i]!.push(now);
      moved[i] = 0;
      requests++;
    });
  }
  return { losses, cost, requests };
}

/** Mean and half of the 95% interval of values, by Student's t with 19 degrees of freedom or more. */
export function meanAndError(values: readonly number[]): readonly [mean: number, error: number] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1);
  return [mean, 2.093 * Math.sqrt(variance / values.length)];
}
