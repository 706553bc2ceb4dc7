/** Joint price moves of the books of a scout: correlation of each pair, and the risk of inventory in several books. */
import {
  asynchrony,
  comovementOf,
  INTERVALS_MIN,
  intervalsToKnow,
  isKnown,
  pairOf,
  usableCorrelations,
  type Comovement,
  type Millis,
} from '../../src/core/index.ts';
import type { LogSeconds } from '../../src/tape/index.ts';

/** Joint moves of all pairs of books. */
export type JointMoves = {
  /** Pairs, strongest correlation first; pairs with an unknown correlation come last. */
  readonly pairs: readonly BookPair[];
  /**
   * Risk of inventory of equal risk on the same side of all books, as a multiple of the risk of one book. Unknown
   * correlations count as zero. Independent books would have the square root of their number.
   */
  readonly allSameSide: number;
};

/** Joint moves of two books. Risks are multiples of the risk of one book, for inventory of equal risk in both. */
export type BookPair = {
  /** Names of the two books in the report. */
  readonly a: string;
  readonly b: string;
  /** Time in which both books have a price, in seconds. */
  readonly seconds: number;
  /** Time over which price moves are compared, in seconds; `null` if a price never moved. */
  readonly horizonS: number | null;
  /** Correlation with its 95% interval; `null` if it is unknown. */
  readonly correlation: { readonly value: number; readonly low: number; readonly high: number } | null;
  /**
   * Common time after which the correlation would be known, or would differ from zero if the estimate is right;
   * `null` if it does so already, or if no time can be given.
   */
  readonly neededSeconds: number | null;
  /** Correlation that the risks use: shrunk for chance, and 0 if it is unknown or its interval contains 0. */
  readonly usedCorrelation: number;
  readonly sameSide: number;
  readonly oppositeSides: number;
  /** Book whose price the two books imply, if they share one currency; `null` otherwise. */
  readonly implied: ImpliedBook | null;
};

/** Book that equals positions of the same value in two others: long in both, or long in the first and short in the second. */
export type ImpliedBook = {
  readonly book: string;
  readonly isSecondShort: boolean;
  /** Volatility over an hour that follows from the two books, and the recorded one, in bps; `null` if unknown. */
  readonly volatilityBps: number | null;
  readonly recordedBps: number | null;
};

/** Book of a scout with its prices at each second. */
export type TimedBook = {
  /** Names, times of the first and last row in epoch ms, and volatility over an hour, as in the report. */
  readonly book: {
    readonly name: string;
    readonly book: string;
    readonly from: Millis;
    readonly to: Millis;
    readonly volatilityBps: number | null;
  };
  readonly log: LogSeconds;
};

/** Limits of the horizon, in seconds, before it is extended for prices that move rarely. */
const HORIZON_MIN_S = 60;
const HORIZON_MAX_S = 300;
/** Number of horizons that fit into the common time; a shorter time has the minimum horizon. */
const HORIZONS = 60;
/** Maximum share of a correlation that different times of the price changes may cost. */
const LOST_MAX = 0.1;

/** Compares the prices of all pairs of books on their common clock; `null` with fewer than two books. */
export function booksTogether(books: readonly TimedBook[]): JointMoves | null {
  if (books.length < 2) return null;
  const found = books.map((a, i) => books.slice(i + 1).map(b => movesOf(a.log, b.log)));
  const between = (i: number, j: number): PairMoves => found[Math.min(i, j)]![Math.abs(j - i) - 1]!;
  const matrix = usableCorrelations(books.length, (i, j) => between(i, j).moves?.correlation ?? null);
  const pairs = books.flatMap((_, i) =>
    books.slice(i + 1).map((__, k) => pairOfBooks(books, [i, i + 1 + k], between(i, i + 1 + k), matrix)),
  );
  const strength = ({ correlation, usedCorrelation, seconds }: BookPair): readonly number[] => [
    correlation === null ? 0 : 1,
    Math.abs(usedCorrelation),
    Math.abs(correlation?.value ?? 0),
    seconds,
  ];
  const sum = matrix.reduce((all, row) => all + row.reduce((of, value) => of + value, 0), 0);
  return {
    pairs: pairs.sort((a, b) => firstDifference(strength(b), strength(a))),
    allSameSide: Math.sqrt(Math.max(0, sum)),
  };
}

const firstDifference = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, i) => value - b[i]!).find(difference => difference !== 0) ?? 0;

type PairMoves = {
  readonly seconds: number;
  readonly horizonS: number | null;
  readonly moves: Comovement | null;
};

