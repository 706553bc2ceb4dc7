/** Calibration: volatility, arrivals, adverse selection and micro-price of a recorded market, with standard errors. */
import {
  addCells,
  fitIntensity,
  IntensityMeter,
  MicropriceCounts,
  subgridsFor,
  twoScaleVariance,
  type Amount,
  type Cell,
  type MicropriceTable,
  type Millis,
  type Price,
  type Side,
} from '../../core/index.ts';
import { estimateOf, spreadOf, STRETCHES, type Estimate } from './jackknife.ts';
import { MissingTimes, SecondsSampler, type LogSeconds } from './seconds.ts';
import { signalsOf, type Signals } from './signals.ts';
import type { Tape } from '../model/tape.ts';
import { walk, type Touch } from '../model/walk.ts';

/** Results of a calibration; `null` where the recording has too little data. */
export type Calibration = {
  readonly seconds: number;
  readonly trades: number;
  /** Standard deviation of the price's move in one hour, in bps, by the two-scale estimator. */
  readonly volatilityBps: Estimate | null;
  readonly arrivals: {
    readonly perMinute: Estimate;
    readonly decayPerBps: Estimate;
    readonly rSquared: number;
    /** Arrival parameters of each side: the rate A per minute, and its decay k per bps of distance. */
    readonly sides: Readonly<Record<Side, { readonly perMinute: number; readonly decayPerBps: number } | null>>;
    readonly distancesBps: readonly number[];
    readonly windowMs: Millis;
  } | null;
  /** Mean move of the mid price in the taker's direction in the 10 s after a trade, in bps. */
  readonly adverseBps: Estimate | null;
  readonly microprice: {
    readonly table: MicropriceTable;
    /** Standard error of each price adjustment in `table`, in ticks. */
    readonly errors: readonly (readonly number[])[];
    /**
     * Number of samples of each state of imbalance and spread. A sample also counts for the state with bid and ask
     * swapped.
     */
    readonly seen: readonly (readonly number[])[];
    readonly samples: number;
  } | null;
  /** Predictors of the mid price; `null` if the recording has no amounts. */
  readonly signals: Signals | null;
};

const WINDOW_MS = 20_000;
const AFTER_MS = 10_000;
const DISTANCES = 8;
const IMBALANCE_BUCKETS = 10;
/** Minimum number of samples for a micro-price table. */
const SAMPLES_MIN = 1_000;

type Taken = { readonly at: Millis; readonly sign: 1 | -1; readonly mid: number; readonly away: number };

/**
 * Calibrates the market model with a tape. Arrivals are counted at eight distances over windows of 20 s (formulas E4).
 * Volatility is the two-scale estimate from one price per second (E6). The micro-price (E5) needs amounts and 1,000
 * samples. Standard errors come from ten time blocks of equal length. `onShare` receives the processed share, from 0 to
 * 1.
 */
export function calibrationOf(tape: Tape, onShare: (share: number) => void = () => undefined): Calibration {
  const { columns } = tape;
  const start = columns.at[0] ?? 0;
  const end = columns.at[columns.length - 1] ?? 0;
  // If all rows have the same time, the first block contains every row.
  const length = (end - start) / STRETCHES || 1;
  const stretchOf = (at: Millis): number => Math.min(STRETCHES - 1, Math.floor((at - start) / length));
  const third = (done: number) => (share: number) => onShare((done + share) / 3);
  const first = survey(tape, third(0));
  const volatility = volatilityOf(first.logMids);
  const perWindow = ((volatility?.value ?? 0) / 10_000) * Math.sqrt(WINDOW_MS / 3_600_000);
  const distances = distancesFor(first.taken, perWindow);
  const bounds = spreadBounds(first.spreads);
  const second =
    distances === null ? null : measure(tape, stretchOf, distances, tape.quotesOnly ? null : bounds, third(1));
  return {
    seconds: (end - start) / 1_000,
    trades: first.trades,
    volatilityBps: volatility,
    arrivals: second === null || distances === null ? null : arrivalsOf(second.meters, distances),
    adverseBps: adverseOf(first.taken, first.logMids, stretchOf),
    microprice: second === null ? null : micropriceOf(second.counts, bounds),
    signals: tape.quotesOnly ? null : signalsOf(tape, first.logMids, third(2)),
  };
}

