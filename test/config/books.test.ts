/** The key `books`: several books of one account. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  booksOf,
  liveOrdersMax,
  loadConfig,
  otherBooksWith,
  recordedConfig,
  sharedReadsOf,
  strategyHashesIn,
  withFileIn,
  withMoreBooks,
  withoutStrategyText,
  type Config,
  type FoundStrategyFile,
} from '../../src/config.ts';
import { changedOwn, OWN_STRATEGY } from '../strategies/ownFile.ts';

const fileOf = (name: string): Record<string, unknown> =>
  parse(readFileSync(new URL(`../../config/${name}.yaml`, import.meta.url), 'utf8')) as Record<string, unknown>;
const DESK = fileOf('desk');
const SANDBOX = fileOf('sandbox');

const load = (value: object) => loadConfig(stringify(value), 'my.yaml', ['bitso', 'binance', 'kraken']);
const errorsOf = (value: object): readonly string[] => {
  const loaded = load(value);
  return loaded.ok ? [] : loaded.errors;
};
function configOf(value: object): Config {
  const loaded = load(value);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

describe('the list of books', () => {
  test('gives each book its sections over those of the file', () => {
    const books = booksOf(configOf(DESK));
    expect(books.map(({ book }) => book)).toEqual(['btc_mxn', 'eth_mxn', 'btc_usd']);
    expect(books.map(({ strategy }) => strategy.amount)).toEqual(['0.004', '0.1', '0.004']);
    expect(books.map(({ limits }) => limits.positionMax)).toEqual(['0.1', '2', '0.1']);
    expect(books.map(({ inventory }) => inventory.target)).toEqual(['1.5', '30', undefined]);
    expect(books.map(({ instance }) => instance)).toEqual(['desk', 'desk', 'desk']);
    expect(books.every(book => !('books' in book))).toBe(true);
  });

  test('of one book is the same as the key book, and the configuration of one book is as it was', () => {
    const { book, ...rest } = SANDBOX;
    const one = configOf(SANDBOX);
    expect(configOf({ books: [{ symbol: book }], ...rest })).toEqual(one);
    expect(booksOf(one)).toEqual([one]);
    expect(Object.keys(one)).not.toContain('books');
  });

  test('gives the configuration of each book that a file of this book alone gives', () => {
    const { books, ...shared } = DESK as { books: readonly { symbol: string }[] };
    booksOf(configOf(DESK)).forEach((config, i) => {
      const { symbol, ...sections } = books[i]!;
      expect(config).toEqual(configOf({ ...shared, ...sections, book: symbol }));
    });
  });

  test('with further books keeps the target of the first book with each base currency alone', () => {
    const [btc, eth, usd] = booksOf(configOf(DESK)) as [Config, Config, Config];
    const ofEth = (book: string, target: string): Config => ({ ...eth, book, inventory: { target } }) as Config;
    const more = [ofEth('eth_mxn', '30'), ofEth('eth_usd', '20'), { ...usd, inventory: { target: '1' } } as Config];
    // An exchange that is not embedded has every book.
    const first = { ...btc, exchange: { ...btc.exchange, kind: 'remote' } } as unknown as Config;
    const targets = booksOf(withMoreBooks(first, more)!).map(({ book, inventory }) => [book, inventory.target]);
    expect(targets).toEqual([
      ['btc_mxn', '1.5'],
      ['eth_mxn', '30'],
      ['eth_usd', undefined],
      ['btc_usd', undefined],
    ]);
  });

  test('is kept through JSON, as in a recording', () => {
    const config = configOf(DESK);
    expect(booksOf(JSON.parse(JSON.stringify(config)) as Config)).toEqual(
      booksOf(config).map(book => JSON.parse(JSON.stringify(book)) as Config),
    );
  });

  test('shares the reads of the books only if the public budget does not allow all of them', () => {
    const timed = (timing: object) => sharedReadsOf(booksOf(configOf({ ...DESK, timing })));
    expect(timed({ bookPollMs: 5_000, staleAfterMs: 15_000 })).toBeUndefined();
    // 54 requests, less 4 of each book for its rules and its last trade.
    expect(timed({ bookPollMs: 2_000, staleAfterMs: 15_000 })).toEqual({ perMinute: 42, staleAfterMs: 15_000 });
    expect(sharedReadsOf(booksOf(configOf(SANDBOX)))).toBeUndefined();
  });

  test('shares the reads from the first request on that the budget does not allow', () => {
    const exchange = DESK['exchange'] as object;
    const sharedWith = (publicPerMinute: number) =>
      sharedReadsOf(booksOf(configOf({ ...DESK, exchange: { ...exchange, budgets: { publicPerMinute } } })));
    // 12 reads and 4 other requests of each of three books.
    expect(sharedWith(48)).toBeUndefined();
    expect(sharedWith(47)).toMatchObject({ perMinute: 35 });
  });

  test('has account limits of the base currencies of all its books, and a value in any currency to which they lead', () => {
    const with_ = (accountLimits: object) => errorsOf({ ...DESK, accountLimits });
    expect(with_({ currencies: { btc: '0.5', eth: '5' } })).toEqual([]);
    expect(with_({ currencies: { btc: '0.5', usd: '5' } })).toEqual([
      expect.stringMatching(
        /accountLimits\.currencies\.usd: expected the base currency of a book \(btc, eth\), found usd$/,
      ),
    ]);
    expect(['mxn', 'usd', 'eth'].map(currency => with_({ value: { currency, max: '1000' } }))).toEqual([[], [], []]);
    expect(with_({ value: { currency: 'brl', max: '1000' } })).toEqual([
      expect.stringMatching(/accountLimits\.value\.currency: .* found no book between brl and /),
    ]);
  });

  test('is, for orders that are stored, that of the configuration and of the orders, without its first book', () => {
    const orders = ['sol_mxn', 'btc_mxn', 'eth_mxn', undefined, 'sol_mxn'].map(symbol =>
      symbol === undefined ? {} : { symbol },
    );
    expect(otherBooksWith(configOf(DESK), orders)).toEqual(['eth_mxn', 'btc_usd', 'sol_mxn']);
    expect(otherBooksWith(configOf(SANDBOX), orders)).toEqual(['sol_mxn', 'eth_mxn']);
  });

  const [first, second, third] = DESK['books'] as readonly Record<string, unknown>[];
  const withBooks = (...books: readonly unknown[]): object => ({ ...DESK, books });

  test.each<readonly [string, object, readonly RegExp[]]>([
    [
      'a key of the account',
      withBooks({ ...first, instance: 'x' }, second),
      [/books\.0\.instance: shared by all books/],
    ],
    ['an unknown key', withBooks({ ...first, limit: {} }, second), [/books\.0\.limit: unknown key/]],
    [
      'a wrong value',
      withBooks(first, { ...second, limits: { ...(second!['limits'] as object), ordersMax: 0 } }),
      [/books\.1\.limits\.ordersMax: .*found 0/],
    ],
    ['a wrong shared value, once', { ...DESK, timing: { bookPollMs: -1 } }, [/ timing\.bookPollMs: .*found -1/]],
    ['the same book twice', withBooks(first, { symbol: 'btc_mxn' }), [/books\.1\.symbol: .*btc_mxn twice/]],
    ['book beside books', { ...DESK, book: 'btc_mxn' }, [/ book: books is also set/]],
    [
      'two targets of one currency beside a warning',
      withBooks({ ...first, regimes: { reduceOnly: {} } }, { ...third, inventory: { target: '1' } }),
      [/books\.1\.inventory: expected no target, because btc_mxn is the first book with btc/],
    ],
    ['hedges', { ...DESK, hedge: { band: '0.02' } }, [/ hedge: cannot be used with several books/]],
    [
      'two targets of one currency',
      withBooks(first, { ...third, inventory: { target: '1' } }),
      [/books\.1\.inventory: expected no target, because btc_mxn is the first book with btc/],
    ],
    [
      'a book without a market',
      withBooks(first, { ...second, symbol: 'eth_usd' }),
      [/books\.1\.symbol: eth_usd is not simulated/, /jointInventory: expected books that lead to mxn, .* eth_usd/],
    ],
    [
      'too many polls',
      { ...DESK, timing: { bookPollMs: 2_000, staleAfterMs: 4_000 } },
      [/books: expected at most 54 public requests per minute .*found 102 for 3 books .*every 4286 ms, .* is 4000\./],
    ],
    [
      'no request left for polls',
      {
        ...DESK,
        exchange: { ...(DESK['exchange'] as object), budgets: { publicPerMinute: 12 } },
        timing: { bookPollMs: 6_000, staleAfterMs: 15_000 },
      },
      [/books: expected at most 12 public requests per minute .*no request is left for the books/],
    ],
    ['no list', { ...DESK, books: 'btc_mxn' }, [/ books: /, / book: /]],
    ['an entry without symbol', withBooks(first, { inventory: {} }), [/books\.1\.symbol: /, / book: /]],
  ])('is refused with %s, by name', (_, value, says) => {
    const errors = errorsOf(value);
    expect(errors.length, errors.join('\n')).toBe(says.length);
    for (const one of says)
      expect(
        errors.some(error => one.test(error)),
        `${one}\n${errors.join('\n')}`,
      ).toBe(true);
  });

  test('has at most 16 books', () => {
    const refused = (count: number) =>
      errorsOf(withBooks(...Array.from({ length: count }, (_, i) => ({ ...first, symbol: `b${i}_mxn` })))).filter(
        error => / books: expected at most 16 books/.test(error),
      );
    expect([refused(16), refused(17).map(error => error.slice(error.indexOf('books:')))]).toEqual([
      [],
      ['books: expected at most 16 books, found 17'],
    ]);
  });
});

test('the maximum of live orders is that of all books, and of what is stored in books that were removed', () => {
  const loaded = loadConfig(readFileSync('config/desk.yaml', 'utf8'), 'my.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const all = booksOf(loaded.config).reduce((sum, { limits }) => sum + limits.ordersMax, 0);
  expect(liveOrdersMax(loaded.config, [])).toBe(all);
  // Stored without a symbol: an order of the first book.
  expect(liveOrdersMax(loaded.config, [{}, { symbol: 'btc_mxn' }, { symbol: 'eth_mxn' }])).toBe(all);
  expect(liveOrdersMax(loaded.config, [{ symbol: 'sol_mxn' }, { symbol: 'sol_mxn' }, { symbol: 'btc_usd' }])).toBe(
    all + 2,
  );
  const { books, ...one } = loaded.config;
  expect([books?.length, liveOrdersMax(one, [{ symbol: 'eth_mxn' }])]).toEqual([3, one.limits.ordersMax + 1]);
});

describe('strategy files of several books', () => {
  const [first, second, third] = DESK['books'] as readonly Record<string, unknown>[];
  const own = (file: string, keys: object = {}) => ({ file, halfSpreadBps: 16, amount: '0.1', ...keys });
  const deskOf = (shared: object, ...books: readonly object[]) => stringify({ ...DESK, strategy: shared, books });

  /** Loads a desk; `texts` has the files. Counts what is read and asked. */
  function loadedWith(text: string, texts: Readonly<Record<string, string>>, isRun = true) {
    const [reads, asked]: [string[], FoundStrategyFile[]] = [[], []];
    const files = {
      isRun,
      read: (file: string): string => {
        reads.push(file);
        const found = texts[file];
        if (found === undefined) throw new Error('no such file');
        return found;
      },
      assertMayRun: (found: FoundStrategyFile) => void asked.push(found),
    };
    return { loaded: loadConfig(text, 'my.yaml', ['bitso'], files), reads, asked };
  }

  test('are read once, asked about once, and each book has its own section or that of the file', () => {
    const { strategy: _, ...other } = second!;
    const text = deskOf(own('./a.ts'), first!, { ...third, strategy: own('./b.ts', { takerBps: 9 }) }, other);
    const b = changedOwn("name: 'takers'", "name: 'b'");
    const { loaded, reads, asked } = loadedWith(text, { './a.ts': OWN_STRATEGY, './b.ts': b });
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    const sections = booksOf(loaded.config).map(({ strategy }) => strategy);
    expect(sections).toMatchObject([
      { file: './a.ts', code: OWN_STRATEGY, takerBps: 2 },
      { file: './b.ts', code: b, takerBps: 9 },
      { file: './a.ts', code: OWN_STRATEGY, takerBps: 2 },
    ]);
    expect(reads).toEqual(['./a.ts', './b.ts']);
    expect(asked.map(({ file }) => file)).toEqual(['./a.ts', './b.ts']);
    expect(strategyHashesIn(loaded.config)).toEqual(asked.map(({ sha256 }) => sha256));
    // A recording keeps the sections, and a replay gets no code.
    const recorded = recordedConfig(JSON.stringify(loaded.config));
    expect(JSON.stringify(recorded)).not.toContain('defineStrategy');
    expect(booksOf(recorded).map(({ strategy }) => strategy.name)).toEqual(sections.map(({ name }) => name));
    expect(JSON.stringify(withoutStrategyText(loaded.config as never))).not.toMatch(/defineStrategy|sha256/);
  });

  test('that are not run are named by their text, and a file that cannot be read is no error', () => {
    const text = deskOf(own('./a.ts', { unknown: 1 }), first!, { ...second, strategy: own('./lost.ts') });
    const { loaded, asked } = loadedWith(text, { './a.ts': OWN_STRATEGY }, false);
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    expect(asked).toEqual([]);
    const names = withFileIn(loaded.config).map(({ book, strategy }) => [book, strategy.name]);
    expect(names).toEqual([
      ['btc_mxn', expect.stringMatching(/^a\.ts@[0-9a-f]{12}$/)],
      ['eth_mxn', 'lost.ts@unread'],
    ]);
  });

  test('that are wrong are reported at the key of their book, and once for a shared section', () => {
    const errorsWith = (text: string, texts: Readonly<Record<string, string>>): readonly string[] => {
      const { loaded } = loadedWith(text, texts);
      return loaded.ok ? [] : loaded.errors;
    };
    const { strategy: _, ...other } = second!;
    const broken = { './a.ts': 'export default 1;' };
    expect(errorsWith(deskOf(own('./a.ts'), first!, other), broken)).toEqual([
      expect.stringMatching(/^my\.yaml:\d+:\d+ strategy\.file: \.\/a\.ts: expected a strategy as the default export/),
    ]);
    const ofEntry = deskOf(own('./a.ts'), first!, { ...second, strategy: own('./a.ts', { takerBps: 99 }) });
    expect(errorsWith(ofEntry, { './a.ts': OWN_STRATEGY })).toEqual([
      expect.stringMatching(/^my\.yaml:\d+:\d+ books\.1\.strategy\.takerBps: /),
    ]);
    expect(errorsWith(deskOf(own('./a.ts'), first!, other), {})).toEqual([
      expect.stringMatching(/strategy\.file: \.\/a\.ts: no such file/),
    ]);
  });
});
