/**
 * Lower bound of the exchange's clock, from the `Date` headers of its answers. Deadlines of orders use it, so that an
 * order is never valid for longer than intended, whatever the clock of this machine says.
 */
import type { Clock, Millis } from '../../../core/index.ts';

/**
 * Time for which a bound on the exchange's clock is used. Clocks of two machines drift apart by some 10 ms in this
 * time.
 */
const KEPT_MS: Millis = 10 * 60_000;

export type ServerClock = {
  /** Records the `Date` header of an answer that arrives now. */
  readonly answered: (date: string | undefined) => void;
  /** Returns the time of the exchange's clock, in epoch ms; may be up to a second too early. */
  readonly now: () => Millis;
  /**
   * Returns the time that the exchange's clock will show in `ms`, in RFC 3339 with milliseconds; may be up to a second
   * too early.
   */
  readonly textAfter: (ms: Millis) => string;
};

/** Creates the clock. Before any answer, the clock of this machine counts. */
export function serverClock(clock: Clock): ServerClock {
  /** Lower bounds of the exchange's clock minus the monotonic clock, each with the time of its answer. */
  let bounds: { readonly ahead: Millis; readonly at: Millis }[] = [];
  const now = (): Millis => {
    const at = clock.elapsed();
    const best = Math.max(...bounds.filter(each => at - each.at < KEPT_MS).map(each => each.ahead));
    return Number.isFinite(best) ? at + best : clock.now();
  };
  return {
    now,
    textAfter: ms => new Date(Math.floor(now() + ms)).toISOString(),
    answered: date => {
      const told = Date.parse(date ?? '');
      if (!Number.isFinite(told)) return;
      const at = clock.elapsed();
      // The header is rounded down to whole seconds and older than its arrival, so the true difference is higher.
      const ahead = told - at;
      bounds = bounds.filter(each => at - each.at < KEPT_MS && each.ahead > ahead);
      bounds.push({ ahead, at });
    },
  };
}
