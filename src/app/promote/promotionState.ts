/** State of the promotions of one live file, computed from their journal. The state machine skips no stage. */
import type { Millis } from '../../core/index.ts';
import {
  STAGES,
  type ApprovedRecord,
  type CheckedRecord,
  type PromotionRecord,
  type Stage,
  type StartedRecord,
} from './records.ts';

export type OpenPromotion = {
  readonly started: StartedRecord;
  readonly stage: Stage;
  /** Start time of this stage. */
  readonly since: Millis;
  /** Last check of this stage; `null` if there is none. */
  readonly checked: CheckedRecord | null;
  /** Approvals of earlier stages, oldest first. */
  readonly approved: readonly ApprovedRecord[];
  /** Last check of each earlier stage. */
  readonly evidence: readonly CheckedRecord[];
};

/** Promotion that has replaced the live file; `before` is the digest of the text that a rollback restores. */
type Placed = { readonly promotion: number; readonly before: string | null };

export type PromotionState = {
  readonly open: OpenPromotion | null;
  /** Expected digest of the live file; `null` if the file should not exist, absent if no promotion has changed it. */
  readonly live?: string | null;
  /** Promotions that changed the live file, newest last; a rollback removes the last entry. */
  readonly placed: readonly Placed[];
  /** Decision that may not be in the live file yet; `null` if there is none. */
  readonly pending: Pending | null;
  /** Number of promotions started. */
  readonly count: number;
};

/**
 * Decision that may not be in the live file yet. `to`: digest of the new text, `null` if the file is deleted. `from`:
 * digest of the old text, `null` if there was no file.
 */
export type Pending = {
  readonly promotion: number;
  readonly to: string | null;
  readonly from: string | null;
  /** Whether the decision is a rollback. */
  readonly isBack: boolean;
};

export const NOTHING: PromotionState = { open: null, placed: [], pending: null, count: 0 };

/**
 * Returns the state after a record.
 * @throws Error with the reason if the record is not valid in this state.
 */
export function after(standing: PromotionState, record: PromotionRecord): PromotionState {
  const { open, placed, count, pending } = standing;
  const cannot = (why: string): never => {
    throw new Error(`record "${record.kind}" of promotion ${record.promotion} contradicts the lines before it: ${why}`);
  };
  if (record.kind === 'placed') {
    if (pending?.promotion !== record.promotion) return cannot('no decision of this promotion is pending');
    return { ...standing, pending: null };
  }
  if (record.kind === 'back') return afterRollback(standing, record, cannot);
  if (pending !== null) return cannot('the last decision has not been written to the live file');
  if (record.kind === 'started') {
    if (open !== null) return cannot(`promotion ${open.started.promotion} is under way`);
    if (record.promotion !== count + 1) return cannot(`expected promotion ${count + 1}`);
    const begun = {
      started: record,
      stage: 'replay',
      since: record.at,
      checked: null,
      approved: [],
      evidence: [],
    } as const;
    return { ...standing, open: begun, count: count + 1 };
  }
  if (open === null || open.started.promotion !== record.promotion) return cannot('the promotion is not under way');
  if (record.stage !== open.stage)
    return cannot(`the promotion is at stage ${open.stage}, but the record is for stage ${record.stage}`);
  if (record.kind === 'refused') return standing;
  if (record.kind === 'checked') return { ...standing, open: { ...open, checked: record } };
  if (record.result !== 'passed' && !record.anyway) return cannot(`its criteria were ${record.result}`);
  const places = record.stage !== 'replay';
  if (places !== (record.to !== null))
    return cannot(
      places
        ? `an approval of stage ${record.stage} must contain the new live file`
        : `an approval of stage ${record.stage} must not change the live file`,
    );
  const approved = [...open.approved, record];
  const evidence = open.checked === null ? open.evidence : [...open.evidence, open.checked];
  const next = STAGES[STAGES.indexOf(record.stage) + 1];
  const { promotion, before, restored = before } = record;
  return {
    ...standing,
    ...(places ? { live: record.to, pending: { promotion, to: record.to, from: before, isBack: false } } : {}),
    placed: record.stage === 'paper' ? [...placed, { promotion, before: restored }] : placed,
    open: next === undefined ? null : { ...open, stage: next, since: record.at, checked: null, approved, evidence },
  };
}

/**
 * Returns the state after a rollback. Before the stage `smallest`, the promotion ends and the live file stays
 * unchanged. Otherwise the text before the newest promotion is restored.
 */
function afterRollback(
  standing: PromotionState,
  { promotion, to, from }: Extract<PromotionRecord, { kind: 'back' }>,
  cannot: (why: string) => never,
): PromotionState {
  const { open, placed } = standing;
  const last = placed.at(-1);
  if (open !== null && open.stage !== 'smallest') {
    if (open.started.promotion !== promotion) return cannot('the promotion is not under way');
    if (to !== undefined) return cannot('this promotion has not changed the live file');
    return { ...standing, open: null };
  }
  if (last === undefined || last.promotion !== promotion)
    return cannot('another promotion changed the live file later');
  if (to !== last.before) return cannot('the restored text is not the previous live file');
  const pending = { promotion, to: last.before, from, isBack: true };
  return { ...standing, open: null, live: last.before, placed: placed.slice(0, -1), pending };
}

/**
 * Returns the number of the promotion in the live file, whether with smallest or full order sizes; `null` if there is
 * none.
 */
export const inPlace = ({ placed }: PromotionState): number | null => placed.at(-1)?.promotion ?? null;
