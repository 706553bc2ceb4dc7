/** Records of a promotion's journal: one line for each start, check and decision. */
import type { Millis } from '../../core/index.ts';
import type { Criteria, ReplayEvidence, RunEvidence } from './evidence.ts';
import type { TunedEvidence } from './tunedEvidence.ts';

/** Stages in order; after the last stage the configuration is promoted. */
export const STAGES = ['replay', 'paper', 'smallest'] as const;
export type Stage = (typeof STAGES)[number];

/** Result of a criterion. `not yet`: the stage needs more hours or fills. */
export type CriterionResult = 'passed' | 'failed' | 'not yet';

/** Result of one criterion, with the expected and the found value. */
export type CriterionFinding = {
  readonly criterion: string;
  readonly expected: string;
  readonly found: string;
  readonly result: CriterionResult;
};

/** Check of a stage. `replay` is `null` if only the evidence of the tuning study is required. */
export type Check = {
  readonly findings: readonly CriterionFinding[];
  readonly result: CriterionResult;
  readonly replay?: ReplayEvidence | null;
  readonly run?: RunEvidence;
};

/** Check of a stage, with the name of the stage. */
export type StageLook = Check & { readonly stage: Stage };

type Signed = {
  /** Number of the promotion, from 1. */
  readonly promotion: number;
  readonly at: Millis;
  readonly by: string;
  /** Reason of the operator; empty for a check. */
  readonly reason: string;
  readonly version: string;
};

/** Strategy file of a promotion: its name with the first digits of its hash, and its SHA-256. */
export type KeptStrategy = { readonly name: string; readonly sha256: string };

export type StartedRecord = Signed & {
  readonly kind: 'started';
  /** Absolute path of the candidate file. The promotion works with a copy of the text. */
  readonly file: string;
  /** SHA-256 of the candidate's text. */
  readonly candidate: string;
  /** SHA-256 of the text that replaces the live file if the candidate is approved. */
  readonly live: string;
  /** Digest of the keys that decide how the candidate trades. */
  readonly trading: string;
  readonly criteria: Criteria;
  readonly tuned: TunedEvidence | null;
  /** Strategy file that was copied; absent if the candidate has none. */
  readonly strategy?: KeptStrategy;
};

export type CheckedRecord = Signed & StageLook & { readonly kind: 'checked' };

export type ApprovedRecord = Signed & {
  readonly kind: 'approved';
  readonly stage: Stage;
  /** Approved strategy file; absent if the candidate has none. */
  readonly strategy?: KeptStrategy;
  readonly result: CriterionResult;
  readonly findings: readonly CriterionFinding[];
  /** Whether the stage was approved although not all criteria passed. */
  readonly anyway: boolean;
  /** SHA-256 of the new live file; `null` if unchanged. */
  readonly to: string | null;
  /** SHA-256 of the old live file; `null` if there was none. */
  readonly before: string | null;
  /**
   * SHA-256 of the text that a rollback restores; absent if this is the old live file. It differs from the old live
   * file in its strategy file, which is a copy of the text that ran before.
   */
  readonly restored?: string;
};

export type BackRecord = Signed & {
  readonly kind: 'back';
  /** SHA-256 of the new live file; `null` if the file is deleted, absent if unchanged. */
  readonly to?: string | null;
  /** SHA-256 of the old live file; `null` if there was none. */
  readonly from: string | null;
};

/**
 * Record that the decided text is in the live file. If this record is missing, the process ended between the decision
 * and the write.
 */
export type PlacedRecord = Signed & { readonly kind: 'placed' };

/** Refused request to approve a stage. */
export type RefusedRecord = Signed & {
  readonly kind: 'refused';
  readonly asked: 'approve';
  readonly stage: Stage;
  readonly findings: readonly CriterionFinding[];
};

export type PromotionRecord =
  StartedRecord | CheckedRecord | ApprovedRecord | PlacedRecord | BackRecord | RefusedRecord;
