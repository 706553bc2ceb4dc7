/** Times at which a scout checks its verdicts, and the share of the error that each check may use. */
import type { Millis } from '../../src/core/index.ts';
import { VERDICT_ERROR, type QuoteVerdict } from '../profile/quoteVerdict.ts';

export type VerdictCheck = {
  /** Time since the start, in ms. */
  readonly atMs: Millis;
  /** Probability that this check says `quote` of a book without an edge. */
  readonly error: number;
};

/** Number of checks at most. Each is after twice the time of the one before. */
const CHECKS_MAX = 5;
/** Minimum time before a check, in ms; less time rarely has enough fills. */
const FIRST_MS = 900_000;

/**
 * Returns the checks of a scout that takes at most `forMs`, ascending; the last is at the end. The errors are
 * proportional to the time between the checks and add up to `VERDICT_ERROR`. A book without an edge is therefore quoted
 * with at most that probability, however many checks are made. The last check has at least half of it. (Error spending:
 * Lan and DeMets, Biometrika 70(3), 1983.)
 */
export function checksWithin(forMs: Millis): readonly VerdictCheck[] {
  const times = Array.from({ length: CHECKS_MAX }, (_, i) => forMs / 2 ** (CHECKS_MAX - 1 - i));
  const kept = times.filter((atMs, i) => atMs >= FIRST_MS || i === CHECKS_MAX - 1);
  return kept.map((atMs, i) => ({ atMs, error: (VERDICT_ERROR * (atMs - (kept[i - 1] ?? 0))) / forMs }));
}

const DAY_MS = 86_400_000;

/**
 * Returns whether a scout of at most `forMs` need not record a book further: its verdict is known. A scout of more than
 * a day continues with a book to quote until the book was seen on two dates (UTC), because one date says nothing about
 * others.
 */
export function endsScouting(
  { verdict, from, to }: { readonly verdict: QuoteVerdict; readonly from: Millis; readonly to: Millis },
  forMs: Millis,
): boolean {
  if (!verdict.quote) return verdict.isKnown;
  return forMs <= DAY_MS || Math.floor(to / DAY_MS) > Math.floor(from / DAY_MS);
}
