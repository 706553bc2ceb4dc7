/** The report of a backtest as one page. */
import { html, NO_HTML } from './html.ts';
import type { Html } from './html.ts';
import { pageWith, placesOf, PLOT_ADVICE, section, table, THEME_BUTTON } from './pageFrame.ts';
import type { PageParts } from './pageFrame.ts';
import { colourOf, figuresOf } from './plots.ts';
import type { BacktestReport, HedgeReport, LevelReport, ReplayReport } from './report.ts';
import { durationText, numberText, verdictOf } from './verdict.ts';

/** The text of an HTML file that stands alone: library, style and script are inside, every text of the report is escaped. */
export function reportPage(report: BacktestReport, parts: PageParts): string {
  const figures = figuresOf(report);
  const title = `Backtest: ${report.strategy} on ${report.book}`;
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    ${verdictOf(report).map((paragraph, i) =>
      i === 0 ? html`<p class="verdict">${paragraph}</p>` : html`<p>${paragraph}</p>`,
    )}
    ${section('The fill models side by side', modelTable(report))}
    <p class="soft">${PLOT_ADVICE} Times are UTC.</p>
    ${figures.map(({ heading, how, plots }) =>
      section(
        heading,
        html`<p>${how}</p>
          ${placesOf(plots)}`,
      ),
    )}
    ${section('Fills by side and level', levelTable(report))}
    ${report.models.some(({ hedges }) => hedges !== null) ? section('Hedges', hedgeTable(report)) : NO_HTML}
    ${section('Why a quote was missing', missingTable(report))}
    ${section('What was found in the recording', flawTable(report))}
    ${section(
      'What was run',
      html`${runTable(report)}
        <pre>${report.config}</pre>`,
    )}`;
  return pageWith({ title, body, plots: figures.flatMap(({ plots }) => plots), parts });
}

type Row = { readonly name: string; readonly of: (model: ReplayReport) => string | Html };

function modelTable(report: BacktestReport): Html {
  const { major, minor } = report;
  const money = (text: string): string => numberText(Number(text));
  const rows: Row[] = [
    { name: `profit, ${minor}`, of: ({ pnl }) => html`<b>${money(pnl.total)}</b>` },
    { name: `= spread captured`, of: ({ pnl }) => money(pnl.spread) },
    { name: `+ inventory`, of: ({ pnl }) => money(pnl.inventory) },
    { name: `+ fees`, of: ({ pnl }) => money(pnl.fees) },
    { name: `+ hedging`, of: ({ pnl }) => money(pnl.hedging) },
    { name: 'profit, bps of what was traded', of: ({ profitBps }) => numberOr(profitBps) },
    { name: 'fees, bps of what was traded', of: ({ feesBps }) => numberOr(feesBps) },
    { name: `most held at once, ${major}`, of: ({ position }) => numberText(position.mostSize) },
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
    { name: 'halted', of: ({ haltedBecause }) => haltedBecause ?? 'no' },
  ];
  const head = report.models.map(
    ({ model }, i) => html`<th><i style="background:var(--${colourOf(i)})"></i>${model}</th>`,
  );
  return table(
    html`<tr>
      <th></th>
      ${head}
    </tr>`,
    rows.map(
      ({ name, of }) =>
        html`<tr>
          <th>${name}</th>
          ${report.models.map(model => html`<td>${of(model)}</td>`)}
        </tr>`,
    ),
  );
}

function levelTable({ models }: BacktestReport): Html {
  const keys = new Map<string, LevelReport>();
  for (const { levels } of models) for (const level of levels) keys.set(`${level.side} ${level.level}`, level);
  if (keys.size === 0) return html`<p>No order came to rest.</p>`;
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
      const name = i === 0 ? html`<th rowspan="${models.length}">${side} ${level}</th>` : NO_HTML;
      return html`<tr>
        ${name}
        <th><i style="background:var(--${colourOf(i)})"></i>${model}</th>
        ${cells(found).map(cell => html`<td>${cell}</td>`)}
      </tr>`;
    }),
  );
  return html`<p>
      Orders by the level that they were placed for, 1 the innermost. The share with a fill counts orders with at least
      one execution.
    </p>
    ${table(
      html`<tr>
        <th></th>
        <th></th>
        ${names.map(name => html`<th>${name}</th>`)}
      </tr>`,
      rows,
    )}`;
}

function hedgeTable({ models, major, minor }: BacktestReport): Html {
  const rows: readonly (readonly [string, (hedges: HedgeReport) => string])[] = [
    ['begun', ({ begun }) => numberText(begun)],
    ['carried out', ({ completed }) => numberText(completed)],
    [`left or came, ${major}`, ({ volume }) => numberText(Number(volume.major))],
    [`cost against the middle, fees included, ${minor}`, ({ cost }) => numberText(Number(cost))],
    ['the same, bps of what left', ({ costBps }) => numberOr(costBps)],
    ['requests to the desk', ({ requests }) => numberText(requests)],
    ...[...new Set(models.flatMap(({ hedges }) => hedges?.notDone.map(({ reason }) => reason) ?? []))]
      .slice(0, REASONS_SHOWN)
      .map(
        reason =>
          [
            `not: ${reason}`,
            ({ notDone }: HedgeReport) => numberText(notDone.find(each => each.reason === reason)?.hedges ?? 0),
          ] as const,
      ),
  ];
  const head = models.map(({ model }, i) => html`<th><i style="background:var(--${colourOf(i)})"></i>${model}</th>`);
  return html`<p>
      Inventory past its band that left by the cheapest way within the limit. Every hedge, with all that was weighed, is
      in the CSV file.
    </p>
    ${table(
      html`<tr>
        <th></th>
        ${head}
      </tr>`,
      rows.map(
        ([name, of]) =>
          html`<tr>
            <th>${name}</th>
            ${models.map(({ hedges }) => html`<td>${hedges === null ? '–' : of(hedges)}</td>`)}
          </tr>`,
      ),
    )}`;
}

function missingTable({ models }: BacktestReport): Html {
  const reasons = [...new Set(models.flatMap(({ missing }) => missing.map(({ reason }) => reason)))];
  if (reasons.length === 0) return html`<p>Both sides were quoted whenever it was looked.</p>`;
  const count = ({ missing, decisions }: ReplayReport, reason: string): string =>
    share(missing.find(found => found.reason === reason)?.decisions ?? 0, decisions);
  const head = models.map(({ model }, i) => html`<th><i style="background:var(--${colourOf(i)})"></i>${model}</th>`);
  return html`<p>
      Share of all decisions at which a side had no order at the exchange, by what the engine gave as its reason;
      several may hold at once.
    </p>
    ${table(
      html`<tr>
        <th></th>
        ${head}
      </tr>`,
      reasons.slice(0, REASONS_SHOWN).map(
        reason =>
          html`<tr>
            <th>${reason}</th>
            ${models.map(model => html`<td>${count(model, reason)}</td>`)}
          </tr>`,
      ),
    )}`;
}

const REASONS_SHOWN = 20;

function flawTable({ tape: { dirt, gaps } }: BacktestReport): Html {
  if (dirt.length === 0 && gaps.length === 0) return html`<p>Nothing: no dirt, no gaps.</p>`;
  const shown = gaps.slice(0, GAPS_SHOWN);
  const rows = [
    ...dirt.map(
      ({ what, count, done, first }) =>
        html`<tr>
          <th>${what}</th>
          <td>${numberText(count)}</td>
          <td class="text">${first === undefined ? done : `${done}; first ${first}`}</td>
        </tr>`,
    ),
    ...shown.map(
      ({ from, to, why }) =>
        html`<tr>
          <th>gap from ${new Date(from).toISOString().slice(0, 19).replace('T', ' ')}</th>
          <td>${durationText((to - from) / 1000)}</td>
          <td class="text">${why}; no quotes in it</td>
        </tr>`,
    ),
  ];
  const more = gaps.length > shown.length ? html`<p>And ${gaps.length - shown.length} more gaps.</p>` : NO_HTML;
  return html`${table(
    html`<tr>
      <th>what</th>
      <th>how much</th>
      <th class="text">what was done</th>
    </tr>`,
    rows,
  )}${more}`;
}

const GAPS_SHOWN = 20;

function runTable(report: BacktestReport): Html {
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
  return html`${table(
      NO_HTML,
      rows.map(
        ([name, text]) =>
          html`<tr>
            <th>${name}</th>
            <td class="text">${text}</td>
          </tr>`,
      ),
    )}
    <p>The configuration:</p>`;
}

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
