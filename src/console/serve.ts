/**
 * HTTP server of the console: one page with its scripts, the live view as an event stream, past views, and the HTTP
 * API. Without an operator token the console is read-only.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { textAnswer } from '../guard/index.ts';
import type { ConsoleAccess } from './access.ts';
import type { RequestAccess } from './accessRoutes.ts';
import { addApi, type ConsoleApi } from './apiRoutes.ts';
import { API_POSTED } from './apiSchemas.ts';
import type { ConsoleActions } from './approvals.ts';
import { DOCUMENT } from './document.ts';
import { LiveStreams } from './liveStreams.ts';
import {
  addLiveStream,
  bookIn,
  addPageFiles,
  HEADERS,
  listening,
  pageServer,
  type ConsoleServer,
  WRONG_BOOK,
  type PageAddress,
} from './pageServer.ts';
import { STYLE } from './style.ts';

export type ConsoleSource = {
  /** Scripts of the page and of its libraries, by file name. */
  readonly scripts: Readonly<Record<string, string>>;
  /** CSS of the libraries. */
  readonly libraryStyle: string;
  /**
   * Returns points and fills of a book in the current run as JSON. Without a symbol, returns those of the first book.
   * Returns null before the first run, or if the run does not have the book.
   */
  history(book?: string): string | null;
  /**
   * Returns the charts of a book since the opening of the ledger, and the results of each configuration, as JSON; null
   * without a ledger.
   */
  longHistory(book?: string): string | null;
  /**
   * Resolves to a past view and its history as JSON on one line, or to the JSON `null` if there is no view at that
   * time. Rejects if the recording cannot be read.
   */
  past(at: number, signal: AbortSignal, onProgress: (share: number) => void, book?: string): Promise<string>;
};

export type ConsoleOptions = PageAddress & {
  /** Access tokens. If `null`, everyone can read, and actions are off. */
  readonly access?: ConsoleAccess | null;
  /** Actions of operators; `null` if the console is read-only. */
  readonly actions?: ConsoleActions | null;
  /** Reads and actions of the HTTP API; absent if there is none. */
  readonly api?: ConsoleApi;
};

/** Starts the console. Rejects with a one-line message if the port is not available. */
export async function serveConsole(source: ConsoleSource, options: ConsoleOptions): Promise<ConsoleServer> {
  const streams = new LiveStreams();
  const { access = null, actions = null } = options;
  const { server, accessCheck } = pageServer({ ...options, what: 'console', access, actions, posted: API_POSTED });
  addPageFiles(
    server.routes,
    {
      '/': ['text/html', DOCUMENT],
      '/style.css': ['text/css', `${source.libraryStyle}\n${STYLE}`],
    },
    source.scripts,
  );
  addLiveStream(server.routes, streams, accessCheck);
  addData(server.routes, source, accessCheck);
  if (options.api)
    addApi(
      server.routes,
      options.api,
      request => accessCheck.apiAccess(request),
      (access?.viewerToken ?? null) === null,
    );
  return listening(server, streams);
}

function addData(server: FastifyInstance, source: ConsoleSource, accessCheck: RequestAccess): void {
  const onlyReaders = async (request: FastifyRequest, reply: FastifyReply) =>
    accessCheck.mayRead(request) === null ? textAnswer(reply, 401, 'log in first') : undefined;
  const json = (reply: FastifyReply, text: string | null): FastifyReply =>
    // Missing data is no error: a browser reports each error.
    text === null ? reply.code(204).send() : reply.type('application/json').send(text);
  const serve = (path: string, of: (book?: string) => string | null) =>
    server.get<{ Querystring: { book?: unknown } }>(path, { preHandler: onlyReaders }, async ({ query }, reply) => {
      const book = bookIn(query);
      return book === null ? textAnswer(reply, 400, WRONG_BOOK) : json(reply, of(book));
    });
  serve('/history', book => source.history(book));
  serve('/long-history', book => source.longHistory(book));
  // The response is a sequence of JSON lines: the progress of the replay whenever it changes, then the view of the
  // requested time, or the problem.
  type Past = { Querystring: { at?: string; book?: unknown } };
  server.get<Past>('/past', { preHandler: onlyReaders }, async ({ query, raw }, reply) => {
    const at = Number(query.at);
    if (query.at === undefined || !/^\d{1,15}$/.test(query.at))
      return textAnswer(reply, 400, 'expected ?at= with a time in ms since 1970');
    const book = bookIn(query);
    if (book === null) return textAnswer(reply, 400, WRONG_BOOK);
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    reply.hijack();
    reply.raw.writeHead(200, { ...HEADERS, 'content-type': 'application/x-ndjson; charset=utf-8' });
    if (raw.method === 'HEAD') return reply.raw.end();
    const tell = (line: string) => reply.raw.write(`${line}\n`);
    try {
      tell(await source.past(at, gone.signal, share => tell(JSON.stringify({ share })), book));
    } catch (error) {
      tell(JSON.stringify({ problem: error instanceof Error ? error.message : String(error) }));
    }
    return reply.raw.end();
  });
}
