import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { recordFlow } from '../../../backtest/index.ts';
import { TapeWriter } from '../../../src/tape/index.ts';
import { Bench, complaints, ran } from '../program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

type Report = {
  readonly hash: string;
  readonly tape: { readonly hash: string };
  readonly models: readonly {
    readonly model: string;
    readonly fills: number;
    readonly hedges: { readonly begun: number };
    readonly orders: { readonly placed: number };
  }[];
};

/** Hedges soon and often, before a desk that loses and refuses. */
const hedged = (text: string): string =>
  `${text}\nhedge: { band: '0.004', residual: '0', pauseMs: 5000 }\nbacktest: { desk: { lostShare: 0.2, refusedShare: 0.2 } }\n`;

describe('puntas backtest', () => {
  test('without a tape trades the seeded market: three models, and the same report twice', async () => {
    const out = bench.path('report');
    const args = ['backtest', '-c', bench.config(), '--flow-seconds', '90', '--json'];
    const [first, second] = [await ran([...args, '--out', out]), await ran(args)];
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(second.stdout).toBe(first.stdout);
    const report = JSON.parse(first.stdout) as Report;
    expect(report.models.map(({ model }) => model)).toEqual(['pessimistic', 'expected', 'optimistic']);
    for (const { model, fills, orders } of report.models) {
      const lines = (name: string) =>
        readFileSync(`${out}/${name}-${model}.csv`, 'utf8').trimEnd().split('\n').length - 1;
      expect(lines('fills')).toBe(fills);
      expect(lines('orders')).toBe(orders.placed);
    }
  });

  test('gives the same report whatever the number of threads, in memory and from a stored tape, with latencies that are drawn and a desk that fails', async () => {
    const dir = bench.path('tape');
    const tape = recordFlow('btc_mxn', 3, 70);
    const writer = new TapeWriter({ dir, rules: tape.rules, source: 'flow', blockRows: 900 });
    writer.append(tape.columns);
    writer.close();
    const drawn = [
      '--latency-ms',
      'lognormal:20,0.5',
      '--cancel-latency-ms',
      'exponential:5,15',
      '--feed-latency-ms',
      '3',
    ];
    for (const market of [
      ['--flow-seconds', '70', '--seed', '3'],
      ['--tape', dir],
    ]) {
      const args = ['backtest', '-c', bench.config('sandbox', hedged), ...market, ...drawn, '--json'];
      const reports = await Promise.all(['1', '3'].map(threads => ran([...args, '--threads', threads])));
      const [one, three] = reports.map(({ stdout }) => stdout);
      expect(reports.map(({ code, stderr }) => [code, stderr])).toEqual([0, 0].map(code => [code, '']));
      expect(three).toBe(one);
      expect((JSON.parse(one!) as Report).models.every(({ fills, hedges }) => fills > 0 && hedges.begun > 0)).toBe(
        true,
      );
    }
  });

  test('another seed is another market', async () => {
    const hash = async (seed: string) => {
      const args = ['--flow-seconds', '20', '--models', 'expected', '--json', '--seed', seed];
      return (JSON.parse((await ran(['backtest', '-c', bench.config(), ...args])).stdout) as Report).tape.hash;
    };
    expect(await hash('5')).not.toBe(await hash('6'));
  });

  test.each([
    [['--models', 'hopeful'], /no fill model "hopeful"; there are pessimistic, expected/],
    [['--tape', '/nowhere/at/all'], /nowhere\/at\/all: no such folder/],
    [['--flow-seconds', 'long'], /expected a whole number/],
    [['--threads', '0'], /expected a whole number from 1 to 64/],
    [['--latency-ms', 'quick'], /--latency-ms: expected ms, exponential:LEAST,MEAN.* found "quick"/],
    [['--latency-ms', 'exponential:5,4'], /--latency-ms: latency needs 0 <= least <= mean/],
  ])('says in one line what is wrong with %j', async (args, sentence) => {
    const ended = await ran(['backtest', '-c', bench.config(), ...args]);
    expect(ended.code).toBe(2);
    expect(complaints(ended)).toHaveLength(1);
    expect(ended.stderr).toMatch(sentence);
    expect(existsSync(bench.path('report-none'))).toBe(false);
  });
});
