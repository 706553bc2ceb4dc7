/** Each registered exchange with a stream, against its double over real sockets: what it declares of its stream is true. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { record } from '../../src/app/tapes/record.ts';
import { recordedVenue } from '../../src/app/tapes/recordedVenue.ts';
import { amount, price, randomOf, type BookSnapshot, type Clock, type StreamNews } from '../../src/core/index.ts';
import { VenuePriceSource } from '../../src/live/market/venuePriceSource.ts';
import { realClock } from '../../src/live/realClock.ts';
import { createSecondExchange, createVenue, serve, type Served } from '../../src/sandbox/index.ts';
import { openStoredTape } from '../../src/tape/index.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { KrakenDouble } from '../krakenDouble/server.ts';
import { CALM } from '../sandbox/trader.ts';

type Double = {
  readonly book: string;
  readonly restUrl: string;
  readonly streamUrl: string;
  /** Adds an ask, `n` steps above the best ask; at Kraken, whose stream shows no level beyond, `n` modulo `LEVELS`. */
  readonly ask: (n: number) => void;
  readonly close: () => Promise<void>;
};

const addressesOf = (served: Served) => ({
  ...{ restUrl: served.url, streamUrl: served.url.replace(/^http/, 'ws') },
  close: () => served.close(),
});

const STARTS: Readonly<Record<string, () => Promise<Double>>> = {
  bitso: async () => {
    const exchange = createVenue({ clock: realClock(), switches: CALM });
    const served = await serve(exchange, { host: '127.0.0.1', port: 0 });
    const place = exchange.marketplace('btc_mxn');
    const ask = (n: number) => void place.place('sell', price(150_000 + n), amount(1_000_000), 'GTC');
    return { book: 'btc_mxn', ...addressesOf(served), ask };
  },
  binance: async () => {
    const exchange = createSecondExchange({ clock: realClock() });
    const served = await serve(exchange, { host: '127.0.0.1', port: 0 });
    const place = exchange.marketplace('btc_usdt');
    const ask = (n: number) => void place.place('sell', price(4_000_000 + n), amount(1_000), 'GTC');
    return { book: 'btc_usdt', ...addressesOf(served), ask };
  },
  kraken: async () => {
    const double = new KrakenDouble({});
    const urls = await double.listen(50);
    const ask = (n: number) => void double.exchange.house('sell', String(40_000 + (n % LEVELS)), '0.01');
    return { book: 'btc_usd', ...urls, ask, close: () => double.close() };
  },
};

/** Levels per side of the market: more than any stream shows. */
const LEVELS = 120;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise(resolve => setTimeout(resolve, 20));
};

const streamed = VENUES.filter(({ marketStream }) => marketStream !== undefined);

