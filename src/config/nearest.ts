/** The known word that a mistyped one was probably meant to be. */

/** The nearest of `known` by edit distance, ignoring case; null when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  const short = word.slice(0, 64);
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(short.length / 3)) + 1;
  for (const candidate of known) {
    const distance = Math.min(
      editDistance(plain(short), plain(candidate)),
      editDistance(sorted(short), sorted(candidate)),
    );
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** max_order_value and maxOrderValue are one word to whoever typed it. */
const plain = (word: string): string => word.toLowerCase().replace(/[-_]/g, '');

/** And so are max_order_value and orderValueMax. */
const sorted = (word: string): string =>
  word
    .split(/[-_]|(?=[A-Z])/)
    .map(part => part.toLowerCase().replace(/s$/, ''))
    .sort()
    .join('');

/** Levenshtein distance, one row at a time: twelve lines, not worth a package in each image (leven 4.1.0, fastest-levenshtein 1.0.16: the same numbers). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitute, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
