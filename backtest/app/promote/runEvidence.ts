/**
 * Evidence of a trading stage: every run of this configuration since the start of the stage, replayed from its
 * recording.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { runningRatio, type RunningRatio } from '../../index.ts';
import { recordedConfig, type Config } from '../../../src/config.ts';
import { textOfMoney, type Clock, type Millis, textOfError } from '../../../src/core/index.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { firstRules, replayRun } from '../../../src/live/replay/replay.ts';
import type { Rules } from '../../../src/live/rules.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { isPaperState } from '../../../src/live/state/paperMark.ts';
import type { ReplayedRun, RunEvidence } from '../../../src/app/promote/evidence.ts';
import type { LastTraded } from '../../../src/app/promote/promotionJudge.ts';
import { tradingDigest } from '../../../src/app/promote/tradingDigest.ts';
import { engineOf } from '../../../src/wiring/bot.ts';
import { venueOf } from '../../../src/wiring/venueRegistry.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { RunMeter, type RunSums } from './runMeter.ts';

/**
 * Evidence of a stage, with its profit per volume so far. `traded` contains the instrument and the final mid price of
 * the last run; `null` if that run had no mid price.
 */
export type TradedStage = {
  readonly evidence: RunEvidence;
  readonly ratio: RunningRatio;
  readonly traded: LastTraded | null;
};

export type RunsAsked = {
  readonly dir: string;
  readonly config: Config;
  readonly since: Millis;
  readonly clock: Clock;
  readonly onInput: (at: Millis) => void;
};

/**
 * Collects the evidence from recordings and a copy of the ledger, without disturbing a running bot. Rejects with
 * `UsageError` if a recording cannot be read.
 */
export async function tradedStage(asked: RunsAsked): Promise<TradedStage> {
  const { dir, config, since, clock } = asked;
  const wanted = tradingDigest(config);
  const isPaper = existsSync(dir) && isPaperState(dir);
  const blocks: RunSums['blocks'][number][] = [];
  const halts: { at: Millis; reason: string }[] = [];
  const runs: ReplayedRun[] = [];
  const all = { ms: 0, bothMs: 0, fills: 0, judged: 0, volume: 0 };
  let [others, model]: [number, string | null] = [0, null];
  let traded: LastTraded | null = null;
  for (const { run } of existsSync(dir) ? recordingsIn(dir) : []) {
    const begun = runStartOf(dir, run, since);
    if (begun === null) continue;
    if (tradingDigest(begun.setup) !== wanted || (isPaper && fillTerms(begun.setup) !== fillTerms(config))) {
      others++;
      continue;
    }
    const { sums, replayed } = await replayedRun(dir, run, begun, asked.onInput);
    runs.push(replayed);
    blocks.push(...sums.blocks);
    halts.push(...sums.halts);
    for (const key of ['ms', 'bothMs', 'fills', 'judged', 'volume'] as const) all[key] += sums[key];
    traded = { instrument: begun.rules.instrument, midTicks: sums.midTicks };
    model = isPaper ? begun.setup.paper.fills : null;
  }
  const ratio = runningRatio(blocks);
  const bps = (x: number): number => Number((10_000 * x).toPrecision(6));
  return {
    ratio,
    traded: traded !== null && Number.isFinite(traded.midTicks) ? traded : null,
    evidence: {
      ...{ state: dir, isPaper, runs, others, halts, model },
      ...{ hours: all.ms / 3_600_000, fills: all.fills, judged: all.judged, volume: all.volume },
      uptime: all.ms > 0 ? all.bothMs / all.ms : 0,
      net60sBps: all.judged > 0 ? bps(ratio.ratio) : null,
      interval: ratio.interval && { low: bps(ratio.interval.low), high: bps(ratio.interval.high) },
      minor: traded?.instrument.minor ?? null,
      ledger: await ledgerSince(dir, since, clock),
    },
  };
}

/**
 * Returns the settings that determine the fills of paper orders, as text. Runs with other settings are not evidence for
 * the stage.
 */
const fillTerms = ({ paper: { fills, fittedSha256, fees, volume30d, latencyMs } }: Config): string =>
  JSON.stringify([fills, fees?.maker, fees?.taker, volume30d, latencyMs, fills === 'fitted' ? fittedSha256 : null]);

type RunStart = { readonly setup: Config; readonly rules: Rules; readonly startedAt: Millis };

/**
 * Returns the configuration, book rules and start time of a run. Returns `null` if the run started before `since`, or
 * ended before it read the rules of its book.
 */
function runStartOf(dir: string, run: number, since: Millis): RunStart | null {
  try {
    const recording = readRecording(dir, run);
    if (recording === null || recording.of.startedAt < since) return null;
    const rules = firstRules(dir, run);
    return rules && { rules, setup: recordedConfig(recording.of.setup), startedAt: recording.of.startedAt };
  } catch (error) {
    throw new UsageError(
      `${dir}: run ${run} cannot be read (${textOfError(error)}); move the recording of the run to another folder`,
    );
  }
}

async function replayedRun(
  dir: string,
  run: number,
  { setup, rules, startedAt }: RunStart,
  onInput: (at: Millis) => void,
): Promise<{ readonly sums: RunSums; readonly replayed: ReplayedRun }> {
  const { bytes } = recordingsIn(dir).find(one => one.run === run)!;
  const watched = new RunMeter(rules.instrument);
  const engine = engineOf(setup, rules, run, news => watched.hear(news));
  watched.watch(engine);
  const { difference } = replayRun(dir, run, engine, {
    onInput: event => {
      watched.see(event);
      onInput(event.at);
    },
    meaningOf: venueOf(setup).meaningOf,
  });
  const sums = watched.sums();
  const sha256 = await digestOfFile(join(dir, `run-${run}.rec`), bytes);
  return { sums, replayed: { run, from: sums.from ?? startedAt, to: sums.to ?? startedAt, sha256, difference } };
}

async function digestOfFile(file: string, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  if (bytes > 0) for await (const chunk of createReadStream(file, { end: bytes - 1 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function ledgerSince(dir: string, since: Millis, clock: Clock): Promise<RunEvidence['ledger']> {
  const file = existsSync(dir) ? await ledgerFileIn(dir, clock) : null;
  if (file === null || file.checked === null) return null;
  const { checked, checkedThere: there } = file;
  const at = Math.min(checked.at, there?.at ?? Infinity);
  if (at < since) return null;
  const differences = [...checked.differences, ...(there?.differences ?? [])];
  return { at, differences: Object.fromEntries(differences.map(([name, sum]) => [name, textOfMoney(sum)])) };
}
