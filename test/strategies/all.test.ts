import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amount,
  normalizeQuote,
  price,
  silenceReason,
  type Quote,
  type Side,
  type View,
} from '../../src/core/index.ts';
import { ToyExchange } from '../core/toyExchange.ts';
import { plain } from '../core/market.ts';
import { between } from '../draws.ts';
import { runsOf } from '../many.ts';
import { earningFees } from '../../strategies/fees.ts';
import { kindOf, STRATEGY_LAWS, strategies, type StrategyName } from '../../strategies/index.ts';
import { brokenViews } from '../../strategies/laws.ts';
import {
  anyView,
  changed,
  COIN,
  EXAMPLES,
  instrument,
  lowestOf,
  MID,
  NAMES,
  parametersOf,
  strategyOf,
  tuningOf,
  viewOf,
} from './examples.ts';

const RUNS = runsOf(60, 10);
const tenthsUpTo = (max: number) => fc.integer({ min: 0, max: 10 * max }).map(x => x / 10);
/** Few values of each, so that one field changes and another does not. */
const filledAgo = (side: Side) =>
  fc.constantFrom(null, 0, 900).map(ms => (ms === null ? null : { at: 1_000_000 - ms, side, price: price(MID) }));
const anyState = fc.record({
  position: fc.constantFrom(0, -COIN / 4, COIN / 2),
  positionMax: fc.constantFrom(COIN / 2, COIN, 3 * COIN).map(amount),
  makerRate: fc.constantFrom(0, 50_000, 300_000),
  takerRate: fc.constantFrom(0, 65_000, 400_000),
  widenBps: fc.constantFrom({ buy: 0, sell: 0 }, { buy: 4, sell: 0 }, { buy: 1, sell: 9 }),
  lastBuy: filledAgo('buy'),
  lastSell: filledAgo('sell'),
});

