/**
 * Quotes that include the value of progress towards the next fee tier. A strategy quotes as if its maker fee were lower
 * by the value of that progress.
 */
import type { Level, Step, Strategy, View } from './strategy.ts';

/** Names of the price steps that include a maker fee. */
const FEE_STEPS = ['maker fee', 'minimum edge'];
export const NEXT_TIER = 'next fee tier';

/**
 * Returns the strategy. If `counts` is true, the strategy quotes with its maker fee reduced by `View.tierWorth`. A
 * price with a fee step then shows the reduction as a separate step.
 */
export function withNextTier(counts: boolean, strategy: Strategy): Strategy {
  if (!counts) return strategy;
  return {
    ...strategy,
    quote: view => {
      const worth = Math.min(view.tierWorth ?? 0, Math.max(0, view.makerRate));
      if (!(worth > 0)) return strategy.quote(view);
      const quote = strategy.quote({ ...view, makerRate: view.makerRate - worth });
      const shown = (level: Level): Level => ({ ...level, why: level.why.flatMap(step => split(step, view, worth)) });
      return { ...quote, bids: quote.bids.map(shown), asks: quote.asks.map(shown) };
    },
  };
}

/** Splits a fee step into the account's own fee and the reduction for the next tier; the sum is unchanged. */
function split(step: Step, { mid }: View, worth: number): readonly Step[] {
  if (!FEE_STEPS.includes(step.name) || step.ticks === 0) return [step];
  const less = (Math.sign(step.ticks) * worth * mid) / 1e8;
  return [
    { name: step.name, ticks: step.ticks + less },
    { name: NEXT_TIER, ticks: -less },
  ];
}
