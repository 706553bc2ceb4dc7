/**
 * What RFQ would pay and ask, as a second opinion of what a thin book says and as the bound of what inventory may cost: around any strategy,
 * by rules of its own. It never moves a quote towards the market, but for the part of the skew that leaving would be cheaper than.
 */
import { bestOf } from '../model/book.ts';
import type { Level, Quote, Step, Strategy, View, RfqPrices } from './strategy.ts';
import type { Millis } from '../model/units.ts';

export type RfqReferenceRules = {
  /** An older price is none. */
  readonly staleAfterMs: Millis;
  /** The book is thin where its best prices are further apart than this, in bps of its middle; absent: it is never taken for thin. */
  readonly thinBps?: number | undefined;
  /** How far the middle of a thin book may be from the middle of the two RFQ prices, in bps. */
  readonly withinBps: number;
  /** Beyond that, or without such a price: nothing is quoted (stop), or, where there is one, quotes are moved out by what it is away (widen). */
  readonly beyond: 'stop' | 'widen';
  /** The skew is at most what leaving by RFQ costs. */
  readonly capsSkew: boolean;
};

/** The same strategy, bound by the RFQ prices. */
export const withRfqReference = (rules: RfqReferenceRules | undefined, strategy: Strategy): Strategy =>
  rules === undefined ? strategy : { ...strategy, quote: view => bound(rules, view, strategy.quote(view)) };

/** Whether the best prices are so far apart that the book alone is not believed. */
export const isThin = ({ thinBps }: Pick<RfqReferenceRules, 'thinBps'>, bid: number, ask: number): boolean =>
  thinBps !== undefined && !((ask - bid) * 20_000 <= thinBps * (ask + bid));

function bound(rules: RfqReferenceRules, view: View, quote: Quote): Quote {
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
    return nothing(quote, `the book is thin, and its middle is ${bps.toFixed(1)} bps from the RFQ price`);
  // Only outwards: bids down to a lower price, asks up to a higher one.
  const moved = (levels: readonly Level[]) => levels.map(level => withStep(level, { name: 'RFQ price', ticks: away }));
  return away < 0 ? { ...capped, bids: moved(capped.bids) } : { ...capped, asks: moved(capped.asks) };
}

/** Whoever leans further than leaving costs pays the difference for nothing. */
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
