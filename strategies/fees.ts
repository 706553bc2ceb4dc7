/** What two maker fees ask of quotes: how far apart a bid and an ask must be, and no quote at all where they are not. */
import type { Quote, Strategy, View } from '../src/core/index.ts';

/** What is left of money that was once turned into coins and back, at the same price: each fee is a share of what is received. */
const keptOf = (makerRate: number): number => (1 - makerRate / 1e8) ** 2;

/** How far apart a bid and an ask must be, as a share of their middle, for a round trip to pay both maker fees exactly. `makerRate` in parts of 10^-8. */
export function roundTripShare(makerRate: number): number {
  const kept = keptOf(makerRate);
  return (2 * (1 - kept)) / (1 + kept);
}

/** The same as a share of the bid: what one line of a grid must be above the next. */
export const roundTripRise = (makerRate: number): number => 1 / keptOf(makerRate) - 1;

/** A check of parameters against the fee, for a formula that has the fee inside: its quotes always earn it. */
export const feeInside = (): null => null;

const WHY = 'cannot earn its fees: buying and selling at these prices costs more than it brings';
/** Of a float's dust. */
const DUST = 1e-9;

/**
 * The same strategy, without the side that builds up inventory while its first bid and its first ask do not earn their fees; without both at no
 * inventory. Every strategy here keeps that distance by itself: this holds also for one that does not. With `paysForVolume` it is wanted.
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
