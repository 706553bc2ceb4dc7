/**
 * Tests of foreign orders of the account: their best prices, and orders that the bot must not place because of them.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Orders,
  takerPriceBound,
  type Amount,
  type EngineNews,
  type OrderReport,
  type Price,
  type Side,
} from '../../../src/core/index.ts';
import { ForeignOrders } from '../../../src/core/orders/foreignOrders.ts';
import { OriginIds } from '../../../src/core/orders/originIds.ts';
import { ToyExchange, PATIENCE, quoteAround } from '../toyExchange.ts';
import { plain } from '../market.ts';

let serial = 0;
const report = (side: Side, price: string | undefined, changes: Partial<OrderReport> = {}): OrderReport => ({
  book: plain.symbol,
  oid: `oid${serial++}`,
  side,
  type: 'limit',
  status: 'open',
  ...(price === undefined ? {} : { price }),
  originalAmount: '5',
  unfilledAmount: '5',
  createdAt: 0,
  ...changes,
});

function foreign() {
  const ids = new OriginIds('mm', 7);
  const orders = new Orders(plain, PATIENCE, () => undefined);
  const of = new ForeignOrders(ids, orders);
  let at = 0;
  const reads = (list: readonly OrderReport[], kind: 'complete' | 'current' | 'cut' = 'complete', startedAt = ++at) => {
    of.read(
      { startedAt, complete: kind === 'complete', ...(kind === 'current' ? { current: true } : {}), orders: list },
      plain,
    );
    return of.bests;
  };
  return { reads, orders };
}

describe('the foreign orders of the account', () => {
  test('are those of other bots and manual ones, each side with its best price, and none of another book', () => {
    const { reads } = foreign();
    expect(reads([])).toEqual({ buy: null, sell: null });
    const listed = [
      report('buy', '990', { originId: 'other-3-1' }),
      report('buy', '991'),
      report('buy', '999', { originId: 'mm-7-1' }),
      report('buy', '998', { originId: 'mm-3-9' }),
      report('buy', '1000', { book: 'eth_mxn' }),
      report('sell', '1010', { originId: 'mmm-7-1' }),
      report('sell', '1009'),
      report('sell', undefined, { type: 'market' }),
    ];
    expect(reads(listed)).toEqual({ buy: 991, sell: 1009 });
    expect(reads([...listed].reverse())).toEqual({ buy: 991, sell: 1009 });
  });

  test('are not those that the bot knows by the id of the exchange', () => {
    const { reads, orders } = foreign();
    orders.intend('mm-7-1', 'buy', 990 as Price, 5 as Amount, 0);
    orders.sent('mm-7-1');
    orders.answered('mm-7-1', { kind: 'done', value: { oid: 'known' } }, false, 1);
    expect(reads([report('buy', '990', { oid: 'known' })])).toEqual({ buy: null, sell: null });
  });

  test('count with a price between two ticks at the tick that crosses first, and with one beyond all ticks', () => {
    const { reads } = foreign();
    expect(reads([report('buy', '990.5'), report('sell', '1009.5')])).toEqual({ buy: 991, sell: 1009 });
    const most = Number.MAX_SAFE_INTEGER;
    expect(reads([report('buy', '9'.repeat(30)), report('sell', '9'.repeat(30))])).toEqual({ buy: most, sell: most });
  });

  test('are not changed by a stop order that has not triggered, which is not in the book', () => {
    const listed = fc.record({
      side: fc.constantFrom<Side>('buy', 'sell'),
      price: fc.integer({ min: 970, max: 1_030 }).map(String),
      status: fc.constantFrom('queued' as const, 'open' as const),
      stop: fc.option(fc.integer({ min: 970, max: 1_030 }).map(String), { nil: undefined }),
      triggeredAt: fc.option(fc.constant(1_700_000_000_000), { nil: undefined }),
    });
    const kinds = fc.constantFrom('complete', 'current', 'cut');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(listed, { maxLength: 6 }), kinds), { maxLength: 4 }), pages => {
        const [all, resting] = [foreign(), foreign()];
        for (const [page, kind] of pages) {
          const orders = page.map(({ side, price, status, stop, triggeredAt }) =>
            report(side, price, {
              status,
              ...(stop === undefined ? {} : { stop }),
              ...(triggeredAt === undefined ? {} : { triggeredAt }),
            }),
          );
          const waits = (order: OrderReport) => order.stop !== undefined && order.triggeredAt === undefined;
          expect(all.reads(orders, kind)).toEqual(
            resting.reads(
              orders.filter(order => !waits(order)),
              kind,
            ),
          );
        }
      }),
    );
    const stop = { status: 'queued', stop: '995' } as const;
    const { reads } = foreign();
    expect(reads([report('sell', '994', stop)])).toEqual({ buy: null, sell: null });
    expect(reads([report('sell', '994', { ...stop, triggeredAt: 1 })])).toEqual({ buy: null, sell: 994 });
  });

  test('stay after a read of one page only, are replaced by a whole one, and an older read changes nothing', () => {
    const { reads } = foreign();
    reads([report('sell', '1009')]);
    expect(reads([report('sell', '1012'), report('buy', '980')], 'cut')).toEqual({ buy: 980, sell: 1009 });
    expect(reads([report('sell', '1005')], 'cut')).toEqual({ buy: 980, sell: 1005 });
    expect(reads([], 'complete', 2)).toEqual({ buy: 980, sell: 1005 });
    expect(reads([report('sell', '1004')], 'cut', 3)).toEqual({ buy: 980, sell: 1004 });
    expect(reads([report('sell', '1012')], 'current')).toEqual({ buy: null, sell: 1012 });
    expect(reads([])).toEqual({ buy: null, sell: null });
  });
});

/** Opens a toy exchange whose reads of open orders list these foreign orders. Its book, which is older, does not show them. */
function beside(orders: readonly OrderReport[], away = 2, told: string[] = []): ToyExchange {
  const onNews = (news: EngineNews): void => {
    if (news.kind === 'not taken') told.push(`${news.id}: ${news.why}`);
  };
  const toy = new ToyExchange({ strategy: quoteAround(away), onNews });
  const step = toy.step.bind(toy);
  toy.step = event => step(event.kind === 'open orders' ? { ...event, orders: [...event.orders, ...orders] } : event);
  return toy.open();
}

