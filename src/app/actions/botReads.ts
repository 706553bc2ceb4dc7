/**
 * Reads of a bot for remote control and HTTP API: the same figures as `puntas status`, `report`, `explain` and
 * `export`, as text for a narrow screen or as JSON.
 */
import { textOfMoney, type Clock, type Millis } from '../../core/index.ts';
import { jsonWithOldNames } from '../../messages/oldNames.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { timeText } from '../../messages/timeText.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { botStatus, profitOfBook, type BotStatus } from './botStatus.ts';
import { botStatusMessage } from './botStatusText.ts';
import type { BookedFill } from '../inspect/exportColumns.ts';
import { fillsOf, ledgerAt } from '../inspect/exportLedger.ts';
import { explain } from '../inspect/explain.ts';
import { lastConfigOf } from '../inspect/botOfFolder.ts';
import { sortedByTime } from '../inspect/ledgerProfit.ts';
import { booksReportJson, ledgerReports } from '../inspect/booksReport.ts';
import { briefReport, type DaysAsked, type ProfitReport } from '../inspect/profitReport.ts';

export type BotRead =
  | { readonly what: 'status'; readonly as: 'text' | 'json'; readonly book?: string }
  | { readonly what: 'profit'; readonly as: 'text' }
  | { readonly what: 'report'; readonly as: 'json'; readonly days: DaysAsked; readonly book?: string }
  | { readonly what: 'explain'; readonly as: 'json'; readonly at: Millis | null; readonly book?: string }
  | { readonly what: 'fills'; readonly as: 'json'; readonly max: number; readonly book?: string }
  | { readonly what: 'config'; readonly as: 'json' };

/**
 * Returns the text of a read, or one JSON value. With a book, the answer has this book only. Rejects with `UsageError`
 * if there is nothing to read, or if the bot does not have the book.
 */
export async function readBot({ stateDir: dir }: WhichBot, read: BotRead, clock: Clock): Promise<string> {
  switch (read.what) {
    case 'status': {
      const status = statusOfBook(await botStatus(dir, clock), read.book);
      return read.as === 'json' ? jsonWithOldNames(status) : botStatusMessage(status, dir);
    }
    case 'profit':
      return briefReports(await ledgerReports(dir, {}, clock));
    case 'report':
      return JSON.stringify(booksReportJson(ofBook(await ledgerReports(dir, read.days, clock), read.book)));
    case 'explain':
      return JSON.stringify(explain({ dir, at: read.at, book: read.book }));
    case 'fills':
      return JSON.stringify(await lastFills(dir, read.max, clock, read.book));
    case 'config':
      return JSON.stringify(withoutSecrets(lastConfigOf(dir)));
  }
}

/** Returns the element of a book; without a symbol, all. @throws UsageError if there is none. */
function ofBook<T extends { readonly book: string }>(all: readonly T[], book: string | undefined): readonly T[] {
  const found = all.filter(each => book === undefined || each.book === book);
  if (found.length > 0 || all.length === 0) return found;
  throw new UsageError(`${book}: expected a book of this bot (${all.map(each => each.book).join(', ')})`);
}

/** Returns the status of one book as if it were the only one; without a symbol, the status of all. */
function statusOfBook(status: BotStatus, book: string | undefined): BotStatus {
  if (book === undefined) return status;
  const { run, otherBooks = [], otherProfits: _, ...whole } = status;
  const [shown = null] = ofBook([...(run === null ? [] : [run]), ...otherBooks], book);
  return {
    ...whole,
    run: shown,
    profit: profitOfBook(status, book),
    heldBy: whole.heldBy.filter(held => (held.book ?? book) === book),
  };
}

/** Returns the last fills of the ledger, newest first, with exact decimal text. */
async function lastFills(stateDir: string, max: number, clock: Clock, book?: string): Promise<readonly object[]> {
  const file = await ledgerAt(stateDir, clock);
  return fillsOf(file, sortedByTime(file.entries), book).slice(-max).toReversed().map(shownFill);
}

const shownFill = ({ at, amount, value, fee, ...rest }: BookedFill): object => ({
  ...{ at: timeText(at), ...rest, amount: textOfMoney(amount), value: textOfMoney(value), fee: textOfMoney(fee) },
});

/**
 * Returns a configuration, or a part of it, without secrets. A configuration never has keys or tokens, but the address
 * of a webhook or feed can contain a secret, so only the origin of each address is shown.
 */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return shownAddress(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutSecrets(each)]));
}

function shownAddress(text: string): string {
  if (!/^(?:https?|wss?):\/\//i.test(text)) return text;
  if (!URL.canParse(text)) return '[address]';
  const { protocol, host, pathname, search, hash } = new URL(text);
  const isBare = pathname === '/' && search === '' && hash === '';
  return `${protocol}//${host}${isBare ? '' : '/…'}`;
}

/** Returns the brief report of each book; of several, each with its symbol. */
const briefReports = (reports: readonly ProfitReport[]): string =>
  reports.map(report => (reports.length === 1 ? '' : `${report.book}\n`) + briefReport(report)).join('\n');
