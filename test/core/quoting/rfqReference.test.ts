/** The RFQ price around a strategy: a thin book is believed only beside it, and the skew costs no more than leaving. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  withRfqReference,
  type Level,
  type Strategy,
  type RfqPrices,
  type RfqReferenceRules,
} from '../../../src/core/index.ts';
import { Desk } from '../desk.ts';

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
  const desk = new Desk({ strategy: withRfqReference({ ...rules, ...changes }, lean(ticks)) }).open();
  desk.round();
  if (position !== 0) {
    desk.plant('mm-7-900', position > 0 ? 'buy' : 'sell', 1000, Math.abs(position));
    desk.fill('mm-7-900', Math.abs(position));
    desk.rounds(2);
  }
  if (witness) desk.step({ kind: 'witness', at: desk.now, startedAt: desk.now, ...witness });
  const { quote } = desk.engine.preview(desk.now);
  return { ...quote, prices: [quote.bids[0]?.price, quote.asks[0]?.price], desk };
}

describe('a thin book', () => {
  test('is not quoted on without a fresh RFQ price', () => {
    expect(quoted({}, null)).toMatchObject({ bids: [], noBid: 'the book is thin, and there is no fresh RFQ price' });
    const { desk } = quoted({}, { bid: 998, ask: 1002 });
    desk.now += 10_001;
    expect(desk.engine.preview(desk.now).quote.asks).toEqual([]);
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
