/** Profit report of a state directory, with or without a running bot. */
import type { Clock, Millis } from '../../core/index.ts';
import { ledgerAt } from './exportLedger.ts';
import { lastMoment, profitAt } from './profitNow.ts';
import { profitReport, type DaysAsked, type ProfitReport } from './profitReport.ts';

/**
 * Reads a copy of the state and returns its report. `book` is used if the state does not name its book; `onInput`
 * receives the time of each replayed input. Rejects with `UsageError` if there is nothing to report.
 */
export async function ledgerReport(
  stateDir: string,
  asked: DaysAsked,
  clock: Clock,
  book?: string,
  onInput?: (at: Millis) => void,
): Promise<ProfitReport> {
  const file = await ledgerAt(stateDir, clock);
  return profitReport(file, asked, clock.now(), book, profitAt(lastMoment(stateDir, onInput), file));
}
