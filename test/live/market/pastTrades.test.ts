import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  settle,
  VirtualClock,
  type EngineEvent,
  type Outcome,
  type PublicTrade,
  type StreamTrade,
} from '../../../src/core/index.ts';
import { CompleteTradeFeed } from '../../../src/live/market/completeTrades.ts';
import {
  PAST_TRADES_MAX,
  readPastTrades,
  type NumberedTrade,
  type PastTradesSource,
  type TradeLists,
} from '../../../src/live/market/pastTrades.ts';
import { LineWriter } from '../../../src/live/recording/recording.ts';
import { recordedTrades } from '../../../src/live/market/recordedTrades.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { memoryLog } from '../../memoryLog.ts';
import { plain } from '../../core/market.ts';

const NOW = 1_000_000;

const tradeAt = (n: number, at: number): PublicTrade => ({
  ...{ book: plain.symbol, tid: String(10 + 3 * n), createdAt: at },
  ...{ price: String(1_000 + n), amount: '1', makerSide: n % 2 === 0 ? 'sell' : 'buy' },
});

/** Lists of an exchange with these trades, oldest first, which answers as rest-api 4.8 says. */
function listsOf(all: readonly PublicTrade[], tradesPage: number, fails: () => boolean = () => false) {
  let requests = 0;
  const lists: TradeLists = {
    limits: { tradesPage, ordersPage: 1, depth: 1 },
    trades: async (_book, { marker, limit = 25, sort = 'desc' } = {}): Promise<Outcome<readonly PublicTrade[]>> => {
      requests++;
      if (fails()) return { kind: 'unknown', reason: 'no answer' };
      const sorted = sort === 'asc' ? all : all.toReversed();
      const after = (tid: string) =>
        marker === undefined || (sort === 'asc' ? BigInt(tid) > BigInt(marker) : BigInt(tid) < BigInt(marker));
      return { kind: 'done', value: sorted.filter(({ tid }) => after(tid)).slice(0, limit) };
    },
  };
  return { lists, requests: () => requests };
}

const numbered = ({ tid, createdAt, makerSide }: PublicTrade, n: number): NumberedTrade => ({
  ...{ tid: BigInt(tid), at: createdAt, price: (1_000 + n) as never, amount: 1 as never },
  side: makerSide === 'sell' ? 'buy' : 'sell',
});

const market = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 80 }).map(steps => {
  let at = NOW - steps.reduce((sum, step) => sum + step, 0);
  return steps.map((step, n) => tradeAt(n, (at += step)));
});

