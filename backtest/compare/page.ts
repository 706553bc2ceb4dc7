/** Page of a comparison: text, tables, plots, and all inputs of each run. */
import {
  html,
  NO_HTML,
  pageWith,
  placesOf,
  PLOT_ADVICE,
  section,
  headRow,
  table,
  tableRow,
  factsTable,
  THEME_BUTTON,
  durationText,
  gainText,
  minuteText,
  moneyDigits,
  numberText,
  sumText,
  type Html,
  type PageParts,
} from '../../src/pages/index.ts';
import { hedgeTapeText } from '../hedged/hedgedBook.ts';
import { againstText, coloredGain, extremesText, groupedNumber, range, signedGrouped } from './cells.ts';
import {
  mainModel,
  type ComparedModel,
  type ComparedRun,
  type ComparedTape,
  type Comparison,
  type Measured,
} from './comparison.ts';
import { botsOf, comparisonFigures, tiersOf } from './plots.ts';
import { togetherOf } from './combinedResults.ts';
import { comparedBooksSections } from './comparedBooksSection.ts';
import { comparedBooksWords } from './comparedBooksSummary.ts';
import { comparisonWords } from './summary.ts';

/**
 * Returns a self-contained HTML file that includes library, style and script. Names and texts of the runs are escaped.
 */
