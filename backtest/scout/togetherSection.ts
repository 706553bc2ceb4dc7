/** Section of the page of `puntas scout` on joint moves: sentences, a heat table, and a table of the pairs. */
import { counted } from '../../src/core/index.ts';
import { durationText, headRow, html, NO_HTML, section, table, type Html } from '../../src/pages/index.ts';
import type { BookPair, JointMoves } from './together.ts';
import {
  correlationText,
  impliedText,
  isRelated,
  namedPair,
  pairMeaning,
  riskText,
  togetherWords,
} from './togetherWords.ts';

/** Maximum number of books in the heat table, and of rows in the table of the pairs. */
const BOOKS_MAX = 30;
const PAIRS_MAX = 100;

/** Returns the section; empty if joint moves were not measured. `names` is the order of the books. */
export function togetherSection(together: JointMoves | undefined, names: readonly string[]): Html {
  if (together === undefined) return NO_HTML;
  return section('How the books move together', [
    html`${togetherWords(together).map((words, i) => html`<p class="${i === 0 ? 'verdict' : ''}">${words}</p>`)}`,
    names.length <= BOOKS_MAX ? heatTable(together, names) : NO_HTML,
    html`<p class="soft">${HOW}</p>`,
    pairTable(together.pairs.slice(0, PAIRS_MAX)),
    together.pairs.length <= PAIRS_MAX
      ? NO_HTML
      : html`<p class="soft">
          The ${PAIRS_MAX} strongest of ${counted(together.pairs.length, 'pair')}; the JSON file has all.
        </p>`,
  ]);
}

const HOW =
  'Correlation of price moves over the horizon, from mid prices at each second of the common time. Gray: the 95% interval contains zero, so the risks count zero. Other correlations are reduced for chance before the risks are computed. Risks are multiples of the risk of one book, for inventory of equal risk in both. Of 20 unrelated pairs, one looks related by chance.';

function heatTable({ pairs }: JointMoves, names: readonly string[]): Html {
  const cell = (row: string, column: string): Html => {
    if (row === column) return html`<td class="soft">1</td>`;
    const pair = pairs.find(({ a, b }) => (a === row && b === column) || (a === column && b === row));
    const value = pair?.correlation?.value ?? null;
    const text = correlationText(value);
    if (pair === undefined || value === null || !isRelated(pair)) return html`<td class="soft">${text}</td>`;
    const share = Math.round(60 * Math.abs(value));
    const color = value > 0 ? '--buy' : '--sell';
    return html`<td style="background:color-mix(in srgb,var(${color}) ${share}%,transparent)">${text}</td>`;
  };
  const rows = names.map(
    row =>
      html`<tr>
        <th>${row}</th>
        ${names.map(column => cell(row, column))}
      </tr>`,
  );
  return html`<div class="dense">${table(headRow('correlation', names), rows)}</div>`;
}

function pairTable(pairs: readonly BookPair[]): Html {
  const rows = pairs.map(pair => {
    const { correlation, seconds, horizonS, sameSide, oppositeSides } = pair;
    const between =
      correlation === null ? '–' : `${correlationText(correlation.low)} to ${correlationText(correlation.high)}`;
    const isShown = correlation !== null;
    const meaning = pairMeaning(pair);
    return html`<tr>
      <th>${namedPair(pair)}</th>
      <td class="${isRelated(pair) ? '' : 'soft'}">${correlationText(correlation?.value ?? null)}</td>
      <td>${between}</td>
      <td>${durationText(seconds)}</td>
      <td>${horizonS === null ? '–' : durationText(horizonS)}</td>
      <td>${isShown ? riskText(sameSide) : '–'}</td>
      <td>${isShown ? riskText(oppositeSides) : '–'}</td>
      <td class="text">${meaning.charAt(0).toUpperCase() + meaning.slice(1)} ${impliedText(pair) ?? ''}</td>
    </tr>`;
  });
  const names = ['correlation', '95% interval', 'common time', 'horizon', 'risk, same side', 'risk, opposite sides'];
  return html`<div class="dense">
    ${table(
      html`<tr>
        <th class="text">pair</th>
        ${names.map(name => html`<th>${name}</th>`)}
        <th class="text">meaning</th>
      </tr>`,
      rows,
    )}
  </div>`;
}
