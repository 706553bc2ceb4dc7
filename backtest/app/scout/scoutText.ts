/** Text of `puntas scout`: sentences and tables, in at most 80 columns. */
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
import { wrapped } from '../../../src/messages/wrapped.ts';
import { textTable, WIDTH, type Heads } from '../../../src/pages/index.ts';
import { togetherLines } from './togetherText.ts';

type Column = { readonly heads: Heads; readonly cell: (book: ScoutedBook) => string };

/** Describes the result of a scout, without a line break at the end. */
export function describeScouting(scouting: Scouting): string {
  const { books, leftOut, together, hedged = [] } = scouting;
  const [verdict, ...rest] = scoutWords(scouting);
  return [
    ...lines(verdict ?? ''),
    ...(books.length === 0 ? [] : ['', ...tableOf(scouting), '']),
    ...rest.flatMap(lines),
    ...(books.length === 0 ? [] : lines(LEGEND)),
    ...leftOutLines(leftOut).flatMap(lines),
    ...(together === undefined ? [] : ['', ...togetherLines(together)]),
    ...hedged.flatMap(book => ['', ...hedgedWords(book).flatMap(lines), '', ...hedgedTable(book)]),
  ].join('\n');
}

const lines = (text: string): readonly string[] => wrapped(text, WIDTH);

/** Groups the books that were left out by reason. */
function leftOutLines(leftOut: Scouting['leftOut']): readonly string[] {
  const byWhy = new Map<string, string[]>();
  for (const { what, why } of leftOut) byWhy.set(why, [...(byWhy.get(why) ?? []), what]);
  return [...byWhy].map(([why, names]) => `Left out (${why}): ${names.join(', ')}.`);
}

const LEGEND =
  'The columns "half spr." (half the spread), "vola", "maker", "pays to", "dist" and "tier" are in bps. "vola" is the standard deviation of the price over an hour. "maker" is the average markout of makers 60 s after a fill. "pays to" is the highest maker fee at which quoting is profitable. "dist" is the most profitable distance from the mid price; "no" means do not quote, and "?" not known yet. "low" and "high" are the 90% interval of "net". "needs" is the capital for ten orders on each side. "tier" is the maker fee after a month of quoting at "dist".';

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
    {
      heads: ['dist', ''],
      cell: ({ verdict }) => (verdict.quote ? bpsText(verdict.distanceBps) : verdict.isKnown ? 'no' : '?'),
    },
    { heads: ['net', `${currency ?? ''}/h`], cell: sum(({ verdict }) => verdict.netPerHour?.value ?? null, signed) },
    { heads: ['low', ''], cell: sum(({ verdict }) => verdict.netPerHour?.low ?? null, signed) },
    { heads: ['high', ''], cell: sum(({ verdict }) => verdict.netPerHour?.high ?? null, signed) },
    { heads: ['needs', currency ?? ''], cell: sum(({ capital }) => capital, compact) },
    { heads: ['tier', ''], cell: ({ reached }) => bpsText(reached?.feeBps ?? null) },
  ];
  return textTable(
    'book',
    columns.map(({ heads }) => heads),
    books.map(book => ({ name: book.name, cells: columns.map(({ cell }) => cell(book)) })),
  );
}
