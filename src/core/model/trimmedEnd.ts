/** Text without what repeats at its end. A pattern such as `/0+$/` takes quadratic time where many zeros precede another character; these take linear time. */

/** Removes every `character` from the end of `text`. */
export function trimmedEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** Removes the zeros at the end of a decimal fraction, and the point if no digit is left behind it. Text without a point stays as it is. */
export function shortDecimal(text: string): string {
  if (!text.includes('.')) return text;
  const trimmed = trimmedEnd(text, '0');
  return trimmed.endsWith('.') ? trimmed.slice(0, -1) : trimmed;
}
