/** The RFQ price around a strategy: a thin book is believed only beside it, and the skew costs no more than leaving. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  withRfqReference,
  type Level,
  type Quote,
  type Strategy,
  type RfqPrices,
  type RfqReferenceRules,
} from '../../../src/core/index.ts';
import { ToyExchange } from '../toyExchange.ts';
import { depthOf } from '../market.ts';
import { runsOf } from '../../many.ts';

const rules: RfqReferenceRules = { staleAfterMs: 10_000, thinBps: 100, withinBps: 30, beyond: 'stop', capsSkew: false };
const lean = (ticks: number): Strategy => ({
  quote: ({ mid }) => {
    const level = (away: number): Level => ({
      price: mid + away + ticks,
      amount: 10 as never,
      why: [
        { name: 'wanted', ticks: mid + away },
        { name: 'inventory', ticks },
      ],
    });
    return { bids: [level(-40)], asks: [level(40)] };
  },
});
/** A book of 990 to 1010, which is 200 bps; `position` lots long. */
function quoted(changes: Partial<RfqReferenceRules>, witness: Omit<RfqPrices, 'at'> | null, ticks = 0, position = 0) {
  const toy = new ToyExchange({ strategy: withRfqReference({ ...rules, ...changes }, lean(ticks)) }).open();
  toy.round();
  if (position !== 0) {
    toy.plant('mm-7-900', position > 0 ? 'buy' : 'sell', 1000, Math.abs(position));
    toy.fill('mm-7-900', Math.abs(position));
    toy.rounds(2);
  }
  if (witness) toy.step({ kind: 'witness', at: toy.now, startedAt: toy.now, ...witness });
  const { quote } = toy.engine.book.preview(toy.now);
  return { ...quote, prices: [quote.bids[0]?.price, quote.asks[0]?.price], toy };
}

