/** Wanted minus live, as laws: never two for one level, nothing moved that may stay, nothing canceled that is on its way. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assign,
  mayLive,
  reconcileSide,
  type NormalizedLevel,
  type Order,
  type OrderState,
  type Side,
  type RequoteTolerance,
} from '../../../src/core/index.ts';

const STATES: readonly OrderState[] = [
  'intent',
  'sending',
  'open',
  'partially filled',
  'canceling',
  'unknown',
  'closed-unsettled',
  'done',
];

const NOW = 1_000_000;
const tolerance: RequoteTolerance = { priceBps: 100, amountShare: 0.5, maxAgeMs: 60_000 };

function order(id: number, side: Side, at: number, state: OrderState, changes: object = {}): Order {
  const base = {
    id: `o-${id}`,
    side,
    price: at,
    amount: 10,
    placedAt: NOW - 1000,
    filled: 0,
    state,
    ending: null,
    oid: `x${id}`,
  };
  return { ...base, finalFilled: null, ...changes } as unknown as Order;
}
const level = (side: Side, at: number, lots = 10): NormalizedLevel =>
  ({ side, price: at, amount: lots, why: [] }) as unknown as NormalizedLevel;

const side = fc.constantFrom<Side>('buy', 'sell');
const prices = fc.uniqueArray(fc.integer({ min: 900, max: 1100 }), { maxLength: 6 });
const anyOrder = fc.record({
  side,
  price: fc.integer({ min: 900, max: 1100 }),
  state: fc.constantFrom(...STATES),
  filled: fc.integer({ min: 0, max: 10 }),
  age: fc.integer({ min: 0, max: 100_000 }),
});
const anyOrders = fc
  .array(anyOrder, { maxLength: 8 })
  .map(all => all.map((o, n) => order(n, o.side, o.price, o.state, { filled: o.filled, placedAt: NOW - o.age })));

const tries = { numRuns: 500 };

describe('a plan', () => {
  it('never makes more orders that may live than there are levels, unless there were more before', () => {
    fc.assert(
      fc.property(side, prices, anyOrders, (of, wanted, orders) => {
        const plan = reconcileSide(
          of,
          wanted.map(at => level(of, at)),
          orders,
          tolerance,
          NOW,
        );
        const before = orders.filter(o => o.side === of && mayLive(o)).length;
        expect(before + plan.place.length).toBe(Math.max(wanted.length, before));
      }),
      tries,
    );
  });

  it('places only wanted levels, each once, and never one that keeps or waits for an order', () => {
    fc.assert(
      fc.property(side, prices, anyOrders, (of, wanted, orders) => {
        const plan = reconcileSide(
          of,
          wanted.map(at => level(of, at)),
          orders,
          tolerance,
          NOW,
        );
        const placed = plan.place.map(l => l.price as number);
        expect(new Set(placed).size).toBe(placed.length);
        for (const at of placed) expect(wanted).toContain(at);
        for (const { level: l } of plan.keep) expect(placed).not.toContain(l.price);
        expect(new Set(plan.keep.map(k => k.level.price)).size).toBe(plan.keep.length);
      }),
      tries,
    );
  });

  it('cancels only what the exchange has confirmed, of its own side, each once, and never what it keeps', () => {
    fc.assert(
      fc.property(side, prices, anyOrders, (of, wanted, orders) => {
        const plan = reconcileSide(
          of,
          wanted.map(at => level(of, at)),
          orders,
          tolerance,
          NOW,
        );
        const touched = [...plan.cancel, ...plan.keep].map(({ order: o }) => o);
        expect(new Set(touched).size).toBe(touched.length);
        for (const o of touched) {
          expect(['open', 'partially filled']).toContain(o.state);
          expect(o.side).toBe(of);
        }
        // Every confirmed order is decided upon.
        const confirmed = orders.filter(o => o.side === of && (o.state === 'open' || o.state === 'partially filled'));
        expect(touched.length).toBe(confirmed.length);
      }),
      tries,
    );
  });

  it('keeps an order that is within tolerance of a level', () => {
    fc.assert(
      fc.property(side, fc.integer({ min: 900, max: 1100 }), fc.integer({ min: 900, max: 1100 }), (of, want, have) => {
        const live = order(1, of, have, 'open');
        const plan = reconcileSide(of, [level(of, want)], [live], tolerance, NOW);
        const isNear = Math.abs(want - have) * 10_000 <= 100 * want;
        expect(plan.keep.length).toBe(isNear ? 1 : 0);
        expect(plan.cancel.map(c => c.reason)).toEqual(isNear ? [] : ['price moved']);
        expect(plan.place).toEqual([]);
      }),
    );
  });

  it('keeps as many orders as any pairing could when only prices decide', () => {
    const few = fc.uniqueArray(fc.integer({ min: 1000, max: 1060 }), { maxLength: 5 });
    fc.assert(
      fc.property(side, few, few, (of, wanted, have) => {
        const fits = (want: number, held: number) => Math.abs(want - held) * 10_000 <= 100 * want;
        const most = (i: number, used: ReadonlySet<number>): number =>
          i === wanted.length
            ? 0
            : Math.max(
                most(i + 1, used),
                ...have.map((held, j) =>
                  !used.has(j) && fits(wanted[i]!, held) ? 1 + most(i + 1, new Set([...used, j])) : 0,
                ),
              );
        const orders = have.map((held, n) => order(n, of, held, 'open'));
        const plan = reconcileSide(
          of,
          wanted.map(at => level(of, at)),
          orders,
          tolerance,
          NOW,
        );
        expect(plan.keep.length).toBe(most(0, new Set()));
      }),
      tries,
    );
  });

  it('moves one order, not all of them, when an even ladder moves by one rung', () => {
    const exact = { ...tolerance, priceBps: 0 };
    const orders = [1000, 1010, 1020].map((at, n) => order(n, 'sell', at, 'open'));
    const plan = reconcileSide(
      'sell',
      [1010, 1020, 1030].map(at => level('sell', at)),
      orders,
      exact,
      NOW,
    );
    expect(plan.keep.map(k => k.level.price)).toEqual([1010, 1020]);
    expect(plan.cancel.map(c => c.order.price)).toEqual([1000]);
    // Its level waits until the cancel is proven.
    expect(plan.place).toEqual([]);
  });

  it.each(['intent', 'sending', 'canceling', 'unknown'] as const)('has a level wait while its order is %s', state => {
    const plan = reconcileSide('buy', [level('buy', 1000)], [order(1, 'buy', 1050, state)], tolerance, NOW);
    expect(plan).toMatchObject({ place: [], cancel: [], keep: [] });
  });

  it.each([
    ['price moved', order(1, 'buy', 980, 'open')],
    ['amount changed', order(1, 'buy', 1000, 'partially filled', { filled: 6 })],
    ['amount changed', order(1, 'buy', 1000, 'open', { amount: 16 })],
    ['too old', order(1, 'buy', 1000, 'open', { placedAt: NOW - 60_001 })],
    ['price moved', order(1, 'buy', Number.NaN, 'open')],
    ['too old', order(1, 'buy', 1000, 'open', { placedAt: Number.NaN })],
  ] as const)('cancels for "%s"', (reason, live) => {
    const plan = reconcileSide('buy', [level('buy', 1000)], [live], tolerance, NOW);
    expect(plan.cancel.map(c => c.reason)).toEqual([reason]);
    expect(plan.place).toEqual([]);
  });

  it('cancels what no level wants', () => {
    const orders = [order(1, 'buy', 1000, 'open'), order(2, 'buy', 990, 'open')];
    const plan = reconcileSide('buy', [level('buy', 1000)], orders, tolerance, NOW);
    expect(plan.cancel.map(c => [c.order.id, c.reason])).toEqual([['o-2', 'level not wanted']]);
  });
});

describe('assigning orders to levels', () => {
  /** Least sum of distances over all ways to pair the fewer wholly with the more. */
  function bruteForce(
    few: readonly number[],
    many: readonly number[],
    used: ReadonlySet<number> = new Set(),
    i = 0,
  ): number {
    if (i === few.length) return 0;
    let best = Infinity;
    many.forEach((at, j) => {
      if (used.has(j)) return;
      best = Math.min(best, Math.abs(few[i]! - at) + bruteForce(few, many, new Set([...used, j]), i + 1));
    });
    return best;
  }

  it('pairs as many as there can be with the least sum of distances, as brute force does', () => {
    const points = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 5 });
    fc.assert(
      fc.property(points, points, fc.boolean(), (a, b, isDescending) => {
        const sorted = (xs: number[]) => [...xs].sort((x, y) => (isDescending ? y - x : x - y));
        const [wants, haves] = [sorted(a), sorted(b)];
        const partner = assign(wants, haves);
        const pairs = partner.flatMap((j, i) => (j < 0 ? [] : [[wants[i]!, haves[j]!] as const]));
        expect(partner.length).toBe(wants.length);
        expect(pairs.length).toBe(Math.min(wants.length, haves.length));
        const used = partner.filter(j => j >= 0);
        expect(new Set(used).size).toBe(used.length);
        const sum = pairs.reduce((total, [x, y]) => total + Math.abs(x - y), 0);
        const [few, many] = wants.length <= haves.length ? [wants, haves] : [haves, wants];
        expect(sum).toBe(bruteForce(few, many));
      }),
      tries,
    );
  });
});
