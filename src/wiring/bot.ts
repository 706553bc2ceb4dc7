/**
 * Construction of a bot from a checked configuration. For the bot, an embedded and a remote exchange differ only in
 * address and key.
 */
import {
  counted,
  ACCOUNT_STALE,
  amountFloor,
  booksApartFrom,
  describeTier,
  Engine,
  isDecimalText,
  LOOK_EVERY_MAX_MS,
  money,
  moneyOf,
  randomOf,
  TooLarge,
  unstored,
  valueFloor,
  seedFromText,
  withFillSamples,
  withNextTier,
  withRfqReference,
  type BookOptions,
  type Clock,
  type Connection,
  type ConversionDesk,
  type EngineNews,
  type Exchange,
  type Instrument,
  type MarketStream,
  type Millis,
  type Money,
  type Observation,
  type Outcome,
  type PullRules,
  type RegimeRules,
  type RiskLimits,
  type SecretText,
  type SharedOptions,
  type StreamTransport,
  type Transport,
  type VenueClient,
} from '../core/index.ts';
import {
  booksOf,
  jointCurrencyOf,
  edgeProblem,
  externalReferenceOf,
  leavesTransfers,
  liveSourcesOf,
  pathOfText,
  placeOf,
  type Config,
} from '../config.ts';
import type { HedgeSetup } from '../hedge/index.ts';
import { aheadUntil, storedNonces } from '../live/state/durableNonces.ts';
import type { Failed } from '../live/failedRequest.ts';
import type { Journal } from '../live/state/journal.ts';
import { nonceMarkOf } from '../live/state/stateSummary.ts';
import type { PublicBooks } from '../live/market/venuePriceSource.ts';
import type { PastTradesReads, TradeLists } from '../live/market/pastTrades.ts';
import type { ReferenceOptions } from '../live/market/reference.ts';
import type { Rules } from '../live/rules.ts';
import type { RfqReferenceSetup } from '../live/market/rfqReferenceReads.ts';
import { fairValueProblem, kindOf, withFairValue, type OwnCall } from '../../strategies/index.ts';
import { FeesTooHigh, UsageError } from './usageError.ts';
import { accountName, type ElsewhereAccess } from './elsewhere/access.ts';
import { elsewhereBookOf } from './elsewhereHedging.ts';
import { feedOf } from './feeds.ts';
import { recordingsSource, tapeSource } from './history/pastTradesSources.ts';
import { venueNamed, venueOf } from './venueRegistry.ts';

/** Access to an exchange: its addresses and the API key of an account. */
export type VenueAccess = {
  readonly restUrl: string;
  readonly key: string;
  readonly secret: SecretText;
  /** Speed of the clocks of the venue and the bot, as a multiple of real time. */
  readonly speed: number;
  /**
   * Start time of an exchange that loses all data when it stops, or opening time of a paper account. Orders from before
   * this time are not looked up.
   */
  readonly born?: Millis;
  /** Transport to an exchange in the same process, instead of sockets to `restUrl`. */
  readonly transport?: Transport;
  /** Address for conversions, if it differs from `restUrl`. */
  readonly rfqUrl?: string;
  /** Address for webhook registration, if it differs from `restUrl`. */
  readonly webhookUrl?: string;
  /** Address of the stream. If neither this address nor a stream transport is set, books are polled. */
  readonly streamUrl?: string;
  readonly streamTransport?: StreamTransport;
  /** Access to the other exchange, if configured. */
  readonly elsewhere?: ElsewhereAccess;
  /**
   * Present only in paper trading: uses of the account, the followed exchange, its public client, and the fill model.
   */
  readonly paper?: {
    /** Number of processes that have used the account. */
    readonly opens: number;
    /** Id of this start of the account. */
    readonly start: string;
    readonly follows: string;
    readonly followed: PublicBooks & TradeLists;
    readonly fills: string;
    outcome(): string;
  };
};

