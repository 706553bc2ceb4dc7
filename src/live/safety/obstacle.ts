/** Why an order that was decided does not leave after all: in words, for its own line in the log. */
import type { Engine } from '../../core/index.ts';
import type { Halt, Latch } from './latch.ts';

/** A stop or a halt, also one that another process has just latched (`latched`), holds for what was decided before and waits for its turn. */
export function obstacleTo(
  isStopping: boolean,
  { haltedBecause, isOutdated }: Pick<Engine, 'haltedBecause' | 'isOutdated'>,
  latched: Halt | null,
  latch: Pick<Latch, 'readHold'>,
  areRulesInDoubt: boolean,
): string | null {
  if (isStopping) return 'it is stopping';
  if (haltedBecause !== null || latched !== null) return 'trading is halted';
  if (latch.readHold() !== null) return 'the sentinel holds its quotes back';
  return areRulesInDoubt || isOutdated ? 'the rules of the book are read anew first' : null;
}
