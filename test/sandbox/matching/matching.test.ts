import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, price, value, type Amount, type Price, type Side } from '../../../src/core/index.ts';
import { MatchingBook, type EngineTimeInForce, type SelfTrade } from '../../../src/sandbox/matching/matching.ts';
import { NaiveBook, type NaiveFill } from './naiveBook.ts';
import { runsOf } from '../../many.ts';

const SIDES: readonly Side[] = ['buy', 'sell'];
const TIMES_IN_FORCE: readonly EngineTimeInForce[] = ['GTC', 'IOC', 'FOK', 'postOnly'];
const SELF: readonly SelfTrade[] = ['allow', 'drop-new', 'remove-old'];

type Operation =
  | { kind: 'place'; side: Side; price: number; amount: number; timeInForce: EngineTimeInForce; owner: number }
  | { kind: 'take'; side: Side; limit: number; amount: number; budget: bigint | null; owner: number }
  | { kind: 'cancel'; which: number }
  | { kind: 'reduce'; which: number; by: number }
  | { kind: 'modify'; which: number; price: number; amount: number };

const pick = <T>(values: readonly T[]) => fc.constantFrom(...values);
const prices = fc.integer({ min: 1, max: 12 });
const amounts = fc.integer({ min: 1, max: 30 });
const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('place' as const),
      side: pick(SIDES),
      price: prices,
      amount: amounts,
      timeInForce: fc.oneof(
        { weight: 5, arbitrary: fc.constant<EngineTimeInForce>('GTC') },
        { weight: 3, arbitrary: pick(TIMES_IN_FORCE) },
      ),
      owner: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      side: pick(SIDES),
      limit: prices,
      amount: amounts,
      budget: fc.option(fc.bigInt({ min: 0n, max: 300n })),
      owner: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(200) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reduce' as const), which: fc.nat(200), by: amounts }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('modify' as const), which: fc.nat(200), price: prices, amount: amounts }),
  },
);

/** The fast book with its executions written down under the names that the naive one uses. */
function fastBook(selfTrade: SelfTrade) {
  const nameOf = new Map<number, number>();
  const fills: NaiveFill[] = [];
  const prevented: number[] = [];
  const name = (id: number) => nameOf.get(id)!;
  const pending: { maker: number; price: number; amount: number; makerLeft: number }[] = [];
  const book = new MatchingBook({
    executed: (maker, _makerOwner, _taker, _takerOwner, at, traded, makerLeft) =>
      void pending.push({ maker: name(maker), price: at, amount: traded, makerLeft }),
    prevented: maker => void prevented.push(name(maker)),
  });
  book.selfTrade = selfTrade;
  const settle = (taker: number) => {
    for (const fill of pending.splice(0)) fills.push({ ...fill, taker });
  };
  return { book, nameOf, fills, prevented, settle };
}

const rows = (book: MatchingBook, nameOf: Map<number, number>, side: Side) => {
  const found: [number, number, number, number][] = [];
  book.eachOrder(side, (id, owner, at, left) => found.push([nameOf.get(id)!, owner, at, left]) > 0);
  return found;
};

describe('the matching engine', () => {
  it('agrees with a naive book on any list of operations, in fills, queue, sequence and totals', () => {
    fc.assert(
      fc.property(pick(SELF), fc.array(operations, { maxLength: 120 }), (selfTrade, list) => {
        const naive = new NaiveBook();
        naive.selfTrade = selfTrade;
        const { book, nameOf, fills, prevented, settle } = fastBook(selfTrade);
        const ids: number[] = [];
        for (const op of list) {
          if (op.kind === 'place' || op.kind === 'take') {
            const name = ids.length;
            const id =
              op.kind === 'place'
                ? book.place(op.side, price(op.price), amount(op.amount), op.timeInForce, op.owner, 0)
                : book.take(
                    op.side,
                    price(op.limit),
                    amount(op.amount),
                    op.budget === null ? null : value(op.budget),
                    op.owner,
                    0,
                  );
            ids.push(id);
            nameOf.set(id, name);
            settle(name);
            if (op.kind === 'place') naive.place(name, op.side, op.price, op.amount, op.timeInForce, op.owner);
            else naive.take(name, op.side, op.limit, op.amount, op.budget, op.owner);
          } else if (ids.length > 0) {
            const name = op.which % ids.length;
            const id = ids[name]!;
            if (op.kind === 'cancel') expect(book.cancel(id)).toBe(naive.cancel(name));
            else if (op.kind === 'reduce') expect(book.reduce(id, amount(op.by))).toBe(naive.reduce(name, op.by));
            else {
              expect(book.modify(id, price(op.price), amount(op.amount), 'GTC')).toBe(
                naive.modify(name, op.price, op.amount, 'GTC'),
              );
              settle(name);
            }
          }
          expect(fills).toEqual(naive.fills);
          expect(prevented).toEqual(naive.prevented);
          expect(book.sequence).toBe(naive.sequence);
          expect(book.size).toBe(naive.orders.length);
          for (const side of SIDES) {
            expect(rows(book, nameOf, side)).toEqual(naive.side(side).map(o => [o.name, o.owner, o.price, o.left]));
            let before = side === 'buy' ? Infinity : 0;
            book.eachLevel(side, (at, total, orders) => {
              const there = naive.orders.filter(o => o.side === side && o.price === at);
              expect(total).toBe(there.reduce((sum, o) => sum + o.left, 0));
              expect(orders).toBe(there.length);
              expect(book.amountAt(side, at)).toBe(total);
              expect(side === 'buy' ? at < before : at > before).toBe(true);
              before = at;
              return true;
            });
          }
          const [bid, ask] = [book.bestBid(), book.bestAsk()];
          if (bid > 0 && ask > 0) expect(bid).toBeLessThan(ask);
        }
      }),
      runsOf(400, 130),
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
          } else if (op.kind === 'cancel' && ids.length > 0) removed += book.cancel(ids[op.which % ids.length]!);
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
});
