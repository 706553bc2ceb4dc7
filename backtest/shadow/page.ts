/**
 * Page of `puntas shadow`: verdict, parts of the gap, the gap by hour, detectors, alarms and the largest differences.
 */
import {
  gainText,
  html,
  NO_HTML,
  pageWith,
  placesOf,
  PLOT_ADVICE,
  rangeOf,
  rowsTable,
  section,
  THEME_BUTTON,
  type Html,
  type PageParts,
  type Plot,
} from '../../src/pages/index.ts';
import { GAP_PARTS } from './causes.ts';
import type { ShadowReport } from './report.ts';
import { alarmText, detectorText, partRows, shadowWords } from './summary.ts';

/** Returns a self-contained HTML file. All texts of recordings are escaped. */
export function shadowPage(report: ShadowReport, parts: PageParts): string {
  const title = `Shadow: ${report.book}`;
  const plots = report.hours.length < 2 ? [] : [gapByHour(report), partsByHour(report)];
  const [verdict = '', ...notes] = shadowWords(report);
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    <p class="verdict">${verdict}</p>
    ${notes.map(note => html`<p>${note}</p>`)}
    ${
      plots.length === 0
        ? NO_HTML
        : section(
            'The gap by hour',
            html`${plots.map(plot => placesOf([plot]))}
              <p class="soft">${PLOT_ADVICE}</p>`,
          )
    }
    ${section('Parts of the gap', rowsTable(['part', report.currency, 'per hour', 'meaning'], partRows(report), true))}
    ${section(
      'Detectors',
      rowsTable(
        ['detector', 'observations', 'cause', 'state'],
        report.detectors.map(row => [row.name, String(row.observations), row.cause, detectorText(row)]),
        true,
      ),
    )}
    ${section('Alarms', alarmTable(report))} ${section('Largest differences', largestTable(report))}`;
  return pageWith({ title, body, plots, parts });
}

const alarmTable = ({ alarms }: ShadowReport): Html =>
  alarms.length === 0
    ? html`<p>No alarm was raised.</p>`
    : rowsTable(
        ['time', 'alarm'],
        [...alarms].reverse().map(alarm => [new Date(alarm.at).toISOString(), alarmText(alarm)]),
        true,
      );

const largestTable = ({ largest, currency }: ShadowReport): Html =>
  largest.length === 0
    ? html`<p>No order or hedge differs from its expectation.</p>`
    : rowsTable(
        ['order or hedge', `gap, ${currency}`, 'largest part'],
        largest.map(({ id, gap, parts }) => [
          id,
          gainText(gap, currency),
          [...GAP_PARTS].sort((a, b) => Math.abs(Number(parts[b])) - Math.abs(Number(parts[a])))[0]!,
        ]),
        true,
      );

function gapByHour({ hours, currency }: ShadowReport): Plot {
  const sums = (key: 'expected' | 'actual') => hours.map(hour => Number(hour[key]));
  return {
    ...{ id: 'gap', title: 'Value of the fills per hour', shades: [], group: 'hours' },
    x: { kind: 'time', values: hours.map(({ from }) => from), label: 'time' },
    y: { label: currency, range: rangeOf([...sums('expected'), ...sums('actual')]) },
    lines: [
      { label: 'actual', colour: 'ink', style: 'line', values: sums('actual'), dots: true },
      { label: 'expected', colour: 'soft', style: 'dashed', values: sums('expected') },
    ],
  };
}

function partsByHour({ hours, currency }: ShadowReport): Plot {
  const values = GAP_PARTS.map(part => hours.map(hour => Number(hour.parts[part])));
  return {
    ...{ id: 'parts', title: 'Parts of the gap per hour', shades: [], group: 'hours' },
    x: { kind: 'time', values: hours.map(({ from }) => from), label: 'time' },
    y: { label: currency, range: rangeOf(values.flat()) },
    lines: GAP_PARTS.map((part, i) => ({ label: part, colour: `model-${i}`, style: 'line', values: values[i]! })),
  };
}
