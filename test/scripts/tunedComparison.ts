/** Tunes the ladder and GLFT on the recordings of docs/development/evidence/comparison.md that have fills enough, and judges by paths that were not chosen on whether it helped: `npm run compare:tuned`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { parse, stringify } from 'yaml';
import { meanOf, pathResults, type ComparedTape } from '../../backtest/index.ts';
import { modelRunner, type ModelRunner } from '../../backtest/app/backtest/backtestThreads.ts';
import { compare } from '../../backtest/app/compare/compare.ts';
import { latenciesOf } from '../../backtest/app/backtest/latencyFlags.ts';
import { crossSplits, distinct, evidenceOf, spansInTime } from '../../backtest/app/tune/evidence.ts';
import { Registry } from '../../backtest/app/tune/registry.ts';
import { digestOfData, readStudy, studyDigest, type Study } from '../../backtest/app/tune/study.ts';
import { trialsByRunner } from '../../backtest/app/tune/trialExecutor.ts';
import { runBatch, type TrialOutcome, type TrialTerms } from '../../backtest/app/tune/trialRuns.ts';
import { bestTrial } from '../../backtest/app/tune/trialRanking.ts';
import { runTrials } from '../../backtest/app/tune/trials.ts';
import { piecesOf, tuneTapes } from '../../backtest/app/tune/tuneTapes.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { COMPARED, type ComparisonFigures } from './comparisonFigures.ts';
import { sessionTapes } from './sessionTapes.ts';
import { SEARCHED, TUNED, tunedFigures, wantedTapes, type JudgedStudy } from './tunedFigures.ts';

/** Where the recordings of the rule are: folders of the data, and sessions of the others. */
const FOLDERS = [
  'bitstamp-btcusd-2015-05-01-book-orders-trades',
  'gemini-ethusd-2021-07-01-l1-trades',
  'hyperliquid-2025-09-04-l2-trades',
];
const SESSIONS = ['us-bac-20131009', 'us-ibm-20131007', 'us-ibm-20131009'];

const LATENCIES = latenciesOf({ latencyMs: '25', feedLatencyMs: '0' });
/** Beyond the bound of the last tier but one: the best fee, which `COMPARED` has too. */
const BEST_TIER = '9999999998';

type Recording = { readonly name: string; readonly tape: ComparedTape; readonly path: string };

/** Those of the rule, by book and begin; each with the folder that it is in. */
async function recordings(data: string, work: string, figures: ComparisonFigures): Promise<readonly Recording[]> {
  const tapes = await sessionTapes(data, work, SESSIONS);
  const places = [...FOLDERS.map(folder => join(data, folder)), ...SESSIONS.map(name => join(tapes, name))];
  const found: Recording[] = [];
  for (const path of places) {
    const { tapes: compared } = await compare({
      ...{ ...COMPARED, tiers: ['best'], starts: 1, paths: [path], threads: 1 },
      ...{ version: version(), progress: progressBar() },
    });
    for (const tape of compared) {
      const wanted = wantedTapes(figures).find(
        ({ name, from }) => name.endsWith(` ${tape.book}`) && tape.from.startsWith(from),
      );
      if (wanted !== undefined) found.push({ name: wanted.name, tape, path: resolve(path) });
    }
  }
  const missing = wantedTapes(figures).filter(({ name }) => !found.some(one => one.name === name));
  if (missing.length > 0) throw new Error(`not found: ${missing.map(({ name }) => name).join(', ')}`);
  return found;
}

/** The study of one strategy on one recording: it begins with the configuration that the comparison derived from the first third. */
function studyOf({ tape, path, name }: Recording, strategy: string, work: string): Study {
  const text = tape.runs.find(run => run.name === strategy)?.config ?? null;
  if (text === null) throw new Error(`${name}: no configuration of ${strategy}`);
  const config = parse(text) as { exchange: object };
  const file = join(work, `${strategy}-${tape.book}-${tape.from.slice(0, 10)}`);
  writeFileSync(
    `${file}.config.yaml`,
    stringify({ ...config, exchange: { ...config.exchange, volume30d: BEST_TIER } }),
  );
  const study = {
    ...{ config: `${file}.config.yaml`, tapes: [{ name: 'all', path }], parameters: SEARCHED[strategy] },
    ...{ search: TUNED.search, pruning: false },
  };
  writeFileSync(`${file}.yaml`, stringify(study));
  return readStudy(`${file}.yaml`);
}

