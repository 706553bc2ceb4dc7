/** Profit of a bot at the latest time on disk: from a replay of its last recording, or from its last checkpoint. */
import { existsSync } from 'node:fs';
import type { Millis, Profit, ProfitSinceOpening } from '../../core/index.ts';
import { recordingsIn } from '../../live/recording/recordings.ts';
import type { LedgerFile } from '../../live/state/ledgerFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { replayedMoment, type ReplayedMoment } from './explain.ts';

export type ProfitNow = { readonly sinceOpening: ProfitSinceOpening; readonly run: Profit | null };

/**
 * Returns the last recorded moment of a state directory; `null` without a recording, or the error if the recording
 * cannot be replayed.
 */
export function lastMoment(dir: string, onInput?: (at: Millis) => void): ReplayedMoment | UsageError | null {
  if (!existsSync(dir) || recordingsIn(dir).length === 0) return null;
  try {
    return replayedMoment({ dir, at: null, ...(onInput === undefined ? {} : { onInput }) });
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

/**
 * Returns the later profit of recording and checkpoint. A checkpoint without a time is from an older Puntas; only that
 * checkpoint, not the recording, includes the profit of earlier runs.
 */
export function profitAt(
  moment: ReplayedMoment | UsageError | null,
  file: Pick<LedgerFile, 'profit'> | null,
): ProfitNow | null {
  const kept = file?.profit ?? null;
  const checkpoint = kept && { sinceOpening: kept, run: null };
  if (moment === null || moment instanceof UsageError || kept?.at === null) return checkpoint;
  const { sinceOpening, runProfit } = moment.engine.snapshot(moment.seen.at ?? moment.startedAt);
  if (sinceOpening.at === null || sinceOpening.at < (kept?.at ?? -Infinity)) return checkpoint;
  return { sinceOpening, run: runProfit };
}
