/**
 * Verdicts from a recording's first part, one per fee: whether to quote, at which distance, and the result on the rest
 * of the recording.
 */
import {
  distanceProfileOf,
  latencyOf,
  marketProfileOf,
  missingText,
  quoteVerdictOf,
  travel,
  verdictDistance,
  type ComparedVerdict,
  type DistanceProfile,
  type MarketProfile,
  type QuoteVerdict,
} from '../../index.ts';
import { randomOf, type Random } from '../../../src/core/index.ts';
import type { Tape } from '../../../src/tape/index.ts';
import { feedTravel, type Latencies } from '../backtest/backtestModel.ts';

export type VerdictTerms = {
  /**
   * First part of the recording, which determines the parameters. `whole` is the complete recording, whose rest tests
   * the parameters.
   */
  readonly first: Tape;
  readonly whole: Tape;
  /** End of the first part of the recording, in epoch ms. */
  readonly until: number;
  /** Value of one order, in the quote currency. */
  readonly orderValue: number;
  readonly latencies: Latencies;
  readonly seed: number;
};

/** Advice to a strategy from the first part of a recording: the verdict on quoting, and the fills by distance. */
export type QuoteAdvice = { readonly verdict: QuoteVerdict; readonly profile: MarketProfile | null };

/**
 * Time from a fill to its valuation, in seconds. The value is the fill's edge minus the adverse price move in this
 * time.
 */
const HORIZON_S = 60;

export class Verdicts {
  readonly #terms: VerdictTerms;
  readonly #profile: DistanceProfile;
  readonly #market: MarketProfile | null;

  constructor(terms: VerdictTerms, onShare: (share: number) => void) {
    const { first, orderValue } = terms;
    this.#terms = terms;
    this.#profile = distanceProfileOf(first, { ...this.#how(), orderValue, onShare });
    this.#market = marketProfileOf(this.#profile, HORIZON_S);
  }

  /** Returns the advice at the maker fee `feeBps`. */
  at(feeBps: number): QuoteAdvice {
    return { verdict: quoteVerdictOf(this.#profile, { feeBps, random: this.#random() }), profile: this.#market };
  }

  /**
   * Returns one verdict per fee, with the profit that its distance, chosen on the first part, makes in the rest of the
   * recording.
   */
  judged(feesBps: readonly number[]): readonly ComparedVerdict[] {
    const found = feesBps.map(feeBps => ({ feeBps, verdict: this.at(feeBps).verdict }));
    const distances = [...new Set(found.flatMap(({ verdict }) => verdictDistance(verdict) ?? []))];
    const rest = distances.length === 0 ? null : this.#restAt(distances);
    return found.map(({ feeBps, verdict }): ComparedVerdict => {
      const distance = verdictDistance(verdict);
      const after = rest !== null && distance !== null ? this.#netAt(rest, distance, feeBps) : null;
      const [from, to] = verdict.distanceInterval ?? [null, null];
      return {
        ...{ feeBps, quote: verdict.quote, distanceBps: distance },
        why: verdict.quote ? null : `${verdict.why}${missingText(verdict)}`,
        distanceInterval: from === null || to === null ? null : [from, to],
        breakEvenFeeBps: verdict.breakEvenFeeBps,
        netPerHour: verdict.netPerHour,
        rest: after,
        // A verdict to quote is right unless the profit in the rest of the recording is significantly negative. A
        // verdict against quoting is right unless that profit is significantly positive.
        right: after === null ? null : verdict.quote ? after.high >= 0 : after.low <= 0,
      };
    });
  }

  /** Measures orders placed after the first part of the recording; the rows of the first part only build the book. */
  #restAt(distancesBps: readonly number[]): DistanceProfile {
    const { whole, until, orderValue } = this.#terms;
    const start = whole.columns.at[0] ?? until;
    const to = Math.max(until, ...whole.gaps.filter(({ from }) => from <= until).map(gap => gap.to));
    const gaps = [{ from: start - 1, to, why: 'measured' }, ...whole.gaps.filter(({ from }) => from > until)];
    const blockMs = this.#profile.blockMs;
    return distanceProfileOf({ ...whole, gaps }, { ...this.#how(), orderValue, distancesBps, blockMs });
  }

  #netAt(rest: DistanceProfile, distanceBps: number, feeBps: number): ComparedVerdict['rest'] {
    const points = rest.points.filter(point => point.distanceBps === distanceBps);
    const { netPerHour } = quoteVerdictOf({ ...rest, points }, { feeBps, random: this.#random() });
    return netPerHour && { ...netPerHour, fills: points[0]?.fills ?? 0, seconds: rest.seconds };
  }

  #how() {
    const { latencies, seed } = this.#terms;
    const { orders, answers, cancels } = latencies;
    const draws = (salt: number, spec: typeof orders) => travel(spec, randomOf(seed ^ salt));
    const feed = feedTravel(latencies, seed);
    return {
      latency: latencyOf(draws(0x0d, orders), draws(0xa5, answers), draws(0xca, cancels)),
      feedMs: feed(0),
      seed,
    };
  }

  #random = (): Random => randomOf(this.#terms.seed);
}

/** Returns why nothing is quoted, as a sentence; `null` if quoting is advised. */
export function reasonAgainstQuoting({ verdict }: QuoteAdvice, feeBps: number): string | null {
  if (verdict.quote) return null;
  const { why, breakEvenFeeBps: fee } = verdict;
  const from =
    fee === null
      ? ''
      : fee >= 0
        ? `; quoting is profitable at a maker fee of at most ${fee} bps`
        : `; quoting is profitable with a rebate of at least ${-fee} bps`;
  return `do not quote at a maker fee of ${Number(feeBps.toPrecision(4))} bps: ${why}${missingText(verdict)}${from}`;
}
