/** An embedded exchange over HTTP with a stocked market and two accounts, for clients that were written elsewhere. */
import { amount, price } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { createVenue, serve, type EmbeddedExchange, type Served, type Switches } from '../../src/sandbox/index.ts';
import { CALM, Trader } from '../sandbox/trader.ts';

export type Market = {
  readonly exchange: EmbeddedExchange;
  readonly served: Served;
  readonly key: string;
  readonly secret: string;
  /** Takes the other side. */
  readonly bob: Trader;
  readonly close: () => Promise<void>;
};

const RICH = { mxn: '10000000', btc: '10', usd: '100000', eth: '50' };

/** btc_mxn at 1,499,990 to 1,500,010 and one trade of the house at 1,500,000. */
export async function stockedMarket(switches: Partial<Switches> = {}): Promise<Market> {
  const exchange = createVenue({ clock: realClock(), seed: 11, switches: { ...CALM, ...switches } });
  const house = exchange.marketplace('btc_mxn');
  house.place('sell', price(150_000), amount(2_000_000), 'GTC');
  house.place('buy', price(150_000), amount(2_000_000), 'IOC');
  for (let i = 1; i <= 5; i++) {
    house.place('buy', price(150_000 - i), amount(100_000_000), 'GTC');
    house.place('sell', price(150_000 + i), amount(100_000_000), 'GTC');
  }
  const served = await serve(exchange, { host: '127.0.0.1', port: 0 });
  const bob = new Trader(exchange, exchange.openAccount({ balances: RICH }));
  const { key, secret } = exchange.openAccount({ balances: RICH });
  return {
    exchange,
    served,
    key,
    secret,
    bob,
    close: async () => {
      await served.close();
      exchange.close();
    },
  };
}
