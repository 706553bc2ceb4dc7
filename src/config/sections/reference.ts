/** Keys of the reference price: the books from which it is computed, and feeds that replace some of the books. */
import { z } from 'zod';
import { BOOK_NAME, legsOf, type Leg } from '../../core/index.ts';
import { millis } from './values.ts';

const bookName = z.string().regex(BOOK_NAME, 'expected <major>_<minor>, like btc_usd');
const pointer = z
  .string()
  .regex(/^(\/([^/~]|~[01])*)+$/, 'expected a JSON pointer, like /data/last or /bids/0/0')
  .max(200);

const feed = z
  .strictObject({
    book: bookName.optional().describe('Book of this price. If omitted, the quoted book.'),
    url: z
      .string()
      .refine(
        isFeedAddress,
        'expected an address like https://example.com/price, without user; http only on this machine',
      )
      .optional()
      .describe('Price address for GET, without redirects. Set either url or file.'),
    file: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe('Price file, relative to this file; replace it by renaming another.'),
    price: z
      .array(pointer)
      .max(2)
      .default([])
      .describe('JSON pointer to the price, or two pointers to bid and ask. If omitted, the text is the price.'),
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
    feeds: z.array(feed).max(3).default([]).describe('Prices from files and web addresses.'),
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
