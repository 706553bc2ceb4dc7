/** Kraken's stream after an unreadable frame, and a cancel whose end is pending. */
import { expect, test } from 'vitest';
import { randomOf, VirtualClock, type StreamListener, type StreamNews } from '../../../src/core/index.ts';
import { krakenFrame } from '../../../src/exchange/kraken/stream/frames.ts';
import { LevelBook } from '../../../src/exchange/kraken/stream/levelBook.ts';
import { krakenStream } from '../../../src/exchange/kraken/stream/stream.ts';
import { reply, scriptedKraken } from './scripted.ts';

test('a connection that keeps the snapshot of the book back is dropped, although its heartbeats arrive', async () => {
  const clock = new VirtualClock(1_700_000_000_000);
  const listeners: StreamListener[] = [];
  const news: StreamNews[] = [];
  const transport = {
    connect: (listener: StreamListener) => {
      listeners.push(listener);
      return { send: () => undefined, close: () => undefined };
    },
  };
  const stream = krakenStream({ transport, clock, random: randomOf(1), book: 'btc_usd', depth: 10 });
  stream.start(one => news.push(one));
  const say = (frame: object): void => listeners.at(-1)!.text(JSON.stringify(frame));
  const level = { price: 30000.1, qty: 1.5 };
  const book = new LevelBook(10);
  book.replace({ bids: [{ price: '30000.1', amount: '1.5' }], asks: [] });
  const checksum = book.checksum({ price: 1, amount: 8 });
  const begin = (): void => {
    listeners.at(-1)!.open();
    const pair = {
      symbol: 'BTC/USD',
      base: 'BTC',
      quote: 'USD',
      status: 'online',
      price_precision: 1,
      qty_precision: 8,
    };
    say({ channel: 'instrument', type: 'snapshot', data: { pairs: [pair] } });
    for (const channel of ['book', 'trade']) say({ method: 'subscribe', success: true, result: { channel } });
    say({ channel: 'book', type: 'snapshot', data: [{ symbol: 'BTC/USD', bids: [level], asks: [], checksum }] });
  };
  begin();
  expect(news.at(-1)).toMatchObject({ kind: 'book' });
  say({ channel: 'book', type: 'update', data: [{}] });
  for (let n = 0; n < 12; n++) {
    await clock.advance(1_000);
    if (listeners.length === 1) say({ channel: 'heartbeat' });
  }
  expect(news).toContainEqual({ kind: 'down', reason: 'no snapshot of the book was received for 10000 ms' });
  await clock.advance(2_000);
  expect(listeners).toHaveLength(2);
  begin();
  expect(news.at(-1)).toMatchObject({ kind: 'book' });
  stream.close();
});

test.each([
  ['pairs', { channel: 'instrument', data: {} }],
  ['bids', { channel: 'book', data: [{ symbol: 'BTC/USD', asks: [], checksum: 0 }] }],
  ['asks', { channel: 'book', data: [{ symbol: 'BTC/USD', bids: [], checksum: 0 }] }],
])('a snapshot without its list %s is refused, and an update without it changes nothing of it', (name, of) => {
  const read = (type: string) => krakenFrame(JSON.stringify({ ...of, type }));
  expect(() => read('snapshot')).toThrow(name);
  expect(read('update')).toMatchObject({ [name]: [] });
});

test('a cancel that is pending is unknown, because the order may still execute', async () => {
  const { client } = scriptedKraken(() => reply({ count: 1, pending: true }));
  expect(await client.cancel({ originIds: ['mm-1-1'] })).toMatchObject({ kind: 'unknown' });
});
