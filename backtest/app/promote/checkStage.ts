/** One look at the stage of a promotion: its evidence gathered, and held against the criteria that were set before it began. */
import { dirname, join } from 'node:path';
import type { Config } from '../../../src/config.ts';
import type { Clock, Millis } from '../../../src/core/index.ts';
import type { Progress } from '../../../src/app/messages/progress.ts';
import { readConfigText } from '../../../src/app/wiring/configFile.ts';
import { UsageError } from '../../../src/app/wiring/usageError.ts';
import { ledgerFinding, modelFinding, promisedBy, replayFindings, resultOf, tradedFindings } from './findings.ts';
import type { Promised } from './findings.ts';
import { liveDigestOf } from '../../../src/app/promote/liveFile.ts';
import type { Check } from '../../../src/app/promote/records.ts';
import { replayEvidence } from './replayEvidence.ts';
import { tradedStage, tradingDigest } from './runEvidence.ts';
import type { LastTraded } from './runEvidence.ts';
import type { OpenPromotion, Standing } from '../../../src/app/promote/standing.ts';

export type Looking = {
  readonly liveFile: string;
  /** Of the promotions of that file. */
  readonly dir: string;
  readonly clock: Clock;
  readonly progress: Progress;
  readonly onInput: (at: Millis) => void;
  readonly threads: number;
};

/** `traded`: the rules and the middle of the book as the last run of the stage saw them. */
export type StageCheck = { readonly check: Check; readonly traded: LastTraded | null };

/** The candidate as it is run on paper, with a state of its own. */
export const paperFile = (dir: string, promotion: number): string => join(dir, String(promotion), 'paper.yaml');

/** The candidate as it runs on paper. Throws `UsageError` where that file does not trade as the candidate any more. */
export function paperConfig(dir: string, { started }: OpenPromotion): Config {
  const file = paperFile(dir, started.promotion);
  const { config } = readConfigText(file);
  if (tradingDigest(config) !== started.trading)
    throw new UsageError(
      `${file}: was changed in what it trades: a promotion is of one configuration; go back and start one with the other`,
    );
  return config;
}

/** Rejects with `UsageError` where there is something to be mended before it can be told. */
export async function checkStage(open: OpenPromotion, standing: Standing, looking: Looking): Promise<StageCheck> {
  const { dir, liveFile, clock, onInput } = looking;
  const { started, stage, since, evidence } = open;
  const { criteria } = started;
  if (stage === 'replay') return { check: await replayCheck(open, looking), traded: null };
  const config = stage === 'paper' ? paperConfig(dir, open) : placedConfigOf(liveFile, standing);
  const isFollowed = stage === 'paper' && config.exchange.kind === 'remote';
  const traded = await tradedStage({
    ...{ dir: isFollowed ? config.paper.stateDir : config.state.dir, config, since, clock, onInput },
  });
  const before = evidence.map(promisedBy).findLast((promised): promised is Promised => promised !== null) ?? null;
  const findings = [
    ...tradedFindings(criteria[stage], traded, before),
    ...(stage === 'paper' ? modelFinding(criteria.paper, traded.evidence) : [ledgerFinding(traded.evidence)]),
  ];
  return { check: { findings, result: resultOf(findings), run: traded.evidence }, traded: traded.traded };
}

async function replayCheck(open: OpenPromotion, { dir, progress, threads }: Looking): Promise<Check> {
  const { started } = open;
  const { replay: criteria } = started.criteria;
  const { tapes } = criteria;
  const config = paperConfig(dir, open);
  const replay =
    tapes === undefined
      ? null
      : await replayEvidence({
          ...{ config, file: started.file, text: '', criteria: { ...criteria, tapes }, threads, progress },
        });
  const findings = replayFindings(criteria, started.tuned, replay);
  return { findings, result: resultOf(findings), replay };
}

/** Throws `UsageError` where the live file was changed by hand since. */
function placedConfigOf(liveFile: string, { live }: Standing): Config {
  if (liveDigestOf(liveFile) !== live)
    throw new UsageError(
      `${liveFile}: does not say what the promotion put there: it was changed by hand. What was put there is in ${dirname(liveFile)}, under files/${live?.slice(0, 8) ?? ''}…; put that back, or go back with: puntas promote back`,
    );
  return readConfigText(liveFile).config;
}
