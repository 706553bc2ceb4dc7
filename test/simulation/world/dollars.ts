/**
 * Dollar books for hedges through dollars: the dollar price jumps, and the coin's dollar price follows the bot's book.
 */
import { linkedMarket, type EmbeddedExchange } from '../../../src/sandbox/index.ts';
import { BOOK } from './scenario.ts';
import type { World } from './world.ts';

/** Average price of the dollar, in the quote currency. */
const DOLLAR = 18.31;
/** Maximum distance of the dollar price from its average, as a fraction. */
const JUMP_MAX = 0.01;
/** Interval at which both markets follow their prices. */
const FOLLOWS_MS = 500;

/**
 * Starts the markets of both dollar books. `premiumBps`: amount by which the coin costs more in dollars than in the
 * bot's book. Returns a function that stops both markets.
 */
export function startDollars(world: World, exchange: EmbeddedExchange, premiumBps: number): () => void {
  let dollar = DOLLAR;
  world.often('hedges over dollars', 20_000, chance => {
    const next = DOLLAR * (1 + chance.between(-JUMP_MAX, JUMP_MAX));
    return () => {
      world.count('hedges over dollars');
      dollar = next;
      world.trace.add(`dollar ${dollar.toFixed(3)}`);
    };
  });
  const own = exchange.marketplace(BOOK);
  const coin = () => {
    const [bid, ask] = [own.bestBid(), own.bestAsk()];
    return bid > 0 && ask > 0 ? ((bid + ask) / 2) * priceOf(own.instrument) : Number.NaN;
  };
  const markets = [
    { book: 'usd_mxn', price: () => dollar },
    { book: 'btc_usd', price: () => (coin() / dollar) * (1 + premiumBps / 10_000) },
  ].map(({ book, price }) => {
    const place = exchange.marketplace(book);
    const market = linkedMarket({ price: () => price() / priceOf(place.instrument), everyMs: FOLLOWS_MS });
    market.start(place);
    return market;
  });
  return () => markets.forEach(market => market.stop());
}

/** Returns the price of one tick, in the quote currency of the book. */
const priceOf = ({ tickMoney }: { readonly tickMoney: bigint }): number => Number(tickMoney) / 1e18;
