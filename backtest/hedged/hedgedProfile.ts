/**
 * Value of fills that are hedged on another exchange, from two recordings on one clock: lead and lag, running basis,
 * and value by distance. The first third fits the basis and the choice of a distance; the rest judges them.
 */
import {
  counted,
  BasisFilter,
  basisGain,
  basisModelOf,
  leadLagOf,
  pairOf,
  randomOf,
  type Amount,
  type BasisModel,
  type LeadLag,
  type Millis,
  type PriceReads,
} from '../../src/core/index.ts';
import { KIND, logSecondsOf, walk, type LogSeconds, type Tape } from '../../src/tape/index.ts';
import { distancesBetween, median, REACHED_MIN } from '../profile/distanceGrid.ts';
import { pointOf, type DistanceProfile } from '../profile/distanceProfile.ts';
import type { DistanceSums } from '../profile/virtualOrders.ts';
import { haveAmounts, hedgedFills, lastBefore } from './hedgedFills.ts';
import { priceKindOf, RecordedPrice, type PriceKind } from '../rows/recordedPrice.ts';

export type HedgedOptions = {
  /** Latency of the quoted exchange, each way, in ms. Default: 25. */
  readonly latencyMs?: Millis;
  /** Latency of the hedge exchange, each way, in ms. Default: 100, because it is often in another region. */
  readonly hedgeLatencyMs?: Millis;
  /**
   * Distances of the orders from the hedge price times e^basis, in bps. Default: derived from the part of the
   * recordings to which the basis is fitted.
   */
  readonly distancesBps?: readonly number[];
  readonly seed?: number;
};

export const HEDGE_LATENCY_MS = 100;

/** Time from a fill to the valuation that the verdict uses, in seconds. */
export const PAIR_HORIZON_S = 300;
/** Times from a fill to its valuation, in seconds. The value at 0 uses the running basis at the fill. */
export const HEDGED_HORIZONS_S: readonly number[] = [0, 15, 60, PAIR_HORIZON_S, 900];

/** Running basis with its fit. Differences are logarithms of the quoted price divided by the hedge price. */
export type MeasuredBasis = {
  readonly model: BasisModel;
  /** Time constants of the filter and of the mispricing, in seconds. */
  readonly memoryS: number;
  readonly reversionS: number;
  /** Standard deviation of the mispricing, and of the basis over an hour, in bps. */
  readonly deviationBps: number;
  readonly driftBpsPerHour: number;
  /** Difference and basis over time, in bps; at most a few hundred points, for a plot. */
  readonly series: readonly {
    readonly at: Millis;
    readonly differenceBps: number | null;
    readonly basisBps: number | null;
  }[];
};

export type HedgedProfile = {
  readonly book: string;
  readonly hedgeBook: string;
  readonly source: string;
  readonly hedgeSource: string;
  readonly latencyMs: Millis;
  readonly hedgeLatencyMs: Millis;
  readonly resolutionMs: Millis;
  /** Start and end of the time that both recordings cover, in epoch ms. The fit uses only the part before `split`. */
  readonly from: Millis;
  readonly split: Millis;
  readonly to: Millis;
  /** Whether the quoted recording has no trades with amounts, or the hedge recording has no levels with amounts. */
  readonly isPriceAlone: boolean;
  readonly hedgeKind: PriceKind;
  /** Share of minutes in which the hedge price changed. */
  readonly moving: number;
  /** Lead of the hedge price over the quoted price; `null` if unknown. */
  readonly lead: LeadLag | null;
  /** Basis; `null` if the recordings have too little common time. */
  readonly basis: MeasuredBasis | null;
  /** Results by distance, in the part of the recordings to which the basis is fitted, and in the rest. */
  readonly fitted: DistanceProfile;
  readonly heldOut: DistanceProfile;
  /** Largest net position from fills on the quoted exchange outside the fitted part, by distance, in orders. */
  readonly positionMax: readonly number[];
  /** Limitations of the recordings, in sentences. */
  readonly limits: readonly string[];
};

/** Share of the common time that is used to fit the basis and to choose the distance. */
const FITTED_SHARE = 1 / 3;
/**
 * Minimum number of differences before the basis is known. `REVERSIONS_MIN`: minimum duration of these differences, in
 * reversion times. After that duration, the first differences have little weight.
 */
