/**
 * Requests of Binance spot: signatures, weights and classification of replies. Source: rest-api.md of
 * github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import { createHmac, createPrivateKey, sign } from 'node:crypto';
import type { SecretText, WireReply } from '../../../core/index.ts';
import type {
  ApiRequest,
  Charge,
  EncodedRequest,
  ExchangeProtocol,
  RequestVerdict,
} from '../../transport/requestSender.ts';
import { parsedJson } from '../../wire/json.ts';
import { readContent } from '../../wire/requestParts.ts';
import { binanceCode, binanceMeaning, binanceRemedy, isBinanceTransient, refinedCode } from './errorCodes.ts';

/** Request fields that are specific to this exchange. */
export type BinanceForm = {
  /** Parameters in order, unencoded; undefined ones are omitted. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Weight of the request (tables of rest-api.md). */
  readonly weight: number;
  /** Maximum number of JSON parts in the answer; if absent, the default of `parseExactJson`. */
  readonly partsMax?: number;
};
export type SpotRequest<T> = ApiRequest<T, BinanceForm>;

/** Names of the budgets: configured requests per minute, weight of the address, new orders of the account. */
export type BinanceBudget = 'public' | 'private' | 'weight' | 'orders';

export type BinanceCredentials = { readonly key: string; readonly secret: SecretText };

export type ProtocolOptions = {
  readonly credentials: BinanceCredentials | undefined;
  /** Returns the timestamp of a signed request, in ms. */
  readonly timestamp: () => number;
  /** Called when the exchange rejects a timestamp. */
  readonly onTimestampRejected: () => void;
  /** Time after which the exchange rejects a request that is still on its way. */
  readonly recvWindowMs: number;
};

/** Returns the part of the request sender that is specific to this exchange. */
export function binanceProtocol(options: ProtocolOptions): ExchangeProtocol<BinanceForm> {
  const { credentials } = options;
  return {
    encode: (request, basePath) => encode(request, basePath, options),
    charges,
    classify: (reply, request) => {
      const verdict = classifyReply(reply, request);
      if (verdict.outcome.kind === 'refused' && verdict.outcome.code === '-1021') options.onTimestampRejected();
      return verdict;
    },
    usedWeights: ({ headers }) => {
      const used = { weight: headers['x-mbx-used-weight-1m'], orders: headers['x-mbx-order-count-10s'] };
      const counts = Object.entries(used).filter(([, text]) => text !== undefined && /^\d{1,9}$/.test(text));
      return Object.fromEntries(counts.map(([name, text]) => [name, Number(text)]));
    },
    meaningOf: binanceMeaning,
    remedyOf: binanceRemedy,
    isTransient: isBinanceTransient,
    masked: credentials ? [credentials.key, credentials.secret.reveal()] : null,
    ordered: false,
  };
}

/**
 * Returns the budgets that a request uses. A cancel is counted, because the exchange counts it, but it never waits for
 * free weight. So the limit of the weight budget must leave some weight for cancels.
 */
function charges({ lane, weight }: SpotRequest<unknown>): readonly Charge[] {
  if (lane === 'cancel') return [{ budget: 'weight', weight, as: 'counts' }];
  const own = lane === 'public read' ? 'public' : 'private';
  const both: readonly Charge[] = [{ budget: own }, { budget: 'weight', weight }];
  return lane === 'place' ? [...both, { budget: 'orders' }] : both;
}

/** Encodes parameters for a query or a body (rest-api.md, SIGNED endpoint examples). */
const encodedParams = (params: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(params)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&');

function encode(request: SpotRequest<unknown>, basePath: string, options: ProtocolOptions): EncodedRequest {
  const { method, lane, params } = request;
  const { credentials, timestamp, recvWindowMs } = options;
  const path = basePath + request.path;
  let payload = encodedParams(params);
  let signed = {};
  let headers: Record<string, string> = { accept: 'application/json' };
  if (lane !== 'public read' && credentials) {
    payload = encodedParams({ ...params, recvWindow: String(recvWindowMs), timestamp: String(timestamp()) });
    const signature = payloadSignatureOf(credentials.secret, payload);
    signed = { signature };
    payload += `&signature=${encodeURIComponent(signature)}`;
    headers = { ...headers, 'X-MBX-APIKEY': credentials.key };
  }
  if (method !== 'POST')
    return { method, target: payload === '' ? path : `${path}?${payload}`, headers, body: '', ...signed };
  return {
    method,
    target: path,
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: payload,
    ...signed,
  };
}

/**
 * Returns the signature: Base64 of an Ed25519 signature if the secret is a private key in PEM, otherwise HMAC-SHA256 in
 * lower-case hex (rest-api.md, HMAC keys and Ed25519 keys).
 */
export function payloadSignatureOf(secret: SecretText, payload: string): string {
  const text = secret.reveal();
  return text.startsWith('-----BEGIN PRIVATE KEY-----')
    ? sign(null, Buffer.from(payload, 'utf8'), createPrivateKey(text)).toString('base64')
    : createHmac('sha256', text).update(payload, 'utf8').digest('hex');
}

type ReportedError = { readonly code: string; readonly message: string };

/**
 * Classifies a reply. HTTP 5xx is always unknown (rest-api.md, HTTP return codes). An error in the answer to a write
 * counts as a rejection only if, by the table, its code proves that the write was not executed. A bare page, such as
 * the 403 of a firewall, proves nothing.
 */
export function classifyReply<T>(reply: WireReply, request: SpotRequest<T>): RequestVerdict<T> {
  const { status } = reply;
  const body = parsedJson(reply.body, request.partsMax);
  const error = reportedError(body);
  const known = error && binanceCode(error.code);
  const throttled = status === 418 || status === 429 || known?.throttled === true;
  const pause = throttled ? { pause: pauseOf(reply, error?.code) } : {};
  const said = error ? `, ${error.code} ${error.message}`.trimEnd() : '';
  const unknown = (reason: string): RequestVerdict<T> => ({
    outcome: { kind: 'unknown', reason },
    throttled,
    ...pause,
  });
  if (!(status >= 200 && status < 500) || (status >= 300 && status < 400)) return unknown(`HTTP ${status}${said}`);
  if (error) {
    const certain = status >= 400 && known?.is === 'refused';
    if (request.effect === 'write' && !certain) return unknown(`HTTP ${status}${said}`);
    return { outcome: { kind: 'refused', ...error, status }, throttled, ...pause };
  }
  if (status >= 400) return unknown(`the reply with HTTP status ${status} has no readable error`);
  if (body === undefined) return unknown(`the reply with HTTP status ${status} is not JSON`);
  return { outcome: readContent(body, request.read), throttled };
}

/** Returns which budgets pause and for how long. Without a readable `Retry-After`, a minute. */
function pauseOf({ headers }: WireReply, code: string | undefined): NonNullable<RequestVerdict<unknown>['pause']> {
  const text = headers['retry-after'] ?? '';
  const ms = /^\d{1,7}$/.test(text) ? { ms: Number(text) * 1_000 } : {};
  // The error for too many orders pauses only new orders, so cancels and reads continue.
  return { budgets: [code === '-1015' ? 'orders' : 'weight'], ...ms };
}

/** Reads the error in a body; undefined if the body is not an error. The text is cut, because it reaches logs. */
function reportedError(body: unknown): ReportedError | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const { code, msg } = body as { readonly code?: unknown; readonly msg?: unknown };
  if (typeof code !== 'number' || !Number.isSafeInteger(code) || typeof msg !== 'string') return undefined;
  const message = msg.slice(0, 300);
  return { code: refinedCode(String(code), message), message };
}