/**
 * Minimum deadline of a request, in wall time. On an accelerated clock, the configured request timeout is divided by
 * the speed, but a busy machine must still be able to answer.
 */
const DEADLINE_MIN_MS = 500;

type ClientChoices = {
  readonly journal?: Journal;
  /** Lower bound of every nonce, if there is no journal. */
  readonly nonceAbove?: bigint;
  readonly onRequest?: (seen: Observation) => void;
};

/** Returns a client for the venue. With a journal, the nonces of the client are higher than those of earlier runs. */
export const clientOf = (
  config: Config,
  at: VenueAccess,
  clock: Clock,
  seed: number,
  options: ClientChoices = {},
): VenueClient => venueOf(config).connect(connectionTo(config, at, clock, seed, options));

/** Whether the exchange rejected a request because of its nonce or its credentials. */
export const isNonceRefused = (outcome: Outcome<unknown>): boolean =>
  outcome.kind !== 'done' && outcome.meaning === 'nonce';

/**
 * Sends a request, and once more with a new nonce if its nonce is rejected, because a later request of another process
 * may have overtaken it. More rejected nonces could lock the key.
 */
export async function sentBesideBot<T>(send: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  const outcome = await send();
  return isNonceRefused(outcome) ? send() : outcome;
}

/**
 * Returns a client for the reads and test cancels of a command beside a running bot with the same key. `there`: access
 * to the other exchange, if the client is for that exchange. The client's nonces derive from the clock: higher nonces
 * would make those of the bot invalid. After two rejected nonces in sequence, the client sends no more requests with
 * the key, and answers each with the second rejection. If the nonces of the bot are or can be ahead of the clock, the
 * rejection says so.
 */
export function clientBesideBot(
  client: VenueClient,
  { config, clock, there }: { readonly config: Config; readonly clock: Clock; readonly there?: ElsewhereAccess },
): VenueClient {
  const venue = there === undefined ? venueOf(config) : venueNamed(there.venue);
  const explained = async <T>(outcome: Outcome<T>): Promise<Outcome<T>> => {
    if (venue.wantsRisingNonces !== true || outcome.kind === 'done' || !isNonceRefused(outcome)) return outcome;
    const mark = await nonceMarkOf(config.state.dir, clock, there && accountName(there)).catch(() => 0n);
    const ahead = aheadUntil(mark, clock.now());
    if (ahead === null) return outcome;
    const after = new Date(ahead.until).toISOString();
    const remedy = ahead.isCertain
      ? `the bot uses this key, and its nonces are ahead of this machine's clock; give this command a second key of the account, or run the command again after ${after}`
      : `a bot that restarted within the last minute can have nonces ahead of this machine's clock; run this command again after ${after}; if the exchange rejects the nonce then too, another program uses this key`;
    return { ...outcome, remedy };
  };
  let rejected: Failed | null = null;
  const twice = async <T>(send: () => Promise<Outcome<T>>): Promise<Outcome<T>> => {
    if (rejected !== null) return rejected;
    const outcome = await explained(await sentBesideBot(send));
    if (outcome.kind !== 'done' && isNonceRefused(outcome)) rejected = outcome;
    return outcome;
  };
  const { account } = client;
  return {
    ...client,
    balances: query => twice(() => client.balances(query)),
    fees: () => twice(() => client.fees()),
    openOrders: query => twice(() => client.openOrders(query)),
    userTrades: query => twice(() => client.userTrades(query)),
    orderTrades: of => twice(() => client.orderTrades(of)),
    lookUp: of => twice(() => client.lookUp(of)),
    cancel: of => twice(() => client.cancel(of)),
    ...(account && { account: { ...account, id: () => twice(() => account.id()) } }),
  };
}

