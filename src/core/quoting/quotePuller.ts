/** Takes a side's quotes away at once when the leader has moved past them, or when a large trade says that somebody knows more. */
import { Basis } from '../estimators/basis.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';
import type { Level, Quote } from './strategy.ts';

/** Each part absent: it pulls nothing. */
export type PullRules = {
  readonly leader?: {
    /** The usual ratio of our middle to the reference is followed with this time constant. */
    readonly basisMemoryMs: Millis;
    /** An older reference says nothing. */
    readonly maxAgeMs: Millis;
    /** How much of the leader's way our price is expected to come after it, 0 to 1. */
    readonly share: number;
    /** What a quote must keep from where our price is expected, in bps of it: its fee, at least. */
    readonly marginBps: number;
  };
  readonly print?: {
    /** Lots of takers of one side, within `withinMs`, from which on the other side is pulled. */
    readonly lots: number;
    readonly withinMs: Millis;
    readonly holdMs: Millis;
  };
};

/** Why a side is pulled: the first words of what a decision says. */
export const LEADER_MOVED = 'pulled: the leader moved';
export const LARGE_PRINT = 'pulled: a large trade';

export type PullReason = typeof LEADER_MOVED | typeof LARGE_PRINT;

/** Of the words of `why`. */
export const pullReasonOf = (words: string): PullReason =>
  words.startsWith(LEADER_MOVED) ? LEADER_MOVED : LARGE_PRINT;

type Heard =
  | { readonly kind: 'reference'; readonly at: Millis; readonly startedAt: Millis; readonly price: number }
  | {
      readonly kind: 'public trade';
      readonly at: Millis;
      readonly price: Price;
      readonly amount?: Amount;
      readonly side?: Side;
    };

const between = (low: number, x: number, high: number): number => Math.max(low, Math.min(x, high));

/** The side of ours that a taker of this side meets. */
const metBy = (taker: Side): Side => (taker === 'buy' ? 'sell' : 'buy');

/**
 * The leader is the price of `reference`. Our price is expected at mid + share (reference x usual ratio - mid): a bid above that, less the margin, is one
 * that a quicker trader sells to, and so for asks. A print is what takers of one side took within a short time: sells expose bids, buys asks, for `holdMs` after it. Amounts in the
 * book pull nothing: by the time that an imbalance is seen its takers are quicker than a cancel. It begins anew with each run.
 */
export class QuotePuller {
  readonly #rules: PullRules;
  readonly #basis: Basis | null;
  /** Our middle when the reference was read, how far the price by it lay from that, and when. */
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

  /** Whether it needs every public trade with its amount. */
  get hearsTrades(): boolean {
    return this.#rules.print !== undefined;
  }

  /** `mid`: of our book as it is, 0 while it is not known. */
  hear(event: Heard, mid: number): void {
    if (event.kind === 'reference') this.#follow(event.startedAt, event.price, mid);
    else if (event.amount !== undefined && event.side !== undefined) this.#print(event.at, event.amount, event.side);
  }

  /** What was heard before says nothing about now. */
  slept(at: Millis): void {
    this.#sleptAt = at;
    this.#gapAt = -Infinity;
  }

  /** Why a quote of ours at this price may not stand; null when it may. */
  why(side: Side, price: number, at: Millis, mid: number): string | null {
    if (at < this.#prints[side].until) return LARGE_PRINT;
    const { leader } = this.#rules;
    if (leader === undefined || !(at - this.#gapAt <= leader.maxAgeMs)) return null;
    // What our book has come after it since is done; where it went the other way, it did so knowing of more than that reading.
    const left = this.#gap - (mid - this.#mid);
    const expected = mid + leader.share * (this.#gap < 0 ? between(this.#gap, left, 0) : between(0, left, this.#gap));
    const away = side === 'buy' ? expected - price : price - expected;
    if (!(expected > 0 && away * 10_000 < leader.marginBps * expected)) return null;
    return `${LEADER_MOVED} (${((expected / mid - 1) * 10_000).toFixed(1)} bps)`;
  }

  /** The quote without the sides whose best level may not stand. */
  shape(quote: Quote, at: Millis, mid: number): Quote {
    const pulled = (side: Side, [best]: readonly Level[]): string | null =>
      best === undefined ? null : this.why(side, best.price, at, mid);
    const [noBid, noAsk] = [pulled('buy', quote.bids), pulled('sell', quote.asks)];
    if (noBid === null && noAsk === null) return quote;
    return {
      ...quote,
      ...(noBid === null ? {} : { bids: [], noBid }),
      ...(noAsk === null ? {} : { asks: [], noAsk }),
    };
  }

  #follow(at: Millis, price: number, mid: number): void {
    // A reading that began before the process stood still may be older than it looks.
    if (this.#basis === null || !(at >= this.#sleptAt && price > 0 && price < Infinity && mid > 0)) return;
    this.#mid = mid;
    this.#gap = price * this.#basis.ratio(at, mid / price) - mid;
    this.#gapAt = at;
  }

  #print(at: Millis, lots: Amount, taker: Side): void {
    const { print } = this.#rules;
    if (print === undefined) return;
    const of = this.#prints[metBy(taker)];
    if (!(at - of.from <= print.withinMs)) {
      of.from = at;
      of.lots = 0;
    }
    of.lots += lots;
    if (of.lots >= print.lots) of.until = at + print.holdMs;
  }
}
