import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { booksOf, jointCurrencyOf, loadConfig } from '../../src/config.ts';
import { engineOf } from '../../src/wiring/bot.ts';
import { btcMxn } from '../core/market.ts';

const DESK = parse(readFileSync(new URL('../../config/desk.yaml', import.meta.url), 'utf8')) as Record<string, unknown>;
const load = (value: object) => loadConfig(stringify(value), 'my.yaml', ['bitso', 'binance', 'kraken']);

describe('the section jointInventory', () => {
  test('is valued in the quote currency of the first book, or in the given one, and shared by all books', () => {
    const loaded = load({ ...DESK, jointInventory: {} });
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    expect(jointCurrencyOf(loaded.config)).toBe('mxn');
    expect(
      jointCurrencyOf({ ...loaded.config, jointInventory: { ...loaded.config.jointInventory!, currency: 'usd' } }),
    ).toBe('usd');
    expect(booksOf(loaded.config).map(({ jointInventory }) => jointInventory)).toEqual(
      booksOf(loaded.config).map(() => ({ sampleMs: 60_000, halfLifeMs: 21_600_000 })),
    );
    const rules = booksOf(loaded.config).map(({ book }) => {
      const [major = '', minor = ''] = book.split('_');
      return { instrument: { ...btcMxn, symbol: book, major, minor }, makerRate: 0, takerRate: 0 };
    });
    const engine = engineOf(loaded.config, rules[0]!, 1, undefined, false, rules.slice(1));
    engine.step({ kind: 'timer', at: 60_000 });
    expect(engine.books.map(book => book.amount)).toEqual([0, 0, 0]);
  });

  test('is refused if no book leads from a book to the currency', () => {
    const loaded = load({ ...DESK, jointInventory: { currency: 'eur' } });
    expect(loaded).toMatchObject({
      ok: false,
      errors: [expect.stringContaining('jointInventory: expected books that lead to eur')],
    });
  });

  test('is a warning with one book', () => {
    const { books, ...shared } = DESK as { books: readonly { symbol: string }[] };
    const { symbol, ...sections } = books[0]!;
    const loaded = load({ ...shared, ...sections, book: symbol, jointInventory: {} });
    expect(
      loaded.ok && loaded.warnings.some(line => line.includes('jointInventory: has no effect with one book')),
    ).toBe(true);
  });
});

describe('the section crossRates', () => {
  const { books } = DESK as { books: readonly object[] };
  const USD_MXN = {
    symbol: 'usd_mxn',
    strategy: { name: 'ladder', halfSpreadBps: 16, amount: '200' },
    limits: { ...(DESK['limits'] as object), positionMax: '5000' },
  };
  const TRIANGLE = { ...DESK, books: [books[0], books[2], USD_MXN], crossRates: {} };

  test('compares the books of a cycle', () => {
    const loaded = load(TRIANGLE);
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    expect(loaded.warnings.join()).not.toContain('crossRates');
    expect(booksOf(loaded.config).map(({ crossRates }) => crossRates)).toEqual(new Array(3).fill({ withinMs: 1_000 }));
  });

  test('is refused if no books form a cycle, and with a ladder that does not quote around the fair value', () => {
    expect(load({ ...DESK, crossRates: {} })).toMatchObject({
      ok: false,
      errors: [
        expect.stringContaining(
          'crossRates: expected books that form a cycle, like btc_mxn, btc_usd and usd_mxn; found btc_mxn, eth_mxn, btc_usd',
        ),
      ],
    });
    const ladder = { name: 'ladder', halfSpreadBps: 16, amount: '200', reference: 'bestBidAsk' };
    expect(load({ ...TRIANGLE, books: [books[0], books[2], { ...USD_MXN, strategy: ladder }] })).toMatchObject({
      ok: false,
      errors: [expect.stringContaining('a section fairValue or crossRates both set the price to quote around')],
    });
  });
});

describe('the value in the section accountLimits', () => {
  test('counts in a currency to which the books lead', () => {
    expect(load({ ...DESK, accountLimits: { value: { currency: 'mxn', max: '500000' } } }).ok).toBe(true);
    expect(load({ ...DESK, accountLimits: { value: { currency: 'eur', max: '5' } } })).toMatchObject({
      ok: false,
      errors: [expect.stringContaining('accountLimits.value.currency: expected a currency to which the books lead')],
    });
    expect(load({ ...DESK, accountLimits: {} })).toMatchObject({
      ok: false,
      errors: [expect.stringContaining('accountLimits: expected currencies or value')],
    });
  });
});

describe('the section accountLimits', () => {
  const { books, ...shared } = DESK as { books: readonly { symbol: string }[] };
  const { symbol, ...sections } = books[0]!;
  const one = { ...shared, ...sections, book: symbol };

  test('is taken with one book and with several', () => {
    for (const file of [DESK, one])
      expect(load({ ...file, accountLimits: { currencies: { btc: '0.3' } } }).ok).toBe(true);
  });

  test.each([
    ['several books', DESK, 'btc, eth'],
    ['one book', one, 'btc'],
  ])('is refused for a currency that is the base of no book, with %s', (_, file, known) => {
    const loaded = load({ ...file, accountLimits: { currencies: { xrp: '5' } } });
    expect(loaded).toMatchObject({
      ok: false,
      errors: [
        expect.stringContaining(
          `accountLimits.currencies.xrp: expected the base currency of a book (${known}), found xrp`,
        ),
      ],
    });
  });
});
