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
/** A scheme, a key, a nonce, and whatever stands behind them, however they are joined; no time of the day. */
const AUTHORIZATION =
  /\b([a-z]+)(?:\s|%20|\+)+[^\s:"]+?(?::|%3A)(?:\d{10,}(?::|%3A)[^\s"'\\,;]*|\d+(?::|%3A)[^\s"'\\,;]{16,})/gi;

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
  return hideSecrets(text, known.hidden).replace(AUTHORIZATION, '$1 [redacted]').replace(SIGNATURE, '[redacted]');
}

/** What is looked for, by the list of secrets: a log masks each of its lines with one and the same. */
const KNOWN = new WeakMap<readonly string[], { readonly count: number; readonly hidden: Hidden }>();
