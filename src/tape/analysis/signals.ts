/** What order flow and the imbalance of the book foretell of the middle: the slope of its next move on each, seen once a second as a bot sees it. */
import { DEPTH_LEVELS, depthImbalance, emptyDepth, OrderFlow, Unusual } from '../../core/index.ts';
import type { Depth, Millis } from '../../core/index.ts';
import { estimateOf, STRETCHES } from './jackknife.ts';
import type { Estimate } from './jackknife.ts';
import type { RecordedBook, RecordedSide } from '../model/recordedBook.ts';
import type { Tape } from '../model/tape.ts';
import { walk } from '../model/walk.ts';
import type { Touch } from '../model/walk.ts';

/** Slopes of the move of the middle over the next `aheadMs`, in bps; null where nothing was seen. */
export type Signals = {
  /** For each unit of the major currency of order flow, forgotten with `memoryMs`. */
  readonly orderFlow: Estimate | null;
  readonly memoryMs: Millis;
  /** For each deviation of the imbalance down to `depthBps`, forgotten with `imbalanceMemoryMs`. */
  readonly imbalance: Estimate | null;
  readonly depthBps: number;
  readonly imbalanceMemoryMs: Millis;
  readonly aheadMs: Millis;
};

const MEMORY_MS = 10_000;
const IMBALANCE_MEMORY_MS = 600_000;
const DEPTH_BPS = 30;
const AHEAD_S = 10;

type Sums = { xx: number; xy: number };

/** `logMids`: logarithm of the middle at the end of each second from `from` on; NaN in a gap. */
export function signalsOf(
  tape: Tape,
  logMids: { readonly from: number; readonly values: Float64Array },
  stretchOf: (at: Millis) => number,
): Signals {
  const flow = new OrderFlow(MEMORY_MS);
  const usual = new Unusual(IMBALANCE_MEMORY_MS);
  const sums = () => Array.from({ length: STRETCHES }, (): Sums => ({ xx: 0, xy: 0 }));
  const [ofFlow, ofImbalance] = [sums(), sums()];
  const depth = emptyDepth(DEPTH_LEVELS);
  const unitsPerLot = Number(tape.instrument.lot);
  let seen: { readonly touch: Touch; readonly book: RecordedBook } | null = null;
  let second = logMids.from;
  const see = (now: number): void => {
    if (seen === null) return;
    const at = (now + 1) * 1_000;
    const { touch, book } = seen;
    flow.see({ at, ...touch });
    fill(depth, book);
    const x = usual.deviations(at, depthImbalance(depth, (touch.bid + touch.ask) / 2, DEPTH_BPS));
    const i = now - logMids.from;
    const move = 10_000 * ((logMids.values[i + AHEAD_S] ?? Number.NaN) - (logMids.values[i] ?? Number.NaN));
    const stretch = stretchOf(at);
    if (Number.isNaN(move)) return;
    add(ofFlow[stretch], flow.sum * unitsPerLot, move);
    add(ofImbalance[stretch], x, move);
  };
  walk(tape, {
    time: at => {
      for (; second * 1_000 + 1_000 <= at; second++) see(second);
    },
    touch: (_at, touch, book) => (seen = { touch, book }),
    trade: () => undefined,
  });
  const slope = (of: readonly Sums[]): number => total(of, 'xy') / total(of, 'xx');
  return {
    orderFlow: estimateOf(ofFlow, slope),
    memoryMs: MEMORY_MS,
    imbalance: estimateOf(ofImbalance, slope),
    depthBps: DEPTH_BPS,
    imbalanceMemoryMs: IMBALANCE_MEMORY_MS,
    aheadMs: AHEAD_S * 1_000,
  };
}

const total = (of: readonly Sums[], key: keyof Sums): number => of.reduce((sum, one) => sum + one[key], 0);

function add(to: Sums | undefined, x: number, y: number): void {
  if (to === undefined || !Number.isFinite(x)) return;
  to.xx += x * x;
  to.xy += x * y;
}

function fill(depth: Depth, { bids, asks }: RecordedBook): void {
  depth.bids = copy(bids, depth.bidPrices, depth.bidAmounts);
  depth.asks = copy(asks, depth.askPrices, depth.askAmounts);
}

function copy(side: RecordedSide, prices: Float64Array, amounts: Float64Array): number {
  const count = Math.min(side.length, prices.length);
  for (let i = 0; i < count; i++) {
    prices[i] = side.priceAt(i);
    amounts[i] = side.amountAt(i);
  }
  return count;
}