test.each(streamed.map(({ name, streams }) => [name, streams]))(
  'the stream of %s has %s, and is recorded',
  async (name, streams) => {
    const { book, restUrl, streamUrl, ask, close } = await STARTS[name]!();
    closing.push(close);
    for (let n = 0; n < LEVELS; n++) ask(n);
    const out = join(mkdtempSync(join(tmpdir(), 'puntas-streamed-')), 'tape');
    closing.push(() => rmSync(out, { recursive: true, force: true }));
    let progress = '';
    let stop: (why: string) => void = () => undefined;
    const of = recordedVenue({ venue: name, url: restUrl, streamUrl, book })!;
    const venue = VENUES.find(each => each.name === name)!;
    const { exchange } = of.config;
    const recorded = record({
      ...of,
      addresses: { restUrl: venue.restUrl(restUrl), streamUrl },
      ...{ books: [book], out, clock: realClock(), seed: 1, log: () => undefined },
      onProgress: line => (progress = line),
      onStarted: call => (stop = call),
    });
    closing.push(() => (stop('test'), recorded));
    await until(() => / stream, /.test(progress));
    const client = venue.connect({
      ...{ clock: realClock(), random: randomOf(1), restUrl: venue.restUrl(restUrl), deadlineMs: 60_000 },
      budgets: { public: exchange.budgets.publicPerMinute },
    });
    closing.push(() => client.close());
    const news: StreamNews[] = [];
    const stream = venue.marketStream!({
      ...{ clock: realClock(), random: randomOf(1), book, exchange: client, url: streamUrl },
    });
    closing.push(() => stream.close());
    stream.start(each => news.push(each));
    const isContent = ({ kind }: StreamNews) => kind === 'book' || kind === 'diff';
    let n = LEVELS;
    while (!news.some(isContent)) {
      ask(n++);
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    await until(() => Number(/ (\d+) rows/.exec(progress)?.[1]) >= client.limits.depth);
    const contents = new Set(news.filter(isContent).map(({ kind }) => kind));
    expect([...contents]).toEqual([streams === 'levels' ? 'book' : 'diff']);
    const books = news.flatMap(each => (each.kind === 'book' ? [each.snapshot] : []));
    expect(books.every((of: BookSnapshot) => of.asks.length === client.limits.depth)).toBe(true);
    stop('test');
    expect(await recorded).toMatchObject({ failure: null, books: [{ book, gaps: 0 }] });
    expect(openStoredTape(out).rows).toBeGreaterThanOrEqual(client.limits.depth);
  },
);

test('a recorder that cannot read the list of books logs the address that it requested', async () => {
  const of = recordedVenue({ venue: 'bitso', url: 'http://127.0.0.1:9/api/v3', stream: false, book: 'btc_mxn' })!;
  let stop: (why: string) => void = () => undefined;
  const line = await new Promise<string>((log, reject) => {
    const recorded = record({
      ...{ ...of, addresses: { restUrl: 'http://127.0.0.1:9/api/v3' }, books: ['btc_mxn'], out: '/nowhere' },
      ...{ clock: realClock(), seed: 1, log, onProgress: () => undefined },
      onStarted: call => (stop = call),
    });
    closing.push(() => (stop('test'), recorded));
    recorded.catch(reject);
  });
  expect(line).toMatch(
    /^the list of books could not be read from http:\/\/127\.0\.0\.1:9\/api\/v3 \([^\n]+\); retrying in 5 s$/,
  );
});

/** Clock of a machine that is ahead of the exchanges. */
const aheadBy = (ms: number): Clock => {
  const clock = realClock();
  return {
    now: () => clock.now() + ms,
    elapsed: () => clock.elapsed(),
    after: (wait, work) => clock.after(wait, work),
  };
};
const HOUR_MS = 3_600_000;
/** Time of an answer and a frame on a busy machine, far below the age of polls. */
const PROMPT_MS = 1_500;

test.each(streamed.map(({ name }) => name))(
  'the stream of %s is current whatever the clock of this machine says',
  async name => {
    const { book, restUrl, streamUrl, ask, close } = await STARTS[name]!();
    closing.push(close);
    for (let n = 0; n < LEVELS; n++) ask(n);
    const venue = VENUES.find(each => each.name === name)!;
    const any = Math.floor((Math.random() * 2 - 1) * HOUR_MS);
    const heard = [0, HOUR_MS, -HOUR_MS, any].map(offset => {
      const clock = aheadBy(offset);
      const client = venue.connect({
        ...{ clock, random: randomOf(1), restUrl: venue.restUrl(restUrl), deadlineMs: 60_000 },
        budgets: { public: 60 },
      });
      const source = new VenuePriceSource({
        ...{ name, book, exchange: client, clock, levels: 5 },
        pollMs: 600_000,
        newStream: () => venue.marketStream!({ clock, random: randomOf(1), book, exchange: client, url: streamUrl }),
      });
      closing.push(
        () => client.close(),
        () => source.close(),
      );
      const books: number[] = [];
      source.start(news => void (news.kind === 'book' && books.push(news.ageMs)));
      return { offset, books };
    });
    let n = LEVELS;
    // Polls come later than any test, so books after the first few are those of the stream.
    for (let round = 0; round < 30 || (round < 300 && heard.some(({ books }) => books.length < 20)); round++) {
      ask(n++);
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    for (const { offset, books } of heard) {
      expect(books.length, `offset ${offset}`).toBeGreaterThanOrEqual(20);
      expect(books.filter(ageMs => !(ageMs < PROMPT_MS)).length, `offset ${offset}`).toBeLessThanOrEqual(
        books.length / 10,
      );
    }
  },
);
