/** The exchange in a box: a venue, its REST face and its markets, composed. */
import { randomOf } from '../core/index.ts';
import { Conversions } from './conversions.ts';
import type { FollowedPlace } from './market.ts';
import { marketplaceOf } from './marketplace.ts';
import { PageTokens } from './pageTokens.ts';
import { restOf } from './rest.ts';
import type { Respond } from './rest.ts';
import { RfqDesk } from './rfq.ts';
import { streamOf } from './stream.ts';
import type { Stream } from './stream.ts';
import { Transactions } from './transactions.ts';
import { truthOf } from './truth.ts';
import type { Truth } from './truth.ts';
import { Venue } from './venue.ts';
import type { AccountOptions, VenueOptions } from './venue.ts';
import { Webhooks } from './webhooks.ts';
import type { DeliveryPort } from './webhooks.ts';

export type EmbeddedExchange = {
  readonly venue: Venue;
  readonly rfq: RfqDesk;
  readonly conversions: Conversions;
  readonly transactions: Transactions;
  readonly webhooks: Webhooks;
  /** In process and synchronous; wrap it to delay, drop or change what passes. */
  readonly respond: Respond;
  /** The public stream; `inProcessStream` makes a transport of it. */
  readonly stream: Stream;
  openAccount(options?: AccountOptions): { readonly key: string; readonly secret: string; readonly id: string };
  /** A book for a market actor. Throws a RangeError when it is not listed. */
  marketplace(book: string): FollowedPlace;
  /** What is really so, for checkers that see everything. */
  truth(): Truth;
  /** Stops what waits on the clock. */
  close(): void;
};

export type ExchangeOptions = VenueOptions & {
  /** The way of webhook deliveries; without it nothing is delivered. */
  readonly deliveries?: DeliveryPort;
};

export function createVenue(options: ExchangeOptions): EmbeddedExchange {
  const venue = new Venue(options);
  const random = (salt: number) => randomOf((options.seed ?? 1) ^ salt);
  const conversions = new Conversions(venue, random(0xc0));
  const webhooks = new Webhooks(venue, random(0x3eb), options.deliveries ?? null);
  const transactions = new Transactions(venue, random(0x7a), (transaction, must) =>
    webhooks.publish(transaction, must),
  );
  const rfq = new RfqDesk(venue, random(0xfa), conversion => transactions.conversion(conversion));
  const pageTokens = new PageTokens(random(0x9a6e));
  const stream = streamOf(venue, random(0xfeed));
  return {
    venue,
    stream,
    transactions,
    rfq,
    conversions,
    webhooks,
    respond: restOf(venue, { conversions, rfq, pageTokens, webhooks }),
    openAccount: account => venue.openAccount(account),
    marketplace: book => marketplaceOf(venue, book),
    truth: () => truthOf(venue),
    close: () => {
      stream.close();
      venue.close();
      conversions.close();
      rfq.close();
      transactions.close();
      webhooks.close();
    },
  };
}
