/** A strategy with a history gets the same of a market from the live bot as from the backtest, with any gaps. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rowsOfTape } from '../../backtest/index.ts';
import { RecordedTradeHistory } from '../../backtest/replay/recordedTradeHistory.ts';
import {
  PAST_TRADES_MAX,
  pastTradesUpTo,
  settle,
  textOfAmount,
  textOfPrice,
  VirtualClock,
  type Amount,
  type EngineEvent,
  type Price,
  type PublicTrade,
  type Strategy,
} from '../../src/core/index.ts';
import { CompleteTradeFeed } from '../../src/live/market/completeTrades.ts';
import { readPastTrades, type TradeLists } from '../../src/live/market/pastTrades.ts';
import { KIND, SIDE, type Gap } from '../../src/tape/index.ts';
import { silent } from '../../strategies/quoteLevels.ts';
import { memoryLog } from '../memoryLog.ts';
import { runsOf } from '../many.ts';
import { engineOf, rows, run, tape } from './ladderRun.ts';

const { columns, instrument } = tape;
const [START, END] = [rows.at[0]!, rows.local[rows.length - 1]!];
const HISTORY_MS = 60_000;
/** Longer than the live bot tries to read missed trades, so that it gives up before the next gap. */
const BETWEEN_MS = 20_000;
const LENGTH_MS = 30_000;

const TRADE_ROWS = Array.from({ length: columns.length }, (_, row) => row).filter(
  row => columns.kind[row] === KIND.trade,
);

/** Calls of a strategy. A gap without any other call in it is left out: the live bot always starts with one. */
function listener() {
  const calls: (readonly unknown[])[] = [];
  const strategy: Strategy = {
    historyMs: HISTORY_MS,
    quote: () => silent('nothing'),
    trade: ({ at, price, amount, side }) => void calls.push(['trade', at, price, amount, side]),
    history: ({ since, trades }) =>
      void calls.push(['history', since, ...trades.map(({ at, price, amount, side }) => [at, price, amount, side])]),
    historyGap: isOpen => {
      if (!isOpen && calls.at(-1)?.[0] === 'gap') calls.pop();
      else calls.push([isOpen ? 'gap' : 'end of gap']);
    },
  };
  return { calls, strategy };
}

const isIn = (gaps: readonly Gap[], at: number): boolean => gaps.some(({ from, to }) => at > from && at < to);

/** The tape without its rows in the gaps, as a recorder that was down leaves it. */
function withGaps(gaps: readonly Gap[]) {
  const kept = Array.from({ length: columns.length }, (_, row) => row).filter(row => !isIn(gaps, columns.at[row]!));
  const part = <T extends Float64Array | Uint8Array>(column: T): T =>
    column.filter((_, row) => !isIn(gaps, columns.at[row]!)) as T;
  const { kind, side, at, local, price, amount, id } = columns;
  return rowsOfTape({
    ...tape,
    gaps,
    columns: {
      ...{ length: kept.length, kind: part(kind), side: part(side), at: part(at), local: part(local) },
      ...{ price: part(price), amount: part(amount), id: part(id) },
    },
  });
}

function backtested(gaps: readonly Gap[], from: number, to: number) {
  const { calls, strategy } = listener();
  run({ rows: withGaps(gaps), gaps, from, to, engine: engineOf(instrument, strategy) });
  return calls;
}

const publicTrade = (row: number): PublicTrade => ({
  book: instrument.symbol,
  tid: String(columns.id[row]!),
  createdAt: columns.at[row]!,
  price: textOfPrice(instrument, columns.price[row]! as Price),
  amount: textOfAmount(instrument, columns.amount[row]! as Amount),
  makerSide: columns.side[row] === SIDE.buy ? 'sell' : 'buy',
});

