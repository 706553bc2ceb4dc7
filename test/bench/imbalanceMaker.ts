/** Maker at the best prices of a simulated market, for what its fills are worth with and against the imbalance of the book. */
import type { Amount, Price } from '../../src/core/index.ts';
import { FLOW_PROFILES, simulatedMarket, type MarketModel } from '../../src/sandbox/index.ts';
import { flowRules, recordMarket } from '../sandbox/markets/recordMarket.ts';

const PROFILE = FLOW_PROFILES['btc_mxn']!;
const RULES = flowRules('btc_mxn', '10');
/** Size of each quote, in lots: a typical taker's amount. */
const LOTS = 400_000 as Amount;
/** Imbalance from which a fill counts as with or against it. */
const CLEAR = 0.5;
const MARKOUT_S = 15;
/** Seeds of the evidence, and simulated time of each. */
export const MAKER_SEEDS: readonly number[] = Array.from({ length: 30 }, (_, i) => i + 1);
export const MAKER_SECONDS = 4 * 3600;

type Fill = { readonly at: number; readonly sign: 1 | -1; readonly price: number; readonly imbalance: number };

/** Worth of fills, in bps of their price: the mid price 15 s later against the price paid, without fees. */
export type MakerWorth = {
  readonly all: readonly number[];
  readonly withImbalance: readonly number[];
  readonly againstImbalance: readonly number[];
  /** Time until the first fill, in seconds. */
  readonly firstFillS: number;
};

/** Joins the best bid and ask each second with one quote of each side. The imbalance is that of the others' best amounts. */
export function makerWorth(model: MarketModel, seed: number, seconds: number): MakerWorth {
  const fills: Fill[] = [];
  const mids: number[] = [];
  let live: number[] = [];
  let imbalance = 0;
  let isHooked = false;
  recordMarket(simulatedMarket(model, { seed, profile: PROFILE }), RULES, seconds, (place, clock) => {
    if (!isHooked) {
      isHooked = true;
      const record = place.onFill;
      place.onFill = fill => {
        record(fill);
        if (fill.maker !== 'user') return;
        fills.push({ at: fill.at, sign: fill.takerSide === 'buy' ? -1 : 1, price: fill.price, imbalance });
      };
    }
    for (; mids.length <= clock.elapsed() / 1000; mids.push((place.bestBid() + place.bestAsk()) / 2)) {
      for (const id of live) place.cancel(id);
      const [bid, ask] = [place.bestBid(), place.bestAsk()];
      if (!(bid > 0 && ask > 0)) {
        live = [];
        continue;
      }
      const [bids, asks] = [place.amountAt('buy', bid), place.amountAt('sell', ask)];
      imbalance = (bids - asks) / (bids + asks);
      live = [quote('buy', bid), quote('sell', ask)];
    }
    function quote(side: 'buy' | 'sell', price: Price): number {
      return place.placeFor('user', side, price, LOTS, 'GTC').id;
    }
  });
  const worth = fills.flatMap(({ at, sign, price, imbalance: before }) => {
    const mid = mids[Math.ceil(at / 1000) + MARKOUT_S];
    return mid === undefined ? [] : [{ bps: (sign * (mid - price) * 1e4) / price, lean: sign * before }];
  });
  const bpsOf = (counts: (lean: number) => boolean) => worth.filter(({ lean }) => counts(lean)).map(({ bps }) => bps);
  return {
    all: bpsOf(() => true),
    withImbalance: bpsOf(lean => lean > CLEAR),
    againstImbalance: bpsOf(lean => lean < -CLEAR),
    firstFillS: (fills[0]?.at ?? Infinity) / 1000,
  };
}
