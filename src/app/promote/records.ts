/** What a promotion's journal is made of: a line for each stage that began, each look at the evidence, and each decision. */
import type { Millis } from '../../core/index.ts';
import type { Criteria, ReplayEvidence, RunEvidence } from './evidence.ts';
import type { TunedEvidence } from './tunedEvidence.ts';

/** In their order; after the last one a configuration is promoted. */
export const STAGES = ['replay', 'paper', 'smallest'] as const;
export type Stage = (typeof STAGES)[number];

/** `not yet`: more hours or fills may tell. */
export type CriterionResult = 'passed' | 'failed' | 'not yet';

/** One criterion: what was expected, what was found. */
export type CriterionFinding = {
  readonly criterion: string;
  readonly expected: string;
  readonly found: string;
  readonly result: CriterionResult;
};

/** One look at a stage. `replay` is null where the tuning's own evidence is all that is asked for. */
export type Check = {
  readonly findings: readonly CriterionFinding[];
  readonly result: CriterionResult;
  readonly replay?: ReplayEvidence | null;
  readonly run?: RunEvidence;
};

/** With the stage that was looked at. */
export type StageLook = Check & { readonly stage: Stage };

type Signed = {
  /** From 1. */
  readonly promotion: number;
  readonly at: Millis;
  readonly by: string;
  /** Empty of a check. */
  readonly reason: string;
  readonly version: string;
};

export type StartedRecord = Signed & {
  readonly kind: 'started';
  /** As it was given, absolute; the copy has these contents. */
  readonly file: string;
  /** SHA-256 of what it says, and of what it comes to in the live file's place. */
  readonly candidate: string;
  readonly live: string;
  /** Of what decides how it trades. */
  readonly trading: string;
  readonly criteria: Criteria;
  readonly tuned: TunedEvidence | null;
};

export type CheckedRecord = Signed & StageLook & { readonly kind: 'checked' };

export type ApprovedRecord = Signed & {
  readonly kind: 'approved';
  readonly stage: Stage;
  readonly result: CriterionResult;
  readonly findings: readonly CriterionFinding[];
  /** Although not all of them were passed. */
  readonly anyway: boolean;
  /** SHA-256 of what the live file says from now on, and said before; null where it stays, and where there was none. */
  readonly to: string | null;
  readonly before: string | null;
};

export type BackRecord = Signed & {
  readonly kind: 'back';
  /** What the live file says from now on: null when it is taken away; absent when it stays. */
  readonly to?: string | null;
  /** What it said. */
  readonly from: string | null;
};

/** The live file says now what was decided. A line that is missing: the process ended between the decision and the file. */
export type PlacedRecord = Signed & { readonly kind: 'placed' };

/** Asked for and not done. */
export type RefusedRecord = Signed & {
  readonly kind: 'refused';
  readonly asked: 'approve';
  readonly stage: Stage;
  readonly findings: readonly CriterionFinding[];
};

export type PromotionRecord =
  StartedRecord | CheckedRecord | ApprovedRecord | PlacedRecord | BackRecord | RefusedRecord;
