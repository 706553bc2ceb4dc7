/**
 * Fee constraints on quotes: the minimum distance between a bid and an ask, and the suppression of quotes that are
 * closer together.
 */
import type { Quote, Strategy, View } from '../src/core/index.ts';

/**
 * Returns the share of money that remains after buying and selling at the same price. Each fee is a share of the amount
 * received.
 */
const keptOf = (makerRate: number): number => (1 - makerRate / 1e8) ** 2;

/**
 * Returns the minimum distance between bid and ask at which a round trip pays both maker fees, as a share of their mid
 * price. `makerRate` is in parts of 10^-8.
 */
export function roundTripShare(makerRate: number): number {
  const kept = keptOf(makerRate);
  return (2 * (1 - kept)) / (1 + kept);
}

/**
 * Returns the distance from a bid up to an ask that exactly pays both maker fees, as a share of the bid. A step of a
 * grid must be at least as long as this distance.
 */
export const roundTripRise = (makerRate: number): number => 1 / keptOf(makerRate) - 1;

/** Edge check of a strategy whose formula includes the maker fee. Returns `null`, because such quotes earn the fee. */
export const feeInside = (): null => null;

const WHY = 'cannot earn its fees: at these prices a round trip loses money after both maker fees';
/** Relative tolerance for float rounding. */
const DUST = 1e-9;

/**
 * Wraps a strategy with a check of its fees. While a round trip at the first bid and the first ask would lose money
 * after fees, the side that increases inventory does not quote. At zero inventory, neither side quotes. Strategies in
 * this folder earn their fees without the check, which is for strategies that users add. `paysForVolume` disables the
 * check.
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