const STEPS_MIN = 30;
const REVERSIONS_MIN = 5;
/** Differences of the two prices are clipped to within this number of standard deviations of the basis. */
const BAND_DEVIATIONS = 3;
/** Ratio of the farthest default distance to the nearest. */
const DISTANCE_RANGE = 20;
const SERIES_POINTS = 400;

/** Computes the profile. Throws a RangeError if the two books have different base currencies. */
export function hedgedProfileOf(quoted: Tape, hedge: Tape, options: HedgedOptions = {}): HedgedProfile {
  const { latencyMs = 25, hedgeLatencyMs = HEDGE_LATENCY_MS, seed = 1 } = options;
  const [book, hedgeBook] = [quoted.instrument.symbol, hedge.instrument.symbol];
  if (pairOf(book)[0] !== pairOf(hedgeBook)[0])
    throw new RangeError(
      `the hedge book must have the base currency of ${book}, found ${hedgeBook}; pass another book with --hedge-book`,
    );
  const own = logSecondsOf(quoted);
  const difference = differenceOf(own, quoted, hedge);
  const { from, values } = difference;
  const known: number[] = [];
  values.forEach((value, i) => Number.isFinite(value) && known.push(i));
  const first = known[0] ?? 0;
  const splitAt = known[Math.floor(known.length * FITTED_SHARE)] ?? 0;
  const end = (known.at(-1) ?? 0) + 1;
  const [fromMs, split, to] = [first, splitAt, end].map(i => 1_000 * (from + i)) as [Millis, Millis, Millis];
  const model = basisModelOf(values.subarray(first, splitAt));
  const basis = runningBasisOf(difference, model);
  const resolutionMs = Math.max(resolutionOf(quoted), resolutionOf(hedge));
  const lots = orderLots(quoted);
  const unit = Number(quoted.instrument.tick) * Number(quoted.instrument.lot);
  const price = medianPrice(quoted);
  const distances = [
    ...(options.distancesBps ?? distancesFor(quoted, anchorOf(own, difference, basis), split, 1e4 / price)),
  ].sort((a, b) => a - b);
  // A block is at least as long as the time from a fill to the valuation that the verdict uses. In recordings of five
  // hours or more, the time outside the fitted part has about 40 blocks or more, enough for an interval.
  const blockMs = Math.min(1_800_000, Math.max(1_000 * PAIR_HORIZON_S, (1_000 * known.length) / 60));
  const fills = hedgedFills({
    ...{ quoted, hedge, difference, basis, distances, lots, latencyMs, hedgeLatencyMs, resolutionMs },
    ...{ horizonsS: HEDGED_HORIZONS_S, split, blockMs },
  });
  const random = randomOf(seed);
  const profileOf = (sums: readonly DistanceSums[]): DistanceProfile => ({
    seconds: sums[0]?.seconds.reduce((all, x) => all + x, 0) ?? 0,
    cadenceMs: 0,
    latencyMs: latencyMs + hedgeLatencyMs,
    orderValue: lots * price * unit,
    blockMs,
    horizonsS: HEDGED_HORIZONS_S,
    points: sums.map((blocks, i) => pointOf(distances[i]!, blocks, random)),
    limits: [],
  });
  const kinds: readonly [PriceKind, PriceKind] = [priceKindOf(quoted), priceKindOf(hedge)];
  const isPriceAlone = !haveAmounts(quoted) || kinds[1] !== 'depth';
  const [x, y] = [readsOf(hedge), readsOf(quoted)];
  return {
    ...{ book, hedgeBook, source: quoted.source, hedgeSource: hedge.source },
    ...{ latencyMs, hedgeLatencyMs, resolutionMs, from: fromMs, split, to, isPriceAlone, hedgeKind: kinds[1] },
    moving: movingShare(hedge, fromMs, to),
    lead: leadLagOf(x, y, { stepMs: Math.max(100, resolutionMs), random: randomOf(seed) }),
    basis: model === null ? null : measuredBasis(model, difference, basis),
    fitted: profileOf(fills.fitted),
    heldOut: profileOf(fills.heldOut),
    positionMax: fills.positionMax,
    limits: recordingLimits({ quoted, hedge, kinds, resolutionMs, fills, isPriceAlone }),
  };
}

