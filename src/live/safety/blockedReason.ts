/** Why an order that was decided does not leave after all: in words, for its own line in the log. */
import type { Engine, Millis } from '../../core/index.ts';
import type { Halt, Latch } from './latch.ts';
import { pauseAt } from './pauseWatch.ts';

/** A stop, a halt or a pause, also one that another process has just latched (`latched`), holds for what was decided before and waits for its turn. */
export function blockedReason(
  isStopping: boolean,
  { haltedBecause, pausedBecause, isOutdated }: Pick<Engine, 'haltedBecause' | 'pausedBecause' | 'isOutdated'>,
  latched: Halt | null,
  latch: Pick<Latch, 'readHold' | 'readPause'>,
  areRulesInDoubt: boolean,
  at: Millis,
): string | null {
  if (isStopping) return 'it is stopping';
  if (haltedBecause !== null || latched !== null) return 'trading is halted';
  if (pausedBecause !== null || pauseAt(latch, at) !== null) return 'a person has paused it';
  if (latch.readHold() !== null) return 'the sentinel holds its quotes back';
  return areRulesInDoubt || isOutdated ? 'the rules of the book are read anew first' : null;
}
