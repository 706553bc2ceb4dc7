/** Key `books`: several books of one account in one process. The sections of a book replace those of the file. */
import { booksApartFrom, counted, groupsInCycles, pairOf, pairOrNull } from '../core/index.ts';
import type { Problem } from './problems.ts';
import { liveBooksOf } from './sections/exchange.ts';
import { externalReferenceOf, readsPerMinute } from './sections/reference.ts';
import { BOOKS_MAX, configSchema, PER_BOOK, type Config } from './schema.ts';
import { keysOf } from './shape.ts';

type Value = Readonly<Record<string, unknown>>;

/** Value of the file for one book. `entry` is the index in `books`. */
type BookValue = { readonly entry: number; readonly value: Value };

const isValue = (value: unknown): value is Value =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const symbolIn = (entry: unknown): unknown => (isValue(entry) ? entry['symbol'] : undefined);

/**
 * Returns the value of each book of a file with `books`: the sections of the file, replaced by those of the entry.
 * `null` if `books` is missing, empty or not a list, or if an entry is not a section with a symbol; the schema reports
 * an invalid list.
 */
export function bookValues(value: unknown): readonly BookValue[] | null {
  if (!isValue(value) || !Array.isArray(value['books']) || value['books'].length === 0) return null;
  const { books: entries, book: _, ...shared } = value;
  if (!(entries as readonly unknown[]).every(entry => typeof symbolIn(entry) === 'string')) return null;
  return (entries as readonly Value[]).map(({ symbol, ...sections }, entry) => ({
    entry,
    value: { ...shared, ...sections, book: symbol },
  }));
}

/** Converts a path in the value of one book to its path in the file. */
export function pathOfBook(path: readonly PropertyKey[], value: unknown, entry: number): readonly PropertyKey[] {
  const given = (value as { readonly books: readonly Value[] }).books[entry]!;
  const [first] = path;
  if (first === 'book') return ['books', entry, 'symbol'];
  return first !== undefined && Object.hasOwn(given, first) ? ['books', entry, ...path] : path;
}

/** Keys of a configuration that an entry of `books` must not have. */
const SHARED: ReadonlySet<string> = new Set(
  keysOf(configSchema).filter(key => !(PER_BOOK as readonly string[]).includes(key)),
);

/** Sections that support only one book. */
export const ONE_BOOK_ONLY = ['hedge', 'elsewhere', 'rfqReference'] as const;

/**
 * Returns the problems of the list itself: too many or repeated books, keys that an entry must not have, and keys of
 * the file that exclude several books.
 */
export function listProblems(value: unknown): readonly Problem[] {
  const { book, books: entries = [] } = value as { readonly book?: unknown; readonly books?: readonly Value[] };
  const problems: Problem[] = [];
  const symbols = entries.map(symbolIn);
  if (book !== undefined)
    problems.push({ path: ['book'], message: 'books is also set; remove book, or remove books', aboutKey: true });
  if (entries.length > BOOKS_MAX)
    problems.push({ path: ['books'], message: `expected at most ${BOOKS_MAX} books, found ${entries.length}` });
  entries.forEach((entry, i) => {
    if (symbols.indexOf(symbols[i]) !== i)
      problems.push({
        path: ['books', i, 'symbol'],
        message: `expected each book once, found ${String(symbols[i])} twice`,
      });
    for (const key of Object.keys(entry)) {
      // The schema of one book reports a key that it does not have.
      if (!SHARED.has(key)) continue;
      const message = `shared by all books; move it out of books. A book can have ${PER_BOOK.join(', ')}`;
      problems.push({ path: ['books', i, key], message, aboutKey: true });
    }
  });
  if (entries.length > 1)
    for (const key of ONE_BOOK_ONLY)
      if ((value as Value)[key] !== undefined)
        problems.push({
          path: [key],
          message: 'cannot be used with several books; remove it, or run one process per book',
          aboutKey: true,
        });
  return problems;
}

/**
 * Whether a problem that was found in the configuration of one book also applies to several books. Joint inventory and
 * cross rates have no effect with one book.
 */
export const appliesToSeveral = ({ path, isWarning }: Problem): boolean =>
  !(isWarning === true && (path[0] === 'jointInventory' || path[0] === 'crossRates'));

