/** Fill samples: never more than their number and amount, at drawn places, and nothing else in a quote changes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  FILL_SAMPLE,
  instrumentOf,
  withFillSamples,
  type FillSampleRules,
  type Level,
  type Price,
  type Quote,
  type Side,
  type Strategy,
  type View,
} from '../../../src/core/index.ts';
import { between } from '../../draws.ts';
import { runsOf } from '../../many.ts';
import { instrument, MID, viewOf } from '../../strategies/examples.ts';
import { bookRules, depthOf } from '../market.ts';

const HOUR_MS = 3_600_000;
const far = (price: number): Level => ({ price, amount: 500 as never, why: [{ name: 'mid', ticks: price }] });
const QUOTE: Quote = { bids: [far(MID - 90), far(MID - 150)], asks: [far(MID + 90), far(MID + 150)] };
const quoting = (quote: Quote): Strategy => ({ quote: () => quote });

const isSample = ({ why }: Level): boolean => why[0]?.name === FILL_SAMPLE;
type SampleLevel = { readonly side: Side; readonly level: Level };
const samplesIn = ({ bids, asks }: Quote): readonly SampleLevel[] => [
  ...bids.filter(isSample).map(level => ({ side: 'buy' as const, level })),
  ...asks.filter(isSample).map(level => ({ side: 'sell' as const, level })),
];
const withoutSamples = (quote: Quote): Quote => ({
  ...quote,
  bids: quote.bids.filter(level => !isSample(level)),
  asks: quote.asks.filter(level => !isSample(level)),
});

/** The times of an hour at which a sample is quoted, with the sample. `moves`: the mid price of each view. */
function hourOf(strategy: Strategy, everyMs: number, midAt: (at: number) => number = () => MID, from = 0) {
  const found: { at: number; side: Side; level: Level; quote: Quote; view: View }[] = [];
  for (let at = from; at < from + HOUR_MS; at += everyMs) {
    const mid = midAt(at);
    const view = viewOf({ at, mid, depth: depthOf([[mid - 5, 100_000]], [[mid + 5, 100_000]]) });
    const quote = strategy.quote(view);
    for (const sample of samplesIn(quote)) found.push({ at, ...sample, quote, view });
  }
  return found;
}

const rules = fc.integer({ min: 1, max: 120 }).chain(perHour =>
  fc.record({
    perHour: fc.constant(perHour),
    lifeMs: fc.integer({ min: 1_000, max: Math.floor(HOUR_MS / perHour) }),
    withinBps: between(0, 50),
    levelsMax: fc.constant(100),
  }),
) as fc.Arbitrary<FillSampleRules>;

