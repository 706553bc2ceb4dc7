/**
 * Guarded HTTP server of a page with a live event stream: limits, headers, login, and the page's files. Console and
 * fleet page use it.
 */
import type { FastifyInstance } from 'fastify';
import { GuardedServer, textAnswer } from '../guard/index.ts';
import type { ConsoleAccess } from './access.ts';
import { addAccess, openAccess, POSTED, type RequestAccess } from './accessRoutes.ts';
import { API_BODY_MAX, BOOK_PATTERN } from './apiSchemas.ts';
import type { ConsoleActions } from './approvals.ts';
import type { LiveStreams } from './liveStreams.ts';
import type { ShownSession } from './page/view.ts';

export type PageAddress = {
  readonly host: string;
  /** Port; 0 selects a free port. */
  readonly port: number;
  /** Additional host names that requests may use, without port. */
  readonly allowedHosts?: readonly string[];
};

export type PageServerOptions = PageAddress & {
  /** First word of the server's error messages. */
  readonly what: string;
  /** Access tokens. If `null`, everyone can read, and actions are off. */
  readonly access: ConsoleAccess | null;
  readonly actions: ConsoleActions | null;
  /** Further routes that accept a POST, if there are access tokens. */
  readonly posted: readonly string[];
};

/**
 * Maximum number of connections of each role, for open pages and for requests. Only another operator's connection can
 * replace an operator's connection.
 */
const CONNECTIONS = { anonymous: { all: 264 }, viewer: { all: 164 }, operator: { all: 96 } };

/** Returns a server, to which routes can be added until it listens, and the access check of its requests. */
export function pageServer(options: PageServerOptions): {
  readonly server: GuardedServer;
  readonly accessCheck: RequestAccess;
} {
  const { what, host, port, allowedHosts = [], access, actions, posted } = options;
  const server = new GuardedServer({
    ...{ what, host, port, allowedHosts },
    remedies: {
      portInUse: `choose another port with ${what === 'console' ? 'console.port or ' : ''}--port, or 0 for any free port`,
      forbidden: 'choose a port of 1024 or above with --port',
      addressNotLocal: 'choose an available address with --host',
    },
    headers: HEADERS,
    posted: access === null ? [] : [...POSTED, ...posted],
    connections: CONNECTIONS,
    bodyMax: API_BODY_MAX,
    headersWithinMs: 2_000,
    requestWithinMs: 5_000,
    idleMax: 15_000,
  });
  refuseOtherSites(server.routes, access);
  const accessCheck = addAccessCheck(server, access, actions);
  server.routes.addHook('onRequest', async request =>
    server.connections.setRole(request.raw.socket, accessCheck.roleOf(request)),
  );
  return { server, accessCheck };
}

/**
 * Headers of every answer. The page's scripts set styles through properties, which the content security policy allows.
 */
export const HEADERS: Readonly<Record<string, string>> = {
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
    const isApi = url.startsWith('/api/');
    const isProgram = origin === undefined && isApi;
    if (!isProgram && origin?.toLowerCase() !== `${access?.behindTls === true ? 'https' : 'http'}://${asked}`)
      return textAnswer(reply, 403, 'unexpected Origin');
    if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(headers['content-type'] ?? ''))
      return isApi
        ? reply.code(415).send({ problem: 'send the body with Content-Type: application/json' })
        : textAnswer(reply, 415, 'only application/json');
    return undefined;
  });
}

function addAccessCheck(
  server: GuardedServer,
  access: ConsoleAccess | null,
  actions: ConsoleActions | null,
): RequestAccess {
  if (access !== null) return addAccess(server.routes, access, actions, () => server.port);
  const nobody: ShownSession = {
    ...{ hasLogin: false, mustLogIn: false, role: null, name: '', actions: [], whyNot: null },
  };
  server.routes.get('/session', async () => nobody);
  return openAccess;
}

/** Running server of a page. */
export type ConsoleServer = {
  /** Base address, with the actual port. */
  readonly url: string;
  /** Number of open pages. */
  readonly pages: number;
  /** Symbols of the books of the open pages, each once; `undefined` for a page of the bot. */
  readonly books: readonly (string | undefined)[];
  /** Sends a view to every open page of the book, as JSON on one line. Without a book, to every page of the bot. */
  send(view: string, book?: string): void;
  /** Keeps connections alive while nothing changes. */
  ping(): void;
  close(): Promise<void>;
};

/** Files of a page by path, each with its type and text. */
export type PageFiles = Readonly<Record<string, readonly [type: string, text: string]>>;

/** Adds the files of a page, its scripts by name, its icon, and the health check `/healthz`. */
export function addPageFiles(
  server: FastifyInstance,
  files: PageFiles,
  scripts: Readonly<Record<string, string>>,
): void {
  const all: PageFiles = {
    ...files,
    '/icon.svg': ['image/svg+xml', ICON],
    ...Object.fromEntries(Object.entries(scripts).map(([name, text]) => [`/${name}`, ['text/javascript', text]])),
  };
  for (const [path, [type, text]] of Object.entries(all))
    server.get(path, async (_, reply) => reply.type(`${type}; charset=utf-8`).send(text));
  server.get('/healthz', async (_, reply) => textAnswer(reply, 200, 'ok'));
}

/** Adds the route of the live stream, for requests that may read. */
export function addLiveStream(server: FastifyInstance, streams: LiveStreams, accessCheck: RequestAccess): void {
  server.get<{ Querystring: { book?: unknown } }>('/live', async (request, reply) => {
    const book = bookIn(request.query);
    if (book === null) return textAnswer(reply, 400, WRONG_BOOK);
    const may = accessCheck.mayRead(request);
    const { raw } = request;
    if (may === null) return textAnswer(reply, 401, 'log in first');
    reply.hijack();
    // A stream without changes sends nothing, so it has no idle timeout. TCP keep-alive detects closed pages.
    raw.socket.setTimeout(0);
    raw.socket.setKeepAlive(true, 30_000);
    reply.raw.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
    streams.add(reply.raw, may, accessCheck.roleOf(request), request.ip, book);
    return reply;
  });
}

export const WRONG_BOOK = 'expected ?book= with a symbol like btc_mxn';

/**
 * Returns the book of a request; `undefined` if the request names no book, `null` if the name is not a valid symbol.
 */
export function bookIn({ book }: { readonly book?: unknown }): string | undefined | null {
  if (book === undefined) return undefined;
  return typeof book === 'string' && BOOK_PATTERN.test(book) ? book : null;
}

/** Starts to listen. Rejects with a one-line message if the port is not available. */
export async function listening(server: GuardedServer, streams: LiveStreams): Promise<ConsoleServer> {
  await server.listen();
  return {
    url: server.url,
    get pages() {
      return streams.count;
    },
    get books() {
      return streams.books;
    },
    send: (view, book) => streams.send(view, book),
    ping: () => streams.ping(),
    close: async () => {
      streams.close();
      await server.close();
    },
  };
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b2733"/><path d="M3 5h10M3 11h10" stroke="#d55e00" stroke-width="2"/><path d="M3 11h10" stroke="#58a6ff" stroke-width="2"/></svg>`;
