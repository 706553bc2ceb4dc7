/**
 * Pages of the conversion list. A client that reads all pages gets every conversion exactly once, even if conversions
 * are added meanwhile (rfq 4.6).
 */
import type { PageTokens } from '../wire/pageTokens.ts';
import type { DeskConversion } from './rfq.ts';
import { rfqRefused, type RfqVerdict } from './rfqCodes.ts';
import type { Switches } from '../switches/switches.ts';

export type ConversionPage = {
  readonly list: readonly DeskConversion[];
  readonly next: string | undefined;
  /** Number of conversions over all pages. */
  readonly total: number;
};

const STATUSES: readonly string[] = ['PENDING', 'FAILED', 'COMPLETED'];
const PAGE_SIZE = 100;

/**
 * Returns a page of conversions. A token names the last conversion of the previous page, and is valid only with the
 * order and status filter of that page.
 */
export function conversionPage(
  all: readonly DeskConversion[],
  accountId: string,
  query: ReadonlyMap<string, string>,
  tokens: PageTokens,
  switches: Switches,
): RfqVerdict<ConversionPage> {
  const { rfqListOrder: order } = switches;
  const status = query.get('status') ?? '';
  if (status !== '' && !STATUSES.includes(status)) return rfqRefused('bad_request', 'status');
  const sizeText = query.get('page_size') ?? '';
  if (!/^\d{0,9}$/.test(sizeText) || /^0+$/.test(sizeText)) return rfqRefused('bad_request', 'page_size');
  const size = Math.min(sizeText === '' ? PAGE_SIZE : Number(sizeText), switches.rfqPageSizeMax);

  let after: string | null = null;
  const token = query.get('page_token') ?? '';
  if (token !== '') {
    const opened = tokens.open(accountId, token);
    const prefix = `${order}|${status}|`;
    if (opened?.startsWith(prefix) !== true) return rfqRefused('invalid_page_token_received');
    after = opened.slice(prefix.length);
  }
  const key = (conversion: DeskConversion) => sortKey(conversion, order);
  const wanted = all
    .filter(conversion => status === '' || conversion.status === status)
    .sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const rest = after === null ? wanted : wanted.filter(conversion => key(conversion) > after);
  const list = rest.slice(0, size);
  const more = rest.length > list.length;
  if (more && switches.rfqPageTokens !== 'encrypted') return rfqRefused(switches.rfqPageTokens);
  const last = switches.rfqLastToken === 'empty' ? '' : undefined;
  const next = more ? tokens.seal(accountId, `${order}|${status}|${key(list[list.length - 1]!)}`) : last;
  return { kind: 'done', value: { list, next, total: wanted.length } };
}

/** Returns the sort key of a conversion. The text order of the keys is the order of the list. */
function sortKey({ id, number }: DeskConversion, order: Switches['rfqListOrder']): string {
  if (order === 'by id') return id;
  return String(order === 'oldest first' ? number : 1e15 - number).padStart(16, '0');
}