describe.each(NAMES)('%s', name => {
  const cases = fc.tuple(parametersOf(name), anyView);
  const quote = (parameters: object, view: View): Quote => strategyOf(name, parameters).quote(view);

  test.each(STRATEGY_LAWS)('$name', ({ name: law, violation }) => {
    const series = fc.array(anyView, { minLength: 1, maxLength: 4 });
    // A model is solved again at each broken view, which takes seconds for parameters that nobody configures.
    const isSlow = law.startsWith('survives');
    fc.assert(
      fc.property(isSlow ? fc.constant(EXAMPLES[name]) : parametersOf(name), series, (parameters, drawn) => {
        const views = drawn.map((view, n) => ({ ...view, at: view.at + 1_000 * n }));
        expect(violation(() => strategyOf(name, parameters), views)).toBeNull();
      }),
      isSlow ? { numRuns: 5 } : RUNS,
    );
  });

  test('keeps its bids below its asks when its parameters ask for no distance and no fee is due', () => {
    const law = STRATEGY_LAWS.find(({ name }) => name === 'keeps its bids below its asks')!;
    const least = lowestOf(name);
    fc.assert(
      fc.property(anyView, view => {
        expect(law.violation(() => strategyOf(name, least), [{ ...view, makerRate: 0 }])).toBeNull();
      }),
      RUNS,
    );
  });

  test('shows all its levels on both sides of a calm book', () => {
    const { bids, asks } = strategyOf(name).quote(viewOf());
    expect([bids.length, asks.length]).toEqual([5, 5]);
    expect(normalizeQuote(instrument, viewOf().depth, { bids, asks }).refusals).toEqual([]);
  });

  test('shows only what is legal, for any parameters, book and inventory', () => {
    fc.assert(
      fc.property(cases, ([parameters, view]) => {
        const { levels } = normalizeQuote(instrument, view.depth, quote(parameters, view));
        for (const { side, price, amount: lots } of levels) {
          expect(Number.isSafeInteger(price) && Number.isSafeInteger(lots)).toBe(true);
          expect(price).toBeGreaterThanOrEqual(instrument.priceMin);
          expect(price).toBeLessThanOrEqual(instrument.priceMax);
          expect(lots).toBeGreaterThanOrEqual(instrument.amountMin);
          if (side === 'buy') expect(price).toBeLessThan(view.depth.askPrices[0]!);
          else expect(price).toBeGreaterThan(view.depth.bidPrices[0]!);
        }
      }),
      RUNS,
    );
  });

  test('explains each price by steps that add up to it, before and after it was made legal', () => {
    fc.assert(
      fc.property(cases, ([parameters, view]) => {
        const wanted = quote(parameters, view);
        const { levels } = normalizeQuote(instrument, view.depth, wanted);
        for (const { price, why } of [...wanted.bids, ...wanted.asks, ...levels]) {
          expect(why.length).toBeGreaterThan(1);
          const sum = why.reduce((total, { ticks }) => total + ticks, 0);
          expect(Math.abs(sum - price)).toBeLessThanOrEqual(1e-9 * Math.abs(price) + 1e-9);
        }
      }),
      RUNS,
    );
  });

  test('says of each step of a price or an amount what it means', () => {
    const declared = Object.entries(strategies[name].steps);
    for (const [step, meaning] of declared) expect(meaning, step).toMatch(/^[A-Z].*\.$/);
    const known = declared.map(([step]) => new RegExp(`^${step.replaceAll(/\W/g, '\\$&').replace('\\*', '.+')}$`));
    fc.assert(
      fc.property(cases, ([parameters, view]) => {
        const { bids, asks } = quote(parameters, { ...view, widenBps: { buy: 3, sell: 3 } });
        const steps = [...bids, ...asks].flatMap(({ why, amounts = [] }) => [...why, ...amounts]);
        expect(steps.map(step => step.name).filter(step => !known.some(one => one.test(step)))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('takes both ends of each range that tuning may vary, and each choice', () => {
    const { parameters } = strategies[name];
    const ranges = Object.entries(tuningOf(name));
    expect(ranges.length).toBeGreaterThan(0);
    for (const [path, range] of ranges) {
      if (range.scale !== 'choice')
        expect([range.from < range.to, range.scale === 'linear' || range.from > 0]).toEqual([true, true]);
      for (const value of range.scale === 'choice' ? range.values : [range.from, range.to])
        expect(parameters.safeParse(changed(EXAMPLES[name], path, value)).error, `${path}: ${value}`).toBeUndefined();
    }
  });

  test('quotes by the last view alone where nothing is measured, whatever it saw before', () => {
    const seen = fc.tuple(anyView, anyState);
    // A model is solved for the price of its first view, and an imbalance is measured over time.
    const hasOneBook = ['market', 'bpsPerDeviation'].some(key => key in strategies[name].parameters.shape);
    fc.assert(
      fc.property(parametersOf(name), fc.array(seen, { minLength: 2, maxLength: 4 }), (drawn, all) => {
        const unmeasured = {
          ...{ ...drawn, amount: '0.01' },
          ...('market' in drawn ? { market: { ...(drawn.market as object), estimate: 'fixed' } } : {}),
          ...('basisMemory' in drawn ? { basisMemory: undefined } : {}),
        };
        const strategy = strategyOf(name, unmeasured);
        all.forEach(([view, state], n) => {
          const { at, depth, mid, reference } = hasOneBook ? all[0]![0] : { ...view, at: view.at + n };
          const now = viewOf({ at, depth, mid, reference, ...state });
          expect(strategy.quote(now)).toEqual(strategyOf(name, unmeasured).quote(now));
        });
      }),
      RUNS,
    );
  });

  test('shows no bid at the long cap and no ask at the short cap, and says why', () => {
    fc.assert(
      fc.property(cases, fc.integer({ min: 0, max: COIN }), ([parameters, view], beyond) => {
        const long = quote(parameters, { ...view, position: view.positionMax + beyond });
        const short = quote(parameters, { ...view, position: -view.positionMax - beyond });
        expect([long.bids.length, short.asks.length]).toEqual([0, 0]);
        expect(long.noBid).toBeTypeOf('string');
        expect(short.noAsk).toBeTypeOf('string');
      }),
      RUNS,
    );
  });

  test('never loses a side by up to three orders in other books, and gains none at its own limit', () => {
    fc.assert(
      fc.property(anyView, between(-1, 1), (drawn, share) => {
        // A skew moves both prices by shares of the price, so that their distance can fall below the fees.
        const view = { ...drawn, makerRate: 0 };
        const skewPosition = Math.round(share * 3 * Number((EXAMPLES[name] as { amount: string }).amount) * COIN);
        const alone = quote(EXAMPLES[name], view);
        const joint = quote(EXAMPLES[name], { ...view, skewPosition });
        for (const side of ['bids', 'asks'] as const)
          if (alone[side].length > 0) expect(joint[side].length, side).toBeGreaterThan(0);
        const full = quote(EXAMPLES[name], { ...view, position: view.positionMax, skewPosition: -view.positionMax });
        expect(full.bids).toEqual([]);
      }),
      RUNS,
    );
  });

  test('never asks for a higher price on either side when it has more inventory', () => {
    fc.assert(
      fc.property(cases, fc.integer({ min: 1, max: COIN }), ([parameters, view], more) => {
        const less = quote(parameters, view);
        const full = quote(parameters, { ...view, position: view.position + more });
        const rising = (few: number, many: number): number => many - few - 1e-9 * (Math.abs(few) + 1);
        for (const side of ['bids', 'asks'] as const) {
          less[side].forEach(({ price }, i) => {
            const other = full[side][i];
            if (other !== undefined) expect(rising(price, other.price)).toBeLessThanOrEqual(0);
          });
        }
      }),
      RUNS,
    );
  });

  test('quotes a bid and an ask only so far apart that buying and selling earns both maker fees', () => {
    fc.assert(
      fc.property(cases, ([parameters, view]) => {
        if ('minEdgeBps' in parameters && Number(parameters.minEdgeBps) < 0) return;
        const { levels } = normalizeQuote(instrument, view.depth, quote(parameters, view));
        const [bid, ask] = (['buy', 'sell'] as const).map(side => levels.find(level => level.side === side)?.price);
        if (bid === undefined || ask === undefined) return;
        const kept = 1 - view.makerRate / 1e8;
        // Of one coin: bought less its fee, sold less its fee.
        expect(kept * kept * ask).toBeGreaterThanOrEqual(bid * (1 - 1e-9));
      }),
      RUNS,
    );
  });

  test('earns the whole of its minimum edge over both fees, to a part of a tick, before prices are put onto the grid', () => {
    fc.assert(
      fc.property(cases, ([parameters, view]) => {
        const parsed: object = strategies[name].parameters.parse(parameters);
        if (!('minEdgeBps' in parsed)) return;
        const { bids, asks } = quote(parameters, view);
        if (bids[0] === undefined || asks[0] === undefined) return;
        const [bid, ask, kept] = [bids[0].price, asks[0].price, 1 - view.makerRate / 1e8];
        const share = (2 * (1 - kept * kept)) / (1 + kept * kept) + Number(parsed.minEdgeBps) / 10_000;
        expect(ask - bid).toBeGreaterThanOrEqual((share * (ask + bid)) / 2 - 1e-6);
      }),
      runsOf(600, 100),
    );
  });

  test('shows nothing that its fees would eat, by that name, and only what brings inventory back', () => {
    const loses = {
      quote: (view: View): Quote => ({ ...strategyOf(name).quote(view), bids: at(MID - 2), asks: at(MID + 2) }),
    };
    const at = (ticks: number) => [{ price: ticks, amount: amount(COIN / 100), why: [{ name: 'wanted', ticks }] }];
    const shown = (position: number, makerRate: number) => {
      const { bids, asks, noBid, noAsk } = earningFees(loses, false).quote(viewOf({ position, makerRate }));
      expect([noBid, noAsk].map(why => why === undefined || silenceReason(why) === 'cannot earn its fees')).toEqual([
        true,
        true,
      ]);
      return [bids.length, asks.length];
    };
    expect(shown(0, 50_000)).toEqual([0, 0]);
    expect(shown(COIN / 10, 50_000)).toEqual([0, 1]);
    expect(shown(-COIN / 10, 50_000)).toEqual([1, 0]);
    expect(shown(0, 0)).toEqual([1, 1]);
    expect(shown(0, Number.NaN)).toEqual([0, 0]);
  });

  test('never quotes nearer on either side for more adverse selection, and the same for the same; no other step of a first price changes', () => {
    const withoutAdverse = ({ why }: Quote['bids'][number]) => why.filter(({ name: of }) => of !== 'adverse selection');
    const widenings = fc.tuple(tenthsUpTo(30), tenthsUpTo(30), tenthsUpTo(30), tenthsUpTo(30));
    fc.assert(
      fc.property(cases, widenings, ([parameters, view], [buy, sell, moreBuy, moreSell]) => {
        const less = quote(parameters, { ...view, widenBps: { buy, sell } });
        const more = quote(parameters, { ...view, widenBps: { buy: buy + moreBuy, sell: sell + moreSell } });
        for (const [side, away] of [
          ['bids', -1],
          ['asks', 1],
        ] as const) {
          less[side].forEach(({ price }, i) => {
            const other = more[side][i];
            if (other === undefined) return;
            const out = away * (other.price - price);
            expect(out).toBeGreaterThanOrEqual(-1e-9 * Math.abs(price));
            if (moreBuy === 0 && moreSell === 0) expect(other.price).toBe(price);
          });
          // The grid starts with a farther line, and models recompute their quotes. Other strategies only add the fill
          // cost.
          const [first, moved] = [less[side][0], more[side][0]];
          if (name !== 'grid' && 'minEdgeBps' in parameters && first !== undefined && moved !== undefined)
            expect(withoutAdverse(moved)).toEqual(withoutAdverse(first));
        }
      }),
      RUNS,
    );
  });

  test('moves out the side whose fills are followed by moves against them, by a step of that name', () => {
    const strategy = strategyOf(name);
    const calm = strategy.quote(viewOf());
    const toxic = strategy.quote(viewOf({ widenBps: { buy: 8, sell: 0 } }));
    const [bid, ask] = [toxic.bids[0]!, toxic.asks[0]!];
    const step = (of: Quote['bids'][number]): number =>
      of.why.reduce((sum, { name: of, ticks }) => sum + (of === 'adverse selection' ? ticks : 0), 0);
    // The grid starts with a line further out, the others move by 8 bps of 150,000 ticks.
    if (name === 'grid') expect(step(bid)).toBeLessThanOrEqual(0);
    else expect(step(bid) - step(calm.bids[0]!)).toBeCloseTo(-120, 6);
    expect(bid.price).toBeLessThanOrEqual(calm.bids[0]!.price);
    expect(step(ask)).toBeCloseTo(step(calm.asks[0]!), 9);
    expect(strategy.quote(viewOf())).toEqual(strategyOf(name).quote(viewOf()));
    for (const none of [Number.NaN, Infinity, -3])
      expect(strategy.quote(viewOf({ widenBps: { buy: none, sell: none } }))).toEqual(calm);
  });

  test('moves out each level of a side by the same, also where no spacing keeps them apart', () => {
    if (name === 'grid') return;
    for (const levelSpacingBps of [0, 3, 30]) {
      const quoteAt = (buy: number): Quote =>
        strategyOf(name, { ...EXAMPLES[name], levelSpacingBps }).quote(viewOf({ widenBps: { buy, sell: 0 } }));
      const [calm, toxic] = [quoteAt(0), quoteAt(8)];
      const moved = toxic.bids.map(({ price }, i) => price - calm.bids[i]!.price);
      expect(moved).toHaveLength(calm.bids.length);
      for (const ticks of moved) expect(ticks).toBeCloseTo(-120, 6);
      expect(toxic.asks).toEqual(calm.asks);
    }
  });

  test('measures volatility around the mid price, wherever the fair value goes', () => {
    const sigmaWith = (away: number): unknown => {
      const strategy = strategyOf(name);
      let sigma: unknown;
      for (let n = 0; n < 40; n++) {
        const mid = MID + (n % 3);
        const price = mid + (n % 2) * away;
        const fair = { price, steps: [{ name: 'fair value: mid', ticks: price }] };
        sigma = strategy
          .quote(viewOf({ at: 1_000_000 + n * 2_000, mid, fair }))
          .figures?.find(of => of.name === 'sigma');
      }
      return sigma;
    };
    expect(sigmaWith(MID / 100)).toEqual(sigmaWith(0));
    expect(sigmaWith(0) !== undefined).toBe('market' in strategies[name].parameters.shape);
  });

  test('breaks nothing when a number is none, and quotes again when it is one', () => {
    const strategy = strategyOf(name);
    for (const view of brokenViews(viewOf())) {
      const { levels } = normalizeQuote(instrument, viewOf().depth, strategy.quote(view));
      for (const { price, amount: lots } of levels) {
        expect(Number.isSafeInteger(price) && Number.isSafeInteger(lots)).toBe(true);
      }
      const { bids, asks } = strategy.quote(viewOf());
      expect([bids.length, asks.length]).toEqual([5, 5]);
    }
  });

  test('does not see its own orders: with them in the book it quotes as without', () => {
    const desks = [true, false].map(showsOwn => deskOf(name, showsOwn));
    for (let round = 0; round < 30; round++) {
      const quotes = desks.map(toy => {
        const drift = Math.round(30 * Math.sin(round / 5));
        toy.bids = Array.from({ length: 5 }, (_, i) => [99_950 + drift - 10 * i, 500 + i]);
        toy.asks = Array.from({ length: 5 }, (_, i) => [100_050 + drift + 10 * i, 400 + i]);
        toy.step({ kind: 'reference', at: toy.now, startedAt: toy.now, price: 100_000 + drift });
        toy.round();
        expect(toy.live.length).toBeGreaterThan(0);
        // Where the figures come from may differ: only one of the two is told of every trade.
        const { figures: _, ...shown } = toy.engine.book.preview(toy.now).quote;
        return shown;
      });
      expect(quotes[0]).toEqual(quotes[1]);
    }
  });

  test('its parameters are told apart from those of the others, and wanted limits are checked', () => {
    const parameters = strategies[name].parameters.parse(EXAMPLES[name]);
    const limits = { positionMax: '0.001', ordersMax: 1, collarBps: 0.001 };
    const keys = kindOf({ name })
      .limitProblems(parameters, limits, 'btc_mxn')
      .map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(['amount', 'levels']));
    expect(
      kindOf({ name }).limitProblems(parameters, { positionMax: '1', ordersMax: 20, collarBps: 900 }, 'btc_mxn'),
    ).toEqual([]);
  });
});

/** Both desks live the same life; one is shown its own orders. Tick and lot are 1. */
function deskOf(name: StrategyName, showsOwn: boolean): ToyExchange {
  const parameters = strategies[name].parameters.parse({
    ...EXAMPLES[name],
    amount: '5',
    levels: 2,
    // Amounts of its own that are fractions of a coin.
    ...('levelAmountStep' in EXAMPLES[name] ? { levelAmountStep: '1', skew: { priceBpsAtLimit: 10 } } : {}),
    ...('risk' in EXAMPLES[name] ? { risk: { amount: '100000 mxn', per: '1h' } } : {}),
  });
  const kind = kindOf({ name });
  const toy = new ToyExchange({
    instrument: plain,
    strategy: kind.make(parameters, plain),
    tolerance: kind.tolerance(parameters),
    limits: {
      positionMax: amount(100),
      orderValueMax: 10n ** 9n,
      ordersMax: 20,
      collarBps: 1000,
      staleAfterMs: 3000,
    } as never,
  }).open();
  toy.showsOwn = showsOwn;
  return toy;
}
