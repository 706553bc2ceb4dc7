/** `puntas promote` on a market whose edge is planted: every stage passes by its own evidence, the net among it, and nothing is approved anyway. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { storedPlanted } from '../backtest/profile/storedPlanted.ts';
import { Bench, endPrograms, printed, ran } from './program.ts';

const bench = new Bench();
afterEach(endPrograms);
afterAll(() => bench.clear());

/** Takers who know nothing, in a market that hardly moves: a maker keeps his distance less the fee of 10 bps. */
const EDGE = { perMinute: 6, decayPerBps: 0.06, move: 0, moveOfReach: 0, volatilityBps: 3 };
const DISTANCE = 18;

type Told = {
  readonly end: string;
  readonly stage: string;
  readonly check: {
    readonly result: string;
    readonly findings: readonly { readonly criterion: string; readonly result: string; readonly found: string }[];
    readonly run: { readonly interval: { readonly low: number; readonly high: number } } | null;
  };
};
const promote = async (live: string, ...args: readonly string[]): Promise<Told> =>
  printed(await ran(['promote', ...args, '-c', live, '--json'])) as Told;

test('an edge takes a candidate through replay, paper and the smallest size by its net after 60 s', async () => {
  const tape = storedPlanted(bench.path('tape'), 7, 2, EDGE);
  const live = bench.config('sandbox', text => {
    const tree = parse(text) as { exchange: object; timing: object; strategy: object };
    const exchange = { ...tree.exchange, market: { kind: 'tape', dir: tape } };
    // Sixty times faster the market is read sixty times more seldom.
    const timing = { ...tree.timing, staleAfterMs: 120_000 };
    return stringify({ ...tree, exchange, timing, strategy: { ...tree.strategy, levels: 1 } });
  });
  const best = readFileSync(live, 'utf8').replace('halfSpreadBps: 16', `halfSpreadBps: ${DISTANCE}`);
  // At this speed hours and uptime depend on the machine; every criterion of the net has its default.
  const traded = { hoursLeast: 0.5, fillsLeast: 30, uptimeLeast: 0 };
  const criteria = stringify({ replay: { tapes: [{ path: tape }], segments: 1 }, paper: traded, smallest: traded });
  const from = ['start', bench.file('best.yaml', best), '--criteria', bench.file('criteria.yaml', criteria)];
  await promote(live, ...from, '--reason', 'a test');
  expect(await promote(live, 'approve', '--reason', 'it pays')).toMatchObject({ end: 'done', stage: 'paper' });

  for (const [file, names, next] of [
    [live.replace('.yaml', '.promotions/1/paper.yaml'), ['net60s', 'as replay'], 'smallest'],
    [live, ['net60s', 'as paper', 'ledger'], 'promoted'],
  ] as const) {
    let told = await promote(live, 'check');
    // A busy machine gets fewer hours and fills into the same time.
    for (let i = 0; i < 16 && told.check.result === 'not yet'; i++) {
      expect((await ran(['run', '-c', file, '--speed', '60', '--for', '45s'])).code).toBe(0);
      told = await promote(live, 'check');
    }
    const { result, findings, run } = told.check;
    expect([result, findings.filter(found => found.result !== 'passed')]).toEqual(['passed', []]);
    expect(findings.map(({ criterion }) => criterion)).toEqual(expect.arrayContaining([...names]));
    expect(run!.interval.low).toBeGreaterThan(0);
    // Nobody keeps more than his distance.
    expect(run!.interval.high).toBeLessThan(DISTANCE);
    expect(await promote(live, 'approve', '--reason', 'it pays')).toMatchObject({ end: 'done', stage: next });
  }
}, 1_700_000);
