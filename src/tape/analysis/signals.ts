/**
 * Prediction of the mid price's next move from order flow and from book imbalance. Flow and imbalance are sampled once
 * per second, from data that a live bot also receives.
 */
import {
  DEPTH_LEVELS,
  depthImbalance,
  emptyDepth,
  OrderFlow,
  RunningDeviation,
  type Depth,
  type Millis,
} from '../../core/index.ts';
import { predictionOf, predictionSums, strongestPredictor, blockOfEach, type Prediction } from './prediction.ts';
import type { LogSeconds } from './seconds.ts';
import type { RecordedBook, RecordedSide } from '../model/recordedBook.ts';
import type { Tape } from '../model/tape.ts';
import { walk, type Touch } from '../model/walk.ts';

/**
 * Regression slopes that predict the mid price's move over the next `aheadMs`, in bps; `null` if there is too little
 * data.
 */
export type Signals = {
  /**
   * Regression slope of the move on the order flow, in bps per unit of the base currency. The flow decays with the time
   * constant `memoryMs`.
   */
  readonly orderFlow: Prediction | null;
  readonly memoryMs: Millis;
  /**
   * Regression slopes of the move on the imbalance within each `depthBps` (0: best prices only), in bps per standard
   * deviation. The imbalance decays with the time constant `imbalanceMemoryMs`.
   */
  readonly imbalances: readonly Imbalance[];
  readonly imbalanceMemoryMs: Millis;
  readonly aheadMs: Millis;
};

export type Imbalance = { readonly depthBps: number; readonly foretold: Prediction | null };

const MEMORY_MS = 10_000;
const IMBALANCE_MEMORY_MS = 600_000;
const DEPTHS_BPS = [0, 30];
const AHEAD_S = 10;

/**
 * Returns the depth whose imbalance predicts best on the first two thirds of the data; `null` if its prediction is not
 * valid (`holds`).
 */
export function imbalanceOf({ imbalances }: Signals): { readonly depthBps: number; readonly slope: number } | null {
  const best = strongestPredictor(imbalances);
  return best?.foretold?.holds === true ? { depthBps: best.depthBps, slope: best.foretold.slope.value } : null;
}

/** Computes the signals. `onShare` receives the processed share, from 0 to 1. */
export function signalsOf(tape: Tape, logMids: LogSeconds, onShare?: (share: number) => void): Signals {
  const flow = new OrderFlow(MEMORY_MS);
  const ofFlow = predictionSums();
  const depths = DEPTHS_BPS.map(depthBps => ({
    depthBps,
    usual: new RunningDeviation(IMBALANCE_MEMORY_MS),
    sums: predictionSums(),
  }));
  const depth = emptyDepth(DEPTH_LEVELS);
  const unitsPerLot = Number(tape.instrument.lot);
  const stretches = blockOfEach(logMids.values.length, i => !Number.isNaN(logMids.values[i]!));
  let seen: { readonly touch: Touch; readonly book: RecordedBook } | null = null;
  let second = logMids.from;
  const see = (now: number): void => {
    if (seen === null) return;
    const at = (now + 1) * 1_000;
    const { touch, book } = seen;
    const i = now - logMids.from;
    const logMid = logMids.values[i] ?? Number.NaN;
    // A book that is not updated in a gap is not observed again and again.
    if (Number.isNaN(logMid)) return;
    const move = 10_000 * ((logMids.values[i + AHEAD_S] ?? Number.NaN) - logMid);
    const stretch = stretches[i] ?? 0;
    flow.observe({ at, ...touch });
    ofFlow[stretch]?.add(flow.sum * unitsPerLot, move);
    fill(depth, book);
    for (const { depthBps, usual, sums } of depths) {
      const x = usual.deviations(at, depthImbalance(depth, (touch.bid + touch.ask) / 2, depthBps));
      sums[stretch]?.add(x, move);
    }
  };
  walk(
    tape,
    {
      time: at => {
        for (; second * 1_000 + 1_000 <= at; second++) see(second);
      },
      touch: (_at, touch, book) => (seen = { touch, book }),
      trade: () => undefined,
    },
    onShare,
  );
  return {
    orderFlow: predictionOf(ofFlow),
    memoryMs: MEMORY_MS,
    imbalances: depths.map(({ depthBps, sums }) => ({ depthBps, foretold: predictionOf(sums) })),
    imbalanceMemoryMs: IMBALANCE_MEMORY_MS,
    aheadMs: AHEAD_S * 1_000,
  };
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
