/** Text in rows of a width, for a terminal and for comments in a file. */

/** Broken between words; a word that is longer than a row, such as a command to copy, stays whole. */
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
 * Each line of a text that is longer than a row, broken between words; what follows stands two columns further in. Columns of a table stay where
 * they are in lines that fit. A word that is longer than a row has a row of its own.
 */
export const foldedText = (text: string, width: number): string =>
  Number.isFinite(width)
    ? text
        .split('\n')
        .map(line => foldedRow(line, width).join('\n'))
        .join('\n')
    : text;

/** `used`: columns of the first row that are taken. */
export function foldedRow(line: string, width: number, used = 0): readonly string[] {
  if (line.length <= width - used) return [line];
  const indent = ' '.repeat(Math.min(/^ */.exec(line)![0].length + 2, Math.floor(width / 2)));
  const rows: string[] = [];
  let [rest, room] = [line.trimEnd(), width - used];
  while (rest.length > room) {
    const first = /^ */.exec(rest)![0].length;
    const before = rest.lastIndexOf(' ', room);
    // A first word that is too long for what is left of the row goes on the next one.
    const at = before > first ? before : rest.indexOf(' ', first);
    if (at < 0) break;
    rows.push(rest.slice(0, at).trimEnd());
    rest = `${indent}${rest.slice(at).trimStart()}`;
    room = width;
  }
  return [...rows, rest];
}
