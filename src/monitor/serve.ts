/** The page for Prometheus and the two probes over HTTP: three addresses, read-only, to callers by an expected name only. */
import { isIP } from 'node:net';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Registry } from 'prom-client';
import type { KeptPage } from './keptPage.ts';

export type MonitorServer = {
  /** Base address, with the port that was really taken. */
  readonly url: string;
  close(): Promise<void>;
};

export type MonitorOptions = {
  readonly page: Pick<KeptPage, 'text'>;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Further names by which the server may be asked, without port. */
  readonly allowedHosts?: readonly string[];
  /** Why quoting is not possible now; empty when it is. */
  readonly notReady: () => readonly string[];
  /** Called when /metrics was answered; `asker`: address and program of who asked. */
  readonly onScrape?: (asker: string) => void;
  /** What keeps nothing from being quoted and is wrong all the same. */
  readonly warnings?: () => readonly string[];
};

/** Serves /metrics, /healthz (this process answers) and /readyz (quoting is possible). Rejects with one line when the port cannot be had. */
export async function serveMonitor(options: MonitorOptions): Promise<MonitorServer> {
  const server = fastify({
    logger: false,
    bodyLimit: 1_024,
    requestTimeout: 5_000,
    connectionTimeout: 30_000,
    keepAliveTimeout: 75_000,
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 64 },
  });
  server.server.maxConnections = 64;
  guard(server, options);
  addPages(server, options);
  try {
    await server.listen({ host: options.host, port: options.port });
  } catch (error) {
    await server.close();
    throw new Error(listenProblem(error, options), { cause: error });
  }
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the monitor listens on no port');
  const name = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${name}:${address.port}`, close: () => server.close() };
}

/** Who asks for metrics to show them on the console's page. */
export const CONSOLE_AGENT = 'puntas-console';

const HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Headers on every answer; 421 for an unexpected name, which a rebound DNS entry would send; nothing but GET and HEAD. */
function guard(server: FastifyInstance, { host, allowedHosts = [] }: MonitorOptions): void {
  const names = new Set(['localhost', '127.0.0.1', '::1', host, ...allowedHosts].map(name => name.toLowerCase()));
  const everywhere = host === '0.0.0.0' || host === '::';
  // A rebound DNS entry is a name. Whoever asks by number, a container's probe say, has the number.
  const expected = (name: string) => names.has(name) || (everywhere && isIP(name) !== 0);
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS);
    if (!expected(nameOf(request.headers.host ?? ''))) return plain(reply, 421, 'unexpected Host');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return plain(reply.header('allow', 'GET, HEAD'), 405, 'only GET');
    }
    return undefined;
  });
  server.setNotFoundHandler(async (_, reply) => plain(reply, 404, 'not found'));
  server.setErrorHandler(async (_error, _request, reply) => plain(reply, 500, 'failed'));
}

function addPages(server: FastifyInstance, { page, notReady, warnings = () => [], onScrape }: MonitorOptions): void {
  server.get(
    '/metrics',
    {
      onResponse: async ({ ip, headers }) => {
        const agent = headers['user-agent'] ?? '';
        // No stop waits for a page that somebody looks at.
        if (agent !== CONSOLE_AGENT) onScrape?.(`${ip} ${agent}`);
      },
    },
    async (_, reply) => reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await page.text()),
  );
  server.get('/healthz', async (_, reply) => plain(reply, 200, 'ok'));
  server.get('/readyz', async (_, reply) => {
    const reasons = notReady();
    const ready = reasons.length === 0;
    return reply.code(ready ? 200 : 503).send({ ready, reasons, warnings: warnings() });
  });
}

const plain = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain; charset=utf-8').send(`${text}\n`);

/** The name in a Host header, without port and brackets. */
const nameOf = (header: string): string => {
  const [, bracketed, bare] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(header.toLowerCase()) ?? [];
  return bracketed ?? bare ?? '';
};

function listenProblem(error: unknown, { host, port }: MonitorOptions): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    return `metrics: port ${where} is taken by another process: set metrics.port to another one, or start with --metrics-port 0 for any`;
  }
  if (code === 'EACCES') return `metrics: this user may not listen on ${where}: set metrics.port to 1024 or above`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `metrics: ${host} is no address of this machine: set metrics.host to one that is`;
  }
  return `metrics: cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`;
}
