/** Reads before the first quote: the rules of the book, the account's fees, and balances at a time without trades. */
import {
  accountTierOf,
  bookStatesIn,
  describeRow,
  instrumentOf,
  moneyOf,
  pairOf,
  rateCeil,
  sleep,
  textOfMoney,
  type AvailableBook,
  type Balance,
  type BookFee,
  type Clock,
  type Exchange,
  type Instrument,
  type Millis,
  type Outcome,
  type RestoredLedger,
  type UnreadableRow,
} from '../../core/index.ts';
import { missingBalance } from '../account/reads.ts';
import { isAboutCurrency } from '../unreadableRows.ts';
import type { Rules } from '../rules.ts';
import type { Journal, Leftovers } from '../state/journal.ts';
import { inUnitsOf } from '../state/unitConversion.ts';

/** Code for a book that the exchange does not list. */
export const NO_SUCH_BOOK = 'no-such-book';

/** Reason why a start cannot continue, in one line for the operator. */
export class CannotStart extends Error {
  /** Code of the failed request, from the exchange or the client; `null` if there was no request or no answer. */
  readonly code: string | null;
  /** Whether a later start may succeed without an action of the operator. */
  readonly mayPass: boolean;
  /** Remedy for the operator, as a clause; `null` if none is known. */
  readonly remedy: string | null;
  constructor(message: string, code: string | null = null, mayPass = false, remedy: string | null = null) {
    super(message);
    this.name = 'CannotStart';
    this.code = code;
    this.mayPass = mayPass;
    this.remedy = remedy;
  }
}

/** Sends a read, and returns its outcome. */
export type SendRead = <T>(read: () => Promise<Outcome<T>>) => Promise<Outcome<T>>;

/** Sends a read of a start, and once more if it has no answer, so that one lost answer does not end the start. */
export const repeatIfUnknown: SendRead = async read => {
  const first = await read();
  return first.kind === 'unknown' ? read() : first;
};

/**
 * Sends a read only once, for a running bot: the bot repeats the read later, and a stop waits for one answer at most.
 */
export const readOnce: SendRead = read => read();

/**
 * Reads the rules of one book and the account's fees in this book; `send` is `readOnce` for a running bot. `onList`
 * receives the list of books before the fees are read. Rejects with `CannotStart`.
 */
export async function readRules(
  exchange: Exchange,
  book: string,
  send = repeatIfUnknown,
  onList?: (books: ListedBooks) => void,
): Promise<Rules> {
  const row = await readBookRow(exchange, book, send, onList);
  const fee = await ratesOf(exchange, row, send);
  const instrument = instrumentOf(row);
  const tier = accountTierOf(fee, row.tiers, instrument.minor);
  return { instrument, makerRate: rateCeil(fee.maker), takerRate: rateCeil(fee.taker), tier };
}

/** Rules of all books of a run: those of the first book, and those of the further books in their order. */
export type RulesOfBooks = {
  readonly rules: Rules;
  readonly others: readonly Rules[];
  /** Symbols of the books that the exchange no longer lists; their rules are the last known ones. Default: none. */
  readonly removed?: readonly string[];
};

/**
 * Returns the rules of all books of a run, and reads those that are not in `known`; `send` is as in `readRules`. `last`
 * has the last known rules of books that the exchange may no longer list. Rejects with `CannotStart` if the rules of a
 * book cannot be read.
 */
export async function readRulesOfBooks(
  exchange: Exchange,
  [book, ...others]: readonly [string, ...string[]],
  known: RulesOfBooks | null,
  send = repeatIfUnknown,
  last: RulesOfBooks | null = null,
): Promise<RulesOfBooks> {
  const removed: string[] = [];
  const rulesOf = async (symbol: string): Promise<Rules> => {
    const have = known && rulesIn(known, symbol);
    if (have && known.removed?.includes(symbol)) removed.push(symbol);
    if (have) return have;
    try {
      return await readRules(exchange, symbol, send);
    } catch (error) {
      const kept = last && rulesIn(last, symbol);
      if (!kept || !(error instanceof CannotStart) || error.code !== NO_SUCH_BOOK) throw error;
      removed.push(symbol);
      return kept;
    }
  };
  const rules = await rulesOf(book);
  const read: Rules[] = [];
  for (const other of others) read.push(await rulesOf(other));
  return { rules, others: read, removed };
}