/** Returns the connection parameters with which `clientOf` creates a client. */
export function connectionTo(
  config: Config,
  at: VenueAccess,
  clock: Clock,
  seed: number,
  { journal, nonceAbove = 0n, onRequest }: ClientChoices = {},
): Connection {
  const { budgets, requestTimeoutMs, authentication } = config.exchange;
  return {
    clock,
    random: randomOf(seed),
    book: config.book,
    ...at,
    deadlineMs: Math.max(Math.min(DEADLINE_MIN_MS, requestTimeoutMs), requestTimeoutMs / at.speed),
    credentials: {
      key: at.key,
      secret: at.secret,
      authentication,
      ...(journal ? storedNonces(journal, clock) : { nonceAbove, durable: unstored }),
    },
    budgets: { public: budgets.publicPerMinute, private: budgets.privatePerMinute },
    onRequest,
  };
}

/** Returns a client without a key, for market data only. `deadlineMs`: lower bound of the request deadline. */
export function publicClientOf(
  config: Pick<Config, 'exchange'>,
  restUrl: string,
  clock: Clock,
  seed: number,
  options: { readonly deadlineMs?: Millis; readonly onRequest?: (seen: Observation) => void } = {},
): VenueClient {
  const { budgets, requestTimeoutMs } = config.exchange;
  return venueOf(config).connect({
    clock,
    random: randomOf(seed),
    restUrl,
    deadlineMs: Math.max(requestTimeoutMs, options.deadlineMs ?? 0),
    budgets: { public: budgets.publicPerMinute, private: budgets.privatePerMinute },
    onRequest: options.onRequest,
  });
}

/** Returns the stream of the configured book; `undefined` if the stream is disabled or the venue has none. */
export function marketStreamOf(
  config: Config,
  { streamUrl: url, streamTransport: transport }: VenueAccess,
  clock: Clock,
  seed: number,
  exchange: Pick<Exchange, 'orderBook'>,
): MarketStream | undefined {
  if (!config.exchange.stream) return undefined;
  const of = { clock, random: randomOf(seed ^ 0x57), book: config.book, exchange };
  const { marketStream } = venueOf(config);
  if (transport) return marketStream?.({ ...of, transport });
  return url === undefined ? undefined : marketStream?.({ ...of, url });
}

/**
 * Returns the books and feeds of the configured reference price, with a function that closes the feeds; `undefined` if
 * no reference price is configured, or if the reference price has live sources (`livePricesOf`).
 */
export function referenceOf(config: Config): (ReferenceOptions & { close(): Promise<void> }) | undefined {
  const elsewhere = externalReferenceOf(config);
  if (elsewhere === null || liveSourcesOf(config) !== null) return undefined;
  const { legs, everyMs } = elsewhere;
  const feeds = new Map([...elsewhere.feeds].map(([book, feed]) => [book, feedOf(feed)]));
  const close = async (): Promise<void> => {
    for (const feed of feeds.values()) await feed.close();
  };
  return { legs, everyMs, feeds, close };
}

/**
 * Returns the engine of one run. `others` are the rules of the books of the configuration after the first, in order.
 * `ownCall` makes each call into a strategy file; if omitted, without a time limit.
 * @throws UsageError if the spreads cannot cover the account's fees, or if the book's units cannot represent a price or
 * amount of the configuration.
 */
export function engineOf(
  config: Config,
  rules: Rules,
  run: number,
  onNews?: (news: EngineNews, symbol: string) => void,
  isTraced = false,
  others: readonly Rules[] = [],
  ownCall?: OwnCall,
): Engine {
  const all = [rules, ...others];
  const books = booksOf(config);
  if (books.length !== all.length)
    throw new UsageError(
      `expected the rules of ${counted(books.length, 'book')} (${books.map(({ book }) => book).join(', ')}), found ${all.length}; this command supports only a configuration with one book`,
    );
  books.forEach((one, i) => {
    const small = belowOneLot(one, all[i]!.instrument);
    if (small !== null) throw new UsageError(small);
  });
  try {
    return new Engine(
      sharedOptionsOf(config, all, run, onNews, isTraced),
      books.map((one, i) => bookOptionsOf(one, all[i]!, ownCall)),
    );
  } catch (error) {
    const path = error instanceof TooLarge ? pathOfText(config, error.text) : null;
    if (!(error instanceof TooLarge) || path === null) throw error;
    const { text, largest, unit } = error;
    throw new UsageError(
      `${placeOf(config, path)}: expected at most ${largest}, the largest number that Puntas can count exactly in units of ${unit}, found ${text}`,
    );
  }
}

