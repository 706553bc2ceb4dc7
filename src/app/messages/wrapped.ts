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
