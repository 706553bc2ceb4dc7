/** Writes the page of every metric out of the table that is registered. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { METRICS } from '../../../src/monitor/index.ts';

/** docs/metrics.md as Markdown, before formatting. */
export function metricsReference(): string {
  const rows = METRICS.map(({ name, type, labels, alerts = [], help }) => {
    const kind = type === 'total' ? 'counter' : type;
    return `| \`${name}\` | ${kind} | ${labels.map(label => `\`${label}\``).join(', ')} | ${help}${alerts.length === 0 ? '' : ` Alerts: ${alerts.join(', ')}.`} |`;
  });
  return [
    '<!-- Generated from src/monitor/metrics.ts by `npm run docs`. A test fails when this page is not what the code says. -->',
    '# Metrics and health',
    INTRODUCTION,
    '## Metrics',
    ['| metric | kind | labels | meaning |', '|---|---|---|---|', ...rows].join('\n'),
    outroduction(),
  ].join('\n\n');
}

const INTRODUCTION = `A running bot serves three addresses, by default on \`http://127.0.0.1:9464\` (\`metrics.host\`, \`metrics.port\`):

| address | answer |
|---|---|
| \`/metrics\` | all metrics below in Prometheus' text format, at most a second old |
| \`/healthz\` | 200 while the process answers; for the health check of a container |
| \`/readyz\` | 200 while the bot quotes at least one side or is about to; otherwise 503 with JSON: \`{"ready": false, "reasons": ["book stale"], "warnings": []}\`. The words are [reasons](states.md) |

These addresses change nothing and need no password: do not expose them to a network that you do not trust. Requests with an unexpected Host header get 421; \`metrics.allowedHosts\` adds names.`;

const outroduction =
  () => `The usual metrics of a Node process are there too, for example \`process_resident_memory_bytes\` and \`nodejs_heap_size_used_bytes\`.

\`puntas_limit_used / puntas_limit\` is the used share of a limit. Sums have their currency in the label \`currency\`. They are approximate here; the ledger is exact. Labels never contain ids, keys or free text.

## Prometheus and alerts

[\`config/prometheus/prometheus.yml\`](../config/prometheus/prometheus.yml) scrapes one bot on the same machine and loads
[\`config/prometheus/alerts.yml\`](../config/prometheus/alerts.yml). Each alert names the next command and its entry in the [runbook](runbook.md).

${alerts()}

A clean stop raises no alert: the bot reports \`puntas_stopped_cleanly 1\`, and waits up to 15 s for a last scrape. Remove a target that you no longer run from \`prometheus.yml\`.

## Grafana

Import [\`config/grafana/puntas.json\`](../config/grafana/puntas.json), a dashboard of all metrics, with _Dashboards → New → Import_.`;

/** The alerts that are shipped, one a row. */
function alerts(): string {
  type Rule = { alert: string; for?: string; labels: { severity: string }; annotations: { summary: string } };
  const text = readFileSync(new URL('../../../config/prometheus/alerts.yml', import.meta.url), 'utf8');
  const { groups } = parse(text) as { groups: { rules: Rule[] }[] };
  const said = (summary: string) =>
    summary
      .replace(/^\{\{ \$labels\.(book|instance) \}\}:? /, '')
      .replace(/\{\{ \$labels\.(\w+) \}\}/g, '<$1>')
      .replace(/\{\{ \$value[^}]*\}\}/g, '<so much>');
  const rows = groups[0]!.rules.map(
    ({ alert, for: lasting, labels, annotations }) =>
      `| ${alert} | ${labels.severity} | ${said(annotations.summary).replaceAll('<', '\\<')} | ${lasting ?? 'at once'} |`,
  );
  return ['| alert | severity | what it says | after |', '|---|---|---|---|', ...rows].join('\n');
}
