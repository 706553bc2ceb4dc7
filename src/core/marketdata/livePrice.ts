/**
 * Price of the bot's book from several sources, which are other books or exchanges: which sources are usable, their
 * basis to this book, and one combined price. Depends only on its inputs, so that a replay of the recorded readings
 * gives the same prices.
 */
import { counted } from '../text/counted.ts';
import { BasisFilter, type BasisState } from '../estimators/basisFilter.ts';
import { basisModelFor, type BasisRules } from '../estimators/basisModel.ts';
import type { Millis } from '../model/units.ts';

/**
 * Best levels of one book elsewhere, in its own currencies; 0 for an empty side. A float suffices, because the price of
 * another book is not an amount of money.
 */
export type LiveReading = {
  readonly bid: number;
  readonly ask: number;
  /** Amounts at the best prices; 0 if the source reports none. */
  readonly bidAmount: number;
  readonly askAmount: number;
  /**
   * Average price of a sale of the configured amount into the bids; 0 if the known bids are too few. `buy` is the
   * average price of a purchase from the asks.
   */
  readonly sell: number;
  readonly buy: number;
  /**
   * Time from the exchange's timestamp of this book to its receipt; `null` if unknown. May be negative, because it
   * includes the difference of the clocks.
   */
  readonly lagMs: Millis | null;
};

/** One book of a source's chain of books. */
export type SourceLeg = {
  /** Name of the feed whose readings are the prices of this book. */
  readonly feed: string;
  /** Whether the chain divides by this book's price. */
  readonly divides: boolean;
  /** Maximum age of a reading. */
  readonly staleAfterMs: Millis;
  /** Maximum time for which prices and amounts may stay unchanged while the source answers; `null` for no maximum. */
  readonly frozenAfterMs: Millis | null;
};

export type SourceRule = {
  readonly name: string;
  /**
   * Key under which the basis of this source is stored between runs. Sources of the same name that read different books
   * or exchanges have different keys.
   */
  readonly basisKey: string;
  readonly legs: readonly SourceLeg[];
  readonly weight: number;
  /** Taker fee of the source, in bps. */
  readonly feeBps: number;
};

export type LivePriceRules = {
  readonly sources: readonly SourceRule[];
  readonly combine: 'median' | 'weights';
  /**
   * Maximum distance of a source's price from the median of the usable sources, in bps. For an even number of sources,
   * the distance is from the farther of the two middle prices, so that two sources are compared with each other.
   */
  readonly divergenceMaxBps: number;
  /** Minimum number of used sources; with fewer, there is no combined price. */
  readonly sourcesMin: number;
  /** Move of the price that causes an immediate decision, in bps. */
  readonly moveBps: number;
  /** Rules of the basis; `null` if the sources' prices are used without a basis. */
  readonly basis:
    | (BasisRules & {
        /** Maximum standard deviation of a usable basis. */
        readonly errorMaxBps: number;
        /** Treatment of a source without a basis: its price is not used, or used with a basis of 0. */
        readonly unknown: 'leave out' | 'zero';
        /**
         * Limit on the distance of a measurement from the basis; a larger distance counts as this limit. If `null`, the
         * limit is the sum of the fees and half spreads of both books.
         */
        readonly bandBps: number | null;
      })
    | null;
};

/** Reasons why a source is not used. */
export type SourceRefusal =
  'no data' | 'lost' | 'stale' | 'one-sided' | 'crossed' | 'frozen' | 'no basis' | 'divergent';

