/**
 * Difference between this machine's clock and the exchange's, computed from the times in the exchange's answers. Each
 * answer narrows the bounds of the difference.
 */
import type { ExchangeVenue, Millis, Observation } from '../core/index.ts';

/** Smallest difference that can be detected from times in whole seconds, in ms. */
export const NEAR_MS = 2_000;
/** Difference from which the clock counts as wrong, in ms, because nonces, and whether a record counts as late, use the clock. */
const FAR_MS = 60_000;
/** Remedy for a wrong clock. */
export const SET_CLOCK = 'enable NTP on this machine (timedatectl set-ntp true)';

export class ClockGap {
  /** Lower bound of the exchange's clock minus the machine's, in ms. */
  #least: Millis = -Infinity;
  /** Upper bound of the exchange's clock minus the machine's, in ms. */
  #most: Millis = Infinity;

  /** Records an answer; call it at the end of each request, with the current time. */
  hear({ answeredAt, ms }: Pick<Observation, 'answeredAt' | 'ms'>, now: Millis): void {
    if (answeredAt === undefined) return;
    // The exchange wrote the answer between the request and now, at some time in the second that the answer states.
    this.#least = Math.max(this.#least, answeredAt - now);
    this.#most = Math.min(this.#most, answeredAt + 1_000 - (now - ms));
  }

  /**
   * Returns why no request with a key may be sent to an exchange that wants rising nonces. Returns `null` for other
   * exchanges, and if this machine's clock is not far ahead.
   */
  nonceProblem({ wantsRisingNonces }: Pick<ExchangeVenue, 'wantsRisingNonces'>): string | null {
    if (wantsRisingNonces !== true || !(-this.#most >= FAR_MS)) return null;
    const aheadS = (-this.#most / 1_000).toFixed(0);
    return `this machine's clock is ${aheadS} s ahead of the exchange clock, so no request with the key was sent; after such a request, the exchange would reject the key for ${aheadS} s once the clock is correct`;
  }

  /** Whether no answer contained the time of the exchange. */
  get isUnknown(): boolean {
    return this.#least === -Infinity;
  }

  /** Whether the clock is so wrong that the bot must not rely on it. */
  get isFar(): boolean {
    return !(Math.abs(this.#gap) < FAR_MS);
  }

  /**
   * Returns by how much this machine's clock differs from another one, as text with the name of that clock; `null` if
   * no difference was detected.
   */
  difference(name: string): string | null {
    const away = Math.abs(this.#gap);
    if (away < NEAR_MS) return null;
    return `this machine's clock is ${(away / 1_000).toFixed(0)} s ${this.#gap > 0 ? 'behind' : 'ahead of'} ${name}`;
  }

  /** Smallest difference that all answers allow: the exchange's clock minus the machine's, in ms. */
  get #gap(): Millis {
    return this.#least > 0 ? this.#least : this.#most < 0 ? this.#most : 0;
  }
}
