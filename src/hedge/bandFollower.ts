/** Adaptive inventory band: hedge rules that follow the observed volatility, fill rate and hedge cost. */
import {
  computeBand,
  EwmaVolatility,
  money,
  type Band,
  type HedgeDecision,
  type HedgeRules,
  type Millis,
  type Money,
  type RouteOption,
} from '../core/index.ts';

/** Inputs of the band: measured initial values, and the operator's risk tolerance. */
export type BandModel = {
  /** Size of one order, in the base currency. */
  readonly order: Money;
  /** Maximum inventory, in multiples of `order`. */
  readonly ordersMax: number;
  /**
   * Risk tolerance, in the quote currency: a standard deviation of this size costs as much as a certain loss of this
   * size. Gamma is 2 / risk.
   */
  readonly risk: number;
  /** Standard deviation of the price over an hour, in bps. */
  readonly volatilityBps: number;
  /** Fills per minute on one side at zero inventory. A partial fill counts as a fraction of an order. */
  readonly fillsPerMinute: number;
  /** Decay k of the arrival rate A e^(-k d) with the distance d, per bps. */
  readonly decayPerBps: number;
};

const MEMORY_MS = 7_200_000;
const SAMPLE_MS = 10_000;
/** Weight of the initial values, in seconds of observation. */
const PRIOR_S = MEMORY_MS / 2_000;
/** Maximum factor by which an estimate may be above or below its initial value. */
const ESTIMATE_FACTOR_MAX = 4;
/**
 * Age at which the latest hedge cost is outdated. An outdated cost counts half, so that smaller inventory triggers a
 * new request for prices.
 */
const COST_FRESH_MS = 600_000;
/** Minimum relative change of an input after which the band is computed again. */
const CHANGE_MIN = 0.01;

/** Inputs of a route comparison; `amount` is the part of the inventory to hedge. */
type RouteComparison = {
  readonly at: Millis;
  readonly mid: Money;
  readonly inventory: Money;
  readonly amount: Money;
  readonly ways: readonly RouteOption[];
};

type SolverInputs = readonly [riskPerS: number, fillsPerS: number, cost: number];

export class BandFollower {
  readonly #model: BandModel;
  readonly #costMaxBps: number;
  readonly #volatility: EwmaVolatility;
  /** Number of orders filled on both sides together; older fills have exponentially less weight. */
  #filled = 0;
  /** Observed time, with the same weight as `#filled`, in seconds. */
  #seconds = 0;
  /** Engine time of the last update of `#filled` and `#seconds`. */
  #at = Number.NaN;
  #cost: { readonly bps: number; readonly at: Millis } | null = null;
  #solved: { readonly for: SolverInputs; readonly band: Band } | null = null;

