/** `puntas record`: the public market of an exchange as a tape, until it is told to stop. No key is needed. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf, sleep } from '../../core/index.ts';
import type { BookRules, Clock, VenueClient } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { PollRecorder, Recorder, rulesOf, TapeWriter } from '../../tape/index.ts';
import type { RecorderStatus } from '../../tape/index.ts';
import { UsageError } from '../wiring/usageError.ts';
import { venueOf } from '../wiring/venueRegistry.ts';

export type RecordOptions = {
  readonly config: Config;
  /** Without it, and where the configuration switches it off, books are polled. */
  readonly addresses: { readonly restUrl: string; readonly streamUrl?: string };
  readonly books: readonly string[];
  readonly out: string;
  readonly clock: Clock;
  readonly seed: number;
  /** One line for a person. */
  readonly log: (line: string) => void;
  readonly onProgress: (line: string) => void;
  readonly onStarted: (stop: (why: string) => void) => void;
};

export type Recorded = {
  readonly seconds: number;
  readonly out: string;
  readonly books: readonly (RecorderStatus & { readonly book: string; readonly bytes: number })[];
  /** What broke it; null when it was asked to stop. */
  readonly failure: string | null;
};

const PROGRESS_MS = 1_000;
/** Between two tries to read the rules before anything can be recorded. */
const RULES_AGAIN_MS = 5_000;

type Recording = {
  readonly book: string;
  readonly recorder: Pick<Recorder, 'start' | 'stop' | 'status'>;
  readonly writer: TapeWriter;
};

/** Rejects with one line when it cannot begin; what happens later ends it and is told in the result. */
export async function record(options: RecordOptions): Promise<Recorded> {
  const { clock, out, onProgress } = options;
  const client = publicClient(options);
  const recordings: Recording[] = [];
  let stop: (why: string) => void = () => undefined;
  const stopped = new Promise<string>(resolve => (stop = resolve));
  let failure: string | null = null;
  const onBroken = (error: unknown): void => {
    failure ??= error instanceof Error ? error.message : String(error);
    stop('something broke');
  };
  const asked = new AbortController();
  options.onStarted(why => {
    asked.abort();
    stop(why);
  });
  const started = clock.elapsed();
  try {
    const rules = await rulesOfBooks(client, options, asked.signal);
    for (const row of rules) recordings.push(openRecording(row, client, options, onBroken));
    for (const { recorder } of recordings) recorder.start();
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
    await client.close();
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

function openRecording(
  rules: BookRules,
  client: VenueClient,
  options: RecordOptions,
  onBroken: (error: unknown) => void,
): Recording {
  const { config, addresses, clock, out, seed, log } = options;
  const { book } = rules;
  const url = config.exchange.stream ? addresses.streamUrl : undefined;
  const of = { clock, random: randomOf(seed ^ 0x57), book };
  const stream = url === undefined ? undefined : venueOf(config).marketStream?.({ ...of, url });
  const writer = openWriter(out, rules, addresses.restUrl, stream ? Infinity : client.limits.depth);
  for (const line of writer.mended) log(line);
  const common = { exchange: client, clock, sink: writer, rules, resumedFrom: writer.resumedFrom, log, onBroken };
  if (writer.resumedFrom !== null)
    log(`${book}: going on with the tape that ends at ${new Date(writer.resumedFrom).toISOString()}`);
  if (!stream) {
    // A round is two reads; a tenth of the budget is left.
    const roundMs = (2.2 * 60_000 * options.books.length) / config.exchange.budgets.publicPerMinute;
    return {
      book,
      writer,
      recorder: new PollRecorder({ ...common, pollMs: Math.max(config.timing.bookPollMs, roundMs) }),
    };
  }
  return { book, writer, recorder: new Recorder({ ...common, stream }) };
}

function openWriter(dir: string, rules: BookRules, source: string, depth: number): TapeWriter {
  try {
    return new TapeWriter({ dir, rules, source, depth });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function publicClient({ config, addresses, clock, seed }: RecordOptions): VenueClient {
  const { budgets, requestTimeoutMs } = config.exchange;
  return venueOf(config).connect({
    clock,
    random: randomOf(seed),
    restUrl: addresses.restUrl,
    deadlineMs: Math.max(requestTimeoutMs, WHOLE_BOOK_MS),
    budgets: { public: budgets.publicPerMinute, private: budgets.privatePerMinute },
  });
}

/** A whole book is up to some megabytes. */
const WHOLE_BOOK_MS = 15_000;

async function rulesOfBooks(
  client: VenueClient,
  options: RecordOptions,
  signal: AbortSignal,
): Promise<readonly BookRules[]> {
  const { books, clock, log } = options;
  while (!signal.aborted) {
    const outcome = await client.availableBooks();
    if (outcome.kind === 'done') {
      return books.map(book => {
        const row = outcome.value.find(each => each.book === book);
        if (row) return rulesOf(row);
        throw new UsageError(
          `${book}: the exchange lists no such book; it has ${outcome.value.map(each => each.book).join(', ')}`,
        );
      });
    }
    const why = outcome.kind === 'unknown' ? outcome.reason : `${outcome.code} ${outcome.message}`;
    log(`the list of books could not be read (${why}); trying again in ${RULES_AGAIN_MS / 1000} s`);
    await sleep(clock, RULES_AGAIN_MS, signal);
  }
  return [];
}

function progressOf({ book, recorder, writer }: Recording, seconds: number): string {
  const { rows, trades, gaps, gapMs, orders, source } = recorder.status;
  const rate = seconds > 0 ? (rows / seconds).toFixed(0) : '0';
  const missing = gaps === 0 ? 'no gap' : `${gaps} gap(s) of ${(gapMs / 1000).toFixed(1)} s`;
  return `${book} ${rows} rows (${rate}/s), ${trades} trades, ${sizeOf(writer.bytes)} today, ${orders} orders, ${source}, ${missing}`;
}

/** For a person. */
export function describeRecorded({ books, out, seconds }: Recorded): string {
  return books
    .map(
      ({ book, rows, trades, bytes, gaps, gapMs }) =>
        `${book}: ${rows} rows, ${trades} trades in ${seconds.toFixed(0)} s, ${gaps} gap(s) of ${(gapMs / 1000).toFixed(1)} s; ${join(out, `book=${book}`)} has ${sizeOf(bytes)}`,
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
