/** Profit report of a state directory, with or without a running bot. */
import type { Clock, Millis } from '../../core/index.ts';
import { ledgerAt } from './exportLedger.ts';
import { lastMoment, profitAt, profitsOfOthers } from './profitNow.ts';
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

/**
 * Reads a copy of the state and returns the report of each book: the first as `ledgerReport` does, then the others, also
 * those that the bot no longer quotes. Rejects as `ledgerReport` does.
 */
export async function ledgerReports(
  stateDir: string,
  asked: DaysAsked,
  clock: Clock,
  book?: string,
  onInput?: (at: Millis) => void,
): Promise<readonly ProfitReport[]> {
  const file = await ledgerAt(stateDir, clock);
  const moment = lastMoment(stateDir, onInput);
  const now = clock.now();
  return [
    profitReport(file, asked, now, book, profitAt(moment, file)),
    ...profitsOfOthers(moment, file).map(other => {
      const hours = file.otherBooks?.find(stored => stored.book === other.book)?.hours ?? [];
      return profitReport({ ...file, book: other.book, hours }, asked, now, undefined, other.profit);
    }),
  ];
}
