import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedExchange } from '../../../backtest/exchange/simulatedExchange.ts';
import { constantLatency } from '../../../backtest/rows/latency.ts';
import { MESSAGE } from '../../../backtest/exchange/messageRing.ts';
import { OrderPool, type OwnOrder } from '../../../backtest/exchange/ownOrders.ts';
import { BUY, FLAG, RowBuilder, SELL } from '../../../backtest/rows/rows.ts';
import {
  amount,
  opposite,
  OrderBook,
  price,
  textOfAmount,
  textOfPrice,
  type Price,
  type Side,
} from '../../../src/core/index.ts';
import { levelModel, type Bound } from '../../../src/fills/index.ts';
import { FollowedMarket } from '../../../src/sandbox/index.ts';
import { runsOf } from '../../many.ts';
import { arena } from '../trader.ts';

const BOOK = 'btc_mxn';
const BASE = 150_000;
/** Lots in one unit of the scripts: above the book's least amount and value. */
const UNIT = 10_000;

type Step =
  | { readonly act: 'level' | 'place'; readonly side: Side; readonly at: number; readonly lots: number }
  | { readonly act: 'trade'; readonly side: Side; readonly at: number; readonly lots: number }
  | { readonly act: 'cancel'; readonly which: number };

/** Few prices, so that orders queue behind levels, and the sides share one, so that levels come through orders. */
const place = fc.record({
  side: fc.constantFrom<Side>('buy', 'sell'),
  depth: fc.nat(2),
  lots: fc.integer({ min: 1, max: 12 }),
});
const at = ({ side, depth, lots }: { side: Side; depth: number; lots: number }) => ({
  side,
  at: side === 'buy' ? 2 - depth : 2 + depth,
  lots,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: place.map(of => ({ act: 'level' as const, ...at(of), lots: 2 * (of.lots - 1) })) },
  { weight: 3, arbitrary: place.map(of => ({ act: 'trade' as const, ...at(of), side: opposite(of.side) })) },
  { weight: 3, arbitrary: place.map(of => ({ act: 'place' as const, ...at(of) })) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), which: fc.nat(3) }) },
);

const scripts = fc.array(step, { minLength: 20, maxLength: 60, size: 'max' });

function market(model: Bound) {
  const { exchange, ann } = arena({ selfTrade: 'allow' });
  const place = exchange.marketplace(BOOK);
  const followed = new FollowedMarket(place, levelModel(model));
  const { instrument } = place;
  const rest = (of: Side, ticks: Price, lots: number) =>
    ann.limit(BOOK, of, textOfPrice(instrument, ticks), textOfAmount(instrument, amount(lots)), {
      time_in_force: 'postonly',
    });
  const filled = (oid: string) => exchange.venue.find(oid)!.filled;
  return { exchange, place, followed, rest, filled, ann };
}

/** Leaves out what no market does (a crossed book, a row without a change) and orders that would trade on arrival. */
function legal(steps: readonly Step[]): Step[] {
  const told = new OrderBook();
  const own: Record<Side, Set<number>> = { buy: new Set(), sell: new Set() };
  const through = (of: Side, ticks: number, best: number) => best > 0 && (of === 'buy' ? ticks >= best : ticks <= best);
  return steps.filter(each => {
    if (each.act === 'trade' || each.act === 'cancel') return true;
    const ticks = price(BASE + each.at);
    if (through(each.side, ticks, told.best(opposite(each.side)))) return false;
    if (each.act === 'level') {
      if (told.amountAt(each.side, ticks) === each.lots * UNIT) return false;
      told.set(each.side, ticks, amount(each.lots * UNIT));
      return true;
    }
    if ([...own[opposite(each.side)]].some(other => through(each.side, ticks, other))) return false;
    own[each.side].add(ticks);
    return true;
  });
}