/** Logarithm of the mid price at the end of each second, by time block; NaN in gaps of the recording. */
type LogMids = LogSeconds & { readonly perStretch: number };

function survey(tape: Tape, onShare: (share: number) => void) {
  const taken: Taken[] = [];
  const spreads: number[] = [];
  const mids = new SecondsSampler(tape);
  let trades = 0;
  walk(
    tape,
    {
      time: at => mids.passTo(at),
      touch: (_at, { bid, ask }) => {
        mids.price = (bid + ask) / 2;
        spreads.push(ask - bid);
      },
      trade: (at, price, _amount, side) => {
        trades++;
        const sign = side === 'buy' ? 1 : -1;
        const mid = mids.price;
        if (mid > 0) taken.push({ at, sign, mid, away: (sign * (price - mid)) / mid });
      },
    },
    onShare,
  );
  const { from, values } = mids.end();
  const logMids: LogMids = { from, values, perStretch: Math.ceil(values.length / STRETCHES) };
  return { logMids, taken, spreads, trades };
}

function volatilityOf({ values, perStretch }: LogMids): Estimate | null {
  const stretches = Array.from({ length: STRETCHES }, (_, i) => {
    let [variance, seconds] = [0, 0];
    for (const prices of withoutGaps(values.subarray(i * perStretch, (i + 1) * perStretch))) {
      const found = twoScaleVariance(prices, subgridsFor(prices.length));
      if (Number.isNaN(found)) continue;
      variance += found;
      seconds += prices.length - 1;
    }
    return { variance, seconds };
  });
  const perHour = (of: readonly { variance: number; seconds: number }[]): number => {
    const seconds = of.reduce((sum, x) => sum + x.seconds, 0);
    const variance = of.reduce((sum, x) => sum + x.variance, 0);
    return seconds > 0 ? 10_000 * Math.sqrt((Math.max(0, variance) / seconds) * 3_600) : Number.NaN;
  };
  return estimateOf(stretches, perHour);
}

function* withoutGaps(values: Float64Array): Generator<Float64Array> {
  let from = 0;
  for (let i = 0; i <= values.length; i++) {
    if (i < values.length && !Number.isNaN(values[i]!)) continue;
    if (i - from > 2) yield values.subarray(from, i);
    from = i + 1;
  }
}

/**
 * Returns the distances at which arrivals are counted for the fit. The largest is 1.5 times the volatility in one
 * window, or the distance that 95% of trades do not exceed, whichever is greater.
 */
function distancesFor(taken: readonly Taken[], perWindow: number): readonly number[] | null {
  const aways = taken.map(({ away }) => away).sort((a, b) => a - b);
  const reach = Math.max(1.5 * perWindow, aways[Math.floor(0.95 * aways.length)] ?? Number.NaN);
  if (!(reach > 0 && aways.length > 0)) return null;
  return Array.from({ length: DISTANCES }, (_, i) => ((i + 1) * reach) / DISTANCES);
}

/** Returns bounds that divide the spreads into up to three groups of about equal size. */
function spreadBounds(spreads: number[]): readonly number[] {
  const ascending = spreads.sort((a, b) => a - b);
  const at = (share: number) => ascending[Math.floor(share * ascending.length)] ?? 1;
  return [...new Set([at(1 / 3), at(2 / 3)])].filter(bound => bound < (ascending.at(-1) ?? 0));
}

