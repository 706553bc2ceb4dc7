/** Why an order that was decided does not leave after all: in words, for its own line in the log. */
import type { Engine, Millis } from '../../core/index.ts';
import type { Halt, Latch } from './latch.ts';
import { pauseAt } from './pauseWatch.ts';

/** A stop, a halt or a pause, also one that another process has just latched (`latched`), holds for what was decided before and waits for its turn. */
export function obstacleTo(
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
  if (latch.readHold() !== null) return 'the sentinel blocks its quotes';
  return areRulesInDoubt || isOutdated ? 'the rules of the book are being reread' : null;
}
