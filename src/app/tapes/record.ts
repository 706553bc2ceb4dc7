/** `puntas record`: records an exchange's public market as a tape until stopped. Needs no key. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  counted,
  randomOf,
  sleep,
  type AvailableBook,
  type BookRules,
  type Clock,
  type MarketStream,
  type Millis,
  type VenueClient,
  textOfError,
} from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { LevelRecorder, Recorder, RULES_EVERY_MS, rulesOf, TapeWriter, type RecorderStatus } from '../../tape/index.ts';
import { publicClientOf } from '../../wiring/bot.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';

export type RecordOptions = {
  readonly config: Config;
  /** Addresses of the exchange. Books are polled without `streamUrl`, or if the configuration disables the stream. */
  readonly addresses: { readonly restUrl: string; readonly streamUrl?: string };
  /** Exchange that is read through ccxt, instead of the exchange of the configuration and `addresses`. */
  readonly ccxt?: { readonly id: string; readonly url?: string };
  /** Names of books, or a function that selects them from the books that the exchange lists. */
  readonly books: readonly string[] | ((listed: readonly AvailableBook[]) => readonly string[]);
  readonly out: string;
  /** Whether to read the list of books only once. If that read fails, the call rejects with `UsageError`. */
  readonly once?: boolean;
  readonly clock: Clock;
  readonly seed: number;
  /** Receives one line for the operator. */
  readonly log: (line: string) => void;
  readonly onProgress: (line: string) => void;
  readonly onStarted: (stop: (why: string) => void) => void;
};

export type Recorded = {
  readonly seconds: number;
  readonly out: string;
  readonly books: readonly (RecorderStatus & { readonly book: string; readonly bytes: number })[];
  /** Error that ended the recording; `null` if the operator stopped it. */
  readonly failure: string | null;
};

const PROGRESS_MS = 1_000;
/** Pause between attempts to read the rules before recording starts, in ms. */
const RULES_AGAIN_MS = 5_000;

/** Public market of an exchange, for a recorder. */
type Market = {
  readonly exchange: Pick<VenueClient, 'limits' | 'availableBooks' | 'orderBook' | 'trades' | 'close'>;
  /** Returns the stream of a book whose rules were read; `undefined` if books are polled. */
  readonly streamOf: (book: string) => MarketStream | undefined;
  readonly streams: 'orders' | 'levels';
  /** Whether pages of trades fill the gaps of the stream. */
  readonly hasTradePages: boolean;
  /** Average interval between requests at the full rate limit, in ms. */
  readonly requestEveryMs: () => Millis;
  /** Origin of the rows, for the header of the tape. */
  readonly sourceOf: (isStreamed: boolean) => string;
};

type Recording = {
  readonly book: string;
  readonly recorder: Pick<Recorder, 'start' | 'stop' | 'status'>;
  readonly writer: TapeWriter;
};

/**
 * Records books until stopped. Rejects with one line if the recording cannot start. An error after the start ends the
 * recording and is part of the result.
 */
export async function record(options: RecordOptions): Promise<Recorded> {
  const { clock, out, onProgress } = options;
  const market = options.ccxt ? await ccxtMarket(options, options.ccxt) : venueMarket(options);
  const recordings: Recording[] = [];
  let stop: (why: string) => void = () => undefined;
  const stopped = new Promise<string>(resolve => (stop = resolve));
  const asked = new AbortController();
  let failure: string | null = null;
  const onBroken = (error: unknown): void => {
    failure ??= textOfError(error);
    asked.abort();
    stop('something broke');
  };
  options.onStarted(why => {
    asked.abort();
    stop(why);
  });
  const started = clock.elapsed();
  try {
    const rules = await rulesOfBooks(market, options, asked.signal);
    for (const row of rules) recordings.push(openRecording(row, rules.length, market, options, onBroken));
    startInTurn(recordings, market, clock, asked.signal);
    const line = setInterval(
      () => onProgress(recordings.map(one => progressOf(one, (clock.elapsed() - started) / 1000)).join(' | ')),
      PROGRESS_MS,
    );
    await stopped.finally(() => clearInterval(line));
  } finally {
    for (const { recorder, writer } of recordings) {
      try {
        recorder.stop();
        writer.close();
      } catch (error) {
        onBroken(error);
      }
    }
    await market.exchange.close();
  }
  return {
    seconds: (clock.elapsed() - started) / 1000,
    out,
    books: recordings.map(({ book, recorder }) => ({
      book,
      ...recorder.status,
      bytes: bytesUnder(join(out, `book=${book}`)),
    })),
    failure,
  };
}