const rulesIn = ({ rules, others }: RulesOfBooks, symbol: string): Rules | undefined =>
  [rules, ...others].find(({ instrument }) => instrument.symbol === symbol);

/**
 * Symbols of the books in the public list. `isReadable`: whether every row could be read; an unreadable row may be that
 * of any book.
 */
export type ListedBooks = { readonly names: ReadonlySet<string>; readonly isReadable: boolean };

/** Reads the row of one book in the public list of books. `onList` receives the list. Rejects with `CannotStart`. */
export async function readBookRow(
  exchange: Pick<Exchange, 'availableBooks'>,
  book: string,
  send = repeatIfUnknown,
  onList?: (books: ListedBooks) => void,
): Promise<AvailableBook> {
  const { value: books, unreadable } = await need('read available_books', () => exchange.availableBooks(), send);
  onList?.({ names: new Set(books.map(row => row.book)), isReadable: unreadable.length === 0 });
  const row = books.find(candidate => candidate.book === book);
  if (row) return row;
  const own = unreadable.find(candidate => candidate.book === undefined || candidate.book === book);
  if (own)
    throw new CannotStart(`cannot read the rules of ${book} from available_books: ${describeRow(own)}`, null, true);
  const names = books.map(candidate => candidate.book).sort();
  throw new CannotStart(
    `book ${book} is not traded at this exchange; expected one of ${names.join(', ')}`,
    NO_SUCH_BOOK,
  );
}

/**
 * Reads the account's fees on the book. If the exchange lists no fees for the book, returns the first tier of the
 * book's schedule, or its flat rate.
 */
async function ratesOf(exchange: Exchange, row: AvailableBook, send: SendRead): Promise<BookFee> {
  const { value: fees, unreadable } = await need('read fees', () => exchange.fees(), send);
  const own = unreadable.find(fee => fee.book === undefined || fee.book === row.book);
  if (own && !fees.some(fee => fee.book === row.book))
    throw new CannotStart(
      `cannot read the fees of ${row.book} in the exchange's list of fees: ${describeRow(own)}`,
      null,
      true,
    );
  const rates = fees.find(fee => fee.book === row.book) ?? row.tiers[0] ?? row.flatRate;
  if (!rates) throw new CannotStart(`the exchange lists no fees for ${row.book}`);
  return { ...rates, book: row.book };
}

/** Starting point of a run: fresh balances, or the ledger of the account's last run. */
export type Opening =
  | ({ readonly kind: 'fresh' } & OpeningBalances)
  | {
      readonly kind: 'restored';
      /** Id of the newest trade up to which the ledger contains every trade. */
      readonly lastTid: string | undefined;
      /** Ids of trades in the ledger that are newer than `lastTid`. */
      readonly tids: readonly string[];
    };

/**
 * Returns the opening of a run: the ledger of the last run, or balances that are read now. Rejects with `CannotStart`.
 */
export async function resolveOpening(
  leftovers: Leftovers,
  instruments: readonly Instrument[],
  {
    clock,
    venue,
    openingZero = [],
    openingApartMs = 0,
  }: {
    readonly clock: Clock;
    readonly venue: { readonly exchange: Exchange };
    readonly openingZero?: readonly string[];
    readonly openingApartMs?: Millis;
  },
): Promise<Opening> {
  const { ledger, marker } = leftovers;
  if (ledger !== null) return { kind: 'restored', lastTid: marker, tids: [...ledger.seen.keys()] };
  const currencies = [...new Set(instruments.flatMap(({ major, minor }) => [major, minor]))];
  const options = { clock, currencies, zero: openingZero, apartMs: openingApartMs };
  return { kind: 'fresh', ...(await readFirstBalances(venue.exchange, options)) };
}

