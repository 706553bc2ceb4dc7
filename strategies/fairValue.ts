/**
 * Fair value of a book: the price around which any strategy quotes, computed from configured parts. The fair value is
 * added to the view before the strategy runs. If the fair value is unknown, the strategy does not run, and the quote is
 * empty with the reason.
 */
import type { Fair, Instrument, Level, Quote, Side, Step, Strategy, View } from '../src/core/index.ts';
import type { FairValueParameters } from './fairValueParameters.ts';
import {
  imbalancePart,
  lastTrades,
  microprice,
  mid,
  orderFlow,
  referencePart,
  weightedMid,
  type Part,
} from './fairValueParts.ts';
import { silent, totalOf } from './quoteLevels.ts';

/**
 * Wraps a strategy so that its view has the configured fair value. Returns the strategy unchanged if the fair value is
 * the mid price. The memory of all parts starts empty.
 */
export function withFairValue(
  p: FairValueParameters | undefined,
  strategy: Strategy,
  instrument: Instrument,
): Strategy {
  const parts = p === undefined ? [] : partsOf(p, instrument);
  if (p === undefined || parts.every(part => part.name === 'mid')) return strategy;
  const fair = fairOf(parts, p.withinBps);
  const leaving = parts.find(part => part.leave !== undefined);
  const hearing = parts.filter(part => part.trade !== undefined);
  const hears = hearing.length > 0 || strategy.trade !== undefined;
  return {
    ...strategy,
    quote(view) {
      const found = fair(view);
      if (typeof found === 'string') return silent(`no fair value: ${found}`);
      const corrected = withOtherBooks(found, view, p.withinBps);
      const quote = { ...strategy.quote({ ...view, fair: corrected }), fair: corrected };
      const costs = leaving?.leave?.(view, corrected.price);
      return costs === undefined ? quote : movedOutward(quote, costs);
    },
    ...(hears && {
      trade: trade => {
        for (const part of hearing) part.trade?.(trade);
        strategy.trade?.(trade);
      },
    }),
  };
}

/**
 * Returns the fair value with the correction by other books, which the view has as steps after the mid price. What the
 * parts already moved in that direction is subtracted, and the sum is within `withinBps` of the mid price.
 */
function withOtherBooks(found: Fair, { fair, mid }: View, withinBps: number): Fair {
  if (fair === undefined) return found;
  const [wanted, moved] = [fair.price - mid, found.price - mid];
  const sign = Math.sign(wanted);
  const most = (withinBps * mid) / 10_000 - sign * moved;
  const ticks = sign * Math.max(0, Math.min(Math.abs(wanted) - Math.max(0, sign * moved), most));
  if (ticks === 0) return found;
  const steps = [...found.steps, { name: 'cross rates', ticks }];
  return { price: totalOf(steps), steps };
}

/** Returns the quote with the steps of its side added to each level, and without the sides that must not quote. */
function movedOutward(quote: Quote, costs: Readonly<Record<Side, readonly Step[] | string>>): Quote {
  const moved = (levels: readonly Level[], steps: readonly Step[] | string): readonly Level[] =>
    typeof steps === 'string'
      ? []
      : levels.map(level => ({ ...level, price: level.price + totalOf(steps), why: [...level.why, ...steps] }));
  return {
    ...quote,
    bids: moved(quote.bids, costs.buy),
    asks: moved(quote.asks, costs.sell),
    ...(typeof costs.buy === 'string' && { noBid: costs.buy }),
    ...(typeof costs.sell === 'string' && { noAsk: costs.sell }),
  };
}

/** Returns the configured maximum distance of the fair value, and of costs added to it, from the mid price, in bps. */
export const fairValueReachBps = (p: FairValueParameters | undefined): number =>
  p === undefined || partNames(p).every(name => name === 'mid')
    ? 0
    : p.withinBps + (p.reference?.leave?.costMaxBps ?? 0);

/**
 * Returns an error in one line if the micro-price table is for another tick size than the instrument's; otherwise
 * `null`.
 */
export function fairValueProblem(p: FairValueParameters | undefined, instrument: Instrument): string | null {
  const tick = p?.microprice?.tick;
  if (tick === undefined || Number(tick) === Number(instrument.tick)) return null;
  return `fairValue.microprice.tick: the table is for tick size ${tick}, but ${instrument.symbol} has tick size ${instrument.tick}; run puntas calibrate again`;
}

function partsOf(p: FairValueParameters, instrument: Instrument): readonly Part[] {
  return [
    ...(p.mid ? [mid(p.mid)] : []),
    ...(p.weightedMid ? [weightedMid(p.weightedMid)] : []),
    ...(p.microprice ? [microprice(p.microprice)] : []),
    ...(p.lastTrades ? [lastTrades(p.lastTrades)] : []),
    ...(p.reference ? [referencePart(p.reference)] : []),
    ...(p.depthImbalance ? [imbalancePart(p.depthImbalance)] : []),
    ...(p.orderFlowImbalance ? [orderFlow(p.orderFlowImbalance, instrument)] : []),
  ];
}

const partNames = ({ withinBps: _, ...parts }: FairValueParameters): readonly string[] =>
  Object.entries(parts).flatMap(([name, part]) => (part === undefined ? [] : [name]));

/**
 * Returns a function that computes the fair value: the mid price, plus the weighted mean of the parts with a weight,
 * plus the other parts. The function returns a reason if a part is unknown or the fair value is further than
 * `withinBps` from the mid price.
 */
function fairOf(parts: readonly Part[], withinBps: number): (view: View) => Fair | string {
  const weights = parts.reduce((sum, part) => sum + (part.weight ?? 0), 0);
  return view => {
    const { mid, at } = view;
    let why = mid > 0 && mid < Infinity ? null : 'the fair value is not known';
    const steps: Step[] = [{ name: 'fair value: mid', ticks: mid }];
    for (const part of parts) {
      const away = part.look(view);
      if (typeof away === 'string') why ??= away;
      else if (part.name !== 'mid') {
        const inParts = part.parts?.(view) ?? [];
        if (inParts.length > 0) {
          for (const { name, ticks } of inParts) steps.push({ name, ticks: ((part.weight ?? 1) / weights) * ticks });
          continue;
        }
        const name = part.isNew?.(at) === true ? `${part.name} (starting anew)` : part.name;
        steps.push({ name, ticks: part.weight === undefined ? away : (part.weight / weights) * away });
      }
    }
    if (why !== null) return why;
    const price = totalOf(steps);
    if (!(price > 0 && Math.abs(price - mid) * 10_000 <= withinBps * mid))
      return 'the fair value is further than withinBps from the mid price';
    return { price, steps };
  };
}
