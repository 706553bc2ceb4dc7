/**
 * Check of a promotion stage: collects the evidence of the stage, and compares the evidence with the criteria that were
 * fixed before the promotion started.
 */
import type { Config } from '../../../src/config.ts';
import { readTradedText } from '../../../src/wiring/configFile.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import {
  ledgerFinding,
  modelFinding,
  predictedNetOf,
  replayFindings,
  resultOf,
  tradedFindings,
  type PredictedNet,
} from './findings.ts';
import { liveDigestOf } from '../../../src/app/promote/liveFile.ts';
import type { Check } from '../../../src/app/promote/records.ts';
import { replayEvidence } from './replayEvidence.ts';
import { tradedStage } from './runEvidence.ts';
import { DEFAULT_CRITERIA, readCriteria } from './criteria.ts';
import { paperConfig } from '../../../src/app/promote/candidate.ts';
import type { Looking, PromotionJudge, StageCheck } from '../../../src/app/promote/promotionJudge.ts';
import type { OpenPromotion, PromotionState } from '../../../src/app/promote/promotionState.ts';

/** Checks a stage. Rejects with `UsageError` if the operator must fix a problem first. */
async function checkStage(open: OpenPromotion, standing: PromotionState, looking: Looking): Promise<StageCheck> {
  const { dir, clock, onInput } = looking;
  const { started, stage, since, evidence } = open;
  const { criteria } = started;
  if (stage === 'replay') return { check: await replayCheck(open, looking), traded: null };
  const config = stage === 'paper' ? paperConfig(dir, open) : placedConfigOf(looking, standing);
  const isFollowed = stage === 'paper' && config.exchange.kind === 'remote';
  const traded = await tradedStage({
    ...{ dir: isFollowed ? config.paper.stateDir : config.state.dir, config, since, clock, onInput },
  });
  const before =
    evidence.map(predictedNetOf).findLast((promised): promised is PredictedNet => promised !== null) ?? null;
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

/** Reads the live file. Throws `UsageError` if it was edited since the promotion wrote it. */
function placedConfigOf({ liveFile, dir }: Looking, { live }: PromotionState): Config {
  if (liveDigestOf(liveFile) !== live)
    throw new UsageError(
      `${liveFile}: was changed manually since the promotion wrote the file; restore the promotion's text from ${dir}/files/${live ?? ''}.yaml, or roll back with puntas promote back`,
    );
  return readTradedText(liveFile).config;
}

/** Checks of promotion stages by replays of recordings and of the bot's own runs. */
export const promotionJudge: PromotionJudge = { defaultCriteria: DEFAULT_CRITERIA, readCriteria, checkStage };
