/** Embedded exchange: a venue, its REST interface, its stream and its desks. */
import { randomOf } from '../core/index.ts';
import { VenueConversions, type VenueConversion } from './desks/conversions.ts';
import type { FollowedPlace } from './markets/market.ts';
import { marketplaceOf } from './venue/marketplace.ts';
import { PageTokens } from './wire/pageTokens.ts';
import { restOf, type Respond } from './http/rest.ts';
import { RfqDesk, type DeskConversion } from './desks/rfq.ts';
import { streamOf, type Stream } from './stream/stream.ts';
import { Transactions } from './desks/transactions.ts';
import { truthOf, type Truth } from './venue/truth.ts';
import { Venue, type AccountOptions, type VenueOptions, type VenueWatcher } from './venue/venue.ts';
import { Webhooks, type DeliveryPort } from './desks/webhooks.ts';

export type EmbeddedExchange = {
  readonly venue: Venue;
  readonly rfq: RfqDesk;
  readonly conversions: VenueConversions;
  readonly transactions: Transactions;
  readonly webhooks: Webhooks;
  /**
   * Answers a request synchronously, in process. A wrapper of this function can delay, drop or change requests and
   * replies.
   */
  readonly respond: Respond;
  /** Public stream; `inProcessStream` turns it into a transport. */
  readonly stream: Stream;
  openAccount(options?: AccountOptions): { readonly key: string; readonly secret: string; readonly id: string };
  /** Returns the interface of a book for a market simulator. Throws a RangeError if the book is not listed. */
  marketplace(book: string): FollowedPlace;
  /** Returns the complete true state, for test oracles. */
  truth(): Truth;
  /** Stops all timers. */
  close(): void;
};

/** Receiver of all changes of an embedded exchange that must be stored. */
export interface ExchangeWatcher extends VenueWatcher {
  /** Reports a conversion (v4) that was accepted or has changed. */
  converted(conversion: VenueConversion): void;
  /** Reports a conversion of the RFQ desk that was accepted or has ended. */
  traded(conversion: DeskConversion): void;
}

export type ExchangeOptions = VenueOptions & {
  readonly watcher?: ExchangeWatcher;
  /** Transport of webhook deliveries. If omitted, nothing is delivered. */
  readonly deliveries?: DeliveryPort;
};

/**
 * Creates an embedded exchange. `seed` (default 1) determines ids and delays. Throws a RangeError on an invalid switch
 * or book rule.
 */
export function createVenue(options: ExchangeOptions): EmbeddedExchange {
  const venue = new Venue(options);
  const random = (salt: number) => randomOf((options.seed ?? 1) ^ salt);
  const { watcher } = options;
  const executed = () => watcher?.executed();
  const conversions = new VenueConversions(
    venue,
    random(0xc0),
    watcher ? { changed: conversion => watcher.converted(conversion), executed } : null,
  );
  const webhooks = new Webhooks(venue, random(0x3eb), options.deliveries ?? null);
  const transactions = new Transactions(venue, random(0x7a), (transaction, must) =>
    webhooks.publish(transaction, must),
  );
  const report = (conversion: DeskConversion): void => {
    transactions.conversion(conversion);
    watcher?.traded(conversion);
  };
  const rfq = new RfqDesk(venue, random(0xfa), report, executed);
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
