/** Writes the page of every metric out of the registry that is scraped. */
import { metrics } from '../../src/monitor/index.ts';
import { calm } from '../monitor/calm.ts';

/** docs/metrics.md as Markdown, before formatting. */
export async function metricsReference(): Promise<string> {
  const shown = metrics('btc_mxn', '0', () => ({ ...calm(), notQuoting: ['stale-book'] }));
  shown.request('GET order_book', 'done', 1);
  await shown.text();
  const all = await shown.registry.getMetricsAsJSON();
  const rows = all.map(({ name, help, type, values }) => {
    const labels = new Set(values.flatMap(value => Object.keys(value.labels)).filter(label => label !== 'le'));
    return `| \`${name}\` | ${String(type)} | ${[...labels].map(label => `\`${label}\``).join(', ')} | ${help} |`;
  });
  return [
    '<!-- Generated from src/monitor/metrics.ts by `npm run docs`. A test fails when this page is not what the code says. -->',
    '# Metrics and health',
    INTRODUCTION,
    '## Metrics',
    ['| metric | kind | labels | meaning |', '|---|---|---|---|', ...rows].join('\n'),
    OUTRODUCTION,
  ].join('\n\n');
}

const INTRODUCTION = `While it runs, Puntas serves three addresses, by default on \`http://127.0.0.1:9464\` (\`metrics.host\` and \`metrics.port\`):

| address | answer |
|---|---|
| \`/metrics\` | Everything below, in Prometheus' text format. Gauges are read at the moment of the scrape. |
| \`/healthz\` | 200 while the process answers. For a container's health check. |
| \`/readyz\` | 200 while quoting is possible, otherwise 503; the body is JSON: \`{"ready": false, "reasons": ["stale-book"]}\`. |

There is nothing else there, and nothing that changes anything. Requests under an unexpected name (Host header) get 421: a web
page that points a name of its own at your machine learns nothing. Names besides \`localhost\` and the configured address go
into \`metrics.allowedHosts\`. There is no password: do not serve it to a network that you do not trust.`;

const OUTRODUCTION = `Money is shown as a floating point number here and nowhere else; the ledger is exact. Labels never hold ids, keys or free text.

## Prometheus and alerts

[\`config/prometheus/prometheus.yml\`](../config/prometheus/prometheus.yml) scrapes one bot on the same machine and loads
[\`config/prometheus/alerts.yml\`](../config/prometheus/alerts.yml): process gone, book stale, not quoting, one side only, unknown
outcomes, refusals, slow or failing requests, budget spent, slow decisions, no fills. Their tests are in
[\`alerts.test.yml\`](../config/prometheus/alerts.test.yml); \`.ci/metrics.sh\` runs them with promtool.`;