describe('beside foreign orders', () => {
  test('a level that would cross one is not placed, and says so', () => {
    const toy = beside([report('sell', '998', { originId: 'other-1-1' })]).rounds(3);
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[], [1002]]);
    const { unshown, decisions } = toy.engine.book.snapshot(toy.now);
    expect(unshown.buy).toMatchObject({ reason: 'would cross another order of the account' });
    expect(decisions).toContainEqual(
      expect.objectContaining({
        side: 'buy',
        action: 'not placed',
        reason: 'would cross another order of the account',
      }),
    );
    const near = beside([report('sell', '999'), report('buy', '1001')]).rounds(3);
    expect([near.prices('buy'), near.prices('sell')]).toEqual([[998], [1002]]);
  });

  test('a hedge through the book that would trade with one is refused, and its bound is one tick before it', () => {
    const told: string[] = [];
    const toy = beside([report('buy', '990')], 2, told).rounds(2);
    toy.fill(toy.live.find(({ side }) => side === 'buy')!.id, 10);
    toy.rounds(2);
    const take = (id: string, price: number): void => {
      const of = { side: 'sell' as const, price: price as Price, amount: 10 as Amount, until: toy.now + 5_000 };
      toy.step({ kind: 'take', at: toy.now, id, ...of });
      toy.rounds(2);
    };
    take('mm-7-t1', 990);
    expect(told).toEqual(['mm-7-t1: would cross another order of the account']);
    expect(takerPriceBound('sell', toy.engine.book.riskContext(toy.now))).toBe(991);
    expect(takerPriceBound('buy', toy.engine.book.riskContext(toy.now))).toBe(Infinity);
    take('mm-7-t2', 991);
    expect(told).toHaveLength(1);
    expect(toy.places().filter(({ takes }) => takes)).toMatchObject([{ id: 'mm-7-t2', price: 991 }]);
  });

  test('no order crosses one that the last read showed, whatever is listed and wanted', () => {
    const listed = fc.array(
      fc.tuple(fc.constantFrom<Side>('buy', 'sell'), fc.integer({ min: 970, max: 1_030 }), fc.boolean()),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(listed, fc.integer({ min: 1, max: 30 }), (others, away) => {
        const orders = others.map(([side, price, isManual]) =>
          report(side, String(price), isManual ? {} : { originId: `other-1-${serial}` }),
        );
        const toy = beside(orders, away).rounds(3);
        for (const { side, price } of toy.places())
          for (const [of, at] of others)
            if (of !== side) expect(side === 'buy' ? price < at : price > at, `${side} ${price}`).toBe(true);
        // A quote that crosses no foreign order is placed.
        const isFree = others.every(([side, at]) => (side === 'buy' ? at < 1_000 + away : at > 1_000 - away));
        if (isFree && away < 10) expect(toy.places()).toHaveLength(2);
      }),
      { numRuns: 100 },
    );
  });
});
