/** The last step of every import: the checks that need the whole tape, and the tape itself. */
import { RecordedBook } from './recordedBook.ts';
import { KIND, SIDE } from './tape.ts';
import type { Columns, Dirt, Gap, Tape } from './tape.ts';
import { tapeRules } from './tapeRules.ts';

export type Imported = {
  readonly source: string;
  readonly book: string;
  readonly tick: string;
  readonly columns: Columns;
  readonly depth: number;
  readonly quotesOnly?: boolean;
  readonly gaps?: readonly Gap[];
  /** What the importer itself met; entries with a count of 0 are left out. */
  readonly dirt?: readonly Dirt[];
};

/** Counts what is wrong with the books and drops the trades that no book stands behind. */
export function finishTape(imported: Imported): Tape {
  const { columns, dropped } = fromFirstBook(imported);
  const books = inspectBooks(columns);
  const unknown = countRows(columns, row => columns.kind[row] === KIND.trade && columns.side[row] === SIDE.unknown);
  const dirt: Dirt[] = [
    ...(imported.dirt ?? []),
    { what: 'trades before the first book', count: dropped, done: 'dropped' },
    { what: 'trades without a taker side', count: unknown, done: 'kept; the replay infers the side from the book' },
    { what: 'crossed books', count: books.crossed, done: 'kept; the replay hides the levels that cross' },
    { what: 'locked books', count: books.locked, done: 'kept; the replay hides the levels that lock' },
    { what: 'one-sided books', count: books.oneSided, done: 'kept' },
  ];
  return {
    source: imported.source,
    ...tapeRules(imported.book, imported.tick),
    columns,
    gaps: imported.gaps ?? [],
    dirt: dirt.filter(entry => entry.count > 0),
    depth: imported.depth,
    quotesOnly: imported.quotesOnly ?? false,
  };
}

/** The report in lines for people. */
export function describeTape(tape: Tape): string[] {
  const { columns, instrument } = tape;
  const seconds = columns.length === 0 ? 0 : (columns.at[columns.length - 1]! - columns.at[0]!) / 1000;
  const trades = countRows(columns, row => columns.kind[row] === KIND.trade);
  return [
    `${tape.source}: ${instrument.symbol}, tick ${instrument.tick}, ${columns.length} rows, ${trades} trades, ${seconds.toFixed(0)} s`,
    ...tape.dirt.map(entry => `  ${entry.what}: ${entry.count} (${entry.done})`),
    ...tape.gaps.map(gap => `  gap of ${((gap.to - gap.from) / 1000).toFixed(1)} s: ${gap.why}`),
  ];
}

function countRows(columns: Columns, test: (row: number) => boolean): number {
  let count = 0;
  for (let row = 0; row < columns.length; row++) if (test(row)) count++;
  return count;
}

function fromFirstBook({ columns, source }: Imported): { columns: Columns; dropped: number } {
  const ordersOnly = !columns.kind.includes(KIND.level);
  const first = columns.kind.findIndex(kind => kind === KIND.clear || kind === (ordersOnly ? KIND.add : KIND.level));
  if (first < 0) throw new RangeError(`${source}: no book in the recording`);
  const keep = (row: number) => row >= first || columns.kind[row] !== KIND.trade;
  const length = countRows(columns, keep);
  if (length === columns.length) return { columns, dropped: 0 };
  const bytes = (from: Uint8Array) => from.filter((_, row) => keep(row));
  const numbers = (from: Float64Array) => from.filter((_, row) => keep(row));
  return {
    columns: {
      length,
      kind: bytes(columns.kind),
      side: bytes(columns.side),
      at: numbers(columns.at),
      local: numbers(columns.local),
      price: numbers(columns.price),
      amount: numbers(columns.amount),
      id: numbers(columns.id),
    },
    dropped: columns.length - length,
  };
}

/** Looks at the book after the last row of each time at which it changed. */
function inspectBooks(columns: Columns): { crossed: number; locked: number; oneSided: number } {
  const book = new RecordedBook(columns);
  const found = { crossed: 0, locked: 0, oneSided: 0 };
  let changed = false;
  for (let row = 0; row < columns.length; row++) {
    changed = book.concerns(row) || changed;
    book.apply(row);
    if (!changed || (row + 1 < columns.length && columns.at[row + 1] === columns.at[row])) continue;
    changed = false;
    const bid = book.bids.priceAt(0);
    const ask = book.asks.priceAt(0);
    if (bid === 0 || ask === 0) found.oneSided++;
    else if (bid > ask) found.crossed++;
    else if (bid === ask) found.locked++;
  }
  return found;
}