/** Configuration paths of amounts that must be 0 or at least one lot, because a smaller amount would round to zero. */
const AMOUNTS: readonly (readonly string[])[] = [
  ['strategy', 'amount'],
  ['strategy', 'levelAmountStep'],
  ['strategy', 'optimization', 'depthAmount'],
  ['limits', 'positionMax'],
  ['limits', 'orderAmountMax'],
  ['pull', 'print', 'amount'],
  ['regimes', 'wide', 'depthMin'],
];

/**
 * Returns an error line for an amount of the configuration that is positive but below one lot of the book; `null` if
 * there is no such amount.
 */
function belowOneLot(config: Config, instrument: Instrument): string | null {
  for (const path of AMOUNTS) {
    const text = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], config);
    if (!isDecimalText(text)) continue;
    const amount = moneyOf(text);
    if (amount > 0n && amount < instrument.lotMoney)
      return `${placeOf(config, path)}: expected at least ${instrument.lot}, one lot of ${instrument.symbol}, found ${text}, which rounds to zero`;
  }
  return null;
}

function bookOptionsOf(config: Config, rules: Rules, ownCall?: OwnCall): BookOptions {
  const { instrument } = rules;
  const tooNear = edgeProblem(config, rules.makerRate);
  if (tooNear !== null) throw new FeesTooHigh(tooNear, rules.tier ? describeTier(rules.tier) : null);
  const problem = fairValueProblem(config.fairValue, instrument);
  if (problem !== null) throw new UsageError(problem);
  const { strategy, inventory, markouts } = config;
  const livePrice = liveSourcesOf(config)?.rules;
  const kind = kindOf(strategy, ownCall);
  const elsewhere = elsewhereBookOf(config, hedgeBandMax(config));
  return {
    instrument,
    strategy: withFillSamples(
      config.fillSamples && { ...config.fillSamples, levelsMax: config.limits.ordersMax },
      withRfqReference(
        config.rfqReference,
        withFairValue(
          config.fairValue,
          withNextTier(config.nextTierCounts, kind.make(strategy, instrument)),
          instrument,
        ),
      ),
      instrument,
      // Without the run: a restart must not draw further samples.
      seedFromText(`${config.instance} ${config.book}`),
    ),
    limits: limitsOf(config, instrument),
    halts: {
      ...config.halts,
      drawdownMax: moneyOf(config.limits.drawdownMax),
      dayLossMax: moneyOf(config.limits.dayLossMax),
    },
    tolerance: kind.tolerance(strategy),
    target: inventory.target === undefined ? null : amountFloor(instrument, inventory.target),
    ...(markouts ? { adverseSelection: markouts } : {}),
    ...(livePrice ? { livePrice } : {}),
    ...(elsewhere ? { elsewhere } : {}),
    ...(config.pull ? { pull: pullOf(config.pull, instrument) } : {}),
    regimes: regimesOf(config, instrument),
  };
}

