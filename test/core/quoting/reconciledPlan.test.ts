/** A plan of one side, beside all the ways in which its orders could have been paired with its levels. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assign,
  reconcileSide,
  type NormalizedLevel,
  type Order,
  type QuotePlan,
  type RequoteTolerance,
  type Side,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const NOW = 1.7e12;
const SIDES = ['buy', 'sell'] as const;
const tolerance: RequoteTolerance = { priceBps: 50, amountShare: 0.75, maxAgeMs: 60_000 };

const anyOrders = (maxLength: number) =>
  fc
    .array(
      fc.record({
        side: fc.constantFrom<Side>('buy', 'buy', 'buy', 'sell'),
        price: fc.integer({ min: 995, max: 1_007 }),
        state: fc.constantFrom('open', 'open', 'partially filled', 'canceling', 'unknown', 'closed-unsettled'),
        amount: fc.constantFrom(40, 40, 40, 44, 45, 50, 51),
        filled: fc.constantFrom(0, 0, 0, 10, 11),
        age: fc.constantFrom(0, 0, 60_000, 60_001),
        takes: fc.constantFrom(undefined, undefined, undefined, false, true),
        placedFor: fc.constantFrom(
          undefined,
          { index: 0 },
          { index: 0, parts: 1 },
          { index: 0, parts: 2 },
          { index: 1, parts: 2 },
        ),
      }),
      { maxLength },
    )
    .map(all =>
      all.map(
        ({ age, ...one }, n) => ({ ...one, id: `o-${n}`, placedAt: NOW - age, finalFilled: null }) as unknown as Order,
      ),
    );
const anyLevels = (maxLength: number) =>
  fc.array(
    fc.record({
      side: fc.constantFrom<Side>('buy', 'buy', 'buy', 'sell'),
      index: fc.constantFrom(0, 1),
      parts: fc.constantFrom(undefined, 1, 2),
      price: fc.integer({ min: 995, max: 1_007 }),
      amount: fc.constantFrom(40, 40, 40, 44, 52),
    }),
    { maxLength },
  ) as unknown as fc.Arbitrary<NormalizedLevel[]>;

const openOrder = (price: number, n: number): Order =>
  ({
    ...{ id: `o-${n}`, side: 'buy', price, amount: 40, filled: 0 },
    ...{ state: 'open', placedAt: NOW, finalFilled: null },
  }) as unknown as Order;

const isConfirmed = ({ state }: Order): boolean => state === 'open' || state === 'partially filled';

/** Whether an order consists of other levels of the strategy than a level. */
function isOtherwiseMade({ placedFor }: Order, { index, parts = 1 }: NormalizedLevel): boolean {
  if (placedFor === undefined) return false;
  const count = placedFor.parts ?? 1;
  if (count === 1 && parts === 1) return false;
  return count !== parts || placedFor.index !== index;
}

function misfit(order: Order, level: NormalizedLevel): string | null {
  const left = order.amount - order.filled;
  if (Math.abs(order.price - level.price) > level.price * 0.005) return 'price moved';
  if (left < level.amount * 0.75 || left > level.amount * 1.25) return 'amount changed';
  if (isOtherwiseMade(order, level) && Math.abs(order.amount - level.amount) > level.amount / 10)
    return 'amount changed';
  return NOW - order.placedAt > 60_000 ? 'too old' : null;
}

type Pairing = { readonly count: number; readonly distance: number };

/** The most pairs that do not cross, then the least distance. `known` has the results for the last levels and orders. */
function bestOf(
  levels: readonly NormalizedLevel[],
  orders: readonly Order[],
  known = new Map<string, Pairing>(),
): Pairing {
  if (levels.length === 0 || orders.length === 0) return { count: 0, distance: 0 };
  const rest = `${levels.length} ${orders.length}`;
  const before = known.get(rest);
  if (before !== undefined) return before;
  const [[level, ...otherLevels], [order, ...otherOrders]] = [levels, orders] as [
    [NormalizedLevel, ...NormalizedLevel[]],
    [Order, ...Order[]],
  ];
  const ways = [bestOf(otherLevels, orders, known), bestOf(levels, otherOrders, known)];
  if (isConfirmed(order) && misfit(order, level) === null) {
    const { count, distance } = bestOf(otherLevels, otherOrders, known);
    ways.push({ count: count + 1, distance: distance + Math.abs(level.price - order.price) });
  }
  const best = ways.reduce((a, b) => (b.count > a.count || (b.count === a.count && b.distance < a.distance) ? b : a));
  known.set(rest, best);
  return best;
}

