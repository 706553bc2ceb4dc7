/**
 * Formats a count with its noun, such as `1 bot` or `3 bots`. The count may be formatted text. `many`: plural, if it is
 * not the noun with an s, or includes a verb.
 */
export const counted = (n: number | bigint | string, one: string, many = `${one}s`): string =>
  `${n} ${String(n) === '1' ? one : many}`;
