/** Error codes of RFQ with their HTTP status, and their replies (rfq 4 and 7). */
import { textOfMoney, type Millis, type Money, type WireReply } from '../../core/index.ts';
import { reply } from '../wire/wire.ts';

/** HTTP status and text of each code. Puntas chose the texts. */
const TABLE = {
  fetching_pairs_api_error: [500, 'The pairs could not be fetched'],
  invalid_source_currency: [400, 'The source currency is invalid or missing'],
  invalid_target_currency: [400, 'The target currency is invalid or missing'],
  invalid_source_number_format: [400, 'The source amount is not a valid number'],
  invalid_target_number_format: [400, 'The target amount is not a valid number'],
  both_amounts_missing: [400, 'The source amount or the target amount is required'],
  invalid_provided_amount: [400, 'The provided amount is incorrect'],
  invalid_source_precision: [400, 'The source amount has too many decimals'],
  invalid_target_precision: [400, 'The target amount has too many decimals'],
  quote_not_found: [400, 'The quote does not exist or has expired'],
  insufficient_funds: [400, 'The balance is too low'],
  quote_already_executed: [400, 'The quote has already been executed'],
  quote_cancelled: [400, 'The quote was canceled before its execution'],
  bad_request: [400, 'The request is malformed'],
  invalid_page_token_received: [400, 'The page token is invalid'],
  forbidden_request: [403, 'The account lacks the permission for this call'],
  rfq_conversion_not_found: [404, 'The conversion does not exist'],
  failed_creating_page_token: [500, 'The page token could not be created'],
  failed_creating_page_token_placeholder: [500, 'The page token could not be created'],
  unexpected: [500, 'An unexpected error occurred'],
} as const satisfies Record<string, readonly [number, string]>;

/** Code for a second execution of a quote. */
export const EXECUTED_BEFORE = 'quote_already_executed' satisfies RfqCode;

export type RfqCode = keyof typeof TABLE;
export const RFQ_CODES = Object.keys(TABLE) as readonly RfqCode[];

export type RfqRefused = { readonly kind: 'refused'; readonly code: RfqCode; readonly about?: string };
export type RfqVerdict<T> = { readonly kind: 'done'; readonly value: T } | RfqRefused;

/** Returns a rejection; `about` is appended to the text of the code in the reply. */
export const rfqRefused = (code: RfqCode, about?: string): RfqRefused => ({
  kind: 'refused',
  code,
  ...(about !== undefined && { about }),
});

/** Returns the error reply with the code's status: 400, 403, 404 or 500 (rfq 4.1 to 4.6). */
export function rfqFailure({ code, about }: RfqRefused): WireReply {
  const [status, meaning] = TABLE[code];
  return rfqErrors(status, code, about === undefined ? meaning : `${meaning}: ${about}`);
}

/** Returns an RFQ error reply. */
export const rfqErrors = (status: number, code: string, message: string): WireReply =>
  reply(status, JSON.stringify({ errors: [{ code, message }] }));

/** Returns a reply of status 200 with `value` as JSON, without envelope (public-facts 14). */
export const bare = (value: unknown): WireReply => reply(200, JSON.stringify(value));

/** Formats a time as 2026-01-02T03:04:05Z (rfq 1), without fractions of a second. */
export const timeSeconds = (at: Millis): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Formats an amount as the shortest exact text. */
export const deskAmount = (sum: Money): string => textOfMoney(sum);
/** Formats a rate with 2 to 12 decimals; the rate is already rounded. */
export const rateText = (rate: Money): string => textOfMoney(rate, 2);
