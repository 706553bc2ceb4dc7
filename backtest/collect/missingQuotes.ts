/** Time without a live order of the bot, per side and by reason. The engine gives the reason at its next decision. */
import type { Millis } from '../../src/core/index.ts';

/** Time without a live order of the bot, for one reason. */
export type Missing = {
  readonly reason: string;
  /** Time without a live bid, in seconds. */
  readonly bidSeconds: number;
  /** Time without a live ask, in seconds. */
  readonly askSeconds: number;
  /** Number of decisions that gave this reason for a missing side. */
  readonly decisions: number;
};

/** Maximum number of distinct reasons. Usually there are few, but a strategy may generate texts of its own. */
const REASONS_MAX = 100;
/** Reason under which the time of all reasons beyond `REASONS_MAX` is counted. */
const OTHERS = 'other reasons';
/** Reason for the time before the first decision. */
const UNDECIDED = 'before the first decision';

/**
 * Counter of the time without a bid or an ask, by reason. Times must not decrease. A side counts as missing between two
 * samples if the side is missing at the second sample.
 */
export class Absence {
  readonly #reasons = new Map<string, { bid: number; ask: number; decisions: number }>();
  #lookedAt: Millis;
  /** Time without a bid, in ms, for which no decision has given a reason yet; `#ask` is the time without an ask. */
  #bid = 0;
  #ask = 0;
  #lastReasons = { bid: UNDECIDED, ask: UNDECIDED };
  /** Whether the bid was missing at the last sample; `#noAsk` applies to the ask. */
  #noBid = false;
  #noAsk = false;

  constructor(from: Millis) {
    this.#lookedAt = from;
  }

  /** Whether a side had no live order at the last sample, or a time without an order has no reason yet. */
  get isOpen(): boolean {
    return this.#noBid || this.#noAsk || this.#bid > 0 || this.#ask > 0;
  }

  /** Excludes the time since the last sample up to `at`, because the market was closed: no side counts as missing. */
  skip(at: Millis): void {
    this.#lookedAt = at;
    this.#noBid = this.#noAsk = false;
  }

  look(at: Millis, hasBid: boolean, hasAsk: boolean): void {
    const passed = at - this.#lookedAt;
    this.#lookedAt = at;
    this.#noBid = !hasBid;
    this.#noAsk = !hasAsk;
    if (!hasBid) this.#bid += passed;
    if (!hasAsk) this.#ask += passed;
  }

  /** Records why each side is missing at a decision. Ignores the reason of a side that is not missing. */
  explain(bid: string, ask: string): void {
    if (this.#noBid || this.#bid > 0) this.#of(bid).bid += this.#bid;
    if (this.#noAsk || this.#ask > 0) this.#of(ask).ask += this.#ask;
    if (this.#noBid) this.#of(bid).decisions++;
    if (this.#noAsk && !(this.#noBid && bid === ask)) this.#of(ask).decisions++;
    this.#bid = this.#ask = 0;
    this.#lastReasons = { bid, ask };
  }

  /** Returns the reasons, longest total time of both sides first, then by the number of decisions. */
  end(): readonly Missing[] {
    // The last decision's reasons apply until the end.
    if (this.#bid > 0) this.#of(this.#lastReasons.bid).bid += this.#bid;
    if (this.#ask > 0) this.#of(this.#lastReasons.ask).ask += this.#ask;
    return [...this.#reasons]
      .map(([reason, { bid, ask, decisions }]) => ({
        reason,
        bidSeconds: bid / 1000,
        askSeconds: ask / 1000,
        decisions,
      }))
      .sort((a, b) => b.bidSeconds + b.askSeconds - a.bidSeconds - a.askSeconds || b.decisions - a.decisions);
  }

  #of(reason: string): { bid: number; ask: number; decisions: number } {
    const name = this.#reasons.has(reason) || this.#reasons.size < REASONS_MAX ? reason : OTHERS;
    const known = this.#reasons.get(name) ?? { bid: 0, ask: 0, decisions: 0 };
    this.#reasons.set(name, known);
    return known;
  }
}
