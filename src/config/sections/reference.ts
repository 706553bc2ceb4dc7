/**
 * Keys of the reference price: the books from which it is computed, feeds that replace some of the books, and live
 * sources.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { BOOK_NAME, legsOf, type Leg, type LivePriceRules, type SourceRule } from '../../core/index.ts';
import { aboveZero } from '../../../strategies/index.ts';
import type { ElsewhereSettings } from './exchange.ts';
import { address, baseAddress, httpAddress, isOnThisMachine, millis } from './values.ts';

const bookName = z.string().regex(BOOK_NAME, 'expected <base>_<quote>, like btc_usd');

const sourceName = z.string().regex(/^[A-Za-z0-9-]{1,24}$/, 'expected 1 to 24 letters, digits and dashes, like kraken');

const pointer = z
  .string()
  .regex(/^(\/([^/~]|~[01])*)+$/, 'expected a JSON pointer, like /data/last or /bids/0/0')
  .max(200);

const feed = z
  .strictObject({
    name: sourceName
      .optional()
      .describe('Name of this feed in from: { feed: NAME }. If omitted, the feed is found by its book.'),
    book: bookName.optional().describe('Book of this price. If omitted, the quoted book.'),
    url: z
      .string()
      .refine(
        isFeedAddress,
        'expected an address like https://example.com/price, without user; http only on this machine',
      )
      .optional()
      .describe('Address of the price, read by GET without redirects. Set either url or file.'),
    file: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe(
        'Price file, relative to the configuration. To change the price, write a new file and rename it to this name.',
      ),
    price: z
      .array(pointer)
      .max(2)
      .default([])
      .describe(
        'JSON pointer to the price, or two pointers to bid and ask. If omitted, the whole response or file is the price.',
      ),
    time: pointer
      .optional()
      .describe('JSON pointer to the price time (ISO 8601 or Unix time). If omitted, the request or file time.'),
    timeoutMs: millis(50, 30_000).default(2_000).describe('Request timeout.'),
  })
  .superRefine((f, context) => {
    if ((f.url === undefined) === (f.file === undefined))
      context.addIssue({ code: 'custom', path: ['url'], message: 'expected either url or file' });
    if (f.time !== undefined && f.price.length === 0)
      context.addIssue({
        code: 'custom',
        path: ['price'],
        message: 'expected a JSON pointer to the price, because time is a JSON pointer',
      });
  });

export type FeedConfig = z.infer<typeof feed>;

const from = z.union([
  z.literal('exchange').describe('Public market data of the traded exchange.'),
  z.literal('feed').describe('Entry of reference.feeds with this book.'),
  z.literal('elsewhere').describe('Public market data of the other exchange (section elsewhere).'),
  z.strictObject({ feed: sourceName.describe('Name of an entry of reference.feeds.') }),
  z.strictObject({
    venue: z.string().min(1).max(40).describe('Exchange name, as in exchange.venue.'),
    restUrl: baseAddress.describe('REST address.'),
    streamUrl: address(/^wss?:$/, 'wss://ws.example.com')
      .optional()
      .describe('Stream address. If omitted, books are polled.'),
  }),
  z.strictObject({
    ccxt: z
      .string()
      .regex(/^[a-z0-9]{2,32}$/, 'expected the ccxt id of an exchange, like kraken')
      .describe('ccxt id of the exchange; you must install ccxt yourself.'),
    url: httpAddress.optional().describe("Address to use instead of the exchange's own."),
  }),
]);

const placeDescription =
  'Origin of the prices: exchange, elsewhere, feed (entry of feeds with this book), { feed: NAME }, { venue, restUrl, streamUrl } or { ccxt: ID }.';
const staleAfterMs = millis(100, 600_000);
const frozenAfterMs = millis(1_000, 86_400_000);

const leg = z.strictObject({
  book: bookName.describe('Book to read.'),
  as: bookName.optional().describe('Book that this book replaces in the chain, like btc_usd for btc_usdt.'),
  from: from.optional().describe("Overrides the source's from for this book."),
  staleAfterMs: staleAfterMs.optional().describe("Overrides the source's staleAfterMs for this book."),
  frozenAfterMs: frozenAfterMs.optional().describe("Overrides the source's frozenAfterMs for this book."),
});

/** Defaults of the keys of a source that each of its books can override. */
export const SOURCE_DEFAULTS = { from: 'exchange', staleAfterMs: 10_000, frozenAfterMs: undefined } as const;

