/** The other exchange from the configuration: which keys fit together, which venues may hedge, and the rate of its currency. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { describe, expect, test } from 'vitest';
import { asTrialOrder, loadConfig, recordedConfig, type Config } from '../../src/config.ts';
import {
  LivePrice,
  moneyOf,
  textOfMoney,
  type ExchangeVenue,
  type HedgeAbilities,
  type LivePriceRules,
  type Money,
} from '../../src/core/index.ts';
import { rateOf } from '../../src/hedge/index.ts';
import { engineOf } from '../../src/wiring/bot.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import {
  assertVenuesFit,
  venueProblems,
  hedgeObstacles,
  elsewhereHedgingOf,
  elsewhereBookOf,
  provenAfterMs,
  withoutElsewhere,
} from '../../src/wiring/elsewhereHedging.ts';
import { configurationFindings } from '../../src/app/doctor/doctor.ts';
import { refuseUntried } from '../../src/app/untried/untried.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { btcMxn } from '../core/market.ts';
import { TwoToyExchanges } from '../core/twoToyExchanges.ts';
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
      'hedge.elsewhere.debtMax: expected at most limits.positionMax (0.1), found ',
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
    const placeOf = (config: Config) => elsewhereHedgingOf(config, { start: () => undefined } as never)!;
    const untried = configOf(remote('binance'));
    expect(() => refuseUntried(untried)).toThrow('add acceptUntried: binance to the section elsewhere');
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
      const { drift } = elsewhereBookOf(config, moneyOf('1'))!.bounds as { drift: { max: Money; target?: Money } };
      const two = new TwoToyExchanges({ bounds: { drift } });
      two.toy.open();
      two.readThere();
      two.transfers('top-up', 'usdt', moneyOf('30000'));
      two.readThere();
      return (['buy', 'sell'] as const).map(side => two.toy.engine.elsewhere!.closedBecause(side));
    };
    expect(driftOf()).toEqual([null, expect.stringContaining('the drift of 30000 usdt is worth 547500')]);
    expect(driftOf('120000')).toEqual([null, null]);
    expect(driftOf('122000')).toEqual([
      expect.stringContaining('the drift of -2000 usdt from hedge.elsewhere.quoteTarget (122000) is worth -36500'),
      null,
    ]);
  });

  test('order ids fit each exchange, also those of hedges', () => {
    const named = (instance: string, section: string) => (tree: Tree) => {
      remote(section === 'elsewhere' ? 'kraken' : 'binance')(tree);
      tree['instance'] = instance as never;
      tree['timing'] = { shutdownMs: 90_000, privatePollMs: 15_000 };
      if (section === 'exchange') tree['exchange']!['venue'] = 'kraken';
    };
    for (const section of ['elsewhere', 'exchange']) {
      expect(() => assertVenuesFit(configOf(named('abcdefghij', section)))).not.toThrow();
      expect(() => assertVenuesFit(configOf(named('abcdefghijk', section)))).toThrow(
        `instance: expected at most 10 characters for the order ids of kraken (section ${section}), found abcdefghijk (11 characters)`,
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
          `timing.shutdownMs: expected at least ${least}, found ${least - 1}; in less time, a stopping bot cannot prove`,
        );
      }
    expect(() => assertVenuesFit(withoutElsewhere(configOf(stopOf('kraken', 60_000, 2_000))))).not.toThrow();
  });

  test('the stream there starts with the first configuration that has hedges there, also by a reload', () => {
    const hedged = configOf(() => undefined);
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), reloads => {
        let starts = 0;
        const there = { start: () => void starts++ } as never;
        for (const [i, isHedged] of reloads.entries()) {
          expect(elsewhereHedgingOf(isHedged ? hedged : withoutElsewhere(hedged), there) !== undefined).toBe(isHedged);
          expect(starts > 0).toBe(reloads.slice(0, i + 1).includes(true));
        }
      }),
    );
  });

  test('the doctor fails each key with which no bot starts, and no other', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('binance', 'kraken'),
        fc.constantFrom('bitso', 'binance', 'kraken'),
        fc.constantFrom('abcdefghij', 'abcdefghijkl'),
        fc.constantFrom(2_000, 15_000),
        fc.constantFrom(20_000, 90_000),
        (there, here, instance, privatePollMs, shutdownMs) => {
          const config = configOf(tree => {
            remote(there)(tree);
            tree['instance'] = instance as never;
            tree['timing'] = { shutdownMs, privatePollMs };
            tree['exchange']!['venue'] = here;
          });
          const found = configurationFindings(config).map(({ result, says }) => `${result}: ${says}`);
          const problems = venueProblems(config);
          if (problems.length === 0) expect(found).toEqual([expect.stringMatching(/^pass: all keys/)]);
          else expect(found).toEqual(problems.map(says => `fail: ${says}`));
          const started = expect(() => assertVenuesFit(config));
          if (problems.length === 0) started.not.toThrow();
          else started.toThrow(problems.join('\n'));
        },
      ),
    );
  });

  test('without them, nothing of the place is left, and the target is the opening balance', () => {
    const config = configOf(() => undefined);
    const { hedge, inventory } = withoutElsewhere(config);
    expect([hedge, inventory]).toEqual([undefined, {}]);
    expect(elsewhereBookOf(withoutElsewhere(config), moneyOf('1'))).toBeUndefined();
    expect(elsewhereBookOf(config, moneyOf('1'))).toMatchObject({
      ...{ place: 'binance', major: 'btc', minor: 'usdt' },
      bounds: { debtMax: moneyOf('0.05'), isOnlyRoute: true },
    });
    const mixed = configOf(tree => (tree['hedge']!['venues'] = ['book', 'elsewhere']));
    expect(withoutElsewhere(mixed).hedge).toMatchObject({ venues: ['book'], band: '0.001' });
  });
});

test('a venue that lacks what a hedge needs is refused by the names of what it lacks; the shipped ones lack nothing', () => {
  const whole: HedgeAbilities = {
    lookUp: 'by order id',
    immediateOrCancel: true,
    tradeFees: true,
  };
  const lacks = (hedging?: HedgeAbilities) => hedgeObstacles(hedging === undefined ? {} : { hedging });
  expect(lacks()).toBe('immediate-or-cancel orders, look-ups of orders whose answer was lost, fees in trade reports');
  expect(lacks({ ...whole, lookUp: null })).toBe('look-ups of orders whose answer was lost');
  expect(lacks({ ...whole, immediateOrCancel: false })).toBe('immediate-or-cancel orders');
  expect(lacks({ ...whole, tradeFees: false })).toBe('fees in trade reports');
  expect(VENUES.map((venue: ExchangeVenue) => hedgeObstacles(venue))).toEqual(VENUES.map(() => null));
});

test('the rate is the product of the mid prices of later books of the first source that LivePrice accepts', () => {
  const NAMES = ['a', 'b', 'c'];
  const feeds = NAMES.flatMap(name => [`${name} there`, `${name} fx`]);
  const mid = fc.oneof(fc.integer({ min: 90, max: 110 }), fc.constant(100), fc.integer({ min: 1, max: 1_000 }));
  const act = fc.record({
    afterMs: fc.integer({ min: 0, max: 300 }),
    feed: fc.constantFrom(...feeds),
    mid,
    /** Half of the spread; negative for a crossed book. */
    half: fc.constantFrom(0, 0, 1, -1),
    kind: fc.constantFrom('book', 'book', 'book', 'book', 'lost', 'one-sided'),
    ageMs: fc.integer({ min: 0, max: 150 }),
  });
  const rules = (divides: readonly boolean[]): LivePriceRules => ({
    sources: NAMES.map((name, i) => ({
      ...{ name, basisKey: name, weight: 1, feeBps: 10 },
      legs: [
        { feed: `${name} there`, divides: false, staleAfterMs: 800, frozenAfterMs: null },
        { feed: `${name} fx`, divides: divides[i] === true, staleAfterMs: 400, frozenAfterMs: 600 },
      ],
    })),
    ...{ combine: 'median', divergenceMaxBps: 2_000, sourcesMin: 1, moveBps: 1, basis: null },
  });
  /** Books of one source alone: whether its readings are accepted does not depend on the comparison of sources. */
  const alone = (all: LivePriceRules, feed: string): LivePriceRules => ({
    ...all,
    sources: all.sources.flatMap(({ legs, ...one }) =>
      legs.filter(leg => leg.feed === feed).map(leg => ({ ...one, legs: [leg] })),
    ),
  });
  let [given, refused] = [0, 0];
  fc.assert(
    fc.property(
      fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
      fc.array(act, { maxLength: 60 }),
      (divides, acts) => {
        const live = new LivePrice(rules(divides), 1);
        const singles = new Map(feeds.map(feed => [feed, new LivePrice(alone(rules(divides), feed), 1)]));
        const mids = new Map<string, number>();
        let at = 10_000;
        for (const { afterMs, feed, mid: price, half, kind, ageMs } of acts) {
          at += afterMs;
          const [bid, ask] = [price - half, kind === 'one-sided' ? 0 : price + half];
          const reading =
            kind === 'lost' ? 'lost' : { bid, ask, bidAmount: 1, askAmount: 1, sell: bid, buy: ask, lagMs: null };
          for (const one of [live, singles.get(feed)!]) one.read(feed, at - ageMs, reading);
          if (kind === 'book') mids.set(feed, price);
          const { sources } = live.status(at);
          const found = rateOf(NAMES, sources);
          const usable = NAMES.findIndex(
            (name, i) =>
              sources[i]!.refusal !== 'divergent' && singles.get(`${name} fx`)!.status(at).sources[0]!.refusal === null,
          );
          const rate = mids.get(`${NAMES[usable]} fx`) ?? Number.NaN;
          const expected = usable < 0 ? null : divides[usable] === true ? 1 / rate : rate;
          if (expected === null) refused++;
          else given++;
          expect(found === null).toBe(expected === null);
          // A rate is rounded to twelve decimals.
          if (found !== null) expect(Number(textOfMoney(found))).toBeCloseTo(expected!, 9);
        }
      },
    ),
    runsOf(3_000, 200),
  );
  // Without this, a law in which nothing is ever accepted or refused would hold.
  expect(Math.min(given, refused)).toBeGreaterThan(50);
});

