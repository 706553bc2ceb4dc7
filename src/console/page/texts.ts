/** Formats of numbers, times and stops on the console's page. */
import type { ShownHalt } from './view.ts';

/** Formats a number with fixed decimals and grouped thousands; "–" for `null` and text that is not a number. */
export function fixed(text: string | number | null, decimals: number): string {
  const value = Number(text);
  if (text === null || !Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Formats a number like `fixed`, with a sign. */
export const withSign = (text: string | number | null, decimals: number): string =>
  `${Number(text) > 0 ? '+' : ''}${fixed(text, decimals)}`;

/** Returns the CSS class of a gain or a loss; empty text for zero. */
export const tone = (text: string | number | null): string =>
  Number(text) > 0 ? 'gain' : Number(text) < 0 ? 'loss' : '';

/** Describes a stop in one line. */
export const stopLine = ({ what, book, by, at, reason, until }: ShownHalt): string =>
  `${what}${book === undefined ? '' : ` ${book}`} by ${by} at ${at > 0 ? stamp(at) : 'an unknown time'}${until === null ? '' : `, until ${stamp(until)}`}: ${reason}`;

/** CSS class of the color of each known regime. */
export const REGIME_TONE: Readonly<Record<string, string>> = {
  ...{ normal: 'good', wide: 'fair', 'reduce only': 'fair', paused: 'bad', halted: 'bad' },
};

/** Removes trailing zeros from decimal text. */
export function trimmed(text: string): string {
  let end = text.length;
  while (text.includes('.') && text[end - 1] === '0') end--;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}

/** Formats a duration in its two largest units of days, hours, minutes and seconds. */
export function span(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} m ${s % 60} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} m`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

/** Formats a duration as minutes and seconds, preceded by hours if there are any. */
export function age(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (of: number) => String(of).padStart(2, '0');
  const minutes = `${s < 3600 ? Math.floor(s / 60) : two(Math.floor((s % 3600) / 60))}:${two(s % 60)}`;
  return s < 3600 ? minutes : `${Math.floor(s / 3600)}:${minutes}`;
}

/**
 * Formats the time by which a source leads the bot's book, with its 95% interval, in ms; negative if the book leads.
 * The lead of the book is shown as a positive time, so the ends of its interval are negated and swapped.
 */
export function leadText(of: { readonly ms: number; readonly lowMs: number; readonly highMs: number }): string {
  const { ms, lowMs, highMs } = of;
  if (lowMs <= 0 && highMs >= 0)
    return `neither price clearly leads; lead of the source: ${secondsWithRange(ms, lowMs, highMs)}`;
  return ms > 0
    ? `leads by ${secondsWithRange(ms, lowMs, highMs)}`
    : `follows the bot's book by ${secondsWithRange(-ms, -highMs, -lowMs)}`;
}

function secondsWithRange(ms: number, lowMs: number, highMs: number): string {
  const seconds = (of: number) => fixed(of / 1_000, 1);
  return `${seconds(ms)} s (95%: ${seconds(lowMs)} to ${seconds(highMs)} s)`;
}

/** Formats the time of day as hours, minutes and seconds UTC. */
export const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 19);

/** Formats date and time UTC. */
export const stamp = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** Formats a count with its noun, such as `1 bot` or `3 bots`. The count may be formatted text. */
export const shownCount = (n: number | string, noun: string): string => `${n} ${noun}${String(n) === '1' ? '' : 's'}`;

/** Maximum number of significant digits of a rate. */
const RATE_DIGITS = 8;

/** Cuts a rate, a positive decimal, to `RATE_DIGITS` significant digits. All digits before the point are kept. */
export function shortRate(rate: string): string {
  const point = rate.indexOf('.');
  if (point < 0) return rate;
  let [significant, end] = [0, 0];
  for (const digit of rate) {
    if (significant >= RATE_DIGITS && end >= point) break;
    if (digit !== '.' && (significant > 0 || digit !== '0')) significant++;
    end++;
  }
  return trimmed(rate.slice(0, end));
}
