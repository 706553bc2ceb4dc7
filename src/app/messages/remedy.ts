/** Remedies for requests that failed locally; the exchange's own refusals have theirs. */
import type { LocalRefusal } from '../../core/index.ts';

const OF_OURS: Readonly<Partial<Record<LocalRefusal, string>>> = {
  'not-sent': 'check exchange.restUrl, and that the exchange runs and can be reached from here',
  budget: 'the request budget was used up: wait a minute, or raise exchange.budgets up to what the exchange allows',
};

/** Returns the remedy for a local code; `null` for any other code, or if there is none. */
export const localRemedyOf = (code: string | null): string | null => OF_OURS[code as LocalRefusal] ?? null;
