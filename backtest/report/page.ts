/** Page of a backtest report: a first screen, and below it all other sections, collapsed. */
import { counted } from '../../src/core/index.ts';
import {
  durationText,
  gainText,
  minuteText,
  numberOr,
  numberText,
  percent,
  secondsOr,
  sumText,
  html,
  NO_HTML,
  folded,
  pageWith,
  placesOf,
  PLOT_ADVICE,
  rowsTable,
  section,
  stacked,
  table,
  tableRow,
  factsTable,
  THEME_BUTTON,
  type Html,
  type PageParts,
} from '../../src/pages/index.ts';
import { hedgeTapeText } from '../hedged/hedgedBook.ts';
import { tilesOf } from './firstScreen.ts';
import { mainOf, shownModels, type ShownModel } from './mainModel.ts';
import { modelTable } from './modelTable.ts';
import type { Period } from './periods.ts';
import { colourOf, figuresOf, type PlotGroup } from './plots.ts';
import type { BacktestReport, ElsewhereReport, HedgeReport, LevelReport, ReplayReport } from './report.ts';
import { verdictOf, warmUpText } from './summary.ts';

/** Returns a self-contained HTML file that includes library, style and script. All texts of the report are escaped. */
export function reportPage(report: BacktestReport, parts: PageParts): string {
  const figures = figuresOf(report);
  const models = shownModels(report.models);
  const main = mainOf(report.models);
  const title = `Backtest: ${report.strategy} on ${report.book}`;
  const [verdict = '', ...words] = verdictOf(report);
  const drawn = (group: PlotGroup): readonly Html[] =>
    figures
      .filter(figure => figure.group === group)
      .map(({ heading, how, plots }) =>
        section(
          heading,
          html`<p>${how}</p>
            ${placesOf(plots)}`,
        ),
      );
  const first = figures.find(({ group }) => group === 'first');
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    <p class="verdict">${verdict}</p>
    ${main === null ? NO_HTML : tilesOf(report, main)}
    ${
      first === undefined
        ? NO_HTML
        : html`${stacked(first.plots)}
            <p class="soft">${first.how} ${PLOT_ADVICE} Times are UTC.</p>`
    }
    ${folded('Summary', html`${words.map(paragraph => html`<p>${paragraph}</p>`)}`)}
    ${folded('Comparison of the fill models', modelTable(report, models))}
    ${main === null ? NO_HTML : folded('Profit by day and by hour', periodTables(report, main))}
    ${report.latencySweep === undefined ? NO_HTML : folded('Latency', html`${drawn('latency')}${latencyTable(report)}`)}
    ${folded('Parts of the profit', html`${drawn('profit')}`)} ${folded('Inventory', html`${drawn('inventory')}`)}
    ${folded(
      'Fills: markouts, fill ratios, time in the queue, levels',
      html`${drawn('fills')}${section('Fills by side and level', levelTable(report, models))}`,
    )}
    ${folded(
      'Quotes: uptime, spread, requests, missing quotes',
      html`${drawn('quotes')}${section('Reasons for missing quotes', missingTable(models))}`,
    )}
    ${models.some(({ hedges }) => hedges !== null) ? folded('Hedges', hedgeTable(report, models)) : NO_HTML}
    ${folded('Flaws of the recording', flawTable(report))}
    ${folded(
      'Recording and configuration of this run',
      html`${runTable(report)}
        <pre>${report.config}</pre>`,
    )}`;
  return pageWith({ title, body, plots: figures.flatMap(({ plots }) => plots), parts });
}

const modelHead = (models: readonly ShownModel[]): readonly Html[] =>
  models.map(({ label }, i) => html`<th><i style="background:var(--${colourOf(i)})"></i>${label}</th>`);

/** Maximum number of hours with a row each; longer runs have a row per hour of the day. */
const HOURS_SHOWN = 48;

function periodTables({ minor }: BacktestReport, { model, days, hours }: ReplayReport): Html {
  const isLong = hours.length > HOURS_SHOWN;
  return html`<p>
      Results of the ${model} run. Days and hours are UTC; the first and the last period may be incomplete. The rows add
      up to the totals of the run.
    </p>
    ${periodTable(
      days.map(day => [day.from.slice(0, 10), [day]] as const),
      minor,
    )}
    <p>${isLong ? 'By hour of the day, summed over all days:' : 'By hour:'}</p>
    ${periodTable(
      isLong
        ? Array.from({ length: 24 }, (_, hour) => {
            const name = `${String(hour).padStart(2, '0')}:00`;
            return [name, hours.filter(({ from }) => from.slice(11, 13) === name.slice(0, 2))] as const;
          }).filter(([, found]) => found.length > 0)
        : hours.map(hour => [minuteText(hour.from), [hour]] as const),
      minor,
    )}`;
}

function periodTable(rows: readonly (readonly [string, readonly Period[]])[], minor: string): Html {
  const names = [
    `net, ${minor}`,
    'spread captured',
    'inventory gain',
    'fees',
    'hedging',
    'fills',
    `traded, ${minor}`,
    'both sides quoted',
  ];
  const cells = (of: readonly Period[]): readonly string[] => {
    const sum = (value: (period: Period) => number): number => of.reduce((total, period) => total + value(period), 0);
    const looked = of.filter(({ both }) => both !== null);
    const seconds = looked.reduce((total, period) => total + period.seconds, 0);
    return [
      ...(['total', 'spread', 'inventory', 'fees', 'hedging'] as const).map(part =>
        gainText(
          sum(({ pnl }) => Number(pnl[part])),
          minor,
        ),
      ),
      numberText(sum(({ fills }) => fills)),
      sumText(
        sum(({ volume }) => Number(volume)),
        minor,
      ),
      seconds > 0 ? percent(looked.reduce((total, { both, seconds: s }) => total + (both ?? 0) * s, 0) / seconds) : '–',
    ];
  };
  return rowsTable(
    ['', ...names],
    rows.map(([name, periods]) => [name, ...cells(periods)]),
  );
}

function latencyTable({ latencySweep = [], minor }: BacktestReport): Html {
  const names = [
    `net, ${minor}`,
    `net, fills valued at the mid price 60 s later, ${minor}`,
    'net, bps of traded value',
    'fills',
    'rejected post-only orders',
    'both sides quoted',
  ];
  return table(
    html`<tr>
      <th>latency each way, ms</th>
      ${names.map(name => html`<th class="narrow">${name}</th>`)}
    </tr>`,
    latencySweep.map(({ latencyMs, pnl, net60s, profitBps, fills, refusedPostOnly, uptime }) => {
      const cells = [
        gainText(pnl.total, minor),
        net60s === null ? '–' : gainText(net60s.total, minor),
        numberOr(profitBps),
        numberText(fills),
        numberText(refusedPostOnly),
        percent(uptime.both),
      ];
      return tableRow(latencyMs, cells);
    }),
  );
}

function levelTable({ major }: BacktestReport, models: readonly ShownModel[]): Html {
  const keys = new Map<string, LevelReport>();
  for (const { levels } of models) for (const level of levels) keys.set(`${level.side} ${level.level}`, level);
  if (keys.size === 0) return html`<p>No order rested in the book.</p>`;
  const names = [
    'orders',
    'orders with a fill',
    'filled share of the ordered amount',
    'median time to the first fill',
    `mean amount ahead in the queue on arrival, ${major}`,
    'median lifetime of unfilled orders',
  ];
  const cells = (level: LevelReport | undefined): readonly string[] =>
    level === undefined
      ? names.map(() => '–')
      : [
          numberText(level.orders),
          percent(level.fillRatio),
          percent(level.volumeRatio),
          secondsOr(level.queued.medianSeconds),
          level.ahead === null ? '–' : numberText(Number(level.ahead.toPrecision(4))),
          secondsOr(level.unfilled.medianSeconds),
        ];
  const sorted = [...keys.values()].sort((a, b) => a.side.localeCompare(b.side) || a.level - b.level);
  const rows = sorted.flatMap(({ side, level }) =>
    models.map(({ label, levels }, i) => {
      const found = levels.find(other => other.side === side && other.level === level);
      const name = i === 0 ? html`<th rowspan="${models.length}">${side} ${level}</th>` : NO_HTML;
      return html`<tr>
        ${name}
        <th><i style="background:var(--${colourOf(i)})"></i>${label}</th>
        ${cells(found).map(cell => html`<td>${cell}</td>`)}
      </tr>`;
    }),
  );
  return html`<p>
      Orders by side and level; level 1 is closest to the mid price. An order with a fill has at least one execution.
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

/** Returns the rows about hedges on the other exchange; none if no model has such hedges. */
function elsewhereRows(
  major: string,
  [first]: readonly ElsewhereReport[],
): readonly (readonly [string, (hedges: HedgeReport) => string])[] {
  if (first === undefined) return [];
  const rows: readonly (readonly [string, (of: ElsewhereReport) => string])[] = [
    [`hedges executed at ${first.exchange}`, of => numberText(of.hedges)],
    ...Object.keys(first.fees).map(
      currency =>
        [
          `fees at ${first.exchange}, ${currency}`,
          (of: ElsewhereReport) => sumText(of.fees[currency] ?? '0', currency),
        ] as const,
    ),
    ...Object.keys(first.holdings).map(
      currency =>
        [
          `${currency} at ${first.exchange} at the end`,
          (of: ElsewhereReport) => sumText(of.holdings[currency] ?? '0', currency),
        ] as const,
    ),
    [`hedge debt at the end, ${major}`, of => sumText(of.debt, major)],
  ];
  return rows.map(([name, of]) => [name, ({ elsewhere }) => (elsewhere === undefined ? '–' : of(elsewhere))]);
}

function hedgeTable({ major, minor, hedge }: BacktestReport, models: readonly ShownModel[]): Html {
  const rows: readonly (readonly [string, (hedges: HedgeReport) => string])[] = [
    ['hedges started', ({ begun }) => numberText(begun)],
    ['hedges executed', ({ completed }) => numberText(completed)],
    [`hedged amount, ${major}`, ({ volume }) => sumText(volume.major, major)],
    [`cost against the mid price, including fees, ${minor}`, ({ cost }) => sumText(cost, minor)],
    ['cost, bps of the hedged value', ({ costBps }) => numberOr(costBps)],
    ['requests to the conversion desk', ({ requests }) => numberText(requests)],
    ...elsewhereRows(
      major,
      models.flatMap(({ hedges }) => hedges?.elsewhere ?? []),
    ),
    ...[...new Set(models.flatMap(({ hedges }) => hedges?.notDone.map(({ reason }) => reason) ?? []))]
      .slice(0, REASONS_SHOWN)
      .map(
        reason =>
          [
            `hedges not executed: ${reason}`,
            ({ notDone }: HedgeReport) => numberText(notDone.find(each => each.reason === reason)?.hedges ?? 0),
          ] as const,
      ),
  ];
  return html`<p>
      The bot hedges inventory beyond the band by the cheapest route within the cost limit. The CSV file lists every
      hedge with all compared routes.
      ${
        hedge === undefined
          ? ''
          : `Orders on the other exchange executed against the recorded levels of ${hedgeTapeText(hedge)}.`
      }
    </p>
    ${table(
      html`<tr>
        <th></th>
        ${modelHead(models)}
      </tr>`,
      rows.map(([name, of]) =>
        tableRow(
          name,
          models.map(({ hedges }) => (hedges === null ? '–' : of(hedges))),
        ),
      ),
    )}`;
}

function missingTable(models: readonly ShownModel[]): Html {
  const reasons = [...new Set(models.flatMap(({ missing }) => missing.map(({ reason }) => reason)))];
  if (reasons.length === 0) return html`<p>Both sides were quoted in every sample.</p>`;
  const time = ({ missing }: ReplayReport, reason: string): string => {
    const found = missing.find(one => one.reason === reason);
    return found === undefined ? '–' : `${durationText(found.bidSeconds)} / ${durationText(found.askSeconds)}`;
  };
  return html`<p>
      Time without a bid / without an ask at the exchange, grouped by the reason in the first decision of the engine
      after the side was missing.
    </p>
    ${table(
      html`<tr>
        <th></th>
        ${modelHead(models)}
      </tr>`,
      reasons.slice(0, REASONS_SHOWN).map(reason =>
        tableRow(
          reason,
          models.map(model => time(model, reason)),
        ),
      ),
    )}`;
}

const REASONS_SHOWN = 20;

function flawTable({ tape: { dirt, gaps } }: BacktestReport): Html {
  if (dirt.length === 0 && gaps.length === 0) return html`<p>The recording has no known flaws and no gaps.</p>`;
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
          <td class="text">${why}; no quotes</td>
        </tr>`,
    ),
  ];
  const more =
    gaps.length > shown.length ? html`<p>And ${counted(gaps.length - shown.length, 'more gap')}.</p>` : NO_HTML;
  return html`${table(
    html`<tr>
      <th>flaw or gap</th>
      <th>count or duration</th>
      <th class="text">treatment</th>
    </tr>`,
    rows,
  )}${more}`;
}

const GAPS_SHOWN = 20;

function runTable(report: BacktestReport): Html {
  const { tape, models, latencyMs, cancelLatencyMs, feedLatencyMs, fillLatencyMs, warmUpFrom, seed, hash } = report;
  const { made, minor, fitted, fillModel } = report;
  const first = models[0];
  const rows: readonly (readonly [string, string])[] = [
    ['recording', tape.source],
    ['hash of the recording', tape.hash],
    ['hash of the report', hash],
    ...(seed === null ? [] : [['seed', String(seed)] as const]),
    ...(first === undefined
      ? []
      : [['events', numberText(first.events)] as const, ['traded time', `${first.from} to ${first.to}`] as const]),
    ['latency of requests, each way, ms', latencyMs],
    ...(cancelLatencyMs === undefined ? [] : [['latency of cancels, ms', cancelLatencyMs] as const]),
    ['minimum latency of market data, ms', feedLatencyMs],
    ['latency of fill notices, ms', fillLatencyMs ?? 'equal to the latency of requests'],
    ...(warmUpFrom === undefined || first === undefined
      ? []
      : [['before trading', warmUpText(warmUpFrom, first)] as const]),
    ...(fitted === undefined
      ? []
      : [
          ['hash of the fitted fill model', fitted.hash] as const,
          ...(fitted.fallback === null ? [] : [['fitted works like expected', fitted.fallback] as const]),
        ]),
    ...(fillModel === undefined ? [] : [[`hash of the fill model ${fillModel.file}`, fillModel.sha256] as const]),
    ...models.map(
      ({ model, holdings }) =>
        [
          `holdings at the end, ${model} model`,
          Object.entries(holdings)
            .map(([name, text]) => `${text} ${name}`)
            .join(', '),
        ] as const,
    ),
    ['currency of sums', `${minor} unless noted`],
    ['created with', `puntas ${made.puntas}, Node ${made.node}`],
  ];
  return html`${factsTable(rows)}
    <p>The configuration:</p>`;
}
