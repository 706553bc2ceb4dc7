import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amount,
  instrumentOf,
  normalizeQuote,
  price,
  type Amount,
  type Level,
  type Quote,
  type Side,
  type View,
} from '../../src/core/index.ts';
import { ladder } from '../../strategies/ladder/strategy.ts';
import { bookRules, depthOf } from '../core/market.ts';
import { runsOf } from '../many.ts';
import { between } from '../draws.ts';

/** Tick 10, lot 10^-8: at a middle of 150,000 ticks one bps is 15 ticks. */
const instrument = instrumentOf(bookRules({ tickSize: '10', minimumPrice: '10', maximumPrice: '20000000' }));
const MID = 150_000;
const BPS = MID / 10_000;
const COIN = 100_000_000;

const BASE = { halfSpreadBps: 20, levels: 3, levelSpacingBps: 10, amount: '0.1', levelAmountStep: '0.05' };

type Changes = Readonly<Record<string, unknown>>;
const parametersOf = (changes: Changes = {}) => ladder.parameters.parse({ ...BASE, ...changes });
const strategyOf = (changes: Changes = {}) => ladder.make(parametersOf(changes), instrument);

function viewOf(changes: Partial<View> = {}): View {
  const depth = depthOf(
    [
      [149_990, COIN],
      [149_900, 2 * COIN],
      [149_600, 10 * COIN],
    ],
    [
      [150_010, 3 * COIN],
      [150_200, 2 * COIN],
      [150_500, 10 * COIN],
    ],
  );
  return {
    at: 1_000_000,
    instrument,
    depth,
    mid: MID,
    lastTrade: price(0),
    hearsTrades: false,
    reference: null,
    position: 0,
    positionMax: amount(COIN),
    makerRate: 0,
    takerRate: 0,
    widenBps: { buy: 0, sell: 0 },
    lastBuy: null,
    lastSell: null,
    ...changes,
  };
}

const quoteOf = (changes: Changes = {}, view: Partial<View> = {}): Quote => strategyOf(changes).quote(viewOf(view));
const pricesOf = (levels: readonly Level[]): number[] => levels.map(level => level.price);
const amountsOf = (levels: readonly Level[]): number[] => levels.map(level => level.amount / COIN);
const firstOf = ({ bids, asks }: Quote): [number, number] => [bids[0]!.price, asks[0]!.price];
const fill = (side: Side, at: number) => ({ at, side, price: price(MID) });

