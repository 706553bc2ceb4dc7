/** Section of a page for books with a hedge on another exchange: sentences, fees, value by distance, basis over time. */
import {
  html,
  NO_HTML,
  placesOf,
  rangeOf,
  section,
  table,
  type Html,
  type Line,
  type Plot,
} from '../../src/pages/index.ts';
import { bpsText } from '../profile/bpsText.ts';
import { hedgedWords, type HedgedBook, type HedgedPart, type HedgedPoint } from './hedgedBook.ts';
import type { HedgedVerdict } from './hedgedVerdict.ts';

/** Returns the section and its plots; both empty without books. */
export function hedgedSection(books: readonly HedgedBook[]): { readonly body: Html; readonly plots: readonly Plot[] } {
  if (books.length === 0) return { body: NO_HTML, plots: [] };
  const parts = books.map((book, i) => ({ book, plots: [...valueByDistance(book, i), ...basisOverTime(book, i)] }));
  return {
    body: section(
      'Quotes hedged on another exchange',
      parts.map(
        ({ book, plots }) =>
          html`${hedgedWords(book).map((words, i) => html`<p class="${i === 0 ? 'verdict' : ''}">${words}</p>`)}
            ${feeTable(book.byFee)}
            <p class="soft">${HOW}</p>
            ${plots.length === 0 ? NO_HTML : placesOf(plots)}`,
      ),
    ),
    plots: parts.flatMap(({ plots }) => plots),
  };
}

const HOW =
  'Each fill is hedged at the recorded price and valued before fees by the difference of the two prices five minutes later, when an opposite fill could close both positions. On the first third of the time, the basis is fitted and the distance for each fee is chosen; the last two thirds test this distance. Bars are 95% intervals from time blocks.';

function feeTable(byFee: readonly HedgedVerdict[]): Html {
  const names = [
    'distance, bps',
    'value of a fill in the first third, bps',
    'value of a fill in the last two thirds, bps',
    '95% interval in the last two thirds, bps',
    'fills per hour in the last two thirds',
  ];
  return table(
    html`<tr>
      <th class="text">fees of both exchanges, bps</th>
      ${names.map(name => html`<th>${name}</th>`)}
      <th class="text">verdict</th>
    </tr>`,
    byFee.map(({ feeBps, quote, why, distanceBps, fittedBps, heldOutBps, fillsPerHour }) => {
      const between = heldOutBps === null ? '–' : `${bpsText(heldOutBps.low)} to ${bpsText(heldOutBps.high)}`;
      return html`<tr>
        <th>${bpsText(feeBps)}</th>
        <td>${bpsText(distanceBps)}</td>
        <td>${bpsText(fittedBps)}</td>
        <td>${bpsText(heldOutBps?.value ?? null)}</td>
        <td>${between}</td>
        <td>${bpsText(distanceBps === null ? null : fillsPerHour)}</td>
        <td class="text line">
          ${quote ? html`<span class="gain">quote</span>` : html`<span class="soft">do not quote: ${why}</span>`}
        </td>
      </tr>`;
    }),
  );
}

/** Intervals are clipped to twice the largest value, because wide intervals from few fills would compress the plot. */
const CLIP = 2;

function valueByDistance({ curve, verdict, fees, name }: HedgedBook, i: number): readonly Plot[] {
  const points = curve.filter(({ heldOut, fitted }) => heldOut.later !== null || fitted.later !== null);
  if (points.length === 0) return [];
  const line = (label: string, colour: string, of: (point: HedgedPoint) => HedgedPart['later']): Line => ({
    ...{ label, colour, style: 'line', dots: true },
    values: points.map(point => of(point)?.value ?? null),
    spans: points.map(point => {
      const found = of(point);
      return found && ([found.low, found.high] as const);
    }),
  });
  const lines: readonly Line[] = [
    line('last two thirds, five minutes after the fill', 'spread', ({ heldOut }) => heldOut.later),
    {
      ...line('first third, five minutes after the fill', 'model-1', ({ fitted }) => fitted.later),
      spans: points.map(() => null),
      width: 1,
    },
    {
      ...line('last two thirds, at the basis of the time of the fill', 'soft', ({ heldOut }) => heldOut.atFill),
      spans: points.map(() => null),
      width: 1,
    },
    {
      ...{ label: fees.backBps > 0 ? 'fees of both exchanges and moving back' : 'fees of both exchanges' },
      ...{ colour: 'fees', style: 'dashed', values: points.map(() => verdict.costBps) },
    },
  ];
  const values = lines.flatMap(({ values: of }) => of);
  const most = CLIP * Math.max(0, ...values.map(value => Math.abs(value ?? 0)));
  const ends = (lines[0]?.spans ?? []).flatMap(span => span ?? []).map(end => Math.max(-most, Math.min(most, end)));
  return [
    {
      ...{ id: `hedged-distance-${i}`, title: `${name}: value of a fill by distance` },
      x: { kind: 'number', values: points.map(({ distanceBps }) => distanceBps), label: 'bps from the hedge price' },
      y: { label: 'bps before fees', range: rangeOf([...values, ...ends, 0]) },
      lines,
      ...{ shades: [], group: null },
    },
  ];
}

function basisOverTime({ basis, name }: HedgedBook, i: number): readonly Plot[] {
  if (basis === null || basis.series.length === 0) return [];
  const { series } = basis;
  const lines: readonly Line[] = [
    {
      ...{ label: 'price difference', colour: 'hedging', style: 'line', width: 1 },
      values: series.map(({ differenceBps }) => differenceBps),
    },
    { label: 'basis', colour: 'inventory', style: 'line', values: series.map(({ basisBps }) => basisBps) },
  ];
  return [
    {
      ...{ id: `hedged-basis-${i}`, title: `${name}: basis over time` },
      x: { kind: 'time', values: series.map(({ at }) => at), label: '' },
      y: { label: 'bps', range: null },
      lines,
      ...{ shades: [], group: null },
    },
  ];
}
