/** ccxt in its thread against real sockets: silence, closed and broken connections, and what is left after its end. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { realClock } from '../../src/live/realClock.ts';
import { CcxtMarket, type CcxtMarketNews, type CcxtMarketOptions } from '../../src/ccxt/ccxtMarket.ts';
import { sized } from '../many.ts';
import { tinyExchange, type TinyExchange } from './tinyExchange.ts';

let tiny: TinyExchange;
let markets: CcxtMarket[] = [];
beforeEach(async () => {
  tiny = await tinyExchange();
});
afterEach(async () => {
  await Promise.all(markets.map(market => market.close()));
  markets = [];
  await tiny.close();
});

const PAUSES = { first: 50, longest: 200 };

/** A started market with all of its news, and a wait for a condition on them. */
function started(options: Partial<CcxtMarketOptions> = {}) {
  const of = { id: 'binance', book: 'btc_usdt', wants: 'tape', levels: 10, silentAfterMs: 60_000 } as const;
  const market = new CcxtMarket({ ...of, url: tiny.url, clock: realClock(1), pauses: PAUSES, ...options });
  markets.push(market);
  const news: CcxtMarketNews[] = [];
  let check: () => void = () => undefined;
  market.start(one => {
    news.push(one);
    check();
  });
  const until = (isTrue: () => boolean): Promise<void> =>
    new Promise(resolve => {
      check = () => isTrue() && resolve();
      check();
    });
  const books = () => news.flatMap(one => (one.kind === 'book' ? [one.book] : []));
  const losses = () => news.flatMap(one => (one.kind === 'lost' ? [one.reason] : []));
  return { market, news, until, books, losses };
}

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** Waits until a stream is connected, then moves a price until a book arrives with it. */
async function flows({ until, books }: ReturnType<typeof started>): Promise<void> {
  const before = books().length;
  let n = 0;
  const moving = setInterval(() => tiny.move('b', '99.00', `${1 + ++n}.00000000`), 50);
  await until(() => books().length > before + 2);
  clearInterval(moving);
}

