/**
 * Prices from outside: feeds from a web address or a file, and the live sources of the reference price. A file is read
 * again when it changes.
 */
import { closeSync, fstatSync } from 'node:fs';
import { Agent, request } from 'undici';
import { fileProblem, openRegularFile, readBody, readOpenFile } from '../guard/index.ts';
import { CcxtPriceSource } from '../ccxt/priceSource.ts';
import { feedIndexOf, liveSourcesOf, type Config, type FeedConfig, type LiveFeed } from '../config.ts';
import { randomOf, type Clock, type MarketStream } from '../core/index.ts';
import { readingOf, type Feed, type FeedReading } from '../live/market/feed.ts';
import type { LivePriceFeed, LivePriceSource } from '../live/market/livePriceSource.ts';
import { feedPriceSource } from '../live/market/polledPriceSource.ts';
import { VenuePriceSource, type PublicBooks } from '../live/market/venuePriceSource.ts';
import type { ElsewhereAccess } from './elsewhere/access.ts';
import { UsageError } from './usageError.ts';
import { venueNamed } from './venueRegistry.ts';

/** Maximum size of a feed's text, in bytes. */
const BYTES_MAX = 65_536;

const failed = (why: string): FeedReading => ({ kind: 'failed', why });

/**
 * Returns a feed; `now` returns ms since 1970. Throws a RangeError if the configuration has neither url nor file. Reads
 * of the feed never reject; they resolve to the error.
 */
export function feedOf(config: FeedConfig, now: () => number = Date.now): Feed {
  const { url, file } = config;
  if (url !== undefined) return webFeed(url, config, now);
  if (file !== undefined) return fileFeed(file, config, now);
  throw new RangeError('expected a url or a file for the feed, found neither');
}

/** Returns a feed from a file. The age of a price counts from the file's last change, unless the text has a time. */
function fileFeed(path: string, config: FeedConfig, now: () => number): Feed {
  let known: { readonly mark: string; readonly text: string; readonly changedAt: number } | null = null;
  const text = (): typeof known | string => {
    const fd = openRegularFile(path);
    try {
      const seen = fstatSync(fd);
      const mark = `${seen.dev} ${seen.ino} ${seen.size} ${seen.mtimeMs}`;
      if (known?.mark === mark) return known;
      const text = readOpenFile(fd, BYTES_MAX);
      // The file changed during the read, so its text may be incomplete. The next call of `read` reads the file again.
      if (fstatSync(fd).size !== seen.size) return 'the file is being written';
      known = { mark, text, changedAt: seen.mtimeMs };
      return known;
    } finally {
      closeSync(fd);
    }
  };
  return {
    name: path,
    close: () => Promise.resolve(),
    async read() {
      try {
        const found = text();
        if (found === null || typeof found === 'string') return failed(found ?? 'the file is empty');
        return readingOf(found.text, config, now(), found.changedAt);
      } catch (error) {
        return failed(fileProblem(error, 'read'));
      }
    },
  };
}

/**
 * Returns a feed from a web address. Each read is one GET with one total deadline, without redirects; a failed GET is
 * not repeated before the next read.
 */
function webFeed(url: string, config: FeedConfig, now: () => number): Feed {
  const { origin, pathname } = new URL(url);
  const agent = new Agent({ connections: 1, pipelining: 1, connect: { timeout: config.timeoutMs } });
  return {
    // A query may contain secrets, which must not be logged.
    name: `${origin}${pathname}`,
    close: () => agent.destroy(),
    async read() {
      const asked = now();
      try {
        const { statusCode, headers, body } = await request(url, {
          dispatcher: agent,
          signal: AbortSignal.timeout(config.timeoutMs),
          headers: { accept: 'application/json, text/plain', 'user-agent': 'puntas' },
        });
        const coding = headers['content-encoding'] ?? 'identity';
        const refusal =
          statusCode !== 200
            ? `expected status 200, found ${statusCode}`
            : coding !== 'identity'
              ? `the body has the encoding ${String(coding)}, which was not requested`
              : null;
        if (refusal !== null) {
          // An error of the discarded body must not end the bot.
          body.on('error', () => undefined).destroy();
          return failed(refusal);
        }
        return readingOf(await readBody(body, BYTES_MAX), config, now(), asked);
      } catch (error) {
        const isLate = error instanceof Error && error.name === 'TimeoutError';
        return failed(isLate ? `no complete answer within ${config.timeoutMs} ms` : failureText(error));
      }
    },
  };
}

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error.message : `${code}${error.message.includes(code) ? '' : ` ${error.message}`}`;
}