function measure(
  tape: Tape,
  stretchOf: (at: Millis) => number,
  distances: readonly number[],
  bounds: readonly number[] | null,
  onShare: (share: number) => void,
) {
  const meters = Array.from(
    { length: STRETCHES },
    () => new IntensityMeter({ distances, windowMs: WINDOW_MS, memoryMs: Infinity }),
  );
  const counts = bounds === null ? null : meters.map(() => new MicropriceCounts(IMBALANCE_BUCKETS, bounds));
  let before: Touch | null = null;
  const missing = new MissingTimes(tape.gaps);
  walk(
    tape,
    {
      touch: (at, touch, book) => {
        const i = stretchOf(at);
        if (missing.startedBefore(at) !== null) {
          meters[i]!.skip();
          before = null;
        }
        if (at <= missing.until) return;
        meters[i]!.advanceTo(at, (touch.bid + touch.ask) / 2, (side, price) =>
          (side === 'buy' ? book.bids : book.asks).amountOf(price),
        );
        if (before !== null) {
          const move = (touch.bid + touch.ask - before.bid - before.ask) / 2;
          counts?.[i]!.add(stateOf(before), stateOf(touch), move);
        }
        before = touch;
      },
      trade: (at, price, amount, side) => meters[stretchOf(at)]!.trade(at, price as Price, amount as Amount, side),
    },
    onShare,
  );
  return { meters, counts };
}

const stateOf = ({ bid, ask, bidAmount, askAmount }: Touch) => ({ bidAmount, askAmount, spread: ask - bid });

function arrivalsOf(meters: readonly IntensityMeter[], distances: readonly number[]): Calibration['arrivals'] {
  const cells = meters.map(meter => meter.cells('both'));
  const fit = (of: readonly (readonly Cell[])[]) => fitIntensity(addCells(of));
  const whole = fit(cells);
  const logA = estimateOf(cells, of => Math.log(fit(of)?.a ?? Number.NaN));
  const k = estimateOf(cells, of => fit(of)?.k ?? Number.NaN);
  if (whole === null || logA === null || k === null) return null;
  const one = (side: Side) => {
    const found = fit(meters.map(meter => meter.cells(side)));
    return found && { perMinute: found.a * 60, decayPerBps: found.k / 10_000 };
  };
  return {
    perMinute: { value: whole.a * 60, error: whole.a * 60 * logA.error },
    decayPerBps: { value: k.value / 10_000, error: k.error / 10_000 },
    rSquared: whole.rSquared,
    sides: { buy: one('buy'), sell: one('sell') },
    distancesBps: distances.map(x => x * 10_000),
    windowMs: WINDOW_MS,
  };
}

function adverseOf(
  taken: readonly Taken[],
  { from, values }: LogMids,
  stretchOf: (at: Millis) => number,
): Estimate | null {
  const stretches = Array.from({ length: STRETCHES }, () => ({ sum: 0, count: 0 }));
  for (const { at, sign, mid } of taken) {
    const move = sign * ((values[Math.floor((at + AFTER_MS) / 1_000) - from] ?? Number.NaN) - Math.log(mid));
    const stretch = stretches[stretchOf(at)];
    if (Number.isNaN(move) || stretch === undefined) continue;
    stretch.sum += move;
    stretch.count++;
  }
  return estimateOf(stretches, of => {
    const count = of.reduce((sum, x) => sum + x.count, 0);
    return (10_000 * of.reduce((sum, x) => sum + x.sum, 0)) / count;
  });
}

function micropriceOf(
  counts: readonly MicropriceCounts[] | null,
  bounds: readonly number[],
): Calibration['microprice'] {
  if (counts === null) return null;
  const together = (of: readonly MicropriceCounts[]): MicropriceCounts => {
    const all = new MicropriceCounts(IMBALANCE_BUCKETS, bounds);
    for (const one of of) all.addAll(one);
    return all;
  };
  const all = together(counts);
  const { samples } = all;
  if (!(samples >= SAMPLES_MIN)) return null;
  const table = all.table();
  const without = counts.map((_, out) => together(counts.filter((_one, i) => i !== out)).table().adjustTicks);
  const errors = table.adjustTicks.map((row, r) => row.map((_, c) => spreadOf(without.map(of => of[r]?.[c] ?? 0))));
  return { table, errors, seen: all.seen(), samples };
}
