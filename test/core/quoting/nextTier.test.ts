/** The worth of volume for the next tier: what a unit can bring and never more, and what it does to quotes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { moneyOf, withNextTier, type Level, type Strategy } from '../../../src/core/index.ts';
import { Fees } from '../../../backtest/exchange/fees.ts';
import { ToyExchange } from '../toyExchange.ts';
import { plain } from '../market.ts';
import { NAMES, strategyOf, viewOf } from '../../strategies/examples.ts';

test('the engine shows it to strategies as it was read last, and a backtest tells what the exchange would', () => {
  const seen = new Set<number | undefined>();
  const toy = new ToyExchange({ strategy: { quote: view => (seen.add(view.tierWorth), { bids: [], asks: [] }) } });
  toy.open().rounds(3);
  const fees = new Fees(plain, {
    tiers: [
      { volume: '1000', maker: '0.0006', taker: '0.001' },
      { volume: '9000', maker: '0.0005', taker: '0.001' },
    ],
    volume30d: '400',
  });
  const told = () => ({ at: toy.now, instrument: plain, makerRate: fees.makerRate, takerRate: 0, tier: fees.tier });
  expect(fees.tier.next).toMatchObject({ missing: moneyOf('600'), makerRate: 50_000 });
  fees.traded(moneyOf('300'), 0);
  toy.step({ kind: 'rules', ...told() });
  toy.rounds(3);
  fees.traded(moneyOf('300.01'), 0);
  toy.step({ kind: 'rules', ...told() });
  toy.rounds(3);
  expect(fees.tier.next).toBeNull();
  // 700 traded and 300 missing; then the better tier.
  expect([...seen]).toEqual([0, 10_000]);
});

describe('quotes that count it', () => {
  const view = viewOf({ makerRate: 100_000, tierWorth: 20_000 });
  const counting = (strategy: Strategy) => withNextTier(true, strategy);
  const steps = ({ why }: Level) => Object.fromEntries(why.map(({ name, ticks }) => [name, ticks]));

  test.each(NAMES)('of %s are those of the lower fee, and their steps add up', name => {
    const { bids, asks } = counting(strategyOf(name)).quote(view);
    const lower = strategyOf(name).quote({ ...view, makerRate: 80_000 });
    expect([...bids, ...asks].map(({ price }) => price)).toEqual(
      [...lower.bids, ...lower.asks].map(({ price }) => price),
    );
    expect(bids.length).toBeGreaterThan(0);
    for (const { price, why } of [...bids, ...asks])
      expect(why.reduce((sum, { ticks }) => sum + ticks, 0)).toBeCloseTo(price, 6);
  });

  test.each(['glft', 'avellaneda-stoikov'] as const)('of %s are nearer, and say by how much for what', name => {
    const [bid] = counting(strategyOf(name)).quote(view).bids;
    const [plain] = strategyOf(name).quote(view).bids;
    expect(bid!.price).toBeGreaterThan(plain!.price);
    expect(steps(bid!)['next fee tier']).toBeCloseTo((20_000 * view.mid) / 1e8, 6);
    expect(steps(bid!)['maker fee']).toBeCloseTo(steps(plain!)['maker fee']!, 6);
  });

  test('of a ladder come nearer only where its minimum edge holds them out', () => {
    const narrow = { halfSpreadBps: 6, levels: 1, amount: '0.01', minEdgeBps: 1 };
    const [held] = strategyOf('ladder', narrow).quote(view).asks;
    const [near] = counting(strategyOf('ladder', narrow)).quote(view).asks;
    expect(near!.price).toBeLessThan(held!.price);
    expect(steps(near!)['next fee tier']).toBeLessThan(0);
    const wide = { ...narrow, halfSpreadBps: 40 };
    const of = (strategy: Strategy) => strategy.quote(view).asks.map(({ price }) => price);
    expect(of(counting(strategyOf('ladder', wide)))).toEqual(of(strategyOf('ladder', wide)));
  });

  test('are the same without it, and where nobody counts it', () => {
    const strategy = strategyOf('glft');
    expect(withNextTier(false, strategy)).toBe(strategy);
    const none = { ...view, tierWorth: 0 };
    expect(counting(strategyOf('glft')).quote(none)).toEqual(strategyOf('glft').quote(none));
  });

  test('are made of the maker fee less the worth, never below no fee, and of a rebate as it is', () => {
    const rates = fc.integer({ min: -50, max: 100 });
    fc.assert(
      fc.property(rates, fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }), (makerRate, worth) => {
        const seen: number[] = [];
        const strategy: Strategy = { quote: view => (seen.push(view.makerRate), { bids: [], asks: [] }) };
        counting(strategy).quote(viewOf({ makerRate, ...(worth === undefined ? {} : { tierWorth: worth }) }));
        expect(seen).toEqual([makerRate > 0 ? Math.max(0, makerRate - (worth ?? 0)) : makerRate]);
      }),
    );
  });

  test('split only the steps that have the fee in them', () => {
    const why = [
      { name: 'mid', ticks: 900 },
      { name: 'maker fee', ticks: -90 },
      { name: 'minimum edge', ticks: 0 },
    ];
    const strategy: Strategy = {
      quote: () => ({ bids: [{ price: 810, amount: 1 as never, why }], asks: [], noAsk: 'mood' }),
    };
    const quote = counting(strategy).quote(view);
    const worth = (20_000 * view.mid) / 1e8;
    expect(quote).toEqual({
      bids: [
        {
          ...{ price: 810, amount: 1 },
          why: [
            { name: 'mid', ticks: 900 },
            { name: 'maker fee', ticks: -90 - worth },
            { name: 'next fee tier', ticks: worth },
            { name: 'minimum edge', ticks: 0 },
          ],
        },
      ],
      asks: [],
      noAsk: 'mood',
    });
  });
});