/** Access to the public market data of the sources. */
export type SourceAccess = {
  /**
   * Exchange of the sources `from: exchange`. In paper trading, this is the followed exchange, because the simulated
   * exchange has only one book.
   */
  readonly exchange: PublicBooks;
  /** Creates a stream of a book of the traded exchange. If absent, its books are only polled. */
  readonly streamOf?: (book: string) => MarketStream | undefined;
  /** Other exchange, for sources from `elsewhere`. */
  readonly elsewhere?:
    | (Pick<ElsewhereAccess, 'venue' | 'restUrl' | 'transport' | 'pause'> & { readonly streamUrl?: string | undefined })
    | undefined;
};

/** Returns the access to market data of a bot at `venue`, whose client is `client`. */
export const sourceAccessOf = (
  { paper, elsewhere }: Pick<SourceAccess, 'elsewhere'> & { readonly paper?: { readonly followed: PublicBooks } },
  client: PublicBooks,
): SourceAccess => ({ exchange: paper?.followed ?? client, elsewhere });

/** Number of levels per side that are read to compute the average price of an amount. */
const LEVELS = 50;
/** Maximum number of public requests per minute for one book of another exchange. */
const REQUESTS_PER_MINUTE = 60;
/** Time in ms that is added to the polling interval: if nothing confirms a book for their sum, ccxt reconnects. */
const CCXT_SILENT_AFTER_MS = 60_000;

/**
 * Returns a function that creates the books of the sources for a run, without sending anything. Returns `undefined` if
 * no sources are configured.
 * @throws UsageError for an unknown venue.
 */
export function livePricesOf(
  config: Config,
  access: SourceAccess,
  clock: Clock,
  seed: number,
): (() => readonly LivePriceFeed[]) | undefined {
  const live = liveSourcesOf(config);
  if (live === null) return undefined;
  for (const { from } of live.feeds) if (typeof from === 'object' && 'venue' in from) venueNamed(from.venue);
  return () =>
    live.feeds.map((feed, i) => ({
      key: feed.key,
      source: priceSourceOf(config, feed, access, clock, seed + i + 1),
      amount: feed.amount === undefined ? null : Number(feed.amount),
      confirmEveryMs: feed.confirmEveryMs,
    }));
}

function priceSourceOf(
  config: Config,
  { key, book, from, amount, pollMs }: LiveFeed,
  { exchange, streamOf, elsewhere = settingsElsewhere(config) }: SourceAccess,
  clock: Clock,
  seed: number,
): LivePriceSource {
  const common = { name: key, book, clock, pollMs, levels: amount === undefined ? 1 : LEVELS };
  if (from === 'exchange')
    return new VenuePriceSource({ ...common, exchange, ...(streamOf && { newStream: () => streamOf(book) }) });
  if (from === 'feed' || (typeof from === 'object' && 'feed' in from))
    return feedPriceSource(feedOf(feedFor(config, book, from)), clock, pollMs);
  if (typeof from === 'object' && 'ccxt' in from) {
    const { ccxt: id, url: origin } = from;
    const of = { ...common, id, silentAfterMs: CCXT_SILENT_AFTER_MS };
    return new CcxtPriceSource({ ...of, ...(origin === undefined ? {} : { url: origin }) });
  }
  const at = from === 'elsewhere' ? elsewhere : from;
  if (at === undefined)
    throw new UsageError(
      'reference.sources: a source with from: elsewhere needs the second embedded exchange, which this command does not start; use another source',
    );
  const venue = venueNamed(at.venue);
  const isPolled = from === 'elsewhere' && config.elsewhere?.stream === false;
  const url = isPolled ? undefined : at.streamUrl;
  const client = venue.connect({
    ...{ clock, random: randomOf(seed), restUrl: venue.restUrl(at.restUrl) },
    ...('transport' in at ? { transport: at.transport } : {}),
    ...('pause' in at ? { pause: at.pause } : {}),
    deadlineMs: config.exchange.requestTimeoutMs,
    budgets: { public: REQUESTS_PER_MINUTE },
  });
  return new VenuePriceSource({
    ...{ ...common, exchange: client },
    ...(url !== undefined && {
      newStream: () => venue.marketStream?.({ clock, random: randomOf(seed), book, url, exchange: client }),
    }),
    onClosed: () => client.close(),
  });
}

/** Returns the public access to the other exchange if it is remote; `undefined` if it is embedded or absent. */
const settingsElsewhere = ({ elsewhere }: Config): SourceAccess['elsewhere'] =>
  elsewhere?.kind === 'remote' ? elsewhere : undefined;

/** Returns the configured feed of a book. The configuration was checked, so the feed exists. */
function feedFor({ reference, book: own }: Config, book: string, from: 'feed' | { readonly feed: string }) {
  const feeds = reference?.feeds ?? [];
  const found = feeds[feedIndexOf(feeds, own, book, from)];
  if (found === undefined) throw new RangeError(`expected a feed for ${book} in reference.feeds, found none`);
  return found;
}
