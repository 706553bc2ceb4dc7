/** Tests of keys that need sources of the reference price. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readFileSync } from 'node:fs';
import { liveSourcesOf, loadConfig } from '../../src/config.ts';
import { runsOf } from '../many.ts';

const SANDBOX = parse(readFileSync(new URL('../../config/sandbox.yaml', import.meta.url), 'utf8')) as object;
const SOURCES = [{ name: 'far', books: ['btc_usd', 'usd_mxn'], from: 'exchange', staleAfterMs: 120_000 }];

const VENUES = ['bitso', 'binance', 'kraken'];
const REMOTE = {
  ...{ kind: 'remote', restUrl: 'https://api.example', streamUrl: 'wss://ws.example' },
  budgets: { publicPerMinute: 10_000 },
};
const HERE = { kind: 'remote', restUrl: 'http://127.0.0.1:8080' };

const venue = (name: string, restUrl: string, streamUrl?: string) => ({
  from: { venue: name, restUrl, ...(streamUrl !== undefined && { streamUrl }) },
});

describe("a price is never read from the bot's own book", () => {
  const errorsOf = (exchange: object, source: object, more: object = {}): string => {
    const reference = { sources: [{ name: 'far', books: ['btc_mxn'], ...source }], ...more };
    const loaded = loadConfig(stringify({ ...SANDBOX, exchange, reference }), 'my.yaml', VENUES);
    return loaded.ok ? '' : loaded.errors.join('\n');
  };
  const chained = [{ book: 'btc_mxn', as: 'btc_usd', from: { ccxt: 'bitso' } }, 'usd_mxn'];
  const BY_ADDRESS = /is the bot's own book, which contains the bot's orders; use another exchange or book$/;
  const byName = (name: string) =>
    new RegExp(
      `counts as the bot's own book, which contains the bot's orders: both exchanges have the name ${name}, and one exchange can have several addresses; use another exchange or book$`,
    );
  test.each<readonly [string, object, object, RegExp]>([
    ['from: exchange', REMOTE, { from: 'exchange' }, BY_ADDRESS],
    ['its name, which is the default', REMOTE, venue('bitso', 'https://other.example'), byName('bitso')],
    ['its given name', { ...REMOTE, venue: 'kraken' }, venue('kraken', 'https://other.example'), byName('kraken')],
    ['its name in ccxt', { ...REMOTE, venue: 'binance' }, { from: { ccxt: 'binance' } }, byName('binance')],
    [
      'its name in ccxt at another host',
      REMOTE,
      { from: { ccxt: 'bitso', url: 'https://other.example' } },
      byName('bitso'),
    ],
    ['its host under another name', REMOTE, venue('kraken', 'https://api.example/api'), BY_ADDRESS],
    ['the host of its stream', REMOTE, venue('kraken', 'https://other.example', 'wss://ws.example'), BY_ADDRESS],
    ['its port of this machine', HERE, venue('kraken', 'http://localhost:8080'), BY_ADDRESS],
    [
      'the port of the embedded exchange',
      { kind: 'embedded', port: 8080 },
      venue('bitso', 'http://127.0.0.1:8080'),
      BY_ADDRESS,
    ],
    ['one book of a chain, counted as another', REMOTE, { books: chained, from: 'exchange' }, byName('bitso')],
  ])('%s', (_, exchange, source, says) => {
    const error = errorsOf(exchange, source);
    expect(error).toMatch(/^my\.yaml:\d+:\d+ reference\.sources\.0\.books: btc_mxn [^\n]*$/);
    expect(error).toMatch(says);
  });

  test('through a feed with its host, also without sources', () => {
    const feeds = [{ name: 'own', url: 'https://api.example/v3/ticker?book=btc_mxn', price: ['/payload/last'] }];
    expect(errorsOf(REMOTE, { from: { feed: 'own' } }, { feeds })).toMatch(/btc_mxn at feed own is the bot's own book/);
    const unnamed = feeds.map(({ name: _, ...feed }) => feed);
    const loaded = loadConfig(stringify({ ...SANDBOX, exchange: REMOTE, reference: { feeds: unnamed } }), 'my.yaml');
    expect(loaded.ok ? [] : loaded.errors).toEqual([
      expect.stringMatching(/reference\.feeds\.0\.book: btc_mxn of this feed is the bot's own book/),
    ]);
  });

  test.each<readonly [string, object, object]>([
    ['another exchange', REMOTE, venue('kraken', 'https://api.kraken.example')],
    ['another exchange in ccxt', REMOTE, { from: { ccxt: 'kraken' } }],
    ['another book of the same exchange', REMOTE, { books: ['btc_usd', 'usd_mxn'], from: { ccxt: 'bitso' } }],
    ['another port of this machine', HERE, venue('bitso', 'http://127.0.0.1:8081')],
    ['the real exchange beside the embedded one', { kind: 'embedded' }, { from: { ccxt: 'bitso' } }],
  ])('%s is read', (_, exchange, source) => expect(errorsOf(exchange, source)).toBe(''));

  test('an unknown exchange is named where it stands', () => {
    expect(errorsOf(REMOTE, venue('krakn', 'https://api.kraken.example'))).toMatch(
      /reference\.sources\.0\.from: expected venue to be one of bitso, binance, kraken, found "krakn"/,
    );
  });
});

function errorsWith(reference: object, leave: object): readonly string[] {
  const fairValue = { reference: { leave } };
  const loaded = loadConfig(stringify({ ...SANDBOX, reference, fairValue }), 'my.yaml');
  return loaded.ok ? [] : loaded.errors;
}

/** Returns the names under which the bases of the sources are stored. */
function basisKeysWith(source: object, feed: object = {}): readonly string[] {
  const feeds = [{ name: 'desk', book: 'btc_mxn', url: 'https://desk.example/btc?key=hidden', ...feed }];
  const sources = [
    { ...SOURCES[0], ...source },
    { name: 'desk', books: ['btc_mxn'], from: { feed: 'desk' } },
  ];
  const loaded = loadConfig(
    stringify({ ...SANDBOX, reference: { sources, feeds, everyMs: 20_000, combine: 'weights' } }),
    'my.yaml',
  );
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return liveSourcesOf(loaded.config)!.rules.sources.map(({ basisKey }) => basisKey);
}

