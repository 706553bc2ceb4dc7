/** What is read before the first quote: the book's rules, our rates, and balances on a quiet cut of the trade history. */
import { accountTierOf, describeRow, instrumentOf, moneyOf, rateCeil, sleep, textOfMoney } from '../../core/index.ts';
import type {
  AvailableBook,
  Balance,
  BookFee,
  Clock,
  Exchange,
  Instrument,
  Millis,
  Outcome,
  UnreadableRow,
} from '../../core/index.ts';
import { missingBalance } from '../account/reads.ts';
import type { Rules } from '../rules.ts';
import type { Journal, Leftovers } from '../state/journal.ts';
import { inUnitsOf } from '../state/units.ts';

/** Of a book that the exchange does not list. */
export const NO_SUCH_BOOK = 'no-such-book';

/** A start that cannot go on, in one line for a person. */
export class CannotStart extends Error {
  /** The exchange's code, or one of ours, when a request ended it; null when there was no answer, or none was needed. */
  readonly code: string | null;
  /** The same start may go on later, without a person doing anything. */
  readonly mayPass: boolean;
  /** What a person can do, in a clause; null when nothing can be said. */
  readonly remedy: string | null;
  constructor(message: string, code: string | null = null, mayPass = false, remedy: string | null = null) {
    super(message);
    this.name = 'CannotStart';
    this.code = code;
    this.mayPass = mayPass;
    this.remedy = remedy;
  }
}

/** The rules of one book and our rates on it. */
export async function readRules(exchange: Exchange, book: string): Promise<Rules> {
  const row = await readBookRow(exchange, book);
  const fee = await ratesOf(exchange, row);
  const instrument = instrumentOf(row);
  const tier = accountTierOf(fee, row.tiers, instrument.minor);
  return { instrument, makerRate: rateCeil(fee.maker), takerRate: rateCeil(fee.taker), tier };
}

/** What is public of one book. */
export async function readBookRow(exchange: Pick<Exchange, 'availableBooks'>, book: string): Promise<AvailableBook> {
  const { value: books, unreadable } = await need('read available_books', exchange.availableBooks());
  const row = books.find(candidate => candidate.book === book);
  if (row) return row;
  const own = unreadable.find(candidate => candidate.book === undefined || candidate.book === book);
  if (own) throw new CannotStart(`cannot read the rules of ${book}: available_books: ${describeRow(own)}`, null, true);
  const names = books.map(candidate => candidate.book).sort();
  throw new CannotStart(`book ${book} is not traded there; expected one of ${names.join(', ')}`, NO_SUCH_BOOK);
}

/** The account's own rates; the schedule's entry tier when the exchange does not list the book's. */
async function ratesOf(exchange: Exchange, row: AvailableBook): Promise<BookFee> {
  const { value: fees, unreadable } = await need('read fees', exchange.fees());
  const own = unreadable.find(fee => fee.book === undefined || fee.book === row.book);
  if (own && !fees.some(fee => fee.book === row.book))
    throw new CannotStart(`cannot read the fees of ${row.book}: fees: ${describeRow(own)}`, null, true);
  const rates = fees.find(fee => fee.book === row.book) ?? row.tiers[0] ?? row.flatRate;
  if (!rates) throw new CannotStart(`the exchange lists no fees for ${row.book}`);
  return { ...rates, book: row.book };
}

/** What a run starts from: fresh balances, or the ledger that the last run of the account left. */
export type Opening =
  | ({ readonly kind: 'fresh' } & OpeningBalances)
  | {
      readonly kind: 'restored';
      /** Every trade up to here is in the ledger, and of what came after, exactly `tids`. */
      readonly lastTid: string | undefined;
      readonly tids: readonly string[];
    };

/** Returns the opening of a run: the ledger of the last run, or balances that are read now. Rejects with `CannotStart`. */
export async function resolveOpening(
  leftovers: Leftovers,
  { instrument }: Rules,
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
  const currencies = [instrument.major, instrument.minor];
  const options = { clock, currencies, zero: openingZero, apartMs: openingApartMs };
  return { kind: 'fresh', ...(await readFirstBalances(venue.exchange, options)) };
}

