/** Fee constraints on quotes: the minimum distance of a bid and an ask, and suppression of quotes that violate it. */
import type { Quote, Strategy, View } from '../src/core/index.ts';

/** Share of money that remains after buying and selling at one price: each fee is a share of the amount received. */
const keptOf = (makerRate: number): number => (1 - makerRate / 1e8) ** 2;

/**
 * Returns the distance between a bid and an ask at which a round trip exactly pays both maker fees, as a share of their
 * mid. `makerRate` in parts of 10^-8.
 */
export function roundTripShare(makerRate: number): number {
  const kept = keptOf(makerRate);
  return (2 * (1 - kept)) / (1 + kept);
}

/** Returns how far an ask must be above a bid to pay both maker fees, as a share of the bid: the step of a grid. */
export const roundTripRise = (makerRate: number): number => 1 / keptOf(makerRate) - 1;

/** Edge check of a strategy whose formula includes the maker fee: always `null`, because its quotes earn the fee. */
export const feeInside = (): null => null;

const WHY = 'cannot earn its fees: at these prices a round trip loses money after both maker fees';
/** Relative tolerance for float rounding. */
const DUST = 1e-9;

/**
 * Wraps a strategy with a check of its fees. While a round trip at the first bid and the first ask loses money after
 * fees, the side that increases inventory does not quote; at zero inventory neither side quotes. The strategies here
 * keep the distance themselves; the check guards strategies of users. `paysForVolume` disables the check.
 */
export function earningFees(strategy: Strategy, paysForVolume: boolean): Strategy {
  if (paysForVolume) return strategy;
  return { ...strategy, quote: view => earning(strategy.quote(view), view) };
}

function earning(quote: Quote, { makerRate, position }: View): Quote {
  const [bid, ask] = [quote.bids[0], quote.asks[0]];
  if (bid === undefined || ask === undefined) return quote;
  if (ask.price * keptOf(makerRate) >= bid.price * (1 - DUST)) return quote;
  const noBids = position >= 0 ? { bids: [], noBid: WHY } : {};
  const noAsks = position <= 0 ? { asks: [], noAsk: WHY } : {};
  return { ...quote, ...noBids, ...noAsks };
}
