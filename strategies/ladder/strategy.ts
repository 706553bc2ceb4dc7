/** Ladder: several levels on each side of a reference price, with a skew against inventory. */
import {
  amountFloor,
  bestOf,
  moneyOf,
  priceCeil,
  priceFloor,
  withStep,
  type Amount,
  type AmountStep,
  type Instrument,
  type Level,
  type Quote,
  type Side,
  type Step,
  type Strategy,
  type View,
} from '../../src/core/index.ts';
import { defineStrategy } from '../defineStrategy.ts';
import { spreadFromMarket } from '../fromMarket.ts';
import { toleranceOf } from '../parameters.ts';
import { adverseSteps, clamp, skewPositionOf, totalOf } from '../quoteLevels.ts';
import { distanceNeeded, SPREAD_STEPS, spreadTuning } from '../fixedSpread.ts';
import { among } from '../tuning.ts';
import {
  ladderEdgeProblem,
  ladderLimitProblems,
  ladderParameters,
  spreadsOf,
  type LadderParameters,
} from './parameters.ts';

const { skewBpsAtLimit: skewRange, ...tuning } = spreadTuning;

export const ladder = defineStrategy({
  name: 'ladder',
  summary: 'Several levels on each side of a reference price.',
  needs: 'a spread',
  parameters: ladderParameters,
  steps: {
    ...SPREAD_STEPS,
    'reference: *': 'Price that `reference` selects.',
    optimization: "Shift of the first level back to one tick better than other traders' best order.",
    amount: 'Amount of the first level. Further steps add the increase per level and the skew from `skew.sizeRange`.',
  },
  tuning: {
    ...tuning,
    reference: among('mid', 'weightedMid', 'bestBidAsk'),
    'skew.priceBpsAtLimit': skewRange,
    'optimization.enabled': among(false, true),
  },
  fromMarket: (terms, feeBps) => {
    const { skewBpsAtLimit, ...rest } = spreadFromMarket(terms, feeBps);
    return { ...rest, skew: { priceBpsAtLimit: skewBpsAtLimit } };
  },
  make: laddering,
  edgeProblem: ladderEdgeProblem,
  limitProblems: ladderLimitProblems,
  tolerance: toleranceOf,
});

/** Time constant of the slow average for `movingPriceBandPct`, in ms. */
const BAND_TAU_MS = 600_000;

/**
 * Builds a ladder for one instrument. Its only state is its last quote (for refreshMs) and its slow average (for
 * movingPriceBandPct).
 */
function laddering(parameters: LadderParameters, instrument: Instrument): Strategy {
  const p = onGrid(parameters, instrument);
  let slow = Number.NaN;
  let slowAt = Number.NaN;
  let held: { quote: Quote; at: number; lastBuy: View['lastBuy']; lastSell: View['lastSell'] } | null = null;

  return {
    quote(view) {
      const { at, lastBuy, lastSell } = view;
      // Fills are compared by identity, because two fills may have equal times.
      if (held?.lastBuy === lastBuy && held.lastSell === lastSell && at - held.at < p.refreshMs) return held.quote;
      held = { quote: compute(view), at, lastBuy, lastSell };
      return held.quote;
    },
  };

  function compute(view: View): Quote {
    const centre = reference(p, view);
    if (centre === null)
      return { bids: [], asks: [], noBid: 'no trade was received yet', noAsk: 'no trade was received yet' };
    average(centre.mid, view.at);
    const noBid = silence(p, 'buy', view, centre.mid, slow);
    const noAsk = silence(p, 'sell', view, centre.mid, slow);
    const skew = clamp(skewPositionOf(view) / view.positionMax, -1, 1);
    const first = { buy: firstPrice(p, 'buy', view, centre, skew), sell: firstPrice(p, 'sell', view, centre, skew) };
    keepEdge(p.minEdgeBps, first, centre.mid, view);
    for (const side of ['buy', 'sell'] as const) first[side].push(...adverseSteps(side, view, centre.mid));
    return {
      bids: noBid === null ? levelsOf(p, 'buy', first.buy, centre.mid, view) : [],
      asks: noAsk === null ? levelsOf(p, 'sell', first.sell, centre.mid, view) : [],
      ...(noBid === null ? {} : { noBid }),
      ...(noAsk === null ? {} : { noAsk }),
    };
  }

  /**
   * Updates the slow exponential average. Its weight follows from the time since the last call, so that the call
   * frequency has no effect.
   */
  function average(reference: number, at: number): void {
    const weight = Number.isNaN(slow) ? 1 : 1 - Math.exp(-Math.max(0, at - slowAt) / BAND_TAU_MS);
    slow = Number.isNaN(slow) ? reference : slow + weight * (reference - slow);
    slowAt = at;
  }
}

