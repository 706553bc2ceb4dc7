/** Page of a backtest of several books: the books together, and a table of the books with links to their pages. */
import {
  gainText,
  html,
  NO_HTML,
  numberText,
  pageWith,
  percent,
  rowsTable,
  section,
  sumText,
  THEME_BUTTON,
  type PageParts,
} from '../../src/pages/index.ts';
import { mainOf } from '../report/mainModel.ts';
import type {
  SeveralBooksModel,
  SeveralBooksReport,
  SeveralBooksSkew,
  SeveralBooksTotal,
} from './severalBooksReport.ts';

/** Returns a self-contained HTML file. `pages`: relative addresses of the books' pages, in the order of the books. */
export function severalBooksPage(report: SeveralBooksReport, pages: readonly string[], parts: PageParts): string {
  const { books, together, from, to } = report;
  const title = `Backtest: ${books.map(({ book }) => book).join(', ')}`;
  const main = mainOf(together);
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    <p>One account, from ${from} to ${to}. Balances and requests are shared.</p>
    ${section(
      'All books together',
      rowsTable(
        ['fill model', 'profit', 'spread', 'inventory', 'fees', 'fills', 'volume', 'books'],
        together.flatMap(({ model, together: totals }) => totals.map(total => [model, ...totalCells(total)])),
      ),
    )}
    ${main === null ? NO_HTML : html`${booksSection(report, main)}${skewSection(main)}${aloneSection(main)}`}
    ${section(
      'Pages of the books',
      html`<ul>
        ${books.map(({ book }, i) => html`<li><a href="${pages[i]!}">${book}</a></li>`)}
      </ul>`,
    )}`;
  return pageWith({ title, body, plots: [], parts });
}

function totalCells({ minor, pnl, fills, volume, books }: SeveralBooksTotal): readonly string[] {
  const gain = (text: string): string => gainText(text, minor);
  return [
    `${gain(pnl.total)} ${minor}`,
    ...[pnl.spread, pnl.inventory, pnl.fees].map(gain),
    numberText(fills),
    sumText(volume, minor),
    books.join(', '),
  ];
}

function booksSection({ books }: SeveralBooksReport, { model }: SeveralBooksModel) {
  return section(
    `By book, fill model ${model}`,
    rowsTable(
      ['book', 'profit', 'fills', 'inventory at the end', 'halted'],
      books.map(({ book, major, minor, models }) => {
        const run = models.find(each => each.model === model)!;
        return [
          book,
          `${gainText(run.pnl.total, minor)} ${minor}`,
          numberText(run.fills),
          `${run.inventory} ${major}`,
          run.haltedBecause ?? '',
        ];
      }),
    ),
  );
}

function skewSection({ jointInventory }: SeveralBooksModel) {
  if (jointInventory === undefined) return NO_HTML;
  return section('Joint inventory', rowsTable(['book', ...SKEW_HEADS], jointInventory.map(skewCells)));
}

/** Headings of the columns after the book in a table of joint inventories. */
export const SKEW_HEADS = [
  'mean size of its own inventory',
  'mean size added by the other books',
  'share of the other books',
] as const;

/** Returns the cells of a book in a table of joint inventories. */
export const skewCells = ({ book, own, fromOthers, share }: SeveralBooksSkew): readonly string[] => [
  book,
  numberText(own),
  numberText(fromOthers),
  share === null ? '–' : percent(share),
];

function aloneSection({ together, alone }: SeveralBooksModel) {
  if (alone === undefined) return NO_HTML;
  return section(
    'Value of sharing',
    html`${rowsTable(
        ['currency', 'together', 'each book alone', 'difference'],
        alone.map(({ minor, pnl }, i) => {
          const all = together[i]!.pnl.total;
          return [minor, ...[all, pnl.total, Number(all) - Number(pnl.total)].map(sum => gainText(sum, minor))];
        }),
      )}
      <p class="soft">
        Alone, each book has an even share of balances, and of the requests that reads of the account leave. It skews by
        its own inventory, without account limits, cross rates and common halts, and its fees count only its own volume.
      </p>`,
  );
}
