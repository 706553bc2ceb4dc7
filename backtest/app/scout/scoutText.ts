/** Text of `puntas scout`: sentences, and one table, in at most 80 columns. */
import {
  bpsText,
  compact,
  hedgedTable,
  hedgedWords,
  scoutWords,
  shownIn,
  signed,
  type ScoutedBook,
  type Scouting,
} from '../../index.ts';

/** Width of a default terminal, in columns. */
const WIDTH = 80;

type Column = { readonly heads: readonly [string, string]; readonly cell: (book: ScoutedBook) => string };

/** Describes the result of a scout, without a line break at the end. */
export function describeScouting(scouting: Scouting): string {
  const { books, leftOut, hedged = [] } = scouting;
  const [verdict, ...rest] = scoutWords(scouting);
  return [
    ...wrapped(verdict ?? ''),
    ...(books.length === 0 ? [] : ['', ...tableOf(scouting), '']),
    ...rest.flatMap(line => wrapped(line)),
    ...(books.length === 0 ? [] : wrapped(LEGEND)),
    ...leftOutLines(leftOut).flatMap(wrapped),
    ...hedged.flatMap(book => ['', ...hedgedWords(book).flatMap(wrapped), '', ...hedgedTable(book)]),
  ].join('\n');
}

/** Groups the books that were left out by reason. */
function leftOutLines(leftOut: Scouting['leftOut']): readonly string[] {
  const byWhy = new Map<string, string[]>();
  for (const { what, why } of leftOut) byWhy.set(why, [...(byWhy.get(why) ?? []), what]);
  return [...byWhy].map(([why, names]) => `Left out (${why}): ${names.join(', ')}.`);
}

const LEGEND =
  'The columns "half spr." (half the spread), "vola", "maker", "pays to", "dist" and "tier" are in bps. "vola" is the standard deviation of the price over an hour. "maker" is the average markout of makers 60 s after a fill. "pays to" is the highest maker fee at which quoting is profitable. "dist" is the most profitable distance from the mid price. "low" and "high" are the 95% interval of "net". "needs" is the capital for ten orders on each side. "tier" is the maker fee after a month of quoting at "dist".';

function tableOf({ books, currency }: Scouting): readonly string[] {
  const sum = (of: (book: ScoutedBook) => number | null, text: (x: number | null) => string) => (book: ScoutedBook) => {
    const value = of(book);
    return text(value === null ? null : value * shownIn(book, currency).rate);
  };
  const columns: readonly Column[] = [
    { heads: ['half', 'spr.'], cell: ({ halfSpreadBps }) => bpsText(halfSpreadBps) },
    { heads: ['trades', '/h'], cell: ({ tradesPerHour }) => compact(tradesPerHour) },
    { heads: ['volume', `${currency ?? ''}/h`], cell: sum(({ valuePerHour }) => valuePerHour, compact) },
    { heads: ['vola', '1 h'], cell: ({ volatilityBps }) => bpsText(volatilityBps) },
    {
      heads: ['maker', '60 s'],
      cell: ({ maker }) => bpsText(maker.find(({ seconds }) => seconds === 60)?.bps ?? null),
    },
    { heads: ['pays', 'to'], cell: ({ verdict }) => bpsText(verdict.breakEvenFeeBps) },
    { heads: ['dist', ''], cell: ({ verdict }) => (verdict.quote ? bpsText(verdict.distanceBps) : 'no') },
    { heads: ['net', `${currency ?? ''}/h`], cell: sum(({ verdict }) => verdict.netPerHour?.value ?? null, signed) },
    { heads: ['low', ''], cell: sum(({ verdict }) => verdict.netPerHour?.low ?? null, signed) },
    { heads: ['high', ''], cell: sum(({ verdict }) => verdict.netPerHour?.high ?? null, signed) },
    { heads: ['needs', currency ?? ''], cell: sum(({ capital }) => capital, compact) },
    { heads: ['tier', ''], cell: ({ reached }) => bpsText(reached?.feeBps ?? null) },
  ];
  const cells = books.map(book => columns.map(({ cell }) => cell(book)));
  const widths = columns.map(
    ({ heads }, i) => 1 + Math.max(...heads.map(head => head.length), ...cells.map(row => row[i]!.length)),
  );
  const row = (texts: readonly string[]) => texts.map((text, i) => text.padStart(widths[i]!)).join('');
  const names = Math.max(4, ...books.map(({ name }) => name.length));
  // If the names do not fit next to the cells, each name gets a line of its own.
  const room = WIDTH - widths.reduce((all, width) => all + width, 0);
  const isInside = names <= room;
  const lines = books.flatMap(({ name }, i) =>
    isInside ? [`${name.padEnd(names)}${row(cells[i]!)}`] : [name, row(cells[i]!)],
  );
  const heads = [0, 1].map(
    h =>
      `${(h === 0 && isInside ? 'book' : '').padEnd(isInside ? names : 0)}${row(columns.map(({ heads: of }) => of[h]!))}`,
  );
  return [...heads, ...lines].map(line => line.trimEnd());
}

/** Wraps a sentence into lines. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
