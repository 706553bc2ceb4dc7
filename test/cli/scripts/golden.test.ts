import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { naiveGolden, type NaiveRow } from '../../backtest/naiveReplay.ts';
import { syntheticMarket } from '../../backtest/syntheticMarket.ts';
import { Bench, ROOT } from '../program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const golden = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [join(ROOT, 'dist/test/scripts/golden.js'), ...args]);

/** The events as records of 24 bytes. */
function written(name: string, events: readonly NaiveRow[]): string {
  const bytes = Buffer.alloc(events.length * 24);
  events.forEach(({ at, local, trade, side, tick, lots }, i) => {
    bytes.writeDoubleLE(at, 24 * i);
    [local - at, tick, lots, (trade ? 1 : 0) + (side === 'sell' ? 2 : 0)].forEach((field, n) =>
      bytes.writeInt32LE(field, 24 * i + 8 + 4 * n),
    );
  });
  writeFileSync(bench.path(name), bytes);
  return bench.path(name);
}

describe('npm run golden', () => {
  test('prints the counts and amounts of any event file as one line of JSON', async () => {
    const events = syntheticMarket(3, 5_000);
    const { stdout } = await golden('--tape', written('tape.bin', events), '--half-spread', '3', '--interval-ms', '50');
    const slow = naiveGolden(events, {
      halfSpreadTicks: 3,
      interval: 50_000,
      latency: 10_000,
      orderLots: 50,
      positionMaxLots: 1_000,
    });
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    const said = JSON.parse(stdout) as Record<string, number>;
    expect(said).toMatchObject({
      steps: slow.steps,
      submits: slow.submits,
      cancels: slow.cancels,
      fills: slow.fills,
      position: slow.positionLots / 1_000,
      volume: slow.volumeLots / 1_000,
      events: 5_000,
    });
    expect(said['balance']).toBeCloseTo(Number(slow.cash) / 1e4, 9);
    expect(said['fee']).toBeCloseTo(-Number(slow.turnover) / 1e8, 4);
    expect(said['eventsPerSecond']).toBeGreaterThan(0);
  });

  test('counts the same on the event file as a stored tape, read ahead by a thread', async () => {
    const file = written('stored.bin', syntheticMarket(7, 150_000));
    const dir = bench.path('stored');
    const { stdout: stored } = await golden('--tape', file, '--store', dir);
    expect(JSON.parse(stored)).toMatchObject({ rows: 150_000 });
    const [memory, tape] = await Promise.all([golden('--tape', file), golden('--tape', dir)]);
    const counts = (text: string) => ({ ...(JSON.parse(text) as object), eventsPerSecond: 0 });
    expect(counts(tape.stdout)).toEqual(counts(memory.stdout));
  });

  test('refuses a file that is torn or out of time, by name', async () => {
    const events = syntheticMarket(3, 100);
    const torn = bench.file('torn.bin', 'not whole records');
    await expect(golden('--tape', torn)).rejects.toThrow(/torn\.bin: 17 bytes are not whole 24-byte records/);
    const backwards = written('backwards.bin', [...events].reverse());
    await expect(golden('--tape', backwards)).rejects.toThrow(/backwards\.bin: record \d+ is out of time/);
  });
});
