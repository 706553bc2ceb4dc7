/** Writes the page of every metric out of the table that is registered. */
import { SHADOW_METRICS } from '../../../backtest/shadow/metrics.ts';
import { METRICS } from '../../../src/monitor/index.ts';

/** docs/metrics.md as Markdown, before formatting. */
export function metricsReference(): string {
  const rows = METRICS.map(({ name, labels, help }) => {
    const others = labels.filter(label => label !== 'book');
    return `| \`${name}\` | ${others.map(label => `\`${label}\``).join(', ')} | ${help} |`;
  });
  return [
    '<!-- Generated from src/monitor/metrics.ts by `npm run docs`. A test fails when this page is not what the code says. -->',
    '# Metrics and health',
    INTRODUCTION,
    '## Metrics',
    `${kinds()} All have the label \`book\`, except ${listed(METRICS.filter(({ labels }) => !labels.includes('book')))}.`,
    ['| metric | labels | meaning |', '|---|---|---|', ...rows].join('\n'),
    SHADOW,
    [
      '| metric | labels | meaning |',
      '|---|---|---|',
      ...SHADOW_METRICS.map(
        ({ name, labels, help }) => `| \`${name}\` | ${labels.map(label => `\`${label}\``).join(', ')} | ${help} |`,
      ),
    ].join('\n'),
    OUTRODUCTION,
  ].join('\n\n');
}

type Metric = (typeof METRICS)[number];

/** The kind of a metric in a sentence instead of a column: the name of a counter says it. */
function kinds(): string {
  const unnamed = METRICS.filter(
    ({ name, type }) => (type === 'total' || type === 'counter') !== name.endsWith('_total'),
  );
  if (unnamed.length > 0) throw new Error(`a counter, and nothing else, ends in _total: ${listed(unnamed)}`);
  return `Counters end in \`_total\`; ${listed(METRICS.filter(({ type }) => type === 'histogram'))} are histograms; all others are gauges.`;
}

const listed = (metrics: readonly Metric[]): string => {
  const names = metrics.map(({ name }) => `\`${name}\``);
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(part => part !== '').join(' and ');
};

const INTRODUCTION = `A running bot serves three addresses, by default on \`http://127.0.0.1:9464\` (\`metrics.host\`, \`metrics.port\`):

| address | answer |
|---|---|
| \`/metrics\` | the metrics below in Prometheus' text format, at most a second old |
| \`/healthz\` | 200 while the process answers |
| \`/readyz\` | 200 while the bot quotes a side or is about to; otherwise 503 and \`{"ready": false, "reasons": ["book stale"], "warnings": []}\` with [reasons](states.md) |

They change nothing and need no password: do not expose them. An unexpected Host header gets 421; \`metrics.allowedHosts\` adds names.`;

const SHADOW = `## Shadow

[\`puntas shadow --metrics-port\`](shadow.md) serves these, with the label \`book\`. Its dashboard is [\`config/grafana/shadow.json\`](../config/grafana/shadow.json).`;

const OUTRODUCTION = `The usual metrics of a Node process are there too, like \`process_resident_memory_bytes\`.

\`puntas_limit_used / puntas_limit\` is the used share of a limit. Sums are approximate here; the ledger is exact. Labels never contain ids, keys or free text.

## Prometheus and alerts

[\`config/prometheus/prometheus.yml\`](../config/prometheus/prometheus.yml) scrapes one bot on the same machine and loads
[\`config/prometheus/alerts.yml\`](../config/prometheus/alerts.yml). Its alerts are [events](alerts.md#events) of the same names, with a severity; each names the next command and its entry in the [runbook](runbook.md).

A clean stop raises no alert: the bot reports \`puntas_stopped_cleanly 1\`, and waits up to 15 s for a last scrape. Remove a target that you no longer run from \`prometheus.yml\`.

## Grafana

Import [\`config/grafana/puntas.json\`](../config/grafana/puntas.json), a dashboard of all metrics, with _Dashboards → New → Import_. [\`config/grafana/fleet.json\`](../config/grafana/fleet.json) compares many bots.`;
