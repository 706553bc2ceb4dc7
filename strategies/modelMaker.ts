/**
 * Market maker that quotes by a model. It tracks the market and solves the model after changes. Each level is where the
 * model would quote after a fill of the level before.
 */
import {
  amountFloor,
  type Amount,
  type Figure,
  type Instrument,
  type Level,
  type Quote,
  type Side,
  type Step,
  type Strategy,
  type View,
} from '../src/core/index.ts';
import type { FillCurve } from './fillCurve.ts';
import { RollingMarket, type MarketParameters } from './rollingMarket.ts';
import { levelTuning, millisOf, tickLotsOf } from './parameters.ts';
import { fullLots, shiftFor, usualOrders } from './riskAversion.ts';
import {
  ADVERSE,
  awayOf,
  clamp,
  fairPrice,
  fairSteps,
  inventoryRoom,
  LEVEL_STEPS,
  quoteLevelsOf,
  silent,
  skewPositionOf,
  unknownIn,
} from './quoteLevels.ts';
import { linear, among } from './tuning.ts';

/** Meaning of the steps of model strategies, by the name of the step. */
export const MODEL_STEPS = {
  ...LEVEL_STEPS,
  edge: 'Part of the distance that one fill earns after maker fee and adverse selection.',
  'maker fee': 'Distance that covers the maker fee of one fill.',
  'risk of one order': 'Outward shift for the risk that one order adds at zero inventory.',
  inventory: 'Shift that reduces the current inventory.',
};

/** Tunable parameters of model strategies. Volatility and arrivals are measured, and the user chooses the risk. */
export const modelTuning = {
  ...levelTuning,
  levelSpacingBps: linear(0, 20),
  'market.adverseBps': linear(0, 10),
  'market.memory': among('10m', '30m', '2h', '6h'),
} as const;

/** Returns how far markouts move a side away from the fair value, as a share of the price. */
const widenOf = (side: Side, view: View): number => {
  const bps = view.widenBps[side];
  return bps > 0 && bps < Infinity ? bps / 10_000 : 0;
};

/** Inputs of a model. Distances and fees are shares of the price, times are in seconds, inventory is in orders. */
export type ModelInput = {
  readonly sigma: number;
  readonly a: number;
  readonly k: number;
  /** Configured adverse move after a fill, xi in the formulas. Half of xi is the part `ADVERSE` of each distance. */
  readonly adverse: number;
  readonly fee: number;
  /** Shift of quotes per order of inventory, as required by the risk. */
  readonly shift: number;
  /** Maximum inventory in whole orders; at least 1. */
  readonly cap: number;
  /**
   * Curve of measured fills by distance, which replaces `a`, `k`, `adverse` and `fee`; `null` if fills were not
   * measured.
   */
  readonly curve: FillCurve | null;
};

export type Solution = {
  readonly gamma: number;
  /** Parts of the distance from the fair value that do not depend on inventory and are equal on both sides. */
  readonly parts: readonly { readonly name: string; readonly distance: number }[];
  /**
   * Returns the distance of a side's first quote at `q` orders of inventory, including the parts; Infinity if no quote
   * pays.
   */
  distance(side: Side, q: number, at: number): number;
  /** Reason why the distance is Infinity. */
  readonly silence?: string;
};

/**
 * Returns the solution that is optimal for measured fills. `asked` returns the minimum profit of a side's fill at `q`
 * orders of inventory. The parts belong to the best distance for a minimum profit of 0. If no distance pays, the parts
 * belong to the distance with the smallest loss per fill.
 */
export function solutionAlong(
  curve: FillCurve,
  gamma: number,
  asked: (side: Side, q: number, at: number) => number,
): Solution {
  const { fee, pays, calm } = curve;
  const worth = curve.worthTo(gamma);
  const distance = pays ? worth.best(0).distance : calm.distance;
  const edge = curve.net(distance);
  return {
    gamma,
    parts: [
      { name: 'edge', distance: edge },
      { name: ADVERSE, distance: distance - fee - edge },
      { name: 'maker fee', distance: fee },
    ],
    distance: (side, q, at) => {
      const best = worth.best(asked(side, q, at)).distance;
      // Existing inventory must be reduced, even at a cost.
      return best === Infinity && awayOf(side) * q > 0 ? calm.distance : best;
    },
    silence: pays
      ? 'no measured distance pays for the risk of more inventory'
      : 'at every distance, maker fee and adverse selection cost more than a fill gains',
  };
}