test('a basis is stored by the name of its source and by what the source reads, without its address', () => {
  const [far, desk] = basisKeysWith({});
  expect([far, desk]).toEqual([expect.stringMatching(/^far [0-9a-f]{16}$/), expect.stringMatching(/^desk \w{16}$/)]);
  expect(basisKeysWith({ weight: 3, amount: '0.01', staleAfterMs: 60_000, frozenAfterMs: 90_000 })).toEqual([
    far,
    desk,
  ]);
  for (const books of [
    ['btc_usd', { book: 'usdt_mxn', as: 'usd_mxn' }],
    ['eth_btc', 'eth_mxn'],
  ])
    expect(basisKeysWith({ books })[0]).not.toBe(far);
  expect(basisKeysWith({ from: { ccxt: 'kraken' } })[0]).not.toBe(far);
  expect(basisKeysWith({}, { url: 'https://desk.example/btc?key=other' })[1]).not.toBe(desk);
});

test('polls have a minimum interval, which is longer on another exchange', () => {
  const pollsOf = (from: unknown, staleAfterMs: number, everyMs = 100) => {
    const feeds = from === 'feed' ? [{ book: 'btc_usd', file: 'price' }] : [];
    const books = from === 'feed' ? [{ book: 'btc_usd', as: 'btc_mxn' }] : ['btc_usd', 'usd_mxn'];
    const sources = [{ name: 'far', books, from, staleAfterMs }];
    const loaded = loadConfig(
      stringify({ ...SANDBOX, exchange: REMOTE, reference: { sources, feeds, everyMs } }),
      'my.yaml',
    );
    return loaded.ok ? liveSourcesOf(loaded.config)!.feeds.map(({ pollMs }) => pollMs) : loaded.errors;
  };
  const far = venue('kraken', 'https://api.kraken.example').from;
  expect([pollsOf({ ccxt: 'kraken' }, 3_750), pollsOf(far, 3_751)]).toEqual([
    [1_500, 1_500],
    [1_500, 1_500],
  ]);
  // A price must not become stale between two polls.
  expect([pollsOf({ ccxt: 'kraken' }, 3_749), pollsOf(far, 100), pollsOf('feed', 249)]).toEqual([
    [expect.stringMatching(/staleAfterMs.*expected at least 3750 for prices from ccxt:kraken, found 3749/)],
    [expect.stringMatching(/staleAfterMs.*expected at least 3750 for prices from kraken /)],
    [expect.stringMatching(/staleAfterMs.*expected at least 250 for prices from feed/)],
  ]);
  expect([pollsOf('feed', 250), pollsOf('exchange', 500, 5_000)]).toEqual([[100], [200, 200]]);
  expect(pollsOf(far, 20_000, 5_000)).toEqual([5_000, 5_000]);
});

