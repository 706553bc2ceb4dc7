/** The fast order book against a naive one: a map that is sorted whenever somebody looks. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amount,
  bestOf,
  crosses,
  emptyDepth,
  OrderBook,
  price,
  subtractOwn,
  type Side,
} from '../../../src/core/index.ts';
import { depthOf, levelsOf } from '../market.ts';

class NaiveBook {
  readonly sides = { buy: new Map<number, number>(), sell: new Map<number, number>() };

  set(side: Side, at: number, lots: number): void {
    if (lots === 0) this.sides[side].delete(at);
    else this.sides[side].set(at, lots);
  }

  levels(side: Side): [number, number][] {
    return [...this.sides[side]].sort((a, b) => (side === 'buy' ? b[0] - a[0] : a[0] - b[0]));
  }
}

type Operation = { kind: 'set'; side: Side; price: number; amount: number } | { kind: 'clear' };

const side = fc.constantFrom<Side>('buy', 'sell');
/** Prices near each other, at the edges of every window the book may lay, and far away. */
const anyPrice = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 100_000_000, max: 100_000_020 }) },
  { weight: 3, arbitrary: fc.integer({ min: 99_990_000, max: 100_010_000 }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(-1, 1),
        fc.constantFrom(10, 11, 12, 13, 18, 19, 20, 21, 22),
        fc.integer({ min: -2, max: 2 }),
      )
      .map(([sign, power, off]) => 100_000_000 + sign * 2 ** power + off),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 }) },
  { weight: 1, arbitrary: fc.integer({ min: 2 ** 40, max: 2 ** 40 + 20 }) },
);
const anyAmount = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5 }), fc.constant(Number.MAX_SAFE_INTEGER));
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 40, arbitrary: fc.record({ kind: fc.constant('set'), side, price: anyPrice, amount: anyAmount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear') }) },
);

function expectSame(fast: OrderBook, naive: NaiveBook, seen: readonly number[]): void {
  for (const of of ['buy', 'sell'] as const) {
    const levels = naive.levels(of);
    expect(fast.levels(of)).toBe(levels.length);
    expect(fast.best(of)).toBe(levels[0]?.[0] ?? 0);
    for (const size of [1, 3, 50]) {
      const depth = emptyDepth(size);
      fast.depth(depth);
      expect(levelsOf(depth, of)).toEqual(levels.slice(0, size));
    }
    for (const at of seen) expect(fast.amountAt(of, price(at))).toBe(naive.sides[of].get(at) ?? 0);
  }
}

describe('the order book', () => {
  it('equals a naive book whenever somebody looks, with levels near and far, moving windows and clears', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(operation, fc.boolean()), { maxLength: 60 }), operations => {
        const fast = new OrderBook();
        const naive = new NaiveBook();
        const seen = operations.flatMap(([o]) => (o.kind === 'set' ? [o.price] : []));
        for (const [o, looks] of operations) {
          if (o.kind === 'clear') {
            fast.clear();
            naive.sides.buy.clear();
            naive.sides.sell.clear();
          } else {
            fast.set(o.side, price(o.price), amount(o.amount));
            naive.set(o.side, o.price, o.amount);
          }
          if (looks) expectSame(fast, naive, seen);
        }
        expectSame(fast, naive, seen);
      }),
      { numRuns: 100 },
    );
  });

  it('follows a touch that walks through many windows', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3000, max: 3000 }), { minLength: 20, maxLength: 80 }), moves => {
        const fast = new OrderBook();
        const naive = new NaiveBook();
        let mid = 10_000_000;
        const live: [Side, number][] = [];
        for (const move of moves) {
          mid += move;
          for (const of of ['buy', 'sell'] as const) {
            const at = mid + (of === 'buy' ? -1 : 1) * (Math.abs(move) + 1);
            fast.set(of, price(at), amount(7));
            naive.set(of, at, 7);
            live.push([of, at]);
          }
          if (live.length > 10) {
            for (const [of, at] of live.splice(0, 2)) {
              fast.set(of, price(at), amount(0));
              naive.set(of, at, 0);
            }
          }
          expectSame(fast, naive, [mid]);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('does not rebuild its window for every update of levels far from the touch', () => {
    const book = new OrderBook();
    book.set('sell', price(100_000_000), amount(1));
    const started = process.cpuUsage();
    for (let i = 0; i < 20_000; i++)
      book.set('sell', price(100_000_000 + 800_000 + (i % 200_000)), amount(1 + (i % 7)));
    // Rebuilding a window of a million ticks takes about a millisecond: 20,000 times that would be 20 s.
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(3_000);
    expect(book.best('sell')).toBe(100_000_000);
  });

  it.each([
    [100, Number.NaN],
    [100, -1],
    [Number.NaN, 1],
    [100.5, 1],
    [0, 1],
    [-100, 1],
    [Infinity, 1],
  ])('refuses the level %s with amount %s', (at, lots) => {
    const book = new OrderBook();
    expect(() => book.set('buy', price(at), amount(lots))).toThrow(RangeError);
    expect(book.levels('buy')).toBe(0);
  });
});

describe('subtracting our own orders', () => {
  it('equals taking them out of a naive book', () => {
    const levels = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 10 })), {
      selector: ([at]) => at,
      maxLength: 10,
    });
    const own = fc.array(fc.tuple(side, fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 12 })), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(levels, levels, own, (bids, asks, orders) => {
        const naive = new NaiveBook();
        for (const [at, lots] of bids) naive.set('buy', at, lots);
        for (const [at, lots] of asks) naive.set('sell', at, lots);
        const depth = depthOf(naive.levels('buy'), naive.levels('sell'));
        for (const [of, at, lots] of orders) {
          subtractOwn(depth, of, price(at), amount(lots));
          const left = (naive.sides[of].get(at) ?? 0) - lots;
          naive.set(of, at, Math.max(0, left));
        }
        expect(levelsOf(depth, 'buy')).toEqual(naive.levels('buy'));
        expect(levelsOf(depth, 'sell')).toEqual(naive.levels('sell'));
      }),
    );
  });

  it('that stand alone on a side leaves the side empty, with no best price', () => {
    const depth = depthOf([[99, 5]], [[101, 5]]);
    subtractOwn(depth, 'buy', price(99), amount(5));
    expect(bestOf(depth, 'buy')).toBe(0);
    expect(bestOf(depth, 'sell')).toBe(101);
  });
});

describe('crossing', () => {
  it('is touching or passing the best of the other side, and never happens against an empty one', () => {
    const depth = depthOf([[99, 1]], [[101, 1]]);
    expect([100, 101, 102].map(at => crosses(depth, 'buy', price(at)))).toEqual([false, true, true]);
    expect([100, 99, 98].map(at => crosses(depth, 'sell', price(at)))).toEqual([false, true, true]);
    expect(crosses(depthOf([], []), 'buy', price(1_000_000))).toBe(false);
  });
});