/** Returns the logarithm of the quoted price divided by the hedge price, for the seconds that both recordings cover. */
function differenceOf(quoted: LogSeconds, quotedTape: Tape, hedgeTape: Tape): LogSeconds {
  const hedge = logSecondsOf(hedgeTape);
  // The values per second are logarithms of prices in ticks, so the logarithm of the ratio of the tick sizes is added.
  const ticks = Math.log(Number(quotedTape.instrument.tick) / Number(hedgeTape.instrument.tick));
  const from = Math.max(quoted.from, hedge.from);
  const to = Math.min(quoted.from + quoted.values.length, hedge.from + hedge.values.length);
  const values = Float64Array.from(
    { length: Math.max(0, to - from) },
    (_, i) => quoted.values[i + from - quoted.from]! - hedge.values[i + from - hedge.from]! + ticks,
  );
  return { from, values };
}

/** Returns the logarithm of the hedge price times e^basis at the end of each second, in ticks of the quoted book. */
function anchorOf(own: LogSeconds, difference: LogSeconds, basis: LogSeconds): LogSeconds {
  const { from } = difference;
  return {
    from,
    values: difference.values.map((value, i) => own.values[i + from - own.from]! - value + basis.values[i]!),
  };
}

function runningBasisOf({ from, values }: LogSeconds, model: BasisModel | null): LogSeconds {
  const basis = new Float64Array(values.length).fill(Number.NaN);
  if (model === null) return { from, values: basis };
  const { error } = basisGain(model);
  const band = BAND_DEVIATIONS * Math.sqrt(error ** 2 + model.deviation ** 2 + model.noiseVariance);
  const filter = new BasisFilter(model);
  const stepsMin = Math.max(STEPS_MIN, Math.ceil(REVERSIONS_MIN / (1 - model.persistence)));
  let steps = 0;
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    // The first differences are not limited, because the very first difference, with which the estimate starts, may be
    // far from the basis.
    filter.observe(1_000 * i, value, steps >= stepsMin ? band : Infinity);
    if (++steps >= stepsMin) basis[i] = filter.log;
  });
  return { from, values: basis };
}

function measuredBasis(model: BasisModel, { from, values }: LogSeconds, basis: LogSeconds): MeasuredBasis {
  const every = Math.max(1, Math.ceil(values.length / SERIES_POINTS));
  const bps = (x: number | undefined): number | null =>
    x === undefined || !Number.isFinite(x) ? null : Number((1e4 * x).toPrecision(6));
  const series = [];
  for (let i = every - 1; i < values.length; i += every)
    series.push({
      at: 1_000 * (from + i + 1),
      differenceBps: bps(values[i]),
      basisBps: bps(basis.values[i]),
    });
  return {
    model,
    memoryS: -1 / Math.log(1 - basisGain(model).gain),
    reversionS: -1 / Math.log(model.persistence),
    deviationBps: 1e4 * model.deviation,
    driftBpsPerHour: 1e4 * Math.sqrt(3_600 * model.driftVariance),
    series,
  };
}

/** Returns one minute if all times are whole minutes, otherwise one second if they are whole seconds, otherwise 0. */
const resolutionOf = ({ columns: { at, length } }: Tape): Millis =>
  [60_000, 1_000].find(step => {
    for (let row = 0; row < length; row++) if (at[row]! % step !== 0) return false;
    return length > 0;
  }) ?? 0;

/** Returns the median amount of a trade, in lots; one unit of the base currency if the recording has no amounts. */
function orderLots(tape: Tape): Amount {
  if (!haveAmounts(tape)) return Math.max(1, Math.round(1 / Number(tape.instrument.lot))) as Amount;
  const { columns } = tape;
  const lots = Array.from(columns.amount.subarray(0, columns.length)).filter(
    (_, row) => columns.kind[row] === KIND.trade,
  );
  return Math.max(1, median(lots)) as Amount;
}

/** Returns the median price of all rows with a price, in ticks. */
function medianPrice({ columns: { price, length } }: Tape): number {
  const ticks = price
    .subarray(0, length)
    .filter(each => each > 0)
    .sort();
  return ticks[ticks.length >> 1] ?? Number.NaN;
}

/**
 * Returns the default distances. The farthest is reached by trades, or by the other side of the book, in enough minutes
 * for a verdict. The nearest is a twentieth of the farthest, but at least one tick. Only rows before `until` count.
 */
