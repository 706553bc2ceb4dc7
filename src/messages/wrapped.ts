/** Wrapping of text to a width, for terminals and for comments in files. */

/** Wraps text between words. A word longer than a row, such as a command to copy, is not split. */
export function wrapped(text: string, width: number): readonly string[] {
  const rows: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) rows[rows.length - 1] = `${last} ${word}`;
    else rows.push(word);
  }
  return rows;
}

/**
 * Wraps each long line between words, and indents its continuation by two columns. Short lines do not change. A word
 * longer than a row gets its own row.
 */
export const foldedText = (text: string, width: number): string =>
  Number.isFinite(width)
    ? text
        .split('\n')
        .map(line => foldedRow(line, width).join('\n'))
        .join('\n')
    : text;

/** Wraps one line. `used`: columns of the first row that are already occupied. */
export function foldedRow(line: string, width: number, used = 0): readonly string[] {
  if (line.length <= width - used) return [line];
  const indent = ' '.repeat(Math.min(/^ */.exec(line)![0].length + 2, Math.floor(width / 2)));
  const rows: string[] = [];
  let [rest, room] = [line.trimEnd(), width - used];
  while (rest.length > room) {
    const first = /^ */.exec(rest)![0].length;
    const before = rest.lastIndexOf(' ', room);
    // If the first word is too long for the rest of the row, it moves to the next row.
    const at = before > first ? before : rest.indexOf(' ', first);
    if (at < 0) break;
    rows.push(rest.slice(0, at).trimEnd());
    rest = `${indent}${rest.slice(at).trimStart()}`;
    room = width;
  }
  return [...rows, rest];
}
