/** Table of a terminal. */

/** Width of a default terminal, in columns. */
export const WIDTH = 80;

/** Two lines above a column. */
export type Heads = readonly [string, string];

/**
 * Returns the lines of a table: one or two lines of headings, then a line per row. If the names do not fit next to the cells,
 * each name gets a line of its own.
 */
export function textTable(
  heading: string,
  heads: readonly Heads[],
  rows: readonly { readonly name: string; readonly cells: readonly string[] }[],
): readonly string[] {
  const widths = heads.map(
    (of, i) => 1 + Math.max(...of.map(head => head.length), ...rows.map(({ cells }) => cells[i]!.length)),
  );
  const row = (texts: readonly string[]): string => texts.map((text, i) => text.padStart(widths[i]!)).join('');
  const names = Math.max(heading.length, ...rows.map(({ name }) => name.length));
  const room = WIDTH - widths.reduce((all, width) => all + width, 0);
  const isInside = names <= room;
  const lines = rows.flatMap(({ name, cells }) =>
    isInside ? [`${name.padEnd(names)}${row(cells)}`] : [name, row(cells)],
  );
  const above = [0, 1].map(
    h => `${(h === 0 && isInside ? heading : '').padEnd(isInside ? names : 0)}${row(heads.map(of => of[h]!))}`,
  );
  return [...above.filter(line => line.trim() !== ''), ...lines].map(line => line.trimEnd());
}