describe('a thin book', () => {
  test('is not quoted on without a fresh RFQ price', () => {
    expect(quoted({}, null)).toMatchObject({ bids: [], noBid: 'the book is thin, and there is no fresh RFQ price' });
    const { toy } = quoted({}, { bid: 998, ask: 1002 });
    toy.now += 10_001;
    expect(toy.engine.book.preview(toy.now).quote.asks).toEqual([]);
  });

  test('is quoted on where the RFQ price agrees, and as it is where it is not thin', () => {
    expect(quoted({}, { bid: 998, ask: 1004 }).prices).toEqual([960, 1040]);
    expect(quoted({ thinBps: 250 }, null).prices).toEqual([960, 1040]);
    expect(quoted({ thinBps: undefined }, null).prices).toEqual([960, 1040]);
  });

  test('that the RFQ price speaks against is not quoted on, or on the other side only as before', () => {
    expect(quoted({}, { bid: 988, ask: 992 })).toMatchObject({ bids: [], asks: [] });
    expect(quoted({ beyond: 'widen' }, { bid: 988, ask: 992 }).prices).toEqual([950, 1040]);
    expect(quoted({ beyond: 'widen' }, { bid: 1008, ask: 1012 }).prices).toEqual([960, 1050]);
  });

  test('never makes a quote better for others, wherever the RFQ price is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 800, max: 1200 }), fc.integer({ min: 0, max: 40 }), (bid, spread) => {
        const [best, ask] = quoted({ beyond: 'widen' }, { bid, ask: bid + spread }).prices;
        expect(best).toBeLessThanOrEqual(960);
        expect(ask).toBeGreaterThanOrEqual(1040);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the skew', () => {
  const capped = { thinBps: undefined, capsSkew: true };
  test.each([
    ['long, leaning down by more than leaving costs', -20, 10, [955, 1035]],
    ['long, leaning by less', -3, 10, [957, 1037]],
    ['short, leaning up by more than leaving costs', 20, -10, [967, 1047]],
    ['at its target', -20, 0, [940, 1020]],
  ] as const)('%s', (_, ticks, position, prices) => {
    const { bids, ...told } = quoted(capped, { bid: 995, ask: 1007 }, ticks, position);
    expect(told.prices).toEqual(prices);
    const [level] = bids;
    expect(level?.why.reduce((sum, step) => sum + step.ticks, 0)).toBe(level?.price);
  });

  test('is left alone where there is no fresh RFQ price', () => {
    expect(quoted(capped, null, -20, 10).prices).toEqual([940, 1020]);
  });
});

describe('a quote beside RFQ prices', () => {
  const NOW = 1.7e12;
  const levelOf = (at: number, skew: number): Level => ({
    price: at + skew,
    amount: 10 as never,
    why: [
      { name: 'wanted', ticks: at },
      { name: 'inventory', ticks: skew / 2 },
      { name: 'inventory', ticks: skew / 2 },
    ],
  });
  const prices = ({ bids, asks }: Quote) => [bids, asks].map(side => side.map(level => level.price));

  test('has no more skew than a hedge costs and keeps off a thin book by the distance, at every bound', () => {
    fc.assert(
      fc.property(
        fc.record({
          spread: fc.constantFrom(9, 10, 11, 100),
          rfqBid: fc.integer({ min: 9_940, max: 10_060 }),
          rfqSpread: fc.integer({ min: 0, max: 40 }),
          age: fc.constantFrom(0, 9_999, 10_000, 10_001),
          skew: fc.integer({ min: -60, max: 60 }),
          position: fc.constantFrom(-3, 0, 3),
          thinBps: fc.constantFrom(undefined, 10),
          withinBps: fc.constantFrom(10, 30),
          beyond: fc.constantFrom('stop', 'widen'),
          capsSkew: fc.boolean(),
          hasPrices: fc.boolean(),
        }),
        ({ spread, rfqBid, rfqSpread, age, skew, position, hasPrices, ...changes }) => {
          const [bid, ask] = [9_995, 9_995 + spread];
          const mid = (bid + ask) / 2;
          const rfqPrices = hasPrices ? { at: NOW - age, bid: rfqBid, ask: rfqBid + rfqSpread } : null;
          const inner: Quote = { bids: [levelOf(9_900, skew), levelOf(9_800, skew)], asks: [levelOf(10_100, skew)] };
          const strategy = withRfqReference({ ...rules, ...changes }, { quote: () => inner });
          const view = { at: NOW, depth: depthOf([[bid, 5]], [[ask, 5]]), mid, position, rfqPrices };
          const quote = strategy.quote(view as never);
          const { thinBps, withinBps, beyond, capsSkew } = changes;

          const isFresh = rfqPrices !== null && age <= 10_000;
          // A hedge of a long position sells at RFQ's bid.
          const cost = Math.max(0, position > 0 ? mid - rfqBid : rfqBid + rfqSpread - mid);
          const isCapped = capsSkew && isFresh && position !== 0;
          const shown = !isCapped ? skew : position > 0 ? Math.max(skew, -cost) : Math.min(skew, cost);
          const isThin = thinBps !== undefined && (ask - bid) / mid > thinBps / 10_000;
          const fair = rfqBid + rfqSpread / 2;
          const isFar = Math.abs(fair - mid) > (withinBps / 10_000) * fair;
          if (isThin && (!isFresh || (isFar && beyond === 'stop'))) {
            const why = isFresh
              ? `the book is thin, and its mid price is ${((Math.abs(fair - mid) / fair) * 10_000).toFixed(1)} bps from the RFQ price`
              : 'the book is thin, and there is no fresh RFQ price';
            expect(quote).toEqual({ bids: [], asks: [], noBid: why, noAsk: why });
            return;
          }
          const moved = isThin && isFar ? fair - mid : 0;
          const [down, up] = [Math.min(0, moved), Math.max(0, moved)];
          expect(prices(quote)).toEqual([[9_900 + shown + down, 9_800 + shown + down], [10_100 + shown + up]]);
          for (const { price, why } of [...quote.bids, ...quote.asks]) {
            expect(why.reduce((sum, { ticks }) => sum + ticks, 0)).toBe(price);
            const added = why.slice(3).map(({ name }) => name);
            const isMoved = price < 10_000 ? down < 0 : up > 0;
            expect(added).toEqual([
              ...(shown === skew ? [] : ['no more than leaving costs']),
              ...(isMoved ? ['RFQ price'] : []),
            ]);
          }
        },
      ),
      runsOf(3_000, 400),
    );
  });

  test('is empty where the RFQ price is not a number, whatever is to be done beyond the distance', () => {
    const view = { at: NOW, depth: depthOf([[990, 5]], [[1_010, 5]]), mid: 1_000, position: 0 };
    for (const bid of [Number.NaN, Infinity]) {
      const rfqPrices = { at: NOW, bid, ask: bid };
      const strategy = withRfqReference({ ...rules, beyond: 'widen' }, lean(0));
      expect(strategy.quote({ ...view, rfqPrices } as never)).toMatchObject({ bids: [], asks: [] });
    }
    expect(withRfqReference(rules, lean(0)).quote(view as never).noAsk).toBe(
      'the book is thin, and there is no fresh RFQ price',
    );
  });

  test('is that of the strategy without rules', () => {
    const strategy = lean(0);
    expect(withRfqReference(undefined, strategy)).toBe(strategy);
  });
});