test('equal currencies have the rate 1; without a source that gives it, or with a rate that rounds to 0, there is none', () => {
  const source = (name: string, quoteRate: number | null) => ({ name, quoteRate });
  const text = (...of: Parameters<typeof rateOf>) => {
    const rate = rateOf(...of);
    return rate && textOfMoney(rate);
  };
  expect(text(null, [])).toBe('1');
  expect(text([], [source('a', 17)])).toBeNull();
  expect(text(['a'], [source('b', 17)])).toBeNull();
  expect(text(['a', 'b'], [source('b', 17.25), source('a', null)])).toBe('17.25');
  for (const unusable of [0, -1, 1e-13, 1e12, Number.NaN, Infinity])
    expect(text(['a'], [source('a', unusable)])).toBeNull();
});

test('a frozen rate is refused at once, a source without a known basis still gives it', () => {
  const leg = (feed: string, frozenAfterMs: number | null) => ({
    feed,
    divides: false,
    staleAfterMs: 9_000,
    frozenAfterMs,
  });
  const live = (basis: LivePriceRules['basis']) =>
    new LivePrice(
      {
        sources: [{ name: 'a', basisKey: 'a', weight: 1, feeBps: 0, legs: [leg('there', null), leg('fx', 500)] }],
        ...{ combine: 'median', divergenceMaxBps: 50, sourcesMin: 1, moveBps: 1, basis },
      },
      1,
    );
  const book = { bid: 17, ask: 19, bidAmount: 1, askAmount: 1, sell: 17, buy: 19, lagMs: null };
  const unmeasured = live({
    ...{ sdBps: 2, revertMs: 60_000, driftBps: 2, errorMaxBps: 3, bandBps: null },
    unknown: 'leave out',
  });
  for (const one of [unmeasured, live(null)]) {
    one.read('there', 0, book);
    one.read('fx', 0, book);
  }
  expect(unmeasured.status(0).sources[0]).toMatchObject({ refusal: 'no basis', quoteRate: 18 });
  const frozen = live(null);
  for (const at of [0, 300, 600]) for (const feed of ['there', 'fx']) frozen.read(feed, at, book);
  expect(frozen.status(600).sources[0]).toMatchObject({ refusal: 'frozen', quoteRate: null });
});

