/** The console over HTTP: one page, its parts, the live view as a stream of events, and moments of the past. Without an operator's token nothing can be done through it. */
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleAccess } from './access.ts';
import { addAccess, openDoor, POSTED } from './accessRoutes.ts';
import type { Doorkeeper } from './accessRoutes.ts';
import type { ConsoleActions } from './approvals.ts';
import { DOCUMENT } from './document.ts';
import { LiveStreams } from './liveStreams.ts';
import type { ShownSession } from './page/view.ts';
import { STYLE } from './style.ts';

export type ConsoleSource = {
  /** The page's scripts and the libraries that they need, by name, and their style. */
  readonly scripts: Readonly<Record<string, string>>;
  readonly libraryStyle: string;
  /** Points and fills of the run that goes on, as JSON; null before there is one. */
  history(): string | null;
  /** A moment of the past, as JSON on one line: a view and a history, or `null`. Rejects when the recording cannot be read. */
  past(at: number, signal: AbortSignal, onProgress: (share: number) => void): Promise<string>;
};

export type ConsoleServer = {
  /** Base address, with the port that was really taken. */
  readonly url: string;
  /** Pages that listen. */
  readonly pages: number;
  /** To every open page: a view as JSON on one line. */
  send(view: string): void;
  /** Keeps lines up while nothing changes. */
  ping(): void;
  close(): Promise<void>;
};

export type ConsoleOptions = {
  /** Tokens; null: everybody reads, and nobody acts. */
  readonly access?: ConsoleAccess | null;
  /** What an operator may do; null: nothing. */
  readonly actions?: ConsoleActions | null;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Further names by which it may be asked, without port. */
  readonly allowedHosts?: readonly string[];
};

/** More pages than this are turned away. */
const PAGES_MAX = 200;

/** Rejects with one line when the port cannot be had. */
export async function serveConsole(source: ConsoleSource, options: ConsoleOptions): Promise<ConsoleServer> {
  const streams = new LiveStreams();
  const server = fastify({
    logger: false,
    bodyLimit: 8_192,
    requestTimeout: 5_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 15_000,
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 64 },
    clientErrorHandler: refuseBroken,
  });
  server.server.maxConnections = PAGES_MAX + 64;
  guard(server, options);
  addPage(server, source);
  const door = addDoor(server, options);
  addData(server, source, streams, door);
  try {
    await server.listen({ host: options.host, port: options.port });
  } catch (error) {
    await server.close();
    throw new Error(listenProblem(error, options), { cause: error });
  }
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the console listens on no port');
  const name = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${name}:${address.port}`,
    get pages() {
      return streams.count;
    },
    send: view => streams.send(view),
    ping: () => streams.ping(),
    close: async () => {
      streams.close();
      await server.close();
    },
  };
}

/** Of every answer, whatever it is. Styles are set by the page's scripts through properties, which needs no leave. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Headers on every answer; 421 for an unexpected name, which a rebound DNS entry would send; 403 for another site's page; POST on a few routes, else nothing but GET and HEAD. */
function guard(server: FastifyInstance, { host, allowedHosts = [], access = null }: ConsoleOptions): void {
  const names = new Set(['localhost', '127.0.0.1', '::1', host, ...allowedHosts].map(name => name.toLowerCase()));
  const everywhere = host === '0.0.0.0' || host === '::';
  const expected = (name: string) => names.has(name) || (everywhere && isIP(name) !== 0);
  const posted: readonly string[] = access === null ? [] : POSTED;
  server.addHook('onRequest', async ({ headers, method, routeOptions }, reply) => {
    reply.headers(HEADERS);
    const asked = (headers.host ?? '').toLowerCase();
    if (!expected(nameOf(asked))) return plain(reply, 421, 'unexpected Host');
    const { origin } = headers;
    const site = headers['sec-fetch-site'];
    const isOwn = origin === undefined || origin.toLowerCase().replace(/^https?:\/\//, '') === asked;
    if (!isOwn || (site !== undefined && site !== 'same-origin' && site !== 'none'))
      return plain(reply, 403, 'unexpected Origin');
    if (method === 'GET' || method === 'HEAD') return undefined;
    if (method !== 'POST' || !posted.includes(routeOptions.url ?? ''))
      return plain(reply.header('allow', 'GET, HEAD'), 405, 'only GET');
    // Every browser sends it with a POST.
    if (origin?.toLowerCase() !== `${access?.behindTls === true ? 'https' : 'http'}://${asked}`)
      return plain(reply, 403, 'unexpected Origin');
    if (headers['content-type'] !== 'application/json') return plain(reply, 415, 'only application/json');
    return undefined;
  });
  server.setNotFoundHandler(async (_, reply) => plain(reply, 404, 'not found'));
  server.setErrorHandler(async ({ statusCode = 500 }: { statusCode?: number }, _request, reply) =>
    plain(reply, statusCode >= 400 && statusCode < 500 ? statusCode : 500, 'failed'),
  );
}

