/** The imbalance maker: a spread around a fair value that leans to where the book is heavy less than usual. */
import { amountFloor } from '../../src/core/index.ts';
import type { Depth, Instrument, Strategy } from '../../src/core/index.ts';
import { millisOf } from '../parameters.ts';
import { clamp, silent } from '../rungs.ts';
import { quoteAround, unknownIn } from '../spread.ts';
import { DEVIATIONS_MAX } from './parameters.ts';
import type { ImbalanceParameters } from './parameters.ts';

/** Before anything was seen: no mean, and this deviation. */
const DEVIATION_START = 0.3;
/** A book that never changes would divide by nothing. */
const DEVIATION_MIN = 0.02;

/** Remembers the mean and the deviation of the imbalance; nothing else. */
export function imbalance(p: ImbalanceParameters, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const memoryMs = millisOf(p.memory);
  let mean = 0;
  let variance = DEVIATION_START ** 2;
  let followedAt = Number.NaN;

  return {
    quote(view) {
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      const now = depthImbalance(view.depth, view.mid, p.depthBps);
      if (!(Math.abs(now) <= 1)) return silent('the imbalance of the book is not known');
      const deviations = (now - mean) / Math.max(DEVIATION_MIN, Math.sqrt(variance));
      follow(now, view.at);
      const lean = (clamp(deviations, -DEVIATIONS_MAX, DEVIATIONS_MAX) * p.leanBps * view.mid) / 10_000;
      return quoteAround(p, lots, view, [
        { name: 'fair value: mid', ticks: view.mid },
        { name: 'book imbalance', ticks: lean },
      ]);
    },
  };

  function follow(now: number, at: number): void {
    const weight = at > followedAt ? 1 - Math.exp(-(at - followedAt) / memoryMs) : 0;
    const away = now - mean;
    mean += weight * away;
    variance = (1 - weight) * (variance + weight * away * away);
    if (Number.isFinite(at)) followedAt = at;
  }
}

/** Amounts of bids over those of asks, as a share of both, up to `depthBps` from the middle; 0 where both sides are empty that far. */
function depthImbalance(depth: Depth, mid: number, depthBps: number): number {
  const reach = (mid * depthBps) / 10_000;
  let [bids, asks] = [0, 0];
  for (let i = 0; i < depth.bids && mid - depth.bidPrices[i]! <= reach; i++) bids += depth.bidAmounts[i]!;
  for (let i = 0; i < depth.asks && depth.askPrices[i]! - mid <= reach; i++) asks += depth.askAmounts[i]!;
  return bids + asks === 0 ? 0 : (bids - asks) / (bids + asks);
}
