/**
 * Quotes that a configuration would place now, computed by an engine with the data that a start reads. Places nothing.
 */
import {
  counted,
  moneyOf,
  pairOf,
  placeInName,
  textOfFailure,
  textOfMoney,
  tickerInName,
  type Balance,
  type BookEngine,
  type Clock,
  type Engine,
  type EngineEvent,
  type Exchange,
  type Money,
  type OrderReport,
  type Preview,
  type RiskContext,
  type VenueClient,
} from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { bookLatchIn } from '../../live/safety/bookLatch.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { readOpening } from '../../live/loop/opening.ts';
import { rateOf } from '../../hedge/index.ts';
import { missingBalance, Reads } from '../../live/account/reads.ts';
import { unreadableOf } from '../../live/unreadableRows.ts';
import { isFailed, type Failed } from '../../live/failedRequest.ts';
import type { Log } from '../../live/log.ts';
import { readLivePrices } from '../../live/market/livePriceReads.ts';
import { readReference } from '../../live/market/reference.ts';
import type { Rules } from '../../live/rules.ts';
import { historyOf } from '../../live/loop/history.ts';
import { engineOf, pastTradesOf, referenceOf, type VenueAccess } from '../../wiring/bot.ts';
import { elsewhereNameOf, rateSourcesOf, withoutElsewhere } from '../../wiring/elsewhereHedging.ts';
import { livePricesOf, type SourceAccess } from '../../wiring/feeds.ts';
import { smallestUntilOf } from '../untried/untried.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { limitedCall } from '../../../strategies/index.ts';
import { bookWaiting, bookArrivals, restoreIn, uncountedIn, type StoredState, type Uncounted } from './storedState.ts';

export type PreviewNow = {
  readonly preview: Preview;
  /** Sentences about the history of a strategy file: unused sources, and a nearly empty history. */
  readonly historyWarnings: readonly string[];
  /** Error of the strategy file; `null` if there is none. */
  readonly failure: string | null;
  readonly riskContext: RiskContext;
  readonly balances: readonly Balance[];
  /**
   * Number of live orders of this bot, from a killed or running process. The preview treats them as canceled, because a
   * start cancels them.
   */
  readonly own: number;
  /**
   * Amounts of base currency in the ledger that a run counts as held but the preview does not, because the balances on
   * the other exchange could not be read. If the ledger is unreadable, one text that says this.
   */
  readonly uncounted: readonly Uncounted[];
  /** Whether the basis of each reference source counts as 0, because no earlier run has measured it. */
  readonly isBasisZero: boolean;
  /**
   * Amounts by which the balances differ from the ledger, such as `-0.5 btc`; empty if there are none. A run places no
   * quote until it has found the cause.
   */
  readonly differences: readonly string[];
};

const isOwn = ({ book, originId }: OrderReport, config: Config): boolean =>
  book === config.book && originId?.startsWith(`${config.instance}-`) === true;

/** Returns the balance as if the bot's orders locked nothing. */
function unlocked(balance: Balance, own: readonly OrderReport[]): Balance {
  const { currency, locked } = balance;
  const one = moneyOf('1');
  const freed = own.reduce((sum, { book, side, price = '0', unfilledAmount }) => {
    const [major, minor] = pairOf(book);
    if (currency !== (side === 'sell' ? major : minor)) return sum;
    return sum + (side === 'sell' ? moneyOf(unfilledAmount) : (moneyOf(unfilledAmount) * moneyOf(price)) / one);
  }, 0n);
  const left = moneyOf(locked) - freed;
  return { ...balance, locked: textOfMoney((left > 0n ? left : 0n) as Money) };
}

/**
 * Returns a configuration in which a basis that is not measured yet counts as 0, because a preview has no time to
 * measure it.
 */
function withoutBasis(config: Config): Config {
  const { reference } = config;
  if (reference?.basis === undefined) return config;
  return { ...config, reference: { ...reference, basis: { ...reference.basis, unknown: 'zero' } } };
}

/** Log that writes nothing, because the preview itself reports missing data. */
const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Balances on the other exchange as an engine event; `previewNow` adds `rate`, the value of the quote currency there.
 */
export type BalancesThere = BalancesEvent;
type BalancesEvent = Extract<EngineEvent, { kind: 'balances' }>;

