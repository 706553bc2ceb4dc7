/** Sections of a comparison's page about the books of each configuration together. */
import { gainText, html, NO_HTML, numberText, rowsTable, section, table, type Html } from '../../src/pages/index.ts';
import { skewCells, SKEW_HEADS } from '../severalBooks/severalBooksPage.ts';
import { mainOf } from '../report/mainModel.ts';
import { againstText, coloredGain, extremesText, range } from './cells.ts';
import type { ComparedBooks, ComparedBooksModel } from './comparedBooks.ts';

/** Returns the sections: sums by quote currency, and joint inventories if any. */
export const comparedBooksSections = (desks: readonly ComparedBooks[]): Html =>
  html`${section('All books together', html`<div class="dense">${totals(desks)}</div>`)}${skews(desks)}`;

const HEADS = [
  'profit',
  'lowest to highest profit of the fill models',
  'profit minus that of the first configuration',
  'spread captured',
  'change in value of the inventory',
  'fees',
  'fills',
  'maximum requests per minute',
] as const;

function totals(desks: readonly ComparedBooks[]): Html {
  const rows = desks.flatMap(desk => {
    const main = mainOf(desk.models);
    if (main === null) return [];
    if (desk.unscored !== null)
      return [
        html`<tr>
          <th>${desk.name}</th>
          <td class="text soft" colspan="${HEADS.length + 1}">not scored: ${desk.unscored}</td>
        </tr>`,
      ];
    const currencies = new Set([...main.together, ...(desk.againstFirst ?? [])].map(({ minor }) => minor));
    return [...currencies].map(
      minor =>
        html`<tr>
          <th>${desk.name}</th>
          <th>${minor}</th>
          ${sumCells(desk, main, minor).map(cell => html`<td>${cell}</td>`)}
        </tr>`,
    );
  });
  return html`<p>
      Balances and requests are those of one account. The second line of a cell is the 95% interval, from the sums of
      equal time blocks over the books. Runs under 20 minutes have no interval. In a currency without a book, the profit
      of a configuration is 0.
    </p>
    ${table(
      html`<tr>
        <th class="text">configuration</th>
        <th class="text">quote currency</th>
        ${HEADS.map(name => html`<th>${name}</th>`)}
      </tr>`,
      rows,
    )}`;
}

function sumCells(
  { models, againstFirst }: ComparedBooks,
  { together, requests }: ComparedBooksModel,
  minor: string,
): readonly (Html | string)[] {
  const total = together.find(of => of.minor === minor);
  const nets = models.flatMap(model => model.together.filter(of => of.minor === minor).map(of => Number(of.pnl.total)));
  const against = againstText(againstFirst?.find(of => of.minor === minor) ?? null, minor);
  if (total === undefined) return ['–', '–', against, '–', '–', '–', '–', '–'];
  const { pnl, netInterval, fills } = total;
  return [
    html`<b>${coloredGain(pnl.total, netInterval, minor)}</b>${range(netInterval, minor)}`,
    extremesText(nets, minor),
    against,
    ...[pnl.spread, pnl.inventory, pnl.fees].map(text => gainText(text, minor)),
    numberText(fills),
    numberText(requests.mostPerMinute),
  ];
}

function skews(desks: readonly ComparedBooks[]): Html {
  const rows = desks.flatMap(({ name, models }) =>
    (mainOf(models)?.jointInventory ?? []).map(of => [name, ...skewCells(of)]),
  );
  return rows.length === 0
    ? NO_HTML
    : section('Joint inventory', rowsTable(['configuration', 'book', ...SKEW_HEADS], rows));
}
