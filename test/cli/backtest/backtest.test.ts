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
  readonly warmUpFrom?: string;
  readonly fillLatencyMs?: string;
  readonly latencySweep?: readonly { readonly latencyMs: number; readonly model: string; readonly hash: string }[];
  readonly models: readonly {
    readonly model: string;
    readonly hash: string;
    readonly from: string;
    readonly seconds: number;
    readonly fills: number;
    readonly volume: object;
    readonly pnl: object;
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
    const tape = recordFlow('btc_mxn', 5, 70);
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
      ['--flow-seconds', '70', '--seed', '5'],
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

  test('trades a part of a recording as if it ended there, alike from memory and from a stored tape, and says what the rows before were for', async () => {
    const tape = recordFlow('btc_mxn', 5, 120);
    const stored = (name: string, until: number): string => {
      const dir = bench.path(name);
      const writer = new TapeWriter({ dir, rules: tape.rules, source: 'flow', blockRows: 900 });
      const { columns } = tape;
      const rows = columns.at.subarray(0, columns.length).filter(at => at <= until).length;
      writer.append({ ...columns, length: rows });
      writer.close();
      return dir;
    };
    const from = tape.columns.at[0]!;
    const time = (seconds: number): string => new Date(from + seconds * 1000).toISOString();
    const whole = stored('whole', Infinity);
    const cut = stored('cut', from + 90_000);
    const report = async (...args: readonly string[]): Promise<Report> => {
      const ended = await ran([
        'backtest',
        '-c',
        bench.config(),
        '--models',
        'expected',
        '--json',
        '--seed',
        '5',
        ...args,
      ]);
      expect([ended.code, ended.stderr]).toEqual([0, '']);
      return JSON.parse(ended.stdout) as Report;
    };
    const [flow, one, other, part] = await Promise.all([
      report('--flow-seconds', '120', '--until', time(90)),
      report('--tape', whole, '--until', time(90)),
      report('--tape', cut),
      report('--tape', whole, '--since', time(60), '--until', time(90)),
    ]);
    expect(one.models[0]?.fills).toBeGreaterThan(0);
    // Hashes know the moments too: a stored tape has them to the microsecond, and the last one ends at its last row.
    const came = ({ models: [model] }: Report) => [model?.fills, model?.volume, model?.pnl];
    expect(came(one)).toEqual(came(other));
    expect(came(flow)).toEqual(came(other));
    expect(part.models[0]).toMatchObject({ from: time(60), seconds: 30 });
    expect([part.warmUpFrom, one.warmUpFrom]).toEqual([time(0), undefined]);
  });

  test('runs the same at other latencies of requests with one flag: at the own one the result is the own one', async () => {
    const args = ['backtest', '-c', bench.config(), '--flow-seconds', '60', '--json'];
    const ended = await ran([...args, '--latency-sweep', '400,25,0', '--fill-latency-ms', '150']);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const { models, latencySweep, fillLatencyMs } = JSON.parse(ended.stdout) as Report;
    expect(latencySweep?.map(({ latencyMs, model }) => [latencyMs, model])).toEqual(
      [0, 25, 400].map(ms => [ms, 'expected']),
    );
    const expected = models.find(({ model }) => model === 'expected');
    expect(latencySweep?.find(({ latencyMs }) => latencyMs === 25)?.hash).toBe(expected?.hash);
    expect(new Set(latencySweep?.map(({ hash }) => hash)).size).toBe(3);
    expect(fillLatencyMs).toBe('150');
  });

  test('tells a person the tiles of the page as lines, with money in the digits of its currency', async () => {
    const ended = await ran(['backtest', '-c', bench.config(), '--flow-seconds', '90']);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    for (const line of [
      /^  net: [+−]?[\d,]+\.\d\d mxn \(/m,
      /^  drawdown: /m,
      /^  uptime, both sides: /m,
      /^  fills per day: /m,
    ])
      expect(ended.stdout).toMatch(line);
    expect(ended.stdout).not.toMatch(/\.\d{9,}/);
  });

  test('another seed is another market', async () => {
    const hash = async (seed: string) => {
      const args = ['--flow-seconds', '20', '--models', 'expected', '--json', '--seed', seed];
      return (JSON.parse((await ran(['backtest', '-c', bench.config(), ...args])).stdout) as Report).tape.hash;
    };
    expect(await hash('5')).not.toBe(await hash('6'));
  });

  test.each([
    [['--models', 'hopeful'], /--models: expected fill models \(pessimistic, expected.*found "hopeful"/],
    [['--tape', '/nowhere/at/all'], /nowhere\/at\/all: no such file or folder/],
    [['--flow-seconds', 'long'], /expected a whole number/],
    [['--threads', '0'], /expected a whole number from 1 to 64/],
    [['--until', '2020-01-01'], /--since and --until exclude the complete recording; choose times from 2026-01-01/],
    [
      ['--since', '2026-01-01T00:05', '--until', '2026-01-01T00:04'],
      /expected --since to be earlier than --until, found --since 2026/,
    ],
    [['--since', 'yesterday'], /expected a time like 2026-11-21/],
    [['--latency-sweep', '5,fast'], /expected up to twelve latencies in ms/],
    [['--fill-latency-ms', 'slow'], /--fill-latency-ms: expected a number of ms/],
    [['--latency-ms', 'quick'], /--latency-ms: expected a number of ms, exponential:MIN,MEAN.* found "quick"/],
    [['--latency-ms', 'exponential:5,4'], /--latency-ms: latency needs 0 <= minimum <= mean/],
  ])('says in one line what is wrong with %j', async (args, sentence) => {
    const ended = await ran(['backtest', '-c', bench.config(), ...args]);
    expect(ended.code).toBe(2);
    expect(complaints(ended)).toHaveLength(1);
    expect(ended.stderr).toMatch(sentence);
    expect(existsSync(bench.path('report-none'))).toBe(false);
  });
});
