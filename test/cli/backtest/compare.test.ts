import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordFlow } from '../../../backtest/index.ts';
import type { Comparison } from '../../../backtest/index.ts';
import { derivedSetups } from '../../../src/app/backtest/compareSetups.ts';
import { findTapes, firstPart } from '../../../src/app/backtest/compareTapes.ts';
import { TapeWriter } from '../../../src/tape/index.ts';
import { strategies } from '../../../strategies/index.ts';
import { Bench, complaints, printed, ran } from '../program.ts';
import type { Ended } from '../program.ts';

const bench = new Bench();
const flow = recordFlow('btc_mxn', 3, 480);
const tapes = bench.path('tapes');

beforeAll(() => {
  const writer = new TapeWriter({ dir: `${tapes}/flow-2026-01-01`, rules: flow.rules, source: 'flow' });
  writer.append(flow.columns);
  writer.close();
  mkdirSync(`${tapes}/notes`);
  writeFileSync(`${tapes}/notes/list.txt`, 'nothing to trade on');
});
afterAll(() => bench.clear());

const TERMS = {
  ...{ instrument: flow.instrument, price: 1_500_000, riskPerHour: '500' },
  ...{ volatilityBps: 57, arrivalsPerMinute: 5.7, decayPerBps: 0.19, adverseBps: 2 },
};
/** Strategies whose parameters do not follow from a market, and why. */
const WITHOUT = new Map(
  Object.values(strategies)
    .map(({ name, fromMarket }) => [name as string, fromMarket(TERMS, 10)] as const)
    .filter(([, found]) => typeof found === 'string'),
);
const FEW = ['--models', 'expected', '--fees', 'best', '--risk', '500'];
const compared = (ended: Ended): Comparison => printed(ended) as Comparison;

