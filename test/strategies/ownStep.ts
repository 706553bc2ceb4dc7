/** The example of docs/development/strategies.md: a strategy that remembers public trades and has a price step of its own. */
import { amountFloor, type Instrument, type Strategy } from '../../src/core/index.ts';
import { clamp, fairSteps, silent, unknownIn } from '../../strategies/quoteLevels.ts';
import { quoteAround } from '../../strategies/fixedSpread.ts';

type OwnParameters = Parameters<typeof quoteAround>[0] & { readonly bpsAtFullFlow: number };

// The example begins here.
/** Follows the takers: a share of -1 (only sellers) to 1 (only buyers) of the traded amount of about the last 30 s. */
export function followingTakers(p: OwnParameters, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const MEMORY_MS = 30_000;
  let [bought, sold, at] = [0, 0, 0];
  const forget = (now: number): void => {
    const kept = Math.exp(-Math.max(0, now - at) / MEMORY_MS);
    [bought, sold, at] = [bought * kept, sold * kept, Math.max(now, at)];
  };
  return {
    trade(trade) {
      forget(trade.at);
      if (trade.side === 'buy') bought += trade.amount;
      else sold += trade.amount;
    },
    quote(view) {
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      forget(view.at);
      const share = bought + sold > 0 ? clamp((bought - sold) / (bought + sold), -1, 1) : 0;
      const ticks = (share * p.bpsAtFullFlow * view.mid) / 10_000;
      return {
        ...quoteAround(p, lots, view, [...fairSteps(view), { name: 'takers', ticks }]),
        figures: [{ name: 'takers', value: share, unit: 'share' }],
      };
    },
  };
}
