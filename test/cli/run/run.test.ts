import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { keysOf } from '../jsonPage.ts';
import { Bench, puntas, ran } from '../program.ts';
import { BOTH_SIDES, expectClean } from './cleanEnd.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const MONEY = /^-?\d+(\.\d+)?$/;

describe('puntas run', () => {
  test('on the default configuration ends clean, with one JSON object of exactly these keys', async () => {
    const program = puntas(['run', '-c', bench.config(), '--json']);
    await program.sees(BOTH_SIDES);
    program.signal('SIGTERM');
    const ended = await program.ended;
    const summary = expectClean(ended);
    expect(ended.stdout.trimEnd().split('\n').length).toBe(1);
    expect(keysOf('run --json').slice(0, 11)).toEqual(Object.keys(summary));
    expect(Object.keys(summary)).toEqual([
      'seconds',
      'book',
      'orders',
      'fills',
      'position',
      'profit',
      'pnl',
      'uptime',
      'requests',
      'openOrdersLeft',
      'ledgerMatches',
    ]);
    expect(Object.keys(summary.orders)).toEqual(['placed', 'canceled', 'filled', 'refused', 'unknown']);
    expect(Object.keys(summary.pnl)).toEqual(['spread', 'inventory', 'fees', 'hedging', 'total']);
    expect(Object.keys(summary.position)).toEqual(['btc', 'mxn']);
    expect(Object.keys(summary.uptime)).toEqual(['bid', 'ask']);
    for (const text of [...Object.values(summary.position), ...Object.values(summary.pnl)]) expect(text).toMatch(MONEY);
    expect(summary.book).toBe('btc_mxn');
    expect(summary.orders.placed).toBeGreaterThanOrEqual(6);
    for (const share of Object.values(summary.uptime)) {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(1);
    }
    expect(summary.seconds).toBeGreaterThan(0);
  });
});

describe('puntas check', () => {
  test('prints the configuration, and the quotes with the steps of each price', async () => {
    const ended = await ran(['check', '-c', bench.config()]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('book: btc_mxn');
    expect(ended.stdout.match(/^ {2}(bid|ask) [\d.]+ at \d+ = reference: mid /gm)).toHaveLength(6);
    expect(ended.stdout).not.toContain('not placed');
    expect(ended.stdout).toMatch(
      /^ {2}bid 0\.00600000 at .*; 0\.00600000 = amount 0\.00400000 level 2 \+0\.00200000$/m,
    );
  });

  test('says how inventory changes amounts, and when run would halt on what the account holds', async () => {
    const wanting = (target: string) =>
      bench.config('sandbox', text => text.replace(/target: .*/, `target: '${target}'`));
    const leaning = await ran(['check', '-c', wanting('1.49')]);
    expect(leaning.stdout).toMatch(
      /^ {2}bid .*; 0\.\d+ = amount 0\.00400000 (level 2 \+0\.00200000 )?inventory -0\.\d+/m,
    );
    expect(leaning.stdout).not.toContain('would halt');
    const { code, stdout } = await ran(['check', '-c', wanting('0.5')]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^the bot would halt immediately after its start: position: 1 btc from the target is beyond its limit$/m,
    );
    expect(stdout).toMatch(/no bid: at the cap \(inventory is at its limit\)/);
  });

  test('says that a halt is latched', async () => {
    const file = bench.config();
    const { state } = parse(readFileSync(file, 'utf8')) as { state: { dir: string } };
    latchIn(state.dir).set({ reason: 'drawdown', at: 0, by: 'bot' });
    expect((await ran(['check', '-c', file])).stdout).toMatch(
      /^the bot would not quote, because it is halted by the bot \(drawdown\); investigate/m,
    );
  });
});
