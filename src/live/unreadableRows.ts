/** Rows that could not be read: whether they concern the bot. */
import { describeRow, pairOrNull } from '../core/index.ts';
import type { Engine, Order, Outcome, OwnTrade, UnreadableRow } from '../core/index.ts';
import type { Log } from './log.ts';
import type { Failed } from './failed.ts';

/** `possibly`: the row has no id by which it could be told. */
export type Concern = 'yes' | 'no' | 'possibly';

/** What identifies an order of the bot. */
export type OwnOrders = {
  readonly book: string;
  /** Prefix of the bot's origin ids, without its dash. */
  readonly instance: string;
  /** Whether this oid is of an order of the bot; absent if no oid is known. */
  readonly ownsOid?: (oid: string) => Concern;
  /** The oid of an order of the bot by its origin id; `null` if it is not known. */
  readonly oidOf?: (originId: string) => string | null;
};

/**
 * Whether a row of a list of orders is an order of the bot. In the bot's book a row that lacks one of its two ids is possibly one:
 * the oid of an order whose answer was lost is not known.
 */
export function isOwnOrder({ book, oid, originId }: UnreadableRow, own: OwnOrders): Concern {
  if (originId?.startsWith(`${own.instance}-`) === true) return 'yes';
  const byOid = oid === undefined ? 'possibly' : (own.ownsOid?.(oid) ?? 'possibly');
  if (byOid === 'yes') return 'yes';
  if (book !== undefined && book !== own.book) return 'no';
  if (typeof originId === 'string') return 'no';
  return originId === null ? byOid : 'possibly';
}

/** Rows of orders or trades of which none contradicts what the bot knows of its orders; the others count as unreadable. */
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
    return { why: `oid: expected ${known(row)}, which its order has, found ${oid}`, oid, originId, book };
  });
  if (wrong.length === 0) return { value: outcome.value, unreadable: unreadableOf(outcome) };
  return { value: outcome.value.filter(row => !isWrong(row)), unreadable: [...unreadableOf(outcome), ...wrong] };
}

/** A trade whose fee is in a currency that is neither of its book nor of the account, as a row that cannot be read; `null` for any other. */
export function strangeFee(trade: OwnTrade, { hasCurrency }: Pick<RowJudgment, 'hasCurrency'>): UnreadableRow | null {
  const { book, feeCurrency, tid, oid, originId = null } = trade;
  const pair: readonly string[] = pairOrNull(book) ?? [];
  if (pair.includes(feeCurrency.toLowerCase()) || hasCurrency?.(feeCurrency) !== false) return null;
  const why = `fees_currency: expected a currency of ${book} or of the account, found ${feeCurrency}`;
  return { why, book, currencies: pair, oid, originId, id: tid };
}

/** Whether a row is about one of these currencies: by its own, or by the two of its book. */
export function isAboutCurrency({ currencies, book }: UnreadableRow, own: readonly string[]): Concern {
  const about = currencies ?? (book === undefined ? undefined : (pairOrNull(book) ?? undefined));
  if (about === undefined) return 'possibly';
  return about.some(currency => own.includes(currency)) ? 'yes' : 'no';
}

/** A list is no answer because of this row. */
export const failedBy = (list: string, row: UnreadableRow): Failed => ({
  kind: 'unknown',
  reason: `${list}: ${describeRow(row)}`,
});

/** The rows of a list that could not be read; none if there was no answer. */
export const unreadableOf = (outcome: Outcome<unknown>): readonly UnreadableRow[] =>
  outcome.kind === 'done' ? (outcome.unreadable ?? []) : [];

/** Whether this oid is of an order that may live: `possibly` while one of them has no oid yet. */
function ownsOid(live: readonly Order[], oid: string): Concern {
  if (live.some(order => order.oid === oid)) return 'yes';
  return live.some(order => order.oid === null) ? 'possibly' : 'no';
}

/** Rows that were warned of and are remembered. */
const WARNED_MAX = 200;

/** Warns once of a row that was left out, wherever it stands in its list. */
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
    this.#log.warn({ row }, `a row could not be read: ${row}`);
  };
}

/** How unreadable rows are judged and reported. */
export type RowJudgment = Omit<OwnOrders, 'book'> & {
  /** Whether the ledger has nothing of a currency: then the exchange need not list it. */
  readonly isZero?: (currency: string) => boolean;
  /** Whether the account may have a currency; absent if that is not known. */
  readonly hasCurrency?: (currency: string) => boolean;
  /** Called for each row that is left out, at every read. */
  readonly onLeftOut: (text: string) => void;
};

/** Judges rows by the orders and the ledger of an engine, and warns of those that are left out. */
export const judgmentBy = (instance: string, engine: Engine, log: Log): RowJudgment => ({
  instance,
  ownsOid: oid => ownsOid(engine.liveOrders, oid),
  oidOf: id => engine.order(id)?.oid ?? null,
  isZero: currency => engine.account.total(currency) === 0n,
  hasCurrency: currency => !engine.account.isOpen || engine.account.totals.has(currency),
  onLeftOut: new RowWarnings(log).leftOut,
});
