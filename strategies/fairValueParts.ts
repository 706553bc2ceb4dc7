/**
 * Parts of a fair value. Each part returns its distance from the mid price in ticks, or the reason why the distance is
 * unknown.
 */
import {
  Basis,
  depthImbalance,
  EwmaVolatility,
  micropriceAdjustment,
  OrderFlow,
  TradeMean,
  RunningDeviation,
  type Instrument,
  type Millis,
  type SeenTrade,
  type Side,
  type Step,
  type View,
} from '../src/core/index.ts';
import { DEVIATIONS_MAX, type FairValueParameters } from './fairValueParameters.ts';
import { millisOf } from './parameters.ts';
import { clamp, totalOf } from './quoteLevels.ts';

/**
 * Part of the fair value. `look` returns the distance from the mid price in ticks, or the reason why the distance is
 * unknown. `look` is called at every decision, even if another part is unknown, so that the memory of the part is up to
 * date.
 */
export type Part = {
  readonly name: string;
  /** Weight in the mean of the prices; if absent, the part is added to that mean. */
  readonly weight?: number;
  look(view: View): number | string;
  /** Whether, at the time `at`, the part has run for less time than its memory covers. */
  isNew?(at: Millis): boolean;
  trade?(trade: SeenTrade): void;
  /** Returns the steps that add up to the distance that `look` returned; absent or empty if there is one step. */
  parts?(view: View): readonly Step[];
  /**
   * Returns the steps by which the quotes of each side move outward from the price `fair`, or the reason why a side
   * must not quote.
   */
  leave?(view: View, fair: number): Readonly<Record<Side, readonly Step[] | string>>;
};

type Of<K extends keyof FairValueParameters> = NonNullable<FairValueParameters[K]>;

/** Mid price as a part: always 0 ticks, because all parts are distances from the mid price. */
export const mid = ({ weight }: Of<'mid'>): Part => ({ name: 'mid', weight, look: () => 0 });

/**
 * Mid price weighted by the best amounts (formulas E5), as a distance from the mid price in ticks. Returns a reason if
 * the amounts are unknown.
 */
export const weightedMid = ({ weight }: Of<'weightedMid'>): Part => ({
  name: 'weighted mid',
  weight,
  look({ depth, mid }) {
    const [bidAmount, askAmount] = [depth.bidAmounts[0] ?? 0, depth.askAmounts[0] ?? 0];
    const share = bidAmount / (bidAmount + askAmount);
    if (!(depth.bids > 0 && depth.asks > 0 && share >= 0 && share <= 1))
      return 'the amounts at the best prices are not known';
    return share * (depth.askPrices[0] ?? 0) + (1 - share) * (depth.bidPrices[0] ?? 0) - mid;
  },
});

/**
 * Micro-price from the configured table (formulas E5), as a distance from the mid price in ticks. Returns a reason if
 * the table has null for the current imbalance and spread.
 */
export const microprice = (p: Of<'microprice'>): Part => {
  const { imbalanceBuckets, spreadsTicks } = p;
  const adjustTicks = p.adjustTicks.map(row => row.map(ticks => ticks ?? Number.NaN));
  const table = { imbalanceBuckets, spreadsTicks, adjustTicks };
  return {
    name: 'microprice',
    weight: p.weight,
    look({ depth }) {
      if (!(depth.bids > 0 && depth.asks > 0)) return 'the amounts at the best prices are not known';
      const away = micropriceAdjustment(table, {
        bidAmount: depth.bidAmounts[0] ?? 0,
        askAmount: depth.askAmounts[0] ?? 0,
        spread: (depth.askPrices[0] ?? 0) - (depth.bidPrices[0] ?? 0),
      });
      return Number.isFinite(away) ? away : 'the microprice table has no value for this imbalance and spread';
    },
  };
};

/**
 * Mean price of the last trades, as a distance from the mid price in ticks. Returns a reason before the first trade,
 * and if the newest trade is older than maxAgeMs.
 */
export const lastTrades = (p: Of<'lastTrades'>): Part => {
  const mean = new TradeMean(millisOf(p.memory));
  return {
    name: 'last trades',
    weight: p.weight,
    trade: ({ at, price, amount }) => mean.trade(at, price, amount),
    look(view) {
      if (mean.at === -Infinity) return 'no trade was received yet';
      if (!(view.at - mean.at <= p.maxAgeMs)) return 'the last trade is too old';
      return mean.price - view.mid;
    },
  };
};

/**
 * Reference price as a distance from the mid price, in ticks. With `basisMemory`, the price is first multiplied by the
 * usual ratio of the mid price to the reference price. Returns a reason if the price is missing, older than maxAgeMs,
 * or further than maxDivergenceBps from the mid price.
 */
export const referencePart = (p: Of<'reference'>): Part => {
  const basis = p.basisMemory === undefined ? null : new Basis(millisOf(p.basisMemory));
  return {
    name: 'reference',
    weight: p.weight,
    look(view) {
      const unusable = unusableReference(view, p.maxAgeMs);
      if (unusable !== null || view.reference === null) return unusable ?? 'no reference was received yet';
      const { price } = view.reference;
      const away = (basis === null ? price : price * basis.ratio(view.at, view.mid / price)) - view.mid;
      if (!(Math.abs(away) * 10_000 <= p.maxDivergenceBps * view.mid))
        return 'the reference is further than maxDivergenceBps from the mid price';
      return away;
    },
    parts({ reference, mid }) {
      const live = reference?.live;
      if (reference === null || live === undefined) return [];
      return [
        { name: PRICE_THERE, ticks: live.there - mid },
        { name: BASIS_HERE, ticks: reference.price - live.there },
      ];
    },
    ...(basis && { isNew: at => basis.isNew(at) }),
    ...(p.leave && { leave: leaving(p.leave) }),
  };
};

