/** Reads of past trades at the start of a run: with a limit in time, and with heartbeats if a run precedes. */
import { expect, test } from 'vitest';
import { settle, VirtualClock, type Outcome, type PublicTrade } from '../../../src/core/index.ts';
import { historiesOf, historyOf } from '../../../src/live/loop/history.ts';
import type { PastTradesSource } from '../../../src/live/market/pastTrades.ts';
import { plain } from '../../core/market.ts';
import { memoryLog } from '../../memoryLog.ts';

test('a source that does not answer is left after 20 s, said so, and heartbeats go on meanwhile', async () => {
  const clock = new VirtualClock();
  const { log, texts } = memoryLog();
  const stuck: PastTradesSource = {
    name: './tape',
    read: (_wanted, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  };
  const lists = {
    limits: { tradesPage: 5, ordersPage: 1, depth: 1 },
    trades: async (): Promise<Outcome<readonly PublicTrade[]>> => ({ kind: 'done', value: [] }),
  };
  let beats = 0;
  const venue = { exchange: lists } as unknown as Parameters<typeof historyOf>[0]['venue'];
  const book = { historyMs: 60_000 };
  const rules = { instrument: plain, makerRate: 0, takerRate: 0 };
  const parts = { clock, log, venue, beside: { pastTrades: { sources: [stuck] } }, onBeat: () => beats++ };
  let found: Awaited<ReturnType<typeof historyOf>> | undefined;
  void historyOf(parts, book, rules, 1).then(history => (found = history));
  await clock.advance(19_900);
  await settle();
  expect([found, beats]).toEqual([undefined, 19]);
  await clock.advance(200);
  await settle();
  expect(found).toMatchObject({ since: clock.now() - 60_100, last: '0', trades: [] });
  expect(texts()).toContain('./tape: reading takes longer than 20 s; the trades there are not used');
  const then = beats;
  await clock.advance(60_000);
  expect(beats).toBe(then);
});

test('lists that do not answer end the read after a minute in all, or at once when the bot stops', async () => {
  for (const isStopped of [false, true]) {
    const clock = new VirtualClock();
    const stopping = new AbortController();
    const lists = {
      limits: { tradesPage: 5, ordersPage: 1, depth: 1 },
      trades: () => new Promise<Outcome<readonly PublicTrade[]>>(() => undefined),
    };
    const venue = { exchange: lists } as unknown as Parameters<typeof historyOf>[0]['venue'];
    const book = { historyMs: 60_000 };
    const rules = { instrument: plain, makerRate: 0, takerRate: 0 };
    for (const pastTrades of [{ sources: [] }, { sources: [], lists }]) {
      const startedAt = clock.now();
      let found: Awaited<ReturnType<typeof historyOf>> | undefined;
      const parts = { clock, log: memoryLog().log, venue, beside: { pastTrades }, stopping: stopping.signal };
      void historyOf(parts, book, rules, 1).then(history => (found = history));
      await clock.advance(isStopped ? 1_000 : 59_900);
      await settle();
      expect(found === undefined).toBe(!stopping.signal.aborted);
      if (isStopped) stopping.abort();
      else await clock.advance(200);
      await settle();
      expect(found).toMatchObject({ last: null, trades: [] });
      expect(clock.now() - startedAt).toBe(isStopped ? 1_000 : 60_100);
    }
  }
});

test('of several books each has the history of its own lists, rules and length, and one that needs none has none', async () => {
  const clock = new VirtualClock(1_700_000_000_000);
  const asked: string[] = [];
  const listsOf = (name: string) => ({
    limits: { tradesPage: 5, ordersPage: 1, depth: 1 },
    trades: async (book: string): Promise<Outcome<readonly PublicTrade[]>> => {
      asked.push(`${name} ${book}`);
      return { kind: 'done', value: [] };
    },
  });
  const symbols = ['one_mxn', 'two_mxn', 'three_mxn', 'four_mxn'];
  const books = symbols.map((symbol, i) => ({ symbol, historyMs: [60_000, 120_000, 0, 240_000][i] }));
  const rules = symbols.map(symbol => ({ instrument: { ...plain, symbol }, makerRate: 0, takerRate: 0 }));
  const pastTradesOf = (i: number) => ({ sources: [], lists: listsOf(`lists ${i}`) });
  const parts = {
    ...{ clock, log: memoryLog().log, venue: { exchange: listsOf('own') } },
    beside: { pastTrades: pastTradesOf(0) },
  };
  const others = [1, 2, 3].map(i => ({ book: symbols[i]!, pastTrades: pastTradesOf(i) }));
  const found = await historiesOf(parts as never, { books } as never, rules, others, 1);
  expect([...found].map(([symbol, { since, last, ...of }]) => [symbol, of.symbol, of.at - since, last])).toEqual(
    [0, 1, 3].map(i => [symbols[i], symbols[i], books[i]!.historyMs, '0']),
  );
  expect(new Set(asked)).toEqual(new Set([0, 1, 3].flatMap(i => [`own ${symbols[i]}`, `lists ${i} ${symbols[i]}`])));
});