function sharedOptionsOf(
  config: Config,
  rules: readonly Rules[],
  run: number,
  onNews: ((news: EngineNews, symbol: string) => void) | undefined,
  isTraced: boolean,
): SharedOptions {
  const { instance, timing, accountLimits, crossRates, jointInventory } = config;
  return {
    instance,
    run,
    timing: {
      requestDelayMaxMs: timing.requestDelayMaxMs,
      tradeReportDelayMaxMs: timing.tradeReportDelayMaxMs,
      cancelAgainMs: timing.privatePollMs,
      decideEveryMs: timing.decideEveryMs,
      lookEveryMs: Math.min(LOOK_EVERY_MAX_MS, timing.privatePollMs),
      privateStaleAfterMs: Math.max(ACCOUNT_STALE.minMs, ACCOUNT_STALE.reads * timing.privatePollMs),
      listWaitMs: leavesTransfers(config) ? Infinity : timing.transferListDelayMaxMs,
    },
    ...(accountLimits?.currencies ? { currencyLimits: currencyLimitsOf(accountLimits.currencies, rules) } : {}),
    ...(accountLimits?.value && canBeValued(accountLimits.value.currency, rules)
      ? { valueLimit: { currency: accountLimits.value.currency, max: moneyOf(accountLimits.value.max) } }
      : {}),
    ...(jointInventory ? { jointInventory: { ...jointInventory, currency: jointCurrencyOf(config) } } : {}),
    ...(crossRates ? { crossRates } : {}),
    ...(onNews ? { onNews } : {}),
    isTraced,
  };
}

/**
 * Returns the limits of the base currencies of the given books. A preview creates an engine of one book, whose
 * configuration still has the limits of all.
 */
function currencyLimitsOf(
  currencies: Readonly<Record<string, string>>,
  books: readonly Rules[],
): ReadonlyMap<string, Money> {
  const held = new Set(books.map(({ instrument }) => instrument.major));
  const limited = Object.entries(currencies).filter(([currency]) => held.has(currency));
  return new Map(limited.map(([currency, most]) => [currency, moneyOf(most)]));
}

/**
 * Whether the given books lead to a currency. The books of a configuration always do; the one book of a preview may
 * not, and has no limit on the value of the account.
 */
function canBeValued(currency: string, books: readonly Rules[]): boolean {
  const symbols = books.map(({ instrument }) => instrument.symbol);
  return booksApartFrom(currency, symbols).length === 0;
}

/** Returns the setup of hedges with the conversion desk; `undefined` if hedging is not configured. */
export function hedgeOf(config: Config, client: VenueClient): HedgeSetup | undefined {
  const plan = hedgePlanOf(config);
  if (plan === undefined) return undefined;
  const needsDesk = plan.routes !== undefined || plan.venues.some(way => way === 'rfq' || way === 'conversion');
  return { ...plan, desk: needsDesk ? deskOf(client, 'hedge') : (client.desk ?? NO_DESK) };
}

/** Desk of an exchange without conversions, for hedges that need none. */
const NO_DESK: ConversionDesk = {
  pairs: noConversions,
  offer: noConversions,
  accept: noConversions,
  state: noConversions,
  find: noConversions,
};

function noConversions(): Promise<Extract<Outcome<never>, { kind: 'refused' }>> {
  return Promise.resolve({ kind: 'refused', code: 'not-sent', message: 'this exchange has no conversions' });
}

/** Returns the setup of RFQ prices as a reference; `undefined` if not configured. */
export function rfqReferenceOf({ rfqReference }: Config, client: VenueClient): RfqReferenceSetup | undefined {
  return (
    rfqReference && { ...rfqReference, amount: moneyOf(rfqReference.amount), desk: deskOf(client, 'rfqReference') }
  );
}

/**
 * Returns the conversion desk; `key` names the configuration key in the error.
 * @throws UsageError if the exchange has no conversions.
 */
function deskOf({ desk }: VenueClient, key: string): ConversionDesk {
  if (desk) return desk;
  throw new UsageError(`${key}: this exchange has no conversions; remove the key`);
}

/**
 * Maximum inventory of the band model, in multiples of the order amount; a larger inventory has the same effect on the
 * band.
 */
const ORDERS_MAX = 10_000;

/** Returns the largest band of the hedges, in the base currency; 0 without hedges. */
function hedgeBandMax(config: Config): Money {
  const { hedge, strategy } = config;
  if (!hedge) return money(0n);
  const orders = hedgePlanOf(config)?.bandModel?.ordersMax;
  if (hedge.band !== undefined || orders === undefined) return moneyOf(hedge.band ?? '0');
  return money(moneyOf(strategy.amount) * BigInt(Math.ceil(orders)));
}