describe('puntas compare', () => {
  test('runs every strategy with one risk on every recording of a folder, into one page, the same in one thread and in two', async () => {
    const page = bench.path('comparison.html');
    const args = ['compare', '--tape', tapes, ...FEW, '--json'];
    const [one, two] = await Promise.all([
      ran([...args, '--threads', '1', '--out', page]),
      ran([...args, '--threads', '2']),
    ]);
    expect([one.code, one.stderr]).toEqual([0, '']);
    expect(two.stdout).toBe(one.stdout);

    const { tapes: found, leftOut } = compared(one);
    expect(found.map(({ name }) => name)).toEqual(['flow btc_mxn']);
    expect(leftOut).toEqual([{ path: 'notes', why: 'no recording recognised' }]);
    const [tape] = found;
    expect(tape?.runs.map(({ name }) => name)).toEqual(Object.keys(strategies));
    const traded = tape?.runs.filter(({ notRun }) => notRun === null) ?? [];
    expect(traded.map(({ name }) => name)).toEqual(Object.keys(strategies).filter(name => !WITHOUT.has(name)));
    for (const { models, positionMax, feeBps } of traded) {
      expect(models.map(({ model }) => model)).toEqual(['expected']);
      expect(positionMax).toBe(traded[0]?.positionMax);
      expect(feeBps).toBe(10);
    }
    expect(traded.some(({ models }) => models.every(({ fills }) => fills > 0))).toBe(true);

    // What the parameters come from is not traded.
    const at = flow.columns.at;
    const [from, to] = [at[0] ?? 0, at[flow.columns.length - 1] ?? 0];
    expect(Date.parse(tape?.from ?? '')).toBeGreaterThanOrEqual(from + 240_000);
    expect(tape?.seconds).toBeLessThan((to - from) / 1000 - 239);

    const whole = JSON.parse(readFileSync(bench.path('comparison.json'), 'utf8')) as Comparison;
    expect(whole.hash).toBe(compared(one).hash);
    expect(whole.tapes[0]?.runs[0]?.config).toContain('name: ladder');
    expect(readFileSync(page, 'utf8')).toContain('Comparison of strategies');
  });

  test('compares given configurations on the recordings of their books, at their own fee tiers', async () => {
    const tight = bench.config('sandbox');
    const wide = bench.config('sandbox', text => text.replace('halfSpreadBps: 10.6', 'halfSpreadBps: 20'));
    const dollars = bench.config('btc_usd');
    const args = ['--tape', tapes, '--models', 'expected', '--json', '--threads', '1'];
    const ended = await ran(['compare', '-c', tight, wide, dollars, ...args]);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const runs = compared(ended).tapes[0]?.runs ?? [];
    expect(runs.map(({ tier, feeBps, notRun }) => [tier, feeBps, notRun])).toEqual([
      ['config', 10, null],
      ['config', 10, null],
    ]);
    const [first, second] = runs.map(({ models }) => models[0]?.fills ?? 0);
    expect(first).toBeGreaterThan(second ?? 0);
    expect(runs[0]?.name).not.toBe(runs[1]?.name);
  });

  test('runs a peg where the recordings of its other books are there too, and says in the row which are missing where not', async () => {
    const books = bench.path('books');
    for (const book of ['btc_mxn', 'btc_usd', 'usd_mxn']) {
      const { rules, columns } = recordFlow(book, 3, 120);
      const writer = new TapeWriter({ dir: books, rules, source: 'flow' });
      writer.append(columns);
      writer.close();
    }
    const peg = bench.config('peg', text =>
      text.replace('maxDivergenceBps: 60', 'maxDivergenceBps: 500').replace('collarBps: 200', 'collarBps: 1000'),
    );
    const run = async (...paths: string[]) => {
      const args = ['compare', '-c', peg, '--models', 'expected', '--json', '--threads', '1', '--tape', ...paths];
      return compared(await ran(args)).tapes.map(({ runs }) => runs[0]);
    };
    const [alone] = await run(tapes);
    expect(alone?.notRun).toBe(
      'it quotes around the price in btc_usd, usd_mxn, and no recording here is of btc_usd, usd_mxn in these hours',
    );
    const together = await run(books);
    expect(together.map(found => found?.notRun)).toEqual([null]);
    expect(together[0]?.models[0]?.orders.placed).toBeGreaterThan(0);
  });

  test('says in the row which configuration cannot earn the fees of a tier', async () => {
    const args = ['--tape', tapes, '--fees', 'entry', '--json', '--threads', '1'];
    const ended = await ran(['compare', '-c', bench.config('sandbox'), ...args]);
    const [run] = compared(ended).tapes[0]?.runs ?? [];
    expect(run?.models).toEqual([]);
    expect(run?.notRun).toMatch(/below both maker fees of 120 bps/);
  });

  test.each([
    [['--tape', '/nowhere/at/all'], /nowhere\/at\/all: no such file or folder/],
    [['--tape', 'docs'], /nothing to compare: docs: no recording recognised/],
    [['--tape', 'docs', '--fees', 'none'], /no tier "none"; there are entry, best, config/],
    [['--tape', 'docs', '--fees', 'config'], /name them with -c/],
    [['--tape', 'docs', '--calibrate', '2'], /expected a share from 0\.05 to 0\.9/],
    [['--tape', 'docs', '--out', 'page.txt'], /expected a name that ends in \.html/],
  ])('says in one line what is wrong with %j', async (args, sentence) => {
    const ended = await ran(['compare', ...args]);
    expect(ended.code).toBe(2);
    expect(complaints(ended)).toHaveLength(1);
    expect(ended.stderr).toMatch(sentence);
    expect(existsSync('page.txt')).toBe(false);
  });
});

test('nothing after the first part of a recording changes what is measured of it', async () => {
  const { found } = await findTapes([tapes]);
  const stored = found[0]!.given;
  const [ours, theirs] = [firstPart(flow, 0.5), firstPart(stored, 0.5)];
  expect(theirs.until).toBe(ours.until);
  const after = flow.columns.at.findIndex(at => at > ours.until);
  const price = flow.columns.price.map((ticks, row) => (row < after ? ticks : 2 * ticks));
  const other = firstPart({ ...flow, columns: { ...flow.columns, price } }, 0.5);
  expect(other).toEqual(ours);
  expect(ours.tape.columns.at.at(-1)).toBeLessThanOrEqual(ours.until);
});

test('a strategy that is in the index is compared, or its row says why not', () => {
  const setups = derivedSetups(TERMS, '0.001');
  expect(setups.map(({ name }) => name)).toEqual(Object.keys(strategies));
  const left = setups.filter(({ config }) => config === null).map(({ name, notRun }) => [name, notRun]);
  expect(left).toEqual([...WITHOUT]);
  expect(left).toContainEqual([
    'peg',
    'it quotes around the price in other books, and which is for a configuration to say (-c FILE)',
  ]);
  const amounts = new Set(setups.flatMap(({ config }) => config?.strategy.amount ?? []));
  const limits = new Set(setups.flatMap(({ config }) => config?.limits.positionMax ?? []));
  expect([amounts.size, limits.size]).toEqual([1, 1]);
  expect(derivedSetups('too short', '0.001').every(({ notRun }) => notRun === 'too short')).toBe(true);
});
