/** Times at which a scout checks its verdicts, and the error of each check. */
import { DAY_MS, type Millis } from '../../src/core/index.ts';
import { VERDICT_ERROR, type QuoteVerdict } from '../profile/quoteVerdict.ts';

export type VerdictCheck = {
  /** Time since the start, in ms. */
  readonly atMs: Millis;
  /** Probability that this check results in `quote` for a book without an edge. */
  readonly error: number;
};

/** Maximum number of checks. Each check comes after twice the time of the previous check. */
const CHECKS_MAX = 5;
/** Minimum time before the first of several checks, in ms. A shorter recording rarely has enough fills. */
const FIRST_MS = 900_000;

/**
 * Returns the checks of a scout that takes at most `forMs`, in order of time; the last check is at the end. The errors
 * are proportional to the time between the checks and add up to `VERDICT_ERROR`. The verdict for a book without an edge
 * is therefore `quote` with at most this probability, however many checks are made. The last check has at least half of
 * the error. (Error spending: Lan and DeMets, Biometrika 70(3), 1983.)
 */
export function checksWithin(forMs: Millis): readonly VerdictCheck[] {
  const times = Array.from({ length: CHECKS_MAX }, (_, i) => forMs / 2 ** (CHECKS_MAX - 1 - i));
  const kept = times.filter((atMs, i) => atMs >= FIRST_MS || i === CHECKS_MAX - 1);
  return kept.map((atMs, i) => ({ atMs, error: (VERDICT_ERROR * (atMs - (kept[i - 1] ?? 0))) / forMs }));
}

/**
 * Returns whether a scout of at most `forMs` can end the recording of a book, because the verdict is known. A scout of
 * more than a day confirms the verdict `quote` only after recording the book for a day, whatever the time of day of its
 * start. A part of a day does not show how hours differ.
 */
export function endsScouting(
  { verdict, from, to }: { readonly verdict: QuoteVerdict; readonly from: Millis; readonly to: Millis },
  forMs: Millis,
): boolean {
  if (!verdict.quote) return verdict.isKnown;
  return forMs <= DAY_MS || to - from >= DAY_MS;
}
