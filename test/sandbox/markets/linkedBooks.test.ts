/** Markets of several books on one set of hidden prices: each is itself beside any others, and cross prices agree up to the planted noise and lag. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leadLagOf, pairOf, randomOf, VirtualClock } from '../../../src/core/index.ts';
import { createVenue, FLOW_PROFILES, isLinkedCurrency, linkedFlows, SECOND_BOOKS } from '../../../src/sandbox/index.ts';
import { HiddenPrices, hiddenView, NO_BASIS } from '../../../src/sandbox/markets/hiddenPrices.ts';
import { BOOKS } from '../../../src/sandbox/venue/books.ts';
import { few, runsOf, sized } from '../../many.ts';
import { between } from '../../draws.ts';

const NAMES = Object.keys(FLOW_PROFILES);

type Own = { readonly lagMs?: number; readonly noiseBps?: number };

/**
 * The flows of these books on one exchange: a hash of the events of each book without the exchange's numbers of trades,
 * and logarithms of its mid prices at each step.
 */
function together(
  seed: number,
  books: Readonly<Record<string, Own>>,
  seconds: number,
  stepMs = 1_000,
  correlation = 0,
) {
  const clock = new VirtualClock();
  const exchange = createVenue({ clock, seed });
  const flows = linkedFlows({ seed, correlation });
  const names = Object.keys(books);
  const hashes = new Map(names.map(name => [name, createHash('sha256')]));
  exchange.venue.onBookEvent(({ book, at, sequence, changes, trades }) => {
    const bare = trades.map(({ price, amount, takerSide }) => [price, amount, takerSide]);
    hashes.get(book)!.update(JSON.stringify([at, sequence, changes, bare]));
  });
  const markets = names.map(name => {
    const [base, quote] = pairOf(name);
    const market = flows.here(base, quote, false, books[name]);
    market.start(exchange.marketplace(name));
    return market;
  });
  const places = names.map(name => exchange.marketplace(name));
  const mids: number[][] = names.map(() => []);
  for (let due = stepMs; due <= seconds * 1_000; due += stepMs) {
    clock.after(due - clock.elapsed(), () =>
      places.forEach((place, i) =>
        mids[i]!.push(Math.log(((place.bestBid() + place.bestAsk()) / 2) * Number(place.instrument.tick))),
      ),
    );
    while ((mids[0]?.length ?? 0) < due / stepMs) clock.runNext();
  }
  for (const market of markets) market.stop();
  exchange.close();
  return {
    hashes: Object.fromEntries([...hashes].map(([name, hash]) => [name, hash.digest('hex')])),
    mids: Object.fromEntries(names.map((name, i) => [name, mids[i]!])),
  };
}

const TRIANGLE = ['btc_mxn', 'btc_usd', 'usd_mxn'] as const;
type Planted = Readonly<Record<(typeof TRIANGLE)[number], number>>;

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

/** Standard deviation of ln btc_mxn - ln btc_usd - ln usd_mxn over half an hour of each seed, in bps. */
function mismatchBps(noiseBps: Planted, seeds: readonly number[]): number {
  const own = Object.fromEntries(TRIANGLE.map(name => [name, { noiseBps: noiseBps[name] }]));
  return deviation(
    seeds.flatMap(seed => {
      const { mids } = together(seed, own, 1_800, 250);
      const [cross, over, under] = TRIANGLE.map(name => mids[name]!);
      return cross!.map((value, i) => (value - over![i]! - under![i]!) * 1e4);
    }),
  );
}

