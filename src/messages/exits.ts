/** Exit codes of the program, the code of each error, and remedies for the operator. */
import { localRemedy, textOfError } from '../core/index.ts';
import { diskAdvice, diskTroubleOf } from '../live/files/diskTrouble.ts';
import { CannotStart } from '../live/loop/opening.ts';
import { filesRemedyOf } from '../wiring/processLimits.ts';
import { UsageError } from '../wiring/usageError.ts';

/**
 * Exit codes. 0: clean. 1: internal failure. 2: wrong use or configuration. 3: orders of the bot may be open on the
 * exchange.
 */
export const EXIT = { clean: 0, broken: 1, misused: 2, leftOrders: 3 } as const;

/** Returns an error as one line for the operator. */
export function sentenceOf(error: unknown): string {
  const remedy =
    error instanceof CannotStart
      ? (error.remedy ?? localRemedy(error.code, 'exchange'))
      : (filesRemedyOf(error) ?? diskRemedy(error));
  const sentence = textOfError(error);
  return remedy === null ? sentence : `${sentence}; ${remedy}`;
}

/**
 * Returns the exit code of an error: the code of a `UsageError`; 2 for a failed start that the operator must fix;
 * otherwise 1.
 */
export function codeOf(error: unknown): number {
  if (error instanceof UsageError) return error.code;
  return error instanceof CannotStart && !error.mayPass ? EXIT.misused : EXIT.broken;
}

/**
 * Returns the remedy for a full or read-only disk; `null` for other errors, and for errors that already have a remedy.
 */
function diskRemedy(error: unknown): string | null {
  if (error instanceof UsageError) return null;
  const trouble = diskTroubleOf(error);
  return trouble === null ? null : diskAdvice(trouble, 'the state directory');
}
