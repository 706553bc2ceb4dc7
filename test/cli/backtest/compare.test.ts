import { join } from 'node:path';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  makerBpsOf,
  recordFlow,
  recordLinkedFlows,
  type Comparison,
  type SeveralBooksReport,
} from '../../../backtest/index.ts';
import { compare } from '../../../backtest/app/compare/compare.ts';
import { derivedSetups } from '../../../backtest/app/compare/compareSetups.ts';
import { latenciesOf } from '../../../backtest/app/backtest/latencyFlags.ts';
import { Verdicts } from '../../../backtest/app/compare/quoteAdvice.ts';
import { findTapes, firstPart } from '../../../backtest/app/compare/compareTapes.ts';
import { feesOf } from '../../../src/sandbox/index.ts';
import { TapeWriter } from '../../../src/tape/index.ts';
import { strategies } from '../../../strategies/index.ts';
import { COMPARED, tapeFigures, type ComparisonFigures, type TapeFigures } from '../../scripts/comparisonFigures.ts';
import { Bench, complaints, printed, ran, type Ended } from '../program.ts';
import { NO_PROGRESS } from '../../app/noProgress.ts';

const bench = new Bench();
const flow = recordFlow('btc_mxn', 5, 480);
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
const FEW = ['--models', 'expected', '--fees', 'best', '--risk', '500', '--anyway'];
const NO_LATENCY = latenciesOf({ latencyMs: '25', feedLatencyMs: '0' });
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
    expect(leftOut).toEqual([{ path: 'notes', why: 'no known recording format' }]);
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

  test('runs each bot at the best tier that its own volume gives, and the same again from later starts', async () => {
    const args = [
      '--tape',
      tapes,
      '--models',
      'expected',
      '--risk',
      '500',
      '--fees',
      'own,best,entry',
      '--anyway',
      '--starts',
      '3',
    ];
    const { tapes: found, starts } = compared(await ran(['compare', ...args, '--json']));
    const [tape] = found;
    expect(starts).toBe(3);
    const schedule = feesOf('mxn').tiers.map(makerBpsOf);
    for (const run of tape?.runs.filter(({ tier, models }) => tier === 'own' && models.length > 0) ?? []) {
      const at = schedule.indexOf(run.feeBps);
      // The volume of a run at its own tier gives it that tier, or a better one.
      expect(run.pace?.tier, run.name).toBeGreaterThanOrEqual(at);
      const best = tape?.runs.find(({ name, tier }) => name === run.name && tier === 'best');
      if (at < schedule.length - 1) expect(best?.pace?.tier, run.name).toBeLessThan(schedule.length - 1);
      const quarter = (tape?.seconds ?? 0) / 4;
      const later = run.models[0]?.fills === 0 ? [] : [quarter / 2, quarter].map(s => Math.round(s * 1000) / 1000);
      expect(run.staggered.map(({ laterS }) => Math.abs(laterS))).toHaveLength(later.length);
      for (const [i, { laterS }] of run.staggered.entries()) expect(laterS).toBeCloseTo(later[i] ?? NaN, 2);
    }
    expect(tape?.runs.some(({ staggered }) => staggered.length > 0)).toBe(true);
    expect(tape?.runs.filter(({ tier }) => tier !== 'own').every(({ staggered }) => staggered.length === 0)).toBe(true);
  });

  test('runs nothing that the first part of a recording says not to quote, and says why and from which fee on it would pay', async () => {
    const ended = await ran([
      'compare',
      '--tape',
      tapes,
      '--models',
      'expected',
      '--fees',
      'entry',
      '--risk',
      '500',
      '--json',
    ]);
    const [tape] = compared(ended).tapes;
    expect(tape?.verdicts.map(({ feeBps }) => feeBps)).toEqual(feesOf('mxn').tiers.map(makerBpsOf).reverse());
    const verdict = tape?.verdicts.at(-1);
    expect(verdict).toMatchObject({ quote: false });
    for (const { name, notRun, declined, models } of tape?.runs ?? []) {
      expect(models).toEqual([]);
      if (WITHOUT.has(name)) expect(declined).toBe(null);
      else
        expect([notRun, declined]).toEqual([
          declined,
          expect.stringContaining(`do not quote at a maker fee of 60 bps: ${verdict?.why}`),
        ]);
    }
  });

  test('trades a part of each recording: given configurations from --since, others measure all that lies before it', async () => {
    const from = flow.columns.at[0] ?? 0;
    const time = (seconds: number): string => new Date(from + seconds * 1000).toISOString();
    const part = [
      'compare',
      '--tape',
      tapes,
      '--models',
      'expected',
      '--json',
      '--since',
      time(300),
      '--until',
      time(400),
    ];
    const soon = [...part.slice(0, -4), '--since', time(60)];
    const [given, derived, early] = await Promise.all([
      ran([...part, '-c', bench.config('sandbox')]),
      ran([...part, '--fees', 'best', '--risk', '500']),
      ran(soon),
    ]);
    for (const ended of [given, derived]) {
      const [tape] = compared(ended).tapes;
      expect(tape).toMatchObject({ tapeFrom: time(0), from: time(300) });
      expect(Date.parse(tape?.to ?? '')).toBeLessThanOrEqual(from + 400_000);
    }
    // Up to the last row before that.
    expect(Math.abs((compared(derived).tapes[0]?.measured?.seconds ?? 0) - 300)).toBeLessThan(3);
    expect(early.code).toBe(2);
    expect(early.stderr).toMatch(/expected at least 240 s of recording before --since/);
  });

  test('compares given configurations on the recordings of their books, at their own fee tiers', async () => {
    const tight = bench.config('sandbox');
    const wide = bench.config('sandbox', text => text.replace('halfSpreadBps: 16', 'halfSpreadBps: 25'));
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
      'the reference price of the bot comes from btc_usd, usd_mxn, but no recording of btc_usd, usd_mxn covers the hours of the tape',
    );
    const together = await run(books);
    expect(together.map(found => found?.notRun)).toEqual([null]);
    expect(together[0]?.models[0]?.orders.placed).toBeGreaterThan(0);
    // The tape itself is no price of another exchange, although it has the book of the source.
    const far = bench.config('peg', text =>
      text.replace(
        /books:\n +- btc_usd\n +- usd_mxn/,
        'sources: [{ name: far, books: [btc_mxn], from: { ccxt: kraken } }]',
      ),
    );
    const args = ['compare', '-c', far, '--models', 'expected', '--json', '--threads', '1', '--tape', books];
    expect(compared(await ran(args)).tapes.map(({ runs }) => runs[0]?.notRun)).toEqual([
      'the reference price of the bot comes from btc_mxn, but no recording of btc_mxn covers the hours of the tape',
    ]);
  });

  test('compares configurations with several books as the backtest runs them, as text, JSON and page', async () => {
    const dir = bench.path('linked');
    const books = { btc_mxn: { noiseBps: 1 }, eth_mxn: { noiseBps: 1 }, btc_usd: { noiseBps: 1 } };
    for (const { rules, columns } of recordLinkedFlows(books, { seed: 1, seconds: 120, correlation: 0.7 })) {
      const writer = new TapeWriter({ dir, rules, source: 'flow' });
      writer.append(columns);
      writer.close();
    }
    const desk = bench.config('desk');
    const wide = bench.config('desk', text => text.replace('halfSpreadBps: 16', 'halfSpreadBps: 25'));
    const page = bench.path('desks.html');
    const flags = ['--tape', dir, '--models', 'expected', '--seed', '1'];
    const [text, json, alone] = await Promise.all([
      ran(['compare', '-c', desk, wide, ...flags, '--out', page]),
      ran(['compare', '-c', desk, wide, ...flags, '--json']),
      ran(['backtest', '-c', desk, ...flags, '--json']),
    ]);
    expect([text.code, text.stderr, json.code]).toEqual([0, '', 0]);
    const { desks, hash } = compared(json);
    expect(desks?.[0]?.hash).toBe((printed(alone) as SeveralBooksReport).hash);
    expect(text.stdout).toContain('all books together');
    expect(text.stdout).toContain(hash);
    expect(readFileSync(page, 'utf8')).toContain('Comparison of configurations');
    expect((JSON.parse(readFileSync(bench.path('desks.json'), 'utf8')) as Comparison).hash).toBe(hash);
    for (const [flag, value] of [
      ['--fees', 'best'],
      ['--starts', '2'],
      ['--threads', '1'],
    ] as const) {
      const refused = await ran(['compare', '-c', desk, ...flags, flag, value]);
      expect([refused.code, complaints(refused).length], flag).toEqual([2, 1]);
      expect(refused.stderr).toContain(`${flag}: not supported with several books; `);
    }
  });

  test('says in the row which configuration cannot earn the fees of a tier', async () => {
    const args = ['--tape', tapes, '--fees', 'entry', '--json', '--threads', '1'];
    const ended = await ran(['compare', '-c', bench.config('sandbox'), ...args]);
    const [run] = compared(ended).tapes[0]?.runs ?? [];
    expect(run?.models).toEqual([]);
    expect(run?.notRun).toMatch(/below both maker fees \(together 120 bps\)/);
  });

  test.each([
    [['--tape', '/nowhere/at/all'], /nowhere\/at\/all: no such file or folder/],
    [['--tape', 'docs'], /nothing to compare: docs: no known recording format/],
    [['--tape', 'docs', '--fees', 'none'], /unknown tier "none"; expected one of own, entry, best, config/],
    [['--tape', 'docs', '--fees', 'config'], /pass the configurations with -c/],
    [['--tape', 'docs', '--starts', '0'], /expected a whole number from 1 to 60/],
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
  const { found } = await findTapes([tapes], NO_PROGRESS);
  const stored = found[0]!.given;
  const [ours, theirs] = [firstPart(flow, 0.5), firstPart(stored, 0.5)];
  expect(theirs.until).toBe(ours.until);
  const after = flow.columns.at.findIndex(at => at > ours.until);
  const price = flow.columns.price.map((ticks, row) => (row < after ? ticks : 2 * ticks));
  const other = firstPart({ ...flow, columns: { ...flow.columns, price } }, 0.5);
  expect(other).toEqual(ours);
  expect(ours.tape.columns.at.at(-1)).toBeLessThanOrEqual(ours.until);
});

