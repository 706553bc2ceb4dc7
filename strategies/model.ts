/** A maker that quotes by a model: follows the market, solves when something moved, and lays levels where the model would quote after each fill. */
import { amountFloor } from '../src/core/index.ts';
import type { Amount, Figure, Instrument, Level, Quote, Side, Step, Strategy, View } from '../src/core/index.ts';
import type { FillCurve } from './fillCurve.ts';
import { RollingMarket } from './market.ts';
import type { MarketParameters } from './market.ts';
import { levelTuning, millisOf, tickLotsOf } from './parameters.ts';
import { fullLots, shiftFor, usualOrders } from './risk.ts';
import {
  ADVERSE,
  awayOf,
  fairPrice,
  fairSteps,
  inventoryRoom,
  LEVEL_STEPS,
  quoteLevelsOf,
  silent,
} from './quoteLevels.ts';
import { unknownIn } from './spread.ts';
import { linear, among } from './tuning.ts';

/** What the steps mean of a maker that quotes by a model. */
export const MODEL_STEPS = {
  ...LEVEL_STEPS,
  edge: 'What a quote earns that few trades reach: the distance at which price times arrivals is best for who minds no risk.',
  'maker fee': 'Our fee for a fill that makes.',
  'risk of one order': 'What the model asks for the risk of one more order, at no inventory.',
  inventory: 'What the model moves this side by for the inventory that is held.',
};

/** What tuning may vary of it. Volatility and arrivals are measured, the risk is the user's. */
export const modelTuning = {
  ...levelTuning,
  levelSpacingBps: linear(0, 20),
  'market.adverseBps': linear(0, 10),
  'market.memory': among('10m', '30m', '2h', '6h'),
} as const;

/** What markouts ask a side to move out, as a share of the price. */
const widenOf = (side: Side, view: View): number => {
  const bps = view.widenBps[side];
  return bps > 0 && bps < Infinity ? bps / 10_000 : 0;
};

/** Everything in shares of the price, seconds and orders. */
export type ModelInput = {
  readonly sigma: number;
  readonly a: number;
  readonly k: number;
  /** xi of the formulas as it is configured: half of it is a part of each distance, by the name `ADVERSE`. */
  readonly adverse: number;
  readonly fee: number;
  /** The shift of quotes by one order of inventory that the risk asks for. */
  readonly shift: number;
  /** Whole orders of inventory that are never exceeded; at least 1. */
  readonly cap: number;
  /** Fills by distance, where they were measured: it takes the place of `a`, `k`, `adverse` and `fee`. */
  readonly curve: FillCurve | null;
};

export type Solution = {
  readonly gamma: number;
  /** Parts of both sides' distance from the fair value that inventory does not change. */
  readonly parts: readonly { readonly name: string; readonly distance: number }[];
  /** Distance of a side's first quote at `q` orders of inventory, the parts included; Infinity where none is worth it. */
  distance(side: Side, q: number, at: number): number;
  /** Why a side's distance is Infinity. */
  readonly silence?: string;
};

/**
 * The quotes of a measured curve. `asked`: what a side's fill must bring for the inventory that it leaves; at 0 the parts, which are those of the fill that loses
 * least where none pays.
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
      // What is held must find its way out, also where that costs something.
      return best === Infinity && awayOf(side) * q > 0 ? calm.distance : best;
    },
    silence: pays
      ? 'no distance that was measured pays for more inventory'
      : 'no distance pays its fee and its adverse selection',
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
  /** Lots. */
  readonly cap: number;
  readonly figures: readonly Figure[];
};

/** What does not change from quote to quote, and the market that is followed. */
type Maker = {
  readonly p: ModelParameters;
  readonly instrument: Instrument;
  /** Of one order. */
  readonly lots: Amount;
  /** The risk in ticks times lots, for so many seconds. */
  readonly budget: number;
  readonly perS: number;
  /** Between levels, as a share of the price. */
  readonly spacing: number;
  readonly market: RollingMarket;
  readonly solve: (input: ModelInput) => Solution;
};

/**
 * `solve` is asked again when the followed market, the maker rate or positionMax has changed, not at each quote. Quotes nothing, and says why, while
 * fair value, inventory or fee is not known, or when one order is more than the risk allows.
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
      // Volatility and arrivals are those around the middle, as they were calibrated.
      const moved = market.look(view, view.mid);
      if (moved || isStale(solved, view)) solved = solveAt(maker, view, fair);
      if (solved === null || typeof solved === 'string') return silent(solved ?? 'not solved');
      return quoteOf(maker, solved, view, fair);
    },
  };
}

/** Nothing is solved, or for another fee or another limit. */
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
  // At the distance that who minds no risk would quote.
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
  const full = of.cap < view.positionMax ? 'inventory is at what the risk allows' : 'inventory is at its limit';
  const why = (side: Side): string => (inventoryRoom(side, view, of.cap) > 0 ? (of.silence ?? full) : full);
  return {
    bids,
    asks,
    ...(bids.length === 0 ? { noBid: why('buy') } : {}),
    ...(asks.length === 0 ? { noAsk: why('sell') } : {}),
    figures: of.figures,
  };
}

function levelsOf({ p, lots, spacing }: Maker, side: Side, of: Solved, view: View, fair: number): Level[] {
  const away = awayOf(side);
  const q = view.position / lots;
  const nearest = of.distance(side, q, view.at);
  if (nearest === Infinity) return [];
  const steps: Step[] = [...fairSteps(view)];
  // Half of the xi that is measured beyond the configured one. How hard to lean follows from the risk, and stays.
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
  { name: 'fills there', value: calm.rate * 60, unit: 'a minute' },
  { name: 'net of a fill there', value: calm.net * 10_000, unit: 'bps' },
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
    { name: 'sigma', value: sigma * 60 * 10_000, unit: 'bps an hour' },
    { name: 'A', value: a * 60, unit: 'a minute' },
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

/** (1/gamma) ln(1 + gamma/k): what the trade-off of edge and arrivals alone asks for, on each side. */
export const arrivalEdge = (gamma: number, k: number): number => (gamma === 0 ? 1 / k : Math.log1p(gamma / k) / gamma);
