import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrderBook, Orders, type OrderReport, type Side } from '../../../src/core/index.ts';
import { MarketView } from '../../../src/core/engine/marketView.ts';
import { levelsOf, plain } from '../market.ts';
import { runsOf } from '../../many.ts';

const START = 1.7e12;

describe('the market as it is seen', () => {
  const bookOf = (bids: readonly (readonly [number, number])[], asks: readonly (readonly [number, number])[]) => {
    const book = new OrderBook();
    for (const [price, lots] of bids) book.set('buy', price as never, lots as never);
    for (const [price, lots] of asks) book.set('sell', price as never, lots as never);
    return book;
  };
  const delays = { requestDelayMaxMs: 100, tradeReportDelayMaxMs: 60, cancelAgainMs: 25 };
  const noOrders = new Orders(plain, delays, () => {});
  const own = fc.record({
    side: fc.constantFrom('buy', 'sell'),
    away: fc.nat(3),
    lots: fc.integer({ min: 1, max: 9 }),
  });
  const happens = fc.record({
    kind: fc.constantFrom('place', 'fill', 'fill', 'untold fill', 'tell', 'end', 'read', 'read', 'sample', 'arrive'),
    which: fc.nat(3),
    lots: fc.integer({ min: 1, max: 9 }),
    passed: fc.nat(2),
  });

  it('has nothing of the bot in a book that was read before an order was filled, canceled or told of, and all of the others in one read after', () => {
    const counts = { exact: 0, safe: 0 };
    fc.assert(
      fc.property(
        fc.array(own, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(4), { minLength: 4, maxLength: 4 }),
        fc.array(happens, { maxLength: 30, size: 'max' }),
        (owns, others, history) => {
          const orders = new Orders(plain, delays, () => {});
          const priceOf = (side: Side, away: number) => (side === 'buy' ? 990 - away : 1_010 + away);
          const truth = owns.map(({ side, away, lots }, n) => ({
            ...{ id: `o-${n}`, oid: `oid-${n}`, side, lots, away, isPlaced: false, isOver: false, left: 0, untold: 0 },
          }));
          let now = START;
          let changedAt = now;
          let read: { startedAt: number; book: OrderBook } | null = null;
          /** Returns the true book of the exchange, including the orders of the bot. */
          const sample = () => {
            const level = (side: Side) => (away: number) => {
              const ours = truth.filter(one => one.side === side && one.away === away);
              return [priceOf(side, away), others[away]! + ours.reduce((sum, one) => sum + one.left, 0)] as const;
            };
            const side = (of: Side) => [0, 1, 2, 3].map(level(of)).filter(([, lots]) => lots > 0);
            return bookOf(side('buy'), side('sell'));
          };
          const tell = (one: (typeof truth)[number]) => {
            if (one.untold === 0) return;
            orders.filled(one.id, one.oid, one.untold as never, now);
            one.untold = 0;
          };
          for (const { kind, which, lots, passed } of history) {
            now += passed;
            const one = truth[which % truth.length]!;
            if (kind === 'read') read = { startedAt: now, book: sample() };
            else if (kind === 'sample' && read) read.book = sample();
            else if (kind === 'arrive' && read) {
              const market = new MarketView();
              market.read(read.book, read.startedAt, orders);
              const isExact = changedAt < read.startedAt && truth.every(({ untold }) => untold === 0);
              counts[isExact ? 'exact' : 'safe']++;
              for (const side of ['buy', 'sell'] as const) {
                const seen = levelsOf(market.depth, side);
                const whole = others.map((all, away) => [priceOf(side, away), all]).filter(([, all]) => all! > 0);
                if (isExact && String(seen) !== String(whole)) expect(seen).toEqual(whole);
                const ofOurs = seen.filter(([at, all]) => !whole.some(([price, most]) => price === at && all <= most!));
                if (ofOurs.length > 0) expect(ofOurs).toEqual([]);
              }
            } else if (kind === 'place' && !one.isPlaced) {
              one.isPlaced = true;
              one.left = one.lots;
              changedAt = now;
              orders.intend(one.id, one.side, priceOf(one.side, one.away) as never, one.lots as never, now);
              orders.sent(one.id);
              orders.answered(one.id, { kind: 'done', value: { oid: one.oid } }, false, now);
            } else if (kind === 'tell') {
              if (one.untold > 0) changedAt = now;
              tell(one);
            } else if (one.left > 0 && (kind === 'fill' || kind === 'untold fill')) {
              const all = Math.min(lots, one.left);
              one.left -= all;
              one.untold += all;
              changedAt = now;
              if (kind === 'fill') tell(one);
            } else if (kind === 'end' && one.isPlaced && !one.isOver) {
              one.isOver = true;
              changedAt = now;
              const report = { book: plain.symbol, oid: one.oid, originId: one.id, side: one.side, type: 'limit' };
              const status = one.left > 0 ? 'cancelled' : 'completed';
              const amounts = { originalAmount: `${one.lots}`, unfilledAmount: `${one.left}` };
              one.left = 0;
              orders.lookedUp([one.id], [{ ...report, status, createdAt: now, ...amounts } as OrderReport], now, now);
            }
          }
        },
      ),
      runsOf(5_000, 300),
    );
    expect(Math.min(counts.exact, counts.safe)).toBeGreaterThan(50);
  });

  it('has the middle and the levels of a book that has no orders of the bot as they are', () => {
    const orders = new Orders(plain, delays, () => {});
    orders.intend('o-0', 'sell', 1_010 as never, 10 as never, START);
    const book = bookOf([[990, 10], [989, 3]], [[1_010, 10], [1_012, 7]]); // prettier-ignore
    const market = new MarketView();
    expect([market.isQuotable, market.hearsTrades]).toEqual([false, false]);
    market.read(book, START, orders);
    expect([market.mid, market.isQuotable, market.hearsTrades]).toEqual([1_001, true, false]);
    market.read(book, null, orders);
    expect([levelsOf(market.depth, 'sell').length, market.mid, market.hearsTrades]).toEqual([2, 1_000, true]);
  });

  it.each([
    [[[990, 1]], [[991, 1]], true],
    [[[990, 1]], [[990, 1]], false],
    [[], [[990, 1]], false],
    [[[990, 1]], [], false],
  ] as [[number, number][], [number, number][], boolean][])(
    'of %j and %j is quotable: %s',
    (bids, asks, isQuotable) => {
      const market = new MarketView();
      market.read(bookOf(bids, asks), null, noOrders);
      expect(market.isQuotable).toBe(isQuotable);
    },
  );

  it('forgets prices from elsewhere in a sleep, and takes none whose read began before its end', () => {
    const market = new MarketView();
    const tell = (startedAt: number) => {
      market.apply({ kind: 'reference', at: START + 9, startedAt, price: 7 });
      market.apply({ kind: 'witness', at: START + 9, startedAt, bid: 5, ask: 6 });
      return [market.reference, market.rfqPrices];
    };
    market.apply({ kind: 'public trade', at: START, price: 3 as never });
    const known = (at: number) => [
      { at, price: 7 },
      { at, bid: 5, ask: 6 },
    ];
    expect(tell(START)).toEqual(known(START));
    market.slept(START + 5);
    expect([market.reference, market.rfqPrices, market.lastTrade]).toEqual([null, null, 3]);
    expect(tell(START + 4)).toEqual([null, null]);
    expect(tell(START + 5)).toEqual(known(START + 5));
  });
});