/** Returns the problems between the books of an account, each with its path in the file. */
export function accountProblems(configs: readonly Config[]): readonly Problem[] {
  const problems: Problem[] = [];
  const [first] = configs;
  if (first === undefined) return problems;
  configs.forEach(({ book, inventory }, i) => {
    const major = pairOrNull(book)?.[0];
    const home = configs.find(config => pairOrNull(config.book)?.[0] === major)!;
    if (home.book !== book && inventory.target !== undefined)
      problems.push({
        path: ['books', i, 'inventory'],
        message: `expected no target, because ${home.book} is the first book with ${major}; set the target there`,
      });
  });
  problems.push(...jointInventoryProblems(configs), ...crossRateProblems(configs), ...accountLimitProblems(configs));
  const { budgets, kind } = first.exchange;
  const live = liveBooksOf(first.exchange, first.book);
  if (kind === 'embedded')
    configs.forEach(({ book }, i) => {
      if (!live.has(book))
        problems.push({
          path: ['books', i, 'symbol'],
          message: `${book} is not simulated; add it to exchange.market.books`,
        });
    });
  const { bookPollMs, staleAfterMs } = first.timing;
  const shared = sharedReadsOf(configs);
  const everyMs = shared === undefined ? 0 : (configs.length * 60_000) / shared.perMinute;
  if (!(everyMs < staleAfterMs)) {
    const most = `at most ${counted(budgets.publicPerMinute, 'public request')} per minute (budgets.publicPerMinute)`;
    const found = `${Math.ceil(publicPerMinute(configs))} for ${counted(configs.length, 'book')} with timing.bookPollMs ${bookPollMs}`;
    const shares =
      everyMs === Infinity
        ? 'no request is left for the books'
        : `in turn, each book is read every ${Math.ceil(everyMs)} ms, and timing.staleAfterMs is ${staleAfterMs}`;
    problems.push({
      path: ['books'],
      message: `expected ${most}, found ${found}; ${shares}. Increase timing.staleAfterMs, or quote fewer books`,
    });
  }
  return problems;
}

/** Returns the currency in which the joint inventory of several books is valued. */
export const jointCurrencyOf = ({ book, jointInventory }: Pick<Config, 'book' | 'jointInventory'>): string =>
  jointInventory?.currency ?? pairOf(book)[1];

/** Returns a problem if the joint inventory cannot value a book. */
function jointInventoryProblems(configs: readonly Config[]): readonly Problem[] {
  const [first] = configs;
  const symbols = configs.map(({ book }) => book);
  if (first?.jointInventory === undefined || configs.length < 2 || symbols.some(book => pairOrNull(book) === null))
    return [];
  const currency = jointCurrencyOf(first);
  const apart = booksApartFrom(currency, symbols);
  if (apart.length === 0) return [];
  const message = `expected books that lead to ${currency}, in which the account is valued; found no book between ${currency} and ${apart.join(', ')}. Add such a book, or choose jointInventory.currency`;
  return [{ path: ['jointInventory'], message, aboutKey: true }];
}

/** Returns a problem if the prices of several books are to be compared, but no books form a cycle. */
function crossRateProblems(configs: readonly Config[]): readonly Problem[] {
  const pairs = configs.flatMap(({ book }) => {
    const pair = pairOrNull(book);
    return pair === null ? [] : [{ base: pair[0], quote: pair[1] }];
  });
  const isCompared = configs.length > 1 && configs[0]?.crossRates !== undefined;
  if (!isCompared || pairs.length < configs.length || groupsInCycles(pairs).length > 0) return [];
  const message = `expected books that form a cycle, like btc_mxn, btc_usd and usd_mxn; found ${configs.map(({ book }) => book).join(', ')}. Add a book, or remove this section`;
  return [{ path: ['crossRates'], message, aboutKey: true }];
}

/** Returns a problem if the limit on the value of all books cannot value a book. */
function valueLimitProblems(configs: readonly Config[]): readonly Problem[] {
  const value = configs[0]?.accountLimits?.value;
  const symbols = configs.map(({ book }) => book);
  if (value === undefined || symbols.some(book => pairOrNull(book) === null)) return [];
  const apart = booksApartFrom(value.currency, symbols);
  if (apart.length === 0) return [];
  const message = `expected a currency to which the books lead; found no book between ${value.currency} and ${apart.join(', ')}. Add such a book, or choose another currency`;
  return [{ path: ['accountLimits', 'value', 'currency'], message }];
}

/**
 * Returns the problems of limits for currencies that are the base of no book, because they have no target, and of the
 * limit on the value of all books.
 */
export function accountLimitProblems(configs: readonly Config[]): readonly Problem[] {
  const currencies = [...new Set(configs.flatMap(({ book }) => pairOrNull(book)?.[0] ?? []))];
  const unheld = Object.keys(configs[0]?.accountLimits?.currencies ?? {})
    .filter(currency => !currencies.includes(currency))
    .map(currency => ({
      path: ['accountLimits', 'currencies', currency],
      message: `expected the base currency of a book (${currencies.join(', ')}), found ${currency}`,
      aboutKey: true,
    }));
  return [...unheld, ...valueLimitProblems(configs)];
}

