/** The report as one page that opens from disk: nothing in it is fetched, and nothing that was put into it can run. */
import { createHash } from 'node:crypto';
import type { Plot } from './page/plot.ts';
import { colourOf, figuresOf } from './plots.ts';
import type { BacktestReport, LevelReport, ReplayReport } from './report.ts';
import { durationText, numberText, verdictOf } from './verdict.ts';

/** What the page carries along: the chart library with its style, and the page's own script. */
export type PageParts = { readonly library: string; readonly libraryStyle: string; readonly script: string };

export function pageOf(report: BacktestReport, parts: PageParts): string {
  const figures = figuresOf(report);
  const plots = figures.flatMap(figure => figure.plots);
  const title = `Backtest: ${report.strategy} on ${report.book}`;
  const scripts = [parts.library, parts.script].map(text => text.replaceAll('</script', '<\\/script'));
  // Only these two scripts may run, whatever else comes to stand in the page; and nothing may be fetched.
  const policy = `default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src ${scripts.map(text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ')}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${parts.libraryStyle}${STYLE}</style>
</head>
<body>
<main>
<header><h1>${escaped(title)}</h1><button id="theme" type="button">light / dark</button></header>
${verdictOf(report)
  .map((paragraph, i) => `<p${i === 0 ? ' class="verdict"' : ''}>${escaped(paragraph)}</p>`)
  .join('\n')}
${section('The fill models side by side', modelTable(report))}
<p class="soft">Drag across a plot to zoom, double-click to zoom out; a click on a name in a legend hides its line. Times are UTC.</p>
${figures.map(({ heading, how, plots: several }) => section(heading, `<p>${escaped(how)}</p>${several.length === 1 ? several.map(place('')).join('') : `<div class="row">${several.map(place('small')).join('')}</div>`}`)).join('\n')}
${section('Fills by side and level', levelTable(report))}
${section('Why a quote was missing', missingTable(report))}
${section('What was found in the recording', dirtTable(report))}
${section('What was run', `${runTable(report)}<pre>${escaped(report.config)}</pre>`)}
</main>
<script type="application/json" id="plots">${dataText(plots)}</script>
<script>${scripts[0] ?? ''}</script>
<script type="module">${scripts[1] ?? ''}</script>
</body>
</html>
`;
}

const section = (heading: string, inside: string): string => `<section><h2>${escaped(heading)}</h2>${inside}</section>`;

const place =
  (size: string) =>
  ({ id, title }: Plot): string =>
    `<figure>${size === '' ? '' : `<figcaption>${escaped(title)}</figcaption>`}<div class="plot ${size}" id="${escaped(id)}" role="img" aria-label="${escaped(title)}"></div></figure>`;

/** Text in an element or an attribute. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** JSON inside a script element: nothing in it can end the element. */
const dataText = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c');

type Row = { readonly name: string; readonly of: (model: ReplayReport) => string };

