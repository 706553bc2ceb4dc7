/** Keys of live sources of the reference price, and the rules and books that they stand for. */
import { z } from 'zod';
import { BOOK_NAME, legsOf, type Leg, type LivePriceRules, type SourceRule } from '../../core/index.ts';
import { decimalText } from '../../../strategies/index.ts';
import { address, baseAddress, httpAddress, millis } from './values.ts';

export const bookName = z.string().regex(BOOK_NAME, 'expected <major>_<minor>, like btc_usd');

export const sourceName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,24}$/, 'expected 1 to 24 letters, digits and dashes, like kraken');

const from = z.union([
  z.literal('exchange').describe('Public market data of the traded exchange.'),
  z.literal('feed').describe('Entry of reference.feeds with this book.'),
  z.strictObject({ feed: sourceName.describe('Name of an entry of reference.feeds.') }),
  z.strictObject({
    venue: z.string().min(1).max(40).describe('Exchange, as in exchange.venue.'),
    restUrl: baseAddress.describe('REST address of that exchange.'),
    streamUrl: address(/^wss?:$/, 'wss://ws.example.com')
      .optional()
      .describe('Stream address of that exchange. If omitted, its books are polled.'),
  }),
  z.strictObject({
    ccxt: z
      .string()
      .regex(/^[a-z0-9]{2,32}$/, 'expected an id of ccxt, like kraken')
      .describe('Exchange by its id in ccxt, which you install yourself.'),
    url: httpAddress.optional().describe("Address instead of the exchange's own."),
  }),
]);

const placeDescription =
  'Place of the prices: exchange (the traded one), feed (entry of feeds with this book), { feed: NAME }, { venue, restUrl, streamUrl } or { ccxt: ID }.';
const staleAfterMs = millis(100, 600_000);
const frozenAfterMs = millis(1_000, 86_400_000);

const leg = z.strictObject({
  book: bookName.describe('Book there.'),
  as: bookName.optional().describe('Book that it counts as, like btc_usd for btc_usdt. If omitted, the book.'),
  from: from.optional().describe('Place of this book. If omitted, the place of the source.'),
  staleAfterMs: staleAfterMs.optional().describe("Maximum age of this book's price. If omitted, as the source."),
  frozenAfterMs: frozenAfterMs
    .optional()
    .describe('Maximum time without any change of price or amount. If omitted, as the source.'),
});

export const source = z.strictObject({
  name: sourceName.describe('Name in log, metrics and console.'),
  books: z
    .array(z.union([bookName, leg]))
    .min(1)
    .max(3)
    .describe('Book, or chain of books from base to quote currency, like [btc_usd, usd_mxn].'),
  from: from.default('exchange').describe(placeDescription),
  weight: z.number().gt(0).max(1_000).default(1).describe('Weight, if combine is weights.'),
  staleAfterMs: staleAfterMs.default(10_000).describe('Maximum age of a price.'),
  frozenAfterMs: frozenAfterMs
    .optional()
    .describe('Maximum time without any change of price or amount. If omitted, not checked.'),
  amount: decimalText
    .optional()
    .describe('Amount (base) of which the price there is averaged. If omitted, best prices.'),
  feeBps: z.number().min(0).max(1_000).default(10).describe('Taker fee there (bps).'),
});

export type SourceConfig = z.infer<typeof source>;
export type SourceFrom = z.infer<typeof from>;

export const basis = z
  .strictObject({
    sdBps: z.number().gt(0).max(1_000).default(2).describe('Standard deviation of the short-lived mispricing (bps).'),
    revertMs: millis(1_000, 3_600_000).default(60_000).describe('Time in which a mispricing falls to 1/e.'),
    driftBps: z.number().gt(0).max(1_000).default(2).describe('Standard deviation of the basis after an hour (bps).'),
    errorMaxBps: z.number().gt(0).max(1_000).default(3).describe('Maximum standard deviation of a usable basis (bps).'),
    bandBps: z
      .number()
      .gt(0)
      .max(5_000)
      .optional()
      .describe('Maximum distance from the basis that counts. If omitted, fees and half spreads of both books.'),
    unknown: z
      .enum(['leave out', 'zero'])
      .default('leave out')
      .describe('Source whose basis is not known yet: leave it out, or use a basis of 0.'),
  })
  .describe('Running basis of the book to each source. If omitted, prices there count as they are.');

