/** Texts from outside made fit to be shown: nothing in them commands a terminal, and no credential in them is repeated. */

import { hiddenOf, hideSecrets } from './hiddenSecrets.ts';
import type { Hidden } from './hiddenSecrets.ts';

/** Control characters, escapes included, line and paragraph separators, and marks that turn the direction of what follows. */
const UNSHOWN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** One line: each such character becomes U+FFFD, but white space a space. */
export const shownText = (text: string): string => text.replace(/[\t\n\r]+/g, ' ').replace(UNSHOWN, '\ufffd');

/** The same for text of several lines, which stay. */
export const shownLines = (text: string): string =>
  text.replace(UNSHOWN, sign => (/[\t\n]/.test(sign) ? sign : '\ufffd'));

/** A signature in hex (of 256 or 512 bits), also behind what a web address spells as %3A; not a hash that begins with 0x. */
const SIGNATURE = /(?:(?<![0-9a-z])|(?<=%[0-9a-f]{2}))(?:[0-9a-f]{64}){1,2}(?![0-9a-z])/gi;
/** The nonce of an Authorization header between two colons. */
const NONCE = /(?::|%3A)(\d+)(?=:|%3A)/gi;
/** Nonces have 13 to 19 digits, and times of the day two. */
const NONCE_DIGITS_MIN = 10;
/** Signs of a signature behind a shorter nonce. */
const SIGNATURE_LENGTH_MIN = 16;
/** A key has at most 64 characters, each of them up to three in a web address; so have scheme and separator before it. */
const BEFORE_NONCE_MAX = 400;

/**
 * Masks `secrets` (of four characters and more) in any spelling and in part, anything in the form of a signature, and the value of an Authorization
 * header.
 */
export function maskedText(text: string, secrets: readonly string[]): string {
  let known = KNOWN.get(secrets);
  if (known?.count !== secrets.length) {
    known = { count: secrets.length, hidden: hiddenOf(secrets) };
    KNOWN.set(secrets, known);
  }
  return maskedAuthorization(hideSecrets(text, known.hidden)).replace(SIGNATURE, '[redacted]');
}

/** Masks key, nonce and signature of each Authorization header, however they are joined. A time of the day is none. Linear in the length of `text`. */
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

/** Index after the last sign from `at` on that may belong to a signature, at most `max`. */
function endOfValue(text: string, at: number, max: number): number {
  let end = at;
  while (end < max && end < text.length && !/[\s"'\\,;]/.test(text[end]!)) end++;
  return end;
}

/** Index after the scheme of the Authorization header whose nonce starts at `nonce`; null if there is no scheme, or no key behind it. */
function endOfScheme(text: string, from: number, nonce: number): number | null {
  let key = nonce;
  while (key > from && !/[\s:"]/.test(text[key - 1]!)) key--;
  if (key === nonce) return null;
  let space = key;
  while (space > from && /\s/.test(text[space - 1]!)) space--;
  if (space < key && space > from && /[a-z]/i.test(text[space - 1]!)) return space;
  // In a web address a plus or %20 stands for the space: the first one behind a letter, with a key behind it.
  const inside = /(?<=[a-z])(?:%20|\+)(?=.)/i.exec(text.slice(key, nonce));
  return inside === null ? null : key + inside.index;
}

/** What is looked for, by the list of secrets: a log masks each of its lines with one and the same. */
const KNOWN = new WeakMap<readonly string[], { readonly count: number; readonly hidden: Hidden }>();