type ModelParameters = {
  readonly amount: string;
  readonly levels: number;
  readonly levelSpacingBps: number;
  readonly risk: { readonly amount: string; readonly per: string };
  readonly market: MarketParameters;
};

type Solved = Solution & {
  readonly makerRate: number;
  readonly positionMax: number;
  /** Maximum inventory in lots. */
  readonly cap: number;
  readonly figures: readonly Figure[];
};

/** Constants of a model maker, and the market that it tracks. */
type Maker = {
  readonly p: ModelParameters;
  readonly instrument: Instrument;
  /** Amount of one order, in lots. */
  readonly lots: Amount;
  /** Cost, in ticks times lots, of a price move of one standard deviation over `perS` seconds at full inventory. */
  readonly budget: number;
  readonly perS: number;
  /** Minimum distance between levels, as a share of the price. */
  readonly spacing: number;
  readonly market: RollingMarket;
  readonly solve: (input: ModelInput) => Solution;
};

/**
 * Builds a model strategy. The strategy calls `solve` after changes of the tracked market, the maker rate or
 * positionMax, not per quote. The strategy quotes nothing, with a reason, if fair value, inventory or fee is unknown,
 * or if one order exceeds the risk.
 */
export function modelMaker(
  p: ModelParameters,
  instrument: Instrument,
  solve: (input: ModelInput) => Solution,
): Strategy {
  const market = new RollingMarket(p.market);
  const maker: Maker = {
    p,
    instrument,
    lots: amountFloor(instrument, p.amount),
    budget: tickLotsOf(instrument, p.risk.amount),
    perS: millisOf(p.risk.per) / 1_000,
    spacing: p.levelSpacingBps / 10_000,
    market,
    solve,
  };
  let solved: Solved | string | null = null;

  return {
    trade: trade => market.trade(trade),
    quote(view) {
      const fair = fairPrice(view);
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      // Volatility and arrivals are measured around the mid price, as in `puntas calibrate`.
      const moved = market.look(view, view.mid);
      if (moved || isStale(solved, view)) solved = solveAt(maker, view, fair);
      if (solved === null || typeof solved === 'string') return silent(solved ?? 'not solved');
      return quoteOf(maker, solved, view, fair);
    },
  };
}

/** Whether there is no solution, or the solution is for another maker rate or positionMax. */
function isStale(solved: Solved | string | null, view: View): boolean {
  if (solved === null || typeof solved === 'string') return true;
  return solved.makerRate !== view.makerRate || solved.positionMax !== view.positionMax;
}

function solveAt(maker: Maker, view: View, fair: number): Solved | string {
  const { lots, budget, perS, market } = maker;
  const { sigma, a, k } = market;
  const full = fullLots(budget, perS, sigma, fair);
  const cap = Math.min(view.positionMax, full);
  if (!(cap >= lots)) return 'one order is more inventory than the risk allows';
  const { makerRate, positionMax } = view;
  const fee = makerRate / 1e8;
  const adverse = maker.p.market.adverseBps / 10_000;
  const curve = market.curve(fee);
  // Fills per second at the distance at which a risk-neutral maker quotes.
  const fillsPerS = curve?.calm.rate ?? a * Math.exp(-1 - k * (fee + adverse / 2));
  const decay = curve?.decay ?? k;
  const shift = shiftFor(decay, full / lots, fillsPerS, perS);
  const solution = maker.solve({ sigma, a, k, adverse, fee, shift, cap: Math.floor(cap / lots), curve });
  return {
    ...solution,
    makerRate,
    positionMax,
    cap,
    figures: [
      ...figuresOf(maker, solution.gamma, cap, usualOrders(decay, shift) * lots, fair),
      ...(curve === null ? [] : curveFigures(curve)),
    ],
  };
}

