/** HTTP over pooled sockets: one deadline per request, limited body size, no redirects, no retries. */
import { Pool, type Dispatcher } from 'undici';
import { counted, TransportFailure, type Transport, type WireReply, type WireRequest } from '../../core/index.ts';

export type HttpOptions = {
  /** Scheme, host and port, such as `https://api.bitso.com`. */
  readonly origin: string;
  /**
   * Maximum time from `send` to the last byte of the answer, in wall-clock milliseconds, even if the injected clock
   * runs faster.
   */
  readonly deadlineMs: number;
  /**
   * Maximum number of sockets. Must be at least the client's maximum number of concurrent requests, cancels included,
   * so that a cancel never waits for a socket.
   */
  readonly connections?: number;
  /** Returns the maximum size of the reply body to a request, in bytes. */
  readonly bodyMax?: (request: WireRequest) => number;
  /**
   * Whether to allow http:// to another machine, such as a sandbox in the next container. Default: false, so that a key
   * is never sent unencrypted.
   */
  readonly plainHttp?: boolean;
};

const MEBI = 1024 * 1024;
/**
 * Returns the maximum size of a reply. The only large reply is the complete book, about 630 kB on btc_mxn (public facts
 * 4.3). Text of the maximum size is parsed within tens of milliseconds.
 */
const bodyMaxOf = (request: WireRequest): number => (request.target.includes('/order_book') ? 2 : 1) * MEBI;

/** Creates the transport. Throws a RangeError on an invalid origin. */
export function httpTransport(options: HttpOptions): Transport {
  const { connections = 16, bodyMax = bodyMaxOf } = options;
  // Timers accept only whole numbers, and an accelerated deadline may have a fraction.
  const deadlineMs = Math.ceil(options.deadlineMs);
  const origin = checkedOrigin(options.origin, options.plainHttp ?? false);
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    // The timers of undici are coarse, and only a backup for the exact deadline below.
    connect: { timeout: deadlineMs },
    headersTimeout: deadlineMs + 1_000,
    bodyTimeout: deadlineMs + 1_000,
  });
  return {
    send: request =>
      new Promise((resolve, reject) => exchange(pool, request, deadlineMs, bodyMax(request), resolve, reject)),
    close: () => pool.destroy(),
  };
}

function exchange(
  pool: Pool,
  request: WireRequest,
  deadlineMs: number,
  bodyMax: number,
  resolve: (reply: WireReply) => void,
  reject: (failure: TransportFailure) => void,
): void {
  let controller: Dispatcher.DispatchController | undefined;
  let over = false;
  let head = { status: 0, headers: {} as Record<string, string> };
  let size = 0;
  const chunks: Buffer[] = [];
  const deadline = AbortSignal.timeout(deadlineMs);

  const finish = (): boolean => {
    if (over) return false;
    over = true;
    deadline.removeEventListener('abort', onDeadline);
    return true;
  };
  // The controller exists from just before the first byte is written. Without a controller, the request was never sent.
  const fail = (why: string) => {
    if (!finish()) return;
    const failure = new TransportFailure(`${request.method} ${pathOf(request)}: ${why}`, controller !== undefined);
    controller?.abort(failure);
    reject(failure);
  };
  const onDeadline = () => fail(`no complete answer within ${deadlineMs} ms`);
  deadline.addEventListener('abort', onDeadline);

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: started => {
      // Either the request was abandoned while it waited for a socket, or undici is about to write it a second time.
      // After this abort, undici writes nothing.
      if (over || controller) {
        started.abort(new TransportFailure('given up', controller !== undefined));
        fail('the connection was lost');
        return;
      }
      controller = started;
    },
    onResponseStart: (_, status, headers) => {
      head = { status, headers: flat(headers) };
      const coding = head.headers['content-encoding'];
      if (coding !== undefined && coding !== 'identity')
        fail(`the response body has the encoding ${coding}, which was not requested`);
      else if (Number(head.headers['content-length']) > bodyMax)
        fail(`the response body is larger than ${counted(bodyMax, 'byte')}`);
    },
    onResponseData: (_, chunk) => {
      size += chunk.length;
      if (size > bodyMax) fail(`the response body is larger than ${counted(bodyMax, 'byte')}`);
      else if (!over) chunks.push(chunk);
    },
    onResponseEnd: () => {
      const body = utf8(Buffer.concat(chunks));
      if (body === undefined) fail('the response body is not UTF-8');
      else if (finish()) resolve({ ...head, body });
    },
    onResponseError: (_, error) => fail(causeOf(error)),
  };
  try {
    pool.dispatch(
      { method: request.method, path: request.target, headers: request.headers, body: request.body || null },
      handler,
    );
  } catch (error) {
    fail(causeOf(error));
  }
}

function checkedOrigin(text: string, plainHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.origin !== text.replace(/\/$/, '')) {
    throw new RangeError(`expected an origin like https://api.bitso.com, found ${JSON.stringify(text)}`);
  }
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (local || plainHttp))) {
    throw new RangeError(`${text}: expected https://; http:// is allowed only for addresses of this machine`);
  }
  return url.origin;
}

const flat = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value ?? ''].flat().join(', ')]),
  );

/** Decodes strictly: returns undefined for invalid UTF-8, which means that the reply is incomplete. */
function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the path without the query. It goes into error messages, which reach logs, and a query can contain ids. */
const pathOf = (request: WireRequest): string => request.target.split('?', 1)[0]!;

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const message = error.message || (error instanceof AggregateError ? error.errors.map(String).join('; ') : error.name);
  return code && !message.includes(code) ? `${code} ${message}` : message;
}