function distancesFor(quoted: Tape, anchor: LogSeconds, until: Millis, tickBps: number): readonly number[] {
  const byMinute = new Map<number, number>();
  const reach = (at: Millis, awayOf: (log: number) => number): void => {
    const away = 1e4 * awayOf(lastBefore(anchor, at));
    const minute = Math.floor(at / 60_000);
    if (at < until && away > (byMinute.get(minute) ?? 0)) byMinute.set(minute, away);
  };
  walk(quoted, {
    touch: (at, { bid, ask }) => reach(at, log => Math.max(log - Math.log(ask), Math.log(bid) - log)),
    trade: (at, price) => reach(at, log => Math.abs(Math.log(price) - log)),
  });
  const reached = [...byMinute.values()].sort((a, b) => b - a);
  const far = Math.max(tickBps, reached[Math.min(REACHED_MIN, reached.length) - 1] ?? Number.NaN);
  return far > 0 ? distancesBetween(Math.max(tickBps, far / DISTANCE_RANGE), far, tickBps) : [];
}

/**
 * Returns the share of minutes between two times in which the price of a tape changed; minutes without a price are
 * excluded.
 */
function movingShare(tape: Tape, from: Millis, to: Millis): number {
  const price = new RecordedPrice(tape);
  let [known, moved, before] = [0, 0, Number.NaN];
  for (let at = from; at <= to; at += 60_000) {
    price.moveTo(at);
    const { mid } = price;
    if (mid > 0 && before > 0) {
      known++;
      if (mid !== before) moved++;
    }
    before = mid;
  }
  return known > 0 ? moved / known : 0;
}

/** Returns the logarithm of the mid price after the rows of each recorded time. */
function readsOf(tape: Tape): PriceReads {
  const price = new RecordedPrice(tape);
  const [at, log]: [number[], number[]] = [[], []];
  while (price.nextAt < Infinity) {
    const now = price.nextAt;
    price.moveTo(now);
    const { mid } = price;
    if (!(mid > 0)) continue;
    at.push(now);
    log.push(Math.log(mid));
  }
  return { at: Float64Array.from(at), log: Float64Array.from(log) };
}

function recordingLimits({
  quoted,
  hedge,
  kinds,
  resolutionMs,
  fills,
  isPriceAlone,
}: {
  readonly quoted: Tape;
  readonly hedge: Tape;
  readonly kinds: readonly [PriceKind, PriceKind];
  readonly resolutionMs: Millis;
  readonly fills: { readonly unhedged: number; readonly beyondDepth: number };
  readonly isPriceAlone: boolean;
}): readonly string[] {
  const [own, other] = kinds;
  const parts = [
    ...(haveAmounts(quoted)
      ? []
      : [
          own === 'last trades'
            ? 'an order fills completely when a recorded last price passes the price of the order'
            : 'an order fills completely when the other side of the book reaches the price of the order',
        ]),
    ...(other === 'depth'
      ? []
      : [
          other === 'last trades'
            ? 'a hedge has no spread and executes any amount at the last price'
            : 'a hedge executes any amount at the best price',
        ]),
  ];
  const [, minor] = pairOf(quoted.instrument.symbol);
  const [, hedgeMinor] = pairOf(hedge.instrument.symbol);
  return [
    ...(isPriceAlone ? [`Because the recordings lack amounts or depth, ${parts.join(', and ')}.`] : []),
    ...(resolutionMs > 0
      ? [
          `The recorded times are whole ${resolutionMs === 1_000 ? 'seconds, so one second' : 'minutes, so one minute'} is added to the sum of both latencies.`,
        ]
      : []),
    ...(minor === hedgeMinor
      ? []
      : [
          `The basis includes the exchange rate of ${hedgeMinor} and ${minor}; after a hedge, a position in ${hedgeMinor} against ${minor} remains.`,
        ]),
    ...(fills.unhedged > 0
      ? [`${counted(fills.unhedged, 'fill')} had no hedge price within ten minutes and cannot be valued.`]
      : []),
    ...(fills.beyondDepth > 0
      ? [
          `${counted(fills.beyondDepth, 'hedge')} exceeded the amounts of the recorded levels; the rest of each hedge is valued at the price of the last level.`,
        ]
      : []),
  ];
}
