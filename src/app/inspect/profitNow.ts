/**
 * Latest known profit of a bot, from its state directory: from a replay of the last recording, or from the last
 * checkpoint.
 */
import { existsSync } from 'node:fs';
import { isTrialOrder } from '../../config.ts';
import type { Millis, Profit, ProfitSinceOpening } from '../../core/index.ts';
import { readHeartbeat } from '../../live/safety/heartbeat.ts';
import { recordingsIn } from '../../live/recording/recordings.ts';
import type { LedgerFile } from '../../live/state/ledgerFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { shownProfit, type PrintedProfit } from '../../messages/shownProfit.ts';
import { replayedMoment, type ReplayedMoment } from './explain.ts';

export type ProfitNow = {
  /** Profit since the opening, from the entries of the ledger. */
  readonly booked: ProfitSinceOpening;
  readonly run: Profit | null;
  /** Reason why the ledger lacks trades and the profit is therefore unknown; `null` if the profit is known. */
  readonly unknown: string | null;
};

/** Returns the sentence about an unknown profit, without a full stop. */
export const unknownProfit = (why: string): string =>
  `The profit of now is unknown until the bot has read its trades again (${why}); try again in some seconds`;

/** Returns the profit as it is printed; `null` if it is unknown or was never stored. */
export const printedProfit = (of: ProfitNow | null, minor: string): PrintedProfit | null =>
  of === null || of.unknown !== null ? null : shownProfit(of.booked, of.run, minor);

/**
 * Returns the replayed state at the end of the last recording, or the error if the recording cannot be replayed; `null`
 * without a recording. A trial order that ended without a fill is skipped, because its configuration is not the bot's.
 */
export function lastMoment(dir: string, onInput?: (at: Millis) => void): ReplayedMoment | UsageError | null {
  if (!existsSync(dir) || recordingsIn(dir).length === 0) return null;
  try {
    const asked = { dir, at: null, ...(onInput === undefined ? {} : { onInput }) };
    const last = replayedMoment(asked);
    return isSpent(last, dir) ? (momentBefore(last, dir, asked) ?? last) : last;
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

/** Returns the state at the end of the last run before a trial order; `null` if there is none. */
function momentBefore(
  trial: ReplayedMoment,
  dir: string,
  asked: Parameters<typeof replayedMoment>[0],
): ReplayedMoment | null {
  let moment = trial;
  try {
    while (isSpent(moment, dir)) moment = replayedMoment({ ...asked, before: moment.run });
    return moment;
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

/** Whether the run was a trial order that has ended without a fill. */
const isSpent = ({ engine, setup, seen, startedAt }: ReplayedMoment, dir: string): boolean =>
  isTrialOrder(setup) &&
  readHeartbeat(dir, 'bot')?.state === 'stopped' &&
  engine.book.snapshot(seen.at ?? startedAt).booked.fills === 0;

/**
 * Returns the profit of the recording or of the checkpoint, whichever is later. A checkpoint without a time is from an
 * older Puntas; it is used, because the recording then lacks the profit of earlier runs. `symbol`: one of several
 * books, whose checkpoint `file` is; absent for the book that the moment shows.
 */
export function profitAt(
  moment: Pick<ReplayedMoment, 'engine' | 'seen' | 'startedAt'> | UsageError | null,
  file: Pick<LedgerFile, 'profit'> | null,
  symbol?: string,
): ProfitNow | null {
  const kept = file?.profit ?? null;
  const checkpoint = kept && { booked: kept, run: null, unknown: null };
  if (moment === null || moment instanceof UsageError || kept?.at === null) return checkpoint;
  const { engine } = moment;
  const book = symbol === undefined ? engine.book : engine.books.find(each => each.symbol === symbol);
  if (book === undefined) return checkpoint;
  const { booked, known } = book.snapshot(moment.seen.at ?? moment.startedAt);
  const { sinceOpening, runProfit } = booked;
  if (sinceOpening.at === null || sinceOpening.at < (kept?.at ?? -Infinity)) return checkpoint;
  return { booked: sinceOpening, run: runProfit, unknown: known.trades === null ? known.unknown : null };
}

/** Profit of one further book of a bot. */
export type BookProfit = { readonly book: string; readonly profit: ProfitNow | null };

/**
 * Returns the latest known profit of each further book: those of the ledger, and those that only the last run has.
 */
export function profitsOfOthers(
  moment: Pick<ReplayedMoment, 'engine' | 'seen' | 'startedAt'> | UsageError | null,
  file: Pick<LedgerFile, 'otherBooks'> | null,
): readonly BookProfit[] {
  const stored = file?.otherBooks ?? [];
  const running = moment === null || moment instanceof UsageError ? [] : moment.engine.books.slice(1);
  const symbols = new Set([...running.map(({ symbol }) => symbol), ...stored.map(({ book }) => book)]);
  return [...symbols].map(book => ({
    book,
    profit: profitAt(moment, stored.find(each => each.book === book) ?? null, book),
  }));
}
