/**
 * Authentication of the second exchange: key in a header, HMAC-SHA256 over query and body, and the request's time.
 * Source: rest-api.md (request security) of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Millis, WireRequest } from '../../core/index.ts';
import type { ApiKey, Permission } from '../venue/accounts.ts';
import { BinanceFailure, REFUSALS } from './failures.ts';
import type { RequestFields } from './requestFields.ts';

const WINDOW_MS = 5_000;
const WINDOW_MAX_MS = 60_000;
/** Maximum time by which a request's timestamp may be ahead of the exchange clock, in ms. */
const AHEAD_MS = 1_000;
/** Unit of a timestamp: above this number microseconds since 1970, below it milliseconds. */
const MICROSECONDS_FROM = 1e14;

/** Returns the signature of a payload in lower-case hex. */
export const payloadSignature = (secret: string, payload: string): string =>
  createHmac('sha256', secret).update(payload).digest('hex');

/**
 * Returns the key of a signed request. Checks in this order: key present (-2014), parameters present (-1102), time
 * (-1021), key known and allowed (-2015), signature (-1022). The order is common knowledge, not verified.
 */
export function signerOf(
  request: WireRequest,
  query: string,
  fields: RequestFields,
  keys: ReadonlyMap<string, ApiKey>,
  permission: Permission,
  now: Millis,
): ApiKey {
  const text = request.headers['x-mbx-apikey'] ?? request.headers['X-MBX-APIKEY'];
  if (text === undefined || !/^[A-Za-z0-9]{8,128}$/.test(text)) throw REFUSALS.noKey();
  const signature = fields.needed('signature');
  const timestamp = Number(fields.needed('timestamp'));
  const windowMs = recvWindowOf(fields.text('recvWindow'));
  const sentAt = timestamp > MICROSECONDS_FROM ? timestamp / 1_000 : timestamp;
  if (!(sentAt >= 0)) throw REFUSALS.illegal('timestamp', '^[0-9]{1,20}$');
  if (!(sentAt < now + AHEAD_MS)) throw REFUSALS.early();
  if (!(now - sentAt <= windowMs)) throw REFUSALS.late();
  const key = keys.get(text);
  if (!key || !key.active || !key.permissions.has(permission)) throw REFUSALS.badKey();
  const payload = withoutSignature(query) + withoutSignature(request.body);
  const wanted = Buffer.from(payloadSignature(key.secret, payload), 'latin1');
  const given = Buffer.from(signature.toLowerCase(), 'latin1');
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) throw REFUSALS.signature();
  return key;
}

function recvWindowOf(text: string | undefined): number {
  if (text === undefined) return WINDOW_MS;
  if (!/^\d{1,8}(?:\.\d{1,3})?$/.test(text)) throw REFUSALS.illegal('recvWindow', '^[0-9]{1,20}$');
  const ms = Number(text);
  if (!(ms <= WINDOW_MAX_MS)) throw new BinanceFailure(-1131, 'recvWindow must be less than 60000.');
  return ms;
}

/** Returns a part of the payload without its signature, exactly as sent. */
const withoutSignature = (part: string): string => part.replace(/(?:^|&)signature=[^&]*/, '').replace(/^&/, '');