/**
 * Names of the two steps of a reference price with sources: the price at the sources, and the basis of this book
 * against that price.
 */
const PRICE_THERE = 'price there';
const BASIS_HERE = 'basis';

/** Minimum time between two reference prices from which the volatility is measured, in ms. */
const VOLATILITY_EVERY_MS = 1_000;

/**
 * Returns a function that computes the cost of hedging a fill at a source (E17), as steps: from the source's mid price
 * to its average price for `amount`, the taker fee, `riskZ` standard deviations of the price until the hedge, and the
 * edge.
 */
function leaving(p: NonNullable<Of<'reference'>['leave']>): NonNullable<Part['leave']> {
  const volatility = new EwmaVolatility({
    ...{ startPerRootSecond: p.volatilityBps / 10_000, memoryMs: millisOf(p.memory) },
    sampleMs: VOLATILITY_EVERY_MS,
  });
  return ({ at, reference }, fair) => {
    const sources = reference?.live?.sources ?? [];
    if (reference !== null) volatility.observe(at, reference.price);
    const source = sources.find(({ name, refusal }) => (p.source === undefined ? refusal === null : name === p.source));
    if (source === undefined || source.refusal !== null || source.price === null) {
      const why = `no fair value: fills cannot be hedged at ${p.source ?? 'any source'} (${source?.refusal ?? 'no usable price'})`;
      return { buy: why, sell: why };
    }
    const { name, price, feeBps } = source;
    const perRootSecond = Math.max(p.volatilityBps / 10_000, volatility.perRootSecond);
    const risk = p.riskZ * perRootSecond * Math.sqrt(p.latencyMs / 1_000) * fair;
    const [fee, edge] = [feeBps / 10_000, p.edgeBps / 10_000];
    const side = (of: Side, average: number | null): readonly Step[] | string => {
      if (average === null) return `no fair value: the known levels at ${name} have less than the amount to hedge`;
      const there = fair * (average / price);
      const net = of === 'buy' ? there * (1 - fee) : there / (1 - fee);
      const away = of === 'buy' ? -1 : 1;
      const steps = [
        { name: 'depth there', ticks: there - fair },
        { name: 'fee there', ticks: net - there },
        { name: 'risk until it is left', ticks: away * risk },
        { name: 'edge', ticks: away * edge * net },
      ];
      const costBps = (Math.abs(totalOf(steps)) / fair) * 10_000;
      if (costBps <= p.costMaxBps) return steps;
      return `no fair value: hedging a fill at ${name} costs ${costBps.toFixed(1)} bps, more than costMaxBps ${p.costMaxBps}`;
    };
    return { buy: side('buy', source.sell), sell: side('sell', source.buy) };
  };
}

/** Returns why the reference price is unusable; `null` if it is usable. */
export function unusableReference({ at, reference: seen }: View, maxAgeMs: Millis): string | null {
  if (seen === null) return 'no reference was received yet';
  if (!(at - seen.at <= maxAgeMs)) return 'the reference is stale';
  return seen.price > 0 && seen.price < Infinity ? null : 'the reference is not a positive number';
}

/**
 * Shift by the depth imbalance, in ticks: bpsPerDeviation of the mid price per standard deviation from the usual
 * imbalance, up to 3 deviations. The shift is positive if the bids are larger than usual.
 */
export const imbalancePart = (p: Of<'depthImbalance'>): Part => {
  const memoryMs = millisOf(p.memory);
  const usual = new RunningDeviation(memoryMs);
  return {
    name: 'depth imbalance',
    isNew: at => !(at - usual.since >= memoryMs),
    look(view) {
      const deviations = usual.deviations(view.at, depthImbalance(view.depth, view.mid, p.depthBps));
      if (!Number.isFinite(deviations)) return 'the imbalance of the book is not known';
      return (clamp(deviations, -DEVIATIONS_MAX, DEVIATIONS_MAX) * p.bpsPerDeviation * view.mid) / 10_000;
    },
  };
};

/**
 * Shift by order flow, in ticks: bpsPerUnit of the mid price per unit of base currency (E5), at most maxBps up or down.
 */
export const orderFlow = (p: Of<'orderFlowImbalance'>, instrument: Instrument): Part => {
  const memoryMs = millisOf(p.memory);
  const flow = new OrderFlow(memoryMs);
  const unitsPerLot = Number(instrument.lot);
  return {
    name: 'order flow',
    isNew: at => !(at - flow.since >= memoryMs),
    look({ at, depth, mid }) {
      flow.observe({
        at,
        bid: depth.bids > 0 ? (depth.bidPrices[0] ?? 0) : 0,
        bidAmount: depth.bidAmounts[0] ?? 0,
        ask: depth.asks > 0 ? (depth.askPrices[0] ?? 0) : 0,
        askAmount: depth.askAmounts[0] ?? 0,
      });
      const moveBps = p.bpsPerUnit * flow.sum * unitsPerLot;
      if (!Number.isFinite(moveBps)) return 'the order flow is not known';
      return (clamp(moveBps, -p.maxBps, p.maxBps) * mid) / 10_000;
    },
  };
};
