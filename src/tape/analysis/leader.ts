/** What another price foretells of a book: the slope of the book's next move on how far it lies from that price, a horizon, and the weight that follows. */
import type { Leg } from '../../core/index.ts';
import { priceAcross } from '../../core/index.ts';
import { FORETOLD_STRETCHES, foretoldOf, foretoldSums, mostForetelling, stretchOfEach } from './foretold.ts';
import type { Foretold } from './foretold.ts';
import { logSecondsOf } from './seconds.ts';
import type { LogSeconds } from './seconds.ts';
import type { Tape } from '../model/tape.ts';

/** Seconds after the look. */
export const LEADER_HORIZONS = [1, 5, 15, 60, 300] as const;

export type Leader = {
  readonly horizons: readonly { readonly seconds: number; readonly foretold: Foretold | null }[];
  /** The longest horizon at which it foretells, which the weight is of; null where it does at none. */
  readonly chosen: number | null;
  /** Share of the reference in the fair value, 0 to 1; 0 where it foretells nothing. */
  readonly weight: number;
  /** With which the usual ratio of both prices was followed. */
  readonly basisMemoryS: number;
  /** How old the reference was when it was looked at. */
  readonly ageS: number;
  /** Share of the seconds in which the reference moved, of those in which it is known. */
  readonly moving: number;
};

export type LeaderOptions = {
  /** How old the reference is when it is quoted on, in whole seconds. */
  readonly ageS: number;
  /** The usual ratio of both is followed with this time constant. */
  readonly basisMemoryS: number;
};

/** For a recording of so many seconds: a tenth of it, so that what is usual is known and seen to change, within half a minute and an hour. */
export const basisMemoryFor = (seconds: number): number => {
  const wanted = Math.max(30, Math.min(3_600, seconds / 10));
  return wanted < 60 ? Math.floor(wanted) : 60 * Math.floor(wanted / 60);
};

/** `legs` and `tapes` in one order. Throws a RangeError when they are not as many. */
export function leaderOf(own: Tape, legs: readonly Leg[], tapes: readonly Tape[], ageS: number): Leader {
  if (legs.length !== tapes.length) throw new RangeError(`${tapes.length} recordings for ${legs.length} books`);
  const ours = logSecondsOf(own);
  return leaderIn(
    ours,
    acrossOf(
      legs,
      tapes.map(tape => logSecondsOf(tape)),
    ),
    {
      ageS,
      basisMemoryS: basisMemoryFor(ours.values.length),
    },
  );
}

/**
 * Each second the move of our price over the next seconds on x = (leader - own), both as logarithms less what is usual of them (an exponential mean, as the
 * basis of the fair value has it), beside our own distance from what is usual: what comes back by itself is not the leader's merit, and a reference that stands still foretells nothing.
 */
export function leaderIn(own: LogSeconds, leader: LogSeconds, { ageS, basisMemoryS }: LeaderOptions): Leader {
  const { from, values } = own;
  const sums = LEADER_HORIZONS.map(foretoldSums);
  const kept = Math.exp(-1 / basisMemoryS);
  const leaderAt = (i: number): number => leader.values[i - ageS + from - leader.from] ?? Number.NaN;
  const stretches = stretchOfEach(values.length, i => !Number.isNaN(values[i]! + leaderAt(i)));
  let [usualOwn, usualLeader, seen, missed, before] = [0, 0, 0, 0, Number.NaN];
  let [known, moved] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const price = values[i]!;
    const other = leaderAt(i);
    if (Number.isNaN(price + other)) {
      missed++;
      continue;
    }
    // After a long time without both it begins anew.
    if (missed > basisMemoryS) seen = 0;
    missed = 0;
    known++;
    if (other !== before) moved++;
    before = other;
    // As a mean of all so far while it is young.
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
    // A stretch must hold some moves that do not overlap.
    foretold: known >= 4 * seconds * FORETOLD_STRETCHES ? foretoldOf(sums[h]!) : null,
  }));
  // Whether there is anything is asked once, where it shows most; how much, where the move has come furthest.
  const has = mostForetelling(horizons)?.foretold?.holds === true;
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

/** The price at the end of the chain, second by second, where all of its books are known. */
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