/** Reads of the last trade and of the rules of one book, per minute. */
const OTHER_READS_PER_MINUTE = 4;

/** Returns how many public requests all books need per minute without a stream. */
export const publicPerMinute = (configs: readonly Config[]): number =>
  configs.reduce(
    (sum, config) =>
      sum + 60_000 / config.timing.bookPollMs + OTHER_READS_PER_MINUTE + readsPerMinute(externalReferenceOf(config)),
    0,
  );

/**
 * Returns the book reads that several books share, because the public budget does not allow to read each of them every
 * `timing.bookPollMs` without a stream; `undefined` if it does.
 */
export function sharedReadsOf(
  configs: readonly Config[],
): { readonly perMinute: number; readonly staleAfterMs: number } | undefined {
  const [first] = configs;
  if (first === undefined || configs.length < 2) return undefined;
  const { timing, exchange } = first;
  const { publicPerMinute: most } = exchange.budgets;
  const all = publicPerMinute(configs);
  if (all <= most) return undefined;
  const others = all - (configs.length * 60_000) / timing.bookPollMs;
  return { perMinute: Math.max(0, Math.floor(most - others)), staleAfterMs: timing.staleAfterMs };
}

/** Returns the configuration of an account: that of the first book, with the sections of each book in `books`. */
export function configOfBooks(configs: readonly Config[]): Config {
  const [first, ...others] = configs;
  if (others.length === 0) return first!;
  const books = configs.map(config => ({
    symbol: config.book,
    ...Object.fromEntries(PER_BOOK.flatMap(key => (config[key] === undefined ? [] : [[key, config[key]] as const]))),
  }));
  return { ...first!, books };
}

/**
 * Returns a configuration with further books after its own. A book keeps its target only if it is the first with its
 * base currency. `null` if these books cannot be used together.
 */
export function withMoreBooks(config: Config, more: readonly Config[]): Config | null {
  const configs = [...booksOf(config)];
  for (const one of more) {
    const isHome = configs.every(({ book }) => pairOf(book)[0] !== pairOf(one.book)[0]);
    configs.push(isHome ? one : { ...one, inventory: {} });
  }
  const { book: _, ...all } = configOfBooks(configs);
  if (listProblems(all).length > 0) return null;
  const together = { ...all, book: config.book };
  return accountProblems(booksOf(together)).length > 0 ? null : together;
}

/** Returns the symbols of all books, in order. */
export const symbolsOf = ({ book, books }: Pick<Config, 'book' | 'books'>): readonly string[] =>
  books?.map(({ symbol }) => symbol) ?? [book];

/** Returns the symbols of the books after the first. */
export const otherBooksOf = (config: Pick<Config, 'book' | 'books'>): readonly string[] => symbolsOf(config).slice(1);

/**
 * Returns the symbols of the books in which a bot can have orders, without the first book of the configuration.
 * `orders`: stored orders of earlier runs, which may have had other books.
 */
export function otherBooksWith(
  config: Pick<Config, 'book' | 'books'>,
  orders: readonly { readonly symbol?: string }[],
): readonly string[] {
  const stored = orders.flatMap(({ symbol }) => symbol ?? []);
  return [...new Set([...otherBooksOf(config), ...stored])].filter(symbol => symbol !== config.book);
}

/**
 * Returns the maximum number of live orders of a bot: those of its books, and the stored orders in books that the
 * configuration no longer has.
 */
export function liveOrdersMax(config: Config, stored: readonly { readonly symbol?: string }[]): number {
  const symbols = symbolsOf(config);
  const removed = stored.filter(({ symbol }) => symbol !== undefined && !symbols.includes(symbol));
  return booksOf(config).reduce((sum, { limits }) => sum + limits.ordersMax, removed.length);
}

/** Returns the symbols of all books, as text. */
export const booksText = (config: Pick<Config, 'book' | 'books'>): string => symbolsOf(config).join(', ');

/** Returns the configuration of each book, in order. */
export function booksOf(config: Config): readonly Config[] {
  if (config.books === undefined) return [config];
  const { books, ...first } = config;
  const shared = Object.fromEntries(
    Object.entries(first).filter(([key]) => !(PER_BOOK as readonly string[]).includes(key)),
  );
  return books.map(({ symbol, ...sections }) => ({ ...shared, ...sections, book: symbol }) as Config);
}
