/** What a person can do when nobody was asked: the exchange's own refusals bring their remedy with them. */
import type { LocalRefusal } from '../core/index.ts';

const OF_OURS: Readonly<Partial<Record<LocalRefusal, string>>> = {
  'not-sent': 'check exchange.restUrl, and that the exchange runs and can be reached from here',
  budget: 'the request budget was used up: wait a minute, or raise exchange.budgets up to what the exchange allows',
};

/** Of a code of ours; null for any other, and when nothing can be said. */
export const localRemedyOf = (code: string | null): string | null => OF_OURS[code as LocalRefusal] ?? null;
