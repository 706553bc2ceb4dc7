/** Conditions that block an approved order just before it is sent. */
import type { BookEngine, Clock } from '../../core/index.ts';
import type { Halt, Latch } from './latch.ts';
import { pauseAt } from './pauseWatch.ts';

/** Latches that another process may just have set: those of the account, and those of one book. */
export type LatchedNow = {
  /** Halt of the account or of the book; `null` if there is none. */
  readonly halt: Halt | null;
  readonly latches: readonly [account: Pick<Latch, 'readHold' | 'readPause'>, ...books: Pick<Latch, 'readPause'>[]];
};

/**
 * Returns why an order in the given books must not be sent, as text for the log; `null` if nothing blocks it. A stop,
 * halt or pause also blocks orders that are already queued.
 */
export function blockedReason(
  isStopping: boolean,
  books: readonly Pick<BookEngine, 'haltedBecause' | 'pausedBecause'>[],
  { halt, latches }: LatchedNow,
  areRulesInDoubt: boolean,
  clock: Pick<Clock, 'now'>,
): string | null {
  if (isStopping) return 'the bot is stopping';
  if (halt !== null || books.some(book => book.haltedBecause !== null)) return 'trading is halted';
  if (books.some(book => book.pausedBecause !== null) || latches.some(latch => pauseAt(latch, clock.now()) !== null))
    return 'the operator paused the bot';
  if (latches[0].readHold() !== null) return "the sentinel blocks the bot's quotes";
  return areRulesInDoubt ? 'the rules of the book are being reread' : null;
}
