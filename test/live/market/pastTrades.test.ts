import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  settle,
  VirtualClock,
  PAST_TRADES_MAX,
  type EngineEvent,
  type Instrument,
  type Outcome,
  type PublicTrade,
  type StreamTrade,
} from '../../../src/core/index.ts';
import { CompleteTradeFeed } from '../../../src/live/market/completeTrades.ts';
import {
  ListReads,
  pageAfter,
  readPastTrades,
  RecentTrades,
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
const UNLIMITED = new AbortController().signal;

const tradeAt = (n: number, at: number): PublicTrade => ({
  ...{ book: plain.symbol, tid: String(10 + 3 * n), createdAt: at },
  ...{ price: String(1_000 + n), amount: '1', makerSide: n % 2 === 0 ? 'sell' : 'buy' },
});

/** Lists of an exchange with these trades, oldest first, which answers as rest-api 4.8 says. */
function listsOf(
  all: readonly PublicTrade[],
  tradesPage: number,
  fails: () => boolean = () => false,
  isListed: (trade: PublicTrade) => boolean = () => true,
) {
  let requests = 0;
  const lists: TradeLists = {
    limits: { tradesPage, ordersPage: 1, depth: 1 },
    trades: async (_book, { marker, limit = 25, sort = 'desc' } = {}): Promise<Outcome<readonly PublicTrade[]>> => {
      requests++;
      if (fails()) return { kind: 'unknown', reason: 'no answer' };
      const listed = all.filter(isListed);
      const sorted = sort === 'asc' ? listed : listed.toReversed();
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
            read: async () => {
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
            { instrument: plain, run: 2, time: () => NOW, ms },
            { sources, lists },
            // Short pages can be too many, so that a source is not used.
            why => expect(why).toMatch(/^source \d: the list of the exchange does not continue/),
            UNLIMITED,
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
      read: () => Promise.reject(new Error('no rows')),
    };
    const of = { instrument: plain, run: 2, time: () => NOW, ms: 1_000 };
    const found = await readPastTrades(of, { sources: [broken], lists }, why => warned.push(why), UNLIMITED);
    expect(found).toMatchObject({ since: NOW, last: null, trades: [] });
    expect(warned).toEqual(['./tape: no rows; the trades there are not used']);
  });

  test('leaves out the oldest trades of a very long one, and starts later then', async () => {
    const trades = Array.from({ length: PAST_TRADES_MAX + 5 }, (_, n): NumberedTrade => ({
      ...{ tid: BigInt(n + 1), at: NOW - 40_000 + n, price: 1 as never, amount: 1 as never, side: 'buy' },
    }));
    const last = trades.at(-1)!.tid;
    const source = { name: 'x', read: async () => ({ since: NOW - 50_000, last, trades }) };
    const of = { instrument: plain, run: 2, time: () => NOW, ms: 50_000 };
    const listed = { ...tradeAt(0, NOW), tid: String(last), price: '1' };
    const { lists } = listsOf([listed], 5);
    const found = await readPastTrades(of, { sources: [source], lists }, expect.unreachable, UNLIMITED);
    expect([found.trades.length, found.since]).toEqual([PAST_TRADES_MAX, NOW - 40_000 + 5]);
  });

  test('has no trade of a source whose last trade the exchange does not list with the same price, amount and side', async () => {
    const all = Array.from({ length: 9 }, (_, n) => tradeAt(n, NOW - 9_000 + n * 1_000));
    const own = all.map(numbered).slice(0, 6);
    const lastTrade = own.at(-1)!;
    const of = { instrument: plain, run: 2, time: () => NOW, ms: 100_000 };
    const read = async (change: object, rows = all) => {
      const changed = { ...lastTrade, ...change };
      const complete = { since: NOW - 90_000, last: changed.tid, lastTrade: changed, trades: own };
      const warned: string[] = [];
      const source = { name: './tape', read: async () => complete };
      const { lists } = listsOf(rows, 10);
      const found = await readPastTrades(of, { sources: [source], lists }, why => warned.push(why), UNLIMITED);
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
    record(1, rules, history, { ...event(5), tradedAt: NOW + 2 } as EngineEvent, polled, event(6));
    record(2, rules, event(8));
    record(3, rules, history, event(9), null);
    record(4, { ...rules, instrument: { ...plain, tick: '7' } }, history);
    const read = (instrument: Instrument, since: number, run: number) =>
      recordedTrades(dir, { instrument, since, run });
    const found = read(plain, NOW - 1_000, 4);
    expect(found).toMatchObject({ since: NOW - 100, last: 6n });
    expect(found!.trades.map(({ at, side }) => [at, side])).toEqual([
      [NOW - 50, 'sell'],
      [NOW + 2, 'buy'],
      [NOW + 6, 'buy'],
    ]);
    expect(read(plain, NOW - 1_000, 1)).toBe(null);
    expect(read({ ...plain, lot: '3' }, 0, 5)).toBe(null);
  });
});

test('a recording with more trades than a history may have gives the newest, complete from the oldest of them on', () => {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-many-'));
  const recorder = recorderIn(dir, { run: 1, startedAt: NOW, setup: '{}', format: 2 });
  const writer = new LineWriter();
  const line = (event: EngineEvent) => writer.input(event);
  recorder.write([line({ kind: 'history', at: NOW, since: NOW - 5, source: 'x', last: '0', trades: [] })]);
  const count = 2 * PAST_TRADES_MAX + 3;
  const lines = Array.from({ length: count }, (_, n) =>
    line({
      ...{ kind: 'public trade', at: NOW + n, price: 1 as never, amount: 1 as never, side: 'buy', tid: String(n + 1) },
    }),
  );
  recorder.write(lines);
  recorder.close();
  const found = recordedTrades(dir, { instrument: plain, since: 0, run: 2 })!;
  expect([found.trades.length, found.since, found.last]).toEqual([
    PAST_TRADES_MAX,
    NOW + count - PAST_TRADES_MAX,
    BigInt(count),
  ]);
});

test('a trade of the list that has no place in the history is named: one with an id that is no number, or without a price', async () => {
  const all = Array.from({ length: 4 }, (_, n) => tradeAt(n, NOW - 4_000 + n * 1_000));
  const read = async (change: Partial<PublicTrade>) => {
    const warned: string[] = [];
    const { lists } = listsOf(
      all.map((trade, n) => (n === 2 ? { ...trade, ...change } : trade)),
      10,
    );
    const of = { instrument: plain, run: 2, time: () => NOW, ms: 60_000 };
    const found = await readPastTrades(of, { sources: [], lists }, why => warned.push(why), UNLIMITED);
    return [found.trades.length, ...warned];
  };
  expect(await read({})).toEqual([4]);
  expect(await read({ price: 'x' })).toEqual([
    3,
    "the history lacks trade 16 of the exchange's list, because the price or amount is not valid in this book",
  ]);
  expect(await read({ tid: 'a7' })).toEqual([
    0,
    'the exchange lists a trade with the id "a7", expected a whole number; the list is not used',
  ]);
});

/** Maximum delay of the lists in the next laws. */
const DELAY_MAX_MS = 8_000;

test('after any outages of the stream and of the lists, which are late, each trade is reported once, in order and with its time, or a new start of the history; a gap is open whenever one may be missing', async () => {
  const turn = fc.constantFrom('trade', 'trade', 'trade', 'lost', 'current', 'fails', 'works', 'wait', 'second');
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 5 }),
      fc.nat(DELAY_MAX_MS),
      async (turns, page, delay) => {
        const clock = new VirtualClock();
        const all: PublicTrade[] = [tradeAt(0, clock.now())];
        let [isUp, fails, isGapOpen] = [false, false, false];
        const { lists } = listsOf(
          all,
          page,
          () => fails,
          ({ createdAt }) => createdAt <= clock.now() - delay || createdAt === 0,
        );
        const told: EngineEvent[] = [];
        const numberOf = (tid: string) => (Number(tid) - 10) / 3;
        const last = all[0]!.tid;
        let [next, isMissing] = [1, false];
        let current = { at: clock.now(), next: 1 };
        const feed = new CompleteTradeFeed({
          ...{ lists, clock, log: memoryLog().log, instrument: () => plain, time: () => clock.now() },
          step: event => {
            told.push(event);
            if (event.kind === 'history gap') {
              isGapOpen = event.isOpen;
              if (!isGapOpen) expect(isMissing).toBe(false);
            }
            if (event.kind === 'history') {
              [isGapOpen, isMissing] = [false, false];
              // Without the lists, nothing is known of the trades before the stream was current.
              if (event.source === 'the stream') {
                expect(event.since).toBe(current.at);
                next = current.next;
              } else next = Math.max(next, numberOf(event.last!) + 1);
            }
            if (event.kind !== 'public trade') return;
            const n = numberOf(event.tid!);
            expect([event.at, event.tradedAt]).toEqual([clock.now(), all[n]!.createdAt]);
            // Trades from before a new start of the history can follow it, once the lists have them again.
            isMissing ||= n > next;
            next = Math.max(next, n + 1);
          },
          history: { last, trades: [] },
          ...{ historyMs: 10_000, tradeReportDelayMaxMs: DELAY_MAX_MS, canReadLatest: true },
          onBroken: error => expect.unreachable(String(error)),
        });
        feed.start();
        const isCurrent = () => {
          if (!isUp) current = { at: clock.now(), next: all.length };
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
          if (one === 'second') await clock.advance(1_000);
          await settle();
          if (!isUp) expect(isGapOpen).toBe(true);
          if (!isGapOpen) expect([next, isMissing]).toEqual([all.length, false]);
        }
        fails = false;
        for (let i = 0; i < 3; i++) {
          isCurrent();
          await clock.advance(60_000);
        }
        feed.stop();
        expect([next, isGapOpen]).toEqual([all.length, false]);
        const numbers = told.flatMap(event => (event.kind === 'public trade' ? [numberOf(event.tid!)] : []));
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
      },
    ),
    {
      numRuns: 200,
      examples: [
        // A stream that is lost while a failed read waits: the read that follows is not the last.
        [['fails', 'current', 'works', 'lost', 'wait', 'trade'], 1, 0],
        // Trades that cannot be read: the history starts when the stream is current for the second time.
        [['current', 'second', 'lost', 'trade', 'second', 'fails', 'current', 'trade', 'wait', 'trade'], 1, 0],
        // Trades of two streams wait, and one between them is missing.
        [['fails', 'current', 'trade', 'lost', 'trade', 'second', 'current', 'trade', 'wait', 'trade'], 2, 0],
        // A list without the trade that the stream has just missed.
        [['lost', 'trade', 'current', 'trade', 'wait'], 5, 3_000],
      ],
    },
  );
});