/** State of one source at a time. Prices are in ticks of the bot's book, `null` if unknown. */
export type SourceStatus = {
  readonly name: string;
  /** Reason why the source is not used; `null` if the source is used. `detail` has the figures of the reason. */
  readonly refusal: SourceRefusal | null;
  readonly detail: string | null;
  /** Mid price across the source's books, without basis. */
  readonly price: number | null;
  /**
   * Average prices of a sale and a purchase of the configured amount at the source; `null` if the known levels are too
   * few.
   */
  readonly sell: number | null;
  readonly buy: number | null;
  /**
   * Value of one unit of the first book's quote currency, in the quote currency of the chain: the product of the mid
   * prices of the later books. `null` if the chain has one book, a later book is refused, or the source is divergent.
   */
  readonly quoteRate: number | null;
  /** Age of the oldest reading. */
  readonly ageMs: Millis | null;
  /** Largest lag of the readings; `null` if unknown. */
  readonly lagMs: Millis | null;
  /** Basis of this book to the source, and the standard deviation of its estimate, in bps; `null` without a basis. */
  readonly basisBps: number | null;
  readonly basisErrorBps: number | null;
  readonly feeBps: number;
};

export type LivePriceStatus = {
  readonly sources: readonly SourceStatus[];
  /** Combined price with and without basis, in ticks, and the time of its oldest reading; `null` if there is none. */
  readonly price: { readonly at: Millis; readonly price: number; readonly there: number } | null;
  /** Reason why there is no combined price, with the state of each source that is not used; `null` if there is one. */
  readonly refusal: string | null;
};

/** Figures of the bot's book, for the measurement of the basis. `mid` is 0 if unknown. */
export type BookHere = { readonly mid: number; readonly halfSpread: number; readonly takerRate: number };

type Received = { readonly reading: LiveReading; readonly at: Millis; readonly changedAt: Millis };
type Chained = Record<'bid' | 'ask' | 'sell' | 'buy', number> & {
  at: Millis;
  lagMs: Millis | null;
};
type Refused = readonly [refusal: SourceRefusal, detail: string];
/** Source whose readings are usable, before the comparison with other sources. */
type Candidate = { readonly index: number; readonly adjusted: number; readonly raw: number; readonly at: Millis };

const BPS = 10_000;
/** Maximum number of bases that are kept for the next run, newest first. */
const BASES_MAX = 32;

export class LivePrice {
  readonly #rules: LivePriceRules;
  readonly #tick: number;
  readonly #received = new Map<string, Received>();
  readonly #lost = new Map<string, string>();
  readonly #bases: readonly (BasisFilter | null)[];
  /** Bases of an earlier run. Those without a measurement in this run are kept for the next run. */
  #kept: Readonly<Record<string, BasisState>> = {};
  #sleptAt: Millis = -Infinity;
  #version = 0;
  #cached: { readonly at: Millis; readonly version: number; readonly status: LivePriceStatus } | null = null;

  /** `tick` is the tick of the bot's book. */
  constructor(rules: LivePriceRules, tick: number) {
    this.#rules = rules;
    this.#tick = tick;
    this.#bases = rules.sources.map(() => (rules.basis === null ? null : new BasisFilter(basisModelFor(rules.basis))));
  }