/** The least sum of distances that pairs the fewer completely with the more. */
function leastSum(few: readonly number[], many: readonly number[]): number {
  const [first, ...rest] = few;
  if (first === undefined) return 0;
  return Math.min(
    ...many.map((one, i) => Math.abs(first - one) + leastSum(rest, [...many.slice(0, i), ...many.slice(i + 1)])),
  );
}

const priceOf = ({ price }: { readonly price: number }): number => price;
const sumOf = (pairs: readonly { readonly order: Order; readonly level: NormalizedLevel | null }[]): number =>
  pairs.reduce((sum, { order, level }) => sum + (level === null ? 0 : Math.abs(order.price - level.price)), 0);
/** Best first; of equal prices those that come first. */
const sorted = <T extends { readonly price: number }>(side: Side, all: readonly T[]): T[] =>
  [...all].sort((a, b) => (side === 'buy' ? b.price - a.price : a.price - b.price));

function check(side: Side, levels: readonly NormalizedLevel[], orders: readonly Order[], plan: QuotePlan): void {
  const { place, cancel, keep, wait } = plan;
  const quotes = sorted(
    side,
    orders.filter(one => one.side === side && one.state !== 'closed-unsettled' && one.takes !== true),
  );
  const wanted = sorted(
    side,
    levels.filter(level => level.side === side),
  );
  const replaced = cancel.filter(({ level }) => level !== null);
  const unwanted = cancel.filter(({ level }) => level === null);
  // Each level once, each order at most once; orders that are neither confirmed nor awaited are left alone.
  const shown = [...place, ...keep.map(one => one.level), ...wait.map(one => one.level)];
  expect(sorted(side, [...shown, ...replaced.map(one => one.level!)]).map(priceOf)).toEqual(wanted.map(priceOf));
  expect(new Set([...shown, ...replaced.map(one => one.level)]).size).toBe(wanted.length);
  const touched = [...keep, ...wait, ...cancel].map(({ order }) => order);
  expect(new Set(touched).size).toBe(touched.length);
  expect(quotes).toEqual(expect.arrayContaining(touched));
  for (const order of quotes) if (isConfirmed(order)) expect(touched).toContain(order);
  // No other pairing keeps more.
  const best = bestOf(wanted, quotes);
  expect(keep.length).toBeGreaterThanOrEqual(best.count);
  // More only if some of the rest that are paired by their prices fit as well, although they cross.
  const isCrossing = keep.length > best.count;
  if (!isCrossing) expect(sumOf(keep)).toBe(best.distance);
  for (const { order, level } of keep) expect([isConfirmed(order), misfit(order, level)]).toEqual([true, null]);
  // As many as possible of the rest are paired, with the least sum of distances.
  const paired = [...wait, ...replaced];
  const [restLevels, restOrders] = [
    wanted.filter(level => !keep.some(one => one.level === level)).map(priceOf),
    quotes.filter(order => !keep.some(one => one.order === order)).map(priceOf),
  ];
  expect(paired.length).toBe(Math.min(restLevels.length, restOrders.length));
  expect(place.length).toBe(restLevels.length - paired.length);
  if (!isCrossing)
    expect(sumOf(paired)).toBe(
      restLevels.length < restOrders.length ? leastSum(restLevels, restOrders) : leastSum(restOrders, restLevels),
    );
  for (const { order } of wait) expect(isConfirmed(order)).toBe(false);
  for (const { order, level, reason } of replaced) {
    expect(isConfirmed(order)).toBe(true);
    expect(reason).toBe(misfit(order, level!));
  }
  for (const { order, reason } of unwanted) expect([isConfirmed(order), reason]).toEqual([true, 'level not wanted']);
  for (const list of [place, keep.map(one => one.level), wait.map(one => one.level), replaced.map(one => one.level!)])
    expect(list.map(priceOf)).toEqual(sorted(side, list).map(priceOf));
}

