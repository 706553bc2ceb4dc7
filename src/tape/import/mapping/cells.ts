/** Cells of a row, and the side that a cell states. */
import type { Amount, Millis, Price } from '../../../core/index.ts';
import { SIDE, type SideCode } from '../../model/tape.ts';
import { shown } from '../lines.ts';
import type { RowBuffer } from '../rows.ts';
import type { SideWords } from './mapping.ts';

/** Returns the text of a column's cell. */
export type Cells = (column: string) => string;
/**
 * Cells of the requested columns, in the order of the request. `null` if the number of cells differs from the header,
 * or if the row is not JSON.
 */
export type TableRow = readonly string[] | null;
/** Reads the content of a row. Throws a RangeError if the row cannot be read. */
export type RowReader = (cells: Cells, at: Millis, local: Millis, rows: RowBuffer) => void;

/** Conversion of cell text to ticks and lots. */
export type Numbers = { readonly price: (text: string) => Price; readonly lots: (text: string) => Amount };

/** Returns the side that the word in a column means; `unknown` for a word of neither side. */
export function sideIn({ column, buy, sell }: Pick<SideWords, 'column' | 'buy' | 'sell'>, cells: Cells): SideCode {
  const word = cells(column);
  return buy.includes(word) ? SIDE.buy : sell.includes(word) ? SIDE.sell : SIDE.unknown;
}

/** Returns the side that the word in a column means. Throws a RangeError for a word of neither side. */
export function knownSide(words: SideWords, cells: Cells): SideCode {
  const side = sideIn(words, cells);
  if (side === SIDE.unknown)
    throw new RangeError(
      `expected ${[...words.buy, ...words.sell].join(' or ')} in ${words.column}, found ${shown(cells(words.column))}`,
    );
  return side;
}
