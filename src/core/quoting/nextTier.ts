/** The worth of volume for the next fee tier, as a part of any strategy's objective: it quotes as if its maker fee were lower by that. */
import type { Level, Step, Strategy, View } from './strategy.ts';

/** Steps of a price in which a maker fee is counted. */
const OF_THE_FEE = ['maker fee', 'minimum edge'];
export const NEXT_TIER = 'next fee tier';

/** The same strategy with `View.tierWorth` taken off its maker fee where that `counts`. Where a price has a step of the fee, what came off it is a step of its own. */
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

/** The step as it would have been at the account's own fee, and the difference; the sum is the same. */
function split(step: Step, { mid }: View, worth: number): readonly Step[] {
  if (!OF_THE_FEE.includes(step.name) || step.ticks === 0) return [step];
  const less = (Math.sign(step.ticks) * worth * mid) / 1e8;
  return [
    { name: step.name, ticks: step.ticks + less },
    { name: NEXT_TIER, ticks: -less },
  ];
}
