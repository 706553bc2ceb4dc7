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

const INTRODUCTION = `While it runs, Puntas serves three addresses, by default on \`http://127.0.0.1:9464\` (\`metrics.host\` and \`metrics.port\`):

| address | answer |
|---|---|
| \`/metrics\` | Everything below, in Prometheus' text format. Rendered when it is asked for and at most once a second: what it says is at most a second old, and many who ask take nothing from quoting. |
| \`/healthz\` | 200 while the process answers. For a container's health check. |
| \`/readyz\` | 200 while something is quoted or about to be, on one side at least, otherwise 503 with the reason, in the words of \`puntas explain\`; the body is JSON: \`{"ready": false, "reasons": ["book stale"], "warnings": []}\`. Warnings keep nothing from being quoted: that webhook deliveries are not stored, say. |

There is nothing else there, and nothing that changes anything. Requests under an unexpected name (Host header) get 421: a web
page that points a name of its own at your machine learns nothing. Names besides \`localhost\` and the configured address go
into \`metrics.allowedHosts\`. There is no password: do not serve it to a network that you do not trust.`;

const outroduction =
  () => `Beside these stand the usual metrics of a process, under the names that every Node program uses: \`process_start_time_seconds\`,
\`process_resident_memory_bytes\`, \`process_cpu_seconds_total\`, \`process_open_fds\`, \`nodejs_heap_size_used_bytes\` and their like.

How near a limit is: \`puntas_limit_used / puntas_limit\`, 1 being the limit; the distance is \`puntas_limit - puntas_limit_used\`. Both have the label \`limit\`, named as the key
in the configuration (\`drawdownMax\` is the drawdown). Sums of money have their currency in the label \`currency\`, never in a name.

Money is shown as a floating point number here and nowhere else; the ledger is exact. Labels never hold ids, keys or free text.

## Prometheus and alerts

[\`config/prometheus/prometheus.yml\`](../config/prometheus/prometheus.yml) scrapes one bot on the same machine and loads
[\`config/prometheus/alerts.yml\`](../config/prometheus/alerts.yml). Each alert says what is so, and names the command that comes next; [the runbook](runbook.md) says what one
sees then. Their tests are in [\`alerts.test.yml\`](../config/prometheus/alerts.test.yml); \`.ci/metrics.sh\` runs them with promtool.

${alerts()}

A stop that left nothing raises no alert: the bot says \`puntas_stopped_cleanly 1\`, and whoever has asked for its metrics regularly is given the time to ask
once more (15 s at the most) before the process ends. A target that is gone for good is taken out of \`prometheus.yml\`.

## Grafana

[\`config/grafana/puntas.json\`](../config/grafana/puntas.json) is a dashboard of all of them: in Grafana *Dashboards → New → Import*, or from the folder that its provisioning names.
It asks which Prometheus to read and which bots to show; each panel says in its description what its metrics mean. It is made from the same registry as this page, and
\`.ci/metrics.sh\` holds that each of its queries gets data from a real Prometheus beside a bot that quotes.`;

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