function addDoor(server: FastifyInstance, { access = null, actions = null }: ConsoleOptions): Doorkeeper {
  const port = (): number => {
    const address = server.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };
  if (access !== null) return addAccess(server, access, actions, port);
  const nobody: ShownSession = {
    ...{ hasLogin: false, mustLogIn: false, role: null, name: '', actions: [], whyNot: null },
  };
  server.get('/session', async () => nobody);
  return openDoor;
}

/** What is not HTTP. */
function refuseBroken(_: Error, socket: Socket): void {
  if (!socket.writable) return;
  const headers = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${headers.join('')}content-length: 0\r\nconnection: close\r\n\r\n`);
}

function addPage(server: FastifyInstance, { scripts, libraryStyle }: ConsoleSource): void {
  const serve = (path: string, type: string, text: string) =>
    server.get(path, async (_, reply) => reply.type(`${type}; charset=utf-8`).send(text));
  serve('/', 'text/html', DOCUMENT);
  serve('/style.css', 'text/css', `${libraryStyle}\n${STYLE}`);
  serve('/icon.svg', 'image/svg+xml', ICON);
  for (const [name, text] of Object.entries(scripts)) serve(`/${name}`, 'text/javascript', text);
}

function addData(server: FastifyInstance, source: ConsoleSource, streams: LiveStreams, door: Doorkeeper): void {
  const onlyReaders = async (request: FastifyRequest, reply: FastifyReply) =>
    door.mayRead(request) === null ? plain(reply, 401, 'log in first') : undefined;
  server.get('/healthz', async (_, reply) => plain(reply, 200, 'ok'));
  server.get('/live', async (request, reply) => {
    const may = door.mayRead(request);
    const { raw } = request;
    if (may === null) return plain(reply, 401, 'log in first');
    if (streams.count >= PAGES_MAX) return plain(reply, 503, 'too many pages are open');
    reply.hijack();
    // Nothing is sent while nothing changes: that is no reason to end it. A reader who is gone without a word is found by TCP.
    raw.socket.setTimeout(0);
    raw.socket.setKeepAlive(true, 30_000);
    reply.raw.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
    streams.add(reply.raw, may);
    return reply;
  });
  server.get('/history', { preHandler: onlyReaders }, async (_, reply) => {
    const history = source.history();
    return history === null ? plain(reply, 503, 'nothing yet') : reply.type('application/json').send(history);
  });
  // Lines of JSON: how much was replayed, as often as that changes, and at last the moment.
  server.get<{ Querystring: { at?: string } }>('/past', { preHandler: onlyReaders }, async ({ query, raw }, reply) => {
    const at = Number(query.at);
    if (query.at === undefined || !/^\d{1,15}$/.test(query.at))
      return plain(reply, 400, 'expected ?at=, ms since 1970');
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    reply.hijack();
    reply.raw.writeHead(200, { ...HEADERS, 'content-type': 'application/x-ndjson; charset=utf-8' });
    if (raw.method === 'HEAD') return reply.raw.end();
    const tell = (line: string) => reply.raw.write(`${line}\n`);
    try {
      tell(await source.past(at, gone.signal, share => tell(JSON.stringify({ share }))));
    } catch (error) {
      tell(JSON.stringify({ problem: error instanceof Error ? error.message : String(error) }));
    }
    return reply.raw.end();
  });
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b2733"/><path d="M3 5h10M3 11h10" stroke="#d55e00" stroke-width="2"/><path d="M3 11h10" stroke="#58a6ff" stroke-width="2"/></svg>`;

const plain = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain; charset=utf-8').send(`${text}\n`);

/** The name in a Host header, without port and brackets. */
const nameOf = (header: string): string => {
  const [, bracketed, bare] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(header) ?? [];
  return bracketed ?? bare ?? '';
};

function listenProblem(error: unknown, { host, port }: ConsoleOptions): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE')
    return `console: port ${where} is taken by another process: name another one with --port, or 0 for any`;
  if (code === 'EACCES')
    return `console: this user may not listen on ${where}: name a port of 1024 or above with --port`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `console: ${host} is no address of this machine`;
  return `console: cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`;
}
