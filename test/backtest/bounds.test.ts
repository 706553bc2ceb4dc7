import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constantLatency, fillModel, FLAG, type MarketRows, type ModelName } from '../../backtest/index.ts';
import { SimulatedExchange } from '../../backtest/exchange/simulatedExchange.ts';
import { MESSAGE } from '../../backtest/exchange/messageRing.ts';
import { OrderPool } from '../../backtest/exchange/ownOrders.ts';
import { BUY, SELL, type SideIndex } from '../../backtest/rows/rows.ts';
import { NO_WATCHER } from '../../backtest/exchange/watcher.ts';
import { randomOf } from '../../src/core/index.ts';
import type { NaiveRow } from './naiveReplay.ts';
import { rowsOf, syntheticMarket } from './syntheticMarket.ts';

/** Placed after row `row`, so many ticks behind the best price of its side, or before it when negative; never taken out again. */
const quote = fc.record({
  row: fc.integer({ min: 85, max: 380 }),
  side: fc.constantFrom<SideIndex>(BUY, SELL),
  behind: fc.integer({ min: -2, max: 6 }),
  lots: fc.integer({ min: 1, max: 300 }),
});
type Quote = { readonly row: number; readonly side: SideIndex; readonly behind: number; readonly lots: number };

/** Two deep levels that stand still: others come and go in them, and takers eat a little at a time. */
function deepMarket(seed: number, events: number): NaiveRow[] {
  const random = randomOf(seed);
  const levels = { buy: 1_000, sell: 1_000 };
  const rows: NaiveRow[] = [];
  const tell = (trade: boolean, side: 'buy' | 'sell', tick: number, lots: number) =>
    void rows.push({ at: rows.length * 10, local: rows.length * 10, trade, side, tick, lots });
  while (rows.length < events) {
    const side = random.next() < 0.5 ? 'buy' : 'sell';
    const tick = side === 'buy' ? 5_000 : 5_010;
    if (rows.length > 2 && random.next() < 0.3) {
      const lots = random.integer(1, Math.min(120, levels[side] - 1));
      levels[side] -= lots;
      tell(true, side === 'buy' ? 'sell' : 'buy', tick, lots);
    } else levels[side] = Math.max(50, levels[side] + random.integer(-200, 230));
    tell(false, side, tick, levels[side]);
  }
  return rows.slice(0, events);
}

const markets = Array.from({ length: 12 }, (_, i) =>
  rowsOf((i % 2 === 0 ? syntheticMarket : deepMarket)(i + 1, 2_000)),
);

/** Lots filled of each quote by row `until`, which comes after all of them. Prices come from the recorded book, so that they are the same whatever the model. */
function filled(rows: MarketRows, quotes: readonly Quote[], model: ModelName, until: number): number[] {
  const view = new SimulatedExchange(rows, fillModel(model, rows), constantLatency(0, 0), NO_WATCHER);
  const pool = new OrderPool();
  const orders = quotes.map(({ row, side, behind, lots }) => {
    const at = rows.at[row]!;
    view.runTo(at);
    const { bid, ask } = view.book;
    const place = side === BUY ? Math.min(bid - behind, ask - 1) : Math.max(ask + behind, bid + 1);
    const order = pool.take(side, place, lots);
    view.requests.push(at, MESSAGE.place, order, lots, at, 0);
    view.runTo(at);
    return order;
  });
  view.runTo(rows.at[until]!);
  return orders.map(({ lots, left }) => lots - left);
}

const cases = fc.record({
  market: fc.constantFrom(...markets),
  until: fc.integer({ min: 380, max: 1_999 }),
  quotes: fc.array(quote, { minLength: 1, maxLength: 6 }).map(all => all.sort((a, b) => a.row - b.row)),
});
const sideOf = (n: number): SideIndex => (n === 0 ? BUY : SELL);
const sum = (all: readonly number[]): number => all.reduce((total, n) => total + n, 0);

test('on the same quotes waiting for trades alone fills no more than sharing out cancels, and that no more than touching does', () => {
  fc.assert(
    fc.property(cases, ({ market, quotes, until }) => {
      const [pessimistic, expected, optimistic] = (['pessimistic', 'expected', 'optimistic'] as const).map(model =>
        filled(market, quotes, model, until),
      );
      expect(sum(pessimistic!)).toBeLessThanOrEqual(sum(expected!));
      // Order by order: whatever reaches one in part fills it whole by touching.
      expected!.forEach((lots, i) => expect(lots).toBeLessThanOrEqual(optimistic![i]!));
    }),
    { numRuns: 400 },
  );
});

test.each(['pessimistic', 'expected', 'power1', 'power3', 'log'] as const)(
  'no model of levels fills more than was traded, and was shown through our prices: %s',
  model => {
    fc.assert(
      fc.property(cases, ({ market, quotes, until }) => {
        const fills = filled(market, quotes, model, until);
        for (const side of [BUY, SELL] as const) {
          const ours = sum(fills.filter((_, i) => quotes[i]!.side === side));
          expect(ours).toBeLessThanOrEqual(reachable(market, side));
        }
      }),
      { numRuns: 150 },
    );
  },
);

test('the quotes of these tests do fill, and differently under each model', () => {
  const quotes = Array.from({ length: 30 }, (_, i) => ({
    row: 86 + 9 * i,
    side: sideOf(i % 2),
    behind: i % 5,
    lots: 20,
  }));
  const totals = (['pessimistic', 'expected', 'optimistic'] as const).map(model =>
    sum(
      markets.flatMap(market => Array.from({ length: 20 }, (_, n) => sum(filled(market, quotes, model, 360 + 40 * n)))),
    ),
  );
  expect(totals[0]).toBeGreaterThan(1_000);
  expect(totals[1]).toBeGreaterThan(totals[0]!);
  expect(totals[2]).toBeGreaterThan(totals[1]!);
});

/** All that takers of the other side traded, and all growth of levels of the other side. */
function reachable({ length, flags, lots, place }: MarketRows, side: SideIndex): number {
  const levels = new Map<number, number>();
  let total = 0;
  for (let row = 0; row < length; row++) {
    const sell = (flags[row]! & FLAG.sell) !== 0;
    if (sell === (side === SELL)) continue;
    if ((flags[row]! & FLAG.trade) !== 0) total += lots[row]!;
    else {
      total += Math.max(0, lots[row]! - (levels.get(place[row]!) ?? 0));
      levels.set(place[row]!, lots[row]!);
    }
  }
  return total;
}