test.each([
  ['a trial order', 'leaves transfers', true, null],
  ['a trial order without another exchange', 'books transfers', false, 'halts'],
  ['a trial order beside an exchange without hedges', 'books transfers', true, 'halts'],
  ['the bot', null, true, 'halts'],
] as const)('%s and a transfer that it does not book: %#', (_, trial, isTwo, halts) => {
  const read = configOf(tree => (tree['timing'] = { transferListDelayMaxMs: 5_000 }));
  const { elsewhere: _there, ...alone } = withoutElsewhere(read);
  const own = isTwo ? withoutElsewhere(read) : alone;
  const config = trial === null ? own : asTrialOrder(own, trial !== 'books transfers');
  const rules = { instrument: btcMxn, makerRate: 0, takerRate: 0 };
  // A replay has the recorded configuration.
  for (const each of [config, recordedConfig(JSON.stringify(config))]) {
    const engine = engineOf(each, rules, 1);
    engine.step({ kind: 'rules', at: 1, ...rules });
    const reads = (at: number, mxn: string) =>
      engine.step({
        ...{ kind: 'balances', at, startedAt: at, quiet: true },
        balances: Object.entries({ btc: '1', mxn }).map(([currency, total]) => ({
          ...{ currency, total, locked: '0', available: total },
        })),
      });
    reads(1, '2000000');
    for (let at = 2_000; at < 60_000; at += 2_000) reads(at, '1500000');
    const text = "the exchange's balances differ from our ledger by -500000 mxn (reported minus ours)";
    expect(engine.book.haltedBecause).toBe(halts === null ? null : text);
  }
});