describe('fill samples', () => {
  test('are at most as many per hour as configured, one at a time, for at most their life, and leave the other levels as they are', () => {
    fc.assert(
      fc.property(rules, fc.integer(), fc.nat(100), (rule, seed, hour) => {
        const found = hourOf(withFillSamples(rule, quoting(QUOTE), instrument, seed), 1_000, () => MID, hour * HOUR_MS);
        const byPart = new Map<number, typeof found>();
        for (const one of found) {
          expect(samplesIn(one.quote)).toHaveLength(1);
          expect(withoutSamples(one.quote)).toEqual(QUOTE);
          const part = Math.floor((one.at * rule.perHour) / HOUR_MS);
          byPart.set(part, [...(byPart.get(part) ?? []), one]);
        }
        expect(byPart.size).toBeLessThanOrEqual(rule.perHour);
        for (const all of byPart.values()) {
          expect(all.at(-1)!.at - all[0]!.at).toBeLessThan(rule.lifeMs);
          expect(new Set(all.map(({ side, level }) => `${side} ${level.price}`)).size).toBe(1);
        }
      }),
      runsOf(100, 15),
    );
  });

  test('stay at the price that was drawn from the best price of their side when they started, in order of price', () => {
    fc.assert(
      fc.property(rules, fc.integer(), fc.integer({ min: -40, max: 40 }), (rule, seed, drift) => {
        const midAt = (at: number) => MID + Math.round((drift * at) / 60_000);
        const found = hourOf(withFillSamples(rule, quoting(QUOTE), instrument, seed), 1_000, midAt);
        let part = -1;
        for (const { at, side, level, quote, view } of found) {
          const now = Math.floor((at * rule.perHour) / HOUR_MS);
          const sign = side === 'buy' ? 1 : -1;
          if (now !== part) {
            const best = view.mid - sign * 5;
            const bps = (sign * (best - level.price) * 10_000) / best;
            expect(bps).toBeGreaterThanOrEqual(-1e-9);
            expect(bps).toBeLessThanOrEqual(rule.withinBps + 1e-9);
          }
          part = now;
          const prices = (side === 'buy' ? quote.bids : quote.asks).map(({ price }) => price * sign);
          expect(prices).toEqual([...prices].sort((a, b) => b - a));
        }
      }),
      runsOf(100, 15),
    );
  });

  test('have the smallest amount that the exchange accepts at their price', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 500 }),
        fc.integer(),
        (most, value, seed) => {
          const small = instrumentOf(
            bookRules({
              ...{ tickSize: '10', minimumPrice: '10', maximumPrice: '20000000' },
              ...{ minimumAmount: `0.${String(most).padStart(8, '0')}`, minimumValue: String(value) },
            }),
          );
          const rule = { perHour: 60, lifeMs: 60_000, withinBps: 20, levelsMax: 9 };
          for (const { side, level } of hourOf(withFillSamples(rule, quoting(QUOTE), small, seed), 60_000)) {
            const ticks = BigInt(side === 'buy' ? Math.floor(level.price) : Math.ceil(level.price));
            const isAllowed = (lots: bigint) => lots >= small.amountMin && lots * ticks >= small.valueMin;
            expect(isAllowed(BigInt(level.amount))).toBe(true);
            expect(isAllowed(BigInt(level.amount) - 1n)).toBe(false);
          }
        },
      ),
      runsOf(100, 20),
    );
  });

  const always: FillSampleRules = { perHour: 60, lifeMs: 60_000, withinBps: 10, levelsMax: 9 };

  test('are equal for equal seeds, and otherwise differ; sides and distances are drawn evenly', () => {
    const of = (seed: number) =>
      hourOf(withFillSamples(always, quoting(QUOTE), instrument, seed), 60_000).map(
        ({ side, level }) => `${side} ${level.price}`,
      );
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
    const all = Array.from({ length: 50 }, (_, seed) =>
      hourOf(withFillSamples(always, quoting(QUOTE), instrument, seed), 60_000),
    ).flat();
    expect(all.length).toBe(3_000);
    const share = (is: (one: (typeof all)[number]) => boolean) => all.filter(is).length / all.length;
    expect(share(({ side }) => side === 'buy')).toBeCloseTo(0.5, 1);
    const half = (MID * 5) / 10_000;
    expect(share(({ side, level }) => Math.abs(level.price - (MID + (side === 'buy' ? -5 : 5))) < half)).toBeCloseTo(
      0.5,
      1,
    );
  });

  test('are quoted by one run only, however often the bot starts again', () => {
    fc.assert(
      fc.property(rules, fc.integer(), fc.array(between(0, HOUR_MS / 4), { maxLength: 8 }), (rule, seed, restarts) => {
        const make = () => withFillSamples(rule, quoting(QUOTE), instrument, seed);
        const runOf = new Map<number, number>();
        let [strategy, run] = [make(), 0];
        for (let at = 0; at < HOUR_MS / 4; at += 1_000) {
          const due = restarts.filter(restart => restart <= at).length;
          if (due !== run) [strategy, run] = [make(), due];
          if (samplesIn(strategy.quote(viewOf({ at }))).length === 0) continue;
          const part = Math.floor((at * rule.perHour) / HOUR_MS);
          expect(runOf.get(part) ?? run).toBe(run);
          runOf.set(part, run);
        }
      }),
      runsOf(100, 15),
    );
  });

  test.each<[Side, 'lastBuy' | 'lastSell']>([
    ['buy', 'lastBuy'],
    ['sell', 'lastSell'],
  ])('end with a fill of their side: %s', (side, key) => {
    const seed = Array.from({ length: 50 }, (_, i) => i).find(
      i => samplesIn(withFillSamples(always, quoting(QUOTE), instrument, i).quote(viewOf({ at: 0 })))[0]?.side === side,
    )!;
    const strategy = withFillSamples(always, quoting(QUOTE), instrument, seed);
    const other = key === 'lastBuy' ? 'lastSell' : 'lastBuy';
    const fill = (at: number) => ({ at, side, price: MID as Price });
    const shown = (view: Partial<View>) => samplesIn(strategy.quote(viewOf(view))).length;
    expect(shown({ at: 0, [key]: fill(-1) })).toBe(1);
    expect(shown({ at: 2_000, [other]: fill(1_500) })).toBe(1);
    expect(shown({ at: 3_000, [key]: fill(2_500) })).toBe(0);
    expect(shown({ at: 4_000 })).toBe(0);
    expect(shown({ at: 60_100, [key]: fill(2_500) })).toBe(1);
  });

  test('do not quote on a side that the strategy keeps empty, nor above the maximum number of levels', () => {
    const silent: Quote = { bids: [], asks: [], noBid: 'reduce-only', noAsk: 'reduce-only' };
    expect(hourOf(withFillSamples(always, quoting(silent), instrument, 1), 10_000)).toEqual([]);
    const bids: Quote = { ...QUOTE, asks: [], noAsk: 'limit' };
    const sides = hourOf(withFillSamples(always, quoting(bids), instrument, 1), 10_000).map(({ side }) => side);
    expect([...new Set(sides)]).toEqual(['buy']);
    expect(hourOf(withFillSamples({ ...always, levelsMax: 4 }, quoting(QUOTE), instrument, 1), 10_000)).toEqual([]);
    expect(hourOf(withFillSamples({ ...always, levelsMax: 5 }, quoting(QUOTE), instrument, 1), 10_000)).not.toEqual([]);
  });

  test('never reach the quotes of the other side', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: -400, max: 400 }), (seed, drift) => {
        const midAt = (at: number) => MID + Math.round((drift * at) / 60_000);
        const strategy: Strategy = { quote: ({ mid }) => ({ bids: [far(mid - 1)], asks: [far(mid + 1)] }) };
        const found = hourOf(withFillSamples(always, strategy, instrument, seed), 5_000, midAt);
        for (const { quote } of found) {
          const [bids, asks] = [quote.bids, quote.asks].map(levels => levels.map(({ price }) => price));
          expect(Math.ceil(Math.min(...asks!)) - Math.floor(Math.max(...bids!))).toBeGreaterThan(0);
        }
        expect(found.length).toBeGreaterThan(100);
      }),
      runsOf(100, 20),
    );
  });

  test('change nothing without rules', () => {
    const strategy = quoting(QUOTE);
    expect(withFillSamples(undefined, strategy, instrument, 1)).toBe(strategy);
  });
});