function quoteOf(maker: Maker, of: Solved, view: View, fair: number): Quote {
  const bids = levelsOf(maker, 'buy', of, view, fair);
  const asks = levelsOf(maker, 'sell', of, view, fair);
  const full =
    of.cap < view.positionMax ? 'inventory is at the maximum for the configured risk' : 'inventory is at its limit';
  const why = (side: Side): string => (inventoryRoom(side, view, of.cap) > 0 ? (of.silence ?? full) : full);
  return {
    bids,
    asks,
    ...(bids.length === 0 ? { noBid: why('buy') } : {}),
    ...(asks.length === 0 ? { noAsk: why('sell') } : {}),
    figures: of.figures,
  };
}

/**
 * Returns the inventory by which the model skews a side, in orders: the joint inventory within the cap, if the model
 * shows a quote at it. Only the book's own inventory ends a side.
 */
function skewOrders(of: Solved, side: Side, view: View, lots: number): number {
  const own = view.position / lots;
  const most = Math.max(Math.abs(own), of.cap / lots);
  const skew = clamp(skewPositionOf(view) / lots, -most, most);
  return skew !== own && of.distance(side, skew, view.at) === Infinity ? own : skew;
}

function levelsOf({ p, lots, spacing }: Maker, side: Side, of: Solved, view: View, fair: number): Level[] {
  const away = awayOf(side);
  const q = skewOrders(of, side, view, lots);
  const nearest = of.distance(side, q, view.at);
  if (nearest === Infinity) return [];
  const steps: Step[] = [...fairSteps(view)];
  // Markouts widen the side by half of the adverse move beyond the configured xi, without an effect on the skew.
  const own = widenOf(side, view);
  let parts = 0;
  for (const part of of.parts) {
    const { name } = part;
    const distance = name === ADVERSE ? part.distance + own : part.distance;
    parts += distance;
    if (distance !== 0) steps.push({ name, ticks: away * distance * fair });
  }
  const first = own + nearest;
  const none = of.distance(side, 0, view.at);
  const flat = none === Infinity ? parts : own + none;
  steps.push({ name: 'risk of one order', ticks: away * (flat - parts) * fair });
  if (first !== flat) steps.push({ name: 'inventory', ticks: away * (first - flat) * fair });
  const prices: (readonly Step[])[] = [steps];
  let last = first;
  for (let i = 1; i < p.levels; i++) {
    const next = of.distance(side, q - away * i, view.at);
    if (next === Infinity) break;
    last = Math.max(own + next, last + spacing);
    prices.push([...steps, { name: `level ${i + 1}`, ticks: away * (last - first) * fair }]);
  }
  return quoteLevelsOf(side, prices, lots, inventoryRoom(side, view, of.cap));
}

const curveFigures = ({ calm }: FillCurve): readonly Figure[] => [
  { name: 'best distance', value: calm.distance * 10_000, unit: 'bps' },
  { name: 'fills at best distance', value: calm.rate * 60, unit: 'per minute' },
  { name: 'net per fill at best distance', value: calm.net * 10_000, unit: 'bps' },
];

function figuresOf(
  { instrument, lots, market }: Maker,
  gamma: number,
  cap: number,
  usual: number,
  fair: number,
): readonly Figure[] {
  const order = Number(instrument.tick) * fair * Number(instrument.lot) * lots;
  const { sigma, a, k, fit, arrivalsFrom } = market;
  return [
    { name: 'gamma', value: gamma / order, unit: `per ${instrument.minor}` },
    { name: 'full inventory', value: cap * Number(instrument.lot), unit: instrument.major },
    { name: 'usual inventory', value: usual * Number(instrument.lot), unit: instrument.major },
    { name: 'sigma', value: sigma * 60 * 10_000, unit: 'bps per hour' },
    { name: 'A', value: a * 60, unit: 'per minute' },
    { name: 'k', value: k / 10_000, unit: 'per bps' },
    { name: 'arrivals', value: fit?.reached ?? 0, unit: arrivalsFrom },
    ...(fit === null
      ? []
      : [
          { name: 'A error', value: 100 * fit.logAError, unit: '%' },
          { name: 'k error', value: (100 * fit.kError) / fit.k, unit: '%' },
          { name: 'R2', value: fit.rSquared, unit: '' },
        ]),
  ];
}

/** Returns the optimal edge per side from the trade-off of edge and arrivals: (1/gamma) ln(1 + gamma/k). */
export const arrivalEdge = (gamma: number, k: number): number => (gamma === 0 ? 1 / k : Math.log1p(gamma / k) / gamma);
