/**
 * Removal of repeated characters at the end of text, in linear time. A pattern such as `/0+$/` is quadratic if many
 * zeros precede another character.
 */

/** Removes every `character` from the end of `text`. */
export function trimmedEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/**
 * Removes trailing zeros of a decimal fraction, and the point if no digit follows it. Text without a point is
 * unchanged.
 */
export function shortDecimal(text: string): string {
  if (!text.includes('.')) return text;
  const trimmed = trimmedEnd(text, '0');
  return trimmed.endsWith('.') ? trimmed.slice(0, -1) : trimmed;
}
