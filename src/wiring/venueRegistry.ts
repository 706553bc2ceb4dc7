/** Registry of venues, one line per exchange. No other file in `src/wiring` or `src/cli` names a venue. */
import { VENUE_KEYS, type ExchangeVenue } from '../core/index.ts';
import { placeOf, type Config, type ElsewhereSettings } from '../config.ts';
import { binanceSpot, bitso, kraken } from '../exchange/index.ts';
import { UsageError } from './usageError.ts';

/** Known venues; the first is the default. */
export const VENUES: ExchangeVenue[] = [bitso, binanceSpot, kraken];

/**
 * Returns the venue with a name. Without a name, returns the first venue, whose protocol the embedded exchange also
 * supports.
 * @throws UsageError for an unknown name.
 */
export function venueNamed(name: string | undefined): ExchangeVenue {
  const venue = name === undefined ? VENUES[0] : VENUES.find(each => each.name === name);
  if (venue) return venue;
  const names = VENUES.map(each => each.name).join(', ');
  throw new UsageError(`exchange.venue: expected one of ${names}, found ${JSON.stringify(name)}`);
}

/** Returns the venue of the other exchange. The second embedded exchange has the interface of Binance spot. */
export const venueElsewhere = (settings: ElsewhereSettings): ExchangeVenue =>
  settings.kind === 'remote' ? venueNamed(settings.venue) : binanceSpot;

/**
 * Rejects a `requestDelayMaxMs` shorter than the time in which the exchange may still execute an order after it was
 * sent.
 * @throws UsageError with the smallest accepted value.
 */
export function refuseShortDelay(config: Pick<Config, 'exchange' | 'timing'>): void {
  const { exchange, timing } = config;
  if (exchange.kind !== 'remote') return;
  const { name, requestLifeMs } = venueOf(config);
  const life = requestLifeMs?.(exchange.requestTimeoutMs) ?? 0;
  if (timing.requestDelayMaxMs >= life) return;
  throw new UsageError(
    `timing.requestDelayMaxMs: expected at least ${life}, found ${timing.requestDelayMaxMs}; ${name} can still execute an order ${life} ms after the bot sent the order`,
  );
}

/** Returns one line for each key of the section `exchange` that is set although the exchange does not read it. */
export function unreadKeys(config: Config): readonly string[] {
  const { exchange } = config;
  if (exchange.kind !== 'remote') return [];
  const { name, readsKeys = [] } = venueOf(config);
  const given = { ...exchange, authentication: exchange.authentication === 'headers' ? 'headers' : undefined };
  return VENUE_KEYS.filter(key => given[key] !== undefined && !readsKeys.includes(key)).map(
    key => `${placeOf(config, ['exchange', key])}: has no effect with exchange.venue ${name}; remove this key`,
  );
}

/** Returns the venue of a configuration. */
export const venueOf = ({ exchange }: Pick<Config, 'exchange'>): ExchangeVenue =>
  venueNamed(exchange.kind === 'remote' ? exchange.venue : undefined);
