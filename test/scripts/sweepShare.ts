/** How many fills are of orders that came while the taker who met them was still being told: two quotes that follow the best prices, through the backtest's exchange. */
import { constantLatency } from '../../backtest/index.ts';
import { MESSAGE } from '../../backtest/exchange/messageRing.ts';
import { OrderPool, type OwnOrder } from '../../backtest/exchange/ownOrders.ts';
import { SimulatedExchange } from '../../backtest/exchange/simulatedExchange.ts';
import { NO_WATCHER } from '../../backtest/exchange/watcher.ts';
import { BUY, FLAG, SELL, type MarketRows } from '../../backtest/rows/rows.ts';
import type { FillModel } from '../../src/fills/index.ts';

/** In ms: the quotes look at the market so often. */
const LOOK_MS = 100;
const LOTS = 1_000_000;

/** `inside`: fills of orders that came to rest after the first of the executions of one side, at prices that never get better and each within `withinMs` of the one before, that filled them. */
export function sweepShare(
  rows: MarketRows,
  model: FillModel,
  latencyMs: number,
  withinMs: readonly number[],
): { readonly fills: number; readonly inside: readonly number[] } {
  const began = withinMs.map(ms => beginnings(rows, ms));
  const inside = withinMs.map(() => 0);
  let fills = 0;
  const exchange: SimulatedExchange = new SimulatedExchange(rows, model, constantLatency(latencyMs, latencyMs), {
    ...NO_WATCHER,
    filled: ({ side, restedAt }, _lots, at) => {
      fills++;
      began.forEach((first, n) => (inside[n]! += Number(restedAt >= (first[side].get(at) ?? Infinity))));
    },
  });
  const pool = new OrderPool();
  const quotes: [OwnOrder | null, OwnOrder | null] = [null, null];
  const end = rows.at[rows.length - 1]!;
  for (let now = rows.at[0]! + 0.25; now <= end; now += LOOK_MS) {
    exchange.runTo(now);
    while (exchange.answers.count > 0) exchange.answers.shift();
    for (const side of [BUY, SELL] as const) {
      const best = side === BUY ? exchange.book.bid : exchange.book.ask;
      const quote = quotes[side];
      const isThere = quote !== null && quote.left > 0 && quote.place === best;
      if (isThere || best <= 0 || best >= exchange.book.last) continue;
      const at = now + latencyMs;
      if (quote?.resting) exchange.requests.push(at, MESSAGE.cancel, quote, 0, at, 0);
      const next = pool.take(side, best, LOTS);
      exchange.requests.push(at, MESSAGE.place, next, LOTS, at, 0);
      quotes[side] = next;
    }
  }
  return { fills, inside };
}

/** By the side that was met and by time: when the executions began of which the first of that time is one. */
function beginnings({ length, flags, at, place }: MarketRows, withinMs: number) {
  const began = [new Map<number, number>(), new Map<number, number>()] as const;
  let first = Infinity;
  let last = -1;
  for (let row = 0; row < length; row++) {
    if ((flags[row]! & FLAG.trade) === 0) continue;
    const sign = (flags[row]! & FLAG.sell) !== 0 ? -1 : 1;
    const isOn =
      last >= 0 &&
      (flags[last]! & FLAG.sell) === (flags[row]! & FLAG.sell) &&
      at[row]! - at[last]! <= withinMs &&
      place[row]! * sign >= place[last]! * sign;
    if (!isOn) first = at[row]!;
    const met = began[sign > 0 ? SELL : BUY];
    if (!met.has(at[row]!)) met.set(at[row]!, first);
    last = row;
  }
  return began;
}
