/**
 * HTTP server of the console: one page with its scripts, the live view as an event stream, and past views. Without an
 * operator token the console is read-only.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GuardedServer, textAnswer } from '../guard/index.ts';
import type { ConsoleAccess } from './access.ts';
import { addAccess, openAccess, POSTED, type Doorkeeper } from './accessRoutes.ts';
import { addApi, type ConsoleApi } from './apiRoutes.ts';
import { API_POSTED } from './apiSchemas.ts';
import type { ConsoleActions } from './approvals.ts';
import { DOCUMENT } from './document.ts';
import { LiveStreams } from './liveStreams.ts';
import type { ShownSession } from './page/view.ts';
import { STYLE } from './style.ts';

export type ConsoleSource = {
  /** Scripts of the page and of its libraries, by file name. */
  readonly scripts: Readonly<Record<string, string>>;
  /** CSS of the libraries. */
  readonly libraryStyle: string;
  /** Returns points and fills of the current run as JSON, or null before the first run. */
  history(): string | null;
  /**
   * Resolves to a past view and its history as JSON on one line, or to the JSON `null` if there is no view at that
   * time. Rejects if the recording cannot be read.
   */
  past(at: number, signal: AbortSignal, onProgress: (share: number) => void): Promise<string>;
};

export type ConsoleServer = {
  /** Base address, with the actual port. */
  readonly url: string;
  /** Number of open pages. */
  readonly pages: number;
  /** Sends a view to every open page, as JSON on one line. */
  send(view: string): void;
  /** Keeps connections alive while nothing changes. */
  ping(): void;
  close(): Promise<void>;
};

export type ConsoleOptions = {
  /** Access tokens. If `null`, everyone can read, and actions are off. */
  readonly access?: ConsoleAccess | null;
  /** Actions of operators; `null` if the console is read-only. */
  readonly actions?: ConsoleActions | null;
  /** Reads and actions of the HTTP API; absent if there is none. */
  readonly api?: ConsoleApi;
  readonly host: string;
  /** Port; 0 selects a free port. */
  readonly port: number;
  /** Additional host names that requests may use, without port. */
  readonly allowedHosts?: readonly string[];
};

/**
 * Maximum number of connections of each role, for open pages and for requests. Only another operator's connection can
 * replace an operator's connection.
 */
const CONNECTIONS = { anonymous: { all: 264 }, viewer: { all: 164 }, operator: { all: 96 } };

/** Starts the console. Rejects with a one-line message if the port is not available. */
export async function serveConsole(source: ConsoleSource, options: ConsoleOptions): Promise<ConsoleServer> {
  const streams = new LiveStreams();
  const { access = null } = options;
  const server = new GuardedServer({
    what: 'console',
    host: options.host,
    port: options.port,
    remedies: {
      portInUse: 'choose another port with --port, or 0 for any free port',
      forbidden: 'choose a port of 1024 or above with --port',
      addressNotLocal: 'choose an available address with --host',
    },
    allowedHosts: options.allowedHosts ?? [],
    headers: HEADERS,
    posted: access === null ? [] : [...POSTED, ...API_POSTED],
    connections: CONNECTIONS,
    bodyMax: 8_192,
    headersWithinMs: 2_000,
    requestWithinMs: 5_000,
    idleMax: 15_000,
  });
  refuseOtherSites(server.routes, access);
  addPage(server.routes, source);
  const door = addDoor(server, options);
  server.routes.addHook('onRequest', async request =>
    server.connections.setRole(request.raw.socket, door.roleOf(request)),
  );
  addData(server.routes, source, streams, door);
  if (options.api)
    addApi(server.routes, options.api, request => door.apiAccess(request), (access?.viewerToken ?? null) === null);
  await server.listen();
  return {
    url: server.url,
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

/**
 * Headers of every answer. The page's scripts set styles through properties, which the content security policy allows.
 */
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

/**
 * Rejects requests from other sites with 403, and also POSTs to the page without the Origin header that every browser
 * sends. Rejects POSTs that are not JSON with 415.
 */
function refuseOtherSites(server: FastifyInstance, access: ConsoleAccess | null): void {
  server.addHook('onRequest', async ({ headers, method, url }, reply) => {
    const { origin, host = '' } = headers;
    const asked = host.toLowerCase();
    const site = headers['sec-fetch-site'];
    const isOwn = origin === undefined || origin.toLowerCase().replace(/^https?:\/\//, '') === asked;
    if (!isOwn || (site !== undefined && site !== 'same-origin' && site !== 'none'))
      return textAnswer(reply, 403, 'unexpected Origin');
    if (method !== 'POST') return undefined;
    // Programs send no Origin. The API takes no cookie for a POST, so a page of another site cannot act there anyway.
    const isProgram = origin === undefined && url.startsWith('/api/');
    if (!isProgram && origin?.toLowerCase() !== `${access?.behindTls === true ? 'https' : 'http'}://${asked}`)
      return textAnswer(reply, 403, 'unexpected Origin');
    if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(headers['content-type'] ?? ''))
      return textAnswer(reply, 415, 'only application/json');
    return undefined;
  });
}

function addDoor(server: GuardedServer, { access = null, actions = null }: ConsoleOptions): Doorkeeper {
  if (access !== null) return addAccess(server.routes, access, actions, () => server.port);
  const nobody: ShownSession = {
    ...{ hasLogin: false, mustLogIn: false, role: null, name: '', actions: [], whyNot: null },
  };
  server.routes.get('/session', async () => nobody);
  return openAccess;
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
    door.mayRead(request) === null ? textAnswer(reply, 401, 'log in first') : undefined;
  server.get('/healthz', async (_, reply) => textAnswer(reply, 200, 'ok'));
  server.get('/live', async (request, reply) => {
    const may = door.mayRead(request);
    const { raw } = request;
    if (may === null) return textAnswer(reply, 401, 'log in first');
    reply.hijack();
    // A stream without changes sends nothing, so it has no idle timeout. TCP keep-alive detects closed pages.
    raw.socket.setTimeout(0);
    raw.socket.setKeepAlive(true, 30_000);
    reply.raw.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
    streams.add(reply.raw, may, door.roleOf(request), request.ip);
    return reply;
  });
  server.get('/history', { preHandler: onlyReaders }, async (_, reply) => {
    const history = source.history();
    return history === null ? textAnswer(reply, 503, 'nothing yet') : reply.type('application/json').send(history);
  });
  // The response is a sequence of JSON lines: the progress of the replay whenever it changes, then the view of the
  // requested time, or the problem.
  server.get<{ Querystring: { at?: string } }>('/past', { preHandler: onlyReaders }, async ({ query, raw }, reply) => {
    const at = Number(query.at);
    if (query.at === undefined || !/^\d{1,15}$/.test(query.at))
      return textAnswer(reply, 400, 'expected ?at= with a time in ms since 1970');
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