const source = z.strictObject({
  name: sourceName.describe('Name of this source in log, metrics and console.'),
  books: z
    .array(z.union([bookName, leg]))
    .min(1)
    .max(3)
    .describe('Book, or chain from base to quote currency, like [btc_usd, usd_mxn].'),
  from: from.default(SOURCE_DEFAULTS.from).describe(placeDescription),
  weight: z.number().gt(0).max(1_000).default(1).describe('Weight, if combine is weights.'),
  staleAfterMs: staleAfterMs.default(SOURCE_DEFAULTS.staleAfterMs).describe('Maximum age of a price.'),
  frozenAfterMs: frozenAfterMs.optional().describe('Maximum time with unchanged best prices and amounts.'),
  amount: aboveZero
    .optional()
    .describe(
      "Amount (base) for which the first book's average price is used. If omitted, best prices, as for other books.",
    ),
  feeBps: z.number().min(0).max(1_000).default(10).describe('Taker fee at the source (bps).'),
});

export type SourceConfig = z.infer<typeof source>;
export type SourceFrom = z.infer<typeof from>;

const basis = z
  .strictObject({
    sdBps: z.number().gt(0).max(1_000).default(2).describe('Standard deviation of the short-lived mispricing (bps).'),
    revertMs: millis(1_000, 3_600_000).default(60_000).describe('Time in which a mispricing falls to 1/e.'),
    driftBps: z
      .number()
      .gt(0)
      .max(1_000)
      .default(2)
      .describe('Standard deviation of the hourly change of the basis (bps).'),
    errorMaxBps: z.number().gt(0).max(1_000).default(3).describe('Maximum standard error of a usable basis (bps).'),
    bandBps: z
      .number()
      .gt(0)
      .max(5_000)
      .optional()
      .describe(
        'Cap on the distance of each measured basis from the estimate. If omitted, fees plus half spreads of both books.',
      ),
    unknown: z
      .enum(['leave out', 'zero'])
      .default('leave out')
      .describe('Treatment of a source without a known basis.'),
  })
  .describe('Running estimate of the basis between the book and each source. If omitted, 0.');

export const reference = z
  .strictObject({
    books: z
      .array(bookName)
      .min(1)
      .max(3)
      .optional()
      .describe('Books from base to quote currency, like [btc_usd, usd_mxn]. If omitted, the books of the feeds.'),
    everyMs: millis(100, 600_000).default(5_000).describe('Interval of price reads, one public request per book.'),
    sources: z
      .array(source)
      .min(1)
      .max(8)
      .optional()
      .describe('Live prices that are compared and combined, instead of books.'),
    combine: z.enum(['median', 'weights']).default('median').describe('Combination of the usable sources.'),
    sourcesMin: z
      .int()
      .min(1)
      .max(8)
      .default(1)
      .describe('Minimum number of used sources. With fewer, all quotes are canceled.'),
    divergenceMaxBps: z
      .number()
      .gt(0)
      .max(5_000)
      .default(50)
      .describe('Maximum distance of a used source from the median; of two sources, from each other (bps).'),
    moveBps: z.number().min(0).max(1_000).default(1).describe('Price move that causes an immediate decision (bps).'),
    basis: basis.optional(),
    feeds: z.array(feed).max(10).default([]).describe('Prices from files and web addresses.'),
  })
  .describe('Reference price from other books or feeds.');

/** Books and feeds from which the reference price is computed. */
export type ExternalReference = {
  /** Chain of books from which the price is computed; with live sources, the chain of the first source. */
  readonly legs: readonly Leg[];
  /** First chain that consists only of books of the traded exchange; empty if there is none. */
  readonly here: readonly Leg[];
  /** Books that are read from the exchange, not from feeds. */
  readonly read: readonly string[];
  readonly feeds: ReadonlyMap<string, FeedConfig>;
  readonly everyMs: number;
};

/**
 * Returns the composition of the reference price; `null` if unconfigured, or if the books do not form a chain for the
 * traded book. A feed without a book gives the price of the traded book; of two feeds for one book, the last applies.
 * `crossFieldChecks` reports errors.
 */
export function externalReferenceOf({
  reference: wanted,
  book,
}: {
  readonly reference?: z.infer<typeof reference> | undefined;
  readonly book: string;
}): ExternalReference | null {
  if (wanted === undefined) return null;
  if (wanted.sources !== undefined) {
    const live = liveSourcesOf({ reference: wanted, book });
    const own = live?.feeds.filter(({ from }) => from === 'exchange') ?? [];
    const read = [...new Set(own.map(one => one.book))];
    const everyMs = Math.min(wanted.everyMs, ...own.map(({ pollMs }) => pollMs));
    const legs = live?.chains[0] ?? [];
    const here = live?.chains.find(chain => chain.every(({ from }) => from === 'exchange')) ?? [];
    return live && { legs, here, read, feeds: new Map(), everyMs };
  }
  const feeds = new Map(wanted.feeds.map(one => [one.book ?? book, one]));
  const books = wanted.books ?? [...feeds.keys()];
  const legs = legsOf(book, books);
  const read = books.filter(name => !feeds.has(name));
  return legs && { legs, here: feeds.size === 0 ? legs : [], read, feeds, everyMs: wanted.everyMs };
}