describe('the history of a strategy', () => {
  test('has every trade since its start once, in order, whatever the sources and the lists have', async () => {
    await fc.assert(
      fc.asyncProperty(
        market,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1_000, max: 200_000 }),
        fc.array(fc.tuple(fc.nat(80), fc.nat(80)), { maxLength: 3 }),
        async (all, page, ms, cuts) => {
          const sources = cuts.map(([a, b], i): PastTradesSource => ({
            name: `source ${i}`,
            read: () => {
              const [from, to] = [Math.min(a, b), Math.min(Math.max(a, b), all.length - 1)];
              const part = all.map(numbered).slice(from, to + 1);
              const [first] = part;
              if (first === undefined) return null;
              const lastTrade = part.at(-1)!;
              return { since: first.at, last: lastTrade.tid, ...(i > 0 && { lastTrade }), trades: part };
            },
          }));
          const { lists, requests } = listsOf(all, page);
          const found = await readPastTrades(
            { instrument: plain, run: 2, now: NOW, ms },
            { sources, lists },
            // Short pages can be too many, so that a source is not used.
            why => expect(why).toMatch(/^source \d: the list of the exchange does not continue/),
          );
          const wanted = Math.max(found.since, NOW - ms);
          const since = all.flatMap((trade, n) =>
            trade.createdAt >= wanted
              ? [[trade.createdAt, 1_000 + n, 1, trade.makerSide === 'sell' ? 0 : 1] as const]
              : [],
          );
          // Trades of the first millisecond may be cut by a page.
          expect(found.trades.filter(([at]) => at > found.since)).toEqual(since.filter(([at]) => at > found.since));
          expect(found.since).toBeLessThanOrEqual(NOW);
          if (all.length > 0) expect(found.last).toBe(all.at(-1)!.tid);
          if (all.length < page) expect(found.since).toBeLessThanOrEqual(NOW - ms);
          expect(requests()).toBeLessThanOrEqual(10 * (cuts.length + 2));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('starts now if the lists cannot be read, and names a source that cannot', async () => {
    const { lists } = listsOf([tradeAt(0, NOW - 5)], 5, () => true);
    const warned: string[] = [];
    const broken: PastTradesSource = {
      name: './tape',
      read: () => {
        throw new Error('no rows');
      },
    };
    const of = { instrument: plain, run: 2, now: NOW, ms: 1_000 };
    const found = await readPastTrades(of, { sources: [broken], lists }, why => warned.push(why));
    expect(found).toMatchObject({ since: NOW, last: null, trades: [] });
    expect(warned).toEqual(['./tape: no rows; the trades there are not used']);
  });

  test('leaves out the oldest trades of a very long one, and starts later then', async () => {
    const trades = Array.from({ length: PAST_TRADES_MAX + 5 }, (_, n): NumberedTrade => ({
      ...{ tid: BigInt(n + 1), at: NOW - 40_000 + n, price: 1 as never, amount: 1 as never, side: 'buy' },
    }));
    const last = trades.at(-1)!.tid;
    const source = { name: 'x', read: () => ({ since: NOW - 50_000, last, trades }) };
    const of = { instrument: plain, run: 2, now: NOW, ms: 50_000 };
    const listed = { ...tradeAt(0, NOW), tid: String(last), price: '1' };
    const { lists } = listsOf([listed], 5);
    const found = await readPastTrades(of, { sources: [source], lists }, expect.unreachable);
    expect([found.trades.length, found.since]).toEqual([PAST_TRADES_MAX, NOW - 40_000 + 5]);
  });

  test('has no trade of a source whose last trade the exchange does not list with the same price, amount and side', async () => {
    const all = Array.from({ length: 9 }, (_, n) => tradeAt(n, NOW - 9_000 + n * 1_000));
    const own = all.map(numbered).slice(0, 6);
    const lastTrade = own.at(-1)!;
    const of = { instrument: plain, run: 2, now: NOW, ms: 100_000 };
    const read = async (change: object, rows = all) => {
      const changed = { ...lastTrade, ...change };
      const complete = { since: NOW - 90_000, last: changed.tid, lastTrade: changed, trades: own };
      const warned: string[] = [];
      const source = { name: './tape', read: () => complete };
      const { lists } = listsOf(rows, 10);
      const found = await readPastTrades(of, { sources: [source], lists }, why => warned.push(why));
      return [found.trades.length, warned.length];
    };
    // The trades of the exchange alone are complete, because it lists all of them.
    expect(await read({})).toEqual([9, 0]);
    for (const change of [{ price: 7 }, { amount: 7 }, { side: 'x' }, { tid: lastTrade.tid + 1n }, { tid: 10_000n }])
      expect(await read(change)).toEqual([9, 1]);
    // The list of an exchange that started again, or that no longer has the trade.
    expect(await read({}, [])).toEqual([0, 1]);
    expect(await read({}, all.slice(7))).toEqual([2, 1]);
  });

  test('is in the recordings of earlier runs: its own start and each trade after it, up to a lost line', () => {
    const event = (n: number): EngineEvent => ({
      ...{ kind: 'public trade', at: NOW + n, price: n as never, amount: 1 as never, side: 'buy', tid: String(n) },
    });
    const history: EngineEvent = {
      ...{ kind: 'history', at: NOW, since: NOW - 100, source: 'x', last: '4' },
      trades: [[NOW - 50, 3 as never, 2 as never, 1]],
    };
    const rules: EngineEvent = { kind: 'rules', at: NOW, instrument: plain, makerRate: 0, takerRate: 0 };
    const polled: EngineEvent = { kind: 'public trade', at: NOW + 7, price: 7 as never };
    const dir = mkdtempSync(join(tmpdir(), 'puntas-past-'));
    const record = (run: number, ...events: (EngineEvent | null)[]) => {
      const writer = new LineWriter();
      const recorder = recorderIn(dir, { run, startedAt: NOW, setup: '{}', format: 2 });
      recorder.write(events.map(one => (one === null ? 'g' : writer.input(one))));
      recorder.close();
    };
    record(1, rules, history, event(5), polled, event(6));
    record(2, rules, event(8));
    record(3, rules, history, event(9), null);
    record(4, { ...rules, instrument: { ...plain, tick: '7' } }, history);
    const { read } = recordedTrades(dir);
    const found = read(plain, NOW - 1_000, 4);
    expect(found).toMatchObject({ since: NOW - 100, last: 6n });
    expect(found!.trades.map(({ at, side }) => [at, side])).toEqual([
      [NOW - 50, 'sell'],
      [NOW + 5, 'buy'],
      [NOW + 6, 'buy'],
    ]);
    expect(read(plain, NOW - 1_000, 1)).toBe(null);
    expect(read({ ...plain, lot: '3' }, 0, 5)).toBe(null);
  });
});

test('after any outages of the stream and of the lists, each trade is reported once and in order, or a new start of the history', async () => {
  const turn = fc.constantFrom('trade', 'trade', 'trade', 'lost', 'current', 'fails', 'works', 'wait');
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), async (turns, page) => {
      const clock = new VirtualClock();
      const all: PublicTrade[] = [tradeAt(0, 0)];
      let [isUp, fails] = [false, false];
      const { lists } = listsOf(all, page, () => fails);
      const told: EngineEvent[] = [];
      const feed = new CompleteTradeFeed({
        ...{ lists, clock, log: memoryLog().log, instrument: () => plain, time: () => clock.now() },
        ...{
          step: event => void told.push(event),
          last: all[0]!.tid,
          onBroken: error => expect.unreachable(String(error)),
        },
      });
      const isCurrent = () => {
        isUp = true;
        feed.current();
      };
      for (const one of turns) {
        if (one === 'trade') {
          const trade: StreamTrade = tradeAt(all.length, clock.now());
          all.push(trade);
          if (isUp) feed.hear([trade]);
        }
        if (one === 'lost') {
          isUp = false;
          feed.lost();
        }
        if (one === 'current') isCurrent();
        if (one === 'fails' || one === 'works') fails = one === 'fails';
        if (one === 'wait') await clock.advance(30_000);
        await settle();
      }
      fails = false;
      for (let i = 0; i < 3; i++) {
        isCurrent();
        await clock.advance(60_000);
      }
      feed.stop();
      // After the last new start, every trade was reported; before, none twice.
      let next = 1;
      for (const event of told) {
        if (event.kind === 'history') next = -1;
        if (event.kind !== 'public trade') continue;
        const n = (Number(event.tid) - 10) / 3;
        if (next >= 0) expect(n).toBe(next);
        else expect(n).toBeGreaterThan(0);
        next = n + 1;
      }
      if (!told.some(({ kind }) => kind === 'history')) expect(next).toBe(all.length);
    }),
    // A stream that is lost while a failed read waits: the read that follows is not the last.
    { numRuns: 200, examples: [[['fails', 'current', 'works', 'lost', 'wait', 'trade'], 1]] },
  );
});
