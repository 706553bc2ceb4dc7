import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { FLAG, type MarketRows } from '../../backtest/index.ts';
import { runGolden } from '../scripts/goldenRun.ts';
import { naiveGolden, type NaiveRow } from './naiveReplay.ts';
import { rowsOf, syntheticMarket } from './syntheticMarket.ts';
import { readEventFile } from '../scripts/eventFile.ts';

const OPTIONS = { halfSpreadTicks: 2, interval: 100_000, latency: 10_000, orderLots: 50, positionMaxLots: 1_000 };
const GENERATOR = '../shared/bench/gen-tape.mjs';

describe('the golden run', () => {
  test.each([1, 2, 3, 4, 5])('counts what the slow merge of four streams counts, on market %i', seed => {
    const events = syntheticMarket(seed, 8_000);
    const fast = runGolden(rowsOf(events), OPTIONS);
    expect(fast).toEqual(naiveGolden(events, OPTIONS));
    expect(fast.fills).toBeGreaterThan(20);
    expect(fast.cancels).toBeGreaterThan(20);
  });

  test.each([
    { halfSpreadTicks: 0.5 },
    { halfSpreadTicks: 7, positionMaxLots: 150 },
    { interval: 7_000 },
    { interval: 250_000, latency: 90_000 },
    { latency: 0 },
    { orderLots: 3, positionMaxLots: 9 },
  ])('counts the same with %o', change => {
    const events = syntheticMarket(11, 6_000);
    const options = { ...OPTIONS, ...change };
    expect(runGolden(rowsOf(events), options)).toEqual(naiveGolden(events, options));
  });

  test('an empty market has no step', () => {
    expect(runGolden(rowsOf([]), OPTIONS)).toMatchObject({ steps: 0, fills: 0 });
  });

  const there = existsSync(GENERATOR);
  it.skipIf(!there)(
    there
      ? 'gives the numbers of the reference tape, its first 200,000 events'
      : `gives the numbers of the reference tape (skipped: ${GENERATOR} is not here)`,
    () => {
      const dir = mkdtempSync(join(tmpdir(), 'puntas-golden-'));
      try {
        execFileSync(process.execPath, [GENERATOR, '200000', join(dir, 'tape')]);
        const rows = readEventFile(join(dir, 'tape.bin'));
        expect(runGolden(rows, OPTIONS)).toEqual({
          steps: 13_393,
          submits: 20_027,
          cancels: 15_766,
          fills: 5_045,
          positionLots: 50,
          volumeLots: 252_250,
          cash: -1_172_350n,
          turnover: 7_594_430_150n,
        });
        const first = 20_000;
        expect(runGolden(rowsOf(eventsOf(rows).slice(0, first)), OPTIONS)).toEqual(
          naiveGolden(eventsOf(rows).slice(0, first), OPTIONS),
        );
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    },
  );
});

function eventsOf({ length, base, at, local, place, lots, flags }: MarketRows): NaiveRow[] {
  return Array.from({ length }, (_, i) => ({
    at: at[i]!,
    local: local[i]!,
    trade: (flags[i]! & FLAG.trade) !== 0,
    side: (flags[i]! & FLAG.sell) !== 0 ? 'sell' : 'buy',
    tick: place[i]! + base,
    lots: lots[i]!,
  }));
}