/**
 * Returns the number of public requests per minute for the reference price, possibly a fraction. Books with feeds need
 * no requests.
 */
export const readsPerMinute = (elsewhere: ExternalReference | null): number =>
  elsewhere === null ? 0 : (60_000 * elsewhere.read.length) / elsewhere.everyMs;

/**
 * Book that is read for the reference price, from an exchange or a feed. Sources that use the same book share one read.
 */
export type LiveFeed = {
  /** Name in events, log and errors: exchange or feed, and book. */
  readonly key: string;
  readonly book: string;
  readonly from: SourceFrom;
  /** Amount (base) for which the average price is read from the book; absent for the best prices. */
  readonly amount?: string;
  /** Maximum time between two events that confirm an unchanged book. */
  readonly confirmEveryMs: number;
  /** Without a stream: time between two polls. With a stream: maximum time without a frame before a poll. */
  readonly pollMs: number;
};

type Wanted = {
  readonly reference?: z.infer<typeof reference> | undefined;
  readonly book: string;
  readonly elsewhere?: ElsewhereSettings | undefined;
};

export type LiveSources = {
  readonly rules: LivePriceRules;
  readonly feeds: readonly LiveFeed[];
  /** Books of each source, with the exchange or feed of each book. */
  readonly chains: readonly (readonly (Leg & { readonly from: SourceFrom })[])[];
};

/** Returns the books of a source, with defaults of the source filled in. */
export const sourceLegs = ({ books, from: place, staleAfterMs: stale, frozenAfterMs: frozen }: SourceConfig) =>
  books.map(one => {
    const given = typeof one === 'string' ? { book: one } : one;
    const { book, as = book, from: own = place, staleAfterMs = stale, frozenAfterMs = frozen } = given;
    return { book, as, from: own, staleAfterMs, frozenAfterMs };
  });

/**
 * Returns the rules of the sources and the books to read; `null` without sources, or if the books of a source form no
 * chain for the traded book. `crossFieldChecks` reports errors.
 */
export function liveSourcesOf({ reference: wanted, book, elsewhere }: Wanted): LiveSources | null {
  if (wanted?.sources === undefined) return null;
  const { everyMs } = wanted;
  const textOf = placeTextsIn(wanted.sources.flatMap(sourceLegs));
  const feeds = new Map<string, LiveFeed>();
  const rules: SourceRule[] = [];
  const chains: LiveSources['chains'][number][] = [];
  for (const given of wanted.sources) {
    const { name, weight, feeBps, amount } = given;
    const books = sourceLegs(given);
    const chain = legsOf(
      book,
      books.map(({ as }) => as),
    );
    if (chain === null) return null;
    chains.push(books.map(({ book: there, from }, i) => ({ book: there, from, divides: chain[i]!.divides })));
    const legs = books.map(({ book: there, from: place, staleAfterMs, frozenAfterMs }, i) => {
      const averaged = i === 0 && !chain[i]!.divides ? amount : undefined;
      const key = `${textOf(place, there)} ${there}${averaged === undefined ? '' : ` for ${averaged}`}`;
      const confirmEveryMs = Math.min(
        CONFIRM_EVERY_MAX_MS,
        staleAfterMs / 4,
        feeds.get(key)?.confirmEveryMs ?? Infinity,
      );
      const priced = averaged === undefined ? {} : { amount: averaged };
      const wantedPollMs = Math.min(everyMs, staleAfterMs / POLLS_PER_AGE, feeds.get(key)?.pollMs ?? Infinity);
      const pollMs = Math.max(pollMsMin(place), wantedPollMs);
      feeds.set(key, { key, book: there, from: place, ...priced, confirmEveryMs, pollMs });
      return { feed: key, divides: chain[i]!.divides, staleAfterMs, frozenAfterMs: frozenAfterMs ?? null };
    });
    rules.push({
      name,
      basisKey: `${name} ${booksDigest(books, wanted.feeds, book, elsewhere)}`,
      legs,
      weight,
      feeBps,
    });
  }
  const { combine, divergenceMaxBps, sourcesMin, moveBps, basis: given } = wanted;
  return {
    rules: {
      ...{ sources: rules, combine, divergenceMaxBps, sourcesMin, moveBps },
      basis: given === undefined ? null : { ...given, bandBps: given.bandBps ?? null },
    },
    feeds: [...feeds.values()],
    chains,
  };
}

