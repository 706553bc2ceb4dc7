/** The exchange's spelling on the wire: envelopes, timestamps and numbers. */
import { textOfMoney } from '../../core/index.ts';
import type { Millis, Money, WireReply } from '../../core/index.ts';
import { refused, statusOf } from './codes.ts';
import type { Code, Refused } from './codes.ts';
import type { Switches } from '../switches/switches.ts';

/** rest-api 4.1. */
export type TimeInForceWord = 'goodtillcancelled' | 'fillorkill' | 'immediateorcancel' | 'postonly';

const JSON_TYPE = { 'content-type': 'application/json' } as const;

/** Status 200, the payload as JSON inside the envelope of v3 (public-facts 3). RFQ has none: `bare`. */
export const success = (payload: unknown): WireReply => reply(200, JSON.stringify({ success: true, payload }));
/** For payloads whose JSON is at hand already. */
export const successText = (payload: string): WireReply => reply(200, `{"success":true,"payload":${payload}}`);

/** `details` is there, and empty, in every capture (public-facts 3). */
export const failure = ({ code, message }: Refused): WireReply =>
  reply(statusOf(code), JSON.stringify({ success: false, error: { code, message, details: [] } }));
/** `about` comes behind the wording of the code, which decides the status. */
export const failureOf = (code: Code, about?: string): WireReply => failure(refused(code, about));

/** `body` is JSON text; an empty one, as of an unknown path (public-facts 3), has no content type. */
export const reply = (status: number, body: string): WireReply => ({
  status,
  headers: body === '' ? {} : JSON_TYPE,
  body,
});

const iso = (at: Millis): string => new Date(at).toISOString();
/** 2026-01-02T03:04:05+00:00: ticker and order_book as captured from the wire. */
const timeColon = (at: Millis): string => `${iso(at).slice(0, 19)}+00:00`;
/** 2026-01-02T03:04:05+0000: trades, user_trades, account creation. */
export const timePlain = (at: Millis): string => `${iso(at).slice(0, 19)}+0000`;
/** 2026-01-02T03:04:05.678+00:00: orders and order_trades. */
export const timeMillis = (at: Millis): string => `${iso(at).slice(0, 23)}+00:00`;

/** Of ticker and order_book. */
export const timeOfBook = (at: Millis, { bookTimes }: Pick<Switches, 'bookTimes'>): string =>
  bookTimes === 'milliseconds' ? timeMillis(at) : timeColon(at);

/** Money with the eight decimals of the wire. */
export const text8 = (sum: Money): string => textOfMoney(sum, 8);