function modelTable(report: BacktestReport): string {
  const { major, minor } = report;
  const money = (text: string): string => numberText(Number(text));
  const rows: Row[] = [
    { name: `profit, ${minor}`, of: ({ pnl }) => `<b>${money(pnl.total)}</b>` },
    { name: `= spread captured`, of: ({ pnl }) => money(pnl.spread) },
    { name: `+ inventory`, of: ({ pnl }) => money(pnl.inventory) },
    { name: `+ fees`, of: ({ pnl }) => money(pnl.fees) },
    { name: `+ hedging`, of: ({ pnl }) => money(pnl.hedging) },
    { name: 'profit, bps of what was traded', of: ({ profitBps }) => numberOr(profitBps) },
    { name: 'fees, bps of what was traded', of: ({ feesBps }) => numberOr(feesBps) },
    { name: 'largest drawdown', of: ({ drawdown }) => money(drawdown.most) },
    {
      name: 'Sharpe / Sortino, a year, from minutes',
      of: ({ sharpe, sortino }) => `${numberOr(sharpe, 1)} / ${numberOr(sortino, 1)}`,
    },
    { name: 'fills', of: ({ fills }) => numberText(fills) },
    { name: `traded, ${major}`, of: ({ volume }) => money(volume.major) },
    { name: `traded, ${minor}`, of: ({ volume }) => money(volume.minor) },
    { name: 'orders placed', of: ({ orders }) => numberText(orders.placed) },
    { name: 'orders with a fill', of: ({ levels }) => share(sum(levels, 'touched'), sum(levels, 'orders')) },
    {
      name: 'time in the queue, median / 90 %',
      of: ({ waits }) => `${secondsOr(waits.medianSeconds)} / ${secondsOr(waits.p90Seconds)}`,
    },
    { name: 'markout after 1 s, bps', of: model => markoutAt(model, 1) },
    { name: 'markout after 1 min, bps', of: model => markoutAt(model, 60) },
    { name: 'bid / ask quoted', of: ({ uptime }) => `${percent(uptime.bid)} / ${percent(uptime.ask)}` },
    {
      name: 'spread ours / market, bps',
      of: ({ spreadBps }) => `${numberOr(spreadBps.ours)} / ${numberOr(spreadBps.market)}`,
    },
    { name: `inventory at the end, ${major}`, of: ({ inventory }) => money(inventory) },
    { name: `inventory, mean size, ${major}`, of: ({ position }) => numberText(position.meanSize) },
    {
      name: 'most requests in a minute / allowed',
      of: ({ requests }) => `${numberText(requests.mostPerMinute)} / ${numberText(requests.allowedPerMinute)}`,
    },
    {
      name: 'requests without budget / locked out',
      of: ({ requests }) => `${numberText(requests.overBudget)} / ${numberText(requests.lockedOut)}`,
    },
    { name: 'post-only orders that would have traded', of: ({ refusedPostOnly }) => numberText(refusedPostOnly) },
    { name: 'halted', of: ({ haltedBecause }) => escaped(haltedBecause ?? 'no') },
  ];
  const head = report.models.map(
    ({ model }, i) => `<th><i style="background:var(--${colourOf(i)})"></i>${escaped(model)}</th>`,
  );
  return table(
    `<tr><th></th>${head.join('')}</tr>`,
    rows.map(
      ({ name, of }) =>
        `<tr><th>${escaped(name)}</th>${report.models.map(model => `<td>${of(model)}</td>`).join('')}</tr>`,
    ),
  );
}

function levelTable({ models }: BacktestReport): string {
  const keys = new Map<string, LevelReport>();
  for (const { levels } of models) for (const level of levels) keys.set(`${level.side} ${level.level}`, level);
  if (keys.size === 0) return '<p>No order came to rest.</p>';
  const names = ['orders', 'with a fill', 'volume filled', 'wait, median', 'ahead on arrival', 'life unfilled, median'];
  const cells = (level: LevelReport | undefined): readonly string[] =>
    level === undefined
      ? names.map(() => '–')
      : [
          numberText(level.orders),
          percent(level.fillRatio),
          percent(level.volumeRatio),
          secondsOr(level.queued.medianSeconds),
          numberText(Number(level.ahead.toPrecision(4))),
          secondsOr(level.unfilled.medianSeconds),
        ];
  const sorted = [...keys.values()].sort((a, b) => a.side.localeCompare(b.side) || a.level - b.level);
  const rows = sorted.flatMap(({ side, level }) =>
    models.map(({ model, levels }, i) => {
      const found = levels.find(other => other.side === side && other.level === level);
      const name = i === 0 ? `<th rowspan="${models.length}">${side} ${level}</th>` : '';
      return `<tr>${name}<th><i style="background:var(--${colourOf(i)})"></i>${escaped(model)}</th>${cells(found)
        .map(cell => `<td>${cell}</td>`)
        .join('')}</tr>`;
    }),
  );
  return `<p>Orders by the level that they were placed for, 1 the innermost. The share with a fill counts orders with at least one execution.</p>${table(`<tr><th></th><th></th>${names.map(name => `<th>${name}</th>`).join('')}</tr>`, rows)}`;
}

