/** Request that ended without a result: rejected, or with an unknown outcome. */
import type { Outcome } from '../core/index.ts';

export type Failed = Exclude<Outcome<never>, { kind: 'done' }>;

/**
 * Whether the value is a failed outcome. Returns `false` for an event, which also has a `kind`, and for `null`, an
 * empty answer.
 */
export const isFailed = (x: object | null): x is Failed =>
  x !== null && 'kind' in x && (x.kind === 'refused' || x.kind === 'unknown');
