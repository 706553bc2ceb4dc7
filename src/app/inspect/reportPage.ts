/** Profit report as one self-contained page, to share as a file. */
import {
  gainText,
  html,
  NO_HTML,
  pageWith,
  placesOf,
  PLOT_ADVICE,
  rangeOf,
  section,
  sumText,
  table,
  THEME_BUTTON,
  type Html,
  type Line,
  type PageParts,
  type Plot,
} from '../../pages/index.ts';
import { counted, approximately, textOfMoney, type Money } from '../../core/index.ts';
import { profitsTogether, togetherText } from './booksReport.ts';
import { dayText, minuteOf, notesOf, daysText, type ProfitDay, type ProfitReport } from './profitReport.ts';

/**
 * Returns the HTML of the profit reports of a bot's books, in which the chart library, its style and the script are
 * embedded. All texts of the ledger are escaped. `more` follows the table of days. Only the first book has charts.
 */
export function profitPage(reports: readonly ProfitReport[], parts: PageParts, more: Html = NO_HTML): string {
  const [report, ...others] = reports as readonly [ProfitReport, ...ProfitReport[]];
  const { book, days } = report;
  const title = `Profit by day: ${reports.map(each => each.book).join(', ')}`;
  const plots = [netPlot(report), cumulative(report), held(report)];
  const where = partPlots(report);
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    ${others.length === 0 ? NO_HTML : section('All books', togetherParagraphs(reports))}
    <p class="verdict">${others.length === 0 ? '' : `${book}, `}${verdictOf(report)}</p>
    ${tilesOf(report)} ${placesOf(plots.slice(0, 1))} ${placesOf(plots.slice(1))}
    <p class="soft">${PLOT_ADVICE} Days are UTC days.</p>
    ${section('Parts of the profit', placesOf(where, 'row many'))} ${section('Day by day', dayTable(report))} ${more}
    ${section('Notes', noteParagraphs(report))}
    ${others.map(other =>
      section(
        other.book,
        html`<p class="verdict">${verdictOf(other)}</p>
          ${tilesOf(other)} ${dayTable(other)} ${noteParagraphs(other)}`,
      ),
    )}
    <p class="soft">
      This page shows ${counted(String(days.length), 'day')} of the bot's ledger, as of ${minuteOf(report.at)} UTC.
      Figures in the table are rounded; the JSON file next to this page has exact values.
    </p>`;
  return pageWith({ title, body, plots: [...plots, ...where], parts });
}

const noteParagraphs = (report: ProfitReport): readonly Html[] => notesOf(report).map(note => html`<p>${note}</p>`);

const togetherParagraphs = (reports: readonly ProfitReport[]): readonly Html[] =>
  profitsTogether(reports).map(sums => html`<p>${togetherText(sums)}</p>`);

function verdictOf({ days, total, minor }: ProfitReport): string {
  const gain = (sum: Money) => `${gainText(textOfMoney(sum), minor)} ${minor}`;
  const hedging = total.hedging === 0n ? '' : `, hedging ${gain(total.hedging)}`;
  return `${daysText(days)}: net profit ${gain(total.net)}, of which trading ${gain(total.trading)}, fees ${gain(total.fees)}${hedging}.`;
}

function tilesOf({ days, total, major, minor }: ProfitReport): Html {
  const gain = (sum: Money) => gainText(textOfMoney(sum), minor);
  const won = days.filter(({ net }) => net > 0n).length;
  const lost = days.filter(({ net }) => net < 0n).length;
  const byNet = [...days].sort((a, b) => (a.net < b.net ? -1 : a.net > b.net ? 1 : 0));
  const [worst, best] = [byNet[0]!, byNet.at(-1)!];
  const last = days.at(-1)!;
  const cash = `and ${sumText(textOfMoney(last.cash), minor)} ${minor}`;
  const tiles: readonly (readonly [name: string, value: string, note: string])[] = [
    [`net, ${minor}`, gain(total.net), `days up ${won}, down ${lost}`],
    [`best day, ${minor}`, gain(best.net), dayText(best.from)],
    [`worst day, ${minor}`, gain(worst.net), dayText(worst.from)],
    [
      `traded, ${minor}`,
      sumText(textOfMoney(total.volume), minor),
      counted(total.fills.toLocaleString('en-US'), 'fill'),
    ],
    [`holdings at the end, ${major}`, sumText(textOfMoney(last.inventory), major), cash],
  ];
  return html`<div class="tiles">
    ${tiles.map(
      ([name, value, note]) =>
        html`<div class="tile">
          <span class="soft">${name}</span>
          <b>${value}</b>
          <span class="soft">${note}</span>
        </div>`,
    )}
  </div>`;
}

/** Maximum number of days that the plots label by name. With more days, the plots have a time axis. */
const NAMED_MOST = 14;

function plotOf({ days }: ProfitReport, id: string, title: string, unit: string, lines: readonly Line[]): Plot {
  const named = days.length <= NAMED_MOST;
  return {
    ...{ id, title },
    x: named
      ? {
          kind: 'names',
          values: days.map((_, i) => i),
          names: days.map(({ from }) => dayText(from).slice(5)),
          label: 'day',
        }
      : { kind: 'time', values: days.map(({ from }) => from), label: '' },
    y: {
      label: unit,
      range: rangeOf([...lines.flatMap(({ values }) => values), ...(lines[0]?.style === 'bars' ? [0] : [])]),
    },
    ...{ lines, shades: [], group: 'days' },
  };
}

const valuesOf = (days: readonly ProfitDay[], of: (day: ProfitDay) => Money): readonly number[] =>
  days.map(day => approximately(of(day)));

/** Returns the plot of the net profit, with separate colors for gains and losses. */
function netPlot(report: ProfitReport): Plot {
  const nets = valuesOf(report.days, ({ net }) => net);
  return plotOf(report, 'net', 'Net by day', report.minor, [
    { label: 'gain', colour: 'spread', style: 'bars', values: nets.map(net => (net >= 0 ? net : null)) },
    { label: 'loss', colour: 'fees', style: 'bars', values: nets.map(net => (net < 0 ? net : null)) },
  ]);
}

function cumulative(report: ProfitReport): Plot {
  let sum = 0;
  const values = valuesOf(report.days, ({ net }) => net).map(net => (sum += net));
  const line: Line = { label: 'cumulative net', colour: 'model-1', style: 'line', dots: true, values };
  return plotOf(report, 'sum', 'Cumulative net', report.minor, [line]);
}

function held(report: ProfitReport): Plot {
  const values = valuesOf(report.days, ({ inventory }) => inventory);
  const line: Line = {
    label: 'holdings at the end of the day',
    colour: 'inventory',
    style: 'line',
    dots: true,
    values,
  };
  return plotOf(report, 'held', `${report.major} holdings at the end of the day`, report.major, [line]);
}

function partPlots(report: ProfitReport): readonly Plot[] {
  const part = (name: 'trading' | 'fees' | 'hedging' | 'volume', colour: string): Plot =>
    plotOf(report, name, `${name}, ${report.minor}`, report.minor, [
      { label: name, colour, style: 'bars', values: valuesOf(report.days, day => day[name]) },
    ]);
  const hasHedging = report.days.some(({ hedging }) => hedging !== 0n);
  const hedging = hasHedging ? [part('hedging', 'hedging')] : [];
  return [part('trading', 'spread'), part('fees', 'fees'), ...hedging, part('volume', 'model-1')];
}

/** Returns the table of days, newest first. */
function dayTable({ days, total, major, minor }: ProfitReport): Html {
  const hasHedging = days.some(({ hedging }) => hedging !== 0n);
  const gain = (sum: Money): Html =>
    html`<td class="${sum > 0n ? 'gain' : sum < 0n ? 'loss' : 'soft'}">${gainText(textOfMoney(sum), minor)}</td>`;
  const cells = ({ fills, volume, trading, fees, hedging, net }: ProfitReport['total']): Html =>
    html`<td>${fills.toLocaleString('en-US')}</td>
      <td>${sumText(textOfMoney(volume), minor)}</td>
      ${gain(trading)}${gain(fees)}${hasHedging ? gain(hedging) : NO_HTML}${gain(net)}`;
  const rows = days.toReversed().map(
    day =>
      html`<tr>
        <th>${dayText(day.from)}${day.cut === null ? '' : ` (${day.cut})`}</th>
        ${cells(day)}
        <td>${sumText(textOfMoney(day.inventory), major)}</td>
        <td>${day.mark === null ? '–' : textOfMoney(day.mark.price)}</td>
        <td class="soft">${day.mark === null ? '' : minuteOf(day.mark.at)}</td>
      </tr>`,
  );
  const names = ['fills', 'volume', 'trading', 'fees', ...(hasHedging ? ['hedging'] : []), 'net'];
  return html`<div class="dense">
    ${table(
      html`<tr>
        <th class="text">day (UTC)</th>
        ${[...names, `${major} holdings at the end of the day`, 'valuation price', 'time of the valuation price'].map(name => html`<th>${name}</th>`)}
      </tr>`,
      [
        html`<tr>
          <th><b>total</b></th>
          ${cells(total)}
          <td></td>
          <td></td>
          <td></td>
        </tr>`,
        ...rows,
      ],
    )}
  </div>`;
}