test('a verdict comes from the first part alone, and what is after it judges', () => {
  const longer = recordFlow('btc_mxn', 3, 4_800);
  const { tape: first, until } = firstPart(longer, 0.5);
  const terms = { first, whole: longer, until, orderValue: 1_000, latencies: NO_LATENCY, seed: 1 };
  const found = new Verdicts(terms, () => undefined).judged([10, 30]);
  const after = longer.columns.at.findIndex(at => at > until);
  const price = longer.columns.price.map((ticks, row) => (row < after ? ticks : ticks + 7));
  const other = new Verdicts(
    { ...terms, whole: { ...longer, columns: { ...longer.columns, price } } },
    () => undefined,
  );
  const verdicts = (of: typeof found) => of.map(({ rest: _, right: __, ...verdict }) => verdict);
  expect(verdicts(other.judged([10, 30]))).toEqual(verdicts(found));
  const { seconds = 0, fills = 0 } = found[0]?.rest ?? {};
  expect(fills).toBeGreaterThan(0);
  expect(Math.abs(seconds - ((longer.columns.at.at(-1) ?? 0) - until) / 1000)).toBeLessThan(3);
  expect(other.judged([10])[0]?.rest).not.toEqual(found[0]?.rest);
});

test('a strategy that is in the index is compared, or its row says why not', () => {
  const setups = derivedSetups(TERMS, '0.001');
  expect(setups.map(({ name }) => name)).toEqual(Object.keys(strategies));
  const left = setups.filter(({ config }) => config === null).map(({ name, notRun }) => [name, notRun]);
  expect(left).toEqual([...WITHOUT]);
  expect(left).toContainEqual([
    'peg',
    'needs a reference price from other books; name the books in a configuration file (-c FILE)',
  ]);
  const amounts = new Set(setups.flatMap(({ config }) => config?.strategy.amount ?? []));
  const limits = new Set(setups.flatMap(({ config }) => config?.limits.positionMax ?? []));
  expect([amounts.size, limits.size]).toEqual([1, 1]);
  expect(derivedSetups('too short', '0.001').every(({ notRun }) => notRun === 'too short')).toBe(true);
});

