/** Tests of keys that need sources of the reference price. */
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readFileSync } from 'node:fs';
import { liveSourcesOf, loadConfig } from '../../src/config.ts';

const SANDBOX = parse(readFileSync(new URL('../../config/sandbox.yaml', import.meta.url), 'utf8')) as object;
const SOURCES = [{ name: 'far', books: ['btc_usd', 'usd_mxn'], from: 'exchange', staleAfterMs: 120_000 }];

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

test('the cost of hedging at a source needs sources, and the name of one of them', () => {
  expect(errorsWith({ sources: SOURCES, everyMs: 20_000 }, { source: 'far' })).toEqual([]);
  expect(errorsWith({ sources: SOURCES, everyMs: 20_000 }, { source: 'fra' }).join()).toMatch(
    /fairValue\.reference\.leave\.source: expected the name of one of reference\.sources, far, found fra/,
  );
  expect(errorsWith({ books: ['btc_usd', 'usd_mxn'] }, {}).join()).toMatch(
    /fairValue\.reference\.leave: needs reference\.sources/,
  );
});
