/** Checks of unreadable rows: whether a row concerns the bot. */
import {
  describeRow,
  pairOrNull,
  type Engine,
  type Exchange,
  type Order,
  type Outcome,
  type OwnTrade,
  type UnreadableRow,
} from '../core/index.ts';
import type { Log } from './log.ts';
import type { Failed } from './failedRequest.ts';

/** Whether a row concerns the bot. `possibly`: the readable fields of the row are not sufficient to decide. */
export type Concern = 'yes' | 'no' | 'possibly';

/** Data that identifies the bot's orders. */
export type OwnOrders = {
  readonly book: string;
  /** Further books of the bot. Default: none. */
  readonly others?: readonly string[] | undefined;
  /** Prefix of the bot's origin ids, without its dash. */
  readonly instance: string;
  /** Returns whether an oid belongs to an order of the bot. If absent, the answer is `possibly` for every oid. */
  readonly ownsOid?: (oid: string) => Concern;
  /** Returns the oid of the bot's order with an origin id; `null` if unknown. */
  readonly oidOf?: (originId: string) => string | null;
};

/**
 * Whether a row in a list of orders is an order of the bot. `possibly`: the row may be in the bot's book, and its ids
 * are not sufficient to decide. The bot does not know the oid of an order whose answer was lost.
 */
export function isOwnOrder({ book, oid, originId }: UnreadableRow, own: OwnOrders): Concern {
  if (originId?.startsWith(`${own.instance}-`) === true) return 'yes';
  const byOid = oid === undefined ? 'possibly' : (own.ownsOid?.(oid) ?? 'possibly');
  if (byOid === 'yes') return 'yes';
  if (book !== undefined && book !== own.book && own.others?.includes(book) !== true) return 'no';
  if (typeof originId === 'string') return 'no';
  return originId === null ? byOid : 'possibly';
}

/** Separates the rows that contradict the known orders of the bot; these rows count as unreadable. */
export function withoutContradictions<
  T extends { readonly oid: string; readonly originId?: string; readonly book: string },
>(
  outcome: Outcome<readonly T[]> & { readonly kind: 'done' },
  { oidOf }: Pick<OwnOrders, 'oidOf'>,
): { readonly value: readonly T[]; readonly unreadable: readonly UnreadableRow[] } {
  const known = ({ originId }: T): string | null => (originId === undefined ? null : (oidOf?.(originId) ?? null));
  const isWrong = (row: T): boolean => (known(row) ?? row.oid) !== row.oid;
  const wrong = outcome.value.filter(isWrong).map((row): UnreadableRow => {
    const { oid, originId = null, book } = row;
    return { why: `oid: expected ${known(row)}, the oid of the order, found ${oid}`, oid, originId, book };
  });
  if (wrong.length === 0) return { value: outcome.value, unreadable: unreadableOf(outcome) };
  return { value: outcome.value.filter(row => !isWrong(row)), unreadable: [...unreadableOf(outcome), ...wrong] };
}

/**
 * Returns a trade as an unreadable row if its fee currency belongs neither to its book nor to the account; otherwise
 * `null`.
 */
export function strangeFee(trade: OwnTrade, { hasCurrency }: Pick<RowJudgment, 'hasCurrency'>): UnreadableRow | null {
  const { book, feeCurrency, tid, oid, originId = null } = trade;
  const pair: readonly string[] = pairOrNull(book) ?? [];
  if (pair.includes(feeCurrency.toLowerCase()) || hasCurrency?.(feeCurrency) !== false) return null;
  const why = `fees_currency: expected a currency of ${book} or of the account, found ${feeCurrency}`;
  return { why, book, currencies: pair, oid, originId, id: tid };
}

/**
 * Whether a row concerns a currency in `own`, judged by the currencies of the row, or by its book if the row names no
 * currency.
 */
export function isAboutCurrency({ currencies, book }: UnreadableRow, own: readonly string[]): Concern {
  const about = currencies ?? (book === undefined ? undefined : (pairOrNull(book) ?? undefined));
  if (about === undefined) return 'possibly';
  return about.some(currency => own.includes(currency)) ? 'yes' : 'no';
}

/** Returns the failure of a read of a list that contains an unreadable row. */
export const failedBy = (list: string, row: UnreadableRow): Failed => ({
  kind: 'unknown',
  reason: `${list}: ${describeRow(row)}`,
});

/** Returns the unreadable rows of a list; empty if there was no answer. */
export const unreadableOf = (outcome: Outcome<unknown>): readonly UnreadableRow[] =>
  outcome.kind === 'done' ? (outcome.unreadable ?? []) : [];

/** Whether an order that may be live has this oid; `possibly` while the oid of such an order is unknown. */
function ownsOid(live: readonly Order[], oid: string): Concern {
  if (live.some(order => order.oid === oid)) return 'yes';
  return live.some(order => order.oid === null) ? 'possibly' : 'no';
}

/** Maximum number of rows whose warning is remembered. */
const WARNED_MAX = 200;

/** Warnings about omitted rows: one per row, regardless of its position in the list. */
class RowWarnings {
  readonly #log: Log;
  readonly #warned = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  readonly leftOut = (text: string): void => {
    const row = text.replace(/\brow \d+: /, '');
    if (this.#warned.has(row)) return;
    if (this.#warned.size >= WARNED_MAX) this.#warned.clear();
    this.#warned.add(row);
    this.#log.warn({ row }, `a row of an answer could not be read: ${row}`);
  };
}

/** Data for judging unreadable rows, and the receiver of reports about omitted rows. */
export type RowJudgment = Omit<OwnOrders, 'book'> & {
  /**
   * Returns whether the ledger's balance of a currency is zero. If so, the exchange need not list its balance of this
   * currency.
   */
  readonly isZero?: (currency: string) => boolean;
  /**
   * Returns whether the ledger contains a currency; `true` before the ledger is opened. If absent, every currency is
   * accepted as a fee currency: an exchange that lists only some balances may charge fees in a currency that the
   * account received after the opening.
   */
  readonly hasCurrency?: (currency: string) => boolean;
  /** Called for each omitted row, at every read. */
  readonly onLeftOut: (text: string) => void;
};

/**
 * Returns the data for judging rows from the engine's orders and ledger. Reports about omitted rows become warnings in
 * the log.
 */
export const judgmentBy = (
  instance: string,
  engine: Engine,
  log: Log,
  { listsAllBalances }: Pick<Exchange, 'listsAllBalances'>,
): RowJudgment => ({
  instance,
  ownsOid: oid => ownsOid(engine.liveOrders, oid),
  oidOf: id => engine.order(id)?.oid ?? null,
  isZero: currency => engine.account.total(currency) === 0n,
  ...(listsAllBalances === true && {
    hasCurrency: (currency: string) => !engine.account.isOpen || engine.account.totals.has(currency),
  }),
  onLeftOut: new RowWarnings(log).leftOut,
});
