/**
 * Prediction of a book's price from a reference price. Each horizon has a slope: the expected move of the book's price
 * per unit of its distance from the reference price. The weight of the reference follows from the slopes.
 */
import { counted, priceAcross, type Leg } from '../../core/index.ts';
import {
  PREDICTION_BLOCKS,
  predictionOf,
  predictionSums,
  strongestPredictor,
  blockOfEach,
  type Prediction,
} from './prediction.ts';
import { logSecondsOf, type LogSeconds } from './seconds.ts';
import type { Tape } from '../model/tape.ts';

/** Prediction horizons, in seconds. */
export const LEADER_HORIZONS = [1, 5, 15, 60, 300] as const;

export type Leader = {
  readonly horizons: readonly { readonly seconds: number; readonly foretold: Prediction | null }[];
  /**
   * Horizon that determines the weight, in seconds: the longest with a valid prediction. `null` if the strongest
   * prediction is not valid.
   */
  readonly chosen: number | null;
  /** Weight of the reference in the fair value, from 0 to 1; 0 if the reference predicts nothing. */
  readonly weight: number;
  /** Time constant, in seconds, with which the ratio of book price to reference price is averaged. */
  readonly basisMemoryS: number;
  /** Assumed age of the reference, in seconds. */
  readonly ageS: number;
  /** Share of seconds in which the reference price changed, among the seconds with both prices. */
  readonly moving: number;
};

export type LeaderOptions = {
  /** Age of the reference when quotes use it, in whole seconds. */
  readonly ageS: number;
  /** Time constant, in seconds, with which the ratio of book price to reference price is averaged. */
  readonly basisMemoryS: number;
};

/** Returns `basisMemoryS` for a recording with `seconds` of prices: a tenth of them, between 30 s and 1 h. */
export const basisMemoryFor = (seconds: number): number => {
  const wanted = Math.max(30, Math.min(3_600, seconds / 10));
  return wanted < 60 ? Math.floor(wanted) : 60 * Math.floor(wanted / 60);
};

/**
 * Computes how well other books predict a tape. `legs` and `tapes` are in the same order. Throws a RangeError if `legs`
 * and `tapes` differ in length.
 */
export function leaderOf(own: Tape, legs: readonly Leg[], tapes: readonly Tape[], ageS: number): Leader {
  if (legs.length !== tapes.length)
    throw new RangeError(`${counted(tapes.length, 'recording')} for ${counted(legs.length, 'book')}`);
  const ours = logSecondsOf(own);
  return leaderIn(
    ours,
    acrossOf(
      legs,
      tapes.map(tape => logSecondsOf(tape)),
    ),
    {
      ageS,
      basisMemoryS: basisMemoryFor(ours.values.filter(price => !Number.isNaN(price)).length),
    },
  );
}

/**
 * Fits the next moves of the book's price on x = (leader - own), sampled every second. Both prices are logarithms minus
 * their exponential moving average, like the basis of the fair value. The distance of the book's price from its average
 * is a control variable. Mean reversion is therefore not credited to the leader, and a constant reference predicts
 * nothing.
 */
export function leaderIn(own: LogSeconds, leader: LogSeconds, { ageS, basisMemoryS }: LeaderOptions): Leader {
  const { from, values } = own;
  const sums = LEADER_HORIZONS.map(predictionSums);
  const kept = Math.exp(-1 / basisMemoryS);
  const leaderAt = (i: number): number => leader.values[i - ageS + from - leader.from] ?? Number.NaN;
  const stretches = blockOfEach(values.length, i => !Number.isNaN(values[i]! + leaderAt(i)));
  let [usualOwn, usualLeader, seen, missed, before] = [0, 0, 0, 0, Number.NaN];
  let [known, moved] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const price = values[i]!;
    const other = leaderAt(i);
    if (Number.isNaN(price + other)) {
      missed++;
      continue;
    }
    // If a price was missing for more than `basisMemoryS` seconds, the means restart.
    if (missed > basisMemoryS) seen = 0;
    missed = 0;
    known++;
    if (other !== before) moved++;
    before = other;
    // While there are few samples, the mean has equal weights.
    const weight = Math.max(1 / ++seen, 1 - kept);
    usualOwn += weight * (price - usualOwn);
    usualLeader += weight * (other - usualLeader);
    if (seen < basisMemoryS) continue;
    const away = price - usualOwn;
    const x = other - usualLeader - away;
    LEADER_HORIZONS.forEach((seconds, h) =>
      sums[h]![stretches[i]!]!.add(1e4 * x, 1e4 * ((values[i + seconds] ?? Number.NaN) - price), 1e4 * away),
    );
  }
  const horizons = LEADER_HORIZONS.map((seconds, h) => ({
    seconds,
    // A time block must contain several moves that do not overlap.
    foretold: known >= 4 * seconds * PREDICTION_BLOCKS ? predictionOf(sums[h]!) : null,
  }));
  // The horizon with the strongest prediction decides whether the reference helps; the longest valid horizon gives the
  // weight.
  const has = strongestPredictor(horizons)?.foretold?.holds === true;
  const furthest = has ? horizons.findLast(({ foretold }) => foretold?.holds === true) : undefined;
  return {
    horizons,
    chosen: furthest?.seconds ?? null,
    weight: Math.min(1, furthest?.foretold?.slope.value ?? 0),
    basisMemoryS,
    ageS,
    moving: moved / Math.max(1, known),
  };
}

/** Returns the combined price of all legs for each second in which every book has a price. */
function acrossOf(legs: readonly Leg[], books: readonly LogSeconds[]): LogSeconds {
  const from = Math.max(...books.map(book => book.from));
  const to = Math.min(...books.map(book => book.from + book.values.length));
  const values = new Float64Array(Math.max(0, to - from));
  for (let i = 0; i < values.length; i++)
    values[i] = Math.log(
      priceAcross(
        legs,
        books.map(book => Math.exp(book.values[i + from - book.from] ?? Number.NaN)),
      ),
    );
  return { from, values };
}
