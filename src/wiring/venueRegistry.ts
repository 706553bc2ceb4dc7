/** Registry of venues, one line per exchange. No other file in `src/wiring` or `src/cli` names a venue. */
import {
  counted,
  pollsPerMinute,
  privatePollMsMin,
  requestBudget,
  VENUE_KEYS,
  type ExchangeVenue,
  type ReadBudget,
} from '../core/index.ts';
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

/** Returns the budgets from which the polls of a bot take at its exchange. */
export function readBudgetsOf({ exchange }: Pick<Config, 'exchange'>): readonly ReadBudget[] {
  const { privatePerMinute } = exchange.budgets;
  return venueOf({ exchange }).readBudgets?.(privatePerMinute) ?? [requestBudget(privatePerMinute)];
}

/**
 * Returns one line for each interval of polls that takes more than the exchange allows, with the smallest interval that
 * fits. Budgets that the operator sets above the published ones are those of an exchange with limits of its own, as the
 * embedded exchange has them.
 */
export function pollProblems({ exchange, timing }: Pick<Config, 'exchange' | 'timing'>): readonly string[] {
  if (exchange.kind !== 'remote') return [];
  const { name, allows, readBudgets } = venueOf({ exchange });
  const { bookPollMs, privatePollMs } = timing;
  const { publicPerMinute, privatePerMinute } = exchange.budgets;
  const booksMax = exchange.stream ? Infinity : Math.max(allows?.public ?? Infinity, publicPerMinute);
  const problems =
    60_000 / bookPollMs <= booksMax
      ? []
      : [
          `timing.bookPollMs: expected at least ${Math.ceil(60_000 / booksMax)}, found ${bookPollMs}; the limit at ${name} is ${counted(booksMax, 'public request')} per minute`,
        ];
  const short = readBudgetsOf({ exchange })
    .filter(budget => pollsPerMinute(budget, timing) > budget.perMinute)
    .map(budget => ({ budget, min: privatePollMsMin(budget, bookPollMs) ?? Infinity }))
    .toSorted((a, b) => b.min - a.min)[0];
  if (short === undefined) return problems;
  const { budget, min } = short;
  const own = `exchange.budgets.privatePerMinute is ${privatePerMinute}`;
  const limit =
    readBudgets === undefined
      ? own
      : `the limit at ${name} is ${perMinuteText(budget)}, as ${own}; if your account allows more, set that key to what it allows`;
  const taken = `polls take ${pollsPerMinute(budget, timing)} ${budget.unit} per minute; ${limit}`;
  return [
    ...problems,
    min === Infinity
      ? `exchange.budgets.privatePerMinute: found ${privatePerMinute}, which is too small for any timing.privatePollMs; ${taken}`
      : `timing.privatePollMs: expected at least ${min}, found ${privatePollMs}; ${taken}`,
  ];
}

/** Amounts that the polls of a bot take of the budgets of its exchange. */
export type PollShare = {
  /** Like `78 of 300 private requests`, for each budget. */
  readonly texts: readonly string[];
  /** Private requests per minute that remain for orders; `null` if the exchange counts polls in another unit. */
  readonly left: number | null;
};

/** `otherReads`: private reads per minute besides the polls. */
export function pollShareOf({ exchange, timing }: Pick<Config, 'exchange' | 'timing'>, otherReads = 0): PollShare {
  const shares = readBudgetsOf({ exchange }).map(budget => ({
    budget,
    taken: Math.ceil(pollsPerMinute(budget, timing) + (budget.unit === REQUESTS ? otherReads : 0)),
  }));
  const requests = shares.find(({ budget }) => budget.unit === REQUESTS);
  return {
    texts: shares.map(({ budget, taken }) => `${taken} of ${perMinuteText(budget)} ${budget.unit}`),
    left: requests ? requests.budget.perMinute - requests.taken : null,
  };
}

const REQUESTS = requestBudget(0).unit;
const perMinuteText = ({ perMinute }: ReadBudget): string => String(Math.floor(perMinute * 10) / 10);

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
