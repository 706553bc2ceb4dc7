/** Hedging on the other exchange, built from the configuration: its book, client, terms and rules. */
import {
  HOUR_MS,
  counted,
  DEPTH_LEVELS,
  moneyOf,
  pairOf,
  randomOf,
  textOfFailure,
  unstored,
  type Clock,
  type BookOptions,
  type EvidenceTimes,
  type ExchangeVenue,
  type Millis,
  type Money,
  type Observation,
  type VenueClient,
} from '../core/index.ts';
import { liveSourcesOf, type Config, type ElsewhereSettings } from '../config.ts';
import type { LiveElsewhereHedging } from '../live/loop/elsewhereHedging.ts';
import { CannotStart, mayPassLater, repeatIfUnknown } from '../live/loop/opening.ts';
import { ElsewhereReads } from '../hedge/index.ts';
import { ElsewhereRules } from '../live/loop/elsewhereRules.ts';
import { storedNonces } from '../live/state/durableNonces.ts';
import type { Journal } from '../live/state/journal.ts';
import { VenuePriceSource } from '../live/market/venuePriceSource.ts';
import { accountName, type ElsewhereAccess } from './elsewhere/access.ts';
import { UsageError } from './usageError.ts';
import { pollProblems, venueElsewhere, venueNamed, venueOf } from './venueRegistry.ts';

/**
 * On an exchange whose client was tried only with test doubles, orders have the smallest size until this number of
 * fills, or of hedges, have reconciled with the balances there.
 */
export const SMALLEST_UNTIL = 20;
/** Maximum number of requests per minute at an exchange that publishes no limit; its client has limits of its own. */
const REQUESTS_PER_MINUTE = 600;
const ALLOWS: NonNullable<ExchangeVenue['allows']> = { public: REQUESTS_PER_MINUTE, private: REQUESTS_PER_MINUTE };
/**
 * Interval of polls while the stream is silent. It can be long, because a hedge reads the book itself if the streamed
 * book is too old.
 */
const STREAM_POLL_MS = 10_000;
/** Share of the published limits that the bot uses. */
const BUDGET_SHARE = 0.9;

/**
 * Returns the book on the other exchange in which the bot hedges, with the bounds of the hedges, for the engine;
 * `undefined` if the bot does not hedge there. `band` is the largest band of the hedges.
 */
export function elsewhereBookOf({ hedge, elsewhere }: Config, band: Money): BookOptions['elsewhere'] {
  const keys = hedge?.elsewhere;
  if (keys === undefined || elsewhere === undefined) return undefined;
  const [major, minor] = pairOf(elsewhere.book);
  return {
    ...{ place: elsewhereNameOf(elsewhere), major, minor },
    bounds: {
      ...{
        band,
        isBandComputed: hedge!.band === undefined,
        debtMax: moneyOf(keys.debtMax),
        failuresMax: keys.failuresMax,
      },
      isOnlyRoute: hedge!.venues.every(way => way === 'elsewhere') && hedge!.routes === undefined,
      drift: {
        max: moneyOf(keys.driftMax),
        ...(keys.quoteTarget === undefined ? {} : { target: moneyOf(keys.quoteTarget) }),
      },
      balancesMaxAgeMs: ElsewhereReads.maxAgeMs,
    },
    transfers: {
      feeMax: moneyByCurrency(keys.transferFeeMax),
      fallMax: moneyByCurrency(keys.transferMax),
      waitMs: keys.transferWaitHours * HOUR_MS,
    },
  };
}

const moneyByCurrency = (texts: Readonly<Record<string, string>>): ReadonlyMap<string, Money> =>
  new Map(Object.entries(texts).map(([currency, most]) => [currency, moneyOf(most)]));

/** Returns the name of the other exchange in the ledger. */
export const elsewhereNameOf = (elsewhere: ElsewhereSettings): string => venueElsewhere(elsewhere).name;

/**
 * Returns the configuration without hedges on the other exchange, for commands that have no account there. The
 * inventory target counts the balances on both exchanges, so the opening balance replaces the target.
 */
export function withoutElsewhere(config: Config): Config {
  const { hedge } = config;
  if (hedge?.elsewhere === undefined) return config;
  const { elsewhere: _there, ...others } = hedge;
  const venues = hedge.venues.filter(way => way !== 'elsewhere');
  return {
    ...config,
    inventory: {},
    hedge: venues.length === 0 && hedge.routes === undefined ? undefined : { ...others, venues },
  };
}

