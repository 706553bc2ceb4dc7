/** Tables as text, for a terminal. */

/** Aligns cells: the first column to the left, the others to the right. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map(cells => cells[i]?.length ?? 0)));
  return rows.map(cells =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
}