/** Feed after an outage of so many trades, one each second, on lists of short pages. */
async function afterOutage(missed: number, historyMs: number, canReadLatest = true) {
  const clock = new VirtualClock();
  const all = Array.from({ length: missed }, (_, n) => tradeAt(n, clock.now() + 1_000 * n));
  const { lists, requests } = listsOf(all, 4);
  const told: EngineEvent[] = [];
  const feed = new CompleteTradeFeed({
    ...{ lists, clock, log: memoryLog().log, instrument: () => plain, time: () => clock.now() },
    ...{ step: event => void told.push(event), historyMs, tradeReportDelayMaxMs: DELAY_MAX_MS, canReadLatest },
    history: { last: all[0]!.tid, trades: [] },
    onBroken: error => expect.unreachable(String(error)),
  });
  feed.start();
  await clock.advance(1_000 * missed);
  feed.current();
  const newest = tradeAt(missed, clock.now());
  all.push(newest);
  feed.hear([newest]);
  await clock.advance(60_000);
  await settle();
  feed.stop();
  const kinds = [...new Set(told.map(event => (event.kind === 'history gap' ? `gap ${event.isOpen}` : event.kind)))];
  const tids = told.flatMap(event => (event.kind === 'public trade' ? [event.tid] : []));
  const histories = told.flatMap(event => (event.kind === 'history' ? [event] : []));
  return { all, requests, kinds, tids, histories };
}