describe('ccxt in its thread', () => {
  test('sends the book and the trades as text, with times of the exchange', async () => {
    const of = started();
    await flows(of);
    tiny.move('a', '100.12345678', '0.00000012');
    await of.until(() => of.books().at(-1)!.asks[0]![0] === '100.12345678');
    tiny.trade('100.5', '0.123456789012345678');
    await of.until(() => of.news.some(({ kind }) => kind === 'trades'));
    const book = of.books().at(-1)!;
    expect(book.asks).toEqual([
      ['100.12345678', '0.00000012'],
      ['101', '2'],
    ]);
    expect(Math.abs(book.sentAt! - Date.now())).toBeLessThan(10_000);
    const [traded] = of.news.flatMap(one => (one.kind === 'trades' ? one.trades : []));
    expect(traded).toMatchObject({ id: '1', price: '100.5', amount: '0.123456789012345678', takerSide: 'buy' });
    expect(of.losses()).toEqual([]);
  });

  test('reads rules, books and trades by requests, digits as they were sent', async () => {
    const { market } = started({ wants: 'polls' });
    tiny.move('b', '98.12', '1.234567890123456789');
    tiny.trade('100.5', '0.123456789012345678');
    expect(await market.ask('rules')).toMatchObject({
      kind: 'done',
      value: { tickSize: '0.01', minimumAmount: '0.00001', maximumAmount: '9000', minimumValue: '5' },
    });
    const book = await market.ask('book');
    expect(book).toMatchObject({
      kind: 'done',
      value: {
        inexact: 0,
        bids: [
          ['99', '1.5'],
          ['98.12', '1.234567890123456789'],
        ],
      },
    });
    expect(await market.ask('trades')).toMatchObject({ value: { trades: [{ amount: '0.123456789012345678' }] } });
    expect(tiny.connected()).toBe(0);
  });

  test('replaces a connection whose book does not change, and closes the old one first', async () => {
    const of = started({ silentAfterMs: 1_500 });
    await flows(of);
    const before = tiny.connected();
    await of.until(() => of.losses().length > 0);
    expect(of.losses()[0]).toBe('the book has not changed for 1.5 s');
    await flows(of);
    expect(tiny.connected()).toBeGreaterThan(before);
    // One connection per topic: depth and trades.
    expect(tiny.streams()).toBeLessThanOrEqual(2);
  });

  test.each([1000, 1001, 1011, 1013, undefined])('continues after a connection that ends with code %s', async code => {
    const of = started();
    await flows(of);
    tiny.cut(code);
    await of.until(() => of.losses().length > 0);
    await flows(of);
    expect(of.losses().every(reason => reason.length > 0 && reason.length <= 400 && !reason.includes('\n'))).toBe(true);
  });

  test.each([
    'no JSON {',
    '[]',
    'null',
    '"text"',
    '{"e":"depthUpdate"}',
    '{"e":"depthUpdate","E":1,"s":"BTCUSDT","U":1,"u":9999999,"b":[["x","y"]],"a":[]}',
    '{"e":"depthUpdate","E":1,"s":"BTCUSDT","U":5000,"u":5001,"b":"no list","a":null}',
    '{"e":"trade","s":"BTCUSDT"}',
    '{"error":{"code":2,"msg":"Invalid request"},"id":1}',
    Buffer.from([0, 255, 254]),
  ])('survives the frame %s, and its book is right afterwards', async frame => {
    const of = started({ silentAfterMs: 3_000 });
    await flows(of);
    tiny.send(frame);
    await flows(of);
    tiny.move('a', '100.50', '7.00000000');
    await of.until(() =>
      of
        .books()
        .at(-1)!
        .asks.some(([price, amount]) => price === '100.5' && amount === '7'),
    );
  });

  test.each(['stalled', 'cut', 'html'] as const)('an answer that is %s has an unknown outcome in time', async fault => {
    const { market } = started({ wants: 'polls', requestMs: 1_000 });
    expect((await market.ask('book')).kind).toBe('done');
    tiny.fault = fault;
    const from = performance.now();
    const outcome = await market.ask('book');
    expect(outcome.kind).toBe('unknown');
    expect(performance.now() - from).toBeLessThan(20_000);
    tiny.fault = 'none';
    expect((await market.ask('book')).kind).toBe('done');
  });

  test('says which books are nearest if the exchange lacks the book', async () => {
    const { market, losses, until } = started({ book: 'btc_usdc' });
    const outcome = await market.ask('rules');
    const said = 'ccxt:binance has no spot book btc_usdc; nearest names: btc_usdt';
    expect(outcome).toEqual({ kind: 'unknown', reason: said });
    await until(() => losses().length > 0);
    expect(losses()[0]).toBe(said);
  });

  test('leaves no connection after its end, and answers every request', async () => {
    const of = started();
    await flows(of);
    const asked = [of.market.ask('book'), of.market.ask('rules')];
    await of.market.close();
    for (const outcome of await Promise.all(asked)) expect(['done', 'refused']).toContain(outcome.kind);
    expect(await of.market.ask('book')).toMatchObject({ kind: 'refused', code: 'closed' });
    while (tiny.sockets() > 0) await sleep(20);
    const heard = of.news.length;
    tiny.move('a', '100.50', '7.00000000');
    await sleep(100);
    expect(of.news.length).toBe(heard);
  });

  const RESTARTS = sized(1_000, 6);
  test(
    `after ${RESTARTS} restarts only the last connections are open, and no memory is kept`,
    { timeout: 1_700_000 },
    async () => {
      const of = started({ pauses: { first: 1, longest: 1 } });
      await flows(of);
      const heap: number[] = [];
      for (let n = 0; n < RESTARTS; n++) {
        const before = tiny.connected();
        of.market.restart('test');
        const moving = setInterval(() => tiny.move('b', '99.00', `${1 + (n % 5)}.00000000`), 20);
        await of.until(() => of.news.at(-1)!.kind === 'book' && tiny.connected() > before);
        clearInterval(moving);
        of.news.length = 0;
        heap.push(process.memoryUsage().rss / 1e6);
      }
      expect(of.market.restarts).toBe(RESTARTS);
      expect(tiny.streams()).toBe(2);
      // One REST connection of the running thread may be kept alive.
      while (tiny.sockets() > 3) await sleep(20);
      const median = (of: number[]) => [...of].sort((a, b) => a - b)[Math.floor(of.length / 2)]!;
      // Megabytes of the process: the last tenth of the restarts against the second tenth.
      const tenth = Math.max(1, Math.floor(RESTARTS / 10));
      expect(median(heap.slice(-tenth)) - median(heap.slice(tenth, 2 * tenth))).toBeLessThan(60);
    },
  );
});
