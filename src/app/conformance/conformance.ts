/** `puntas conformance`: checks of the configured exchange with the client of the bot. */
import type { Clock, ConformanceCheck, ConformanceResult } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { connectionTo, type VenueAccess } from '../../wiring/bot.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { VENUES, venueOf } from '../../wiring/venueRegistry.ts';

/** Callback URL that is registered on an embedded exchange. The registration ends when the command ends. */
const CALLBACK_URL = 'http://127.0.0.1:9/hooks';

export type ConformanceAsked = {
  readonly config: Config;
  readonly venue: VenueAccess;
  readonly clock: Clock;
  readonly seed: number;
  /** Whether orders far from the market may be placed and canceled. */
  readonly mayOrder: boolean;
  /** Whether the smallest amount may be bought and sold. */
  readonly mayTrade: boolean;
  readonly tell: (check: ConformanceCheck) => void;
  readonly isStopped: () => boolean;
};

/**
 * Runs the conformance checks of the configured exchange.
 * @throws UsageError if this exchange has no conformance checks.
 */
export async function checkConformance(asked: ConformanceAsked): Promise<ConformanceResult> {
  const { config, venue, clock, seed, ...options } = asked;
  const { name, conformance } = venueOf(config);
  if (conformance === undefined) {
    const checked = VENUES.filter(each => each.conformance !== undefined).map(each => each.name);
    throw new UsageError(
      `exchange.venue: expected an exchange with conformance checks (${checked.join(', ')}), found ${name}`,
    );
  }
  const random = seed.toString(36).padStart(6, '0').slice(-6);
  return conformance({
    ...options,
    connection: connectionTo(config, venue, clock, seed),
    book: config.book,
    prefix: `conform${random}-`,
    // The embedded exchange ends with the command, so no delayed request can arrive after the checks.
    requestDelayMaxMs: config.exchange.kind === 'embedded' ? 0 : config.timing.requestDelayMaxMs,
    callbackUrl: config.exchange.kind === 'embedded' ? CALLBACK_URL : null,
  });
}

/** Returns the number of checks by verdict. */
export function verdictCounts(
  checks: readonly ConformanceCheck[],
): Readonly<Record<ConformanceCheck['verdict'], number>> {
  const count = (verdict: ConformanceCheck['verdict']) => checks.filter(check => check.verdict === verdict).length;
  return { pass: count('pass'), fail: count('fail'), skipped: count('skipped') };
}