/** Parameters with their constants converted to ticks and lots. */
type OnGrid = LadderParameters & {
  /** Amount of each level. */
  readonly lots: readonly Amount[];
  /** Steps that explain the amount of each level. */
  readonly amounts: readonly (readonly AmountStep[])[];
  /** Name of each level in its steps, such as `level 2`. */
  readonly names: readonly string[];
  readonly referenceName: string;
  /** Inventory, in lots, at which the amount on one side doubles and on the other side becomes 0. */
  readonly sizeRange: number;
  /** Lots of other traders' orders to skip, from the best price on. */
  readonly overlooked: number;
  readonly ceiling: number;
  readonly floor: number;
  readonly bidBps: number;
  readonly askBps: number;
};

function onGrid(p: LadderParameters, instrument: Instrument): OnGrid {
  const [first, more] = [amountFloor(instrument, p.amount), amountFloor(instrument, p.levelAmountStep)];
  const names = Array.from({ length: p.levels }, (_, i) => `level ${i + 1}`);
  return {
    ...p,
    ...spreadsOf(p),
    lots: names.map((_, i) => (first + i * more) as Amount),
    amounts: names.map((name, i) => {
      const base = { name: 'amount', lots: first };
      return i * more === 0 ? [base] : [base, { name, lots: i * more }];
    }),
    names,
    referenceName: `reference: ${p.reference}`,
    // The range is not rounded to whole lots, because a range of 0 lots would make the amount NaN.
    sizeRange:
      p.skew.sizeRange === undefined ? Infinity : Number(moneyOf(p.skew.sizeRange)) / Number(instrument.lotMoney),
    overlooked: amountFloor(instrument, p.optimization.depthAmount),
    ceiling: p.priceCeiling === undefined ? Infinity : priceFloor(instrument, p.priceCeiling),
    floor: p.priceFloor === undefined ? 0 : priceCeil(instrument, p.priceFloor),
  };
}

/** Returns the price of the first level as steps. */
function firstPrice(p: OnGrid, side: Side, view: View, centre: Centre, skew: number): Step[] {
  const away = side === 'buy' ? -1 : 1;
  const shift = -skew * (p.skew.priceBpsAtLimit / 10_000) * centre.mid;
  const spread = { name: 'spread', ticks: away * ((side === 'buy' ? p.bidBps : p.askBps) / 10_000) * centre.mid };
  const from = view.fair?.steps ?? [{ name: p.referenceName, ticks: side === 'buy' ? centre.bid : centre.ask }];
  const steps = withStep(shift === 0 ? from : withStep(from, { name: 'inventory', ticks: shift }), spread);
  if (p.optimization.enabled) {
    const price = totalOf(steps);
    const front = frontOf(view, side, p.overlooked);
    const excess = front === 0 ? 0 : side === 'buy' ? price - (front + 1) : front - 1 - price;
    if (excess > 0) steps.push({ name: 'optimization', ticks: away * excess });
  }
  return steps;
}

/**
 * Moves the first bid and the first ask apart, by equal parts, so that a round trip earns minEdgeBps over two maker
 * fees.
 */