/**
 * Reads the balances on the other exchange for a preview. Rejects with one line for the operator if they cannot be
 * read.
 */
export async function balancesThere(
  { elsewhere }: Config,
  client: Pick<VenueClient, 'balances'>,
  clock: Clock,
  stored: StoredState,
): Promise<BalancesThere> {
  if (elsewhere === undefined) throw new Error('expected the section `elsewhere` in the configuration, found none');
  const place = elsewhereNameOf(elsewhere);
  const startedAt = clock.now();
  const read = await client.balances({ also: bookedCurrencies(stored, place) });
  if (read.kind !== 'done') throw unreadThere(place, read);
  const failed = missingBalance(read.value, unreadableOf(read), pairOf(elsewhere.book));
  if (failed !== null) throw unreadThere(place, failed);
  return { kind: 'balances', at: clock.now(), startedAt, quiet: true, place, balances: read.value };
}

/** Returns the currencies in the ledger of an exchange; `place` is `null` for the bot's own. */
const bookedCurrencies = (stored: StoredState, place: string | null): readonly string[] => {
  const names = stored === null || 'unreadable' in stored ? [] : [...(stored.ledger?.causes.keys() ?? [])];
  return names.filter(name => placeInName(name) === place).map(tickerInName);
};

const unreadThere = (place: string, failed: Failed): UsageError =>
  new UsageError(
    `the balances at ${place} could not be read: ${textOfFailure(failed, `check the key for ${place} (PUNTAS_ELSEWHERE_API_KEY, PUNTAS_ELSEWHERE_API_SECRET)`)}`,
    1,
  );

/**
 * Returns a preview of the quotes that a run would place if it continued `stored`. Sources of the reference price
 * without a measured basis count with a basis of 0. `there` has the balances on the other exchange; `null` shows the
 * quotes without hedges there and without `stored`, as if inventory were at its target. Rejects with one line for the
 * operator if the exchange cannot be read, or if the quotes cannot earn the account's fees.
 */
