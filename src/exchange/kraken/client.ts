/** Client of Kraken spot behind the exchange interface of the event loop. */
import type { Clock, Millis, Observation, VenueClient, VenueSection } from '../../core/index.ts';
import type { ApiEndpoint } from '../transport/requestSender.ts';
import { krakenSenders, type KrakenSigner } from './wire/protocol.ts';
import { accountEndpoints, TRADES_PER_CALL_MAX } from './rest/account.ts';
import { DEPTH, marketEndpoints } from './rest/market.ts';
import { orderEndpoints } from './rest/orders.ts';
import { pairsReader } from './rest/pairs.ts';
import { PlacedOrders } from './rest/placedOrders.ts';
import { serverClock } from './wire/serverClock.ts';

export type KrakenClientOptions = {
  readonly clock: Clock;
  readonly rest: ApiEndpoint;
  readonly signer?: KrakenSigner;
  /** Book of the bot. Its fees are always requested by name. */
  readonly book?: string | undefined;
  readonly budgets: { readonly public: number; readonly private?: number };
  /** Maximum time after sending at which the exchange may still execute an order. */
  readonly validMs: Millis;
  readonly onRequest?: ((seen: Observation) => void) | undefined;
  readonly section?: VenueSection | undefined;
};

/**
 * Page size of open orders. A list never reaches it: the list has no pages, and the exchange allows at most 225 orders
 * per book.
 */
const OPEN_ORDERS_MAX = 10_000;

/** Creates a client, which sends nothing until a method is called. Without a signer, private calls are `not-sent`. */
export function krakenClient(options: KrakenClientOptions): VenueClient {
  const { clock } = options;
  const server = serverClock(clock);
  const { ask, left, close } = krakenSenders({ ...options, serverClock: server });
  const reader = pairsReader(ask, clock);
  const used = new Set<string>(options.book === undefined ? [] : [options.book]);
  const pairs = {
    ...reader,
    of: async (book: string) => {
      const outcome = await reader.of(book);
      if (outcome.kind === 'done') used.add(book);
      return outcome;
    },
  };
  const placed = new PlacedOrders(clock);
  const orders = orderEndpoints({ clock, ask, pairs, placed, serverClock: server, validMs: options.validMs });
  const { place, cancel, openOrders, lookUp } = orders;
  return {
    limits: { ordersPage: OPEN_ORDERS_MAX, tradesPage: TRADES_PER_CALL_MAX, depth: DEPTH },
    ...marketEndpoints(ask, pairs, clock),
    ...accountEndpoints({ ask, pairs, placed, lookups: orders, usedBooks: () => used }),
    ...{ place, cancel, openOrders, lookUp },
    budget: left,
    close,
  };
}
