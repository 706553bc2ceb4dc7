/** The other exchange, on which a run hedges: its client and terms, and the setup that the hedger needs. */
import {
  bookOutCommand,
  EwmaVolatility,
  isAtPlace,
  money,
  moneyOf,
  sumOfCauses,
  textOfMoney,
  TRANSIT,
  valueFloor,
  type Clock,
  type Engine,
  type EvidenceTimes,
  type HedgeRow,
  type Millis,
  type Money,
  type PlacedOrder,
  type SourceStatus,
  type VenueClient,
} from '../../core/index.ts';
import {
  ElsewhereDesk,
  mayStillExecute,
  type ElsewhereSetup,
  type HedgeView,
  type StreamedBook,
} from '../../hedge/index.ts';
import { CannotStart } from './opening.ts';
import type { MailMessage } from '../mailbox/kinds.ts';
import type { Leftovers } from '../state/journal.ts';
import { settledWhy } from '../state/settlements.ts';
import type { PlaceRules } from './placeRules.ts';

/** Settings of hedges on the other exchange. Amounts of money are in the quote currency of the bot's book. */
export type PlaceTerms = Pick<ElsewhereSetup, 'marginBps' | 'backBps' | 'latencyMs' | 'riskZ' | 'valueMin'> & {
  /** Volatility per hour that is assumed until prices are measured, in bps. */
  readonly volatilityBps: number;
  readonly costMaxBps: number;
  readonly collarBps: number;
  readonly orderValueMax: Money;
  /**
   * Sources of the reference price that give the value of the other book's quote currency; the first usable one counts.
   * `null` if both books have the same quote currency.
   */
  readonly rateSources: readonly string[] | null;
  readonly times: EvidenceTimes;
  /** Number of reconciled hedges after which orders may exceed the smallest size. */
  readonly smallestUntil: number;
};

/** The other exchange, for all runs of a process. */
export type HedgePlace = {
  /** Name of the exchange in the ledger. */
  readonly name: string;
  /** Fingerprint of the exchange's address and of the API key. */
  readonly account: string;
  readonly client: VenueClient;
  readonly rules: PlaceRules;
  /** Returns the book of the exchange's stream; absent without a stream. */
  readonly streamed?: (() => StreamedBook | null) | undefined;
  readonly terms: PlaceTerms;
};

const ONE = money(10n ** 18n);
const HOUR_ROOT_BPS = 10_000 * Math.sqrt(3_600);
const MEMORY_MS = 1_800_000;
const SAMPLE_MS = 2_000;
/** Maximum factor by which the volatility may be above or below the configured one. */
const VOLATILITY_FACTOR_MAX = 4;

/**
 * Returns the value of one unit of the other book's quote currency, in the quote currency of the bot's book, from the
 * first named source that has a value. `null` if no source has one.
 */
export function rateOf(
  names: PlaceTerms['rateSources'],
  sources: readonly Pick<SourceStatus, 'name' | 'quoteRate'>[],
): Money | null {
  if (names === null) return ONE;
  for (const name of names) {
    const rate = sources.find(each => each.name === name)?.quoteRate ?? Number.NaN;
    // A price from outside is an estimate, so its digits beyond the twelfth decimal carry no information.
    const exact = rate > 0 && rate < RATE_MAX ? moneyOf(rate.toFixed(12)) : NONE;
    if (exact > 0n) return exact;
  }
  return null;
}

const RATE_MAX = 1e12;
const NONE = money(0n);

export type PlaceSetup = {
  readonly setup: ElsewhereSetup;
  /**
   * Returns the value of one unit of the other book's quote currency, in the bot's quote currency; `null` if unknown.
   */
  readonly rate: () => Money | null;
  /** Updates the volatility with the mid price of the bot's book, unless the book cannot be used. */
  readonly observe: (at: Millis, view: Pick<HedgeView, 'mid' | 'refusal'>) => void;
};

/** Returns a run's setup of hedges on the other exchange. `unread`: returns why its balances are unknown, or `null`. */
export function placeSetupOf(
  place: HedgePlace,
  engine: Engine,
  { clock, time }: { readonly clock: Clock; readonly time: () => Millis },
  unread: () => string | null,
): PlaceSetup {
  const { client, rules, terms, streamed } = place;
  const { rateSources, volatilityBps, times, costMaxBps, collarBps, orderValueMax, ...others } = terms;
  const volatility = new EwmaVolatility({
    startPerRootSecond: volatilityBps / HOUR_ROOT_BPS,
    memoryMs: MEMORY_MS,
    sampleMs: SAMPLE_MS,
    factorMax: VOLATILITY_FACTOR_MAX,
  });
  const rate = () => rateOf(rateSources, engine.book.livePrice(time())?.sources ?? []);
  const account = engine.elsewhere;
  if (account === null) throw new Error('the engine has no account on the other exchange');
  const setup: ElsewhereSetup = {
    ...others,
    at: { place: place.name, account: place.account },
    desk: new ElsewhereDesk({ client, clock, times, streamed, instrument: () => rules.known.instrument }),
    get instrument() {
      return rules.known.instrument;
    },
    get takerRate() {
      return rules.known.takerRate;
    },
    get bounds() {
      const { instrument } = rules.known;
      const value = rate();
      // Without an exchange rate, the value of an order is unknown, so the maximum is 0.
      const there = value === null ? NONE : money((orderValueMax * ONE) / value);
      const most = valueFloor(instrument, textOfMoney(there));
      return { costMaxBps, collarBps, orderValueMax: most, room: instrument.amountMax };
    },
    perRootSecond: () => volatility.perRootSecond,
    rate,
    funds: currency => account.funds(currency),
    closedBecause: side => unread() ?? account.closedBecause(side),
  };
  return {
    ...{ setup, rate },
    observe: (at, { mid, refusal }) => {
      // If the book has no bid or no ask, the mid price of the view is only half of the other price, so it is not used.
      if (refusal === null) volatility.observe(at, Number(mid));
    },
  };
}

