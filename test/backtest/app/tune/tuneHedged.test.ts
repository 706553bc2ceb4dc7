/** A study with hedges on a recording of another exchange: each trial is the backtest with the same recording. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mainOf, tuningPage, tuningWords, type HedgeTape } from '../../../../backtest/index.ts';
import { unsimulatedKey } from '../../../../backtest/app/backtest/notSimulated.ts';
import { backtest } from '../../../../backtest/app/backtest/backtest.ts';
import { latenciesOf, latencyText } from '../../../../backtest/app/backtest/latencyFlags.ts';
import { parameterProblems } from '../../../../backtest/app/tune/parameters.ts';
import { readStudy, studyDigest } from '../../../../backtest/app/tune/study.ts';
import { tune } from '../../../../backtest/app/tune/tune.ts';
import { describeTuning } from '../../../../backtest/app/tune/tuneText.ts';
import { TapeWriter } from '../../../../src/tape/index.ts';
import { readConfig } from '../../../../src/wiring/configFile.ts';
import { pageParts } from '../../../../src/wiring/outFiles.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';
import { PAYING, plantedPair } from '../../hedged/pairedMarkets.ts';
import { hedgingText } from '../../hedgedThere.ts';
import { options, studyFile } from './studies.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-tune-hedged-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const { quoted, hedge } = plantedPair(3, 0.2, PAYING);
const path = join(dir, 'quoted');
const writer = new TapeWriter({ dir: path, rules: quoted.rules, source: 'quoted' });
writer.append(quoted.columns);
writer.close();
const config = join(dir, 'config.yaml');
writeFileSync(config, hedgingText());
const VENUE: HedgeTape = { name: 'there', tape: hedge, feeBps: 1, latencyMs: 100 };
const study = (parameters: object, name = 'tune.yaml') =>
  studyFile(
    dir,
    {
      ...{
        config,
        tapes: [{ path, name: 'quoted' }],
        parameters,
        segments: 1,
        latenciesMs: [25],
        holdout: { lastShare: 0.4 },
      },
      search: { algorithm: 'sobol', seed: 1, trials: 2, batch: 2 },
    },
    name,
  );
const BAND = { 'hedge.elsewhere.valueMin': { choice: ['0', '1000000'] } };

test('each trial has the result of the backtest with hedges, and the study names the recording', async () => {
  const file = study(BAND);
  const { tuning } = await tune(options(file, join(dir, 'registry'), { hedge: VENUE }));
  const LATENCY = { latencyMs: '25', feedLatencyMs: '0' };
  const of = (valueMin: string) => tuning.trials.find(({ point }) => point['hedge.elsewhere.valueMin'] === valueMin);
  const [hedged, held] = [of('0'), of('1000000')];
  const { from, to } = { from: tuning.tapes[0]!.tuned![0], to: tuning.tapes[0]!.tuned![1] };
  const report = await backtest({
    ...{ config: readConfig(config), configText: '', tape: quoted, flowSeconds: 1, flowDrift: 0, hedge: VENUE },
    ...{ models: ['expected'], seed: 1, threads: 1, version: 'test', progress: NO_PROGRESS, files: null },
    ...{ latencies: latenciesOf(LATENCY), latencyText: latencyText(LATENCY) },
    time: { since: Date.parse(from), until: Date.parse(to) },
  });
  const main = mainOf(report.models)!;
  expect(main.hedges?.elsewhere?.hedges).toBeGreaterThan(10);
  expect(hedged!.measures!.net60s).toBe(main.net60s!.total);
  expect(hedged!.measures!.net).toBeCloseTo(Number(main.pnl.total), 8);
  // Without hedges, the position of the same quotes grows.
  expect(held!.measures!.inventoryMost).toBeGreaterThan(hedged!.measures!.inventoryMost!);
  expect(tuning.hedge).toEqual({ name: 'there', feeBps: 1, latencyMs: 100 });
  expect(tuningWords(tuning).at(-1)).toMatch(
    /^Not simulated: hedge\.elsewhere: orders do not change the recorded book/,
  );
  expect(describeTuning(tuning).replaceAll('\n', ' ')).toContain(
    'Hedges executed on there, with a taker fee of 1 bps and a latency of 100 ms each way.',
  );
  expect(tuningPage(tuning, pageParts())).toContain(
    'there, with a taker fee of 1 bps and a latency of 100 ms each way',
  );
});

test('the recording, its fee and its latency are part of the study; without them, its digest is as before', () => {
  const read = readStudy(study({ 'strategy.halfSpreadBps': { linear: [5, 15] } }, 'digest.yaml'));
  const digest = (venue: HedgeTape | null) => studyDigest(read, '1', [], venue);
  const all = [null, VENUE, { ...VENUE, feeBps: 2 }, { ...VENUE, latencyMs: 5 }, { ...VENUE, tape: quoted }].map(
    digest,
  );
  expect(new Set(all).size).toBe(all.length);
  expect(digest(null)).toBe(studyDigest(read, '1', []));
});

test('keys of hedges there can be tuned only with a recording, except those of transfers', () => {
  expect(() => readStudy(study(BAND, 'alone.yaml'))).toThrow('does not simulate hedge.elsewhere');
  const base = JSON.parse(hedgingText()) as Record<string, unknown>;
  const messages = (parameters: Parameters<typeof parameterProblems>[0]) =>
    parameterProblems(parameters, base, true).map(({ message }) => message);
  expect(messages({ 'inventory.target': { choice: ['3', '2.9'] } })).toEqual([]);
  expect(parameterProblems({ 'inventory.target': { choice: ['3', '2.9'] } }, base)).toHaveLength(1);
  expect(messages({ 'hedge.elsewhere.transferWaitHours': { choice: [24, 48] } })).toEqual([
    expect.stringContaining('does not simulate hedge.elsewhere.transferWaitHours'),
  ]);
  expect([unsimulatedKey('hedge.elsewhere.backBps'), unsimulatedKey('hedge.elsewhere.backBps', true)]).toEqual([
    'hedge.elsewhere',
    null,
  ]);
});

test('a configuration without hedges there, and a recording of other hours, are refused in a sentence', async () => {
  const { hedge: _, elsewhere: __, inventory: ___, ...plain } = JSON.parse(hedgingText()) as Record<string, unknown>;
  const alone = join(dir, 'plain.yaml');
  writeFileSync(alone, JSON.stringify(plain));
  const tunes = (file: string, venue: HedgeTape) => tune(options(file, join(dir, 'refused'), { hedge: venue }));
  const spread = { 'strategy.halfSpreadBps': { choice: [5, 15] } };
  const other = studyFile(
    dir,
    { config: alone, tapes: [{ path, name: 'quoted' }], parameters: spread },
    'plain-tune.yaml',
  );
  await expect(tunes(other, VENUE)).rejects.toThrow(
    '--hedge-tape: the configuration has no hedges on another exchange',
  );
  const { columns } = hedge;
  const later = { ...hedge, columns: { ...columns, at: columns.at.map(at => at + 1e9) } };
  const { tuning } = await tunes(study(BAND, 'later.yaml'), { ...VENUE, tape: later });
  expect(tuning.trials.map(({ state }) => state)).toEqual(['refused', 'refused']);
  for (const { why } of tuning.trials) expect(why).toMatch(/^--hedge-tape: there has prices from 1970-01-12/);
});
