/** HTTP server that passes raw target, headers and body to the exchange, and upgraded sockets to its stream. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WireReply, WireRequest } from '../../core/index.ts';
import { Connections } from '../../guard/index.ts';
import type { Respond } from './rest.ts';
import type { Stream } from '../stream/stream.ts';
import { serveStream } from '../stream/streamSockets.ts';
import { reply } from '../wire/wire.ts';

export type ServeOptions = {
  readonly host: string;
  /** Port; 0 selects any free port. */
  readonly port: number;
};

export type Served = {
  /** Base URL: scheme, host and port. */
  readonly url: string;
  readonly server: Server;
  close(): Promise<void>;
};

/** Size limit of request line and headers, in bytes; a cancel of 50 ids has a target of about 2 kB. */
const HEADERS_MAX = 32 * 1024;
const BODY_MAX = 64 * 1024;
const REQUEST_MS = 10_000;
/** Wall time after which a connection without an answer is closed. */
const SILENCE_MS = 120_000;
/**
 * Maximum number of connections. At the limit, a new connection closes the longest idle connection of the address with
 * the most connections.
 */
const CONNECTIONS_MAX = 1_024;
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Answer as the server sends it: complete, with a body cut after some bytes, or not at all. Without an answer, the
 * connection is closed, or stays open until the client gives up (`silence`).
 */
export type ServedReply = WireReply | { readonly cut: WireReply; readonly bytes: number } | 'closed' | 'silence';

/** Answers a request at a time of the exchange's choice, exactly once. */
export type ServeRequest = (request: WireRequest, peer: string, answer: (served: ServedReply) => void) => void;

/** Starts the HTTP server of an exchange. Rejects with a one-line message if it cannot listen on the address. */
export async function serve(
  exchange: ({ readonly respond: Respond } | { readonly serveRequest: ServeRequest }) & { readonly stream?: Stream },
  options: ServeOptions,
): Promise<Served> {
  const serveRequest: ServeRequest =
    'serveRequest' in exchange
      ? exchange.serveRequest
      : (request, peer, answer) => answer(exchange.respond(request, peer));
  const server = createServer(
    { maxHeaderSize: HEADERS_MAX, requestTimeout: REQUEST_MS, keepAliveTimeout: 60_000 },
    (request, response) => receive(serveRequest, request, response),
  );
  new Connections(server, { anonymous: { all: CONNECTIONS_MAX } });
  const cutSockets = exchange.stream ? serveStream(server, exchange.stream) : () => undefined;
  await listening(server, options);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host}:${port}`,
    server,
    close: () =>
      new Promise(resolve => {
        cutSockets();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, { host, port }: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is in use by another program' : error.message;
      reject(new Error(`cannot listen on ${host}:${port}: ${why}`));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function receive(serveRequest: ServeRequest, request: IncomingMessage, response: ServerResponse): void {
  const method = request.method ?? '';
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= BODY_MAX) chunks.push(chunk);
  });
  request.on('error', () => response.destroy());
  request.on('end', () => {
    if (size > BODY_MAX) return answer(response, reply(413, ''));
    if (!isMethod(method)) return answer(response, reply(404, ''));
    const body = chunks.length === 0 ? '' : Buffer.concat(chunks).toString('utf8');
    const wire: WireRequest = { method, target: request.url ?? '/', headers: headersOf(request), body };
    serveRequest(wire, addressOf(request), served => answerAs(request, response, served));
  });
}

function answerAs(request: IncomingMessage, response: ServerResponse, served: ServedReply): void {
  const { socket } = request;
  if (served === 'closed') socket.destroy();
  else if (served === 'silence') socket.setTimeout(SILENCE_MS, () => socket.destroy());
  else if ('cut' in served) {
    const { status, headers, body } = served.cut;
    response.sendDate = false;
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.write(Buffer.from(body).subarray(0, served.bytes), () => socket.destroy());
  } else answer(response, served);
}

function answer(response: ServerResponse, { status, headers, body }: WireReply): void {
  // The Date header uses the exchange's clock, which may run faster than the machine's.
  response.sendDate = false;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

const isMethod = (text: string): text is WireRequest['method'] => METHODS.includes(text);
const addressOf = (request: IncomingMessage): string => (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return headers;
}
