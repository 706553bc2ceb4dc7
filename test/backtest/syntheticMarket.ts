/** A small seeded market for tests: levels that come and go, takers that sweep them, receive times that lag. */
import { randomOf } from '../../src/core/index.ts';
import type { NaiveRow } from './naiveReplay.ts';
import { FLAG, RowBuilder, type MarketRows } from '../../backtest/index.ts';

/** The book never crosses; each execution is told before the level that it changed. Times in microseconds. */
export function syntheticMarket(seed: number, events: number): NaiveRow[] {
  const random = randomOf(seed);
  const rows: NaiveRow[] = [];
  const bids = new Map<number, number>();
  const asks = new Map<number, number>();
  let at = 1_000_000;
  let heard = 0;
  const tell = (trade: boolean, side: 'buy' | 'sell', tick: number, lots: number): void => {
    heard = Math.max(heard, at + random.integer(500, 6_000));
    rows.push({ at, local: heard, trade, side, tick, lots });
    if (trade) return;
    const levels = side === 'buy' ? bids : asks;
    if (lots > 0) levels.set(tick, lots);
    else levels.delete(tick);
  };
  const best = (side: 'buy' | 'sell'): number => (side === 'buy' ? Math.max(...bids.keys()) : Math.min(...asks.keys()));
  for (let n = 0; n < 40; n++) {
    tell(false, 'buy', 5_000 - n, random.integer(20, 400));
    tell(false, 'sell', 5_003 + n, random.integer(20, 400));
  }
  while (rows.length < events) {
    at += random.integer(0, 20_000);
    const side = random.next() < 0.5 ? 'buy' : 'sell';
    const away = side === 'buy' ? -1 : 1;
    const other = side === 'buy' ? 'sell' : 'buy';
    if (random.next() < 0.15) {
      let lots = random.integer(1, 300);
      while (lots > 0 && (side === 'buy' ? asks : bids).size > 5) {
        const tick = best(other);
        const there = (side === 'buy' ? asks : bids).get(tick)!;
        const met = Math.min(lots, there);
        tell(true, side, tick, met);
        tell(false, other, tick, there - met);
        lots -= met;
      }
      continue;
    }
    const levels = side === 'buy' ? bids : asks;
    const touch = best(side);
    const room = Math.abs(best('sell') - best('buy')) - 1;
    const inside = room > 0 && random.next() < 0.2;
    const tick = inside ? touch - away * random.integer(1, room) : touch + away * random.integer(0, 12);
    const gone = levels.size > 10 && levels.has(tick) && random.next() < 0.35;
    tell(false, side, tick, gone ? 0 : random.integer(1, 400));
  }
  return rows.slice(0, events);
}

export function rowsOf(events: readonly NaiveRow[]): MarketRows {
  const builder = new RowBuilder();
  for (const { at, local, trade, side, tick, lots } of events) {
    builder.add(at, local, tick, lots, (trade ? FLAG.trade : 0) | (side === 'sell' ? FLAG.sell : 0));
  }
  return builder.rows();
}
