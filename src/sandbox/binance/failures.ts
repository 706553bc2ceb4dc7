/**
 * Error answers of the second exchange: codes with status and messages. Source of codes and messages: errors.md of
 * github.com/binance/binance-spot-api-docs at a5e0bc3. That source has no HTTP status for a code; the statuses are
 * common knowledge, not verified.
 */
import type { WireReply } from '../../core/index.ts';
import { reply } from '../wire/wire.ts';

const STATUS: ReadonlyMap<number, number> = new Map([
  [-1000, 500],
  [-1001, 500],
  [-1006, 500],
  [-1007, 408],
  [-1008, 503],
  [-1003, 429],
  [-1015, 429],
  [-2014, 401],
  [-2015, 401],
]);

/** Error answer as a value that handlers throw and the dispatcher turns into a reply. */
export class BinanceFailure extends Error {
  readonly code: number;
  readonly status: number;
  readonly retryAfterS: number | null;

  /** `status` overrides the status of the code; `retryAfterS` adds the header Retry-After. */
  constructor(code: number, message: string, status = STATUS.get(code) ?? 400, retryAfterS: number | null = null) {
    super(message);
    this.name = 'BinanceFailure';
    this.code = code;
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

/** Returns the reply of a failure. */
export function failureReply({ code, message, status, retryAfterS }: BinanceFailure): WireReply {
  const answer = reply(status, JSON.stringify({ code, msg: message }));
  if (retryAfterS === null) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfterS) } };
}

/** Returns an HTML page from a proxy in front of the exchange. Unlike error answers, the page has no error code. */
export const proxyPage = (status: number, title: string): WireReply => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html>\r\n<head><title>${status} ${title}</title></head>\r\n<body><h1>${status} ${title}</h1></body>\r\n</html>\r\n`,
});

export const REFUSALS = {
  illegal: (name: string, range: string): BinanceFailure =>
    new BinanceFailure(-1100, `Illegal characters found in parameter '${name}'; legal range is '${range}'.`),
  invalid: (name: string): BinanceFailure =>
    new BinanceFailure(-1130, `Data sent for parameter '${name}' is not valid.`),
  combination: (): BinanceFailure => new BinanceFailure(-1128, 'Combination of optional parameters invalid.'),
  insufficient: (): BinanceFailure =>
    new BinanceFailure(-2010, 'Account has insufficient balance for requested action.'),
  duplicate: (): BinanceFailure => new BinanceFailure(-2010, 'Duplicate order sent.'),
  wouldMatch: (): BinanceFailure => new BinanceFailure(-2010, 'Order would immediately match and take.'),
  filter: (name: string): BinanceFailure => new BinanceFailure(-1013, `Filter failure: ${name}`),
  closed: (): BinanceFailure => new BinanceFailure(-1013, 'Market is closed.'),
  noOrder: (): BinanceFailure => new BinanceFailure(-2013, 'Order does not exist.'),
  unknownOrder: (): BinanceFailure => new BinanceFailure(-2011, 'Unknown order sent.'),
  symbol: (): BinanceFailure => new BinanceFailure(-1121, 'Invalid symbol.'),
  noKey: (): BinanceFailure => new BinanceFailure(-2014, 'API-key format invalid.'),
  badKey: (): BinanceFailure => new BinanceFailure(-2015, 'Invalid API-key, IP, or permissions for action.'),
  signature: (): BinanceFailure => new BinanceFailure(-1022, 'Signature for this request is not valid.'),
  late: (): BinanceFailure => new BinanceFailure(-1021, 'Timestamp for this request is outside of the recvWindow.'),
  early: (): BinanceFailure =>
    new BinanceFailure(-1021, "Timestamp for this request was 1000ms ahead of the server's time."),
} as const;
