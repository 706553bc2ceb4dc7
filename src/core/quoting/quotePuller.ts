/**
 * Immediate cancellation of a side's quotes if the leader (the reference price) moved past them, or if a large trade
 * suggests better-informed traders.
 */
import { Basis } from '../estimators/basis.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';
import { withoutSides, type Level, type Quote } from './strategy.ts';

/** Rules for pulling the quotes of a side. If a rule is absent, its cause pulls no quotes. */
export type PullRules = {
  readonly leader?: {
    /**
     * Time constant of the average that estimates the usual ratio between this book's mid price and the reference
     * price.
     */
    readonly basisMemoryMs: Millis;
    /** Maximum age of the reference price. */
    readonly maxAgeMs: Millis;
    /** Share of the leader's price move that this book's price is expected to make, from 0 to 1. */
    readonly share: number;
    /** Minimum distance of a quote from the expected price, in bps of that price; at least the maker fee. */
    readonly marginBps: number;
  };
  readonly print?: {
    /** Minimum lots that takers of one side must trade within `withinMs` to pull the opposite quotes. */
    readonly lots: number;
    readonly withinMs: Millis;
    readonly holdMs: Millis;
  };
};

/** Reasons for pulling a side. The text of the decision starts with the reason. */
export const LEADER_MOVED = 'pulled: the leader moved';
export const LARGE_PRINT = 'pulled: a large trade';

export type PullReason = typeof LEADER_MOVED | typeof LARGE_PRINT;

/** Returns the reason for pulling with which a decision's text starts. */
export const pullReasonOf = (words: string): PullReason =>
  words.startsWith(LEADER_MOVED) ? LEADER_MOVED : LARGE_PRINT;

type PullInput =
  | { readonly kind: 'reference'; readonly at: Millis; readonly startedAt: Millis; readonly price: number }
  | {
      readonly kind: 'public trade';
      readonly at: Millis;
      readonly price: Price;
      readonly amount?: Amount;
      readonly side?: Side;
      readonly tradedAt?: Millis;
    };

const between = (low: number, x: number, high: number): number => Math.max(low, Math.min(x, high));

/** Returns the side whose quotes a taker of the given side trades against. */
const tradesAgainst = (taker: Side): Side => (taker === 'buy' ? 'sell' : 'buy');

/**
 * Detects quotes that must be pulled. Starts without history in each run.
 *
 * The leader is the `reference` price. The expected price of this book is mid + share (reference x usual ratio - mid).
 * Faster traders sell to a bid above that price minus the margin; asks are symmetric.
 *
 * A print is the amount that takers of one side traded within a short time. A sell print pulls bids, a buy print pulls
 * asks, for `holdMs`.
 *
 * Amounts in the book never pull quotes: once an imbalance is visible, takers are faster than a cancel.
 */
export class QuotePuller {
  readonly #rules: PullRules;
  readonly #basis: Basis | null;
  /**
   * Mid price when the reference was read. `#gap` is the distance from this mid price to the price that the reference
   * implies; `#gapAt` is the time of the read.
   */
  #mid = Number.NaN;
  #gap = Number.NaN;
  #gapAt: Millis = -Infinity;
  #sleptAt: Millis = -Infinity;
  readonly #prints: Record<Side, { from: Millis; lots: number; until: Millis }> = {
    buy: { from: -Infinity, lots: 0, until: -Infinity },
    sell: { from: -Infinity, lots: 0, until: -Infinity },
  };

  constructor(rules: PullRules) {
    this.#rules = rules;
    this.#basis = rules.leader ? new Basis(rules.leader.basisMemoryMs) : null;
  }

  /** Whether the rules need every public trade with its amount. */
  get hearsTrades(): boolean {
    return this.#rules.print !== undefined;
  }

  /** Applies an event. `mid` is the current mid price of this book; 0 if unknown. */
  apply(event: PullInput, mid: number): void {
    if (event.kind === 'reference') this.#updateLeader(event.startedAt, event.price, mid);
    else if (event.amount !== undefined && event.side !== undefined)
      this.#print(event.tradedAt ?? event.at, event.at, event.amount, event.side);
  }

  /** Discards references that were read before a suspension of the process. */
  slept(at: Millis): void {
    this.#sleptAt = at;
    this.#gapAt = -Infinity;
  }

  /** Returns why a quote at this price must be pulled, or null to keep it. */
  pullReason(side: Side, price: number, at: Millis, mid: number): string | null {
    if (at < this.#prints[side].until) return LARGE_PRINT;
    const { leader } = this.#rules;
    if (leader === undefined || !(at - this.#gapAt <= leader.maxAgeMs)) return null;
    // Subtract what this book has moved since the leader's price was read. If this book moved away from the leader's
    // price, it had newer information, so the gap does not grow.
    const left = this.#gap - (mid - this.#mid);
    const expected = mid + leader.share * (this.#gap < 0 ? between(this.#gap, left, 0) : between(0, left, this.#gap));
    const away = side === 'buy' ? expected - price : price - expected;
    if (!(expected > 0 && away * 10_000 < leader.marginBps * expected)) return null;
    return `${LEADER_MOVED} (${((expected / mid - 1) * 10_000).toFixed(1)} bps)`;
  }

  /** Returns the quote without the sides whose best level must be pulled. */
  shape(quote: Quote, at: Millis, mid: number): Quote {
    const pulled = (side: Side, [best]: readonly Level[]): string | null =>
      best === undefined ? null : this.pullReason(side, best.price, at, mid);
    return withoutSides(quote, pulled('buy', quote.bids), pulled('sell', quote.asks));
  }

  #updateLeader(at: Millis, price: number, mid: number): void {
    // The data of a read that started before a suspension may be older than the start of the read.
    if (this.#basis === null || !(at >= this.#sleptAt && price > 0 && price < Infinity && mid > 0)) return;
    this.#mid = mid;
    this.#gap = price * this.#basis.ratio(at, mid / price) - mid;
    this.#gapAt = at;
  }

  /**
   * Adds a trade to the sum of a large print. Its time at the exchange counts, so that missed trades that the driver
   * reports together do not count as one print.
   */
  #print(tradedAt: Millis, at: Millis, lots: Amount, taker: Side): void {
    const { print } = this.#rules;
    if (print === undefined) return;
    const of = this.#prints[tradesAgainst(taker)];
    if (!(tradedAt - of.from <= print.withinMs)) {
      of.from = tradedAt;
      of.lots = 0;
    }
    of.lots += lots;
    if (of.lots >= print.lots) of.until = at + print.holdMs;
  }
}
