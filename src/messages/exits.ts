/** Exit codes of the program, which error ends in which, and what a person can do about it. */
import type { LocalRefusal } from '../core/index.ts';
import { diskAdvice, diskTroubleOf } from '../live/files/diskTrouble.ts';
import { CannotStart } from '../live/loop/opening.ts';
import { filesRemedyOf } from '../wiring/processLimits.ts';
import { UsageError } from '../wiring/usageError.ts';

/** 0 clean; 1 something broke; 2 wrong use or configuration; 3 orders of ours may be left on the exchange. */
export const EXIT = { clean: 0, broken: 1, misused: 2, leftOrders: 3 } as const;

/** One line for a person. */
export function sentenceOf(error: unknown): string {
  const remedy =
    error instanceof CannotStart
      ? (error.remedy ?? localRemedyOf(error.code))
      : (filesRemedyOf(error) ?? diskRemedy(error));
  const sentence = error instanceof Error ? error.message : String(error);
  return remedy === null ? sentence : `${sentence}; ${remedy}`;
}

/** An exit code: of `UsageError` its own; 2 for a start that cannot go on until a person does something; 1 for everything else. */
export function codeOf(error: unknown): number {
  if (error instanceof UsageError) return error.code;
  return error instanceof CannotStart && !error.mayPass ? EXIT.misused : EXIT.broken;
}

/** A disk that takes nothing is told by what it needs, unless the error says so itself. */
function diskRemedy(error: unknown): string | null {
  if (error instanceof UsageError) return null;
  const trouble = diskTroubleOf(error);
  return trouble === null ? null : diskAdvice(trouble, 'the state directory');
}

const OF_OURS: Readonly<Partial<Record<LocalRefusal, string>>> = {
  'not-sent': 'check exchange.restUrl, and that the exchange is running and reachable from this machine',
  budget: 'the request budget is used up; wait a minute, or raise exchange.budgets within the limits of the exchange',
};

/** Of a code of ours; null for any other, and when nothing can be said. */
export const localRemedyOf = (code: string | null): string | null => OF_OURS[code as LocalRefusal] ?? null;
