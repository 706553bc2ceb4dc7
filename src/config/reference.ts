/** Keys of the reference price: the books from which it is computed, and feeds that replace some of the books. */
import { z } from 'zod';
import { BOOK_NAME, pairOf, legsOf, type Leg } from '../core/index.ts';
import type { Problem } from './problems.ts';
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
        'expected an address like https://example.com/price, without user; https, except on this machine',
      )
      .optional()
      .describe('Address for GET, without redirects. Either url or file.'),
    file: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe('File, relative to this file, read after each change; replace it by renaming.'),
    price: z
      .array(pointer)
      .max(2)
      .default([])
      .describe('JSON pointer to the price, or two to bid and ask. If omitted, the text is the price.'),
    time: pointer
      .optional()
      .describe(
        'JSON pointer to the time of the price (ISO or since 1970). If omitted, the time of the request or file.',
      ),
    timeoutMs: millis(50, 30_000).default(2_000).describe('Request timeout.'),
  })
  .superRefine((f, context) => {
    if ((f.url === undefined) === (f.file === undefined))
      context.addIssue({ code: 'custom', path: ['url'], message: 'expected either url or file' });
    if (f.time !== undefined && f.price.length === 0)
      context.addIssue({
        code: 'custom',
        path: ['price'],
        message: 'expected a JSON pointer to the price, because time is one',
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
      .describe('Books from base to quote currency, like [btc_usd, usd_mxn]. If omitted, those of the feeds.'),
    everyMs: millis(100, 600_000).default(5_000).describe('Interval of reads, one public request per book.'),
    feeds: z.array(feed).max(3).default([]).describe('Prices from files and web addresses.'),
  })
  .describe('Reference price from other books or feeds.');

/** Keys of a configuration that this file uses. */
type Asked = {
  readonly reference?: z.infer<typeof reference> | undefined;
  readonly book: string;
  readonly timing: { readonly bookPollMs: number };
  readonly exchange: { readonly budgets: { readonly publicPerMinute: number } };
};

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
 * `referenceProblems` reports errors.
 */
export function externalReferenceOf({
  reference: wanted,
  book,
}: Pick<Asked, 'reference' | 'book'>): ExternalReference | null {
  if (wanted === undefined) return null;
  const feeds = new Map(wanted.feeds.map(one => [one.book ?? book, one]));
  const books = wanted.books ?? [...feeds.keys()];
  const legs = legsOf(book, books);
  return legs && { legs, read: books.filter(name => !feeds.has(name)), feeds, everyMs: wanted.everyMs };
}

/**
 * Finds books that do not lead from the base to the quote currency of the traded book, unused feeds, and a request
 * budget that is too small.
 */
export function referenceProblems(config: Asked): readonly Problem[] {
  const { reference: wanted, book, timing, exchange } = config;
  if (wanted === undefined) return [];
  const problems: Problem[] = [];
  const fed = wanted.feeds.map(one => one.book ?? book);
  wanted.feeds.forEach((_, i) => {
    const name = fed[i] ?? '';
    const wrong = (message: string) => problems.push({ path: ['reference', 'feeds', i, 'book'], message });
    if (fed.indexOf(name) !== i) wrong(`two feeds give the price of ${name}`);
    if (wanted.books?.includes(name) === false) wrong(`${name} is not in reference.books`);
  });
  if (wanted.books === undefined && fed.length === 0)
    problems.push({ path: ['reference', 'books'], message: 'expected books, like [btc_usd, usd_mxn], or feeds' });
  const elsewhere = externalReferenceOf(config);
  if (problems.length === 0 && (elsewhere === null || elsewhere.read.includes(book))) {
    const found = (wanted.books ?? fed).join(', ');
    const message = `expected other books that lead from ${pairOf(book).join(' to ')}, like [btc_usd, usd_mxn] for btc_mxn; found ${found}`;
    problems.push({ path: ['reference', wanted.books === undefined ? 'feeds' : 'books'], message });
  }
  const most = exchange.budgets.publicPerMinute;
  const perMinute = 60_000 / timing.bookPollMs + readsPerMinute(elsewhere);
  if (!(perMinute <= most)) {
    const message = `with timing.bookPollMs ${timing.bookPollMs} there are ${Math.ceil(perMinute)} public requests per minute, more than budgets.publicPerMinute ${most}`;
    problems.push({ path: ['reference', 'everyMs'], message });
  }
  return problems;
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