function movesOf(a: LogSeconds, b: LogSeconds): PairMoves {
  const { x, y } = commonSeconds(a, b);
  const seconds = Math.max(0, x.length - 1);
  const apart = asynchrony(seconds / changesIn(x), seconds / changesIn(y));
  if (!Number.isFinite(apart)) return { seconds, horizonS: null, moves: null };
  const horizonS = Math.ceil(Math.max(HORIZON_MIN_S, Math.min(HORIZON_MAX_S, seconds / HORIZONS), apart / LOST_MAX));
  return { seconds, horizonS, moves: comovementOf(x, y, horizonS) };
}

/**
 * Returns the prices of the seconds in which both books have one, one after the other. A move from before to after
 * missing seconds is left out of both.
 */
export function commonSeconds(a: LogSeconds, b: LogSeconds): { readonly x: Float64Array; readonly y: Float64Array } {
  const from = Math.max(a.from, b.from);
  const to = Math.min(a.from + a.values.length, b.from + b.values.length);
  const [x, y] = [new Float64Array(Math.max(0, to - from)), new Float64Array(Math.max(0, to - from))];
  let [n, offX, offY, isMissing] = [0, 0, 0, true];
  for (let second = from; second < to; second++) {
    const [p, q] = [a.values[second - a.from]!, b.values[second - b.from]!];
    const isKnownNow = Number.isFinite(p) && Number.isFinite(q);
    if (isKnownNow) {
      if (isMissing && n > 0) {
        offX = x[n - 1]! - p;
        offY = y[n - 1]! - q;
      }
      x[n] = p + offX;
      y[n] = q + offY;
      n++;
    }
    isMissing = !isKnownNow;
  }
  return { x: x.subarray(0, n), y: y.subarray(0, n) };
}

function changesIn(values: Float64Array): number {
  let changes = 0;
  for (let i = 1; i < values.length; i++) if (values[i] !== values[i - 1]) changes++;
  return changes;
}

function pairOfBooks(
  books: readonly TimedBook[],
  [i, j]: readonly [number, number],
  { seconds, horizonS, moves }: PairMoves,
  matrix: readonly (readonly number[])[],
): BookPair {
  const [a, b] = [books[i]!, books[j]!];
  const usedCorrelation = matrix[i]![j]!;
  const found = moves?.correlation ?? null;
  return {
    ...{ a: a.book.name, b: b.book.name, seconds, horizonS },
    correlation: found && { value: found.value, low: found.low, high: found.high },
    neededSeconds: neededSeconds(seconds, horizonS, moves),
    usedCorrelation,
    sameSide: Math.sqrt(2 * (1 + usedCorrelation)),
    oppositeSides: Math.sqrt(2 * (1 - usedCorrelation)),
    implied: impliedBook(books, a, b, moves),
  };
}

function neededSeconds(seconds: number, horizonS: number | null, moves: Comovement | null): number | null {
  const least = INTERVALS_MIN * (horizonS ?? HORIZON_MIN_S);
  if (moves === null) return seconds < least ? least : null;
  const { correlation } = moves;
  if (isKnown(correlation)) return null;
  const needed = (intervalsToKnow(correlation.value) * seconds) / correlation.intervals;
  return Number.isFinite(needed) ? needed : null;
}

function impliedBook(
  books: readonly TimedBook[],
  a: TimedBook,
  b: TimedBook,
  moves: Comovement | null,
): ImpliedBook | null {
  const found = impliedBy(a.book.book, b.book.book);
  if (found === null) return null;
  const { book, isSecondShort } = found;
  const turned = pairOf(book).toReversed().join('_');
  const recorded = books.find(
    ({ book: { book: name, from, to } }) =>
      (name === book || name === turned) &&
      from <= Math.min(a.book.to, b.book.to) &&
      to >= Math.max(a.book.from, b.book.from),
  );
  const variance =
    moves === null ? Number.NaN : moves.varianceX + moves.varianceY + (isSecondShort ? -2 : 2) * moves.covariance;
  return {
    ...{ book: recorded?.book.book ?? book, isSecondShort },
    volatilityBps: variance >= 0 ? 10_000 * Math.sqrt(3_600 * variance) : null,
    recordedBps: recorded?.book.volatilityBps ?? null,
  };
}

/** Returns the book that two books imply; `null` unless they share exactly one currency. */
export function impliedBy(a: string, b: string): Pick<ImpliedBook, 'book' | 'isSecondShort'> | null {
  const [[majorA, minorA], [majorB, minorB]] = [pairOf(a), pairOf(b)];
  if (new Set([majorA, minorA, majorB, minorB]).size !== 3) return null;
  if (majorA === majorB) return { book: `${minorB}_${minorA}`, isSecondShort: true };
  if (minorA === minorB) return { book: `${majorA}_${majorB}`, isSecondShort: true };
  return minorA === majorB
    ? { book: `${majorA}_${minorB}`, isSecondShort: false }
    : { book: `${majorB}_${minorA}`, isSecondShort: false };
}
