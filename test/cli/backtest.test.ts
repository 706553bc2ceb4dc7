import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { Bench, complaints, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

type Report = {
  readonly hash: string;
  readonly tape: { readonly hash: string };
  readonly models: readonly {
    readonly model: string;
    readonly fills: number;
    readonly orders: { readonly placed: number };
  }[];
};

describe('puntas backtest', () => {
  test('without a tape trades the seeded market: three models, and the same report twice', async () => {
    const out = bench.path('report');
    const args = ['backtest', '-c', bench.config(), '--flow-seconds', '300', '--json'];
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

  test('another seed is another market', async () => {
    const hash = async (seed: string) => {
      const args = ['--flow-seconds', '60', '--models', 'expected', '--json', '--seed', seed];
      return (JSON.parse((await ran(['backtest', '-c', bench.config(), ...args])).stdout) as Report).tape.hash;
    };
    expect(await hash('5')).not.toBe(await hash('6'));
  });

  test.each([
    [['--models', 'hopeful'], /no fill model "hopeful"; there are pessimistic, expected/],
    [['--tape', '/nowhere/at/all'], /nowhere\/at\/all: no such folder/],
    [['--flow-seconds', 'long'], /expected a whole number/],
  ])('says in one line what is wrong with %j', async (args, sentence) => {
    const ended = await ran(['backtest', '-c', bench.config(), ...args]);
    expect(ended.code).toBe(2);
    expect(complaints(ended)).toHaveLength(1);
    expect(ended.stderr).toMatch(sentence);
    expect(existsSync(bench.path('report-none'))).toBe(false);
  });
});