export async function previewNow(
  config: Config,
  client: Exchange,
  rules: Rules,
  clock: Clock,
  {
    venue,
    there,
    stored,
    ...access
  }: SourceAccess & {
    readonly venue: Pick<VenueAccess, 'paper' | 'restUrl' | 'key'>;
    readonly there: BalancesThere | null;
    readonly stored: StoredState;
  },
): Promise<PreviewNow> {
  const around = referenceOf(config);
  const isWhole = there !== null || config.hedge?.elsewhere === undefined;
  const left = isWhole && stored !== null && !('unreadable' in stored) ? stored : null;
  try {
    const time = () => clock.now();
    const whole = withoutBasis(there === null ? withoutElsewhere(config) : config);
    const engine = engineOf(whole, rules, 0, undefined, false, [], limitedCall);
    const opening = await readOpening(client, time, bookedCurrencies(left, null));
    const reads =
      left === null
        ? new Reads(client, config.book, opening.lastTid, time)
        : new Reads(client, config.book, left.marker, time, 0, [...(left.ledger?.seen.keys() ?? [])]);
    const open = await reads.openOrders();
    const own = isFailed(open) ? [] : open.orders.filter(order => isOwn(order, config));
    const driver = { clock, log: SILENT, time };
    const smallestUntil = smallestUntilOf(config, venue);
    if (left !== null) {
      restoreIn(engine, left, rules.instrument, time(), smallestUntil);
      bookWaiting(engine, config, driver);
    } else engine.step({ kind: 'restore', at: time(), orders: [], ledger: null, smallestUntil });
    engine.step({ kind: 'rules', at: time(), ...rules });
    const beside = { pastTrades: pastTradesOf(config, venue) };
    const historyWarnings: string[] = [];
    const log: Log = { ...SILENT, warn: (_, text) => void historyWarnings.push(text) };
    const past = await historyOf({ clock, log, venue: { exchange: client }, beside }, engine.book, rules, Infinity);
    if (past !== null) {
      engine.step(past);
      if (config.exchange.kind === 'embedded') historyWarnings.push(freshHistoryText(past, engine.book));
    }
    const trades = await reads.trades();
    if (isFailed(trades)) throw unreadHere(trades);
    const [before, after] = splitAt(trades, left === null ? undefined : opening.lastTid);
    if (before !== null) engine.step(before);
    const home: BalancesEvent = {
      kind: 'balances',
      at: time(),
      startedAt: opening.startedAt,
      quiet: true,
      balances: opening.balances
        .filter(({ currency }) => left?.uncounted.includes(currency) !== true)
        .map(balance => unlocked(balance, own)),
    };
    engine.step(home);
    // Later trades are in the ledger, but not in these balances.
    const differences = differencesOf(engine.account);
    engine.step({ ...after, at: time() });
    for (const read of [
      ...(around ? [readReference({ exchange: client, instrument: () => rules.instrument, time }, around)] : []),
      isFailed(open) ? open : { ...open, orders: open.orders.filter(order => !isOwn(order, config)) },
      reads.publicTrade(rules.instrument),
      reads.book(rules.instrument),
    ]) {
      const event = await read;
      if (isFailed(event)) throw unreadHere(event);
      if (event?.kind === 'feed failed') throw new UsageError(`the feed ${event.name} has no price: ${event.why}`, 1);
      if (event !== null) engine.step(event);
    }
    const newLivePrices = livePricesOf(config, access, clock, 0);
    if (newLivePrices) for (const event of await readLivePrices(newLivePrices(), driver)) engine.step(event);
    if (there !== null) {
      // The other exchange's quote currency is valued with the sources of the reference price, so the engine receives
      // the balances of that exchange only after the sources are read.
      const rate = rateOf(rateSourcesOf(config), engine.book.livePrice(time())?.sources ?? []);
      const rated = { ...there, ...(rate === null ? {} : { rate }) };
      engine.step({ ...rated, at: time() });
      if (left !== null) bookArrivals(engine, config, [home, rated], driver);
    }
    const { dir: stateDir } = config.state;
    const reducing = latchIn(stateDir).readReduce() ?? bookLatchIn(stateDir, config.book).readReduce();
    if (reducing !== null) engine.step({ kind: 'reduce', at: time(), reason: reducing.reason });
    const at = time();
    // The preview runs the strategy, which may fail.
    const preview = engine.book.preview(at);
    return {
      preview,
      historyWarnings,
      failure: engine.quoteLogs.find(log => log.failure !== null)?.failure ?? null,
      riskContext: engine.book.riskContext(at),
      balances: opening.balances,
      own: own.length,
      uncounted: left === null ? uncountedIn(config, stored) : [],
      isBasisZero: config.reference?.basis !== undefined && Object.keys(left?.ledger?.bases ?? {}).length === 0,
      differences: [...differences, ...(engine.elsewhere === null ? [] : differencesOf(engine.elsewhere.view))],
    };
  } finally {
    await around?.close();
  }
}

/** Returns a sentence about the trades that a strategy file gets on an embedded exchange, which has just started. */
const freshHistoryText = (
  { trades }: Pick<Extract<EngineEvent, { kind: 'history' }>, 'trades'>,
  { historyMs }: Pick<BookEngine, 'historyMs'>,
): string =>
  `the strategy file needs the trades of ${Math.ceil(historyMs / 1_000)} s, and gets ${counted(trades.length, 'trade')}: the embedded exchange has just started, so its history is nearly empty`;

/** Returns the differences of an account, as text; none while a conversion in flight may explain them. */
const differencesOf = (account: Engine['account']): readonly string[] =>
  account.isConverting
    ? []
    : account.differences().map(({ currency, difference }) => `${textOfMoney(difference)} ${currency}`);

const unreadHere = (failed: Failed): UsageError =>
  new UsageError(`the exchange could not be read: ${textOfFailure(failed)}`, 1);

type TradesEvent = Extract<EngineEvent, { kind: 'trades' }>;

/**
 * Splits trades into those up to `tid`, which the balances include, and later ones. Without `tid`, all trades are later
 * than the balances.
 */
function splitAt(
  event: TradesEvent,
  tid: string | undefined,
): readonly [before: TradesEvent | null, after: TradesEvent] {
  if (tid === undefined) return [null, event];
  const isBefore = (trade: { readonly tid: string }) => BigInt(trade.tid) <= BigInt(tid);
  const before = { ...event, complete: false, trades: event.trades.filter(isBefore) };
  return [before, { ...event, trades: event.trades.filter(trade => !isBefore(trade)) }];
}
