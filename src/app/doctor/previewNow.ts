/**
 * Quotes that a configuration would place now, computed by an engine with the data that a start reads. Places nothing.
 */
import {
  bookOutCommand,
  moneyOf,
  pairOf,
  placeInName,
  sumOfCauses,
  textOfError,
  textOfFailure,
  textOfMoney,
  tickerInName,
  TRANSIT,
  type Balance,
  type Clock,
  type EngineEvent,
  type Exchange,
  type Money,
  type OrderReport,
  type Preview,
  type RiskContext,
  type VenueClient,
} from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { readOpening } from '../../live/loop/opening.ts';
import { rateOf } from '../../live/loop/hedgePlace.ts';
import { missingBalance, Reads } from '../../live/account/reads.ts';
import { unreadableOf } from '../../live/unreadableRows.ts';
import { isFailed, type Failed } from '../../live/failedRequest.ts';
import type { Log } from '../../live/log.ts';
import { ledgerFileIn, type LedgerFile } from '../../live/state/ledgerFile.ts';
import { readLivePrices } from '../../live/market/livePriceReads.ts';
import { readReference } from '../../live/market/reference.ts';
import type { Rules } from '../../live/rules.ts';
import { engineOf, referenceOf } from '../../wiring/bot.ts';
import { placeNameOf, rateSourcesOf, withoutPlace } from '../../wiring/place.ts';
import { livePricesOf, type SourceAccess } from '../../wiring/feeds.ts';
import { UsageError } from '../../wiring/usageError.ts';

export type PreviewNow = {
  readonly preview: Preview;
  readonly riskContext: RiskContext;
  readonly balances: readonly Balance[];
  /**
   * Number of live orders of this bot, from a killed or running process. The preview treats them as canceled, because a
   * start cancels them.
   */
  readonly own: number;
  /**
   * Amounts of base currency in the ledger that a run counts as held but the preview does not, because they are on no
   * exchange that was read. If the ledger is unreadable, one text that says this.
   */
  readonly uncounted: readonly Uncounted[];
};

/** Amount that a run counts, such as `0.03 btc in transit`, with the remedy as a clause. */
type Uncounted = { readonly text: string; readonly remedy: string };

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
export type BalancesThere = Extract<EngineEvent, { kind: 'balances' }>;

/**
 * Reads the balances on the other exchange for a preview. Rejects with one line for the operator if they cannot be
 * read.
 */
export async function balancesThere(
  { elsewhere }: Config,
  client: Pick<VenueClient, 'balances'>,
  clock: Clock,
): Promise<BalancesThere> {
  if (elsewhere === undefined) throw new Error('expected the section `elsewhere` in the configuration, found none');
  const place = placeNameOf(elsewhere);
  const startedAt = clock.now();
  const read = await client.balances();
  if (read.kind !== 'done') throw unreadThere(place, read);
  const failed = missingBalance(read.value, unreadableOf(read), pairOf(elsewhere.book));
  if (failed !== null) throw unreadThere(place, failed);
  return { kind: 'balances', at: clock.now(), startedAt, quiet: true, place, balances: read.value };
}

const unreadThere = (place: string, failed: Failed): UsageError =>
  new UsageError(
    `the balances at ${place} could not be read: ${textOfFailure(failed, `check the key for ${place} (PUNTAS_ELSEWHERE_API_KEY, PUNTAS_ELSEWHERE_API_SECRET)`)}`,
    1,
  );

/**
 * Returns the amounts of base currency in the ledger that a run counts as held but that are on no exchange that was
 * read. If the ledger is unreadable, returns one text that says this.
 */
