/**
 * Reads of a bot for the remote control: the same figures as `puntas status` and `puntas report`, as text for a narrow
 * screen.
 */
import type { Clock, Millis } from '../../core/index.ts';
import { botStatus } from '../actions/botStatus.ts';
import { botStatusMessage } from '../actions/botStatusText.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { ledgerAt } from './exportLedger.ts';
import { lastMoment, profitAt } from './profitNow.ts';
import { briefReport, profitReport, type DaysAsked, type ProfitReport } from './profitReport.ts';

export const BOT_READS = ['status', 'profit'] as const;
export type BotRead = (typeof BOT_READS)[number];

/** Returns the text of a read. Rejects with `UsageError` if there is no state, or no ledger for the profit. */
export async function readBot({ stateDir }: WhichBot, read: BotRead, clock: Clock): Promise<string> {
  switch (read) {
    case 'status':
      return botStatusMessage(await botStatus(stateDir, clock), stateDir);
    case 'profit':
      return briefReport(await reportOf(stateDir, {}, clock));
  }
}

/**
 * Reads a copy of the state and returns its report. `book` is used if the state does not name its book; `onInput`
 * receives the time of each replayed input. Rejects with `UsageError` if there is nothing to report.
 */
export async function reportOf(
  stateDir: string,
  asked: DaysAsked,
  clock: Clock,
  book?: string,
  onInput?: (at: Millis) => void,
): Promise<ProfitReport> {
  const file = await ledgerAt(stateDir, clock);
  return profitReport(file, asked, clock.now(), book, profitAt(lastMoment(stateDir, onInput), file));
}
