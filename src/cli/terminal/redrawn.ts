/** Text on a terminal that is redrawn in place, with the two control sequences that it needs. */
import { counted } from '../../core/index.ts';

/** Output of a redrawn view. `write` receives text that may contain control sequences. */
export type RedrawOptions = {
  /** Remedy that shows the rows below the end of the terminal, as an imperative. */
  readonly remedy: string;
  readonly write: (text: string) => void;
  /** Returns the size of the terminal. */
  readonly size: () => { readonly columns: number; readonly rows: number };
};

/**
 * Returns the rows that fit into a height. If there are more, the last one says how many are hidden, and `remedy` says
 * what shows them.
 */
export function fittedRows(rows: readonly string[], height: number, remedy: string): readonly string[] {
  if (rows.length <= height) return rows;
  const shown = rows.slice(0, Math.max(0, height - 1));
  return [...shown, `${counted(rows.length - shown.length, 'line')} hidden: ${remedy}`];
}

/**
 * Returns a function that replaces the rows it wrote before with new rows. Each row is cut to the width and the rows to
 * the height of the terminal, so that the rows written before can always be reached.
 */
export function redrawn({ remedy, write, size }: RedrawOptions): (rows: readonly string[]) => void {
  let above = 0;
  return rows => {
    const { columns, rows: height } = size();
    const shown = fittedRows(rows, Math.max(1, height - 1), remedy).map(row => row.slice(0, Math.max(1, columns - 1)));
    // Moves to the first row written before, and clears from there to the end of the screen.
    const back = above === 0 ? '' : `\u001b[${above}A`;
    write(`${back}\r\u001b[J${shown.join('\n')}\n`);
    above = shown.length;
  };
}
