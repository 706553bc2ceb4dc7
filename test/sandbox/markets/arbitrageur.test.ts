/** Arbitrageur among live books: no cycle that pays more than it costs is left, and cross prices come closer. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cyclesOf, pairOf, VirtualClock, type Price } from '../../../src/core/index.ts';
import { arbitrageur, createVenue, FLOW_PROFILES, linkedFlows } from '../../../src/sandbox/index.ts';
import { runsOf, sized } from '../../many.ts';
import { Trader } from '../trader.ts';
import { between } from '../../draws.ts';

const NAMES = Object.keys(FLOW_PROFILES);
const DESK = ['btc_mxn', 'btc_usd', 'usd_mxn', 'eth_mxn', 'eth_usd'];

type Settings = { readonly costBps: number; readonly everyMs: number };

/** Live books with noise, and an arbitrageur among them unless `settings` is `null`. */
function world(seed: number, names: readonly string[], noiseBps: number, settings: Settings | null) {
  const clock = new VirtualClock();
  const exchange = createVenue({ clock, seed });
  const hash = createHash('sha256');
  exchange.venue.onBookEvent(({ book, at, changes, trades }) => {
    const bare = trades.map(({ price, amount, takerSide }) => [price, amount, takerSide]);
    hash.update(JSON.stringify([book, at, changes, bare]));
  });
  const flows = linkedFlows({ seed });
  const markets = names.map(name => {
    const [base, quote] = pairOf(name);
    const market = flows.here(base, quote, false, { noiseBps });
    market.start(exchange.marketplace(name));
    return market;
  });
  const places = new Map(names.map(name => [name, exchange.marketplace(name)]));
  const arbitrage = settings && arbitrageur(places, { seed, ...settings });
  arbitrage?.start();
  /** The most that any cycle gains at the best prices of now, as a factor; only cycles that can trade a lot of each book. */
  const mostGain = (costBps: number): number => {
    const gains = cyclesOf(names).map(cycle => {
      let [gain, reach] = [1, Infinity];
      const paid: number[] = [];
      for (const { book, divides } of cycle) {
        const place = places.get(book)!;
        const { tick, lot } = place.instrument;
        const price = divides ? place.bestAsk() : place.bestBid();
        if (price <= 0) return 0;
        const lots = place.amountAt(divides ? 'sell' : 'buy', price);
        const perLot = divides ? Number(lot) * price * Number(tick) : Number(lot);
        reach = Math.min(reach, (lots * perLot) / gain);
        paid.push(perLot / gain);
        gain *= (divides ? 1 / (price * Number(tick)) : price * Number(tick)) * (1 - costBps / 1e4);
      }
      // Below one lot of a book, the amount cannot be traded.
      return paid.some(lotOfFirst => reach < lotOfFirst) ? 0 : gain;
    });
    return Math.max(0, ...gains);
  };
  return {
    clock,
    exchange,
    arbitrage,
    mostGain,
    hash: () => hash.copy().digest('hex'),
    end: () => {
      arbitrage?.stop();
      for (const market of markets) market.stop();
      exchange.close();
      expect(clock.nextDue()).toBeUndefined();
    },
  };
}

describe('an arbitrageur', () => {
  it('leaves no cycle that gains, directly after each look', () => {
    const drawn = fc.record({
      seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      names: fc.shuffledSubarray(NAMES, { minLength: 5 }).filter(names => cyclesOf(names).length > 0),
      noiseBps: between(1, 30),
      costBps: between(0, 10),
    });
    let cycles = 0;
    fc.assert(
      fc.property(drawn, ({ seed, names, noiseBps, costBps }) => {
        const one = world(seed, names, noiseBps, { costBps, everyMs: 1_000 });
        for (let seen = 0; seen < 20; seen++) {
          while (one.arbitrage!.counts().looks === seen) one.clock.runNext();
          expect(one.mostGain(costBps)).toBeLessThan(1 + 1e-9);
        }
        cycles += one.arbitrage!.counts().cycles;
        one.end();
      }),
      // The example trades many cycles; a drawn world may have none.
      { ...runsOf(60, 6), examples: [[{ seed: 1, names: DESK, noiseBps: 20, costBps: 1 }]] },
    );
    expect(cycles).toBeGreaterThan(10);
  });

  it('changes nothing where the costs are above every gain, and is one world for one seed', async () => {
    const hashOf = async (settings: Settings | null) => {
      const one = world(7, DESK, 5, settings);
      await one.clock.advance(sized(120_000, 30_000));
      const hash = one.hash();
      const cycles = one.arbitrage?.counts().cycles ?? 0;
      one.end();
      return { hash, cycles };
    };
    const free = await hashOf({ costBps: 0, everyMs: 500 });
    expect(free.cycles).toBeGreaterThan(0);
    expect(await hashOf({ costBps: 0, everyMs: 500 })).toEqual(free);
    const without = await hashOf(null);
    expect(await hashOf({ costBps: 500, everyMs: 500 })).toEqual({ ...without, cycles: 0 });
    expect(free.hash).not.toBe(without.hash);
  });

  it('leaves fewer seconds in which a cycle would gain', async () => {
    const share = async (settings: Settings | null): Promise<number> => {
      let [gaining, all] = [0, 0];
      for (let seed = 1; seed <= sized(6, 2); seed++) {
        const one = world(seed, DESK, 8, settings);
        for (let second = 0; second < sized(900, 300); second++) {
          await one.clock.advance(1_000);
          all++;
          if (one.mostGain(2) > 1) gaining++;
        }
        one.end();
      }
      return gaining / all;
    };
    const [without, withOne] = [await share(null), await share({ costBps: 2, everyMs: 500 })];
    expect(without).toBeGreaterThan(0.2);
    expect(withOne).toBeLessThan(without / 2);
  });

  it('takes what an account offers across books, and no money is created or lost', async () => {
    const one = world(3, DESK, 0, { costBps: 1, everyMs: 200 });
    const account = one.exchange.openAccount({ balances: { btc: '20', usd: '900000', mxn: '90000000' } });
    const trader = new Trader(one.exchange, account);
    await one.clock.advance(2_000);
    const place = one.exchange.marketplace('btc_usd');
    // A whole percent below the other books. What finds no bid there rests, and is the best ask.
    const price = Math.round(place.bestBid() * Number(place.instrument.tick) * 0.99);
    trader.place({ book: 'btc_usd', side: 'sell', type: 'limit', major: '15', price: price.toFixed(0) });
    while (place.bestAsk() !== price / Number(place.instrument.tick)) one.clock.runNext();
    const resting = place.amountAt('sell', place.bestAsk());
    expect(resting).toBeGreaterThan(0);
    const before = one.arbitrage!.counts();
    while (one.arbitrage!.counts().looks === before.looks) {
      expect(one.arbitrage!.counts()).toEqual(before);
      one.clock.runNext();
    }
    expect(one.arbitrage!.counts().cycles).toBeGreaterThan(before.cycles);
    expect(place.amountAt('sell', price as Price)).toBeLessThan(resting);
    const { imbalance, accounts } = one.exchange.truth();
    expect(accounts.get(account.id)!.trades.length).toBeGreaterThan(0);
    expect([...imbalance].filter(([, sum]) => sum !== 0n)).toEqual([]);
    one.end();
  });
});
