/**
 * Check of a mapping against its table. Words that match no row and columns that are always empty are errors in the
 * mapping.
 */
import { counted } from '../../../core/index.ts';
import { WrongFile, type Findings } from '../read/findings.ts';
import { shown } from '../lines.ts';
import type { Table } from './mapping.ts';
import type { Cells } from './cells.ts';

/** Words with one meaning, the key of this meaning in the mapping, and the columns with these words. */
type Stated = { readonly key: string; readonly columns: readonly string[]; readonly words: readonly string[] };

/** Maximum number of distinct words counted per column. A column of words, such as sides, has only a few. */
const WORDS_MAX = 200;
const SHOWN = 8;

/** Counter of the words in the mapped columns of a table, to find words of the mapping that never occur. */
export class MappingCheck {
  readonly #where: readonly Stated[];
  readonly #stated: readonly Stated[];
  /** Count of each word in all rows, by column. */
  readonly #all = new Map<string, Map<string, number>>();
  /** Count of each word in the rows that the table's `where` selects, by column. */
  readonly #own = new Map<string, Map<string, number>>();
  /** Mapped columns that were empty in every row so far, each with its key in the mapping. */
  readonly #empty: Map<string, string>;
  #rows = 0;

  constructor(table: Table) {
    this.#where = Object.entries(table.where).map(([column, words]) => ({ key: `where`, columns: [column], words }));
    this.#stated = statedOf(table).filter(({ words }) => words.length > 0);
    this.#empty = new Map(columnsThatHold(table));
    for (const { columns } of this.#where) for (const column of columns) this.#all.set(column, new Map());
    for (const { columns } of this.#stated) for (const column of columns) this.#own.set(column, new Map());
  }

  /** Counts the words of a row, whether the table selects the row or not. */
  row(cells: Cells): void {
    for (const [column, counts] of this.#all) countWord(counts, cells(column));
  }

  /** Counts the words of a row, if the `where` of the table selects the row. */
  ownRow(cells: Cells): void {
    this.#rows++;
    for (const [column, counts] of this.#own) countWord(counts, cells(column));
    for (const column of this.#empty.keys()) if (cells(column) !== '') this.#empty.delete(column);
  }

  /**
   * Checks the mapping after the last row. If only some words of a meaning occur, and the column has words that the
   * mapping lacks, the words that do not occur become a finding.
   * @throws WrongFile if a column is empty in every row.
   * @throws WrongFile if no word of a meaning occurs and the column has words that the mapping lacks.
   */
  check(findings: Findings): void {
    const failure = this.failure(() => true);
    if (failure !== null) throw new WrongFile(failure);
    this.#leftOut(findings);
    for (const { key, columns, words } of this.#stated) {
      const counts = this.#countsOf(columns);
      const missing = words.filter(word => !counts.has(word));
      if (missing.length > 0 && this.#rows > 0 && this.#unstated(columns).length > 0)
        findings.counted(
          'words of the mapping that occur in no row',
          `${key}: ${missing.map(shown).join(', ')}; column ${columns.join(', ')} contains ${tally(counts)}`,
          undefined,
          missing.length,
        );
    }
  }

  /** Reports order events that `where` excludes, because the excluded events also change the book. */
  #leftOut(findings: Findings): void {
    for (const { columns } of this.#where) {
      const events = this.#stated.filter(({ key, columns: of }) => key.startsWith('event.') && of[0] === columns[0]);
      if (events.length === 0) continue;
      const own = this.#own.get(columns[0]!)!;
      const others = new Map([...this.#all.get(columns[0]!)!].filter(([word]) => !own.has(word)));
      const rows = [...others.values()].reduce((sum, times) => sum + times, 0);
      if (rows > 0) findings.counted('events that `where` excludes', tally(others), undefined, rows);
    }
  }

  /** Returns the first error of the mapping as one line; `null` if there is none. `of` selects the keys to check. */
  failure(of: (key: string) => boolean): string | null {
    for (const { key, columns, words } of this.#where) {
      const counts = this.#all.get(columns[0]!)!;
      if (of(key) && counts.size > 0 && !words.some(word => counts.has(word)))
        return this.#unmatched(`where.${columns[0]}`, columns, words, counts);
    }
    if (this.#rows === 0) return null;
    for (const [column, key] of this.#empty)
      if (of(key))
        return `column ${column}, which the mapping uses as ${key}, is empty in all ${counted(this.#rows, 'row')}; correct the mapping, or remove the key`;
    for (const { key, columns, words } of this.#stated) {
      const counts = this.#countsOf(columns);
      if (of(key) && !words.some(word => counts.has(word)) && this.#unstated(columns).length > 0)
        return this.#unmatched(key, columns, words, counts);
    }
    return null;
  }

  #unmatched(
    key: string,
    columns: readonly string[],
    words: readonly string[],
    counts: ReadonlyMap<string, number>,
  ): string {
    return `none of the mapping's words for ${key} (${words.map(shown).join(', ')}) occurs in any row; column ${columns.join(', ')} contains ${tally(counts)}. Correct the words, or remove the key`;
  }

  #countsOf(columns: readonly string[]): ReadonlyMap<string, number> {
    const [only, ...others] = columns.map(column => this.#own.get(column)!);
    if (others.length === 0) return only!;
    const sum = new Map(only);
    for (const counts of others) for (const [word, times] of counts) sum.set(word, (sum.get(word) ?? 0) + times);
    return sum;
  }

  /** Returns the words in these columns that the mapping lacks, without empty cells. */
  #unstated(columns: readonly string[]): readonly string[] {
    const known = new Set(
      this.#stated.filter(one => one.columns.some(column => columns.includes(column))).flatMap(({ words }) => words),
    );
    return [...this.#countsOf(columns).keys()].filter(word => word !== '' && !known.has(word));
  }
}

function countWord(counts: Map<string, number>, word: string): void {
  const before = counts.get(word);
  if (before !== undefined) counts.set(word, before + 1);
  else if (counts.size < WORDS_MAX) counts.set(word, 1);
}

/** Lists the most frequent words, each with its count. */
function tally(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const text = sorted.slice(0, SHOWN).map(([word, times]) => `${shown(word)} (${times})`);
  return sorted.length > SHOWN ? `${text.join(', ')} and ${sorted.length - SHOWN} more` : text.join(', ');
}

function statedOf(table: Table): readonly Stated[] {
  const of = (key: string, column: string, words: readonly string[]): Stated => ({ key, columns: [column], words });
  const sides = ({ column, buy, sell }: { column: string; buy: readonly string[]; sell: readonly string[] }) => [
    of('side.buy', column, buy),
    of('side.sell', column, sell),
  ];
  if (table.kind === 'quotes')
    return table.unchanged === undefined
      ? []
      : [{ key: 'unchanged', columns: [table.bid, table.ask], words: [table.unchanged] }];
  if (table.kind === 'books') return [];
  if (table.kind === 'trades') {
    const { side } = table;
    return side === undefined ? [] : [...sides(side), of('side.none', side.column, side.none)];
  }
  const snapshot = table.snapshot === undefined ? [] : [of('snapshot', table.snapshot.column, table.snapshot.words)];
  if (table.kind === 'levels') return [...sides(table.side), ...snapshot];
  const { column, ...events } = table.event;
  const stated = Object.entries(events).map(([event, words]) => of(`event.${event}`, column, words));
  return [...sides(table.side), ...stated, ...snapshot];
}

/** Returns the columns that must have a value in at least one row, each with its key in the mapping. */
function columnsThatHold(table: Table): readonly (readonly [string, string])[] {
  const times = [
    ...timeColumns('time', table.time),
    ...(table.received === undefined ? [] : timeColumns('received', table.received)),
  ];
  const own = (): readonly (readonly [string | undefined, string])[] => {
    if (table.kind === 'quotes')
      return [
        [table.bid, 'bid'],
        [table.ask, 'ask'],
        [table.bidAmount, 'bidAmount'],
        [table.askAmount, 'askAmount'],
      ];
    // Only the first level must have a value, because a book may have fewer levels than columns.
    const first = (name: string | undefined) => name?.replace('{}', String(table.kind === 'books' ? table.first : 0));
    if (table.kind === 'books')
      return [
        [first(table.bid), 'bid'],
        [first(table.ask), 'ask'],
      ];
    if (table.kind === 'trades')
      return [
        [table.price, 'price'],
        [table.amount, 'amount'],
        [table.id, 'id'],
        [table.side?.column, 'side'],
      ];
    if (table.kind === 'levels')
      return [
        [table.price, 'price'],
        [table.amount, 'amount'],
        [table.side.column, 'side'],
        [table.snapshot?.column, 'snapshot'],
      ];
    return [
      [table.price, 'price'],
      [table.amount, 'amount'],
      [table.id, 'id'],
      [table.side.column, 'side'],
      [table.event.column, 'event'],
      [table.snapshot?.column, 'snapshot'],
    ];
  };
  return [...times, ...own()].flatMap(([column, key]) => (column === undefined ? [] : [[column, key] as const]));
}

const timeColumns = (key: string, { column, hour }: Table['time']): readonly (readonly [string, string])[] =>
  [...column, ...(hour === undefined ? [] : [hour])].map(name => [name, key] as const);
