/** Keys of the reference price: the books from which it is computed, and feeds that replace some of the books. */
import { z } from 'zod';
import { legsOf, type Leg } from '../../core/index.ts';
import { basis, bookName, liveSourcesOf, source, sourceName } from './referenceSources.ts';
import { millis } from './values.ts';

const pointer = z
  .string()
  .regex(/^(\/([^/~]|~[01])*)+$/, 'expected a JSON pointer, like /data/last or /bids/0/0')
  .max(200);

const feed = z
  .strictObject({
    name: sourceName.optional().describe('Name for from: { feed: NAME }. If omitted, the feed is found by its book.'),
    book: bookName.optional().describe('Book of this price. If omitted, the quoted book.'),
    url: z
      .string()
      .refine(
        isFeedAddress,
        'expected an address like https://example.com/price, without user; http only on this machine',
      )
      .optional()
      .describe('Address to GET the price, without redirects. Set either url or file.'),
    file: z.string().min(1).max(4_096).optional().describe('Price file, relative to this file; update it by rename.'),
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
      .describe('Live prices, several at once, that are checked, compared and combined. Instead of books.'),
    combine: z.enum(['median', 'weights']).default('median').describe('Combination of the usable sources.'),
    sourcesMin: z.int().min(1).max(8).default(1).describe('Minimum number of usable sources; with fewer, no quotes.'),
    divergenceMaxBps: z
      .number()
      .gt(0)
      .max(5_000)
      .default(50)
      .describe('Maximum distance of a used source from the median (bps).'),
    moveBps: z.number().min(0).max(1_000).default(1).describe('Move of the price that is acted on at once (bps).'),
    basis: basis.optional(),
    feeds: z.array(feed).max(10).default([]).describe('Prices from files and web addresses.'),
  })
  .describe('Reference price from other books or feeds.');

/** Books and feeds from which the reference price is computed. */
export type ExternalReference = {
  readonly legs: readonly Leg[];
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
    return live && { legs: live.legs, read, feeds: new Map(), everyMs };
  }
  const feeds = new Map(wanted.feeds.map(one => [one.book ?? book, one]));
  const books = wanted.books ?? [...feeds.keys()];
  const legs = legsOf(book, books);
  return legs && { legs, read: books.filter(name => !feeds.has(name)), feeds, everyMs: wanted.everyMs };
}

/**
 * Returns the number of public requests per minute for the reference price, possibly a fraction. Books with feeds need
 * no requests.
 */
export const readsPerMinute = (elsewhere: ExternalReference | null): number =>
  elsewhere === null ? 0 : (60_000 * elsewhere.read.length) / elsewhere.everyMs;

function isFeedAddress(text: string): boolean {
  if (text.length > 2_000 || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  const isHere = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return (protocol === 'https:' || (protocol === 'http:' && isHere)) && `${username}${password}${hash}` === '';
}
