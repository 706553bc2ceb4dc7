/** Terminal output of a comparison with several books, in at most 80 columns. */
import { comparedBooksWords, mainOf, shownModels, type Comparison } from '../../index.ts';
import { gainText, numberText, sumText, textTable, WIDTH } from '../../../src/pages/index.ts';
import { foldedRow, wrapped } from '../../../src/messages/wrapped.ts';

/** Describes the configurations with all books together, their differences, each book, and the hashes. */
export function describeComparedBooks(comparison: Comparison): string {
  const { tapes, leftOut, hash } = comparison;
  const desks = comparison.desks ?? [];
  const remarks = tapes.flatMap(({ book, runs }) =>
    runs.flatMap(run => run.remarks.map(remark => `${run.name}, ${book}: ${remark}`)),
  );
  return [
    ...comparedBooksWords(comparison).flatMap(words => wrapped(words, WIDTH)),
    ...[totalsTable(desks), differencesTable(desks), booksTable(comparison)].flatMap(table =>
      table.length === 0 ? [] : ['', ...table],
    ),
    '',
    ...desks.flatMap(({ name, unscored }) =>
      unscored === null ? [] : foldedRow(`${name}: not scored: ${unscored}`, WIDTH),
    ),
    ...remarks.flatMap(remark => foldedRow(remark, WIDTH)),
    ...leftOut.flatMap(({ path, why }) => foldedRow(`left out: ${path}: ${why}`, WIDTH)),
    '',
    ...textTable(
      'hash',
      [['', '']],
      [...desks.map(desk => ({ name: desk.name, cells: [desk.hash] })), { name: 'comparison', cells: [hash] }],
    ),
  ].join('\n');
}

type AllCompared = NonNullable<Comparison['desks']>;

function totalsTable(desks: AllCompared): readonly string[] {
  const rows = desks
    .filter(({ unscored }) => unscored === null)
    .flatMap(({ name, models }) =>
      shownModels(models).flatMap(({ label, together, requests }) =>
        together.map(({ minor, pnl, netInterval, fills }) => ({
          name: `${name}, ${label}`,
          cells: [
            ...[minor, gainText(pnl.total, minor), ...interval(netInterval, minor), numberText(fills)],
            numberText(requests.mostPerMinute),
          ],
        })),
      ),
    );
  return rows.length === 0
    ? []
    : textTable(
        'all books together',
        [
          ['', ''],
          ['', 'profit'],
          ['95%', 'from'],
          ['', 'to'],
          ['', 'fills'],
          ['requests', 'per min'],
        ],
        rows,
      );
}

function differencesTable(desks: AllCompared): readonly string[] {
  const rows = desks.flatMap(({ name, againstFirst }) =>
    (againstFirst ?? []).map(({ minor, value, interval: of }) => ({
      name,
      cells: [minor, gainText(value, minor), ...interval(of, minor)],
    })),
  );
  return rows.length === 0
    ? []
    : textTable(
        `minus ${desks[0]!.name}`,
        [
          ['', ''],
          ['', 'profit'],
          ['95%', 'from'],
          ['', 'to'],
        ],
        rows,
      );
}

/** Returns the table of the books, without those of configurations that are not scored. */
function booksTable({ desks = [], tapes }: Comparison): readonly string[] {
  const rows = desks
    .filter(({ unscored }) => unscored === null)
    .flatMap(({ name, books }) =>
      books.flatMap(book => {
        const { minor, major, runs } = tapes.find(tape => tape.book === book)!;
        const main = mainOf(runs.find(run => run.name === name)?.models ?? []);
        if (main === null) return [];
        const { pnl, fills, drawdown, inventory } = main;
        return [
          {
            name: `${name}, ${book}`,
            cells: [
              `${gainText(pnl.total, minor)} ${minor}`,
              numberText(fills),
              sumText(drawdown.most, minor),
              `${inventory} ${major}`,
            ],
          },
        ];
      }),
    );
  return rows.length === 0
    ? []
    : textTable(
        'by book',
        [
          ['', 'profit'],
          ['', 'fills'],
          ['maximum', 'drawdown'],
          ['inventory', 'at the end'],
        ],
        rows,
      );
}

const interval = (of: { readonly low: number; readonly high: number } | null, minor: string): readonly string[] =>
  of === null ? ['–', '–'] : [gainText(of.low, minor), gainText(of.high, minor)];
