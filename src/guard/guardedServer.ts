/**
 * HTTP server of metrics, console and webhooks. Limits connections, request times and body sizes, and rejects
 * unexpected host names. If the server cannot listen, the error states the reason in one line.
 */
import { isIP, type Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
import { Connections, type ConnectionLimits } from './connections.ts';

export type GuardOptions = {
  /** First word of the server's error messages, such as `metrics`. */
  readonly what: string;
  readonly host: string;
  /** Port; 0 selects a free port. */
  readonly port: number;
  /**
   * Remedies if the port is in use, if this user may not use the port, and if the address does not belong to this
   * machine.
   */
  readonly remedies: { readonly portInUse: string; readonly forbidden: string; readonly addressNotLocal: string };
  /** Additional host names that requests may use, without port; `null` for any name. */
  readonly allowedHosts: readonly string[] | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Routes that accept a POST; `null` if the routes answer every request themselves, with any method and path. */
  readonly posted: readonly string[] | null;
  readonly connections: ConnectionLimits;
  /** Addresses of proxies whose X-Forwarded-For header is trusted. */
  readonly proxies?: readonly string[];
  readonly isProxy?: (address: string) => boolean;
  readonly bodyMax: number;
  /**
   * `headersWithinMs` is the maximum time from the first byte of a request to the end of its headers. `requestWithinMs`
   * is the maximum time to the end of the request's body.
   */
  readonly headersWithinMs: number;
  readonly requestWithinMs: number;
  /**
   * Maximum idle time between two requests of a connection, in ms. After this time, the server closes the connection.
   */
  readonly idleMax: number;
};

/** Time in ms without any byte in either direction after which the server closes a connection. */
const SILENT_MAX_MS = 60_000;

export class GuardedServer {
  /** Fastify instance that accepts routes until `listen`. */
  readonly routes: FastifyInstance;
  readonly connections: Connections;
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
    const { headers, proxies = [] } = options;
    this.routes = fastify({
      logger: false,
      bodyLimit: options.bodyMax,
      requestTimeout: options.requestWithinMs,
      connectionTimeout: SILENT_MAX_MS,
      keepAliveTimeout: options.idleMax,
      forceCloseConnections: true,
      return503OnClosing: options.posted === null,
      http: { headersTimeout: options.headersWithinMs, connectionsCheckingInterval: 500 },
      // Requests are validated as they are: nothing is converted or removed.
      ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
      routerOptions: { maxParamLength: 256 },
      trustProxy: proxies.length > 0 ? [...proxies] : false,
      clientErrorHandler: ({ code }, socket) => answerMalformed(socket, code, headers),
    });
    this.connections = new Connections(this.routes.server, options.connections, options.isProxy);
    this.#guard();
  }

  /** Starts to listen. Rejects with a one-line message if the port is unavailable. */
  async listen(): Promise<void> {
    const { host, port } = this.#options;
    try {
      await this.routes.listen({ host, port });
    } catch (error) {
      await this.close();
      throw new Error(listenProblem(error, this.#options), { cause: error });
    }
  }

  /** Base URL, with the actual port. */
  get url(): string {
    const { host } = this.#options;
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /** Actual port; 0 before `listen`. */
  get port(): number {
    const address = this.routes.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  close(): Promise<void> {
    return this.routes.close();
  }

  /**
   * Sets headers on every answer. Rejects unexpected host names with 421, which prevents DNS rebinding. Allows GET and
   * HEAD, and POST on `posted` routes; if `posted` is `null`, allows every method.
   */
  #guard(): void {
    const { allowedHosts, headers, posted } = this.#options;
    const expected = allowedHosts === null ? () => true : hostNameCheck(this.#options.host, allowedHosts);
    this.routes.addHook('onRequest', async ({ headers: { host = '' }, method, routeOptions }, reply) => {
      reply.headers(headers);
      if (!expected(hostName(host.toLowerCase()))) return textAnswer(reply, 421, 'unexpected Host');
      if (posted === null || method === 'GET' || method === 'HEAD') return undefined;
      if (method === 'POST' && posted.includes(routeOptions.url ?? '')) return undefined;
      return textAnswer(reply.header('allow', 'GET, HEAD'), 405, 'only GET');
    });
    if (posted === null) return;
    this.routes.setNotFoundHandler(async (_, reply) => textAnswer(reply, 404, 'not found'));
    this.routes.setErrorHandler(async (error: RequestError, _request, reply) => {
      const { code, text } = requestProblem(error, this.#options.bodyMax);
      return textAnswer(reply, code, text);
    });
  }
}

/** Error of a route, or of the server's reading of a request. */
export type RequestError = { readonly statusCode?: number };

/** Returns the status code of the answer to a request that failed, and its text. `bodyMax` is in bytes. */
export function requestProblem(
  { statusCode = 500 }: RequestError,
  bodyMax: number,
): { readonly code: number; readonly text: string } {
  const code = statusCode >= 400 && statusCode < 500 ? statusCode : 500;
  switch (code) {
    case 400:
      return { code, text: 'the body is not valid JSON' };
    case 413:
      return { code, text: `the body is longer than ${bodyMax / 1_024} KiB` };
    default:
      return { code, text: 'failed' };
  }
}

/** Sends an answer whose body is one line of plain text. */
export const textAnswer = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain; charset=utf-8').send(`${text}\n`);

/**
 * Returns a check of host names. On a wildcard address, such as in a container, the check accepts any IP address,
 * because DNS rebinding needs a name.
 */
function hostNameCheck(host: string, allowed: readonly string[]): (name: string) => boolean {
  const names = new Set(['localhost', '127.0.0.1', '::1', host, ...allowed].map(name => name.toLowerCase()));
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return name => names.has(name) || (isEverywhere && isIP(name) !== 0);
}

/** Returns the host name in a Host header, without port and brackets. */
function hostName(header: string): string {
  const [, bracketed, bare] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(header) ?? [];
  return bracketed ?? bare ?? '';
}

/**
 * Answers to requests that cannot be read, by the error code of Node. Browsers open connections in advance; a request
 * that meets the end of such a connection is repeated after 408, and fails after any other answer.
 */
const UNREADABLE: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Answers a client that sent no complete request in time, or something other than valid HTTP. */
function answerMalformed(socket: Socket, code: string, headers: GuardOptions['headers']): void {
  if (!socket.writable) return;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const status = UNREADABLE[code] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}content-length: 0\r\nconnection: close\r\n\r\n`);
  // Without this call, a client that neither reads nor closes would keep its half of the connection open.
  socket.destroySoon();
}

function listenProblem(error: unknown, { what, host, port, remedies }: GuardOptions): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') return `${what}: port ${where} is in use by another process; ${remedies.portInUse}`;
  if (code === 'EACCES') return `${what}: this user may not listen on ${where}; ${remedies.forbidden}`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${what}: ${host} is not an address of this machine; ${remedies.addressNotLocal}`;
  return `${what}: cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`;
}