/** Returns the journal with what earlier runs left in the present units of the book. Throws `CannotStart` if these units cannot count it. */
export function journalInUnits(journal: Journal, instrument: Instrument): Journal {
  const { leftovers } = journal;
  try {
    return { ...journal, leftovers: inUnitsOf(leftovers, leftovers.units, instrument) };
  } catch (error) {
    if (error instanceof RangeError) throw new CannotStart(error.message);
    throw error;
  }
}

export type OpeningBalances = {
  readonly startedAt: Millis;
  readonly balances: readonly Balance[];
  /** Rows of the balances that are not among them. */
  readonly unreadable: readonly UnreadableRow[];
  /** The newest trade at that moment; later ones are not in the balances. Undefined when there is none. */
  readonly lastTid: string | undefined;
};

const QUIET_TRIES = 20;

const EQUAL_TRIES = 20;

export type OpeningOptions = {
  readonly clock: Clock;
  /** Time between two readings that must be equal. */
  readonly apartMs: Millis;
  /** Currencies that the ledger must have: those of the book. */
  readonly currencies: readonly string[];
  /** Currencies of which the operator says that the account has none. */
  readonly zero: readonly string[];
};

/**
 * Balances that open a ledger: two equal readings, seconds apart, each with every currency of the book. Rejects with `CannotStart`
 * if a currency is missing and not in `zero`, or if the balances keep changing.
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
    `the balances kept changing during ${EQUAL_TRIES} tries to read them: stop the account's other programs first`,
  );
}

/** The reading with what the operator says of missing currencies; why it opens no ledger, if one is missing all the same. */
function withZeros(opening: OpeningBalances, { currencies, zero }: OpeningOptions): OpeningBalances | CannotStart {
  const failed = missingBalance(
    opening.balances,
    opening.unreadable,
    currencies.filter(one => !zero.includes(one)),
  );
  if (failed !== null) {
    const reason = failed.kind === 'unknown' ? failed.reason : failed.message;
    const missing = currencies.find(one => !opening.balances.some(({ currency }) => currency === one));
    const remedy = `if the account holds none, start once with --opening-zero ${missing}`;
    return new CannotStart(`cannot open the ledger: ${reason}; ${remedy}`, null, true, remedy);
  }
  const given = zero.filter(one => !opening.balances.some(({ currency }) => currency === one));
  const none = given.map(currency => ({ currency, total: '0', locked: '0', available: '0' }));
  return { ...opening, balances: [...opening.balances, ...none] };
}

/** Balances between two equal readings of the newest trade: what came before is in them, what comes after is not. */
export async function readOpening(exchange: Exchange, now: () => Millis): Promise<OpeningBalances> {
  for (let tries = 0; tries < QUIET_TRIES; tries++) {
    const before = await newestTid(exchange);
    const startedAt = now();
    const { value: balances, unreadable } = await need('read balance', exchange.balances());
    const after = await newestTid(exchange);
    if (before === after) return { startedAt, balances, unreadable, lastTid: after };
  }
  throw new CannotStart(
    `the account kept trading during ${QUIET_TRIES} tries to read its balances: stop its other programs first`,
  );
}

async function newestTid(exchange: Exchange): Promise<string | undefined> {
  const { value, unreadable } = await need('read user_trades', exchange.userTrades({ limit: 1, sort: 'desc' }));
  if (value[0]) return value[0].tid;
  const [row] = unreadable;
  if (row && row.id === undefined) throw new CannotStart(`cannot read user_trades: ${describeRow(row)}`, null, true);
  return row?.id;
}

/** A read that the start cannot do without. */
async function need<T>(
  what: string,
  first: Promise<Outcome<T>>,
): Promise<{ readonly value: T; readonly unreadable: readonly UnreadableRow[] }> {
  const outcome = await first;
  if (outcome.kind === 'done') return { value: outcome.value, unreadable: outcome.unreadable ?? [] };
  if (outcome.kind === 'unknown') throw new CannotStart(`cannot ${what}: no answer (${outcome.reason})`, null, true);
  const { code, message, status, remedy = null } = outcome;
  // Without a status nobody answered: the refusal is our own client's.
  const who = status === undefined ? 'nobody was asked' : 'the exchange refused';
  throw new CannotStart(`cannot ${what}: ${who} (${code}: ${message})`, code, status === undefined, remedy);
}