function keepEdge(minEdgeBps: number, first: Record<Side, Step[]>, reference: number, view: View): void {
  const [buy, sell] = [totalOf(first.buy), totalOf(first.sell)];
  const needed = distanceNeeded(minEdgeBps, view.makerRate, Math.max(reference, (buy + sell) / 2));
  const missing = needed - (sell - buy);
  // With a NaN fee, the comparison is false. Both prices then become NaN, and the strategy quotes nothing.
  if (missing <= 0) return;
  first.buy.push({ name: 'minimum edge', ticks: -missing / 2 });
  first.sell.push({ name: 'minimum edge', ticks: missing / 2 });
}

function levelsOf(p: OnGrid, side: Side, first: readonly Step[], reference: number, view: View): Level[] {
  const away = side === 'buy' ? -1 : 1;
  const share = clamp(1 + (away * view.position) / p.sizeRange, 0, 2);
  const levels: Level[] = [];
  for (let i = 0; i < p.lots.length; i++) {
    const amount = p.lots[i]!;
    const ticks = away * i * (p.levelSpacingBps / 10_000) * reference;
    const why = i === 0 ? first : withStep(first, { name: p.names[i]!, ticks });
    const wanted = Math.floor(amount * share) as Amount;
    if (wanted === amount && i === 0) {
      levels.push({ price: totalOf(why), amount, why });
      continue;
    }
    const steps = p.amounts[i]!;
    const amounts = wanted === amount ? steps : withStep(steps, { name: 'inventory', lots: wanted - amount });
    levels.push({ price: totalOf(why), amount: wanted, why, amounts });
  }
  return levels;
}

/** Returns why a side does not quote; `null` if it does. `slow` is the slow average of the reference price. */
function silence(p: OnGrid, side: Side, view: View, reference: number, slow: number): string | null {
  const buy = side === 'buy';
  if (!((buy ? view.position : -view.position) < view.positionMax)) return 'inventory is at its limit';
  if (buy && !(reference <= p.ceiling)) return 'reference above priceCeiling';
  if (!buy && !(reference >= p.floor)) return 'reference below priceFloor';
  const drift = (reference / slow - 1) * 100;
  if (p.movingPriceBandPct !== undefined && !((buy ? drift : -drift) <= p.movingPriceBandPct))
    return 'outside movingPriceBandPct';
  const own = buy ? view.lastBuy : view.lastSell;
  const other = buy ? view.lastSell : view.lastBuy;
  if (own !== null && view.at - own.at < p.filledOrderDelayMs) return 'waiting filledOrderDelayMs after a fill';
  if (p.pingPong && own !== null && (other === null || own.at > other.at)) return 'pingPong: the other side is next';
  return null;
}

/** Reference price: one price per side from which the spread starts, and their mid. */
type Centre = { readonly bid: number; readonly ask: number; readonly mid: number };

function reference(p: LadderParameters, view: View): Centre | null {
  const bid = bestOf(view.depth, 'buy');
  const ask = bestOf(view.depth, 'sell');
  const at = (price: number): Centre => ({ bid: price, ask: price, mid: price });
  // The configuration allows a fair value only with the default reference.
  if (view.fair) return at(view.fair.price);
  switch (p.reference) {
    case 'mid':
      return at(view.mid);
    case 'weightedMid': {
      const share = view.depth.bidAmounts[0]! / (view.depth.bidAmounts[0]! + view.depth.askAmounts[0]!);
      return at(share * ask + (1 - share) * bid);
    }
    case 'bestBidAsk':
      return { bid, ask, mid: view.mid };
    case 'lastTrade':
      return view.lastTrade > 0 ? at(view.lastTrade) : null;
  }
}

/**
 * Returns the best price of other traders' orders after `overlooked` lots are skipped; 0 if the visible side has no
 * more lots.
 */
function frontOf(view: View, side: Side, overlooked: number): number {
  const { depth } = view;
  const prices = side === 'buy' ? depth.bidPrices : depth.askPrices;
  const amounts = side === 'buy' ? depth.bidAmounts : depth.askAmounts;
  const count = side === 'buy' ? depth.bids : depth.asks;
  let passed = 0;
  for (let i = 0; i < count; i++) {
    passed += amounts[i]!;
    if (passed > overlooked) return prices[i]!;
  }
  return 0;
}
