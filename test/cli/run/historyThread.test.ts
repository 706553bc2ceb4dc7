/** The thread of the built program that reads past trades: the event loop turns meanwhile, and a limit ends the read. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordFlow } from '../../../backtest/index.ts';
import type { EngineEvent } from '../../../src/core/index.ts';
import { recordedTrades } from '../../../src/live/market/recordedTrades.ts';
import { LineWriter } from '../../../src/live/recording/recording.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { TapeWriter } from '../../../src/tape/index.ts';
import { readInThread } from '../../../src/wiring/history/pastTradesSources.ts';
import { tapeTrades } from '../../../src/wiring/history/tapeTrades.ts';
import { ROOT } from '../program.ts';

const FILE = join(ROOT, 'dist/src/wiring/history/historyThread.js');
const UNLIMITED = new AbortController().signal;
const dir = mkdtempSync(join(tmpdir(), 'puntas-history-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const tape = recordFlow('btc_mxn', 5, 900);
const { instrument } = tape;
const wanted = { instrument, since: tape.columns.at[0]! + 1, run: 2 };

beforeAll(() => {
  const writer = new TapeWriter({ dir: join(dir, 'tape'), rules: tape.rules, source: 'flow' });
  writer.append(tape.columns);
  writer.close();
  const lines = new LineWriter();
  const recorder = recorderIn(dir, { run: 1, startedAt: wanted.since, setup: '{}', format: 2 });
  const write = (events: readonly EngineEvent[]) => recorder.write(events.map(event => lines.input(event)));
  write([
    { kind: 'rules', at: wanted.since, instrument, makerRate: 0, takerRate: 0 },
    { kind: 'history', at: wanted.since, since: wanted.since - 10, source: 'x', last: '0', trades: [] },
  ]);
  for (let piece = 0; piece < 100; piece++)
    write(
      Array.from({ length: 500 }, (_, n): EngineEvent => {
        const tid = 500 * piece + n + 1;
        const trade = { price: (100_000 + (tid % 977)) as never, amount: (tid % 991) as never, side: 'buy' } as const;
        return { kind: 'public trade', at: wanted.since + tid, ...trade, tid: String(tid) };
      }),
    );
  recorder.close();
});

describe('past trades on the disk are read in a thread of the built program', () => {
  test('with the same result, while the event loop turns', async () => {
    expect(existsSync(FILE)).toBe(true);
    const fromTape = await readInThread({ from: 'tape', dir: join(dir, 'tape'), wanted }, UNLIMITED, FILE);
    expect(fromTape).toEqual(tapeTrades(join(dir, 'tape'), wanted));
    expect(fromTape!.trades.length).toBeGreaterThan(50);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const recorded = await readInThread({ from: 'recordings', dir, wanted }, UNLIMITED, FILE);
    clearInterval(timer);
    expect(recorded).toEqual(recordedTrades(dir, wanted));
    expect(recorded!.last).toBe(50_000n);
    expect(turns).toBeGreaterThan(5);
  });

  test('with the problem of the source as its error', async () => {
    const other = { ...wanted, instrument: { ...instrument, lot: '7' } };
    await expect(
      readInThread({ from: 'tape', dir: join(dir, 'tape'), wanted: other }, UNLIMITED, FILE),
    ).rejects.toThrow(/the tape has ticks of .*, expected .* and 7/);
    expect(await readInThread({ from: 'recordings', dir, wanted: { ...wanted, run: 1 } }, UNLIMITED, FILE)).toBe(null);
  });

  test('and a limit ends the read with its reason, before and during it', async () => {
    const limit = new AbortController();
    const read = readInThread({ from: 'recordings', dir, wanted }, limit.signal, FILE);
    limit.abort(new Error('too long'));
    await expect(read).rejects.toThrow('too long');
    await expect(readInThread({ from: 'recordings', dir, wanted }, limit.signal, FILE)).rejects.toThrow('too long');
  });

  test('and an error of the thread after that does not end the program', async () => {
    const file = join(dir, 'broken.mjs');
    writeFileSync(file, "const end = Date.now() + 300;\nwhile (Date.now() < end);\nthrow new Error('broken');\n");
    const limit = new AbortController();
    const uncaught: unknown[] = [];
    const onUncaught = (error: unknown) => void uncaught.push(error);
    process.on('uncaughtException', onUncaught);
    try {
      const read = readInThread({ from: 'recordings', dir, wanted }, limit.signal, file);
      await new Promise(resolve => setTimeout(resolve, 150));
      limit.abort(new Error('too long'));
      // The thread fails while the event loop is blocked, so its error arrives after the abort.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 800);
      await expect(read).rejects.toThrow('too long');
      await new Promise(resolve => setTimeout(resolve, 50));
      expect(uncaught).toEqual([]);
    } finally {
      process.off('uncaughtException', onUncaught);
    }
  });
});