export function comparisonPage(comparison: Comparison, parts: PageParts): string {
  const figures = comparisonFigures(comparison);
  const { tapes, desks } = comparison;
  const title = desks === undefined ? 'Comparison of strategies' : 'Comparison of configurations';
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    ${(desks === undefined ? comparisonWords : comparedBooksWords)(comparison).map((paragraph, i) =>
      i === 0 ? html`<p class="verdict">${paragraph}</p>` : html`<p>${paragraph}</p>`,
    )}
    ${
      desks === undefined
        ? section('Net profit under the expected fill model', dense(matrix(comparison)))
        : comparedBooksSections(desks)
    }
    <p class="soft">${PLOT_ADVICE} Times are UTC.</p>
    ${figures.map(({ heading, how, plots }) =>
      section(
        heading,
        html`<p>${how}</p>
          ${placesOf(plots, 'row many')}`,
      ),
    )}
    ${tapes.map(tape => section(tape.name, dense(tapeTable(tape))))}
    ${tapes.some(({ verdicts }) => verdicts.length > 0) ? section('Verdicts', dense(verdictTable(tapes))) : NO_HTML}
    ${section('The recordings', dense(recordings(comparison)))}
    ${section('Choice of the parameters', html`${choice(comparison)}${configurations(tapes)}`)}
    ${section('Recordings and settings', runTable(comparison))}`;
  return pageWith({ title, body, plots: figures.flatMap(({ plots }) => plots), parts });
}

const dense = (inside: Html): Html => html`<div class="dense">${inside}</div>`;

/** Returns a table with a row per bot and tier, and a column per recording. */
function matrix(comparison: Comparison): Html {
  const { tapes } = comparison;
  const head = tapes.map(
    ({ name, minor, seconds }) =>
      html`<th class="narrow">${name}<br /><span class="soft">${durationText(seconds)}, ${minor}</span></th>`,
  );
  const rows = tiersOf(comparison).flatMap(tier =>
    botsOf(comparison).map(bot => {
      const cells = tapes.map(({ runs, minor }) => {
        const run = runs.find(other => other.name === bot && other.tier === tier);
        const main = mainModel(run?.models ?? []);
        if (run?.declined) return html`<td class="soft">do not quote</td>`;
        if (main === null) return html`<td class="soft">not run</td>`;
        if (run?.unscored) return html`<td class="soft">not scored</td>`;
        return html`<td>${gain(main, minor)}${range(main.netInterval, minor)}</td>`;
      });
      const all = togetherOf(comparison, bot, tier);
      const sums =
        all === null
          ? html`<td>–</td>
              <td>–</td>
              <td>–</td>`
          : html`<td>${signedGrouped(all.net, 2)}${range(all.netInterval, '')}</td>
              <td>${signedGrouped(all.after60, 2)}${range(all.after60Interval, '')}</td>
              <td>${all.inRisk === null ? '–' : signedGrouped(all.inRisk, 2)}</td>`;
      return html`<tr>
        <th>${bot}</th>
        <th>${tier}</th>
        ${cells}${sums}
      </tr>`;
    }),
  );
  return html`<p>
      The second line of each cell is the 95% interval, from resampled equal time blocks. Runs under 20 minutes have no
      interval. The last three columns combine all recordings. The sums add the quote currencies without conversion; the
      second sum values each fill at the mid price 60 s later and includes hedges on another exchange only. The last
      column is the mean net in units of risk. One unit of risk is the loss at full inventory if the price moves one
      standard deviation over the traded time.
    </p>
    ${table(
      html`<tr>
        <th class="text">bot</th>
        <th class="text">fee tier</th>
        ${head}
        <th>net, all<br />recordings</th>
        <th>net, fills valued at the<br />mid price 60 s later</th>
        <th>net in units<br />of risk</th>
      </tr>`,
      rows,
    )}`;
}

/** Returns a table with two rows per recording: the verdict at the exchange's lowest fee, and at the entry fee. */
function verdictTable(tapes: readonly ComparedTape[]): Html {
  const rows = tapes.flatMap(({ name, minor, verdicts }) =>
    [verdicts[0], verdicts.at(-1)].flatMap(verdict => {
      if (verdict === undefined) return [];
      const { feeBps, quote, why, distanceBps, distanceInterval, breakEvenFeeBps, netPerHour, rest, right } = verdict;
      const net = (of: typeof netPerHour): Html =>
        of === null ? html`–` : html`${gainText(of.value, minor)}${range(of, minor)}`;
      const cells = [
        numberText(feeBps),
        quote ? 'quote' : `do not quote: ${why ?? ''}`,
        distanceBps === null
          ? '–'
          : html`${numberText(distanceBps)}${distanceInterval === null ? NO_HTML : html`<br /><span class="soft">${distanceInterval.map(numberText).join(' … ')}</span>`}`,
        net(netPerHour),
        breakEvenFeeBps === null ? 'none' : numberText(breakEvenFeeBps),
        net(rest),
        right === null ? 'not known' : right ? 'yes' : 'no',
      ];
      return [
        html`<tr>
          <th>${name}</th>
          ${cells.map((cell, i) => html`<td class="${i === 1 ? 'text' : ''}">${cell}</td>`)}
        </tr>`,
      ];
    }),
  );
  return html`<p>
      The verdict comes from the first part of each recording. In this part, one order on each side is re-pegged every
      second at several distances, and its fills are valued at the mid price 60 s later, minus the fee. The verdict is
      to quote if this value is significantly above zero at some distance (95%, for all distances together). The rest of
      the recording tests the verdict: the verdict is wrong if the value in the rest differs significantly from zero in
      the opposite direction. The intervals in this table are 90% intervals.
    </p>
    ${table(
      headRow('', [
        'maker fee, bps',
        'verdict',
        'best distance, bps',
        'net per hour in the first part',
        'break-even fee, bps',
        'net per hour in the rest of the recording',
        'verdict right',
      ]),
      rows,
    )}`;
}

function tapeTable({ runs, minor }: ComparedTape): Html {
  const rows = runs.map(run => {
    const head = html`<th>${run.name}</th>
      <th>${run.tier}, ${numberText(run.feeBps)}</th>`;
    const main = mainModel(run.models);
    if (main === null)
      return html`<tr>
        ${head}
        <td class="text soft" colspan="17">not run: ${run.notRun ?? NO_HTML}</td>
      </tr>`;
    if (run.unscored !== null)
      return html`<tr>
        ${head}
        <td class="text soft" colspan="17">not scored: ${run.unscored}</td>
      </tr>`;
    if (run.models.every(({ fills }) => fills === 0))
      return html`<tr>
        ${head}
        <td class="text soft" colspan="17">${run.remarks.join('; ')}</td>
      </tr>`;
    const { pnl, profitBps, fills, volume, uptime, drawdown, requests } = main;
    const cells = [
      html`<b>${gain(main, minor)}</b>${range(main.netInterval, minor)}`,
      html`${main.net60s === null ? '–' : gainText(main.net60s.total, minor)}${range(main.net60s?.interval ?? null, minor)}`,
      againstText(run.againstFirst, minor),
      startsText(run, minor),
      html`${groupedNumber(Number(main.pnl.total), moneyDigits(minor))}${span(run.models, minor)}`,
      ...[pnl.spread, pnl.inventory, pnl.fees].map(text => gainText(text, minor)),
      profitBps === null ? '–' : signedGrouped(profitBps, 2),
      html`${numberText(fills)}${spanOf(
        run.models.map(model => model.fills),
        0,
      )}`,
      html`${numberText(Math.round(Number(volume.minor)))}${run.pace === null ? NO_HTML : html`<br /><span class="soft">${numberText(run.pace.makerBps)} bps</span>`}`,
      markout(main, 1),
      markout(main, 60),
      html`${wholePercent(uptime.both)}${spanOf(
        run.models.map(model => 100 * model.uptime.both),
        0,
      )}`,
      run.positionMax === null ? '–' : wholePercent(main.positionMean / run.positionMax),
      sumText(drawdown.most, minor),
      String(requests.mostPerMinute),
    ];
    const remarks =
      run.remarks.length === 0
        ? NO_HTML
        : html`<tr class="note">
            <td></td>
            <td></td>
            <td class="text soft" colspan="17">${run.remarks.join('; ')}</td>
          </tr>`;
    return html`<tr>
        ${head}${cells.map(cell => html`<td>${cell}</td>`)}
      </tr>
      ${remarks}`;
  });
  return table(
    html`<tr>
      <th class="text">bot</th>
      <th class="text">fee tier, bps</th>
      ${columnsOf(minor).map(name => html`<th>${name}</th>`)}
    </tr>`,
    rows,
  );
}

const columnsOf = (minor: string): readonly string[] => [
  `net, ${minor}`,
  'net with each fill valued at the mid price 60 s later',
  'net minus the net of the first bot',
  'lowest to highest net when the run is repeated with later start times',
  'lowest to highest net of the fill models',
  'spread captured',
  'change in value of the inventory',
  'fees',
  'net, bps of traded value',
  'fills',
  `traded volume, ${minor}; maker fee at the volume scaled to 30 days`,
  'markout after 1 s, bps',
  'markout after 1 min, bps',
  'time with a bid and an ask',
  'mean inventory, % of the limit',
  'maximum drawdown',
  'maximum requests per minute',
];

function recordings({ tapes, leftOut, riskPerHour }: Comparison): Html {
  const estimate = (of: Measured['volatilityBps'] | undefined): string =>
    of
      ? `${numberText(Number(of.value.toPrecision(3)))} ± ${Number.isFinite(of.error) ? numberText(Number(of.error.toPrecision(2))) : 'unknown'}`
      : '–';
  const names = [
    'traded time',
    'volatility, bps per hour',
    'arrivals per minute at the mid price (A)',
    'decay of arrivals per bps of distance (k)',
    'adverse move, bps',
    'value of full inventory',
    'value of one order',
  ];
  const rows = tapes.map(({ name, from, to, seconds, measured, minor }) => {
    const money = (value: number | null | undefined) =>
      value === null || value === undefined ? '–' : `${numberText(Math.round(value))} ${minor}`;
    const cells = [
      html`${minuteText(from)} to ${minuteText(to).slice(11)}<br /><span class="soft">${durationText(seconds)}</span>`,
      estimate(measured?.volatilityBps),
      estimate(measured?.arrivalsPerMinute),
      estimate(measured?.decayPerBps),
      estimate(measured?.adverseBps),
      money(measured?.fullValue),
      money(measured?.orderValue),
    ];
    return tableRow(name, cells);
  });
  const found = foundIn(tapes);
  const text = (cells: readonly string[]) =>
    html`<tr>
      ${cells.map((cell, i) => (i === 0 ? html`<th>${cell}</th>` : html`<td class="text">${cell}</td>`))}
    </tr>`;
  return html`${[
    riskPerHour === null
      ? NO_HTML
      : html`<p>
          These values were measured before the start of trading, with standard errors. The chosen risk per hour
          determines the maximum inventory and the amount of one order, both shown as values in the quote currency.
        </p>`,
    table(headRow('', names), rows),
    found.length === 0
      ? NO_HTML
      : html`<p>Flaws of the recordings:</p>
          ${table(
            html`<tr>
              <th></th>
              <th class="text">flaw</th>
              <th class="text">count</th>
              <th class="text">treatment</th>
            </tr>`,
            found.map(text),
          )}`,
    leftOut.length === 0
      ? NO_HTML
      : html`<p>Recordings that were left out:</p>
          ${table(
            NO_HTML,
            leftOut.map(({ path, why }) => text([path, why])),
          )}`,
  ]}`;
}

/** Returns the data-quality flaws as table rows: recording, kind, count and treatment. */
const foundIn = (tapes: readonly ComparedTape[]) =>
  tapes.flatMap(({ name, dirt, gaps }) => [
    ...dirt.map(({ what, count, done }) => [name, what, numberText(count), done] as const),
    ...(gaps.count > 0
      ? [
          [
            name,
            'gaps',
            numberText(gaps.count),
            `${durationText(gaps.seconds)} of trading time without a book, so the bot had no quotes`,
          ] as const,
        ]
      : []),
  ]);

const CHOICE = [
  'The parameters come from the first part of each recording, and only the rest is traded, so no run uses future data. All strategies have the same risk, inventory limit and order size.',
  'The risk is the loss at full inventory if the price moves one standard deviation in an hour. An order is a tenth of full inventory, and each side has three levels. A live order is not replaced while its price is within the tolerance: a fifth of 1/k or one standard deviation of the price over 4 s, whichever is larger. With this tolerance, replacing all six orders fits into the request budget.',
  'A strategy with a spread setting quotes at the distance that earned most in the first part, if the net at this distance was above zero. If not, its distance from the fair value is 1/k + half the adverse move + the maker fee. For a maker without risk aversion, this distance maximizes the edge of a fill times the arrival rate. At full inventory, both quotes are shifted by their distance minus the maker fee. The imbalance maker also shifts by half the adverse move per standard deviation of the imbalance. The lines of the grid strategy are two quoting distances apart. Strategies with a market model start from the measured numbers and adapt them while running. Losses do not halt a run, because a halted run cannot show its full loss.',
  "Each run pays the fee of one tier throughout. The own tier is the best tier that the run's own volume, scaled to 30 days, reaches.",
];

const choice = ({ riskPerHour, desks }: Comparison): Html =>
  riskPerHour === null
    ? html`<p>
        You supplied the configurations, and the bots traded
        ${desks === undefined ? 'the complete recordings' : 'the common time of all recordings'}. A configuration that
        was chosen with knowledge of these recordings uses future data.
      </p>`
    : html`${CHOICE.map(paragraph => html`<p>${paragraph}</p>`)}`;

/** Lists each distinct configuration once, because several tiers often have the same configuration. */
function configurations(tapes: readonly ComparedTape[]): Html {
  const seen = new Map<string, string>();
  for (const { name, runs } of tapes)
    for (const run of runs) {
      if (run.config === null || run.models.length === 0) continue;
      const told = seen.get(run.config);
      const label = `${run.name} on ${name}, ${run.tier}`;
      seen.set(run.config, told === undefined ? label : `${told}; ${label}`);
    }
  return html`${[...seen].map(
    ([text, label]) =>
      html`<details>
        <summary>${label}</summary>
        <pre>${text}</pre>
      </details>`,
  )}`;
}

function runTable({
  tapes,
  desks = [],
  made,
  hash,
  latencyMs,
  cancelLatencyMs,
  hedge,
  feedLatencyMs,
  fillLatencyMs,
  seed,
  models,
  riskPerHour,
  starts,
}: Comparison): Html {
  const rows: readonly (readonly [string, string])[] = [
    ['fill models', models.join(', ')],
    ...(riskPerHour === null
      ? []
      : [
          [
            'loss at full inventory if the price moves one standard deviation in an hour',
            `${riskPerHour} in the quote currency of each recording`,
          ] as const,
        ]),
    ['latency of requests, each way, ms', latencyMs],
    ...(cancelLatencyMs === undefined ? [] : [['latency of cancels, ms', cancelLatencyMs] as const]),
    ...(hedge === undefined ? [] : [['recording of the other exchange, for hedges', hedgeTapeText(hedge)] as const]),
    ['minimum latency of market data, ms', feedLatencyMs],
    ['latency of fill notices, ms', fillLatencyMs ?? 'equal to the latency of requests'],
    ['start times per run at the first fee tier', String(starts)],
    ['seed of the random latencies', String(seed)],
    ['hash of all runs', hash],
    ...desks.map(desk => [`hash of ${desk.name}`, desk.hash] as const),
    ...tapes.map(({ name, hash: of, source }) => [name, `${source}, ${of}`] as const),
    ['created with', `puntas ${made.puntas}, Node ${made.node}`],
  ];
  return factsTable(rows);
}

/** Formats the net of a run, colored by sign if its interval excludes zero. */
function gain({ pnl, fills, netInterval }: ComparedModel, minor: string): Html {
  if (fills === 0) return html`<span class="soft">no fill</span>`;
  return coloredGain(pnl.total, netInterval, minor);
}

const span = (models: readonly ComparedModel[], minor: string): Html =>
  models.every(({ fills }) => fills === 0)
    ? NO_HTML
    : spanOf(
        models.map(({ pnl }) => Number(pnl.total)),
        moneyDigits(minor),
      );

/** Formats the lowest and the highest net over the starts after the first. */
function startsText({ staggered }: ComparedRun, minor: string): string {
  return extremesText(
    staggered.map(({ net }) => Number(net)),
    minor,
  );
}

/** Formats the range from the lowest to the highest value; empty if both have the same text. */
function spanOf(values: readonly number[], decimals: number): Html {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const texts = [low, high].map(value => groupedNumber(value, decimals));
  return values.length < 2 || texts[0] === texts[1]
    ? NO_HTML
    : html`<br /><span class="soft">${texts.join(' … ')}</span>`;
}

function markout({ markouts: { seconds, bps, errorBps } }: ComparedModel, after: number): string {
  const i = seconds.indexOf(after);
  const [mean, error] = [bps[i] ?? null, errorBps[i] ?? null];
  return mean === null ? '–' : `${signedGrouped(mean, 1)}${error === null ? '' : ` ± ${groupedNumber(error, 1)}`}`;
}

const wholePercent = (share: number): string => `${(share * 100).toFixed(0)}%`;
