/** Live price through ccxt, streamed and polled, on real sockets. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { realClock } from '../../src/live/realClock.ts';
import type { LivePriceNews, LivePriceSource } from '../../src/live/market/livePriceSource.ts';
import { CcxtPriceSource, type CcxtPriceOptions } from '../../src/ccxt/priceSource.ts';
import { installedCcxt } from '../../src/ccxt/installed.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { stockedMarket, type Market } from '../clients/served.ts';
import { tinyExchange, type TinyExchange } from './tinyExchange.ts';

let tiny: TinyExchange;
let market: Market;
let sources: LivePriceSource[] = [];
beforeAll(async () => {
  market = await stockedMarket();
});
beforeEach(async () => {
  tiny = await tinyExchange();
});
afterEach(async () => {
  await Promise.all(sources.map(source => source.close()));
  sources = [];
  await tiny.close();
});
afterAll(() => market.close());

/** A started source with its news and a wait for a condition on the newest. */
function started(options: Partial<CcxtPriceOptions> = {}) {
  const of = { id: 'binance', book: 'btc_usdt', levels: 5, silentAfterMs: 60_000, pollMs: 60_000 };
  const source = new CcxtPriceSource({ ...of, url: tiny.url, clock: realClock(1), ...options });
  sources.push(source);
  const news: LivePriceNews[] = [];
  let check: () => void = () => undefined;
  source.start(one => {
    news.push(one);
    check();
  });
  const until = (isTrue: (last: LivePriceNews | undefined) => boolean): Promise<void> =>
    new Promise(resolve => {
      check = () => isTrue(news.at(-1)) && resolve();
      check();
    });
  return { source, news, until };
}

const bestBid = (news: LivePriceNews | undefined): number | undefined =>
  news?.kind === 'book' ? news.bids[0]?.[0] : undefined;

describe('a live price through ccxt', () => {
  test('follows the stream, and says its name', async () => {
    const { source, until, news } = started();
    expect(source.name).toBe('ccxt:binance btc_usdt');
    expect(news).toEqual([]);
    const moving = setInterval(() => tiny.move('b', '99.00', (Math.random() + 1).toFixed(8)), 50);
    await until(last => last?.kind === 'book' && last.sentAt !== null);
    clearInterval(moving);
    tiny.move('b', '100.25', '0.5');
    await until(last => bestBid(last) === 100.25);
    expect(news.at(-1)).toMatchObject({ kind: 'book', ageMs: 0, asks: [[101, 2]] });
    source.rejectAsUnreliable('this process was suspended');
    expect(news.at(-1)).toEqual({ kind: 'lost', reason: 'this process was suspended' });
    await until(last => bestBid(last) === 100.25);
  });

  test('confirms a quiet book by polls, and connects again if the stream does not follow the book', async () => {
    const { until, news } = started({ pollMs: 500 });
    await until(last => last?.kind === 'book');
    const count = news.length;
    await until(() => news.length >= count + 3);
    expect(news.every(({ kind }) => kind === 'book')).toBe(true);
    // The exchange's stream is stuck: the book changes, and no frame says so.
    tiny.move('b', '100.00', '0.5', true);
    await until(last => bestBid(last) === 100);
    await until(last => last?.kind === 'lost');
    expect(news.at(-1)).toEqual({
      kind: 'lost',
      reason: 'the stream sent no update, although polls show that the book has changed',
    });
    await until(last => bestBid(last) === 100);
  });

  test('a quiet book that polls confirm keeps its connection, and no poll has a time of the exchange', async () => {
    const { until, news } = started({ pollMs: 300, silentAfterMs: 2_000 });
    await until(last => last?.kind === 'book');
    const [connected, from] = [tiny.connected(), news.length];
    // More than the time after which a silent connection is replaced.
    await until(() => news.length >= from + 9);
    expect(news.filter(({ kind }) => kind === 'lost')).toEqual([]);
    expect(Math.max(connected, 1)).toBe(tiny.connected());
    for (const one of news.slice(from))
      expect(one).toMatchObject({ kind: 'book', sentAt: null, ageMs: expect.any(Number) as number });
  });

  test('polls a class without a stream within its rate limit', async () => {
    const polled = started({ id: 'bitso', book: 'btc_mxn', url: market.served.url });
    await polled.until(last => last?.kind === 'book');
    const of = polled.news.at(-1)!;
    if (of.kind !== 'book') throw new Error('expected a book');
    expect([of.bids[0], of.asks[0]]).toEqual([
      [1_499_990, 1],
      [1_500_010, 1],
    ]);
    expect(of.ageMs).toBeGreaterThan(0);
    // The book of Bitso has the time of its last change, which says nothing about the time of the read.
    expect(of.sentAt).toBeNull();
  });

  test('a wrong id and a missing book are one line each, and nothing is thrown', async () => {
    const wrong = started({ id: 'binanse' });
    await wrong.until(last => last?.kind === 'lost');
    expect(wrong.news[0]).toMatchObject({
      reason: expect.stringMatching(/^ccxt 4\.5\.84 has no exchange "binanse"; nearest names: binance/) as string,
    });
    const missing = started({ book: 'btc_eur' });
    await missing.until(last => last?.kind === 'lost');
    expect(missing.news[0]).toEqual({
      kind: 'lost',
      reason: 'ccxt:binance has no spot book btc_eur; nearest names: btc_usdt',
    });
  });

  test("an exchange has the same name in ccxt as here, by which the bot's own book is found", () => {
    const found = installedCcxt();
    if (found.kind === 'unusable') throw new Error(found.sentence);
    expect(VENUES.map(({ name }) => name).filter(name => !found.ids.includes(name))).toEqual([]);
  });

  test('from a frame of the exchange to the news it takes milliseconds', async () => {
    const { until, news } = started();
    const moving = setInterval(() => tiny.move('b', '99.00', (Math.random() + 1).toFixed(8)), 50);
    await until(last => last?.kind === 'book' && last.sentAt !== null);
    clearInterval(moving);
    const delays: number[] = [];
    for (let n = 0; n < 200; n++) {
      const amount = String(1 + n);
      const from = performance.now();
      tiny.move('b', '99.00', amount);
      await until(last => last?.kind === 'book' && last.bids[0]?.[1] === Number(amount));
      delays.push(performance.now() - from);
    }
    delays.sort((a, b) => a - b);
    console.info(`ccxt: frame to news, median ${delays[100]!.toFixed(2)} ms, p99 ${delays[197]!.toFixed(2)} ms`);
    expect(delays[100]!).toBeLessThan(50);
    expect(news.at(-1)?.kind).toBe('book');
  });
});