/** What of each order is filled after each step, in the embedded exchange that follows. */
function onPaper(steps: readonly Step[], model: Bound): { filled: number[][]; reached: number; filledLots: number } {
  const { followed, rest, filled, ann } = market(model);
  const told = new OrderBook();
  const oids: string[] = [];
  const orders: { side: Side; ticks: number; oid: string }[] = [];
  let reached = 0;
  const history = steps.map(each => {
    if (each.act === 'cancel') {
      const oid = oids[each.which];
      if (oid !== undefined) ann.call('DELETE', `/api/v3/orders/${oid}`);
    } else {
      const [ticks, lots] = [price(BASE + each.at), each.lots * UNIT];
      if (each.act === 'place') {
        const oid = rest(each.side, ticks, lots);
        oids.push(oid);
        orders.push({ side: each.side, ticks, oid });
      } else if (each.act === 'trade') {
        reached += lots;
        followed.trade(each.side, ticks, amount(lots));
      } else {
        reached += Math.max(0, lots - told.amountAt(each.side, ticks));
        told.set(each.side, ticks, amount(lots));
        followed.set(each.side, ticks, amount(lots));
        followed.flush();
      }
    }
    return oids.map(filled);
  });
  return { filled: history, reached, filledLots: followed.counts().filledLots };
}

/** The same in the backtest's exchange. */
/** Far enough that each execution is a taker of its own, as it is on paper. */
const APART_MS = 1000;

function inBacktest(steps: readonly Step[], model: Bound): number[][] {
  const builder = new RowBuilder();
  steps.forEach((each, i) => {
    if (each.act !== 'level' && each.act !== 'trade') return;
    const taken = (each.side === 'sell' ? FLAG.sell : 0) | (each.act === 'trade' ? FLAG.trade : 0);
    builder.add(i * APART_MS, i * APART_MS, BASE + each.at, each.lots * UNIT, taken);
  });
  const rows = builder.rows();
  const view = new SimulatedExchange(rows, levelModel(model), constantLatency(0, 0));
  const pool = new OrderPool();
  const orders: OwnOrder[] = [];
  return steps.map((each, i) => {
    if (each.act === 'place') {
      const order = pool.take(each.side === 'buy' ? BUY : SELL, BASE + each.at - rows.base, each.lots * UNIT);
      orders.push(order);
      view.requests.push(i * APART_MS, MESSAGE.place, order, order.lots, i, 0);
    }
    const gone = each.act === 'cancel' ? orders[each.which] : undefined;
    if (gone?.resting) view.requests.push(i * APART_MS, MESSAGE.cancel, gone, 0, i, 0);
    view.runTo(i * APART_MS);
    return orders.map(({ lots, left }) => lots - left);
  });
}

