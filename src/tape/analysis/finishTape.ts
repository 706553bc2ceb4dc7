/** Last step of every import: checks that need the complete tape, and the creation of the tape. */
import { Inspection } from './inspection.ts';
import { KIND, type Columns, type DataFlaw, type Gap, type Tape } from '../model/tape.ts';
import { tapeRules } from '../model/tapeRules.ts';

export type Imported = {
  readonly source: string;
  readonly book: string;
  readonly tick: string;
  readonly columns: Columns;
  readonly depth: number;
  readonly quotesOnly?: boolean;
  readonly gaps?: readonly Gap[];
  /** Flaws that the importer found; flaws with a count of 0 are dropped. */
  readonly flaws?: readonly DataFlaw[];
};

/** Builds a tape from an import. Counts flaws of the books and drops trades before the first book. */
export function finishTape(imported: Imported): Tape {
  const { columns, ...found } = inspected(imported);
  return {
    source: imported.source,
    ...tapeRules(imported.book, imported.tick),
    columns,
    gaps: imported.gaps ?? [],
    flaws: [...(imported.flaws ?? []), ...found.flaws].filter(entry => entry.count > 0),
    depth: imported.depth,
    quotesOnly: imported.quotesOnly ?? false,
  };
}

/** Formats one flaw as a line. */
export const describeFlaw = ({ what, count, done, first }: DataFlaw): string =>
  `  ${what}: ${count} (${done}${first === undefined ? '' : `; first at ${first}`})`;

function inspected({ columns, source }: Imported): { readonly columns: Columns; readonly flaws: readonly DataFlaw[] } {
  const flaws = new Map<string, { what: string; count: number; done: string }>();
  const inspection = new Inspection(!columns.kind.includes(KIND.level), (what, done) => {
    const entry = flaws.get(what);
    if (entry) entry.count++;
    else flaws.set(what, { what, count: 1, done });
  });
  const { kind, side, at, local, price, amount, id } = columns;
  const kept = new Uint8Array(columns.length);
  for (let row = 0; row < columns.length; row++) {
    if (inspection.take(kind[row]!, side[row]!, at[row]!, price[row]!, amount[row]!, id[row]!)) kept[row] = 1;
  }
  inspection.end();
  if (!inspection.begun) throw new RangeError(`${source}: the recording contains no order book`);
  const found = { flaws: [...flaws.values()] };
  const length = kept.reduce((sum, one) => sum + one, 0);
  if (length === columns.length) return { columns, ...found };
  const bytes = (from: Uint8Array) => from.filter((_, row) => kept[row] === 1);
  const numbers = (from: Float64Array) => from.filter((_, row) => kept[row] === 1);
  return {
    ...found,
    columns: {
      length,
      kind: bytes(kind),
      side: bytes(side),
      at: numbers(at),
      local: numbers(local),
      price: numbers(price),
      amount: numbers(amount),
      id: numbers(id),
    },
  };
}
