/** A section of the configuration that no replay simulates is named in every report: backtest, comparison and tuning. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { recordFlow, reportPage, tuningWords } from '../../../backtest/index.ts';
import { backtest } from '../../../backtest/app/backtest/backtest.ts';
import { describeBacktest } from '../../../backtest/app/backtest/backtestText.ts';
import { latenciesOf, latencyText } from '../../../backtest/app/backtest/latencyFlags.ts';
import { notSimulated } from '../../../backtest/app/backtest/notSimulated.ts';
import { compare, type CompareOptions } from '../../../backtest/app/compare/compare.ts';
import { tune } from '../../../backtest/app/tune/tune.ts';
import { pageParts } from '../../../src/wiring/outFiles.ts';
import { readConfig, readShipped, shippedConfig } from '../../../src/wiring/configFile.ts';
import { TapeWriter } from '../../../src/tape/index.ts';
import { NO_PROGRESS } from '../../app/noProgress.ts';
import { options, studyFile } from './tune/studies.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-not-simulated-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const RFQ = 'rfqReference: RFQ prices are not simulated; a book with a spread above thinBps is never quoted';
const LATENCY = { latencyMs: '25', cancelLatencyMs: '75', feedLatencyMs: '0' };
const SHARED = {
  ...{ models: ['expected'] as const, seed: 1, threads: 1, version: 'test', progress: NO_PROGRESS },
  ...{ latencies: latenciesOf(LATENCY), latencyText: latencyText(LATENCY) },
};

/** The shipped configuration with an RFQ reference. */
function rfqFile(): string {
  const text = readFileSync(shippedConfig('sandbox'), 'utf8');
  const file = join(dir, 'rfq.yaml');
  writeFileSync(file, `${text}\nrfqReference: { amount: "0.01", thinBps: 50 }\n`);
  return file;
}

test('each such section has a sentence, and a configuration without one has none', () => {
  const { rfqReference } = readConfig(rfqFile());
  const plain = readShipped('sandbox');
  const elsewhere = readShipped('elsewhere');
  const [source] = elsewhere.reference?.sources ?? [];
  const sourced = (names: readonly string[]) => ({
    ...plain,
    reference: { ...elsewhere.reference!, sources: names.map(name => ({ ...source!, name })) },
  });
  expect(notSimulated(plain)).toEqual([]);
  expect(notSimulated({ ...plain, rfqReference })).toEqual([RFQ]);
  expect(notSimulated({ ...plain, rfqReference: { ...rfqReference!, thinBps: undefined, capsSkew: true } })).toEqual([
    'rfqReference: RFQ prices are not simulated; the skew is not capped (capsSkew)',
  ]);
  expect(notSimulated(sourced(['one']))).toEqual([]);
  expect(notSimulated(sourced(['one', 'two']))).toEqual([
    'reference.sources: only the first source (one) is simulated, from its recordings; sourcesMin and the other sources are ignored',
  ]);
  expect(notSimulated(readShipped('desk-exchange'))).toEqual([
    'exchange.market.books: only the traded book is simulated; the seeded flow of a backtest does not follow the hidden prices of these books',
  ]);
  const market = { kind: 'tape' as const, dir: 'a', loop: true, books: { btc_usd: { dir: 'b' } } };
  expect(plain.exchange.kind).toBe('embedded');
  expect(notSimulated({ ...plain, exchange: { ...plain.exchange, market } as typeof plain.exchange })).toEqual([
    'exchange.market.books: only the traded book is replayed, without the recordings of these books',
  ]);
  const { hedge } = elsewhere;
  expect(hedge?.elsewhere).toBeDefined();
  expect(notSimulated({ ...plain, hedge })).toEqual([
    expect.stringMatching(/^hedge\.elsewhere: .*inventory\.target is/),
  ]);
});

test('a backtest names it in its text and on its page, and the latency of cancels', async () => {
  const file = rfqFile();
  const report = await backtest({
    ...{ config: readConfig(file), configText: '', tape: null, flowSeconds: 120, flowDrift: 0, files: null, ...SHARED },
  });
  expect(report.noRoutes).toEqual([RFQ]);
  expect(report.cancelLatencyMs).toBe('75');
  expect(describeBacktest(report)).toContain(RFQ);
  const page = reportPage(report, pageParts());
  expect(page).toContain(`Not simulated: ${RFQ}.`);
  expect(page).toContain('Cancels took 75 ms.');
});

const compared = (name: string, configs: readonly string[], tiers: CompareOptions['tiers']) => {
  const { rules, columns } = recordFlow('btc_mxn', 3, 120);
  const tape = join(dir, name);
  const writer = new TapeWriter({ dir: tape, rules, source: 'flow' });
  writer.append(columns);
  writer.close();
  return compare({
    ...{ configs, paths: [tape], tiers, anyway: false, starts: 1 },
    ...{ riskPerHour: '10', calibratedShare: 1 / 3, ...SHARED },
  });
};

test('a comparison names it in the row of the configuration, and the latency of cancels', async () => {
  const of = await compared('tape', [rfqFile(), shippedConfig('sandbox')], ['config']);
  expect(of.cancelLatencyMs).toBe('75');
  const remarks = of.tapes[0]!.runs.map(run => run.remarks.filter(line => line.startsWith('rfqReference')));
  expect(remarks).toEqual([[RFQ], []]);
});

test('a comparison says at each tier that the own fees of a configuration replace it', async () => {
  const file = join(dir, 'fees.yaml');
  const text = readFileSync(shippedConfig('sandbox'), 'utf8');
  writeFileSync(file, `${text}\nbacktest: { fees: { maker: "0.0001", taker: "0.0001" } }\n`);
  const of = await compared('tiers', [file, shippedConfig('sandbox')], ['entry', 'best']);
  const says = ({ remarks }: { readonly remarks: readonly string[] }) =>
    remarks.includes('the configuration sets its own fees, which replace the fees of the tier');
  const runs = of.tapes[0]!.runs.map(run => [run.name, run.tier, says(run)]);
  expect(runs).toEqual([
    ['fees', 'entry', true],
    ['sandbox', 'entry', false],
    ['fees', 'best', true],
    ['sandbox', 'best', false],
  ]);
});

test('a tuning names it in its numbers and its summary', async () => {
  const tapes = [{ name: 'flow', flow: { seconds: 1_200, seed: 11 } }];
  const search = { algorithm: 'sobol', seed: 1, trials: 1, batch: 1 };
  const file = studyFile(dir, { config: rfqFile(), tapes, search, segments: 1 });
  const { tuning } = await tune(options(file, join(dir, 'registry')));
  expect(tuning.notSimulated).toEqual([RFQ]);
  expect(tuningWords(tuning).at(-1)).toBe(`Not simulated: ${RFQ}.`);
});
