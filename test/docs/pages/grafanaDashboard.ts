/**
 * Makes the Grafana dashboard out of the registry of metrics: a panel names its metrics to the compiler, and explains
 * itself by their help.
 */
import { ALERT_NAMES, METRICS, type MetricName } from '../../../src/monitor/index.ts';

/** The metric of that name as PromQL, of the bots that are chosen. `labels`: further conditions. */
const of = (name: MetricName, labels: readonly string[] = [], suffix = ''): string =>
  `${name}${suffix}{${['instance=~"$instance"', ...labels].join(',')}}`;
const perMinute = (name: MetricName, by: string): string =>
  `sum by (instance, ${by}) (rate(${of(name)}[$__rate_interval])) * 60`;
const quantile = (q: number, name: MetricName, by = ''): string =>
  `histogram_quantile(${q}, sum by (instance, ${by}le) (rate(${of(name, [], '_bucket')}[$__rate_interval])))`;

export type Panel = {
  readonly title: string;
  /** Grafana's name of it. */
  readonly unit: string;
  readonly type?: 'stat';
  /** Of a grid of 24. */
  readonly width?: number;
  /** PromQL, and what each of its series is called. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
};

/** The rows of the dashboard with their panels, from the top. */
export const ROWS: readonly { readonly title: string; readonly panels: readonly Panel[] }[] = [
  {
    title: 'Now',
    panels: [
      { title: 'Regime', unit: 'none', type: 'stat', queries: [[`${of('puntas_regime')} == 1`, '{{regime}}']] },
      {
        title: 'Alerts that fire',
        unit: 'none',
        type: 'stat',
        queries: [[`count(ALERTS{alertstate="firing",alertname=~"${ALERT_NAMES.join('|')}"}) or vector(0)`, 'alerts']],
      },
      { title: 'Orders in the book', unit: 'none', type: 'stat', queries: [[of('puntas_quotes_live'), '{{side}}']] },
      {
        title: 'Profit since the start',
        unit: 'none',
        type: 'stat',
        queries: [
          [
            `sum by (instance, currency) (${of('puntas_profit_since_opening')})`,
            'since the opening of the ledger, {{currency}}',
          ],
          [`sum by (instance, currency) (${of('puntas_profit_run')})`, 'this run, {{currency}}'],
        ],
      },
      { title: 'Paper', unit: 'bool_yes_no', type: 'stat', queries: [[of('puntas_paper'), 'paper']] },
      { title: 'Version', unit: 'none', type: 'stat', queries: [[of('puntas_build_info'), '{{version}}']] },
    ],
  },
  {
    title: 'Market and quotes',
    panels: [
      {
        title: 'Price',
        unit: 'none',
        width: 24,
        queries: [
          [of('puntas_mid'), 'mid'],
          [of('puntas_quote_price'), 'our {{side}}'],
        ],
      },
      {
        title: 'Spread (bps)',
        unit: 'none',
        queries: [
          [of('puntas_spread_bps'), 'ours'],
          [of('puntas_market_spread_bps'), 'market'],
        ],
      },
      { title: 'Ahead of our best order', unit: 'none', queries: [[of('puntas_queue_ahead'), '{{side}}']] },
      {
        title: 'Why a wanted quote is not shown',
        unit: 'none',
        queries: [[`${of('puntas_not_quoting')} or on() vector(0)`, '{{reason}}']],
      },
      {
        title: 'Regimes entered, per minute',
        unit: 'none',
        queries: [[perMinute('puntas_regime_changes_total', 'regime'), '{{regime}}']],
      },
      { title: 'Age of the book', unit: 's', queries: [[of('puntas_book_age_seconds'), 'age']] },
      { title: 'Stream is up', unit: 'bool_yes_no', queries: [[of('puntas_stream_up'), 'stream']] },
      { title: 'What the model computes with', unit: 'none', queries: [[of('puntas_strategy_figure'), '{{name}}']] },
    ],
  },
  {
    title: 'Money',
    panels: [
      { title: 'Profit by its parts', unit: 'none', width: 24, queries: [[of('puntas_pnl'), '{{part}} {{currency}}']] },
      { title: 'Holdings', unit: 'none', queries: [[of('puntas_position'), '{{currency}}']] },
      { title: 'Fills, per minute', unit: 'none', queries: [[perMinute('puntas_fills_total', 'side'), '{{side}}']] },
      {
        title: 'Volume, per minute',
        unit: 'none',
        queries: [[perMinute('puntas_volume_total', 'side, currency'), '{{side}} {{currency}}']],
      },
      {
        title: 'Markouts (bps)',
        unit: 'none',
        queries: [[of('puntas_markout_bps', ['level="all"']), '{{side}} after {{seconds}} s']],
      },
      {
        title: 'Standard error of the markouts (bps)',
        unit: 'none',
        queries: [[of('puntas_markout_error_bps', ['level="all"']), '{{side}} after {{seconds}} s']],
      },
      { title: 'Moved out for it (bps)', unit: 'none', queries: [[of('puntas_adverse_widening_bps'), '{{side}}']] },
      { title: 'Maker fee', unit: 'percentunit', queries: [[of('puntas_maker_fee'), 'maker']] },
      {
        title: 'Volume of 30 days, and what the next tier lacks',
        unit: 'none',
        queries: [
          [of('puntas_volume_30d'), 'volume {{currency}}'],
          [of('puntas_next_tier_missing'), 'missing {{currency}}'],
          [of('puntas_next_tier_monthly'), 'a month less {{currency}}'],
        ],
      },
    ],
  },
  {
    title: 'Sources of the reference price',
    panels: [
      {
        title: 'State',
        unit: 'none',
        queries: [[`${of('puntas_source_state')} == 1`, '{{source}}: {{state}}']],
      },
      { title: 'Age', unit: 's', queries: [[of('puntas_source_age_seconds'), '{{source}}']] },
      { title: 'Lag', unit: 's', queries: [[of('puntas_source_lag_seconds'), '{{source}}']] },
      { title: 'Basis (bps)', unit: 'none', queries: [[of('puntas_source_basis_bps'), '{{source}}']] },
      {
        title: 'Error of the basis (bps)',
        unit: 'none',
        queries: [[of('puntas_source_basis_error_bps'), '{{source}}']],
      },
    ],
  },
  {
    title: 'Hedges',
    panels: [
      {
        title: 'Hedges by the hour',
        unit: 'none',
        queries: [
          [
            `sum by (instance, way, state) (rate(${of('puntas_hedges_total')}[$__rate_interval])) * 3600`,
            '{{way}} {{state}}',
          ],
        ],
      },
      {
        title: 'Not hedged elsewhere',
        unit: 'none',
        queries: [
          [of('puntas_hedge_debt'), 'debt {{currency}}'],
          [of('puntas_hedge_failures'), 'failed in sequence'],
          [of('puntas_elsewhere_orders_open'), 'open orders elsewhere'],
        ],
      },
      {
        title: 'Account elsewhere',
        unit: 'none',
        queries: [
          [of('puntas_elsewhere_funds'), '{{place}} {{currency}}'],
          [of('puntas_elsewhere_drift'), 'drift in {{currency}}'],
          [of('puntas_elsewhere_in_transit'), 'in transit {{currency}}'],
        ],
      },
    ],
  },
  {
    title: 'Limits',
    panels: [
      {
        title: 'Used of each limit',
        unit: 'percentunit',
        queries: [[`${of('puntas_limit_used')} / ${of('puntas_limit')}`, '{{limit}}']],
      },
      {
        title: 'Requests left of the budget',
        unit: 'none',
        queries: [[of('puntas_request_budget_remaining'), '{{scope}}']],
      },
      {
        title: 'Shared budgets by book, per minute',
        unit: 'none',
        queries: [
          [perMinute('puntas_book_reads_total', 'book'), '{{book}} book reads'],
          [perMinute('puntas_book_read_waits_total', 'book'), '{{book}} reads that waited'],
          [perMinute('puntas_placement_waits_total', 'book'), '{{book}} orders that waited'],
        ],
      },
      { title: 'Age of the sentinel', unit: 's', queries: [[of('puntas_sentinel_age_seconds'), 'age']] },
      { title: 'Room on the disk of the state', unit: 'bytes', queries: [[of('puntas_state_free_bytes'), 'free']] },
    ],
  },
  {
    title: 'Orders and requests',
    panels: [
      {
        title: 'Orders, per minute',
        unit: 'none',
        queries: [[perMinute('puntas_orders_total', 'event'), '{{event}}']],
      },
      {
        title: 'Decisions, per minute',
        unit: 'none',
        queries: [[perMinute('puntas_decisions_total', 'decision, reason'), '{{decision}}: {{reason}}']],
      },
      {
        title: 'Time of a request, p99',
        unit: 's',
        queries: [[quantile(0.99, 'puntas_request_seconds', 'endpoint, '), '{{endpoint}}']],
      },
      {
        title: 'Requests, per minute',
        unit: 'none',
        queries: [
          [
            `sum by (instance, outcome) (rate(${of('puntas_request_seconds', [], '_count')}[$__rate_interval])) * 60`,
            '{{outcome}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'Process',
    panels: [
      {
        title: 'Time of a decision',
        unit: 's',
        queries: [
          [quantile(0.5, 'puntas_loop_seconds'), 'median'],
          [quantile(0.99, 'puntas_loop_seconds'), 'p99'],
        ],
      },
      {
        title: 'How late the event loop is',
        unit: 's',
        queries: [[of('puntas_event_loop_delay_seconds'), '{{stat}}']],
      },
      {
        title: 'Processor and memory',
        unit: 'none',
        queries: [
          ['rate(process_cpu_seconds_total{instance=~"$instance"}[$__rate_interval])', 'cores'],
          ['process_resident_memory_bytes{instance=~"$instance"} / 2^30', 'GiB'],
        ],
      },
      {
        title: 'Written to disk',
        unit: 'bool_yes_no',
        queries: [
          [of('puntas_journal_writable'), 'journal'],
          [of('puntas_inbox_storing'), 'webhooks'],
          [of('puntas_stopped_cleanly'), 'stopped cleanly'],
        ],
      },
      {
        title: 'Webhook deliveries, per minute',
        unit: 'none',
        queries: [[perMinute('puntas_inbox_deliveries_total', 'outcome'), '{{outcome}}']],
      },
      {
        title: 'Updates of the remote control, per minute',
        unit: 'none',
        queries: [[perMinute('puntas_remote_updates_total', 'outcome'), '{{outcome}}']],
      },
      { title: 'Kept of the deliveries', unit: 'bytes', queries: [[of('puntas_inbox_kept_bytes'), 'kept']] },
    ],
  },
];

/** The rows of the dashboard of many bots: sums over them, then each bot by its instance. */
export const FLEET_ROWS: typeof ROWS = [
  {
    title: 'All bots',
    panels: [
      {
        title: 'Bots that answer',
        unit: 'none',
        type: 'stat',
        queries: [[`count(${of('puntas_build_info')})`, 'bots']],
      },
      {
        title: 'Bots that do not answer',
        unit: 'none',
        type: 'stat',
        queries: [['count(up{job="puntas",instance=~"$instance"} == 0) or vector(0)', 'silent']],
      },
      {
        title: 'Bots without a quote',
        unit: 'none',
        type: 'stat',
        queries: [[`count(sum by (instance, book) (${of('puntas_quotes_live')}) == 0) or vector(0)`, 'bots']],
      },
      {
        title: 'Firing alerts, by bot',
        unit: 'none',
        type: 'stat',
        queries: [
          [
            `count by (instance) (ALERTS{alertstate="firing",alertname=~"${ALERT_NAMES.join('|')}"}) or vector(0)`,
            '{{instance}}',
          ],
        ],
      },
      {
        title: 'Total profit',
        unit: 'none',
        type: 'stat',
        queries: [
          [
            `sum by (currency) (${of('puntas_profit_since_opening')} unless on (instance) ${of('puntas_paper')} == 1)`,
            '{{currency}}',
          ],
        ],
      },
      {
        title: 'Total paper profit',
        unit: 'none',
        type: 'stat',
        queries: [
          [
            `sum by (currency) (${of('puntas_profit_since_opening')} and on (instance) ${of('puntas_paper')} == 1) or vector(0)`,
            '{{currency}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'Each bot',
    panels: [
      {
        title: 'Regime, by bot',
        unit: 'none',
        type: 'stat',
        width: 12,
        queries: [[`${of('puntas_regime')} == 1`, '{{instance}} {{book}}: {{regime}}']],
      },
      {
        title: 'Version, by bot',
        unit: 'none',
        type: 'stat',
        width: 12,
        queries: [[of('puntas_build_info'), '{{instance}}: {{version}}']],
      },
      {
        title: 'Profit, by bot',
        unit: 'none',
        width: 24,
        queries: [
          [
            `sum by (instance, book, currency) (${of('puntas_profit_since_opening')})`,
            '{{instance}} {{book}}, {{currency}}',
          ],
        ],
      },
      {
        title: 'Orders in the book, by bot',
        unit: 'none',
        queries: [[`sum by (instance, book) (${of('puntas_quotes_live')})`, '{{instance}} {{book}}']],
      },
      {
        title: 'Fills per minute, by bot',
        unit: 'none',
        queries: [
          [
            `sum by (instance, book) (rate(${of('puntas_fills_total')}[$__rate_interval])) * 60`,
            '{{instance}} {{book}}',
          ],
        ],
      },
      {
        title: 'Most used limit, by bot',
        unit: 'percentunit',
        queries: [
          [`max by (instance, book) (${of('puntas_limit_used')} / ${of('puntas_limit')})`, '{{instance}} {{book}}'],
        ],
      },
      {
        title: 'Age of the book, by bot',
        unit: 's',
        queries: [[of('puntas_book_age_seconds'), '{{instance}} {{book}}']],
      },
      {
        title: 'Decision time, p99, by bot',
        unit: 's',
        queries: [[quantile(0.99, 'puntas_loop_seconds'), '{{instance}}']],
      },
      {
        title: 'Memory (GiB), by bot',
        unit: 'none',
        queries: [['process_resident_memory_bytes{instance=~"$instance"} / 2^30', '{{instance}}']],
      },
    ],
  },
];

/** The metrics of ours that a panel shows, in the order of the registry. */
export const metricsOf = ({ queries }: Panel): readonly (typeof METRICS)[number][] => {
  const named = new Set(queries.flatMap(([expr]) => expr.match(/puntas_\w+/g) ?? []));
  return METRICS.filter(({ name }) => ['', '_bucket', '_count'].some(suffix => named.has(name + suffix)));
};

/** config/grafana/puntas.json before formatting: what Grafana imports, or reads from its provisioning. */
export const grafanaDashboard = (): object => dashboardOf(ROWS, 'puntas', 'Puntas', 'puntas_build_info');

/** config/grafana/fleet.json before formatting. */
export const fleetDashboard = (): object =>
  dashboardOf(FLEET_ROWS, 'puntas-fleet', 'Puntas fleet', 'puntas_build_info');

/** The rows of the dashboard of shadows. */
const SHADOW_ROWS: typeof ROWS = [
  {
    title: 'Shadow',
    panels: [
      {
        title: 'Causes with an alarm',
        unit: 'none',
        type: 'stat',
        width: 12,
        queries: [['puntas_shadow_alarm{instance=~"$instance"} == 1', '{{book}}: {{cause}}']],
      },
      {
        title: 'Alarms since the start',
        unit: 'none',
        type: 'stat',
        width: 12,
        queries: [['puntas_shadow_alarms_total{instance=~"$instance"} > 0', '{{book}}: {{cause}}']],
      },
      {
        title: 'Gap by part',
        unit: 'none',
        queries: [['puntas_shadow_gap{instance=~"$instance"}', '{{part}} {{currency}}']],
      },
      {
        title: 'Gap per hour by part',
        unit: 'none',
        queries: [['puntas_shadow_gap_per_hour{instance=~"$instance"}', '{{part}} {{currency}}']],
      },
      {
        title: 'Detector levels, as a share of the alarm threshold',
        unit: 'percentunit',
        queries: [['puntas_shadow_detector_height{instance=~"$instance"}', '{{detector}}']],
      },
      {
        title: 'Fills, as a share of the expected fills',
        unit: 'percentunit',
        queries: [['puntas_shadow_fill_ratio{instance=~"$instance"}', '{{book}}']],
      },
      {
        title: 'Delay of the shadow',
        unit: 's',
        queries: [['puntas_shadow_behind_seconds{instance=~"$instance"}', '{{book}}']],
      },
    ],
  },
];

/** config/grafana/shadow.json before formatting. */
export const shadowDashboard = (): object =>
  dashboardOf(SHADOW_ROWS, 'puntas-shadow', 'Puntas: shadow', 'puntas_shadow_alarm');

function dashboardOf(rows: typeof ROWS, uid: string, title: string, chosenBy: string): object {
  const source = { type: 'prometheus', uid: '${datasource}' };
  const panels: object[] = [];
  let [y, id] = [0, 0];
  for (const row of rows) {
    panels.push({
      id: ++id,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: 24, x: 0, y },
    });
    y += 1;
    let [x, h] = [0, 0];
    for (const panel of row.panels) {
      const w = panel.width ?? (panel.type === 'stat' ? 4 : 12);
      if (x + w > 24) {
        y += h;
        x = 0;
      }
      h = panel.type === 'stat' ? 4 : 8;
      panels.push(shown(panel, ++id, { h, w, x, y }, source));
      x += w;
    }
    y += h;
  }
  return {
    uid,
    title,
    description:
      'Generated by `npm run docs` from the registry of metrics, which also supplies the panel descriptions.',
    tags: ['puntas'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '10s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' },
        {
          name: 'instance',
          type: 'query',
          label: 'Bot',
          datasource: source,
          query: { query: `label_values(${chosenBy}, instance)`, refId: 'instance' },
          refresh: 2,
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    annotations: {
      list: [
        {
          name: 'Alerts',
          enable: true,
          iconColor: 'red',
          datasource: source,
          expr: `ALERTS{alertstate="firing",alertname=~"${ALERT_NAMES.join('|')}"}`,
          titleFormat: '{{alertname}}',
        },
      ],
    },
    panels,
  };
}

function shown(
  { title, unit, type, queries, ...rest }: Panel,
  id: number,
  gridPos: object,
  datasource: object,
): object {
  const description = metricsOf({ title, unit, queries, ...rest }).map(({ name, help }) => `${name}: ${help}`);
  const isStat = type === 'stat';
  // What is no number of its own is shown by its name.
  const isNamed = isStat && queries.some(([, legend]) => /\{\{(?:regime|version)\}\}/.test(legend));
  return {
    id,
    title,
    type: type ?? 'timeseries',
    description: description.join('\n\n'),
    datasource,
    gridPos,
    targets: queries.map(([expr, legendFormat], i) => ({
      refId: String.fromCharCode(65 + i),
      datasource,
      expr,
      legendFormat,
      editorMode: 'code',
      ...(isStat ? { instant: true, range: false } : { range: true }),
    })),
    fieldConfig: { defaults: { unit, custom: isStat ? {} : { lineWidth: 1, showPoints: 'never' } }, overrides: [] },
    options: isStat
      ? {
          textMode: isNamed ? 'name' : 'auto',
          colorMode: 'none',
          graphMode: 'none',
          reduceOptions: { calcs: ['lastNotNull'] },
        }
      : { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi' } },
  };
}
