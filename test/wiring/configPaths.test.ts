/** Paths of a configuration are relative to the folder of its file, wherever in the file they are. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { booksOf } from '../../src/config.ts';
import { configOfText, shippedConfig } from '../../src/wiring/configFile.ts';

const fileOf = (name: string) => parse(readFileSync(shippedConfig(name), 'utf8')) as Record<string, unknown>;
const feedOf = (file: string) => ({ reference: { feeds: [{ file }] } });

/** Returns every text below a value that ends in `-here`, with the path of its key. */
const textsIn = (value: unknown, at = ''): readonly (readonly [string, string])[] =>
  typeof value === 'string'
    ? /-here(?:\.\w+)?$/.test(value)
      ? [[at, value]]
      : []
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, each]) => textsIn(each, at === '' ? key : `${at}.${key}`))
      : [];

const sections = {
  state: { dir: './state-here' },
  paper: { stateDir: './paper-here', fittedFile: '../fitted-here.json' },
  console: { operatorTokenFile: './operator-here.txt', viewerTokenFile: './viewer-here.txt' },
};
const resolved = {
  'state.dir': '/a/folder/state-here',
  'paper.stateDir': '/a/folder/paper-here',
  'paper.fittedFile': '/a/fitted-here.json',
  'console.operatorTokenFile': '/a/folder/operator-here.txt',
  'console.viewerTokenFile': '/a/folder/viewer-here.txt',
};

test('each path of the file is relative to its folder, as are the feeds of each book', () => {
  const desk = fileOf('desk');
  const [first, second, third] = desk['books'] as readonly Record<string, unknown>[];
  const books = [first, { ...second, ...feedOf('./second-here.txt') }, { ...third, ...feedOf('/an/absolute-here') }];
  const text = stringify({ ...desk, ...sections, books, ...feedOf('./shared-here.txt') });
  const config = configOfText('/a/folder/my.yaml', text);
  expect(Object.fromEntries(textsIn({ ...config, books: undefined, reference: undefined }))).toEqual(resolved);
  expect(booksOf(config).map(({ reference }) => reference!.feeds[0]!.file)).toEqual([
    ...['/a/folder/shared-here.txt', '/a/folder/second-here.txt', '/an/absolute-here'],
  ]);
});

test('the recordings of an embedded market and of each of its further books are too', () => {
  const sandbox = fileOf('sandbox');
  const exchange = sandbox['exchange'] as Record<string, unknown>;
  const market = {
    kind: 'tape',
    dir: './tape-here',
    books: { eth_mxn: { dir: '../eth-here' }, btc_usd: { dir: './usd-here' } },
  };
  const config = configOfText(
    '/a/folder/my.yaml',
    stringify({ ...sandbox, exchange: { ...exchange, market }, ...sections }),
  );
  expect(Object.fromEntries(textsIn(config))).toEqual({
    ...resolved,
    'exchange.market.dir': '/a/folder/tape-here',
    'exchange.market.books.eth_mxn.dir': '/a/eth-here',
    'exchange.market.books.btc_usd.dir': '/a/folder/usd-here',
  });
});