/**
 * Converts the stored state of earlier runs to the present tick and lot of each book. The first instrument is that of
 * the bot's first book.
 * @throws CannotStart if these units cannot express a stored price or amount.
 */
export function journalInUnits(journal: Journal, [first, ...others]: readonly [Instrument, ...Instrument[]]): Journal {
  const { leftovers } = journal;
  try {
    return { ...journal, leftovers: inUnitsOf(leftovers, leftovers.units, first, others) };
  } catch (error) {
    if (error instanceof RangeError) throw new CannotStart(error.message);
    throw error;
  }
}

/** Returns a warning about stored books that this run does not have; `null` if there are none. */
export function absentBooksText(ledger: RestoredLedger | null, instruments: readonly Instrument[]): string | null {
  if (ledger === null) return null;
  const { symbol: first } = instruments[0]!;
  const absent = [...bookStatesIn(ledger, first).keys()].filter(book =>
    instruments.every(({ symbol }) => symbol !== book),
  );
  if (absent.length === 0) return null;
  const counted = [...new Set(instruments.map(({ major }) => major))].map(major => {
    const { symbol } = instruments.find(one => one.major === major)!;
    const same = absent.filter(book => pairOf(book)[0] === major);
    return same.length === 0 ? '' : `; the inventory of ${same.join(', ')} counts as inventory of ${symbol}`;
  });
  return `the ledger has the state of books that this bot does not quote: ${absent.join(', ')}; their profit and markouts are kept${counted.join('')}`;
}

export type OpeningBalances = {
  readonly startedAt: Millis;
  readonly balances: readonly Balance[];
  /** Rows that could not be read and are missing from `balances`. */
  readonly unreadable: readonly UnreadableRow[];
  /** Id of the newest trade that the balances include; `undefined` if none. The balances include no later trade. */
  readonly lastTid: string | undefined;
};

const QUIET_TRIES = 20;

const EQUAL_TRIES = 20;

export type OpeningOptions = {
  readonly clock: Clock;
  /** Time between two reads whose balances must be equal. */
  readonly apartMs: Millis;
  /** Currencies of the book; the opening balances must include them. */
  readonly currencies: readonly string[];
  /** Currencies whose balance is zero according to the operator. */
  readonly zero: readonly string[];
};

/**
 * Reads the balances that open a ledger. Two reads, `apartMs` apart, must be equal and have all currencies of the book.
 * Rejects with `CannotStart` if the balances keep changing, or if a currency is missing and not in `zero`.
 */
export async function readFirstBalances(exchange: Exchange, options: OpeningOptions): Promise<OpeningBalances> {
  const { clock } = options;
  let before: string | null = null;
  let missing: CannotStart | null = null;
  for (let tries = 0; tries < EQUAL_TRIES; tries++) {
    const opening = withZeros(await readOpening(exchange, () => clock.now()), options);
    if (opening instanceof CannotStart) [missing, before] = [opening, null];
    else {
      const totals = opening.balances.map(({ currency, total }) => `${currency} ${textOfMoney(moneyOf(total))}`);
      const reading = [...totals.sort(), opening.lastTid ?? ''].join('\n');
      if (reading === before) return opening;
      [before, missing] = [reading, null];
    }
    if (options.apartMs > 0) await sleep(clock, options.apartMs);
  }
  if (missing !== null) throw missing;
  throw new CannotStart(
    `the balances changed during each of ${EQUAL_TRIES} attempts to read them; stop all other programs that use the account, then start again`,
  );
}

/**
 * Adds the currencies in `zero` to the balances. Returns an error if another currency of the book is missing, or if an
 * unreadable row may have the balance of a currency in `zero`.
 */