function missingTable({ models }: BacktestReport): string {
  const reasons = [...new Set(models.flatMap(({ missing }) => missing.map(({ reason }) => reason)))];
  if (reasons.length === 0) return '<p>Both sides were quoted whenever it was looked.</p>';
  const count = ({ missing, decisions }: ReplayReport, reason: string): string =>
    share(missing.find(found => found.reason === reason)?.decisions ?? 0, decisions);
  const head = models.map(
    ({ model }, i) => `<th><i style="background:var(--${colourOf(i)})"></i>${escaped(model)}</th>`,
  );
  return `<p>Share of all decisions at which a side had no order at the exchange, by what the engine gave as its reason; several may hold at once.</p>${table(
    `<tr><th></th>${head.join('')}</tr>`,
    reasons
      .slice(0, REASONS_SHOWN)
      .map(
        reason =>
          `<tr><th>${escaped(reason)}</th>${models.map(model => `<td>${count(model, reason)}</td>`).join('')}</tr>`,
      ),
  )}`;
}

const REASONS_SHOWN = 20;

function dirtTable({ tape: { dirt, gaps } }: BacktestReport): string {
  if (dirt.length === 0 && gaps.length === 0) return '<p>Nothing: no dirt, no gaps.</p>';
  const shown = gaps.slice(0, GAPS_SHOWN);
  const rows = [
    ...dirt.map(
      ({ what, count, done, first }) =>
        `<tr><th>${escaped(what)}</th><td>${numberText(count)}</td><td class="text">${escaped(first === undefined ? done : `${done}; first ${first}`)}</td></tr>`,
    ),
    ...shown.map(
      ({ from, to, why }) =>
        `<tr><th>gap from ${escaped(new Date(from).toISOString().slice(0, 19).replace('T', ' '))}</th><td>${durationText((to - from) / 1000)}</td><td class="text">${escaped(why)}; no quotes in it</td></tr>`,
    ),
  ];
  const more = gaps.length > shown.length ? `<p>And ${gaps.length - shown.length} more gaps.</p>` : '';
  return `${table('<tr><th>what</th><th>how much</th><th class="text">what was done</th></tr>', rows)}${more}`;
}

const GAPS_SHOWN = 20;

function runTable(report: BacktestReport): string {
  const { tape, models, latencyMs, feedLatencyMs, seed, hash, made, minor } = report;
  const first = models[0];
  const rows: readonly (readonly [string, string])[] = [
    ['recording', tape.source],
    ['hash of the recording', tape.hash],
    ['hash of the report', hash],
    ...(seed === null ? [] : [['seed', String(seed)] as const]),
    ...(first === undefined
      ? []
      : [['events', numberText(first.events)] as const, ['time', `${first.from} to ${first.to}`] as const]),
    ['latency of requests, each way, ms', latencyMs],
    ['latency of market data, at least, ms', feedLatencyMs],
    ...models.map(
      ({ model, holdings }) =>
        [
          `held at the end, ${model}`,
          Object.entries(holdings)
            .map(([name, text]) => `${text} ${name}`)
            .join(', '),
        ] as const,
    ),
    ['money', `in ${minor} unless it says otherwise`],
    ['made with', `puntas ${made.puntas}, Node ${made.node}`],
  ];
  return `${table(
    '',
    rows.map(([name, text]) => `<tr><th>${escaped(name)}</th><td class="text">${escaped(text)}</td></tr>`),
  )}<p>The configuration:</p>`;
}

const table = (head: string, rows: readonly string[]): string =>
  `<div class="wide"><table>${head === '' ? '' : `<thead>${head}</thead>`}<tbody>${rows.join('')}</tbody></table></div>`;

const sum = (levels: readonly LevelReport[], key: 'touched' | 'orders'): number =>
  levels.reduce((total, level) => total + level[key], 0);
const share = (part: number, all: number): string => (all > 0 ? percent(part / all) : '–');
const percent = (x: number): string => `${(x * 100).toFixed(1)} %`;
const numberOr = (x: number | null, decimals = 2): string =>
  x === null ? '–' : x.toLocaleString('en-US', { maximumFractionDigits: decimals });
const secondsOr = (x: number | null): string => (x === null ? '–' : durationText(x));

function markoutAt({ markouts }: ReplayReport, after: number): string {
  const all = markouts.find(({ side }) => side === null);
  const i = all?.seconds.indexOf(after) ?? -1;
  const [mean, error] = [all?.bps[i] ?? null, all?.errorBps[i] ?? null];
  return mean === null ? '–' : `${numberOr(mean)}${error === null ? '' : ` ± ${numberOr(error)}`}`;
}