/**
 * Maximum number of requests for the start of one book: the newest trade, a complete book, the trades between these two
 * reads, and one spare request.
 */
const FIRST_REQUESTS = 4;

/**
 * Starts as many recorders at once as the rate budget allows, and each further recorder when the budget has enough
 * requests for it.
 */
function startInTurn(
  recordings: readonly Recording[],
  { requestEveryMs }: Market,
  clock: Clock,
  signal: AbortSignal,
): void {
  const everyMs = FIRST_REQUESTS * requestEveryMs();
  const atOnce = Math.max(1, Math.floor(60_000 / everyMs));
  for (const [i, { recorder }] of recordings.entries()) {
    if (i < atOnce) recorder.start();
    else
      void sleep(clock, (i + 1 - atOnce) * everyMs, signal).then(() => {
        if (!signal.aborted) recorder.start();
      });
  }
}

/**
 * Returns the duration in ms of a round of polls, which has two reads per book. A tenth of the rate budget is a
 * reserve.
 */
const roundMs = (books: number, { requestEveryMs }: Market): number => 2.2 * requestEveryMs() * books;

/**
 * Minimum interval of polls alongside a stream of levels, in ms. A book is polled if the stream sends no frame for this
 * time.
 */
const CONFIRM_EVERY_MS = 10_000;

function openRecording(
  rules: BookRules,
  books: number,
  market: Market,
  options: RecordOptions,
  onBroken: (error: unknown) => void,
): Recording {
  const { config, clock, out, log } = options;
  const { exchange } = market;
  const { book } = rules;
  const stream = market.streamOf(book);
  const byOrder = stream !== undefined && market.streams === 'orders';
  const writer = openWriter(
    out,
    rules,
    market.sourceOf(stream !== undefined),
    byOrder ? Infinity : exchange.limits.depth,
  );
  for (const line of writer.mended) log(line);
  const common = {
    exchange,
    clock,
    sink: writer,
    rules,
    lot: writer.lot,
    resumedFrom: writer.resumedFrom,
    log,
    onBroken,
  };
  if (writer.resumedFrom !== null)
    log(
      `${book}: continuing the existing tape, whose book is known up to ${new Date(writer.resumedFrom).toISOString()}`,
    );
  const everyMs = roundMs(books, market);
  // One request returns the rules of all books, so each recorder requests the rules less often.
  const rulesEveryMs = RULES_EVERY_MS * books;
  if (byOrder)
    return { book, writer, recorder: new Recorder({ ...common, rulesEveryMs, stream, wholeEveryMs: everyMs }) };
  const pollMs = Math.max(stream ? CONFIRM_EVERY_MS : config.timing.bookPollMs, everyMs);
  return {
    book,
    writer,
    recorder: new LevelRecorder({
      ...common,
      rulesEveryMs,
      pollMs,
      stream,
      hasTradePages: market.hasTradePages || !stream,
    }),
  };
}

function openWriter(dir: string, rules: BookRules, source: string, depth: number): TapeWriter {
  try {
    return new TapeWriter({ dir, rules, source, depth });
  } catch (error) {
    throw new UsageError(textOfError(error));
  }
}

/** Lower bound of the request deadline, in ms, because a complete book may have several megabytes. */
const WHOLE_BOOK_MS = 15_000;

function venueMarket({ config, addresses, clock, seed }: RecordOptions): Market {
  const { marketStream, streams = 'levels' } = venueOf(config);
  const { restUrl } = addresses;
  const url = config.exchange.stream ? addresses.streamUrl : undefined;
  const exchange = publicClientOf(config, restUrl, clock, seed, { deadlineMs: WHOLE_BOOK_MS });
  return {
    exchange,
    streamOf: book =>
      url === undefined ? undefined : marketStream?.({ clock, random: randomOf(seed ^ 0x57), book, url, exchange }),
    streams,
    hasTradePages: true,
    requestEveryMs: () => 60_000 / config.exchange.budgets.publicPerMinute,
    sourceOf: () => restUrl,
  };
}

