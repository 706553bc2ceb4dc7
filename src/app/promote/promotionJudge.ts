/**
 * Interface of the judge of a promotion, which gathers the evidence of a stage and compares it with the criteria.
 * Research code implements it.
 */
import type { Clock, Instrument, Millis } from '../../core/index.ts';
import type { Progress } from '../../messages/progress.ts';
import type { Criteria } from './evidence.ts';
import type { Check } from './records.ts';
import type { OpenPromotion, PromotionState } from './promotionState.ts';

export type Looking = {
  readonly liveFile: string;
  /** Journal folder of the live file. */
  readonly dir: string;
  readonly clock: Clock;
  readonly progress: Progress;
  readonly onInput: (at: Millis) => void;
  readonly threads: number;
};

/** Rules and mid price of the book in the last run. */
export type LastTraded = { readonly instrument: Instrument; readonly midTicks: number };

/** Result of one check. `traded` is `null` in the replay stage, and if no run of the stage has received a mid price. */
export type StageCheck = { readonly check: Check; readonly traded: LastTraded | null };

export interface PromotionJudge {
  /** Default criteria. They name no recordings, so the evidence of the tuning study counts as replay evidence. */
  readonly defaultCriteria: Criteria;
  /**
   * Reads criteria from a file.
   * @throws UsageError with one line for each error.
   */
  readCriteria(path: string): Criteria;
  /** Checks a stage. Rejects with `UsageError` if the operator must fix something before the stage can be judged. */
  checkStage(open: OpenPromotion, standing: PromotionState, looking: Looking): Promise<StageCheck>;
}
