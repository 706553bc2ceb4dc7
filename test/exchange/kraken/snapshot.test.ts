/** Kraken's stream after an unreadable frame, its books beside polled ones, and a cancel whose end is pending. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomOf, sleep, VirtualClock, type StreamListener, type StreamNews } from '../../../src/core/index.ts';
import { krakenFrame } from '../../../src/exchange/kraken/stream/frames.ts';
import { LevelBook } from '../../../src/exchange/kraken/stream/levelBook.ts';
import { krakenStream } from '../../../src/exchange/kraken/stream/stream.ts';
import { runsOf } from '../../many.ts';
import { reply, scriptedKraken } from './scripted.ts';

const PAIR = {
  ...{ symbol: 'BTC/USD', base: 'BTC', quote: 'USD', status: 'online', price_precision: 1, qty_precision: 8 },
};

/** Opens a connection and subscribes it, with a book of one bid. */
function beginStream(listener: StreamListener): void {
  const say = (frame: object): void => listener.text(JSON.stringify(frame));
  const book = new LevelBook(10);
  book.replace({ bids: [{ price: '30000.1', amount: '1.5' }], asks: [] });
  const checksum = book.checksum({ price: 1, amount: 8 });
  listener.open();
  say({ channel: 'instrument', type: 'snapshot', data: { pairs: [PAIR] } });
  for (const channel of ['book', 'trade']) say({ method: 'subscribe', success: true, result: { channel } });
  const bid = { price: 30000.1, qty: 1.5 };
  say({ channel: 'book', type: 'snapshot', data: [{ symbol: 'BTC/USD', bids: [bid], asks: [], checksum }] });
}

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
  beginStream(listeners.at(-1)!);
  expect(news.at(-1)).toMatchObject({ kind: 'book' });
  say({ channel: 'book', type: 'update', data: [{}] });
  for (let n = 0; n < 12; n++) {
    await clock.advance(1_000);
    if (listeners.length === 1) say({ channel: 'heartbeat' });
  }
  expect(news).toContainEqual({ kind: 'down', reason: 'no snapshot of the book was received for 10000 ms' });
  await clock.advance(2_000);
  expect(listeners).toHaveLength(2);
  beginStream(listeners.at(-1)!);
  expect(news.at(-1)).toMatchObject({ kind: 'book' });
  stream.close();
});

/** Moments of polls and frames: a poll's request waits, its book is read in between, and its answer comes late. */
const moments = fc.array(
  fc.record({
    ms: fc.constantFrom(0, 1, 300, 1_500),
    what: fc.constantFrom('poll', 'frame', 'frame', 'pass', 'the clock of this machine is set'),
    thereMs: fc.constantFrom(0, 1, 400, 2_000),
    backMs: fc.constantFrom(0, 1, 400, 2_000),
  }),
  { minLength: 2, maxLength: 14 },
);

test('a polled book comes before each book of the stream that arrives once it is asked for, and after all earlier ones', async () => {
  const seen = { before: 0, after: 0 };
  await fc.assert(
    fc.asyncProperty(moments, async history => {
      const clock = new VirtualClock(1_700_000_000_000);
      let next = history[0]!;
      /** Time of the request by its reply, as told in the amount of its only bid. */
      const asked: number[] = [];
      const { client } = scriptedKraken(
        async () => {
          const { thereMs, backMs } = next;
          const bid = ['30000.1', String(asked.push(clock.elapsed())), 1_700_000_000];
          await sleep(clock, thereMs + backMs);
          return reply({ XXBTZUSD: { bids: [bid], asks: [] } });
        },
        { clock },
      );
      const listeners: StreamListener[] = [];
      const frames: { readonly at: number; readonly sequence: bigint }[] = [];
      const transport = {
        connect: (listener: StreamListener) => {
          listeners.push(listener);
          return { send: () => undefined, close: () => undefined };
        },
      };
      const stream = krakenStream({ transport, clock, random: randomOf(1), book: 'btc_usd', depth: 10 });
      stream.start(news => {
        if (news.kind === 'book') frames.push({ at: clock.elapsed(), sequence: news.snapshot.sequence });
      });
      const say = (frame: object): void => listeners.at(-1)!.text(JSON.stringify(frame));
      beginStream(listeners.at(-1)!);
      const levels = new LevelBook(10);
      levels.replace({ bids: [{ price: '30000.1', amount: '1.5' }], asks: [] });
      const checksum = levels.checksum({ price: 1, amount: 8 });
      const polls: { readonly calledAt: number; readonly at: number; readonly sequence: bigint }[] = [];
      for (const moment of history) {
        await clock.advance(moment.ms);
        next = moment;
        if (moment.what === 'the clock of this machine is set') clock.step(moment.thereMs - moment.backMs);
        if (moment.what === 'frame')
          say({ channel: 'book', type: 'update', data: [{ symbol: 'BTC/USD', bids: [], asks: [], checksum }] });
        const calledAt = clock.elapsed();
        if (moment.what === 'poll')
          void client.orderBook('btc_usd', true).then(outcome => {
            if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
            const number = Number(outcome.value.bids[0]!.amount);
            polls.push({ calledAt, at: asked[number - 1]!, sequence: outcome.value.sequence });
          });
      }
      await clock.advance(20_000);
      expect(polls).toHaveLength(history.filter(({ what }) => what === 'poll').length);
      expect(frames.length).toBeGreaterThanOrEqual(history.filter(({ what }) => what === 'frame').length);
      for (const poll of polls)
        for (const frame of frames) {
          // While a request waits for its turn, both orders are right.
          if (frame.at < poll.calledAt) expect(poll.sequence > frame.sequence).toBe(true);
          if (frame.at > poll.at) expect(poll.sequence < frame.sequence).toBe(true);
          seen.before += Number(frame.at > poll.at);
          seen.after += Number(frame.at < poll.calledAt);
        }
      for (const all of [polls, frames]) expect(new Set(all.map(({ sequence }) => sequence)).size).toBe(all.length);
      stream.close();
    }),
    runsOf(1_000, 40),
  );
  expect(Math.min(seen.before, seen.after)).toBeGreaterThan(0);
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
