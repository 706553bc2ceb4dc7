/** The page for Prometheus and the two probes over HTTP: three addresses, read-only, to callers by an expected name only. */
import type { FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { GuardedServer, textAnswer } from '../guard/index.ts';
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
  const server = new GuardedServer({
    what: 'metrics',
    host: options.host,
    port: options.port,
    remedies: {
      taken: 'set metrics.port to another one, or start with --metrics-port 0 for any',
      forbidden: 'set metrics.port to 1024 or above',
      elsewhere: 'set metrics.host to one that is',
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
  server.get('/healthz', async (_, reply) => textAnswer(reply, 200, 'ok'));
  server.get('/readyz', async (_, reply) => {
    const reasons = notReady();
    const ready = reasons.length === 0;
    return reply.code(ready ? 200 : 503).send({ ready, reasons, warnings: warnings() });
  });
}