/** Model colours after Okabe and Ito: told apart by people who see few colours. */
const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#6a737d;--grid:#e3e6ea;--gap:#8884;--panel:#f6f7f9;
--model-0:#d55e00;--model-1:#0072b2;--model-2:#009e73;--model-3:#cc79a7;--model-4:#b8860b;--model-5:#56a0d3;--model-6:#7b5ea7;--model-7:#555;
--level-1:#4e79a7;--level-2:#d1495b;--level-3:#3a9d8f;--level-4:#c28a00;--level-5:#8e5ea2;--level-6:#7a5c3e;
--buy:#0072b2;--sell:#d55e00;--spread:#009e73;--inventory:#8250df;--fees:#cf222e;--hedging:#8c959f}
@media(prefers-color-scheme:dark){:root:not([data-theme=light]){--paper:#0f1318;--ink:#e6e9ed;--soft:#9aa4af;--grid:#2a3038;--gap:#8885;--panel:#171c23;
--model-0:#ff8c42;--model-1:#58a6ff;--model-2:#3ecf9b;--model-3:#e59ac0;--model-4:#e3b341;--model-5:#8fd0ff;--model-6:#b79bea;--model-7:#bbb;
--level-1:#7fb2e5;--level-2:#ff7b8a;--level-3:#5fd0c0;--level-4:#e8c04a;--level-5:#c49bd9;--level-6:#c9a27a;
--buy:#58a6ff;--sell:#ff8c42;--spread:#3ecf9b;--inventory:#b79bea;--fees:#ff7b72;--hedging:#8b949e}}
:root[data-theme=dark]{color-scheme:dark;--paper:#0f1318;--ink:#e6e9ed;--soft:#9aa4af;--grid:#2a3038;--gap:#8885;--panel:#171c23;
--model-0:#ff8c42;--model-1:#58a6ff;--model-2:#3ecf9b;--model-3:#e59ac0;--model-4:#e3b341;--model-5:#8fd0ff;--model-6:#b79bea;--model-7:#bbb;
--level-1:#7fb2e5;--level-2:#ff7b8a;--level-3:#5fd0c0;--level-4:#e8c04a;--level-5:#c49bd9;--level-6:#c9a27a;
--buy:#58a6ff;--sell:#ff8c42;--spread:#3ecf9b;--inventory:#b79bea;--fees:#ff7b72;--hedging:#8b949e}
:root[data-theme=light]{color-scheme:light}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:24px 20px 60px}
header{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:baseline;justify-content:space-between}
h1{font-size:24px;margin:0 0 8px}h2{font-size:18px;margin:36px 0 6px}p{margin:6px 0 10px;max-width:78ch}
.verdict{font-size:17px}.soft{color:var(--soft)}
button{font:inherit;font-size:13px;color:var(--soft);background:none;border:1px solid var(--grid);border-radius:6px;padding:2px 10px;cursor:pointer}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:3px 12px 3px 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid);font-weight:400;vertical-align:top}
tbody th,td.text,th.text{text-align:left}tbody th{color:var(--soft)}td.text{white-space:normal;overflow-wrap:anywhere}thead th{font-weight:600}
th i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
.row{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(340px,100%),1fr));gap:12px 20px}
figure{margin:0;min-width:0}figcaption{font-weight:600;font-size:14px}
.plot{width:100%;min-width:0;overflow:hidden}.u-legend{font-size:12px;color:var(--ink)}.u-legend .u-value{font-variant-numeric:tabular-nums}
.u-select{background:color-mix(in srgb,var(--ink) 12%,transparent)}
.u-inline.u-live th::after{content:""}
.u-legend th,.u-legend td{border:0;padding:1px 3px;white-space:nowrap;color:var(--ink)}.u-inline tr{margin-right:8px}
pre{background:var(--panel);border:1px solid var(--grid);border-radius:6px;padding:12px;overflow-x:auto;font-size:13px;line-height:1.4}
@media(max-width:520px){main{padding:14px 12px 40px}h1{font-size:20px}.verdict{font-size:16px}body{font-size:14px}table{font-size:13px}.wide tbody th:first-child{white-space:normal;min-width:104px;max-width:128px;position:sticky;left:0;background:var(--paper)}}
`;
