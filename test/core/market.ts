/** Instruments, depths and orders that the tests of this room share. */
import { emptyDepth, instrumentOf, type BookRules, type Depth, type Instrument } from '../../src/core/index.ts';

export const bookRules = (changes: Partial<BookRules> = {}): BookRules => ({
  book: 'btc_mxn',
  tickSize: '0.01',
  minimumAmount: '0.00001',
  maximumAmount: '500',
  minimumPrice: '1',
  maximumPrice: '16000000',
  minimumValue: '10',
  maximumValue: '200000000',
  ...changes,
});

export const btcMxn: Instrument = instrumentOf(bookRules());

/** A small instrument whose numbers can be read: tick and lot are 1, nothing but positive numbers is asked. */
export const plain: Instrument = instrumentOf(
  bookRules({
    tickSize: '1',
    minimumAmount: '1',
    maximumAmount: '1000000',
    minimumPrice: '1',
    maximumPrice: '1000000',
    minimumValue: '1',
    maximumValue: '1000000000000',
  }),
  '1',
);

/** A depth with these levels, best first, as [price, amount]. */
export function depthOf(
  bids: readonly (readonly [number, number])[],
  asks: readonly (readonly [number, number])[],
): Depth {
  const depth = emptyDepth(Math.max(bids.length, asks.length, 1));
  bids.forEach(([price, amount], i) => {
    depth.bidPrices[i] = price;
    depth.bidAmounts[i] = amount;
  });
  asks.forEach(([price, amount], i) => {
    depth.askPrices[i] = price;
    depth.askAmounts[i] = amount;
  });
  depth.bids = bids.length;
  depth.asks = asks.length;
  return depth;
}

/** The filled part of a depth's side as [price, amount], best first. */
export function levelsOf(depth: Depth, side: 'buy' | 'sell'): [number, number][] {
  const [prices, amounts, count] =
    side === 'buy' ? [depth.bidPrices, depth.bidAmounts, depth.bids] : [depth.askPrices, depth.askAmounts, depth.asks];
  return Array.from({ length: count }, (_, i) => [prices[i]!, amounts[i]!]);
}
