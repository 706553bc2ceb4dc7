/** Trades that a strategy file receives in a backtest, by time: its history from before the start, and nothing of the future. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reportOf, rowsOfTape } from '../../backtest/index.ts';
import type { Amount, Quote, Strategy } from '../../src/core/index.ts';
import { KIND } from '../../src/tape/index.ts';
import { guarded } from '../../strategies/guarded.ts';
import { silent } from '../../strategies/quoteLevels.ts';
import { runsOf } from '../many.ts';
import { engineOf, rows, run, tape } from './ladderRun.ts';

const [START, END] = [rows.at[0]!, rows.local[rows.length - 1]!];
const HISTORY_MS = 120_000;
const FROM = START + 300_000;

type Call = { readonly kind: 'trade' | 'quote'; readonly at: number; readonly text: string };

/** Returns the calls of a strategy with a history, from the start of trading to `to`. */
function callsUpTo(to: number, market = rows): readonly Call[] {
  const calls: Call[] = [];
  const note = (kind: Call['kind'], { at, ...rest }: { readonly at: number }) =>
    void calls.push({ kind, at, text: inspect({ at, ...rest }, { depth: 9, maxArrayLength: 200 }) });
  const strategy: Strategy = guarded(
    'own.ts',
    tape.instrument,
    () => ({
      trade: trade => note('trade', trade),
      quote: view => {
        note('quote', view);
        return silent('nothing');
      },
    }),
    () => ({ warmupMs: 0, historyMs: HISTORY_MS }),
  );
  run({ rows: market, from: FROM, to, engine: engineOf(tape.instrument, strategy) });
  expect(strategy.quoteLog?.failure).toBe(null);
  return calls;
}

describe('a strategy with a history in a backtest', () => {
  test('receives the trades of that time before its first quote, oldest first, and each later one', () => {
    const calls = callsUpTo(END);
    const times = calls.flatMap(({ kind, at }) => (kind === 'trade' ? [at] : []));
    const first = calls.findIndex(({ kind }) => kind === 'quote');
    const before = calls.slice(0, first).filter(({ at }) => at < FROM);
    const { columns } = tape;
    const recorded = Array.from({ length: columns.length }, (_, row) => row)
      .filter(row => columns.kind[row] === KIND.trade)
      .filter(row => columns.local[row]! < FROM && columns.at[row]! >= FROM - HISTORY_MS)
      .map(row => columns.at[row]!);
    expect(recorded.length).toBeGreaterThan(5);
    expect(before.map(({ at }) => Math.round(at))).toEqual(recorded.map(Math.round));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.length).toBeGreaterThan(recorded.length);
  });

  test('sees the same up to a time, whatever comes after it', () => {
    const at = FROM + 200_000;
    const { columns } = tape;
    const later = Float64Array.from(columns.amount, (amount, row) =>
      columns.kind[row] === KIND.trade && columns.local[row]! > at ? 7 * amount : amount,
    );
    const changed = rowsOfTape({ ...tape, columns: { ...columns, amount: later } });
    const [own, other] = [callsUpTo(END), callsUpTo(END, changed)].map(calls => calls.filter(call => call.at <= at));
    expect(own!.length).toBeGreaterThan(300);
    expect(other).toEqual(own);
    // The change is seen after the time.
    expect(callsUpTo(END, changed)).not.toEqual(callsUpTo(END));
    expect(callsUpTo(at)).toEqual(own);
  });
});

describe('a strategy file that does not quote yet', () => {
  test('names one need at all times, whatever is left of it, and has the time in the report', () => {
    fc.assert(
      fc.property(
        ...[fc.integer({ min: 0, max: 300_000 }), fc.integer({ min: 0, max: 300_000 }), fc.boolean()],
        fc.constantFrom('own.ts', './a-b.js', '/x/7/own9.ts'),
        (warmupMs, historyMs, isWarm, file) => {
          const times = isWarm ? { warmupMs, historyMs: 0 } : { warmupMs: 0, historyMs };
          const own = { trade: () => undefined, quote: () => silent('own words') };
          const strategy = guarded(
            file,
            tape.instrument,
            () => own,
            () => times,
          );
          const { result } = run({ from: START, to: START + 200_000, engine: engineOf(tape.instrument, strategy) });
          const { missing } = reportOf(tape.instrument, result);
          const ms = warmupMs * Number(isWarm) + historyMs * Number(!isWarm);
          const needs = missing.filter(({ reason }) => reason.startsWith(file));
          const verb = isWarm ? 'learns from the market for' : 'needs the trades of';
          expect(needs.map(({ reason }) => reason)).toEqual(
            needs.length === 0 ? [] : [`${file} ${verb} ${Math.ceil(ms / 1_000)} s`],
          );
          // Decisions are a second apart at most.
          const seconds = needs[0]?.bidSeconds ?? 0;
          expect(Math.abs(seconds - Math.min(ms, 200_000) / 1_000)).toBeLessThan(3);
        },
      ),
      runsOf(100, 20),
    );
  });
});

describe('a strategy file with a fault in a backtest', () => {
  const quote = { bids: [], asks: [], noBid: 'none wanted', noAsk: 'none wanted' };
  const result = (third: () => Quote) => {
    let calls = 0;
    const strategy = guarded('own.ts', tape.instrument, () => ({ quote: () => (++calls === 3 ? third() : quote) }));
    return run({ from: FROM, to: FROM + 60_000, engine: engineOf(tape.instrument, strategy) }).result;
  };

  test.each<readonly [string, () => Quote, RegExp]>([
    [
      'that throws',
      () => {
        throw new Error('no luck');
      },
      /^own\.ts failed: no luck; correct the file$/,
    ],
    [
      'that quotes no number once',
      () => ({ ...quote, bids: [{ price: Number.NaN, amount: 1 as Amount, why: [] }] }),
      /^own\.ts returned an invalid quote: bids\[0\]\.price: expected a finite number, found NaN; correct the file$/,
    ],
  ])('%s is named in the report', (_, third, sentence) => {
    const found = result(third);
    expect(found.strategyFault).toMatch(sentence);
    expect(reportOf(tape.instrument, found).strategyFault).toMatch(sentence);
  });

  test('has no sentence without a fault', () => {
    const found = result(() => quote);
    expect(found.strategyFault).toBe(null);
    expect(reportOf(tape.instrument, found)).not.toHaveProperty('strategyFault');
  });
});