describe('each parameter does what the README says', () => {
  test('halfSpreadBps, levels, levelSpacingBps, amount and levelAmountStep make the ladder', () => {
    const { bids, asks } = quoteOf();
    expect(pricesOf(bids)).toEqual([20, 30, 40].map(bps => MID - bps * BPS));
    expect(pricesOf(asks)).toEqual([20, 30, 40].map(bps => MID + bps * BPS));
    expect(amountsOf(bids)).toEqual([0.1, 0.15, 0.2]);
    expect(amountsOf(asks)).toEqual([0.1, 0.15, 0.2]);
  });

  test('bidSpreadBps and askSpreadBps take the place of halfSpreadBps on their side', () => {
    expect(firstOf(quoteOf({ bidSpreadBps: 30 }))).toEqual([MID - 30 * BPS, MID + 20 * BPS]);
    expect(firstOf(quoteOf({ askSpreadBps: 50 }))).toEqual([MID - 20 * BPS, MID + 50 * BPS]);
    expect(firstOf(quoteOf({ halfSpreadBps: undefined, bidSpreadBps: 5, askSpreadBps: 6 }))).toEqual([
      MID - 5 * BPS,
      MID + 6 * BPS,
    ]);
  });

  test.each([
    ['mid', {}, 0, 0],
    // A quarter of the touch is bid: the price leans to the bid.
    ['weightedMid', {}, -5, -5],
    ['bestBidAsk', {}, -10, 10],
    ['lastTrade', { lastTrade: price(150_300) }, 300, 300],
  ])('reference %s is where spreads are counted from', (reference, view, bidOff, askOff) => {
    const [bid, ask] = firstOf(quoteOf({ reference }, view));
    const middle = MID + (bidOff + askOff) / 2;
    expect(bid).toBeCloseTo(MID + bidOff - (20 * middle) / 10_000, 6);
    expect(ask).toBeCloseTo(MID + askOff + (20 * middle) / 10_000, 6);
  });

  test('reference lastTrade shows nothing before the first trade, and says so', () => {
    expect(quoteOf({ reference: 'lastTrade' })).toEqual({
      bids: [],
      asks: [],
      noBid: 'no trade was received yet',
      noAsk: 'no trade was received yet',
    });
  });

  test('refreshMs holds a quote until its time is over or a fill of either side comes, also two at one time', () => {
    const step = fc.record({
      passed: fc.constantFrom(0, 1, 400, 999, 1_000),
      filled: fc.constantFrom<Side | null>(null, null, 'buy', 'sell'),
      moved: fc.integer({ min: -900, max: 900 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.constantFrom(0, 1, 1_000), (steps, refreshMs) => {
        const strategy = strategyOf({ refreshMs });
        const last: Record<Side, View['lastBuy']> = { buy: null, sell: null };
        let at = 1.7e12;
        let shown: { readonly quote: Quote; readonly at: number } | null = null;
        for (const { passed, filled, moved } of steps) {
          at += passed;
          if (filled !== null) last[filled] = fill(filled, at);
          const view = viewOf({ at, mid: MID + moved, lastBuy: last.buy, lastSell: last.sell });
          if (shown === null || filled !== null || at - shown.at >= refreshMs) shown = { quote: quoteOf({}, view), at };
          expect(strategy.quote(view)).toEqual(shown.quote);
        }
      }),
      runsOf(1_000, 30),
    );
  });

  test('refreshToleranceBps and maxOrderAgeMs are what the planner is told', () => {
    const told = ladder.tolerance(parametersOf({ refreshToleranceBps: 7, maxOrderAgeMs: 60_000 }));
    expect(told).toMatchObject({ priceBps: 7, maxAgeMs: 60_000 });
  });

  test.each([
    [1, -10],
    [0.5, -5],
    [0, 0],
    [-0.5, 5],
    [-1, 10],
  ])('skew.priceBpsAtLimit moves both sides at %d of the limit by %d bps', (share, bps) => {
    const plain = quoteOf({}, { position: 0 });
    const leaning = quoteOf({ skew: { priceBpsAtLimit: 10 } }, { position: share * COIN });
    if (share < 1) expect(leaning.bids[0]!.price).toBeCloseTo(plain.bids[0]!.price + bps * BPS, 6);
    if (share > -1) expect(leaning.asks[0]!.price).toBeCloseTo(plain.asks[0]!.price + bps * BPS, 6);
  });

  test.each([
    [-1, 2, 0],
    [-0.5, 1.5, 0.5],
    [0, 1, 1],
    [0.5, 0.5, 1.5],
    [1, 0, 2],
    [3, 0, 2],
  ])('skew.sizeRange: at %d of the range bids are %d and asks %d times the amount', (share, bid, ask) => {
    const { bids, asks } = quoteOf(
      { skew: { sizeRange: '0.2' } },
      { position: share * 0.2 * COIN, positionMax: amount(10 * COIN) },
    );
    expect(amountsOf(bids).map(x => Number(x.toFixed(8)))).toEqual(
      [0.1, 0.15, 0.2].map(x => Number((x * bid).toFixed(8))),
    );
    expect(amountsOf(asks).map(x => Number(x.toFixed(8)))).toEqual(
      [0.1, 0.15, 0.2].map(x => Number((x * ask).toFixed(8))),
    );
  });

  test('priceCeiling takes the bids away above it, priceFloor the asks below it', () => {
    const limits = { priceCeiling: '1500000', priceFloor: '1400000' };
    expect(quoteOf(limits)).not.toHaveProperty('noBid');
    const high = quoteOf(limits, { mid: MID + 1 });
    expect([high.bids.length, high.noBid, high.asks.length]).toEqual([0, 'reference above priceCeiling', 3]);
    const low = quoteOf(limits, { mid: 139_999 });
    expect([low.asks.length, low.noAsk, low.bids.length]).toEqual([0, 'reference below priceFloor', 3]);
  });

  test('movingPriceBandPct stops buying far above the slow average and selling far below, until the average has followed', () => {
    const strategy = strategyOf({ movingPriceBandPct: 1 });
    strategy.quote(viewOf({ at: 0 }));
    const up = strategy.quote(viewOf({ at: 1_000, mid: MID * 1.02 }));
    expect([up.noBid, up.asks.length]).toEqual(['outside movingPriceBandPct', 3]);
    expect(strategy.quote(viewOf({ at: 3_600_000, mid: MID * 1.02 }))).not.toHaveProperty('noBid');
    const down = strategy.quote(viewOf({ at: 3_601_000, mid: MID * 0.98 }));
    expect([down.noAsk, down.bids.length]).toEqual(['outside movingPriceBandPct', 3]);
  });

  test('minEdgeBps moves both sides apart by half of what is missing over two maker fees', () => {
    // 20 + 20 bps are quoted; two fees of 15 bps and an edge of 20 need 50, and a hair: a fee is paid on what the other one left.
    const quote = quoteOf({ minEdgeBps: 20 }, { makerRate: 150_000 });
    const half = 25.01125 * BPS;
    const [bid, ask] = firstOf(quote);
    expect(bid).toBeCloseTo(MID - half, 3);
    expect(ask).toBeCloseTo(MID + half, 3);
    expect((1 - 0.0015) ** 2 * (ask - 10 * BPS)).toBeCloseTo(bid + 10 * BPS, 0);
    expect(quote.bids[0]!.why.at(-1)?.name).toBe('minimum edge');
    expect(quote.bids[0]!.why.at(-1)?.ticks).toBeCloseTo(20 * BPS - half, 3);
    // Further levels keep their distance.
    expect(quote.bids[1]!.price).toBeCloseTo(MID - half - 10 * BPS, 3);
  });

  test('filledOrderDelayMs keeps the side of a fill empty that long, and the other side shown', () => {
    const filled = { at: 10_000, lastBuy: fill('buy', 8_000) };
    const waiting = quoteOf({ filledOrderDelayMs: 2_001 }, filled);
    expect([waiting.bids.length, waiting.asks.length]).toEqual([0, 3]);
    expect(waiting.noBid).toBe('waiting filledOrderDelayMs after a fill');
    expect(quoteOf({ filledOrderDelayMs: 2_000 }, filled).bids.length).toBe(3);
  });

  test('pingPong shows only the other side after a fill', () => {
    const sides = (view: Partial<View>) => {
      const { bids, asks } = quoteOf({ pingPong: true }, view);
      return [bids.length > 0, asks.length > 0];
    };
    expect(sides({})).toEqual([true, true]);
    expect(sides({ lastBuy: fill('buy', 5) })).toEqual([false, true]);
    expect(sides({ lastBuy: fill('buy', 5), lastSell: fill('sell', 6) })).toEqual([true, false]);
    expect(sides({ lastBuy: fill('buy', 7), lastSell: fill('sell', 6) })).toEqual([false, true]);
  });

  test('optimization moves a first level that would be ahead of everybody back to one tick better than the best', () => {
    const eager = { halfSpreadBps: 0.2, minEdgeBps: 0 };
    expect(firstOf(quoteOf(eager))).toEqual([MID - 3, MID + 3]);
    expect(firstOf(quoteOf({ ...eager, optimization: { enabled: true } }))).toEqual([149_991, 150_009]);
    // A bid of one coin is overlooked, an ask of three is not.
    const overlooking = quoteOf({ ...eager, optimization: { enabled: true, depthAmount: '1' } });
    expect(firstOf(overlooking)).toEqual([149_901, 150_009]);
    // It never makes a quote better.
    expect(firstOf(quoteOf({ optimization: { enabled: true } }))).toEqual(firstOf(quoteOf()));
  });
});

const bps = (max: number) => fc.integer({ min: 0, max: max * 10 }).map(x => x / 10);
const parameters = fc.record({
  reference: fc.constantFrom('mid', 'weightedMid', 'bestBidAsk', 'lastTrade'),
  bidSpreadBps: bps(300),
  askSpreadBps: bps(300),
  levels: fc.integer({ min: 1, max: 6 }),
  levelSpacingBps: bps(50),
  amount: fc.integer({ min: 1, max: 200_000 }).map(n => (n / 100_000).toFixed(5)),
  levelAmountStep: fc.integer({ min: 0, max: 50_000 }).map(n => (n / 100_000).toFixed(5)),
  minEdgeBps: bps(30),
  skew: fc.record({
    priceBpsAtLimit: bps(100),
    sizeRange: fc.option(
      fc.integer({ min: 1, max: 300_000 }).map(n => (n / 100_000).toFixed(5)),
      { nil: undefined },
    ),
  }),
  optimization: fc.record({ enabled: fc.boolean() }),
});

/** A two-sided book that is not crossed, around any middle. */
const views = fc
  .record({
    bid: fc.integer({ min: 2, max: 1_900_000 }),
    gap: fc.integer({ min: 1, max: 2_000 }),
    amounts: fc.array(fc.integer({ min: 1, max: 50 * COIN }), { minLength: 6, maxLength: 6 }),
    positionShare: between(-1.5, 1.5),
    makerRate: fc.integer({ min: 0, max: 700_000 }),
    lastTradeOff: fc.integer({ min: -50, max: 50 }),
  })
  .map(({ bid, gap, amounts, positionShare, makerRate, lastTradeOff }): View => {
    const side = (from: number, step: number, lots: readonly number[]) =>
      lots.map((lot, i): [number, number] => [from + step * i, lot]).filter(([ticks]) => ticks > 0);
    return viewOf({
      depth: depthOf(side(bid, -1, amounts.slice(0, 3)), side(bid + gap, 1, amounts.slice(3))),
      mid: bid + gap / 2,
      lastTrade: price(Math.max(1, bid + lastTradeOff)),
      position: Math.trunc(positionShare * COIN),
      makerRate,
    });
  });

describe('for any parameters, book and inventory', () => {
  const both = fc.tuple(parameters, views);

  test('what comes of it is legal: on the grid, within the bounds, and never through the other side', () => {
    fc.assert(
      fc.property(both, ([p, view]) => {
        const { levels } = normalizeQuote(instrument, view.depth, strategyOf(p).quote(view));
        for (const level of levels) {
          expect(Number.isSafeInteger(level.price) && Number.isSafeInteger(level.amount)).toBe(true);
          expect(level.price).toBeGreaterThanOrEqual(instrument.priceMin);
          expect(level.price).toBeLessThanOrEqual(instrument.priceMax);
          expect(level.amount).toBeGreaterThanOrEqual(instrument.amountMin);
          if (level.side === 'buy') expect(level.price).toBeLessThan(view.depth.askPrices[0]!);
          else expect(level.price).toBeGreaterThan(view.depth.bidPrices[0]!);
        }
      }),
    );
  });

  test('no bid is shown at the long limit and beyond, no ask at the short one, and the reason is said', () => {
    fc.assert(
      fc.property(both, fc.integer({ min: 0, max: COIN }), ([p, view], beyond) => {
        const long = strategyOf(p).quote({ ...view, position: view.positionMax + beyond });
        expect([long.bids.length, long.noBid]).toEqual([0, 'inventory is at its limit']);
        const short = strategyOf(p).quote({ ...view, position: -view.positionMax - beyond });
        expect([short.asks.length, short.noAsk]).toEqual([0, 'inventory is at its limit']);
      }),
    );
  });

  test('the more is held the lower both sides and the smaller the bids and the larger the asks', () => {
    const share = between(-0.99, 0.99);
    fc.assert(
      fc.property(both, share, share, ([p, view], a, b) => {
        const at = (x: number) => strategyOf(p).quote({ ...view, position: Math.trunc(x * COIN) });
        const [less, more] = [at(Math.min(a, b)), at(Math.max(a, b))];
        const slack = view.mid * 1e-9;
        for (const [i, level] of more.bids.entries()) {
          expect(level.price).toBeLessThanOrEqual(less.bids[i]!.price + slack);
          expect(level.amount).toBeLessThanOrEqual(less.bids[i]!.amount);
        }
        for (const [i, level] of more.asks.entries()) {
          expect(level.price).toBeLessThanOrEqual(less.asks[i]!.price + slack);
          expect(level.amount).toBeGreaterThanOrEqual(less.asks[i]!.amount);
        }
      }),
    );
  });

  test('a round trip of the legal prices earns at least minEdgeBps over two maker fees', () => {
    fc.assert(
      fc.property(both, ([p, view]) => {
        const { levels } = normalizeQuote(instrument, view.depth, strategyOf(p).quote(view));
        const bid = levels.find(level => level.side === 'buy');
        const ask = levels.find(level => level.side === 'sell');
        if (!bid || !ask) return;
        const middle = p.reference === 'lastTrade' ? view.lastTrade : middleOf(p.reference, view);
        const needed = ((2 * view.makerRate) / 1e8 + p.minEdgeBps / 10_000) * middle;
        expect(ask.price - bid.price).toBeGreaterThanOrEqual(needed - view.mid * 1e-9);
      }),
    );
  });

  test('the steps of every level add up to its price, before and after the rules of the book', () => {
    fc.assert(
      fc.property(both, ([p, view]) => {
        const quote = strategyOf(p).quote(view);
        const { levels } = normalizeQuote(instrument, view.depth, quote);
        for (const level of [...quote.bids, ...quote.asks, ...levels]) {
          const sum = level.why.reduce((ticks, step) => ticks + step.ticks, 0);
          expect(Math.abs(sum - level.price)).toBeLessThan(1e-6);
          expect(level.why[0]!.name).toBe(`reference: ${p.reference}`);
        }
      }),
    );
  });

  test('a number that is none shows nothing, and the next good view is quoted as if nothing had been', () => {
    const broken: readonly Partial<View>[] = [
      { position: Number.NaN },
      { positionMax: Number.NaN as Amount },
      { makerRate: Number.NaN },
      { mid: Number.NaN },
    ];
    fc.assert(
      fc.property(parameters, views, fc.constantFrom(...broken), (p, view, flaw) => {
        // The middle is only asked for by these two; the others take theirs from the book or the trade.
        const usesMid = p.reference === 'mid' || p.reference === 'bestBidAsk';
        if ('mid' in flaw && !usesMid) return;
        const strategy = strategyOf({ ...p, movingPriceBandPct: 50 });
        expect(normalizeQuote(instrument, view.depth, strategy.quote({ ...view, ...flaw })).levels).toEqual([]);
        expect(strategy.quote(view)).toEqual(strategyOf({ ...p, movingPriceBandPct: 50 }).quote(view));
      }),
    );
  });

  test('the same views give the same quotes', () => {
    fc.assert(
      fc.property(parameters, fc.array(views, { maxLength: 8 }), (p, all) => {
        const [one, two] = [strategyOf(p), strategyOf(p)];
        const timed = all.map((view, i) => ({ ...view, at: i * 1_000 }));
        expect(timed.map(view => one.quote(view))).toEqual(timed.map(view => two.quote(view)));
      }),
    );
  });
});

function middleOf(reference: string, { depth, mid }: View): number {
  if (reference !== 'weightedMid') return mid;
  const share = depth.bidAmounts[0]! / (depth.bidAmounts[0]! + depth.askAmounts[0]!);
  return share * depth.askPrices[0]! + (1 - share) * depth.bidPrices[0]!;
}