describe('a plan', () => {
  it('keeps what the best of all pairings keeps, replaces the nearest, and says why', () => {
    fc.assert(
      fc.property(anyLevels(5), anyOrders(6), (levels, orders) => {
        for (const side of SIDES) check(side, levels, orders, reconcileSide(side, levels, orders, tolerance, NOW));
      }),
      runsOf(20_000, 400),
    );
  });

  it('of many levels keeps the most orders with the least distance, after a plan of any other size', () => {
    const prices = fc.array(fc.integer({ min: 960, max: 1_040 }), { maxLength: 20, size: 'max' });
    fc.assert(
      fc.property(prices, prices, anyLevels(5), anyOrders(6), (wanted, had, otherLevels, otherOrders) => {
        reconcileSide('buy', otherLevels, otherOrders, tolerance, NOW);
        // Only prices decide, so the best pairs that do not cross are the best of all.
        const levels = wanted.map((price, index) => ({ side: 'buy', index, price, amount: 40 }) as NormalizedLevel);
        const orders = had.map((price, n) => openOrder(price, n));
        const plan = reconcileSide('buy', levels, orders, tolerance, NOW);
        const { count, distance } = bestOf(sorted('buy', levels), sorted('buy', orders));
        expect([plan.keep.length, sumOf(plan.keep)]).toEqual([count, distance]);
      }),
      runsOf(2_000, 150),
    );
  });

  it('does not depend on the order in which orders are listed, nor on earlier plans', () => {
    fc.assert(
      fc.property(anyLevels(5), anyOrders(6), fc.infiniteStream(fc.nat()), (levels, orders, random) => {
        const shuffled = orders
          .map(order => [random.next().value, order] as const)
          .sort(([a], [b]) => a - b)
          .map(([, order]) => order);
        const plan = reconcileSide('buy', levels, orders, tolerance, NOW);
        reconcileSide('sell', levels, orders, tolerance, NOW);
        expect(reconcileSide('buy', levels, shuffled, tolerance, NOW)).toEqual(plan);
      }),
      runsOf(5_000, 150),
    );
  });

  it.each([1, 3, 7, 8, 11, 12, 30])('of %i levels that moved by one rung moves a single order', count => {
    const rungs = Array.from({ length: count + 1 }, (_, i) => 1_000 + 10 * i);
    const levels = rungs.slice(1).map((price, index) => ({ side: 'sell', index, price, amount: 10, why: [] }));
    const orders = rungs.slice(0, -1).map((price, n) => ({
      ...{ id: `o-${n}`, side: 'sell', price, amount: 10, filled: 0, finalFilled: null },
      ...{ state: 'open', placedAt: NOW },
    }));
    const plan = reconcileSide('sell', levels as never, orders as never, { ...tolerance, priceBps: 0 }, NOW);
    expect(plan.keep.map(({ level }) => priceOf(level))).toEqual(rungs.slice(1, -1));
    expect(plan.cancel.map(({ order, level }) => [priceOf(order), level && priceOf(level)])).toEqual([
      [1_000, rungs.at(-1)],
    ]);
    expect(plan.place).toEqual([]);
  });
});

it('an assignment is the same whatever was assigned before, however many there are', () => {
  const points = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 14 });
  fc.assert(
    fc.property(points, points, (a, b) => {
      const ascending = (xs: readonly number[]) => [...xs].sort((x, y) => x - y);
      const [wants, haves] = [ascending(a), ascending(b)];
      const partner = assign(wants, haves);
      // Shifted by the same distance, in other tables.
      assign(ascending([...wants, 7, 8]), haves);
      expect(
        assign(
          wants.map(x => x + 1_000),
          haves.map(x => x + 1_000),
        ),
      ).toEqual(partner);
      // Turned around, nothing else is nearer.
      const cost = (pairs: readonly number[], from: readonly number[], to: readonly number[]) =>
        pairs.reduce((sum, j, i) => sum + (j < 0 ? 0 : Math.abs(from[i]! - to[j]!)), 0);
      expect(cost(assign(haves, wants), haves, wants)).toBe(cost(partner, wants, haves));
    }),
    runsOf(2_000, 100),
  );
});
