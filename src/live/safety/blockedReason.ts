/** Conditions that block an approved order just before it is sent. */
import type { Engine, Millis } from '../../core/index.ts';
import type { Halt, Latch } from './latch.ts';
import { pauseAt } from './pauseWatch.ts';

/**
 * Returns why an order must not be sent, as text for the log; `null` if nothing blocks it. A stop, halt or pause also
 * blocks orders that are already queued. `latched` is a halt that another process may just have set.
 */
export function blockedReason(
  isStopping: boolean,
  { haltedBecause, pausedBecause, isOutdated }: Pick<Engine, 'haltedBecause' | 'pausedBecause' | 'isOutdated'>,
  latched: Halt | null,
  latch: Pick<Latch, 'readHold' | 'readPause'>,
  areRulesInDoubt: boolean,
  at: Millis,
): string | null {
  if (isStopping) return 'the bot is stopping';
  if (haltedBecause !== null || latched !== null) return 'trading is halted';
  if (pausedBecause !== null || pauseAt(latch, at) !== null) return 'the operator paused the bot';
  if (latch.readHold() !== null) return "the sentinel blocks the bot's quotes";
  return areRulesInDoubt || isOutdated ? 'the rules of the book are being reread' : null;
}
