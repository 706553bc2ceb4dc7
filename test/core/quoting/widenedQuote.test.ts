/** Effect of a wide regime on a quote, and of reduce-only on a plan. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amount,
  price,
  type Level,
  type Order,
  type Quote,
  type QuotePlan,
  type Side,
} from '../../../src/core/index.ts';
import { reduceOnlyQuote, reducedPlan, widenQuote } from '../../../src/core/quoting/regimeAdjustments.ts';

const MID = 1_000;
const levelAt = (ticks: number): Level => ({ price: ticks, amount: amount(7), why: [{ name: 'wanted', ticks }] });
const quoteOf = (bids: readonly number[], asks: readonly number[]): Quote => ({
  bids: bids.map(away => levelAt(MID - away)),
  asks: asks.map(away => levelAt(MID + away)),
  figures: [{ name: 'kept', value: 1, unit: '' }],
});
const aways = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 3 }).map(all => all.sort((a, b) => a - b));

describe('a widened quote', () => {
  it('is as many times as wide between its first levels, or as far from the mid price where it has one side', () => {
    fc.assert(
      fc.property(aways, aways, fc.constantFrom(1.25, 1.5, 2, 3), (bids, asks, factor) => {
        const quote = quoteOf(bids, asks);
        const wide = widenQuote(quote, factor, MID);
        const width = bids.length > 0 && asks.length > 0 ? (bids[0]! + asks[0]!) / 2 : (bids[0] ?? asks[0] ?? 0);
        const shift = (factor - 1) * width;
        expect(wide.bids.map(level => level.price)).toEqual(quote.bids.map(level => level.price - shift));
        expect(wide.asks.map(level => level.price)).toEqual(quote.asks.map(level => level.price + shift));
        for (const { price: at, why, amount: lots } of [...wide.bids, ...wide.asks]) {
          expect(why.reduce((sum, { ticks }) => sum + ticks, 0)).toBe(at);
          expect([why.length, why[1]!.name, lots]).toEqual([2, 'wide', 7]);
        }
        expect(wide.figures).toBe(quote.figures);
      }),
    );
  });

  it('never comes closer: a factor of 1 or less, or a quote that is crossed, changes nothing', () => {
    const quote = quoteOf([2, 5], [3]);
    for (const factor of [1, 0.5, 0, -3]) expect(widenQuote(quote, factor, MID)).toBe(quote);
    const crossed = quoteOf([-3], [-3]);
    expect(widenQuote(crossed, 2, MID)).toBe(crossed);
  });

  it('has no price at all for a factor that is not a number', () => {
    const { bids, asks } = widenQuote(quoteOf([2], [3]), Number.NaN, MID);
    expect([bids[0]!.price, asks[0]!.price]).toEqual([Number.NaN, Number.NaN]);
  });
});

describe('a quote that may only reduce', () => {
  it.each([
    [0, 'reduce only', 'reduce only'],
    [5, 'reduce only', undefined],
    [-5, undefined, 'reduce only'],
  ])('says of each side that is empty because of it why: at a position of %i', (position, noBid, noAsk) => {
    const quote = reduceOnlyQuote(quoteOf([2], [3]), position);
    expect([quote.noBid, quote.noAsk]).toEqual([noBid, noAsk]);
    // A side that the strategy left empty keeps the words of the strategy.
    const empty = reduceOnlyQuote({ bids: [], asks: [], noBid: 'mood' }, position);
    expect([empty.noBid, empty.noAsk]).toEqual(['mood', undefined]);
  });

  it('explains an amount that it cut, and only that', () => {
    const explained = {
      ...levelAt(1_001),
      amounts: [
        { name: 'cap', lots: 9 },
        { name: 'depth', lots: -2 },
      ],
    };
    const { asks } = reduceOnlyQuote({ bids: [], asks: [levelAt(1_000), explained, levelAt(1_002)] }, 10);
    expect(asks.map(({ amount: lots, amounts }) => [lots, amounts])).toEqual([
      [7, undefined],
      [
        3,
        [
          { name: 'cap', lots: 9 },
          { name: 'depth', lots: -2 },
          { name: 'reduce only', lots: -4 },
        ],
      ],
    ]);
    const [cut] = reduceOnlyQuote({ bids: [], asks: [levelAt(1_000)] }, 4).asks;
    expect(cut!.amounts).toEqual([
      { name: 'amount', lots: 7 },
      { name: 'reduce only', lots: -3 },
    ]);
  });
});

describe('a plan that may only reduce', () => {
  const orderOf = (id: string, side: Side, lots: number, filled: number): Order =>
    ({ id, side, price: price(1_000), amount: lots, filled, state: 'open', finalFilled: null }) as unknown as Order;

  const others = fc.array(
    fc.record({
      side: fc.constantFrom<Side>('buy', 'sell'),
      lots: fc.integer({ min: 1, max: 9 }),
      state: fc.constantFrom<Order['state']>('sending', 'unknown', 'closed-unsettled', 'canceling'),
      ending: fc.constantFrom<Order['ending']>('filled', 'canceled'),
    }),
    { maxLength: 2 },
  );

  it('keeps orders in their order while there is inventory left for all of them, and cancels the others for it', () => {
    const orders = fc.array(fc.record({ lots: fc.integer({ min: 1, max: 9 }), filled: fc.nat(8) }), { maxLength: 5 });
    fc.assert(
      fc.property(
        orders,
        fc.constantFrom<Side>('buy', 'sell'),
        fc.integer({ min: -30, max: 30 }),
        others,
        (all, side, held, drawn) => {
          const pairs = all.map(({ lots, filled }, i) => {
            const order = orderOf(`o-${i}`, side, lots, Math.min(filled, lots - 1));
            return { order, level: { side, index: i, price: order.price, amount: order.amount, why: [] } };
          });
          const gone = orderOf('gone', side, 5, 0);
          const [unwanted, moved] = [
            { order: gone, reason: 'level not wanted', level: null },
            { order: orderOf('moved', side, 5, 0), reason: 'price moved', level: null },
          ] as const;
          const plan: QuotePlan = { place: [], cancel: [unwanted, moved], keep: pairs, wait: [] };
          const unplanned = drawn.map(({ lots, state, side: of, ending }, i) => ({
            ...orderOf(`u-${i}`, of, lots, 0),
            ...{ state, ending },
          }));
          const orders = [...pairs.map(({ order }) => order), gone, moved.order, ...unplanned];
          const reduced = reducedPlan(plan, side, held, orders);
          let left = Math.max(0, side === 'buy' ? -held : held);
          // These orders may fill, too, and the plan does not cancel them.
          for (const { lots, state, side: of, ending } of drawn)
            if (of === side && state !== 'canceling' && (state !== 'closed-unsettled' || ending === 'filled'))
              left -= lots;
          const isClosing = left > 0;
          const stays = pairs.map(({ order }) => {
            const lots = order.amount - order.filled;
            if (lots > left) return false;
            left -= lots;
            return true;
          });
          expect(reduced.keep).toEqual(pairs.filter((_, i) => stays[i]));
          expect(reduced.cancel).toEqual([
            isClosing ? unwanted : { ...unwanted, reason: 'reduce only' },
            moved,
            ...pairs.filter((_, i) => !stays[i]).map(pair => ({ ...pair, reason: 'reduce only' })),
          ]);
          expect([reduced.place, reduced.wait, plan.cancel.length]).toEqual([[], [], 2]);
        },
      ),
    );
  });
});
