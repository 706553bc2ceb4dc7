import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, price, value, type Amount, type Price, type Side } from '../../../src/core/index.ts';
import { MatchingBook, type EngineTimeInForce } from '../../../src/sandbox/matching/matching.ts';
import { divergence, SELF_TRADES, type Operation } from '../../differential/matching.ts';
import { runsOf } from '../../many.ts';

const SIDES: readonly Side[] = ['buy', 'sell'];
const TIMES_IN_FORCE: readonly EngineTimeInForce[] = ['GTC', 'IOC', 'FOK', 'postOnly'];

const pick = <T>(values: readonly T[]) => fc.constantFrom(...values);
const prices = fc.integer({ min: 1, max: 12 });
const amounts = fc.integer({ min: 1, max: 30 });
const owners = fc.integer({ min: 0, max: 3 });
const which = fc.nat(60);
const timesInForce = fc.oneof(
  { weight: 5, arbitrary: fc.constant<EngineTimeInForce>('GTC') },
  { weight: 3, arbitrary: pick(TIMES_IN_FORCE) },
);
const kind = <K extends Operation['kind']>(of: K) => fc.constant(of);
const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ kind: kind('place'), side: pick(SIDES), price: prices, amount: amounts },
      ...{ timeInForce: timesInForce, owner: owners },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ kind: kind('take'), side: pick(SIDES), price: prices, amount: amounts },
      ...{ budget: fc.option(fc.nat(300)), owner: owners },
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('cancel'), which }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('reduce'), which, amount: amounts }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('hit'), which, amount: amounts }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: kind('modify'), which, price: prices, amount: amounts, timeInForce: timesInForce }),
  },
);