describe('books on one set of hidden prices', () => {
  it('are all that both exchanges list', () => {
    expect(NAMES.toSorted()).toEqual(BOOKS.map(({ book }) => book).toSorted());
    const all = [...NAMES, ...SECOND_BOOKS.map(({ book }) => book)];
    expect(all.flatMap(pairOf).filter(currency => !isLinkedCurrency(currency))).toEqual([]);
  });

  it('are each the same alone and beside any others, in any order', () => {
    const own = fc.record({
      lagMs: fc.integer({ min: 0, max: 60_000 }),
      noiseBps: between(0, 50),
    });
    const drawn = fc.record({
      seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      names: fc.shuffledSubarray(NAMES, { minLength: 2 }),
      owns: fc.array(own, { minLength: NAMES.length, maxLength: NAMES.length }),
      correlation: fc.constantFrom(0, 0.3, 0.99),
    });
    fc.assert(
      fc.property(drawn, ({ seed, names, owns, correlation }) => {
        const books = Object.fromEntries(names.map((name, i) => [name, owns[i]!]));
        const run = (some: typeof books) => together(seed, some, 20, 1_000, correlation).hashes;
        const hashes = run(books);
        const alone = names.map(name => [name, run({ [name]: books[name]! })[name]]);
        expect(hashes).toEqual(Object.fromEntries(alone));
        expect(new Set(Object.values(hashes)).size).toBe(names.length);
        expect(together(seed ^ 1, { [names[0]!]: {} }, 20).hashes[names[0]!]).not.toBe(hashes[names[0]!]);
      }),
      runsOf(30, 3),
    );
  });

  it('have prices that differ from their cross price by exactly the planted noise', () => {
    const noise = between(0.1, 50);
    fc.assert(
      fc.property(fc.integer(), noise, noise, noise, (seed, ...noises) => {
        const hidden = new HiddenPrices({ seed, volatilityBps: { btc: 10, mxn: 2.5 } });
        const [cross, over, under] = TRIANGLE.map((name, i) => {
          const [base, quote] = pairOf(name);
          return hiddenView(hidden, { base, quote, seed: seed + i, lateMs: 0, basis: NO_BASIS, noiseBps: noises[i]! });
        });
        const apart = Array.from({ length: 3 * 3_600 }, (_, second) => {
          for (const view of [cross!, over!, under!]) view.advance(second, 0);
          return (cross!.publicLog - over!.publicLog - under!.publicLog) * 1e4;
        });
        // The noise reverts within seconds, so that three hours give its deviation with an error of 1.5%.
        expect(Math.abs(deviation(apart) / Math.hypot(...noises) - 1)).toBeLessThan(0.1);
      }),
      runsOf(40, 2),
    );
  });

  it('have moves with the planted correlation, and the volatility of each coin stays', () => {
    const hours = sized(60, 12);
    const volatilityBps = { btc: 10, eth: 13, mxn: 2.5 };
    const CURRENCIES = ['btc', 'eth', 'mxn'] as const;
    /** Moves of each minute, in bps. */
    const movesOf = (hidden: HiddenPrices) => {
      const logs = Array.from({ length: hours * 60 }, (_, minute) =>
        CURRENCIES.map(currency => hidden.at(currency, 'usdt', minute * 60).log * 1e4),
      );
      return CURRENCIES.map((_, i) => logs.slice(1).map((log, minute) => log[i]! - logs[minute]![i]!));
    };
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(0, 0.3, 0.7, 0.95), (seed, correlation) => {
        const common = { currencies: new Set(['btc', 'eth']), correlation };
        const free = movesOf(new HiddenPrices({ seed, volatilityBps }));
        const tied = movesOf(new HiddenPrices({ seed, volatilityBps, common }));
        const [btc, eth, mxn] = tied.map(moves => deviation(moves));
        const mean = tied[0]!.reduce((total, move, i) => total + move * tied[1]![i]!, 0) / tied[0]!.length;
        // News is rare and large, and volatility varies, so the error is several times that of normal moves.
        const error = 8 / Math.sqrt(tied[0]!.length);
        expect(Math.abs(mean / (btc! * eth!) - correlation)).toBeLessThan(error);
        expect(Math.abs(btc! / 10 - 1)).toBeLessThan(1.5 * error);
        expect(Math.abs(eth! / 13 - 1)).toBeLessThan(1.5 * error);
        expect(mxn).toBe(deviation(free[2]!));
        if (correlation === 0) expect(tied).toEqual(free);
      }),
      {
        ...runsOf(8, 2),
        examples: [
          [5, 0.7],
          [5, 0],
        ],
      },
    );
  });

  it.each(
    few<Planted>(
      [
        { btc_mxn: 9, btc_usd: 6, usd_mxn: 4 },
        { btc_mxn: 0, btc_usd: 12, usd_mxn: 0 },
        { btc_mxn: 0, btc_usd: 0, usd_mxn: 8 },
      ],
      1,
    ),
  )('have mid prices that differ from their cross price by the planted noise of %o', planted => {
    const seeds = Array.from({ length: sized(6, 1) }, (_, i) => i + 1);
    // Makers' own errors are nearly the same in both worlds.
    const quiet = mismatchBps({ btc_mxn: 0, btc_usd: 0, usd_mxn: 0 }, seeds);
    const noisy = mismatchBps(planted, seeds);
    const share = Math.sqrt(noisy ** 2 - quiet ** 2) / Math.hypot(...Object.values(planted));
    expect(quiet).toBeLessThan(8);
    // Makers refresh later than the noise moves, which smooths it by about a tenth.
    expect(share).toBeGreaterThan(0.75);
    expect(share).toBeLessThan(1.15);
  });

  it.each(few([2_000, 0, 5_000], 1))('show a planted lag of %i ms within the interval of its estimate', lagMs => {
    const own = { btc_usd: { noiseBps: 0.2 }, btc_mxn: { lagMs, noiseBps: 0.2 } };
    // A burst of news may be a third of the covariance in one of 30 blocks: of 36 estimates on three hours (12 seeds, these lags) 6 were taken for chance, of 24 on six hours (8 seeds) none; every other interval held the lag.
    const hours = sized(6, 3);
    for (let seed = 1; seed <= sized(4, 1); seed++) {
      const { mids } = together(seed, own, hours * 3_600, 1_000);
      const [leader, laggard] = Object.values(mids).map(log => ({ at: log.map((_, i) => i * 1_000), log }));
      const found = leadLagOf(leader!, laggard!, { stepMs: 1_000, lagMaxMs: 10_000, random: randomOf(1) });
      expect(found).not.toBeNull();
      expect(found!.lowMs).toBeLessThanOrEqual(lagMs);
      expect(found!.highMs).toBeGreaterThanOrEqual(lagMs);
      expect(found!.highMs - found!.lowMs).toBeLessThan(4_000);
    }
  });

  it('follow the hidden prices exactly, even at the longest lead and lag', () => {
    const options = { seed: 3, volatilityBps: { btc: 10, mxn: 2.5 } };
    const view = (hidden: HiddenPrices, lateMs: number) =>
      hiddenView(hidden, { base: 'btc', quote: 'mxn', seed: 1, lateMs, basis: NO_BASIS, noiseBps: 0 });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 120_000 }),
        fc.array(fc.integer({ min: 1, max: 60_000 })),
        (lateMs, gaps) => {
          const hidden = new HiddenPrices(options);
          const [now, late] = [view(hidden, 0), view(hidden, lateMs)];
          let at = 0;
          for (const gap of gaps) {
            at += gap;
            now.advance(at / 1_000, 0);
            late.advance(at / 1_000, 0);
            const alone = view(new HiddenPrices(options), 0);
            alone.advance(at / 1_000 - lateMs / 1_000, 0);
            expect([late.publicLog, late.expectedLog(0)]).toEqual([alone.publicLog, alone.expectedLog(0)]);
          }
        },
      ),
      // The oldest point that is read, directly after older ones are dropped.
      { ...runsOf(100, 10), examples: [[120_000, [60_000, 60_000, 60_000, 59_960]]] },
    );
  });
});