test('sources that share books read each as often as the one that needs it most, in whatever order they are written, and each leg names its book', () => {
  // Each book has its own place, so that the same price of it is one read.
  const books = ['btc_usd', 'usd_mxn', 'btc_eur', 'eur_mxn', 'usd_eur'] as const;
  const places = ['exchange', { ccxt: 'kraken' }, { ccxt: 'binance' }, 'exchange', { feed: 'fx' }] as const;
  const feeds = [{ name: 'fx', book: 'usd_eur', file: 'price' }];
  const chains: readonly (readonly number[])[] = [
    [0, 1],
    [2, 3],
    [0, 4, 3],
    [2, 4, 1],
  ];
  const leg = fc.constantFrom(3_800, 5_000, 8_000, 20_000, 60_000);
  const drawn = fc
    .uniqueArray(
      fc.record({
        chain: fc.constantFrom(...chains),
        stale: fc.tuple(leg, leg, leg),
        amount: fc.constantFrom('0.5', '1', undefined),
      }),
      {
        minLength: 2,
        maxLength: 5,
        selector: ({ chain, amount, stale }) => `${chain.join()} ${amount} ${stale.join()}`,
      },
    )
    .chain(all => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
  let shared = 0;
  fc.assert(
    fc.property(drawn, fc.constantFrom(1_000, 3_000, 6_000, 30_000), ([all, shuffled], everyMs) => {
      const sourcesOf = (of: typeof all) => {
        const sources = of.map(({ chain, stale, amount }) => ({
          name: `s${all.findIndex(one => one.chain === chain && one.stale === stale && one.amount === amount)}`,
          books: chain.map((n, i) => ({ book: books[n], from: places[n], staleAfterMs: stale[i] })),
          ...(amount !== undefined && { amount }),
        }));
        const loaded = loadConfig(
          stringify({
            ...SANDBOX,
            exchange: REMOTE,
            reference: { sources, everyMs, ...(of.some(({ chain }) => chain.includes(4)) && { feeds }) },
          }),
          'my.yaml',
          VENUES,
        );
        if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
        return liveSourcesOf(loaded.config)!;
      };
      const byKey = ({ feeds: read }: ReturnType<typeof sourcesOf>) => new Map(read.map(feed => [feed.key, feed]));
      const [one, other] = [sourcesOf(all), sourcesOf(shuffled)];
      expect(byKey(other)).toEqual(byKey(one));
      expect(other.rules.sources.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual(one.rules.sources);
      const read = byKey(one);
      expect(read.size).toBe(one.feeds.length);
      // The feeds of each source alone, each with the shortest interval of any source.
      const alone = all.map(source => byKey(sourcesOf([source])));
      for (const [key, feed] of read) {
        const users = alone.flatMap(each => each.get(key) ?? []);
        if (users.length > 1) shared++;
        const least = (of: 'pollMs' | 'confirmEveryMs') => Math.min(...users.map(user => user[of]));
        expect(feed).toEqual({ ...users[0], pollMs: least('pollMs'), confirmEveryMs: least('confirmEveryMs') });
      }
      for (const [i, { legs }] of one.rules.sources.entries()) {
        const { chain, stale, amount } = all[i]!;
        for (const [j, { feed: key, staleAfterMs }] of legs.entries()) {
          const feed = read.get(key)!;
          expect([feed.book, feed.from, feed.amount]).toEqual([
            books[chain[j]!],
            places[chain[j]!],
            j === 0 ? amount : undefined,
          ]);
          expect(staleAfterMs).toBe(stale[j]);
          expect(feed.pollMs).toBeLessThanOrEqual(Math.max(1_500, Math.min(everyMs, stale[j]! / 2.5)));
          expect(feed.confirmEveryMs).toBeLessThanOrEqual(Math.min(1_000, stale[j]! / 4));
        }
      }
    }),
    runsOf(150, 25),
  );
  expect(shared).toBeGreaterThan(20);
});

test('the cost of hedging at a source needs sources, and the name of one of them', () => {
  expect(errorsWith({ sources: SOURCES, everyMs: 20_000 }, { source: 'far' })).toEqual([]);
  expect(errorsWith({ sources: SOURCES, everyMs: 20_000 }, { source: 'fra' }).join()).toMatch(
    /fairValue\.reference\.leave\.source: expected the name of one of reference\.sources, far, found fra/,
  );
  expect(errorsWith({ books: ['btc_usd', 'usd_mxn'] }, {}).join()).toMatch(
    /fairValue\.reference\.leave: needs reference\.sources/,
  );
});

describe('no key of a source is dropped in silence', () => {
  const loadedWith = (reference: object) =>
    loadConfig(
      stringify({ ...SANDBOX, exchange: REMOTE, reference: { everyMs: 20_000, ...reference } }),
      'my.yaml',
      VENUES,
    );
  const errorsOf = (source: object, more: object = {}): string => {
    const loaded = loadedWith({ sources: [{ name: 'far', ...source }], ...more });
    return loaded.ok ? '' : loaded.errors.join('\n');
  };
  const KRAKEN = { ccxt: 'kraken' };

  test.each<readonly [string, object, RegExp]>([
    ['0', { books: ['btc_usd', 'usd_mxn'], amount: '0' }, /sources\.0\.amount: must be above zero/],
    ['0.00', { books: ['btc_usd', 'usd_mxn'], amount: '0.00' }, /sources\.0\.amount: must be above zero/],
    [
      'of a chain that divides by its first book',
      { books: ['usd_btc', 'usd_mxn'], amount: '1' },
      /sources\.0\.amount: has no effect, because the amounts of the first book, usd_btc, are not in btc; remove this key$/,
    ],
    [
      'of a feed',
      { books: ['btc_mxn'], from: { feed: 'desk' }, amount: '1' },
      /sources\.0\.amount: has no effect, because the first book is read from a feed, which gives no amounts; remove this key$/,
    ],
  ])('the amount %s is refused', (_, source, says) => {
    const feeds = 'from' in source ? [{ name: 'desk', file: 'price' }] : [];
    expect(errorsOf(source, { feeds })).toMatch(says);
  });

  test('an amount is averaged in the first book, and later books may divide or come from feeds', () => {
    const feeds = [{ name: 'fx', book: 'mxn_usd', file: 'price' }];
    const loaded = loadedWith({
      sources: [
        { name: 'far', books: ['btc_usd', { book: 'mxn_usd', from: { feed: 'fx' } }], from: KRAKEN, amount: '0.5' },
      ],
      feeds,
    });
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    expect(liveSourcesOf(loaded.config)!.feeds.map(({ amount }) => amount)).toEqual(['0.5', undefined]);
  });

  test('over drawn sources, each accepted key that is not its default changes what is read or used', () => {
    const maybe = <T>(value: T) => fc.constantFrom(value, undefined);
    const legOf = (...books: readonly (readonly [book: string, as?: string])[]) =>
      fc.record({
        of: fc.constantFrom(...books),
        from: maybe({ ccxt: 'binance' }),
        staleAfterMs: maybe(25_000),
        frozenAfterMs: maybe(26_000),
      });
    const legs = fc.oneof(
      fc.tuple(legOf(['btc_usd'], ['btc_usdt', 'btc_usd'], ['usd_btc']), legOf(['usd_mxn'], ['mxn_usd'])),
      fc.tuple(legOf(['btc_eur', 'btc_mxn'])),
    );
    const source = fc.record({
      ...{ legs, from: maybe(KRAKEN), staleAfterMs: maybe(30_000), frozenAfterMs: maybe(31_000) },
      ...{ amount: maybe('0.5'), feeBps: maybe(7), weight: maybe(3) },
    });
    const written = ({
      legs: chain,
      ...keys
    }: {
      readonly legs: readonly { readonly of: readonly (string | undefined)[] }[];
    }) => ({
      ...{ name: 'far', ...keys },
      books: chain.map(({ of: [book, as], ...own }) => ({ book, ...(as !== undefined && { as }), ...own })),
    });
    const read = (one: object): unknown => {
      const loaded = loadedWith({ sources: [JSON.parse(JSON.stringify(one))] });
      return loaded.ok ? liveSourcesOf(loaded.config) : null;
    };
    let accepted = 0;
    fc.assert(
      fc.property(source, drawn => {
        const whole = written(drawn);
        const before = read(whole);
        if (before === null) return;
        accepted++;
        const { name: _, books, ...keys } = whole;
        for (const key of Object.keys(keys).filter(each => keys[each as keyof typeof keys] !== undefined))
          expect([key, read({ ...whole, [key]: undefined })]).not.toEqual([key, before]);
        books.forEach((leg, i) => {
          for (const key of Object.keys(leg).filter(
            each => each !== 'book' && leg[each as keyof typeof leg] !== undefined,
          ))
            expect([key, read({ ...whole, books: books.with(i, { ...leg, [key]: undefined }) })]).not.toEqual([
              key,
              before,
            ]);
        });
      }),
      { numRuns: 60 },
    );
    expect(accepted).toBeGreaterThan(5);
  });
});

describe('two sources are two places', () => {
  const at = (name: string, restUrl: string, more: object = {}) => ({
    ...{ name, books: ['btc_usd', 'usd_mxn'], staleAfterMs: 20_000, ...venue('kraken', restUrl), ...more },
  });
  const loadedWith = (sources: readonly object[], sourcesMin: number, exchange: object = REMOTE) =>
    loadConfig(
      stringify({ ...SANDBOX, exchange, reference: { sources, sourcesMin, everyMs: 20_000 } }),
      'my.yaml',
      VENUES,
    );

  test('two paths of one host, or two streams, are read apart, and their names contain no path', () => {
    const hidden = 'k3y-that-must-not-be-shown';
    const loaded = loadedWith(
      [
        at('a', `https://far.example/${hidden}`),
        at('b', 'https://far.example/b'),
        at('c', 'https://other.example/c'),
        at('d', `https://far.example/${hidden}`, { books: ['btc_usdt', 'usdt_mxn'] }),
      ],
      2,
    );
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    const { feeds } = liveSourcesOf(loaded.config)!;
    expect(feeds).toHaveLength(8);
    expect(new Set(feeds.map(({ key }) => key)).size).toBe(8);
    expect(feeds.map(({ key }) => key).join()).not.toContain(hidden);
    expect(feeds[0]!.key).toMatch(/^kraken far\.example [0-9a-f]{8} btc_usd$/);
    expect(feeds[4]!.key).toBe('kraken other.example btc_usd');
    // Recordings have names that were unique before without a digest.
    expect(feeds[6]!.key).toBe('kraken far.example btc_usdt');
  });

  test('two prices of one address are two sources', () => {
    const url = 'https://desk.example/prices';
    const feeds = (...prices: readonly string[]) => prices.map((price, i) => ({ name: `n${i}`, url, price: [price] }));
    const sources = ['n0', 'n1'].map(feed => ({ name: feed, books: ['btc_mxn'], from: { feed } }));
    const errorsWithFeeds = (...prices: readonly string[]): readonly string[] => {
      const reference = { sources, sourcesMin: 2, feeds: feeds(...prices) };
      const loaded = loadConfig(stringify({ ...SANDBOX, exchange: REMOTE, reference }), 'my.yaml', VENUES);
      return loaded.ok ? [] : loaded.errors;
    };
    expect(errorsWithFeeds('/kraken', '/binance')).toEqual([]);
    expect(errorsWithFeeds('/kraken', '/kraken').join()).toMatch(
      /n1 reads the same books from the same exchanges or feeds as n0/,
    );
  });

  const ELSEWHERE = { kind: 'remote', venue: 'kraken', book: 'btc_usd', restUrl: 'https://far.example' };
  test.each<readonly [string, object, object, object]>([
    ['one address', at('a', 'https://far.example/a'), at('b', 'https://far.example/a', { amount: '0.1' }), {}],
    [
      'one place in ccxt',
      { name: 'a', books: ['btc_usd', 'usd_mxn'], from: { ccxt: 'kraken' } },
      { name: 'b', books: ['btc_usd', 'usd_mxn'], from: { ccxt: 'kraken' }, feeBps: 3 },
      {},
    ],
    ['the traded exchange', at('a', REMOTE.restUrl), at('b', 'https://x.example', { from: 'exchange' }), {}],
    [
      'the other exchange',
      at('a', 'https://far.example'),
      at('b', 'https://x.example', { from: 'elsewhere' }),
      ELSEWHERE,
    ],
  ])('two sources with equal books of %s are one, so that they cannot meet sourcesMin', (_, a, b, elsewhere) => {
    const load = (sourcesMin: number) =>
      loadConfig(
        stringify({
          ...{ ...SANDBOX, exchange: REMOTE, reference: { sources: [a, b], sourcesMin, everyMs: 20_000 } },
          ...('kind' in elsewhere && { elsewhere }),
        }),
        'my.yaml',
        VENUES,
      );
    const [one, two] = [load(1), load(2)];
    expect(one.ok ? [] : one.errors).toEqual([]);
    expect(two.ok ? [] : two.errors).toEqual([
      expect.stringMatching(
        /sources\.1\.books: b reads the same books from the same exchanges or feeds as a, so both give one price, but sourcesMin is 2; change the key books or the key from of one of the two sources, or remove one of them$/,
      ),
    ]);
  });
});