describe('the matching engine', () => {
  it('agrees with a naive book on any list of operations, in fills, queue, sequence and totals', () => {
    fc.assert(
      fc.property(pick(SELF_TRADES), fc.array(operations, { maxLength: 120 }), (selfTrade, list) => {
        expect(divergence(list, selfTrade)).toBeNull();
      }),
      runsOf(2_000, 400),
    );
  });

  it('agrees with a naive book where each order trades in full or not at all, among orders of its own', () => {
    const resting = fc.record({
      ...{
        kind: kind('place'),
        side: pick(SIDES),
        price: fc.integer({ min: 1, max: 4 }),
        amount: fc.integer({ min: 1, max: 4 }),
      },
      ...{ timeInForce: pick<EngineTimeInForce>(['GTC', 'FOK']), owner: fc.integer({ min: 0, max: 2 }) },
    });
    const lists = fc.array(resting, { minLength: 20, maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(pick(SELF_TRADES), lists, (selfTrade, list) => {
        expect(divergence(list, selfTrade)).toBeNull();
      }),
      runsOf(2_000, 300),
    );
  });

  it('keeps every lot: what is placed is traded, cancelled, or still in the book', () => {
    fc.assert(
      fc.property(fc.array(operations, { maxLength: 200 }), list => {
        let [placed, traded, removed] = [0, 0, 0];
        const book = new MatchingBook({
          executed: (_m, _mo, _t, _to, _p, lots) => void (traded += 2 * lots),
          prevented: (_m, _o, left) => void (removed += left),
        });
        const ids: number[] = [];
        for (const op of list) {
          if (op.kind === 'place') {
            ids.push(book.place(op.side, price(op.price), amount(op.amount), op.timeInForce, op.owner, 0));
            placed += op.amount;
            removed += op.amount - book.traded - book.rested;
          } else if (op.kind === 'cancel' && ids.length > 0)
            removed += book.cancel(ids[ids.length - 1 - (op.which % ids.length)]!);
        }
        let resting = 0;
        for (const side of SIDES) book.eachOrder(side, (_i, _o, _p, left) => (resting += left) > 0);
        expect(traded + removed + resting).toBe(placed);
      }),
    );
  });

  it('grows past its first arrays and keeps price-time order there', () => {
    const fills: [Price, Amount][] = [];
    const book = new MatchingBook({
      executed: (_m, _mo, _t, _to, p, a) => void fills.push([p, a]),
      prevented: () => {},
    });
    for (let i = 0; i < 3000; i++) book.place('sell', price(1000 + ((i * 7919) % 1500)), amount(1 + i), 'GTC', 1, i);
    expect(book.size).toBe(3000);
    book.take('buy', price(5000), amount(Number.MAX_SAFE_INTEGER), null, 0, 0);
    expect(fills.length).toBe(3000);
    expect(fills.map(f => f[0])).toEqual([...fills.map(f => f[0])].sort((a, b) => a - b));
    expect(book.size).toBe(0);
  });

  it('never takes the id of a gone order for a later one', () => {
    const book = new MatchingBook({ executed: () => {}, prevented: () => {} });
    const first = book.place('buy', price(1), amount(1), 'GTC', 0, 0);
    expect(book.cancel(first)).toBe(1);
    const second = book.place('buy', price(1), amount(1), 'GTC', 0, 0);
    expect(second).not.toBe(first);
    expect(book.cancel(first)).toBe(0);
    expect(book.leftOf(second)).toBe(1);
  });

  it('lets nothing rest that would take a level past what whole numbers can count', () => {
    const book = new MatchingBook({ executed: () => {}, prevented: () => {} });
    book.place('buy', price(5), amount(Number.MAX_SAFE_INTEGER), 'GTC', 0, 0);
    book.place('buy', price(5), amount(1), 'GTC', 0, 0);
    expect(book.rested).toBe(0);
    expect(book.amountAt('buy', price(5))).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => book.place('buy', price(Number.NaN), amount(1), 'GTC', 0, 0)).toThrow(RangeError);
  });

  describe('has none of the defects that a public benchmark found in engines:', () => {
    const world = () => {
      const fills: string[] = [];
      const book = new MatchingBook({
        executed: (maker, _mo, taker, _to, at, traded, left) =>
          void fills.push(`${maker}<${taker} ${traded}@${at}, ${left} left`),
        prevented: () => undefined,
      });
      const put = (side: Side, at: number, lots: number, timeInForce: EngineTimeInForce = 'GTC') =>
        book.place(side, price(at), amount(lots), timeInForce, 0, 0);
      const queue = (side: Side) => {
        const found: (readonly [number, number, number])[] = [];
        book.eachOrder(side, (id, _owner, at, left) => found.push([id, at, left]) > 0);
        return found;
      };
      return { book, fills, put, queue };
    };

    it('a modification leaves the others of its level where they are', () => {
      const { book, put, queue } = world();
      const [a, b, c] = [put('buy', 5, 1), put('buy', 5, 2), put('buy', 5, 3)];
      book.modify(b, price(4), amount(7), 'GTC');
      expect(queue('buy')).toEqual([
        [a, 5, 1],
        [c, 5, 3],
        [b, 4, 7],
      ]);
    });

    it('the rest of an immediate order is not in the book, nor that of one without a limit', () => {
      const { book, put, queue } = world();
      put('sell', 5, 2);
      put('buy', 5, 3, 'IOC');
      book.take('buy', price(Number.MAX_SAFE_INTEGER), amount(9), null, 0, 0);
      expect([queue('buy'), queue('sell'), book.bestBid()]).toEqual([[], [], 0]);
    });

    it('two orders never have one id, and an order is traded at the price of the one that waited', () => {
      const { fills, put } = world();
      const ids = [put('sell', 5, 1), put('sell', 6, 1), put('buy', 9, 2)];
      expect(new Set(ids).size).toBe(3);
      expect(fills).toEqual([`${ids[0]}<${ids[2]} 1@5, 0 left`, `${ids[1]}<${ids[2]} 1@6, 0 left`]);
    });

    it('no trade of nothing is told', () => {
      const { book, fills, put } = world();
      put('sell', 5, 1);
      book.take('buy', price(9), amount(3), value(4n), 0, 0);
      expect(fills).toEqual([]);
      expect(() => put('buy', 5, 0)).toThrow(RangeError);
    });

    it('the best price is the next one at once when a level empties, by a trade, a cancel, a reduction or a change', () => {
      for (const empty of ['trade', 'cancel', 'reduce', 'modify'] as const) {
        const { book, put } = world();
        const best = put('sell', 5, 1);
        put('sell', 8, 1);
        if (empty === 'trade') put('buy', 5, 1);
        else if (empty === 'cancel') book.cancel(best);
        else if (empty === 'reduce') book.reduce(best, amount(1));
        else book.modify(best, price(9), amount(1), 'GTC');
        expect([empty, book.bestAsk(), book.amountAt('sell', price(5))]).toEqual([empty, 8, 0]);
      }
    });

    it('an order that enters the queue of its own price again is last in it, once', () => {
      const { book, put, queue } = world();
      const [a, b] = [put('sell', 5, 1), put('sell', 5, 1)];
      for (let i = 0; i < 3; i++) book.modify(a, price(5), amount(2), 'GTC');
      expect(queue('sell')).toEqual([
        [b, 5, 1],
        [a, 5, 2],
      ]);
      book.modify(b, price(5), amount(1), 'GTC');
      expect(queue('sell').map(([id]) => id)).toEqual([a, b]);
    });
  });
});
