import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';

const textOf = (name: string): string => readFileSync(new URL(`../../config/${name}.yaml`, import.meta.url), 'utf8');

/** A shipped file with one change; its errors without their places. */
function errorsOf(name: string, what: string, by: string): readonly string[] {
  const text = textOf(name);
  expect(text).toContain(what);
  const loaded = loadConfig(text.replace(what, by), 'a.yaml');
  return loaded.ok ? [] : loaded.errors.map(error => error.replace(/^a\.yaml:\d+:\d+ /, ''));
}

describe('an error of a strategy is one line that says what was expected and what was found', () => {
  test.each([
    [
      'a peg without anything to quote around',
      'peg',
      'reference:\n  books: [btc_usd, usd_mxn]\n  everyMs: 4000\n',
      '',
      'strategy.name: strategy peg needs a reference price; add reference: { books: [...] }',
    ],
    [
      'books that do not lead there',
      'peg',
      '[btc_usd, usd_mxn]',
      '[usd_mxn, btc_usd]',
      'reference.books: expected books other than btc_mxn that lead from btc to mxn, like [btc_usd, usd_mxn] for btc_mxn; found usd_mxn, btc_usd',
    ],
    [
      'a feed for a book that nobody asked for',
      'peg',
      'everyMs: 4000',
      'everyMs: 4000\n  feeds: [{ book: eth_usd, file: price }]',
      'reference.feeds.0.book: eth_usd is not in reference.books; add this book there, or remove the feed',
    ],
    [
      'a feed without a place',
      'peg',
      'everyMs: 4000',
      'everyMs: 4000\n  feeds: [{ book: btc_usd }]',
      'reference.feeds.0.url: expected either url or file',
    ],
    [
      'a feed over the wire in the clear',
      'peg',
      'everyMs: 4000',
      'everyMs: 4000\n  feeds: [{ book: btc_usd, url: http://example.com/x }]',
      'reference.feeds.0.url: expected an address like https://example.com/price, without user; http only on this machine, found http://example.com/x',
    ],
    [
      'feeds that do not lead there by themselves',
      'peg',
      'books: [btc_usd, usd_mxn]',
      'feeds: [{ book: btc_usd, file: price }]',
      'reference.feeds: expected books other than btc_mxn that lead from btc to mxn, like [btc_usd, usd_mxn] for btc_mxn; found btc_usd',
    ],
    [
      'neither books nor feeds',
      'peg',
      'books: [btc_usd, usd_mxn]',
      'feeds: []',
      'reference.books: expected books, like [btc_usd, usd_mxn], or feeds',
    ],
    [
      'more requests than there are',
      'peg',
      'everyMs: 4000',
      'everyMs: 2000',
      'reference.everyMs: expected at most 54 public requests per minute (budgets.publicPerMinute), found 84 with timing.bookPollMs 2500; increase everyMs',
    ],
    [
      'a risk in another currency',
      'glft',
      '500 mxn',
      '500 usd',
      'strategy.risk: risk.amount must be in mxn, the quote currency of btc_mxn',
    ],
    [
      'a risk without a currency',
      'glft',
      "'500 mxn'",
      "'500'",
      `strategy.risk.amount: expected a sum above zero with its currency, like "500 mxn", found '500'`,
    ],
    [
      'a time without a unit',
      'glft',
      'per: 1h',
      'per: 90',
      'strategy.risk.per: expected text in quotes, found 90, an unquoted number; write per: "90"',
    ],
    [
      'orders too small for the exact solution',
      'glft',
      "amount: '0.004'",
      "amount: '0.0001'",
      'strategy.amount: limits.positionMax "0.1" is more than 500 times this amount; raise the amount, or lower limits.positionMax',
    ],
    [
      'a grid that lies upside down',
      'grid',
      'minEdgeBps: 2',
      "minEdgeBps: 2\n  lowPrice: '3'\n  highPrice: '2'",
      `strategy.lowPrice: must be below highPrice "2", found '3'`,
    ],
  ])('%s', (_, name, what, by, line) => {
    expect(errorsOf(name, what, by)).toEqual([line]);
  });
});