async function uncountedIn(config: Config, clock: Clock, read: string | null): Promise<readonly Uncounted[]> {
  const { state, book, elsewhere, hedge } = config;
  const own = hedge?.elsewhere === undefined || elsewhere === undefined ? null : placeNameOf(elsewhere);
  let ledger: LedgerFile | null;
  try {
    ledger = await ledgerFileIn(state.dir, clock);
  } catch (error) {
    const text = `any amounts on other exchanges (the ledger of ${state.dir} is unreadable: ${textOfError(error)})`;
    return [{ text, remedy: 'run puntas doctor again' }];
  }
  return [...(ledger?.causes ?? [])].flatMap(([name, causes]) => {
    const [currency, place, amount] = [tickerInName(name), placeInName(name), sumOfCauses(causes)];
    if (place === null || place === read || amount === 0n || currency !== pairOf(book)[0]) return [];
    const text = `${textOfMoney(amount)} ${currency} ${place === TRANSIT ? 'in transit' : `at ${place}`}`;
    const remedy =
      place === TRANSIT
        ? 'run puntas doctor again after the transfer has arrived'
        : place === own
          ? `run puntas doctor again when the balances at ${place} can be read`
          : `remove from the ledger any amount that is no longer at ${place}, for example with ${bookOutCommand(name, amount)}`;
    return [{ text, remedy }];
  });
}

/**
 * Returns a preview of the quotes. Sources of the reference price count with a basis of 0. `there` has the balances on
 * the other exchange; `null` shows the quotes without hedges there, as if inventory were at its target. Rejects with
 * one line for the operator if the exchange cannot be read, or if the quotes cannot earn the account's fees.
 */
export async function previewNow(
  config: Config,
  client: Exchange,
  rules: Rules,
  clock: Clock,
  { there, ...access }: SourceAccess & { readonly there: BalancesThere | null },
): Promise<PreviewNow> {
  const around = referenceOf(config);
  try {
    const time = () => clock.now();
    const engine = engineOf(withoutBasis(there === null ? withoutPlace(config) : config), rules, 0);
    const opening = await readOpening(client, time);
    const reads = new Reads(client, config.book, opening.lastTid, time);
    const open = await reads.openOrders();
    const own = isFailed(open) ? [] : open.orders.filter(order => isOwn(order, config));
    engine.step({ kind: 'rules', at: time(), ...rules });
    engine.step({
      kind: 'balances',
      at: time(),
      startedAt: opening.startedAt,
      quiet: true,
      balances: opening.balances.map(balance => unlocked(balance, own)),
    });
    for (const read of [
      ...(around ? [readReference({ exchange: client, instrument: () => rules.instrument, time }, around)] : []),
      reads.trades(),
      isFailed(open) ? open : { ...open, orders: open.orders.filter(order => !isOwn(order, config)) },
      reads.publicTrade(rules.instrument),
      reads.book(rules.instrument),
    ]) {
      const event = await read;
      if (isFailed(event)) throw new UsageError(`the exchange could not be read: ${textOfFailure(event)}`, 1);
      if (event?.kind === 'feed failed') throw new UsageError(`the feed ${event.name} has no price: ${event.why}`, 1);
      if (event !== null) engine.step(event);
    }
    const newLivePrices = livePricesOf(config, access, clock, 0);
    if (newLivePrices)
      for (const event of await readLivePrices(newLivePrices(), { clock, log: SILENT, time })) engine.step(event);
    if (there !== null) {
      // The other exchange's quote currency is valued with the sources of the reference price, so the engine receives
      // the balances of that exchange only after the sources are read.
      const rate = rateOf(rateSourcesOf(config), engine.livePrice(time())?.sources ?? []);
      engine.step({ ...there, at: time(), ...(rate === null ? {} : { rate }) });
    }
    const reducing = latchIn(config.state.dir).readReduce();
    if (reducing !== null) engine.step({ kind: 'reduce', at: time(), reason: reducing.reason });
    const at = time();
    return {
      preview: engine.preview(at),
      riskContext: engine.riskContext(at),
      balances: opening.balances,
      own: own.length,
      uncounted: await uncountedIn(config, clock, there?.place ?? null),
    };
  } finally {
    await around?.close();
  }
}