/** Returns the hedge setup without a desk; `undefined` if hedging is not configured. */
export function hedgePlanOf({ hedge, timing, strategy, limits }: Config): Omit<HedgeSetup, 'desk'> | undefined {
  if (!hedge) return undefined;
  const { venues, band, residual, risk, flow, quoteLifeMinMs, costDayMax, elsewhere: _there, ...others } = hedge;
  const [order, most] = [moneyOf(strategy.amount), moneyOf(limits.positionMax)];
  const isFollowed = band === undefined && risk !== undefined && flow !== undefined;
  return {
    venues,
    bandModel: isFollowed
      ? { ...flow, order, ordersMax: Math.min(Number(most / order), ORDERS_MAX), risk: Number.parseFloat(risk) }
      : undefined,
    rules: {
      ...others,
      band: band === undefined ? most : moneyOf(band),
      residual: moneyOf(residual ?? '0'),
      costDayMax: costDayMax === undefined ? undefined : moneyOf(costDayMax),
    },
    ...others,
    quoteLifeMinMs,
    requestDelayMaxMs: timing.requestDelayMaxMs,
    tradeReportDelayMaxMs: timing.tradeReportDelayMaxMs,
  };
}

function pullOf({ leader, print }: NonNullable<Config['pull']>, instrument: Instrument): PullRules {
  return {
    ...(leader ? { leader } : {}),
    ...(print ? { print: { ...print, lots: amountFloor(instrument, print.amount) } } : {}),
  };
}

/** Returns the regime rules; `null` if they are not configured, as in recordings of versions without regimes. */
function regimesOf({ regimes, limits }: Config, instrument: Instrument): RegimeRules | null {
  if (!regimes) return null;
  const { leaveShare, calmMs, wide, reduceOnly } = regimes;
  const { positionShare, drawdownShare } = reduceOnly ?? {};
  const millionths = BigInt(Math.round((drawdownShare ?? 0) * 1e6));
  return {
    leaveShare,
    calmMs,
    wide: wide
      ? {
          factor: wide.factor,
          ...(wide.volatilityBps !== undefined && {
            volatility: { bps: wide.volatilityBps, memoryMs: wide.volatilityMemoryMs },
          }),
          ...(wide.marketSpreadBps !== undefined && { marketSpreadBps: wide.marketSpreadBps }),
          ...(wide.depthMin !== undefined && {
            thin: { lots: amountFloor(instrument, wide.depthMin), withinBps: wide.depthBps },
          }),
        }
      : null,
    reduceOnly: reduceOnly
      ? {
          ...(positionShare !== undefined && { positionShare }),
          ...(drawdownShare !== undefined && {
            drawdown: money((moneyOf(limits.drawdownMax) * millionths) / 1_000_000n),
          }),
        }
      : null,
  };
}

const limitsOf = ({ limits, timing }: Config, instrument: Instrument): RiskLimits => ({
  positionMax: amountFloor(instrument, limits.positionMax),
  orderValueMax: valueFloor(instrument, limits.orderValueMax),
  ...(limits.orderAmountMax === undefined ? {} : { orderAmountMax: amountFloor(instrument, limits.orderAmountMax) }),
  ordersMax: limits.ordersMax,
  collarBps: limits.collarBps,
  ...(limits.priceMove === undefined ? {} : { priceMove: limits.priceMove }),
  staleAfterMs: timing.staleAfterMs,
});

/**
 * Returns the sources of the history of a strategy file: the bot's recordings and the tape of the configuration, or in
 * paper trading, whose own trades are simulated, the tape and the lists of the followed exchange.
 */
export function pastTradesOf({ state, strategy }: Config, { paper }: Pick<VenueAccess, 'paper'>): PastTradesReads {
  const tape = 'file' in strategy && strategy.historyTape !== undefined ? [tapeSource(strategy.historyTape)] : [];
  return paper === undefined
    ? { sources: [recordingsSource(state.dir), ...tape] }
    : { sources: tape, lists: paper.followed };
}
