/** Rows that could not be read: whether they concern the bot. */
import { describeRow, pairOrNull } from '../../core/index.ts';
import type { Outcome, UnreadableRow } from '../../core/index.ts';
import type { Failed } from '../failed.ts';

/** `possibly`: the row has no id by which it could be told. */
export type Concern = 'yes' | 'no' | 'possibly';

/** What identifies an order of the bot. */
export type OwnOrders = {
  readonly book: string;
  /** Prefix of the bot's origin ids, without its dash. */
  readonly instance: string;
  /** Whether this oid is of an order of the bot; absent if no oid is known. */
  readonly ownsOid?: (oid: string) => Concern;
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

export const unreadableOf = (outcome: Outcome<unknown>): readonly UnreadableRow[] =>
  outcome.kind === 'done' ? (outcome.unreadable ?? []) : [];
