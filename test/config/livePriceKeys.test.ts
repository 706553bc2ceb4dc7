/** Tests of keys that need sources of the reference price. */
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readFileSync } from 'node:fs';
import { liveSourcesOf, loadConfig } from '../../src/config.ts';

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
  const BY_ADDRESS = /is the bot's own book, which contains its own orders$/;
  const byName = (name: string) =>
    new RegExp(
      `counts as the bot's own book, which contains its own orders: the exchange has the name of the traded one, ${name}, which can have several addresses; use another exchange or book$`,
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
  const loaded = loadConfig(stringify({ ...SANDBOX, reference: { sources, feeds, everyMs: 20_000 } }), 'my.yaml');
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
    [expect.stringMatching(/staleAfterMs.*expected at least 3750 \(ms\) from ccxt:kraken, .* found 3749/)],
    [expect.stringMatching(/staleAfterMs.*expected at least 3750 \(ms\) from kraken /)],
    [expect.stringMatching(/staleAfterMs.*expected at least 250 \(ms\) from feed/)],
  ]);
  expect([pollsOf('feed', 250), pollsOf('exchange', 500, 5_000)]).toEqual([[100], [200, 200]]);
  expect(pollsOf(far, 20_000, 5_000)).toEqual([5_000, 5_000]);
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