/** The live reads of trades, on an exchange that lists the trades from before the start and then no others. */
async function live(gaps: readonly Gap[], from: number, to: number) {
  const { calls, strategy } = listener();
  const engine = engineOf(instrument, strategy)({ makerRate: 0, takerRate: 0 }, () => undefined);
  const known = TRADE_ROWS.filter(row => !isIn(gaps, columns.at[row]!)).map(publicTrade);
  const before = known.filter(({ createdAt }) => createdAt < from);
  const clock = new VirtualClock(START);
  let fails = false;
  const lists: TradeLists = {
    limits: { tradesPage: 100, ordersPage: 1, depth: 1 },
    trades: async (_book, { marker, limit = 25, sort = 'desc' } = {}) => {
      // The newest trades of the list could be more than the tape has.
      if (fails || sort === 'desc') return { kind: 'unknown', reason: 'no answer' };
      const later = before.filter(({ tid }) => Number(tid) > Number(marker ?? 0));
      return { kind: 'done', value: later.slice(0, limit) };
    },
  };
  await clock.advance(from - clock.now());
  const since = Math.max(START, ...gaps.filter(gap => gap.to <= from).map(gap => gap.to));
  const trades = before
    .filter(({ createdAt }) => createdAt >= since)
    .map(({ tid, createdAt, makerSide }) => {
      const row = TRADE_ROWS.find(at => columns.id[at] === Number(tid))!;
      const [price, amount] = [columns.price[row]! as Price, columns.amount[row]! as Amount];
      const side: 'buy' | 'sell' = makerSide === 'buy' ? 'sell' : 'buy';
      return { tid: BigInt(tid), at: createdAt, price, amount, side };
    });
  const last = BigInt(before.at(-1)?.tid ?? 0);
  const source = { name: 'the tape', read: async () => ({ since, last, trades }) };
  const history = await readPastTrades(
    { instrument, run: 1, time: () => clock.now(), ms: HISTORY_MS },
    { sources: [source], lists },
    expect.unreachable,
    new AbortController().signal,
  );
  const step = (event: EngineEvent) => void engine.step(event);
  step(history);
  const feed = new CompleteTradeFeed({
    ...{ lists, clock, log: memoryLog().log, instrument: () => instrument, time: () => clock.now(), step, history },
    ...{ historyMs: HISTORY_MS, tradeReportDelayMaxMs: 0, canReadLatest: true },
    onBroken: error => expect.unreachable(String(error)),
  });
  feed.start();
  let isDown = isIn(gaps, from);
  if (!isDown) {
    feed.current();
    await settle();
  }
  fails = true;
  const changes = gaps.flatMap(gap => [
    { at: gap.from, isDown: true },
    { at: gap.to, isDown: false },
  ]);
  const later = known.filter(({ createdAt }) => createdAt >= from).map(trade => ({ at: trade.createdAt, trade }));
  const turns = [...changes.filter(({ at }) => at >= from), ...later]
    .filter(({ at }) => at <= to)
    .sort((a, b) => a.at - b.at);
  for (const turn of turns) {
    await clock.advance(turn.at - clock.now());
    await settle();
    if ('trade' in turn) feed.hear([turn.trade]);
    else if (turn.isDown) feed.lost();
    else feed.current();
    if (!('trade' in turn)) isDown = turn.isDown;
    await settle();
  }
  if (!isDown) await clock.advance(BETWEEN_MS);
  feed.stop();
  return calls;
}

describe('a strategy with a history gets the same calls, with the same times, from the live bot and from the backtest', () => {
  test('without a gap, and with one that spans the start', async () => {
    const from = START + 200_000.5;
    const to = from + 100_000;
    for (const gaps of [[], [{ from: from - 20_000, to: from + 20_000, why: 'x' }]]) {
      const calls = backtested(gaps, from, to);
      expect(calls.filter(([kind]) => kind === 'trade').length).toBeGreaterThan(5);
      expect(calls.filter(([kind]) => kind === 'history').map(([, since]) => since)).toEqual([
        from - HISTORY_MS,
        ...gaps.map(gap => gap.to),
      ]);
      expect(await live(gaps, from, to)).toEqual(calls);
    }
  });

  test('with any gaps', async () => {
    const pause = fc.integer({ min: BETWEEN_MS, max: 120_000 });
    const length = fc.integer({ min: 1, max: LENGTH_MS });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(pause, length), { maxLength: 5 }),
        fc.integer({ min: 30_000, max: 300_000 }),
        async (cuts, after) => {
          const from = START + after + 0.5;
          const to = Math.min(END, from + 200_000);
          let at = START + 0.25;
          const gaps = cuts.map(([wait, ms]): Gap => {
            const gap = { from: at + wait, to: at + wait + ms, why: 'x' };
            at = gap.to;
            return gap;
          });
          expect(await live(gaps, from, to)).toEqual(backtested(gaps, from, to));
        },
      ),
      runsOf(40, 6),
    );
  });
});

test('a backtest starts with the newest trades of a history that has more than the maximum', () => {
  const told: EngineEvent[] = [];
  const count = 2 * PAST_TRADES_MAX + 7;
  const [from, ms] = [count + 10, count + 5];
  const history = new RecordedTradeHistory({ from, ms, gaps: [], step: event => void told.push(event) });
  const trade = { price: 1 as Price, amount: 1 as Amount, side: 'buy' } as const;
  for (let at = 1; at <= count; at++) {
    history.row(at);
    history.trade(at, { ...trade, tradedAt: at });
  }
  history.advanceTo(from);
  const all = Array.from({ length: count }, (_, n) => ({ ...trade, at: n + 1 }));
  const known = pastTradesUpTo({ now: from, ms, since: 1 }, all);
  expect(told).toMatchObject([{ kind: 'history', since: count - PAST_TRADES_MAX + 1 }]);
  const [first] = told;
  expect(first?.kind === 'history' && [first.since, first.trades]).toEqual([known.since, known.trades]);
});