async function ccxtMarket(
  { books, clock, config, log }: RecordOptions,
  { id, url }: NonNullable<RecordOptions['ccxt']>,
): Promise<Market> {
  const { RecordedBooks, sourceOfTape } = await import('../../ccxt/recordedBooks.ts');
  if (typeof books === 'function')
    throw new UsageError(`ccxt:${id}: expected the names of the books with --book, like btc_usdt`);
  const streams = config.exchange.stream;
  const market = new RecordedBooks({ id, books, streams, clock, log, ...(url === undefined ? {} : { url }) });
  return {
    exchange: market.exchange,
    streamOf: market.streamOf,
    streams: 'levels',
    hasTradePages: false,
    requestEveryMs: () => market.rateLimitMs,
    sourceOf: isStreamed => sourceOfTape(id, isStreamed, url),
  };
}

async function rulesOfBooks(
  { exchange }: Market,
  options: RecordOptions,
  signal: AbortSignal,
): Promise<readonly BookRules[]> {
  const { clock, log, once = false } = options;
  while (!signal.aborted) {
    const outcome = await exchange.availableBooks();
    if (outcome.kind === 'done') {
      const books = typeof options.books === 'function' ? options.books(outcome.value) : options.books;
      return books.map(book => {
        const row = outcome.value.find(each => each.book === book);
        if (row) return rulesOf(row);
        const unreadable = outcome.unreadable?.find(each => each.book === book);
        if (unreadable) throw new UsageError(`${book}: the rules of the book cannot be read: ${unreadable.why}`);
        throw new UsageError(
          `${book}: not listed by the exchange; expected one of ${outcome.value.map(each => each.book).join(', ')}`,
        );
      });
    }
    const why = outcome.kind === 'unknown' ? outcome.reason : `${outcome.code} ${outcome.message}`;
    const from = options.ccxt ? `ccxt:${options.ccxt.id}` : options.addresses.restUrl;
    if (once) throw new UsageError(`the list of books could not be read from ${from}: ${why}`, 1);
    log(`the list of books could not be read from ${from} (${why}); retrying in ${RULES_AGAIN_MS / 1000} s`);
    await sleep(clock, RULES_AGAIN_MS, signal);
  }
  return [];
}

function progressOf({ book, recorder, writer }: Recording, seconds: number): string {
  const { rows, trades, gaps, gapMs, orders, source } = recorder.status;
  const rate = seconds > 0 ? (rows / seconds).toFixed(0) : '0';
  return `${book} ${counted(rows, 'row')} (${rate}/s), ${counted(trades, 'trade')}, ${sizeOf(writer.bytes)} today, ${counted(orders, 'order')} in the book, ${source}, ${gapsText({ gaps, gapMs })}`;
}

const gapsText = ({ gaps, gapMs }: { readonly gaps: number; readonly gapMs: Millis }): string =>
  gaps === 0 ? 'no gap' : `${counted(gaps, 'gap')} of ${(gapMs / 1000).toFixed(1)} s in total`;

/** Returns the result of a recording as text. */
export function describeRecorded({ books, out, seconds }: Recorded): string {
  return books
    .map(({ book, rows, trades, bytes, gaps, gapMs }) =>
      rows === 0
        ? `${book}: nothing was recorded in ${seconds.toFixed(0)} s, because no complete book was received`
        : `${book}: ${counted(rows, 'row')}, ${counted(trades, 'trade')} in ${seconds.toFixed(0)} s, ${gapsText({ gaps, gapMs })}; ${join(out, `book=${book}`)} has ${sizeOf(bytes)}`,
    )
    .join('\n');
}

const sizeOf = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(2)} MB`;

function bytesUnder(dir: string): number {
  if (!existsSync(dir)) return 0;
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(dir, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}