/** Returns what a hedge needs and the venue lacks, as text; `null` if the venue lacks nothing. */
export function hedgeObstacles({ hedging }: Pick<ExchangeVenue, 'hedging'>): string | null {
  const lacks = [
    ...(hedging?.immediateOrCancel === true ? [] : ['immediate-or-cancel orders']),
    ...((hedging?.lookUp ?? null) === null ? ['look-ups of orders whose answer was lost'] : []),
    ...(hedging?.tradeFees === true ? [] : ['fees in trade reports']),
  ];
  return lacks.length === 0 ? null : lacks.join(', ');
}

/**
 * Returns a client of the account on the other exchange, which sends nothing yet; `undefined` if there is no access to
 * that exchange, as in paper trading. With a journal, the nonces of the client are higher than those of earlier runs;
 * commands that only check pass `null` as `journal`.
 * @throws UsageError if the venue lacks what a hedge needs.
 */
export function elsewhereClientOf(
  config: Config,
  { elsewhere: access }: { readonly elsewhere?: ElsewhereAccess },
  clock: Clock,
  seed: number,
  journal: Pick<Journal, 'noncesElsewhere'> | null,
  onRequest?: (seen: Observation) => void,
): VenueClient | undefined {
  const settings = config.elsewhere;
  if (access === undefined || settings === undefined) return undefined;
  const venue = venueNamed(access.venue);
  const lacks = hedgeObstacles(venue);
  if (lacks !== null && config.hedge?.elsewhere !== undefined)
    throw new UsageError(
      `elsewhere.venue: cannot hedge at ${venue.name}, because the outcome of an order cannot be proven; ${venue.name} lacks ${lacks}; use another exchange, or remove hedge.elsewhere`,
    );
  const { allows = ALLOWS } = venue;
  return venue.connect({
    section: 'elsewhere',
    ...{ clock, random: randomOf(seed ^ 0x3e), book: access.book, restUrl: venue.restUrl(access.restUrl), onRequest },
    ...{ transport: access.transport, pause: access.pause },
    // The timeout is not divided by the speed of the clock, because an exchange may reject requests that are older than
    // the timeout by its own clock.
    deadlineMs: settings.requestTimeoutMs,
    credentials: {
      ...{ key: access.key, secret: access.secret },
      ...(journal
        ? storedNonces(journal.noncesElsewhere(accountName(access)), clock)
        : { nonceAbove: 0n, durable: unstored }),
    },
    budgets: {
      public: Math.floor(allows.public * BUDGET_SHARE),
      // The configuration does not state the account's class of request limits there, so the limit of the lowest class
      // applies.
      private: Math.min(Math.floor(allows.private * BUDGET_SHARE), allows.privateLowest ?? Infinity),
    },
  });
}

/**
 * Time that a stop allows for the requests of its last look-ups, in ms, in addition to the times that prove an outcome
 * (`EvidenceTimes`).
 */
const LOOK_UPS_MS = 5_000;

/**
 * Checks that the exchanges fit the configuration (`venueProblems`).
 * @throws UsageError with one line for each problem.
 */
export function assertVenuesFit(config: Config): void {
  const problems = venueProblems(config);
  if (problems.length > 0) throw new UsageError(problems);
}

/**
 * Returns one line for each key with which no bot starts: the exchanges must accept the bot's order ids and the polls of
 * the first one, and a stop must be long enough to prove the outcome of a hedge.
 */
export function venueProblems(config: Config): readonly string[] {
  const { instance, timing } = config;
  const problems: string[] = [...pollProblems(config)];
  const sections = venuesOfOrders(config);
  for (const [section, { name, orderIds }] of Object.entries(sections)) {
    const { length } = instance;
    if (length > orderIds.instanceMax)
      problems.push(
        `instance: expected at most ${counted(orderIds.instanceMax, 'character')} for the order ids of ${name} (section ${section}), found ${instance} (${counted(length, 'character')})`,
      );
  }
  if (config.books !== undefined && sections.exchange?.listsPerBook === true)
    problems.push(
      `books: expected one book, because ${sections.exchange.name} lists orders and trades only per book; run one bot for each book, each with its own state.dir`,
    );
  if (sections.elsewhere) {
    const times = evidenceTimesOf(config);
    const { requestLifeMs, listingDelayMs } = times;
    const proofMs = provenAfterMs(times);
    if (!(timing.shutdownMs >= proofMs))
      problems.push(
        `timing.shutdownMs: expected at least ${proofMs}, found ${timing.shutdownMs}; in less time, a stopping bot cannot prove the outcome of its last hedge (${requestLifeMs} ms until ${sections.elsewhere.name} drops a late request, twice hedge.elsewhere.listingDelayMs (${listingDelayMs} ms) for two look-ups, and ${LOOK_UPS_MS} ms for the requests)`,
      );
  }
  return problems;
}

