/** Cells of a row as the readers of a mapping see them, and the side that a cell says. */
import type { Amount, Millis, Price } from '../../../core/index.ts';
import { SIDE } from '../../model/tape.ts';
import type { SideCode } from '../../model/tape.ts';
import { shown } from '../lines.ts';
import type { RowBuffer } from '../rows.ts';
import type { SideWords } from './mapping.ts';

/** The cell of a column. */
export type Cells = (column: string) => string;
/** The cells of the columns that were asked for, in that order; null when the row has not as many cells as the header, or is not JSON. */
export type TableRow = readonly string[] | null;
/** Puts what a row says; a RangeError says that it cannot be read. */
export type RowReader = (cells: Cells, at: Millis, local: Millis, rows: RowBuffer) => void;

/** From the text of cells to ticks and lots. */
export type Numbers = { readonly price: (text: string) => Price; readonly lots: (text: string) => Amount };

/** `unknown` for a word that is neither. */
export function sideIn({ column, buy, sell }: Pick<SideWords, 'column' | 'buy' | 'sell'>, cells: Cells): SideCode {
  const word = cells(column);
  return buy.includes(word) ? SIDE.buy : sell.includes(word) ? SIDE.sell : SIDE.unknown;
}

/** As `sideIn`; throws a RangeError for a word that is neither. */
export function knownSide(words: SideWords, cells: Cells): SideCode {
  const side = sideIn(words, cells);
  if (side === SIDE.unknown)
    throw new RangeError(
      `expected ${[...words.buy, ...words.sell].join(' or ')} in ${words.column}, found ${shown(cells(words.column))}`,
    );
  return side;
}
