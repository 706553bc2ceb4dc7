/**
 * RFQ prices as a check on a thin book and as a limit on inventory skew, for any strategy. RFQ prices move a quote
 * towards the market only to remove skew that costs more than a hedge.
 */
import { bestOf } from '../model/book.ts';
import type { Level, Quote, Step, Strategy, View, RfqPrices } from './strategy.ts';
import type { Millis } from '../model/units.ts';

export type RfqReferenceRules = {
  /** Maximum age of an RFQ price. */
  readonly staleAfterMs: Millis;
  /**
   * Minimum spread of the best prices, in bps of their mid price, at which the book counts as thin. If absent, no book
   * is thin.
   */
  readonly thinBps?: number | undefined;
  /** Maximum distance between the mid price of a thin book and the mid price of RFQ, in bps. */
  readonly withinBps: number;
  /**
   * Action if the distance exceeds `withinBps`. `stop` quotes nothing; `widen` moves the bids down or the asks up by
   * the distance, towards the RFQ price. Without an RFQ price, both actions quote nothing.
   */
  readonly beyond: 'stop' | 'widen';
  /** Whether the cost of an RFQ hedge limits the skew. */
  readonly capsSkew: boolean;
};

/** Returns the strategy with the RFQ rules applied to its quotes. */
export const withRfqReference = (rules: RfqReferenceRules | undefined, strategy: Strategy): Strategy =>
  rules === undefined ? strategy : { ...strategy, quote: view => limitToReference(rules, view, strategy.quote(view)) };

/** Whether the best prices are too far apart to trust the book without RFQ prices. */
export const isThin = ({ thinBps }: Pick<RfqReferenceRules, 'thinBps'>, bid: number, ask: number): boolean =>
  thinBps !== undefined && !((ask - bid) * 20_000 <= thinBps * (ask + bid));

function limitToReference(rules: RfqReferenceRules, view: View, quote: Quote): Quote {
  const last = view.rfqPrices ?? null;
  const rfqPrices = last !== null && view.at - last.at <= rules.staleAfterMs ? last : null;
  const capped = rules.capsSkew && rfqPrices !== null ? capSkew(quote, view, rfqPrices) : quote;
  if (!isThin(rules, bestOf(view.depth, 'buy'), bestOf(view.depth, 'sell'))) return capped;
  if (rfqPrices === null) return nothing(quote, 'the book is thin, and there is no fresh RFQ price');
  const fair = (rfqPrices.bid + rfqPrices.ask) / 2;
  const away = fair - view.mid;
  const bps = (Math.abs(away) * 10_000) / fair;
  if (bps <= rules.withinBps) return capped;
  if (rules.beyond === 'stop' || !(bps < Infinity))
    return nothing(quote, `the book is thin, and its mid price is ${bps.toFixed(1)} bps from the RFQ price`);
  // If the RFQ price is lower than the mid price, bids move down; if it is higher, asks move up. So quotes move only
  // outward.
  const moved = (levels: readonly Level[]) => levels.map(level => withStep(level, { name: 'RFQ price', ticks: away }));
  return away < 0 ? { ...capped, bids: moved(capped.bids) } : { ...capped, asks: moved(capped.asks) };
}

/** Limits the skew to the cost of a hedge, because a hedge is cheaper than a larger skew. */
function capSkew(quote: Quote, { position, mid }: View, { bid, ask }: RfqPrices): Quote {
  if (position === 0) return quote;
  const most = Math.max(0, position > 0 ? mid - bid : ask - mid);
  const capped = (level: Level): Level => {
    const skew = level.why.reduce((sum, { name, ticks }) => (name === 'inventory' ? sum + ticks : sum), 0);
    const excess = position > 0 ? -skew - most : skew - most;
    if (!(excess > 0)) return level;
    return withStep(level, { name: 'no more than leaving costs', ticks: position > 0 ? excess : -excess });
  };
  return { ...quote, bids: quote.bids.map(capped), asks: quote.asks.map(capped) };
}

const withStep = (level: Level, step: Step): Level => ({
  ...level,
  price: level.price + step.ticks,
  why: [...level.why, step],
});

const nothing = (quote: Quote, why: string): Quote => ({ ...quote, bids: [], asks: [], noBid: why, noAsk: why });
