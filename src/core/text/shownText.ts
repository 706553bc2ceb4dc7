/** Sanitizing of external text for display: removes terminal control characters and masks credentials. */

import { secretPatterns, hideSecrets, type Hidden } from './hiddenSecrets.ts';

/**
 * Control, invisible and private-use characters, lone surrogates, line and paragraph separators, and marks that change
 * text direction.
 */
export const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Makes text one safe line: white space becomes a space, every other control character U+FFFD. */
export const shownText = (text: string): string =>
  text.replace(/[\t\n\r]+/g, ' ').replace(CONTROL_CHARACTERS, '\ufffd');

/** Makes text safe as `shownText` does, but keeps line breaks and tabs. */
export const shownLines = (text: string): string =>
  text.replace(CONTROL_CHARACTERS, sign => (/[\t\n]/.test(sign) ? sign : '\ufffd'));

/**
 * Hex signature (256 or 512 bits), also after a URL-encoded %3A; not a hash that starts with 0x, and not the hash of a
 * file after its name `sha256: `.
 */
const SIGNATURE = /(?:(?<![0-9a-z])(?<!sha256: )|(?<=%[0-9a-f]{2}))(?:[0-9a-f]{64}){1,2}(?![0-9a-z])/gi;
/** Nonce of an Authorization header: digits between two colons. */
const NONCE = /(?::|%3A)(\d+)(?=:|%3A)/gi;
/** Minimum number of digits that count as a nonce. Nonces have 13 to 19 digits; a time of day has fewer than 10. */
const NONCE_DIGITS_MIN = 10;
/** Minimum length of the signature after a nonce with fewer digits than `NONCE_DIGITS_MIN`. */
const SIGNATURE_LENGTH_MIN = 16;
/**
 * Maximum number of characters before a nonce: the scheme, a separator and a key of 64 characters. In a URL, each
 * character may be encoded as three characters.
 */
const BEFORE_NONCE_MAX = 400;

/**
 * Masks secrets (four characters or more), also in part and in any encoding; every text in the form of a signature; and
 * values of Authorization headers.
 */
export function maskedText(text: string, secrets: readonly string[]): string {
  let known = PATTERN_CACHE.get(secrets);
  if (known?.count !== secrets.length) {
    known = { count: secrets.length, hidden: secretPatterns(secrets) };
    PATTERN_CACHE.set(secrets, known);
  }
  return maskedAuthorization(hideSecrets(text, known.hidden)).replace(SIGNATURE, '[redacted]');
}

/**
 * Masks the key, nonce and signature of each Authorization header, with any separator. Ignores times of day. Runs in
 * linear time.
 */
function maskedAuthorization(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const { 0: found, 1: digits = '', index } of text.matchAll(NONCE)) {
    if (index < done) continue;
    const value = index + found.length + (text[index + found.length] === ':' ? 1 : 3);
    if (
      digits.length < NONCE_DIGITS_MIN &&
      endOfValue(text, value, value + SIGNATURE_LENGTH_MIN) < value + SIGNATURE_LENGTH_MIN
    )
      continue;
    const scheme = endOfScheme(text, Math.max(done, index - BEFORE_NONCE_MAX), index);
    if (scheme === null) continue;
    parts.push(text.slice(done, scheme), ' [redacted]');
    done = endOfValue(text, value, text.length);
  }
  return parts.join('') + text.slice(done);
}

/** Returns the index after the characters from `at` on that may belong to a signature; at most `max`. */
function endOfValue(text: string, at: number, max: number): number {
  let end = at;
  while (end < max && end < text.length && !/[\s"'\\,;]/.test(text[end]!)) end++;
  return end;
}

/**
 * Returns the index after the scheme of the Authorization header whose nonce starts at `nonce`; `null` if there is no
 * scheme, or no key after it.
 */
function endOfScheme(text: string, from: number, nonce: number): number | null {
  let key = nonce;
  while (key > from && !/[\s:"]/.test(text[key - 1]!)) key--;
  if (key === nonce) return null;
  let space = key;
  for (let length = 1; length > 0 && space > from; space -= length) length = separatorBefore(text, space);
  space = Math.max(from, space);
  if (space < key && space > from && /[a-z]/i.test(text[space - 1]!)) return space;
  // In a URL, a plus or %20 replaces the space, so search for the first plus or %20 that follows a letter.
  const inside = /(?<=[a-z])(?:%20|\+)(?=.)/i.exec(text.slice(key, nonce));
  return inside === null ? null : key + inside.index;
}

/** Returns the length of the white space, plus or %20 that ends at an index; 0 if there is none. */
function separatorBefore(text: string, end: number): number {
  if (end > 0 && /[\s+]/.test(text[end - 1]!)) return 1;
  return text.slice(Math.max(0, end - 3), end) === '%20' ? 3 : 0;
}

/** Cache of search terms by list of secrets, because a log masks all its lines with one list. */
const PATTERN_CACHE = new WeakMap<readonly string[], { readonly count: number; readonly hidden: Hidden }>();
