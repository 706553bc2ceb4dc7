/**
 * HTTP server of the metrics page and two probes. The three paths are read-only, and requests with an unexpected host
 * name are rejected.
 */
import type { FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { GuardedServer, textAnswer } from '../guard/index.ts';
import type { CachedPage } from './cachedPage.ts';

export type MonitorServer = {
  /** Base URL, with the actual port. */
  readonly url: string;
  close(): Promise<void>;
};

export type MonitorOptions = {
  readonly page: Pick<CachedPage, 'text'>;
  readonly host: string;
  /** Port; 0 selects a free port. */
  readonly port: number;
  /** Additional host names that requests may use, without port. */
  readonly allowedHosts?: readonly string[];
  /** Returns the reasons why quoting is not possible now; empty if quoting is possible. */
  readonly notReady: () => readonly string[];
  /** Called after an answer to /metrics; `asker` is the address and program of the caller. */
  readonly onScrape?: (asker: string) => void;
  /** Returns problems that do not prevent quoting. */
  readonly warnings?: () => readonly string[];
};

/**
 * Serves /metrics, /healthz (this process answers) and /readyz (quoting is possible). Rejects with a one-line message
 * if the port is not available.
 */
export async function serveMonitor(options: MonitorOptions): Promise<MonitorServer> {
  const server = new GuardedServer({
    what: 'metrics',
    host: options.host,
    port: options.port,
    remedies: {
      portInUse: 'set metrics.port to another port, or start with --metrics-port 0 for any free port',
      forbidden: 'set metrics.port to 1024 or above',
      addressNotLocal: 'set metrics.host to an address of this machine',
    },
    allowedHosts: options.allowedHosts ?? [],
    headers: HEADERS,
    posted: [],
    connections: { anonymous: { all: 64 } },
    bodyMax: 1_024,
    headersWithinMs: 2_000,
    requestWithinMs: 5_000,
    idleMax: 75_000,
  });
  addPages(server.routes, options);
  await server.listen();
  return { url: server.url, close: () => server.close() };
}

/** User agent of the console, which reads metrics for its page. */
export const CONSOLE_AGENT = 'puntas-console';

const HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

function addPages(server: FastifyInstance, { page, notReady, warnings = () => [], onScrape }: MonitorOptions): void {
  server.get(
    '/metrics',
    {
      onResponse: async ({ ip, headers }) => {
        const agent = headers['user-agent'] ?? '';
        // A clean stop waits for Prometheus, but not for the console's requests.
        if (agent !== CONSOLE_AGENT) onScrape?.(`${ip} ${agent}`);
      },
    },
    async (_, reply) => reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await page.text()),
  );
  server.get('/healthz', async (_, reply) => textAnswer(reply, 200, 'ok'));
  server.get('/readyz', async (_, reply) => {
    const reasons = notReady();
    const ready = reasons.length === 0;
    return reply.code(ready ? 200 : 503).send({ ready, reasons, warnings: warnings() });
  });
}
