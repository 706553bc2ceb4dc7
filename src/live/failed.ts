/** What a request without a result ended in. */
import type { Outcome } from '../core/index.ts';

export type Failed = Exclude<Outcome<never>, { kind: 'done' }>;

/** Tells it from an event, which has a `kind` too. Null is no failure: there was an answer, and nothing in it to tell. */
export const isFailed = (x: object | null): x is Failed =>
  x !== null && 'kind' in x && (x.kind === 'refused' || x.kind === 'unknown');
