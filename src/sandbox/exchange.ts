/** The exchange in a box: a venue, its REST face and its markets, composed. */
import { randomOf } from '../core/index.ts';
import { Conversions } from './conversions.ts';
import type { Marketplace } from './market.ts';
import { marketplaceOf } from './marketplace.ts';
import { restOf } from './rest.ts';
import type { Respond } from './rest.ts';
import { truthOf } from './truth.ts';
import type { Truth } from './truth.ts';
import { Venue } from './venue.ts';
import type { AccountOptions, VenueOptions } from './venue.ts';

export type EmbeddedExchange = {
  readonly venue: Venue;
  /** In process and synchronous; wrap it to delay, drop or change what passes. */
  readonly respond: Respond;
  openAccount(options?: AccountOptions): { readonly key: string; readonly secret: string; readonly id: string };
  /** A book for a market actor. Throws a RangeError when it is not listed. */
  marketplace(book: string): Marketplace;
  /** What is really so, for checkers that see everything. */
  truth(): Truth;
  /** Stops what waits on the clock. */
  close(): void;
};

export function createVenue(options: VenueOptions): EmbeddedExchange {
  const venue = new Venue(options);
  const conversions = new Conversions(venue, randomOf((options.seed ?? 1) ^ 0xc0));
  return {
    venue,
    respond: restOf(venue, conversions),
    openAccount: account => venue.openAccount(account),
    marketplace: book => marketplaceOf(venue, book),
    truth: () => truthOf(venue),
    close: () => {
      venue.close();
      conversions.close();
    },
  };
}