  /**
   * Records a reading that was current at `startedAt`, or the reason why the feed has none. Of two calls, the later has
   * the newer book, even if its `startedAt` is earlier: a delayed frame may arrive after a read that confirmed an older
   * book.
   */
  read(feed: string, startedAt: Millis, reading: LiveReading | string): void {
    this.#version++;
    if (typeof reading === 'string') {
      this.#lost.set(feed, reading);
      return;
    }
    if (!(startedAt >= this.#sleptAt)) return;
    const before = this.#received.get(feed);
    this.#lost.delete(feed);
    const isSame = before !== undefined && isEqual(before.reading, reading);
    this.#received.set(feed, { reading, at: startedAt, changedAt: isSame ? before.changedAt : startedAt });
  }

  /**
   * Discards all readings, which may be older than they seem after a suspension of the process. Keeps the time since
   * when each reading is unchanged, so that a frozen source stays frozen.
   */
  slept(at: Millis): void {
    this.#version++;
    this.#sleptAt = at;
    for (const [feed, received] of this.#received) this.#received.set(feed, { ...received, at: DISCARDED });
  }

  /** Updates the basis of each source with the current ratio of this book's price to the source's price. */
  learn(at: Millis, here: BookHere): void {
    const { basis, sources } = this.#rules;
    if (basis === null || !(here.mid > 0 && here.mid < Infinity)) return;
    sources.forEach((source, i) => {
      if (!this.#bases[i]!.isDue(at)) return;
      const chained = this.#chain(source, at);
      if (isRefused(chained)) return;
      const price = (chained.bid + chained.ask) / 2;
      const ownBandBps =
        here.takerRate / BPS +
        source.feeBps +
        (here.halfSpread / here.mid + (chained.ask - chained.bid) / (2 * price)) * BPS;
      this.#bases[i]!.observe(at, Math.log(here.mid / price), (basis.bandBps ?? ownBandBps) / BPS);
    });
    this.#version++;
  }

  /** Returns the state of all sources and the combined price. */
  status(at: Millis): LivePriceStatus {
    if (this.#cached?.at !== at || this.#cached.version !== this.#version)
      this.#cached = { at, version: this.#version, status: this.#look(at) };
    return this.#cached.status;
  }

  /** Returns the bases for the next run, also those of an earlier run that this run has not measured. */
  bases(): Readonly<Record<string, BasisState>> {
    const known = new Map(Object.entries(this.#kept));
    for (const name of this.unprovenBases(this.#kept)) known.delete(name);
    this.#rules.sources.forEach(({ basisKey }, i) => {
      const state = this.#bases[i]?.state ?? null;
      if (state !== null) known.set(basisKey, state);
    });
    const newest = [...known].sort(([, a], [, b]) => b.at - a.at).slice(0, BASES_MAX);
    return Object.fromEntries(newest);
  }

  /**
   * Returns the names of the sources whose basis in `bases` is only stored under the source's name, as earlier versions
   * did. Such a basis may be that of other books, so it is neither used nor stored again.
   */
  unprovenBases(bases: Readonly<Record<string, BasisState>>): readonly string[] {
    const { basis, sources } = this.#rules;
    const isUnproven = ({ name, basisKey }: SourceRule): boolean =>
      Object.hasOwn(bases, name) && !Object.hasOwn(bases, basisKey);
    return basis === null ? [] : sources.filter(isUnproven).map(({ name }) => name);
  }

  restore(bases: Readonly<Record<string, BasisState>>, at: Millis): void {
    this.#kept = bases;
    this.#rules.sources.forEach(({ basisKey }, i) => {
      const state = Object.hasOwn(bases, basisKey) ? bases[basisKey] : undefined;
      if (state !== undefined) this.#bases[i]?.restore(state, at);
    });
    this.#version++;
  }

  /** Last readings, for another engine. */
  get readings(): readonly { readonly feed: string; readonly startedAt: Millis; readonly reading: LiveReading }[] {
    return [...this.#received].flatMap(([feed, { at, reading }]) =>
      this.#lost.has(feed) || at === DISCARDED ? [] : [{ feed, startedAt: at, reading }],
    );
  }

  #look(at: Millis): LivePriceStatus {
    const { sources, combine, divergenceMaxBps, sourcesMin } = this.#rules;
    const looked = sources.map((source, i) => this.#sourceAt(source, i, at));
    const candidates = looked.flatMap(({ candidate }) => (candidate === null ? [] : [candidate]));
    const [low, high] = middlePrices(candidates.map(({ adjusted }) => adjusted));
    // All distances are in bps of one price, the middle of `low` and `high`. So with two sources, both distances are
    // equal, and both sources are used or neither is.
    const awayBps = ({ adjusted }: Candidate): number =>
      ((adjusted - (adjusted - low > high - adjusted ? low : high)) / ((low + high) / 2)) * BPS;
    const used = candidates.filter(one => Math.abs(awayBps(one)) <= divergenceMaxBps);
    const even = candidates.length === 2 ? 'the other source' : 'the farther of the two middle prices';
    const from = candidates.length % 2 === 1 ? 'the median' : even;
    const status = looked.map(({ status: one, candidate }): SourceStatus => {
      if (candidate === null || used.includes(candidate)) return one;
      const detail = `${awayBps(candidate).toFixed(1)} bps from ${from}, maximum ${divergenceMaxBps} bps`;
      return { ...one, refusal: 'divergent', detail, quoteRate: null };
    });
    if (!(used.length >= sourcesMin)) {
      const out = status.flatMap(({ name, refusal, detail }) =>
        refusal === null ? [] : [`${name} ${refusal}${detail === null ? '' : ` (${detail})`}`],
      );
      const few = `${used.length} of ${counted(sources.length, 'source')} used, at least ${sourcesMin} needed`;
      return { sources: status, price: null, refusal: [few, ...out].join('; ') };
    }
    const weights = used.map(({ index }) => sources[index]!.weight);
    const together = combine === 'median' ? medianPrice : (prices: readonly number[]) => meanOf(prices, weights);
    const price = {
      at: Math.min(...used.map(one => one.at)),
      price: together(used.map(({ adjusted }) => adjusted)),
      there: together(used.map(({ raw }) => raw)),
    };
    return { sources: status, price, refusal: null };
  }

  #sourceAt(source: SourceRule, index: number, at: Millis): { status: SourceStatus; candidate: Candidate | null } {
    const { basis: rules } = this.#rules;
    const filter = this.#bases[index] ?? null;
    const errorBps = filter === null ? Number.NaN : filter.errorBps(at);
    const known = rules !== null && errorBps <= rules.errorMaxBps;
    const chained = this.#chain(source, at);
    const base = {
      ...{ name: source.name, refusal: null, detail: null, price: null, sell: null, buy: null, ageMs: null },
      ...{ quoteRate: this.#quoteRate(source, at), lagMs: null, feeBps: source.feeBps },
      basisBps: filter === null ? null : finite(filter.log * BPS),
      basisErrorBps: finite(errorBps),
    };
    if (isRefused(chained)) {
      const [refusal, detail] = chained;
      return { status: { ...base, ageMs: this.#ageOf(source, at), refusal, detail }, candidate: null };
    }
    const raw = (chained.bid + chained.ask) / 2;
    const status: SourceStatus = {
      ...base,
      price: raw,
      sell: chained.sell > 0 ? chained.sell : null,
      buy: chained.buy > 0 ? chained.buy : null,
      ageMs: at - chained.at,
      lagMs: chained.lagMs,
    };
    if (rules !== null && !known && rules.unknown === 'leave out') {
      const detail = Number.isNaN(errorBps)
        ? 'not measured yet'
        : `standard error ${errorBps.toFixed(1)} bps, maximum ${rules.errorMaxBps} bps`;
      return { status: { ...status, refusal: 'no basis', detail }, candidate: null };
    }
    const adjusted = known && filter !== null ? raw * Math.exp(filter.log) : raw;
    return { status, candidate: { index, adjusted, raw, at: chained.at } };
  }

  /** Returns the age of the oldest reading of a source; `null` if a book has none. */
  #ageOf({ legs }: SourceRule, at: Millis): Millis | null {
    const ages = legs.map(({ feed }) => at - (this.#received.get(feed)?.at ?? Number.NaN));
    return finite(Math.max(...ages));
  }

  /** Returns the prices across the books of a source, in ticks, or why they are unusable. */
  #chain({ legs }: SourceRule, at: Millis): Chained | Refused {
    const chained: Chained = { bid: 1, ask: 1, sell: 1, buy: 1, at: Infinity, lagMs: null };
    for (const leg of legs) {
      const received = this.#received.get(leg.feed);
      const refused = this.#unusable(leg, received, at);
      if (refused !== null || received === undefined) return refused ?? ['no data', leg.feed];
      const { bid, ask, sell, buy, lagMs } = received.reading;
      chained.bid *= leg.divides ? 1 / ask : bid;
      chained.ask *= leg.divides ? 1 / bid : ask;
      chained.sell *= leg.divides ? (buy > 0 ? 1 / buy : 0) : sell;
      chained.buy *= leg.divides ? (sell > 0 ? 1 / sell : 0) : buy;
      chained.at = Math.min(chained.at, received.at);
      if (lagMs !== null) chained.lagMs = Math.max(chained.lagMs ?? -Infinity, lagMs);
    }
    for (const side of ['bid', 'ask', 'sell', 'buy'] as const) chained[side] /= this.#tick;
    return chained.bid > 0 && chained.ask < Infinity && chained.bid <= chained.ask
      ? chained
      : ['one-sided', 'the price is not a positive number'];
  }

  /**
   * Returns the product of the mid prices of the books after the first, or `null` if one of them is unusable. The first
   * book is not included, because an order at the source is priced from that book itself.
   */
  #quoteRate({ legs }: SourceRule, at: Millis): number | null {
    let rate: number | null = null;
    for (const leg of legs.slice(1)) {
      const received = this.#received.get(leg.feed);
      if (received === undefined || this.#unusable(leg, received, at) !== null) return null;
      const mid = (received.reading.bid + received.reading.ask) / 2;
      rate = (rate ?? 1) * (leg.divides ? 1 / mid : mid);
    }
    return rate;
  }

  #unusable(leg: SourceLeg, received: Received | undefined, at: Millis): Refused | null {
    const { feed, staleAfterMs, frozenAfterMs } = leg;
    const lost = this.#lost.get(feed);
    if (lost !== undefined) return ['lost', `${feed}: ${lost}`];
    if (received === undefined || received.at === DISCARDED) return ['no data', feed];
    const { reading, at: readAt, changedAt } = received;
    const age = at - readAt;
    if (!(age <= staleAfterMs)) return ['stale', `${feed}: ${seconds(age)} old, maximum ${seconds(staleAfterMs)}`];
    const { bid, ask } = reading;
    if (!(bid > 0 && bid < Infinity && ask > 0 && ask < Infinity)) return ['one-sided', feed];
    if (!(bid <= ask)) return ['crossed', `${feed}: bid ${bid}, ask ${ask}`];
    if (frozenAfterMs !== null && !(readAt - changedAt <= frozenAfterMs))
      return ['frozen', `${feed}: unchanged for ${seconds(readAt - changedAt)}, maximum ${seconds(frozenAfterMs)}`];
    return null;
  }
}

/** Time of a reading that was discarded. */
const DISCARDED: Millis = -Infinity;

const isRefused = (chained: Chained | Refused): chained is Refused => Array.isArray(chained);

const isEqual = (a: LiveReading, b: LiveReading): boolean =>
  a.bid === b.bid && a.ask === b.ask && a.bidAmount === b.bidAmount && a.askAmount === b.askAmount;

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

const seconds = (ms: Millis): string => `${(ms / 1_000).toFixed(1)} s`;

/** Returns the two middle values; for an odd number of values, both are the median. NaN if there is no value. */
function middlePrices(values: readonly number[]): readonly [low: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const valueAt = (i: number) => sorted[i] ?? Number.NaN;
  return [valueAt((sorted.length - 1) >> 1), valueAt(sorted.length >> 1)];
}

/** Returns the median; for an even number of values, the mean of the two at the center. NaN if there is no value. */
function medianPrice(values: readonly number[]): number {
  const [low, high] = middlePrices(values);
  // The sum is divided last, so that the mean of two equal values is exact.
  return (low + high) / 2;
}

function meanOf(values: readonly number[], weights: readonly number[]): number {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const mean = values.reduce((all, value, i) => all + (value * weights[i]!) / sum, 0);
  // Rounding must not move the mean beyond the values.
  return Math.max(Math.min(...values), Math.min(mean, Math.max(...values)));
}
