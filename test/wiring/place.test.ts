/** The other exchange from the configuration: which keys fit together, which venues may hedge, and the rate of its currency. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { describe, expect, test } from 'vitest';
import { loadConfig, type Config } from '../../src/config.ts';
import { moneyOf, textOfMoney, type ExchangeVenue, type HedgeAbilities, type Money } from '../../src/core/index.ts';
import { rateOf } from '../../src/live/loop/hedgePlace.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import {
  assertVenuesFit,
  hedgeObstacles,
  hedgePlaceOf,
  placedBookOf,
  provenAfterMs,
  withoutPlace,
} from '../../src/wiring/place.ts';
import { refuseUntried, VENUES } from '../../src/wiring/venueRegistry.ts';
import { TwoDesks } from '../core/twoDesks.ts';
import { runsOf } from '../many.ts';

const SHIPPED = readFileSync(shippedConfig('elsewhere'), 'utf8');
type Tree = Record<string, Record<string, unknown>>;

function loaded(change: (tree: Tree) => void) {
  const tree = parse(SHIPPED) as Tree;
  change(tree);
  return loadConfig(stringify(tree), 'my.yaml');
}
const configOf = (change: (tree: Tree) => void): Config => {
  const read = loaded(change);
  if (!read.ok) throw new Error(read.errors.join('\n'));
  return read.config;
};
const remote =
  (venue: string, more = {}) =>
  (tree: Tree) => {
    tree['exchange'] = { kind: 'remote', restUrl: 'https://example.com' };
    tree['elsewhere'] = { kind: 'remote', venue, book: 'btc_usdt', restUrl: 'https://example.com', ...more };
  };

describe('hedges on the other exchange', () => {
  test.each<[change: (tree: Tree) => void, says: string]>([
    [tree => delete tree['elsewhere'], 'hedge.venues: "elsewhere" needs the section elsewhere; add that section'],
    [
      tree => {
        const { exchange } = tree;
        remote('binance')(tree);
        tree['exchange'] = exchange!;
      },
      'elsewhere.kind: expected embedded, found remote; hedges of play money',
    ],
    [
      tree => delete tree['hedge']!['elsewhere'],
      'hedge.venues: "elsewhere" needs the keys of hedge.elsewhere; add hedge.elsewhere with driftMax and debtMax',
    ],
    [tree => (tree['hedge']!['venues'] = ['book']), 'hedge.elsewhere: has no effect without elsewhere in hedge.venues'],
    [
      tree => (tree['reference']!['sources'] = [{ name: 'a', books: ['btc_usd', 'usd_mxn'] }]),
      'hedge.venues: "elsewhere" needs the value of usdt in mxn; add a source to reference.sources',
    ],
    [
      tree => ((tree['hedge']!['elsewhere'] as Record<string, unknown>)['debtMax'] = '0.2'),
      'hedge.elsewhere.debtMax: must be at most limits.positionMax (0.1)',
    ],
    [
      tree => delete (tree['hedge']!['elsewhere'] as Record<string, unknown>)['driftMax'],
      'hedge.elsewhere.driftMax: missing',
    ],
  ])('%s is refused: %s', (change, says) => {
    const read = loaded(change);
    expect(read.ok ? '' : read.errors.join('\n')).toContain(says);
  });

  test('an exchange that was tried on doubles only needs a word, and hedges there have the smallest size at first', () => {
    const placeOf = (config: Config) => hedgePlaceOf(config, {} as never)!;
    const untried = configOf(remote('binance'));
    expect(() => refuseUntried(untried)).toThrow('add acceptUntried: binance below elsewhere');
    expect(() => refuseUntried(configOf(remote('binance', { acceptUntried: 'binance' })))).not.toThrow();
    expect(() => refuseUntried(configOf(remote('bitso')))).not.toThrow();
    const sizes = [untried, configOf(remote('bitso')), configOf(() => undefined)].map(
      one => placeOf(one).terms.smallestUntil,
    );
    expect(sizes).toEqual([20, 0, 0]);
  });

  test('an order there is proven after its request ended and two look-ups, however long the listing takes', () => {
    fc.assert(
      fc.property(fc.nat(600_000), fc.nat(600_000), (requestLifeMs, listingDelayMs) => {
        const ms = provenAfterMs({ requestLifeMs, listingDelayMs });
        expect(ms).toBeGreaterThan(requestLifeMs + 2 * listingDelayMs);
      }),
    );
  });

  test('after a top-up there, the new amount is the target of the drift, and orders of both sides may be sent', () => {
    const driftOf = (target?: string) => {
      const config = configOf(tree => {
        const keys = tree['hedge']!['elsewhere'] as Record<string, unknown>;
        keys['driftMax'] = '20000';
        if (target !== undefined) keys['quoteTarget'] = target;
      });
      const { drift } = placedBookOf(config, moneyOf('1'))!.bounds as { drift: { max: Money; target?: Money } };
      const two = new TwoDesks({ bounds: { drift } });
      two.desk.open();
      two.readThere();
      two.transfers('top-up', 'usdt', moneyOf('30000'));
      two.readThere();
      return (['buy', 'sell'] as const).map(side => two.desk.engine.elsewhere!.closedBecause(side));
    };
    expect(driftOf()).toEqual([null, expect.stringContaining('the drift of 30000 usdt has the value 547500')]);
    expect(driftOf('120000')).toEqual([null, null]);
    expect(driftOf('122000')).toEqual([
      expect.stringContaining('the drift of -2000 usdt from hedge.elsewhere.quoteTarget (122000) has the value -36500'),
      null,
    ]);
  });

  test('order ids fit each exchange, also those of hedges', () => {
    const named = (instance: string, section: string) => (tree: Tree) => {
      remote(section === 'elsewhere' ? 'kraken' : 'binance')(tree);
      tree['instance'] = instance as never;
      tree['timing'] = { shutdownMs: 90_000 };
      if (section === 'exchange') tree['exchange']!['venue'] = 'kraken';
    };
    for (const section of ['elsewhere', 'exchange']) {
      expect(() => assertVenuesFit(configOf(named('abcdefghij', section)))).not.toThrow();
      expect(() => assertVenuesFit(configOf(named('abcdefghijk', section)))).toThrow(
        `instance: expected at most 10 characters for the order ids of kraken (section ${section}), found 11 in abcdefghijk`,
      );
    }
    expect(() => assertVenuesFit(configOf(named('abcdefghijkl', 'none')))).not.toThrow();
    // Kraken is used only as the other exchange, and without hedges there it gets no order.
    const { hedge: _none, ...unhedged } = configOf(named('abcdefghijkl', 'elsewhere'));
    expect(() => assertVenuesFit(unhedged as Config)).not.toThrow();
  });

  test('a stop is long enough to prove the outcome of the last hedge', () => {
    const stopOf = (venue: string, shutdownMs: number, listingDelayMs: number) => (tree: Tree) => {
      remote(venue)(tree);
      tree['timing'] = { shutdownMs };
      (tree['hedge']!['elsewhere'] as Record<string, unknown>)['listingDelayMs'] = listingDelayMs;
    };
    for (const [venue, requestLifeMs] of [
      ['binance', 5_000],
      ['kraken', 60_000],
    ] as const)
      for (const listingDelayMs of [10_000, 30_000]) {
        const least = requestLifeMs + 2 * listingDelayMs + 5_000;
        expect(() => assertVenuesFit(configOf(stopOf(venue, least, listingDelayMs)))).not.toThrow();
        expect(() => assertVenuesFit(configOf(stopOf(venue, least - 1, listingDelayMs)))).toThrow(
          `timing.shutdownMs: expected at least ${least}, found ${least - 1}; a shorter stop cannot prove`,
        );
      }
    expect(() => assertVenuesFit(withoutPlace(configOf(stopOf('kraken', 60_000, 2_000))))).not.toThrow();
  });

  test('without them, nothing of the place is left, and the target is the opening balance', () => {
    const config = configOf(() => undefined);
    const { hedge, inventory } = withoutPlace(config);
    expect([hedge, inventory]).toEqual([undefined, {}]);
    expect(placedBookOf(withoutPlace(config), moneyOf('1'))).toBeUndefined();
    expect(placedBookOf(config, moneyOf('1'))).toMatchObject({
      ...{ place: 'binance', major: 'btc', minor: 'usdt' },
      bounds: { debtMax: moneyOf('0.05'), isOnlyRoute: true },
    });
    const mixed = configOf(tree => (tree['hedge']!['venues'] = ['book', 'elsewhere']));
    expect(withoutPlace(mixed).hedge).toMatchObject({ venues: ['book'], band: '0.001' });
  });
});

test('a venue that lacks what a hedge needs is refused by the names of what it lacks; the shipped ones lack nothing', () => {
  const whole: HedgeAbilities = {
    lookUp: 'by order id',
    immediateOrCancel: true,
    tradeFees: true,
  };
  const lacks = (hedging?: HedgeAbilities) => hedgeObstacles(hedging === undefined ? {} : { hedging });
  expect(lacks()).toBe('immediate-or-cancel orders, a look-up of orders after a lost answer, the fee of each trade');
  expect(lacks({ ...whole, lookUp: null })).toBe('a look-up of orders after a lost answer');
  expect(lacks({ ...whole, immediateOrCancel: false })).toBe('immediate-or-cancel orders');
  expect(lacks({ ...whole, tradeFees: false })).toBe('the fee of each trade');
  expect(VENUES.map((venue: ExchangeVenue) => hedgeObstacles(venue))).toEqual(VENUES.map(() => null));
});

test('the rate is the product of the mid prices of the first chain whose books are all young and whole', () => {
  const price = fc.double({ min: 0.001, max: 100_000, noNaN: true });
  const leg = fc.record({
    price,
    divides: fc.boolean(),
    ageMs: fc.integer({ min: 0, max: 200 }),
    isLost: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(fc.array(leg, { minLength: 1, maxLength: 2 }), { maxLength: 3 }), chains => {
      const named = chains.map((chain, i) => chain.map((one, n) => ({ ...one, feed: `${i} ${n}` })));
      const at = 10_000;
      const readings = named.flat().map(one => ({
        ...({ kind: 'source', at, startedAt: at - one.ageMs, feed: one.feed } as const),
        reading: one.isLost
          ? 'lost'
          : { bid: one.price, ask: one.price, bidAmount: 0, askAmount: 0, sell: 0, buy: 0, lagMs: null },
      }));
      const rules = named.map(chain => chain.map(({ feed, divides }) => ({ feed, divides, staleAfterMs: 100 })));
      const usable = named.find(chain => chain.every(({ ageMs, isLost }) => ageMs <= 100 && !isLost));
      const found = rateOf(rules, readings, at);
      const products = usable?.map(one => (one.divides ? 1 / one.price : one.price)) ?? [];
      const expected = chains.length === 0 ? 1 : products.reduce((product, one) => product * one, usable ? 1 : 0);
      // A rate is rounded to twelve decimals, and one that rounds to 0 is none.
      expect(Math.abs(Number(textOfMoney(found ?? moneyOf('0'))) - expected)).toBeLessThanOrEqual(
        1e-12 + expected * 1e-9,
      );
    }),
    runsOf(5_000, 300),
  );
});