describe('a followed market', () => {
  test.each(['pessimistic', 'expected', 'optimistic'] as const)(
    'fills the same lots at the same moments as the backtest does: %s',
    model => {
      fc.assert(
        fc.property(scripts, script => {
          const steps = legal(script);
          expect(onPaper(steps, model).filled).toEqual(inBacktest(steps, model));
        }),
        { numRuns: 60 },
      );
    },
  );

  test.each(['pessimistic', 'expected'] as const)(
    'never fills more than the followed market traded and newly showed: %s',
    model => {
      fc.assert(
        fc.property(scripts, script => {
          const { reached, filledLots } = onPaper(legal(script), model);
          expect(filledLots).toBeLessThanOrEqual(reached);
        }),
        { numRuns: 40 },
      );
    },
  );

  test('shows the levels of the other, whatever was traded and taken from them', () => {
    fc.assert(
      fc.property(scripts, script => {
        const { followed, place } = market('pessimistic');
        const told = new OrderBook();
        for (const each of legal(script.filter(({ act }) => act === 'level' || act === 'trade'))) {
          if (each.act === 'cancel') continue;
          const [ticks, lots] = [price(BASE + each.at), amount(each.lots * UNIT)];
          if (each.act === 'trade') followed.trade(each.side, ticks, lots);
          else {
            told.set(each.side, ticks, lots);
            followed.set(each.side, ticks, lots);
          }
        }
        followed.flush();
        for (let i = 0; i <= 4; i++) {
          for (const of of ['buy', 'sell'] as const) {
            expect(place.amountAt(of, price(BASE + i))).toBe(told.amountAt(of, price(BASE + i)));
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  test('brings a trade that happened before an order came to those alone that were there', () => {
    const { followed, rest, filled } = market('optimistic');
    const early = rest('sell', price(BASE), 50_000);
    const mark = followed.mark();
    const late = rest('sell', price(BASE), 50_000);
    followed.trade('buy', price(BASE), amount(10_000), { takerNumber: 1, mark });
    expect([filled(early), filled(late)]).toEqual([50_000, 0]);
  });

  test('hides what lies at or through the other side, and shows it when it is no more', () => {
    const { followed, place } = market('pessimistic');
    followed.set('buy', price(BASE), amount(5));
    followed.set('sell', price(BASE + 2), amount(5));
    followed.flush();
    followed.set('buy', price(BASE + 2), amount(7));
    followed.flush();
    expect([place.bestBid(), place.bestAsk()]).toEqual([BASE, 0]);
    followed.set('sell', price(BASE + 2), amount(0));
    followed.set('sell', price(BASE + 3), amount(5));
    followed.flush();
    expect([place.bestBid(), place.bestAsk()]).toEqual([BASE + 2, BASE + 3]);
  });

  /** Both sides lie at the same three prices, so that the told book is often crossed. */
  const update = fc.oneof(
    {
      weight: 6,
      arbitrary: place.map(({ side, depth, lots }) => ({
        act: 'level' as const,
        ...{ side, at: side === 'buy' ? 3 - depth : 1 + depth, lots: lots % 5 },
      })),
    },
    { weight: 3, arbitrary: fc.record({ act: fc.constant('flush' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        act: fc.constant('clear' as const),
        buy: fc.constantFrom(0, BASE + 2),
        sell: fc.constantFrom(BASE + 2, Infinity),
      }),
    },
  );

  test('after a clear shows what is told from there on, and of what it reaches nothing else, hidden levels neither', () => {
    const prices = [1, 2, 3].map(i => price(BASE + i));
    fc.assert(
      fc.property(fc.array(update, { minLength: 5, maxLength: 40, size: 'max' }), updates => {
        const { followed, place } = market('pessimistic');
        const told: Record<Side, Map<number, number>> = { buy: new Map(), sell: new Map() };
        const pricesOf = (side: Side) => [...told[side]].flatMap(([ticks, lots]) => (lots > 0 ? [ticks] : []));
        let shown = prices.flatMap(() => [0, 0]);
        for (const each of [...updates, { act: 'flush' as const }]) {
          if (each.act === 'level') {
            followed.set(each.side, price(BASE + each.at), amount(each.lots * UNIT));
            told[each.side].set(BASE + each.at, each.lots * UNIT);
          } else if (each.act === 'clear') {
            followed.clear(each);
            for (const ticks of told.buy.keys()) if (ticks >= each.buy) told.buy.delete(ticks);
            for (const ticks of told.sell.keys()) if (ticks <= each.sell) told.sell.delete(ticks);
          } else {
            followed.flush();
            const [bid, ask] = [Math.max(0, ...pricesOf('buy')), Math.min(Infinity, ...pricesOf('sell'))];
            shown = prices.flatMap(ticks => [
              bid >= ask && ticks >= ask ? 0 : (told.buy.get(ticks) ?? 0),
              bid >= ask && ticks <= bid ? 0 : (told.sell.get(ticks) ?? 0),
            ]);
          }
          expect(prices.flatMap(ticks => [place.amountAt('buy', ticks), place.amountAt('sell', ticks)])).toEqual(shown);
        }
      }),
      runsOf(300, 30),
    );
  });
});