/** Runs what the registry has not yet, then judges. The first third is not tuned on: the configuration comes from it. Nothing is held out: each path is judged by what it was not chosen on. */
async function judged(
  recording: Recording,
  strategy: string,
  terms: { readonly work: string; readonly registry: Registry; readonly runner: ModelRunner },
): Promise<JudgedStudy> {
  const { registry, runner, work } = terms;
  const study = studyOf(recording, strategy, work);
  const { keys } = study;
  const progress = progressBar();
  const tapes = (await tuneTapes(study, LATENCIES, progress)).map(tape => ({
    ...tape,
    tuned: { ...tape.hours, from: Date.parse(recording.tape.from) },
    heldOut: null,
  }));
  const tuned = tapes.map(tape => tape.tuned);
  const hours = {
    study: studyDigest(study, version(), [digestOfData(tuned), digestOfData([])]),
    ...{ tapes: tuned, heldOut: [] },
  };
  const run: TrialTerms = {
    pieces: piecesOf(tapes, study, LATENCIES),
    ...{ models: keys.models, starts: keys.startsAfterSeconds, latencies: [LATENCIES], seed: keys.search.seed },
    ...{ references: new Map(), objective: keys.objectives[0]!, runner },
  };
  const now = (): string => new Date().toISOString();
  const trials = await runTrials({
    ...{ study, hours, registry, terms: run, executor: trialsByRunner(runner), progress, unit: recording.tape.minor },
    signed: () => ({ study: hours.study, at: now(), by: 'compare:tuned', version: version() }),
  });
  const done = distinct(trials.filter(({ state }) => state === 'done'));
  const base = await baseOf(study, run);
  const { spans, order } = spansInTime(run.pieces);
  const inOrder = (blocks: readonly number[]): readonly number[] => order.map(at => blocks[at] ?? 0);
  const rows = [base, ...done].map(({ blocks }) => inOrder(blocks));
  const cross = crossSplits(spans, 1_000 * keys.embargoSeconds);
  const paths = (of: readonly (readonly number[])[]) => pathResults(of, cross, meanOf).map(({ values }) => values);
  const best = bestTrial(trials, keys);
  const evidence =
    best &&
    evidenceOf(best, done, {
      ...{ trials: done.length, space: study.space, pieces: run.pieces, embargoMs: 1_000 * keys.embargoSeconds },
      ...{ objective: keys.objectives[0]!, neighbours: [] },
    });
  const { name, tape } = recording;
  return {
    ...{ name, strategy, minor: tape.minor, from: tape.from, to: tape.to, seconds: tape.seconds },
    ...{ tried: done.length, refused: trials.length - trials.filter(({ state }) => state === 'done').length },
    fills: base.measures?.fills ?? 0,
    base: rows[0]!,
    promised: Math.max(...rows.map(row => row.reduce((sum, x) => sum + x, 0))),
    always: paths(rows),
    // Not trading is one more that can be chosen.
    orNothing: paths([rows[0]!.map(() => 0), ...rows]),
    pbo: evidence?.pbo?.value ?? null,
  };
}

/** The configuration that the study began with, run as its trials were. */
async function baseOf({ config }: Study, terms: TrialTerms): Promise<TrialOutcome> {
  let found: TrialOutcome | null = null;
  await runBatch(
    [{ number: 0, point: {}, digest: 'base', config }],
    terms,
    () => new Map(),
    (_, outcome) => (found = outcome),
    () => undefined,
  );
  if (found === null) throw new Error('the configuration was not run');
  return found;
}

type Flags = { readonly data: string; readonly registry: string; readonly only?: string };

new Command('tuned-comparison')
  .description(
    'docs/development/evidence/tuned.json: what tuning brought on recordings, judged by purged paths; `npm run docs` has it in docs/development/evidence/comparison.md',
  )
  .option('--data <dir>', 'the recordings', '../shared/data')
  .option('--registry <dir>', 'folder of the registry of trials: what is there is not run again', 'reports/tuned')
  .option('--only <text>', 'recordings whose name has it, and nothing is written')
  .action(async ({ data, registry: dir, only }: Flags) => {
    const work = mkdtempSync(join(tmpdir(), 'puntas-tuned-'));
    mkdirSync(dir, { recursive: true });
    const registry = new Registry(dir);
    const runner = modelRunner(1);
    try {
      const figures = JSON.parse(
        readFileSync('docs/development/evidence/comparison.json', 'utf8'),
      ) as ComparisonFigures;
      const studies: JudgedStudy[] = [];
      for (const recording of await recordings(data, work, figures))
        for (const strategy of Object.keys(SEARCHED)) {
          if (only !== undefined && !recording.name.includes(only)) continue;
          const from = process.cpuUsage();
          studies.push(await judged(recording, strategy, { work, registry, runner }));
          const { user, system } = process.cpuUsage(from);
          console.log(`${recording.name}, ${strategy}: ${Math.round((user + system) / 1e6)} s of processor`);
        }
      const made = tunedFigures(studies);
      if (only === undefined) writeFileSync('docs/development/evidence/tuned.json', `${JSON.stringify(made)}\n`);
      else console.log(JSON.stringify(made, null, 1));
    } finally {
      registry.close();
      await runner.end();
      rmSync(work, { recursive: true, force: true });
    }
  })
  .parse();