/** Returns a text that changes when a hedge on the other exchange starts or ends. */
export function stateElsewhere(rows: readonly HedgeRow[]): string {
  const row = rows.findLast(({ offer }) => offer?.way === 'elsewhere');
  return row === undefined ? '' : `${row.id} ${mayStillExecute(row) ? 'open' : 'over'}`;
}

/** Returns the hedge on another exchange whose outcome is not proven, as text; `undefined` if there is none. */
export function openHedgeElsewhere(rows: readonly HedgeRow[]): string | undefined {
  const open = openElsewhere(rows);
  return open && `hedge ${open.id} (order ${open.elsewhere.order.id} at ${open.elsewhere.place})`;
}

const openElsewhere = (rows: readonly HedgeRow[]) =>
  rows.find(
    (row): row is HedgeRow & Required<Pick<HedgeRow, 'elsewhere'>> =>
      row.elsewhere !== undefined && mayStillExecute(row),
  );

/**
 * Once this time has passed since a hedge was accepted, the operator's statement that it failed needs no look-ups. The
 * time is longer than the longest delay with which any of the exchanges executes or lists a request.
 */
export const SETTLED_AFTER_MS: Millis = 600_000;

/**
 * Returns the hedges with which a run continues. An open hedge on another exchange must be looked up in its own
 * account, because a look-up in another account would wrongly show that it was never executed. If this configuration
 * has another account, the hedge ends only if the operator has settled it as failed; `settled` then has its row.
 * `place` is `undefined` if the bot does not hedge on another exchange.
 * @throws CannotStart with the remedy.
 */
export function hedgesToContinue(
  { hedges }: Leftovers,
  place: AccountOfOrders | undefined,
  settlements: readonly MailMessage<'settle'>[],
  at: Millis,
): { readonly hedges: readonly HedgeRow[]; readonly settled: readonly HedgeRow[] } {
  const open = openElsewhere(hedges);
  const unlike = open === undefined ? null : otherAccount(open.elsewhere, place);
  if (open === undefined || unlike === null) return { hedges, settled: [] };
  const { place: name, order } = open.elsewhere;
  const text = `hedge ${open.id} in the book ${order.book} at ${name} has no known outcome, but ${unlike} until the hedge has ended`;
  const said = settlements.find(({ id, as }) => id === open.id && as === 'failed');
  if (said === undefined)
    throw new CannotStart(`${text}, or settle the hedge with puntas hedges settle ${open.id} --as failed`);
  const dueAt = (open.acceptedAt ?? at) + SETTLED_AFTER_MS;
  if (!(at >= dueAt))
    throw new CannotStart(
      `${text}; the outcome stated with puntas hedges settle takes effect at ${new Date(dueAt).toISOString()}; start the bot again then`,
      null,
      true,
    );
  const row: HedgeRow = { ...open, state: 'failed', why: settledWhy(said) };
  return { hedges: hedges.map(each => (each === open ? row : each)), settled: [row] };
}

/** Returns how the configuration differs from the account of an order, with the remedy; `null` if it does not. */
function otherAccount({ place: name, account, order }: PlacedOrder, place: AccountOfOrders | undefined): string | null {
  if (place === undefined)
    return 'this configuration has no hedges on another exchange; restore the sections elsewhere and hedge.elsewhere';
  if (place.name !== name || place.rules.book !== order.book)
    return `the section elsewhere has the book ${place.rules.book} at ${place.name}; restore the former book and exchange`;
  if (place.account === account) return null;
  return 'the section elsewhere has another address or API key; restore the former address and key';
}

/** Account and book in which orders of a run are looked up. */
type AccountOfOrders = Pick<HedgePlace, 'name' | 'account'> & { readonly rules: Pick<PlaceRules, 'book'> };

/**
 * Returns the amounts of the ledger at exchanges other than `place`, as text with the remedy; `null` if there are none.
 */
export function heldAtOtherPlaces({ ledger }: Leftovers, place: string | null): string | null {
  const held = [...(ledger?.causes ?? [])].flatMap(([currency, causes]) => {
    const isKept =
      currency.includes('@') && (place === null || ![place, TRANSIT].some(known => isAtPlace(currency, known)));
    const sum = isKept ? sumOfCauses(causes) : NONE;
    return sum === 0n ? [] : [{ currency, sum }];
  });
  const [first] = held;
  if (first === undefined) return null;
  const all = held.map(({ currency, sum }) => `${textOfMoney(sum)} ${currency}`).join(', ');
  return `the ledger also has ${all}, in accounts whose balances this bot does not read; base currency in these accounts still counts as holdings. Book out each amount that is no longer in its account, for example: ${bookOutCommand(first.currency, first.sum)}${place === null ? '' : ' (add --in-transit only if you sent the amount to an exchange that this bot reads and the first balances read there did not include the amount)'}`;
}

/**
 * Returns, as text, the adjustments that an older Puntas wrote to the entries but not to the sums of the ledger, and
 * that the sums now include; `null` if there are none.
 */
export function addedText({ added = new Map() }: Pick<Leftovers, 'added'>): string | null {
  if (added.size === 0) return null;
  const all = [...added].map(([currency, amount]) => `${textOfMoney(amount)} ${currency}`).join(', ');
  return `the ledger has entries for adjustments of ${all} that an older version of Puntas did not add to the sums of the ledger; the sums now include these adjustments`;
}