function withZeros(opening: OpeningBalances, { currencies, zero }: OpeningOptions): OpeningBalances | CannotStart {
  const isUnreadable = (currency: string): boolean =>
    opening.unreadable.some(row => isAboutCurrency(row, [currency]) !== 'no');
  const failed = missingBalance(
    opening.balances,
    opening.unreadable,
    currencies.filter(one => !zero.includes(one) || isUnreadable(one)),
  );
  if (failed !== null) {
    const reason = failed.kind === 'unknown' ? failed.reason : failed.message;
    const missing = currencies.find(one => !opening.balances.some(({ currency }) => currency === one));
    const remedy =
      missing !== undefined && zero.includes(missing)
        ? null
        : `if the account has no ${missing} balance, start the bot once with --opening-zero ${missing}`;
    const text = `cannot open the ledger: ${reason}`;
    return new CannotStart(remedy === null ? text : `${text}; ${remedy}`, null, true, remedy);
  }
  const given = zero.filter(one => !opening.balances.some(({ currency }) => currency === one));
  const none = given.map(currency => ({ currency, total: '0', locked: '0', available: '0' }));
  return { ...opening, balances: [...opening.balances, ...none] };
}

/**
 * Reads balances between two equal reads of the newest trade. The balances include exactly the trades up to that trade.
 * `also` holds currencies that need a row even if nothing is left of them.
 */
export async function readOpening(
  exchange: Exchange,
  now: () => Millis,
  also: readonly string[] = [],
): Promise<OpeningBalances> {
  for (let tries = 0; tries < QUIET_TRIES; tries++) {
    const before = await newestTid(exchange);
    const startedAt = now();
    const { value: balances, unreadable } = await need('read balance', () => exchange.balances({ also }));
    const after = await newestTid(exchange);
    if (before === after) return { startedAt, balances, unreadable, lastTid: after };
  }
  throw new CannotStart(
    `the account traded during each of ${QUIET_TRIES} attempts to read its balances; stop all other programs that use the account, then start again`,
  );
}

async function newestTid(exchange: Exchange): Promise<string | undefined> {
  const { value, unreadable } = await need('read user_trades', () => exchange.userTrades({ limit: 1, sort: 'desc' }));
  if (value[0]) return value[0].tid;
  const [row] = unreadable;
  if (row && row.id === undefined) throw new CannotStart(`cannot read user_trades: ${describeRow(row)}`, null, true);
  return row?.id;
}

/**
 * Whether a later start may succeed after a rejection: the client did not send the request, the exchange was too busy
 * or failed, or the nonce was too low. A nonce rejection with HTTP 401 does not count, because the key may be wrong.
 */
export const mayPassLater = ({
  status,
  meaning,
  mayPass,
}: Pick<Extract<Outcome<unknown>, { kind: 'refused' }>, 'status' | 'meaning' | 'mayPass'>): boolean =>
  status === undefined || mayPass === true || (meaning === 'nonce' && status !== 401);

/** Returns the value of a read, with its unreadable rows. Rejects with `CannotStart` if the read failed. */
async function need<T>(
  what: string,
  read: () => Promise<Outcome<T>>,
  send = repeatIfUnknown,
): Promise<{ readonly value: T; readonly unreadable: readonly UnreadableRow[] }> {
  const outcome = await send(read);
  const value = valueOrCannotStart(what, outcome);
  return { value, unreadable: (outcome.kind === 'done' && outcome.unreadable) || [] };
}

/**
 * Returns the value of a read that the start needs.
 * @throws CannotStart if the read failed.
 */
export function valueOrCannotStart<T>(what: string, outcome: Outcome<T>): T {
  if (outcome.kind === 'done') return outcome.value;
  if (outcome.kind === 'unknown') throw new CannotStart(`cannot ${what}: no answer (${outcome.reason})`, null, true);
  const { code, message, status, remedy = null } = outcome;
  // If the outcome has no HTTP status, the client itself rejected the request before sending it.
  const who = status === undefined ? 'request not sent' : 'rejected by the exchange';
  throw new CannotStart(`cannot ${what}: ${who} (${code}: ${message})`, code, mayPassLater(outcome), remedy);
}
