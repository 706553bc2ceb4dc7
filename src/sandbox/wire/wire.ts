/** Wire format of the exchange: envelopes, timestamps and numbers. */
import { textOfMoney, type Millis, type Money, type WireReply } from '../../core/index.ts';
import { refused, statusOf, type Code, type Refused } from './codes.ts';
import type { Switches } from '../switches/switches.ts';

/** Wire values of `time_in_force` (rest-api 4.1). */
export type TimeInForceWord = 'goodtillcancelled' | 'fillorkill' | 'immediateorcancel' | 'postonly';

const JSON_TYPE = { 'content-type': 'application/json' } as const;

/**
 * Returns a reply of status 200 with the payload in the v3 envelope (public-facts 3). RFQ has no envelope; see `bare`.
 */
export const success = (payload: unknown): WireReply => reply(200, JSON.stringify({ success: true, payload }));
/** Returns the reply of `success` for a payload that is already JSON text. */
export const successText = (payload: string): WireReply => reply(200, `{"success":true,"payload":${payload}}`);

/** Returns an error reply. Its `details` are empty, as in every reply captured from the exchange (public-facts 3). */
export const failure = ({ code, message }: Refused): WireReply =>
  reply(statusOf(code), JSON.stringify({ success: false, error: { code, message, details: [] } }));
/** Returns the error reply of a code with its status; `about` is appended to the message of the code. */
export const failureOf = (code: Code, about?: string): WireReply => failure(refused(code, about));

/**
 * Returns a reply. `body` is JSON text; an empty body, as for an unknown path (public-facts 3), has no content type.
 */
export const reply = (status: number, body: string): WireReply => ({
  status,
  headers: body === '' ? {} : JSON_TYPE,
  body,
});

const iso = (at: Millis): string => new Date(at).toISOString();
/** Formats a time as 2026-01-02T03:04:05+00:00, as ticker and order_book do in captured replies. */
const timeColon = (at: Millis): string => `${iso(at).slice(0, 19)}+00:00`;
/** Formats a time as 2026-01-02T03:04:05+0000, as in trades, user_trades and account creation. */
export const timePlain = (at: Millis): string => `${iso(at).slice(0, 19)}+0000`;
/** Formats a time as 2026-01-02T03:04:05.678+00:00, as in orders and order_trades. */
export const timeMillis = (at: Millis): string => `${iso(at).slice(0, 23)}+00:00`;

/** Formats a time for ticker and order_book, in the format that the switch `bookTimes` selects. */
export const timeOfBook = (at: Millis, { bookTimes }: Pick<Switches, 'bookTimes'>): string =>
  bookTimes === 'milliseconds' ? timeMillis(at) : timeColon(at);

/** Formats money with eight decimals, as the wire format requires. */
export const text8 = (sum: Money): string => textOfMoney(sum, 8);