test('an outage of more pages than are read in a row costs no history, and reads end at the first trade of the stream', async () => {
  const { all, requests, kinds, tids } = await afterOutage(42, 1_000_000);
  expect(kinds).toEqual(['gap true', 'public trade', 'gap false']);
  expect(tids).toEqual(all.slice(1).map(({ tid }) => tid));
  expect(requests()).toBe(11);
});

test('after an outage longer than the history, the history starts again with the latest trades of the lists', async () => {
  const { all, requests, kinds, histories, tids } = await afterOutage(200, 30_000);
  expect(kinds).toEqual(['gap true', 'public trade', 'history', 'gap false']);
  expect(histories).toMatchObject([{ last: all.at(-1)!.tid, source: 'the exchange' }]);
  expect(histories[0]!.at - histories[0]!.since).toBe(30_000);
  expect(requests()).toBeLessThan(20);
  expect(tids).toEqual(all.slice(1, 21).map(({ tid }) => tid));
  // The lists of paper trading lack the trades from before it.
  expect((await afterOutage(200, 30_000, false)).histories).toEqual([]);
});

test('the newest trades of a source are complete from the later of its own start and the oldest of them', () => {
  const trade = (n: number): NumberedTrade => ({
    tid: BigInt(n),
    at: n,
    price: 1 as never,
    amount: 1 as never,
    side: 'buy',
  });
  for (const count of [0, 1, PAST_TRADES_MAX, PAST_TRADES_MAX + 1, 2 * PAST_TRADES_MAX, 2 * PAST_TRADES_MAX + 7])
    for (const since of [0, PAST_TRADES_MAX + 3]) {
      const recent = new RecentTrades(since);
      for (let n = 0; n < count; n++) recent.add(trade(n));
      const first = Math.max(0, count - PAST_TRADES_MAX);
      const { trades, ...complete } = recent.complete;
      expect(complete).toEqual({ since: first === 0 ? since : Math.max(since, first) });
      expect([trades.length, trades[0]?.at]).toEqual([count - first, count === 0 ? undefined : first]);
    }
});

