/** The registry of venues: one line an exchange. Nothing else here or in the command line names one. */
import type { ExchangeVenue } from '../core/index.ts';
import type { Config } from '../config.ts';
import { bitso } from '../exchange/index.ts';
import { UsageError } from './usageError.ts';

/** The first is meant where no name is given. */
export const VENUES: ExchangeVenue[] = [bitso];

/** Of the name in a configuration; without one the first, which the embedded exchange speaks too. Throws `UsageError` for a name that none has. */
export function venueNamed(name: string | undefined): ExchangeVenue {
  const venue = name === undefined ? VENUES[0] : VENUES.find(each => each.name === name);
  if (venue) return venue;
  const names = VENUES.map(each => each.name).join(', ');
  throw new UsageError(`exchange.venue: expected one of ${names}, found ${JSON.stringify(name)}`);
}

/** The same of a whole configuration. */
export const venueOf = ({ exchange }: Pick<Config, 'exchange'>): ExchangeVenue =>
  venueNamed(exchange.kind === 'remote' ? exchange.venue : undefined);
