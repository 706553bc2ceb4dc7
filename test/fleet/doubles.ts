/** Consoles that a test makes answer as it likes, over real sockets, and summaries for them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { BotSummary, SummaryRun } from '../../src/console/index.ts';
import { SERVER } from './certificates.ts';

/** A bot that runs and earned 12.5. */
export const runWith = (change: Partial<SummaryRun> = {}): SummaryRun => ({
  ...{ at: 1_000_000, instance: 'ana', strategy: 'ladder', money: 'real', book: 'btc_mxn', base: 'btc', quote: 'mxn' },
  ...{ ledgerSince: null, number: null, startedAt: null },
  regime: { regime: 'normal', since: 1, why: '' },
  refusal: null,
  market: { bid: '999', ask: '1001', bookAgeMs: 100 },
  profit: { total: '12.5', run: '1.25', since: '2026-11-20T14:05:00.000Z' },
  inventory: '-0.25',
  unknown: null,
  uptime: { bid: 1, ask: 0.5 },
  fills: { count: 3, last: { at: 990_000, agoMs: 10_000, side: 'bid', price: '999', amount: '0.1' } },
  limit: { limit: 'drawdownMax', share: 0.25 },
  events: { warnings: 0, errors: 0, last: null },
  ...change,
});

export const summaryWith = (run: Partial<SummaryRun> | null = {}, change: Partial<BotSummary> = {}): BotSummary => ({
  ...{ format: 1, version: '0.1.0', madeAt: 1_000_000, halts: [], note: null },
  bot: { state: 'running', beatAgoMs: 500, writtenAgoMs: 0 },
  run: run && runWith(run),
  ...change,
});

export type Handler = (request: IncomingMessage, reply: ServerResponse) => void;
export type Double = {
  readonly url: string;
  readonly port: number;
  /** Requests so far, with their path and token. */
  readonly asked: { readonly path: string; readonly authorization: string | undefined }[];
  handler: Handler;
  close(): Promise<void>;
};

/** Starts a double. `port` 0 selects a free port. */
export async function double(handler: Handler, { tls = false, port = 0, host = '127.0.0.1' } = {}): Promise<Double> {
  const of: Double['asked'] = [];
  const answer = (request: IncomingMessage, reply: ServerResponse): void => {
    of.push({ path: request.url ?? '', authorization: request.headers.authorization });
    self.handler(request, reply);
  };
  const server = tls ? createTlsServer({ cert: SERVER.cert, key: SERVER.key }, answer) : createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const self: Double = {
    url: `${tls ? 'https' : 'http'}://${host}:${(server.address() as AddressInfo).port}`,
    port: (server.address() as AddressInfo).port,
    asked: of,
    handler,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return self;
}

/** Answers with JSON. */
export const json =
  (value: unknown, code = 200, headers: Readonly<Record<string, string>> = {}): Handler =>
  (_, reply) =>
    void reply.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

/** Answers with a summary whose time grows with each answer. */
export function growing(run: Partial<SummaryRun> | null = {}): Handler {
  let madeAt = 1_000_000;
  return (request, reply) => json(summaryWith(run, { madeAt: madeAt++ }))(request, reply);
}