/**
 * Checks that order ids of the exchanges can contain the number of a run.
 * @throws UsageError if the order ids of an exchange cannot contain it.
 */
export function assertRunFits(config: Config, run: number): void {
  for (const [section, { name, orderIds }] of Object.entries(venuesOfOrders(config)))
    if (run > orderIds.runMax)
      throw new UsageError(
        `run number: expected at most ${orderIds.runMax} for the order ids of ${name} (section ${section}), found ${run}; run numbers are seconds since 2020 and only increase, so set the clock of this machine, and use another state directory`,
      );
}

/** Returns the exchanges that receive orders, by the section that names them. */
export function venuesOfOrders(config: Config): {
  readonly exchange: ExchangeVenue;
  readonly elsewhere?: ExchangeVenue;
} {
  const { hedge, elsewhere } = config;
  const isPlaced = hedge?.elsewhere !== undefined && elsewhere !== undefined;
  return { exchange: venueOf(config), ...(isPlaced ? { elsewhere: venueElsewhere(elsewhere) } : {}) };
}

/**
 * Returns how long after an order is sent, at most, two look-ups have proven its outcome, if the exchange answers.
 */
export const provenAfterMs = ({ requestLifeMs, listingDelayMs }: EvidenceTimes): Millis =>
  requestLifeMs + 2 * listingDelayMs + LOOK_UPS_MS;

/**
 * Returns how long the other exchange may still execute a late request, and how long it may take to list an order and
 * its trades. Throws if the configuration has no hedges there.
 */
export function evidenceTimesOf({ hedge, elsewhere, timing }: Config): EvidenceTimes {
  if (hedge?.elsewhere === undefined || elsewhere === undefined)
    throw new Error('expected hedges on the other exchange in the configuration, found none');
  // An order of an earlier run may have been sent with a longer timeout, so the longest life of a request is used.
  const requestLifeMs = venueElsewhere(elsewhere).requestLifeMs?.(Infinity) ?? timing.requestDelayMaxMs;
  return { requestLifeMs, listingDelayMs: hedge.elsewhere.listingDelayMs };
}

/** The other exchange for all runs of a process. */
export type ElsewhereSide = Pick<LiveElsewhereHedging, 'account' | 'client' | 'rules' | 'streamed'> & {
  /** Starts the stream of the book, unless it is started. */
  start(): void;
  close(): Promise<void>;
};

/**
 * Returns the other exchange with its client, rules and stream; `undefined` if `elsewhereClientOf` returns `undefined`.
 * Sends nothing.
 */
export function elsewhereSideOf(
  config: Config,
  venue: { readonly elsewhere?: ElsewhereAccess },
  clock: Clock,
  seed: number,
  journal: Pick<Journal, 'noncesElsewhere'>,
  onRequest: (seen: Observation) => void,
): ElsewhereSide | undefined {
  const client = elsewhereClientOf(config, venue, clock, seed, journal, onRequest);
  const access = venue.elsewhere;
  if (client === undefined || access === undefined) return undefined;
  const { book, streamUrl: url } = access;
  const { marketStream } = venueNamed(access.venue);
  const isStreamed = config.elsewhere?.stream === true && url !== undefined && marketStream !== undefined;
  const source = isStreamed
    ? new VenuePriceSource({
        ...{ name: `${access.venue} ${book}`, book, exchange: client, clock },
        ...{ pollMs: STREAM_POLL_MS, levels: DEPTH_LEVELS },
        newStream: () => marketStream({ clock, random: randomOf(seed ^ 0x3f), book, url, exchange: client }),
      })
    : null;
  let isStarted = false;
  return {
    account: accountName(access),
    client,
    rules: new ElsewhereRules(client, access.venue, book),
    ...(source && { streamed: () => source.exactBook }),
    start: () => {
      if (!isStarted) source?.start(() => undefined);
      isStarted = true;
    },
    close: async () => {
      await source?.close();
      await client.close();
    },
  };
}

/**
 * Returns the other exchange for the runs of a configuration and starts its stream; `undefined` if the configuration has
 * no hedges there.
 */
export function elsewhereHedgingOf(config: Config, there: Omit<ElsewhereSide, 'close'> | undefined) {
  const named = elsewhereTermsOf(config);
  if (named === undefined) return undefined;
  if (there === undefined)
    throw new UsageError('hedge.elsewhere: this run has no access to the other exchange; restart the bot');
  there.start();
  const { account, client, rules, streamed } = there;
  return { ...named, account, client, rules, streamed } satisfies LiveElsewhereHedging;
}

