/** How long each side had no order of ours at the exchange, by the reason that the engine gave at its next decision. */
import type { Millis } from '../../src/core/index.ts';

/** Seconds without a bid and without an ask; decisions at which a missing side had this reason. */
export type Missing = {
  readonly reason: string;
  readonly bidSeconds: number;
  readonly askSeconds: number;
  readonly decisions: number;
};

/** Reasons told apart; the texts are few, but a strategy may write its own. */
const REASONS_MAX = 100;
/** What is beyond them. */
const OTHERS = 'other reasons';
/** Before the first decision. */
const UNDECIDED = 'nothing was decided yet';

/** Times never go back. A side counts as missing from one look to the next when it is missing at the second. */
export class Absence {
  readonly #reasons = new Map<string, { bid: number; ask: number; decisions: number }>();
  #lookedAt: Millis;
  /** Of each side: what is not explained yet, and whether it was missing at the last look. */
  #bid = 0;
  #ask = 0;
  #lastReasons = { bid: UNDECIDED, ask: UNDECIDED };
  #noBid = false;
  #noAsk = false;

  constructor(from: Millis) {
    this.#lookedAt = from;
  }

  /** A side is missing, or was and is not explained. */
  get isOpen(): boolean {
    return this.#noBid || this.#noAsk || this.#bid > 0 || this.#ask > 0;
  }

  /** Up to then the market was closed: nothing is missing. */
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

  /** The reason of each side, as of a decision; that of a side that is there is not counted. */
  explain(bid: string, ask: string): void {
    if (this.#noBid || this.#bid > 0) this.#of(bid).bid += this.#bid;
    if (this.#noAsk || this.#ask > 0) this.#of(ask).ask += this.#ask;
    if (this.#noBid) this.#of(bid).decisions++;
    if (this.#noAsk && !(this.#noBid && bid === ask)) this.#of(ask).decisions++;
    this.#bid = this.#ask = 0;
    this.#lastReasons = { bid, ask };
  }

  /** Longest first, both sides together; then by the number of decisions. */
  end(): readonly Missing[] {
    // After the last decision its reasons held on.
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
