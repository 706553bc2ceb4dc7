import { expect, it } from 'vitest';
import { silenceReason } from '../../../src/core/index.ts';

it.each([
  ['microprice not known', 'no fair value'],
  ['reduce only', 'reduce only'],
  ['pulled: the leader moved (-3.0 bps)', 'pulled: the leader moved'],
  ['pulled: a large trade', 'pulled: a large trade'],
  [
    'a hedge is open at binance; with hedge.elsewhere.failuresMax 0, this side waits until the hedge ends',
    'waits for a hedge',
  ],
  ['one order is more inventory than the risk allows: 5', 'at the cap'],
  ['no fair value', 'no fair value'],
  ['no trade was received', 'no fair value'],
  ['no reference was heard', 'no fair value'],
  ['the fair value is 0', 'no fair value'],
  ['the last trade is old', 'no fair value'],
  ['cannot earn its fees', 'cannot earn its fees'],
  ['reference above priceCeiling', 'outside its price range'],
  ['reference below priceFloor', 'outside its price range'],
  ['outside movingPriceBandPct', 'outside its price range'],
  ['known', 'held back by the strategy'],
])('words of a strategy "%s" are counted as "%s"', (words, reason) => {
  expect(silenceReason(words)).toBe(reason);
});