/** Book elsewhere of which readings are taken. Sources with equal books share the readings. */
export type LiveFeed = {
  /** Name in events, log and errors: place and book. */
  readonly key: string;
  readonly book: string;
  readonly from: SourceFrom;
  /** Amount (base) of which the price is averaged; absent for the best prices. */
  readonly amount?: string;
  /** Maximum time between two events that confirm an unchanged book. */
  readonly confirmEveryMs: number;
  /** Time between two polls, and the maximum time without a frame of the stream before a poll. */
  readonly pollMs: number;
};

type Wanted = {
  readonly reference?:
    | {
        readonly sources?: readonly SourceConfig[] | undefined;
        readonly everyMs: number;
        readonly combine: 'median' | 'weights';
        readonly sourcesMin: number;
        readonly divergenceMaxBps: number;
        readonly moveBps: number;
        readonly basis?: z.infer<typeof basis> | undefined;
      }
    | undefined;
  readonly book: string;
};

export type LiveSources = {
  readonly rules: LivePriceRules;
  readonly feeds: readonly LiveFeed[];
  /** Books of the first source. */
  readonly legs: readonly Leg[];
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
export function liveSourcesOf({ reference: wanted, book }: Wanted): LiveSources | null {
  if (wanted?.sources === undefined) return null;
  const { everyMs } = wanted;
  const feeds = new Map<string, LiveFeed>();
  const rules: SourceRule[] = [];
  const chains: (readonly Leg[])[] = [];
  for (const given of wanted.sources) {
    const { name, weight, feeBps, amount } = given;
    const books = sourceLegs(given);
    const chain = legsOf(
      book,
      books.map(({ as }) => as),
    );
    if (chain === null) return null;
    chains.push(chain);
    const legs = books.map(({ book: there, from: place, staleAfterMs, frozenAfterMs }, i) => {
      const averaged = i === 0 && !chain[i]!.divides ? amount : undefined;
      const key = `${placeText(place)} ${there}${averaged === undefined ? '' : ` for ${averaged}`}`;
      const confirmEveryMs = Math.min(
        CONFIRM_EVERY_MAX_MS,
        staleAfterMs / 4,
        feeds.get(key)?.confirmEveryMs ?? Infinity,
      );
      const priced = averaged === undefined ? {} : { amount: averaged };
      const pollMs = Math.min(everyMs, staleAfterMs / 2.5, feeds.get(key)?.pollMs ?? Infinity);
      feeds.set(key, { key, book: there, from: place, ...priced, confirmEveryMs, pollMs });
      return { feed: key, divides: chain[i]!.divides, staleAfterMs, frozenAfterMs: frozenAfterMs ?? null };
    });
    rules.push({ name, legs, weight, feeBps });
  }
  const { combine, divergenceMaxBps, sourcesMin, moveBps, basis: given } = wanted;
  return {
    rules: {
      ...{ sources: rules, combine, divergenceMaxBps, sourcesMin, moveBps },
      basis: given === undefined ? null : { ...given, bandBps: given.bandBps ?? null },
    },
    feeds: [...feeds.values()],
    legs: chains[0]!,
  };
}

/** Maximum time between two events that confirm an unchanged book. */
const CONFIRM_EVERY_MAX_MS = 1_000;

/** Describes a place without secrets. */
function placeText(place: SourceFrom): string {
  if (typeof place === 'string') return place;
  if ('feed' in place) return `feed ${place.feed}`;
  if ('ccxt' in place) return `ccxt:${place.ccxt}${place.url === undefined ? '' : ` ${new URL(place.url).host}`}`;
  return `${place.venue} ${new URL(place.restUrl).host}`;
}

/** Returns the ids of ccxt that the sources use, each once. */
export const ccxtIdsOf = ({ reference }: Pick<Wanted, 'reference'>): readonly string[] => [
  ...new Set(
    (reference?.sources ?? [])
      .flatMap(sourceLegs)
      .flatMap(({ from: place }) => (typeof place === 'object' && 'ccxt' in place ? [place.ccxt] : [])),
  ),
];
