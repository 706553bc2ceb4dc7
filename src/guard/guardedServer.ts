/** The HTTP server of metrics, console and webhooks: bounded connections, times and bodies, expected names only, and one line when it cannot listen. */
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Connections } from './connections.ts';
import type { ConnectionLimits } from './connections.ts';

export type GuardOptions = {
  /** First word of its error messages, such as `metrics`. */
  readonly what: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** What to do when the port is taken, when this user may not have it, and when the address is not of this machine. */
  readonly remedies: { readonly taken: string; readonly forbidden: string; readonly elsewhere: string };
  /** Further names by which it may be asked, without port; null: any name. */
  readonly allowedHosts: readonly string[] | null;
  /** Sent with every answer, whatever it is. */
  readonly headers: Readonly<Record<string, string>>;
  /** Routes that take a POST; null: the routes answer every request themselves, whatever its method and path. */
  readonly posted: readonly string[] | null;
  readonly connections: ConnectionLimits;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly proxies?: readonly string[];
  readonly isProxy?: (address: string) => boolean;
  readonly bodyMax: number;
  /** ms from the first byte of a request to the last of its headers, and of its body. */
  readonly headersWithinMs: number;
  readonly requestWithinMs: number;
  /** ms for which a connection may be open without a request after the first one. */
  readonly idleMax: number;
};

/** A connection that sends and receives nothing for so long is closed. */
const SILENT_MAX_MS = 60_000;

export class GuardedServer {
  /** Takes the routes, before it listens. */
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
      routerOptions: { maxParamLength: 256 },
      trustProxy: proxies.length > 0 ? [...proxies] : false,
      clientErrorHandler: (_, socket) => refuseBroken(socket, headers),
    });
    this.connections = new Connections(this.routes.server, options.connections, options.isProxy);
    this.#guard();
  }

  /** Rejects with one line when the port cannot be had. */
  async listen(): Promise<void> {
    const { host, port } = this.#options;
    try {
      await this.routes.listen({ host, port });
    } catch (error) {
      await this.close();
      throw new Error(listenProblem(error, this.#options), { cause: error });
    }
  }

  /** Base address, with the port that was really taken. */
  get url(): string {
    const { host } = this.#options;
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /** 0 before it listens. */
  get port(): number {
    const address = this.routes.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  close(): Promise<void> {
    return this.routes.close();
  }

  /** Headers on every answer; 421 for an unexpected name, which a rebound DNS entry would send; POST on a few routes, else nothing but GET and HEAD. */
  #guard(): void {
    const { allowedHosts, headers, posted } = this.#options;
    const expected = allowedHosts === null ? () => true : namesOf(this.#options.host, allowedHosts);
    this.routes.addHook('onRequest', async ({ headers: { host = '' }, method, routeOptions }, reply) => {
      reply.headers(headers);
      if (!expected(nameOf(host.toLowerCase()))) return textAnswer(reply, 421, 'unexpected Host');
      if (posted === null || method === 'GET' || method === 'HEAD') return undefined;
      if (method === 'POST' && posted.includes(routeOptions.url ?? '')) return undefined;
      return textAnswer(reply.header('allow', 'GET, HEAD'), 405, 'only GET');
    });
    if (posted === null) return;
    this.routes.setNotFoundHandler(async (_, reply) => textAnswer(reply, 404, 'not found'));
    this.routes.setErrorHandler(async ({ statusCode = 500 }: { statusCode?: number }, _request, reply) =>
      textAnswer(reply, statusCode >= 400 && statusCode < 500 ? statusCode : 500, 'failed'),
    );
  }
}

/** Answers with a line of text. */
export const textAnswer = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain; charset=utf-8').send(`${text}\n`);

/** Whether a server may be asked by a name. A rebound DNS entry is a name; a caller that asks by number, such as a container's probe, has the number. */
function namesOf(host: string, allowed: readonly string[]): (name: string) => boolean {
  const names = new Set(['localhost', '127.0.0.1', '::1', host, ...allowed].map(name => name.toLowerCase()));
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return name => names.has(name) || (isEverywhere && isIP(name) !== 0);
}

/** The name in a Host header, without port and brackets. */
function nameOf(header: string): string {
  const [, bracketed, bare] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(header) ?? [];
  return bracketed ?? bare ?? '';
}

/** Answers what is not HTTP. */
function refuseBroken(socket: Socket, headers: GuardOptions['headers']): void {
  if (!socket.writable) return;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}content-length: 0\r\nconnection: close\r\n\r\n`);
}

function listenProblem(error: unknown, { what, host, port, remedies }: GuardOptions): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') return `${what}: port ${where} is taken by another process: ${remedies.taken}`;
  if (code === 'EACCES') return `${what}: this user may not listen on ${where}: ${remedies.forbidden}`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${what}: ${host} is no address of this machine: ${remedies.elsewhere}`;
  return `${what}: cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`;
}