  constructor(model: BandModel, costMaxBps: number) {
    this.#model = model;
    this.#costMaxBps = costMaxBps;
    this.#volatility = new EwmaVolatility({
      startPerRootSecond: model.volatilityBps / 600_000,
      memoryMs: MEMORY_MS,
      sampleMs: SAMPLE_MS,
      factorMax: ESTIMATE_FACTOR_MAX,
    });
  }

  /** Adds a maker fill of the bot; `major` is the filled amount of the base currency. */
  fill(at: Millis, major: Money): void {
    this.#passTo(at);
    this.#filled += Number(major) / Number(this.#model.order);
  }

  /**
   * Records the cost of the cheapest hedge route, in bps. The stored cost is the mean of this cost and the previous
   * stored cost.
   */
  recordCost(at: Millis, bps: number): void {
    this.#cost = { bps: this.#cost === null ? bps : (this.#cost.bps + bps) / 2, at };
  }

  /**
   * Returns the inventory band and the inventory that remains after a hedge, both in the base currency. `mid` is the
   * mid price of one unit of the base currency.
   */
  rules(at: Millis, mid: Money): { readonly band: Money; readonly residual: Money } {
    this.#volatility.observe(at, Number(mid));
    this.#passTo(at);
    const { orders } = this.#bandAt(at, mid);
    const { order, ordersMax } = this.#model;
    const residual = money(order * BigInt(orders));
    // The band is half an order wider than the residual, so that a partial fill triggers no hedge.
    return { residual, band: orders < ordersMax ? money(residual + order / 2n) : EVERYTHING };
  }

  /**
   * Returns the expected cost, in bps of `amount`, of keeping `amount` until quotes or a later hedge reduce it.
   * `amount` is the part of `inventory` that is farthest from zero. Call this after `rules`.
   */
  waitBps(inventory: Money, amount: Money): number {
    const { order } = this.#model;
    const [held, leaves] = [inventory, amount].map(x => Math.abs(Number(x)) / Number(order)) as [number, number];
    if (this.#solved === null || !(leaves > 0)) return 0;
    const { band, for: seen } = this.#solved;
    let sum = 0;
    for (let q = Math.floor(Math.max(0, held - leaves)); q < held; q++)
      sum += (band.marginal[q] ?? seen[2]) * (Math.min(held, q + 1) - Math.max(held - leaves, q));
    return (sum / leaves) * 10_000;
  }

  /**
   * Computes the band from the current cost of the cheapest route, then chooses a route with this band. `by` compares
   * the routes under the rules that it receives. Inventory inside the band is not hedged.
   */
  decideWith(
    { at, mid, inventory, amount, ways }: RouteComparison,
    by: (rules: Partial<HedgeRules>) => HedgeDecision,
  ): HedgeDecision {
    const open = ways.flatMap(way =>
      'unavailableReason' in way || way.comparisonOnlyReason !== undefined ? [] : [way.way as string],
    );
    const costs = by({}).compared.flatMap(({ way, bps }) => (bps !== null && open.includes(way) ? [bps] : []));
    if (costs.length > 0) this.recordCost(at, Math.max(0, Math.min(...costs)));
    const rules = this.rules(at, mid);
    const isInside = sizeOf(amount) > sizeOf(inventory) - rules.residual || sizeOf(inventory) <= rules.band;
    return by({ ...(isInside ? { band: sizeOf(inventory) } : rules), waitBps: this.waitBps(inventory, amount) });
  }

  #bandAt(at: Millis, mid: Money): Band {
    const { order, ordersMax, risk, fillsPerMinute, decayPerBps } = this.#model;
    const value = (Number(order) / 1e18) * (Number(mid) / 1e18);
    const sigma = this.#volatility.perRootSecond;
    const start = fillsPerMinute / 60;
    const fillsPerS = within((start * PRIOR_S + this.#filled / 2) / (PRIOR_S + this.#seconds), start);
    const isFresh = this.#cost !== null && at - this.#cost.at < COST_FRESH_MS;
    const bps = isFresh ? (this.#cost?.bps ?? 0) : Math.min(this.#cost?.bps ?? Infinity, this.#costMaxBps) / 2;
    const now: SolverInputs = [(sigma * sigma * value) / risk, fillsPerS, bps / 10_000];
    if (this.#solved?.for.every((x, i) => Math.abs(x - now[i]!) <= CHANGE_MIN * x) !== true) {
      const [riskPerS, , cost] = now;
      const edge = 1 / (decayPerBps * 10_000);
      this.#solved = { for: now, band: computeBand({ riskPerS, fillsPerS, edge, cost, ordersMax }) };
    }
    return this.#solved.band;
  }

  #passTo(at: Millis): void {
    const passed = at - this.#at;
    if (!(passed <= 0)) this.#at = at;
    if (!(passed > 0)) return;
    const kept = Math.exp(-passed / MEMORY_MS);
    this.#filled *= kept;
    this.#seconds = kept * this.#seconds + ((1 - kept) * MEMORY_MS) / 1_000;
  }
}

const sizeOf = (sum: Money): Money => (sum < 0n ? money(-sum) : sum);
const within = (x: number, start: number): number =>
  Math.min(start * ESTIMATE_FACTOR_MAX, Math.max(start / ESTIMATE_FACTOR_MAX, x));
const EVERYTHING = money(10n ** 36n);