/**
 * Returns the name of the other exchange in the ledger and the terms of hedges there; `undefined` if the configuration
 * has no hedges there.
 */
export function elsewhereTermsOf(config: Config) {
  const { hedge, elsewhere, limits } = config;
  const keys = hedge?.elsewhere;
  if (keys === undefined || elsewhere === undefined) return undefined;
  const venue = venueElsewhere(elsewhere);
  const { marginBps, backBps, latencyMs, riskZ, volatilityBps, valueMin } = keys;
  const isUntried = elsewhere.kind === 'remote' && venue.tried === 'doubles';
  return {
    name: venue.name,
    terms: {
      ...{ marginBps, backBps, latencyMs, riskZ, volatilityBps, valueMin: moneyOf(valueMin) },
      ...{ costMaxBps: hedge!.costMaxBps, collarBps: limits.collarBps },
      orderValueMax: moneyOf(limits.orderValueMax),
      rateSources: rateSourcesOf(config),
      times: evidenceTimesOf(config),
      smallestUntil: isUntried ? SMALLEST_UNTIL : 0,
    },
  } satisfies Pick<LiveElsewhereHedging, 'name' | 'terms'>;
}

/**
 * Returns the names of the reference sources that convert the quote currency on the other exchange to that of the bot's
 * book: those that start with the hedge's book there and continue through other books. `null` if the quote currencies
 * are equal.
 */
export function rateSourcesOf(config: Config): readonly string[] | null {
  const there = config.elsewhere?.book ?? config.book;
  if (pairOf(there)[1] === pairOf(config.book)[1]) return null;
  const live = liveSourcesOf(config);
  return (live?.rules.sources ?? []).flatMap(({ name, legs: [first, ...rest] }) => {
    const isThere = live!.feeds.some(({ key, book }) => key === first?.feed && book === there);
    return isThere && rest.length > 0 ? [name] : [];
  });
}

type AccountClient = Pick<VenueClient, 'account'>;
type OneAccount = {
  readonly text: string;
  /** Whether the problem may be temporary: an account number could not be read, and a later read may succeed. */
  readonly mayPass: boolean;
};

const REMEDY =
  'every hedge would count twice; set PUNTAS_ELSEWHERE_API_KEY and PUNTAS_ELSEWHERE_API_SECRET to a key of another account, or remove hedge.elsewhere';

/**
 * Returns the problem if the sections `exchange` and `elsewhere` use the same account, or if Puntas cannot prove that
 * they use two; otherwise `null`. The clients `home` and `there` send requests only if both sections name one venue
 * with different keys.
 */
export async function oneAccountProblem(
  config: Config,
  { key, elsewhere }: { readonly key: string; readonly elsewhere?: ElsewhereAccess },
  home: AccountClient,
  there: AccountClient | undefined,
): Promise<OneAccount | null> {
  if (elsewhere === undefined) return null;
  const { name } = venueOf(config);
  if (venueNamed(elsewhere.venue).name !== name) return null;
  if (elsewhere.key === key)
    return {
      text: `elsewhere: the API key is the same as the key of the section exchange, so both sections use one account at ${name}; ${REMEDY}`,
      mayPass: false,
    };
  const [accountHere, accountThere] = [home.account, there?.account];
  if (accountHere === undefined || accountThere === undefined)
    return {
      text: `elsewhere: cannot prove that the sections exchange and elsewhere use two accounts at ${name}, because ${name} does not show which account a key belongs to; hedge on another exchange, or remove hedge.elsewhere`,
      mayPass: false,
    };
  const own = await repeatIfUnknown(() => accountHere.id());
  const other = await repeatIfUnknown(() => accountThere.id());
  for (const [section, read] of Object.entries({ exchange: own, elsewhere: other })) {
    if (read.kind === 'done') continue;
    return {
      text: `elsewhere: cannot prove that the sections exchange and elsewhere use two accounts at ${name}, because the account number of ${section} was not read: ${textOfFailure(read, 'check that the keys may read the account')}`,
      mayPass: read.kind === 'unknown' || mayPassLater(read),
    };
  }
  if (own.kind !== 'done' || other.kind !== 'done' || own.value !== other.value) return null;
  return {
    text: `elsewhere: the API key belongs to account ${other.value} at ${name}, which the section exchange also uses; ${REMEDY}`,
    mayPass: false,
  };
}

/** Throws the problem if the configuration hedges on the other exchange. */
export function assertTwoAccounts({ hedge }: Config, problem: OneAccount | null): void {
  if (problem === null || hedge?.elsewhere === undefined) return;
  throw problem.mayPass ? new CannotStart(problem.text, null, true) : new UsageError(problem.text);
}