test('a page has the trades after a number that are valid in the book, ends at its newest trade, and is full by what was listed', async () => {
  const LIMIT = 4;
  const row = fc.record({ gap: fc.integer({ min: 1, max: 3 }), isValid: fc.constantFrom(true, true, false) });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: LIMIT }), fc.nat(9), async (rows, last) => {
      let tid = 0;
      const listed = rows.map(({ gap, isValid }, n) => ({
        ...tradeAt(n, 100 + n),
        ...{ tid: String((tid += gap)), price: isValid ? String(50 + n) : '0.00000000001' },
      }));
      const lists: TradeLists = {
        limits: { tradesPage: LIMIT, ordersPage: 1, depth: 1 },
        trades: async () => ({ kind: 'done', value: listed }),
      };
      const reads = new ListReads(lists, plain);
      const page = await pageAfter(reads, BigInt(last));
      const next = listed.filter(each => Number(each.tid) > last);
      const left = next.filter((_, n) => !rows[listed.indexOf(next[n]!)]!.isValid).map(each => each.tid);
      if (listed.length === LIMIT && next.length === 0) {
        expect(page).toBeNull();
        return;
      }
      expect(page).toMatchObject({
        newest: BigInt(next.at(-1)?.tid ?? last),
        newestAt: next.at(-1)?.createdAt ?? null,
        isFull: listed.length === LIMIT,
      });
      expect(page!.trades.map(each => String(each.tid))).toEqual(
        next.map(each => each.tid).filter(id => !left.includes(id)),
      );
      const others = left.length === 2 ? ' and 1 other' : ` and ${left.length - 1} others`;
      if (left.length === 0) expect(reads.problem).toBeNull();
      else
        expect(reads.problem).toBe(
          `the history lacks trade ${left[0]}${left.length === 1 ? '' : others} of the exchange's list, because the price or amount is not valid in this book`,
        );
    }),
    { numRuns: 300 },
  );
});