const DATA = process.env['PUNTAS_DATA'] ?? '../shared/data';
const SMALL = join(DATA, 'binance-spot-2024-08-08');
const JUDGED = ['bitstamp-btcusd-2015-05-01-book-orders-trades', 'standx-btcusd-2026-01-dirty-l2-trades'];
const missing = !existsSync(SMALL);
if (missing) console.log(`skipped: no recording at ${SMALL} (set PUNTAS_DATA)`);

describe.skipIf(missing)('the figures of docs/development/evidence/comparison.json are what the code gives', () => {
  const told = () =>
    (JSON.parse(readFileSync('docs/development/evidence/comparison.json', 'utf8')) as ComparisonFigures).tapes;
  const options = { ...COMPARED, threads: 1, version: '', progress: NO_PROGRESS };

  test('runs and all, on the smallest recordings', async () => {
    const { tapes: found } = await compare({ ...options, paths: [SMALL] });
    expect(found.length).toBeGreaterThan(1);
    for (const tape of found) {
      const figures = JSON.parse(JSON.stringify(tapeFigures(tape))) as TapeFigures;
      expect(figures).toEqual(told().find(({ name }) => name === tape.name));
    }
  });

  test('verdicts, where the first part and the rest tell something', async () => {
    const paths = JUDGED.map(name => join(DATA, name));
    const { tapes: found } = await compare({ ...options, paths, tiers: ['best'], anyway: false, starts: 1 });
    expect(found.map(({ name }) => name)).toEqual(['bitstamp btc_usd', 'standx btc_usd']);
    for (const tape of found) {
      const { verdicts } = JSON.parse(JSON.stringify(tapeFigures(tape))) as TapeFigures;
      expect(verdicts[0]?.rest).not.toBeNull();
      expect(verdicts).toEqual(told().find(({ name }) => name === tape.name)?.verdicts);
    }
  });
});
