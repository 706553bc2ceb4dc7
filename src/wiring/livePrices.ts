/** Books of the sources of the reference price: of the traded exchange, of another registered exchange, or of a feed. */
import { randomOf, type Clock, type Exchange } from '../core/index.ts';
import { CcxtPriceSource } from '../ccxt/priceSource.ts';
import { liveSourcesOf, type Config, type LiveFeed } from '../config.ts';
import type { LivePriceFeed } from '../live/market/livePriceReads.ts';
import type { LivePriceSource } from '../live/market/livePriceSource.ts';
import { feedPriceSource } from '../live/market/polledPriceSource.ts';
import { VenuePriceSource } from '../live/market/venuePriceSource.ts';
import { marketStreamOf, type VenueAccess } from './bot.ts';
import { feedOf } from './feeds.ts';
import { venueNamed } from './venueRegistry.ts';

/** Number of levels per side of which an amount is averaged. */
const LEVELS = 50;
/** Maximum number of public requests per minute for one book of another exchange. */
const REQUESTS_PER_MINUTE = 60;
/** Time without a change of a streamed book after which ccxt connects again, in ms. Polls check it much earlier. */
const CCXT_SILENT_AFTER_MS = 60_000;

/**
 * Returns a function that creates the books of the sources for a run, without sending anything. Returns `undefined` if
 * no sources are configured.
 * @throws UsageError for an unknown venue.
 */
export function livePricesOf(
  config: Config,
  access: VenueAccess,
  exchange: Exchange,
  clock: Clock,
  seed: number,
): (() => readonly LivePriceFeed[]) | undefined {
  const live = liveSourcesOf(config);
  if (live === null) return undefined;
  for (const { from } of live.feeds) if (typeof from === 'object' && 'venue' in from) venueNamed(from.venue);
  return () =>
    live.feeds.map((feed, i) => ({
      key: feed.key,
      source: sourceOf(config, feed, access, exchange, clock, seed + i + 1),
      amount: feed.amount === undefined ? null : Number(feed.amount),
      confirmEveryMs: feed.confirmEveryMs,
    }));
}

function sourceOf(
  config: Config,
  { key, book, from, amount, pollMs }: LiveFeed,
  access: VenueAccess,
  exchange: Exchange,
  clock: Clock,
  seed: number,
): LivePriceSource {
  const common = { name: key, book, clock, pollMs, levels: amount === undefined ? 1 : LEVELS };
  if (from === 'exchange') {
    // In paper trading, the stream is that of the followed book.
    const hasStream = access.paper === undefined;
    return new VenuePriceSource({
      ...{ ...common, exchange },
      ...(hasStream && { newStream: () => marketStreamOf({ ...config, book }, access, clock, seed) }),
    });
  }
  if (from === 'feed' || 'feed' in from) return feedPriceSource(feedOf(feedFor(config, book, from)), clock, pollMs);
  if ('ccxt' in from) {
    const { ccxt: id, url: origin } = from;
    const of = { ...common, id, silentAfterMs: CCXT_SILENT_AFTER_MS };
    return new CcxtPriceSource({ ...of, ...(origin === undefined ? {} : { url: origin }) });
  }
  const venue = venueNamed(from.venue);
  const { streamUrl: url } = from;
  const client = venue.connect({
    ...{ clock, random: randomOf(seed), restUrl: venue.restUrl(from.restUrl) },
    deadlineMs: config.exchange.requestTimeoutMs,
    budgets: { public: REQUESTS_PER_MINUTE },
  });
  return new VenuePriceSource({
    ...{ ...common, exchange: client },
    ...(url !== undefined && { newStream: () => venue.marketStream?.({ clock, random: randomOf(seed), book, url }) }),
    onClosed: () => client.close(),
  });
}

/** Returns the configured feed of a book. The configuration was checked, so the feed exists. */
function feedFor({ reference, book: own }: Config, book: string, from: 'feed' | { readonly feed: string }) {
  const feeds = reference?.feeds ?? [];
  const found =
    from === 'feed'
      ? feeds.find(feed => feed.name === undefined && (feed.book ?? own) === book)
      : feeds.find(feed => feed.name === from.feed);
  if (found === undefined) throw new RangeError(`the feed of ${book} is missing`);
  return found;
}