/**
 * Returns the index of the feed that gives the prices of a source's book: the feed named `from.feed`, or for `'feed'`,
 * the unnamed feed of this book. Returns -1 if there is none. `own` is the traded book.
 */
export const feedIndexOf = (
  feeds: readonly FeedConfig[],
  own: string,
  book: string,
  from: 'feed' | { readonly feed: string },
): number =>
  feeds.findIndex(feed =>
    from === 'feed' ? feed.name === undefined && (feed.book ?? own) === book : feed.name === from.feed,
  );

/**
 * Returns a digest of what a source reads: its books, the exchange or feed of each book, and the addresses of the
 * feeds. A digest, because an address may contain a secret.
 */
function booksDigest(
  legs: ReturnType<typeof sourceLegs>,
  feeds: readonly FeedConfig[],
  own: string,
  elsewhere: Wanted['elsewhere'],
): string {
  const read = legs.map(({ book, as, from: place }) => {
    if (place === 'elsewhere' && elsewhere?.kind === 'remote') return [book, as, elsewhere.venue, elsewhere.restUrl];
    if (place !== 'feed' && !(typeof place === 'object' && 'feed' in place)) return [book, as, place];
    const { url, file, price } = feeds[feedIndexOf(feeds, own, book, place)] ?? {};
    return [book, as, url, file, price];
  });
  return shortDigest(read);
}

/** Maximum time between two events that confirm an unchanged book. */
const CONFIRM_EVERY_MAX_MS = 1_000;

/** Minimum time between two polls of a book of another exchange: its limit on requests may be 60 per minute. */
const OTHER_POLL_MS_MIN = 1_500;
const POLL_MS_MIN = 100;

/** Minimum number of polls within the maximum age of a price, so that one failed poll does not make the price stale. */
const POLLS_PER_AGE = 2.5;

const pollMsMin = (place: SourceFrom): number =>
  place === 'elsewhere' || (typeof place === 'object' && !('feed' in place)) ? OTHER_POLL_MS_MIN : POLL_MS_MIN;

/** Returns the minimum of `staleAfterMs`: a price that is polled as often as allowed must not become stale. */
export const staleAfterMsMin = (place: SourceFrom): number => POLLS_PER_AGE * pollMsMin(place);

/** Describes the exchange or feed of a book (its place) without secrets. */
export function placeText(place: SourceFrom): string {
  if (typeof place === 'string') return place;
  if ('feed' in place) return `feed ${place.feed}`;
  if ('ccxt' in place) return `ccxt:${place.ccxt}${place.url === undefined ? '' : ` ${new URL(place.url).host}`}`;
  return `${place.venue} ${new URL(place.restUrl).host}`;
}

/**
 * Returns a function that describes the exchange or feed from which a book is read (its place), without secrets. If two
 * places of one book differ only in what `placeText` omits, such as the path, a digest distinguishes them.
 */
function placeTextsIn(books: ReturnType<typeof sourceLegs>): (place: SourceFrom, book: string) => string {
  const keyOf = (place: SourceFrom, book: string): string => `${placeText(place)} ${book}`;
  const wholes = new Map<string, Set<string>>();
  for (const { book, from: place } of books)
    wholes.set(keyOf(place, book), (wholes.get(keyOf(place, book)) ?? new Set()).add(wholePlace(place)));
  return (place, book) => {
    const text = placeText(place);
    const isShared = (wholes.get(keyOf(place, book))?.size ?? 0) > 1;
    return isShared ? `${text} ${shortDigest(wholePlace(place)).slice(0, 8)}` : text;
  };
}

/** Returns an exchange or feed with all of its settings as text. Equal texts mean the same exchange or feed. */
function wholePlace(place: SourceFrom): string {
  return JSON.stringify(typeof place === 'string' ? place : Object.entries(place).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns 16 hex digits that identify what is read, without the addresses in it, which may contain secrets. */
const shortDigest = (read: unknown): string =>
  createHash('sha256').update(JSON.stringify(read)).digest('hex').slice(0, 16);

/** Returns the ids of ccxt that the sources use, each once. */
export const ccxtIdsOf = ({ reference: of }: { readonly reference?: z.infer<typeof reference> | undefined }) => [
  ...new Set(
    (of?.sources ?? [])
      .flatMap(sourceLegs)
      .flatMap(({ from: place }) => (typeof place === 'object' && 'ccxt' in place ? [place.ccxt] : [])),
  ),
];

function isFeedAddress(text: string): boolean {
  if (text.length > 2_000 || !URL.canParse(text)) return false;
  const url = new URL(text);
  const { protocol, username, password, hash } = url;
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && isOnThisMachine(url));
  return isAllowed && `${username}${password}${hash}` === '';
}
