/** Parsers of flag values: they return a validated value, or throw a line with the expected form. */
import { InvalidArgumentError, type Command } from 'commander';
import { isDecimalText, type Millis } from '../../core/index.ts';
import { sessionOf } from '../../tape/index.ts';

/**
 * Parses the speed of a clock as a multiple of real time: above 0, at most 1000, without sign or exponent. Like all
 * parsers here, throws `InvalidArgumentError` on any other text.
 */
export function speed(text: string): number {
  const n = Number(text);
  if (!(/^\d+(\.\d+)?$/.test(text) && n > 0 && n <= 1000))
    throw new InvalidArgumentError('expected a number above 0 and at most 1000.');
  return n;
}

/** Parses a whole number from 0 to 2^31 - 1, such as a seed, or a duration in seconds. */
export function seedNumber(text: string): number {
  const n = Number(text);
  if (!(/^\d+$/.test(text) && n <= 2_147_483_647))
    throw new InvalidArgumentError('expected a whole number from 0 to 2147483647.');
  return n;
}

/** Parses a whole number from 1 to 64. */
export function threadNumber(text: string): number {
  const n = Number(text);
  if (!(/^\d+$/.test(text) && n >= 1 && n <= 64))
    throw new InvalidArgumentError('expected a whole number from 1 to 64.');
  return n;
}

/** Parses a port from 0 to 65535; 0 selects a free port. */
export function portFlag(text: string): number {
  const n = Number(text);
  if (!(/^\d+$/.test(text) && n <= 65_535)) throw new InvalidArgumentError('expected a port from 0 to 65535.');
  return n;
}

/** Parses text like 90s, 10m or 2h to ms; above 0, at most 2^31 - 1, the limit of a timer. */
export function durationFlag(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text);
  if (!match) throw new InvalidArgumentError('expected a duration like 60s, 10m or 2h.');
  const ms = Number(match[1]) * { s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as 's' | 'm' | 'h'];
  if (!(ms > 0 && ms <= 2_147_483_647))
    throw new InvalidArgumentError('expected a duration above 0 and at most 24 days.');
  return ms;
}

/**
 * Computes a past time in ms since 1970. `now` is the current time of the clock, which runs at `speed` times real time
 * (default 1).
 */
export type TimeOrAge = (now: Millis, speed?: number) => Millis;

/** Parses an ISO 8601 time, in UTC if the text has no zone, or an age like 5m. */
export function timeOrAgeFlag(text: string): TimeOrAge {
  if (/^\d+(\.\d+)?(s|m|h)$/.test(text)) {
    const ago = durationFlag(text);
    return (now, speed = 1) => now - ago * speed;
  }
  const at = isoTime(text);
  if (Number.isNaN(at))
    throw new InvalidArgumentError(
      'expected a time like 2026-11-22T13:05:00Z (UTC if it has no zone), or an age like 90s, 5m or 2h.',
    );
  return () => at;
}

/** Parses a recorded time in ISO 8601 to ms since 1970. A time without a zone is in UTC. */
export function recordedTime(text: string): Millis {
  const at = isoTime(text);
  if (Number.isNaN(at))
    throw new InvalidArgumentError('expected a time like 2026-11-21 or 2026-11-21T12:00:00Z (UTC if it has no zone).');
  return at;
}

/** Parses a date and returns the start of the UTC day, in ms since 1970. */
export function dayFlag(text: string): Millis {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? startOfDay(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('expected a day like 2026-11-21.');
  return at;
}

/** Returns the start of a day like `2026-11-21`; NaN if its month lacks it. `Date.parse` reads February 30 as March 2. */
function startOfDay(day: string): number {
  const at = Date.parse(`${day}T00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day) ? at : Number.NaN;
}

/** Parses ISO 8601, and times as Puntas prints them: `2026-11-20 14:05 UTC`. */
function isoTime(text: string): number {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z| UTC|[+-]\d{2}:\d{2})?)?$/.exec(
    text,
  );
  if (match === null || Number.isNaN(startOfDay(match[1]!))) return Number.NaN;
  return Date.parse(`${match[1]}T${match[2] ?? '00:00'}${(match[3] ?? 'Z').replace(' UTC', 'Z')}`);
}

/** Checks decimal text above zero and returns it unchanged. */
export function decimalFlag(text: string): string {
  if (!(isDecimalText(text) && Number(text) > 0))
    throw new InvalidArgumentError('expected a decimal number above 0, like 0.01.');
  return text;
}

/** Parses 8 to 64 hex digits: a SHA-256 or its first digits. */
export function digestFlag(text: string): string {
  if (!/^[0-9a-f]{8,64}$/i.test(text)) throw new InvalidArgumentError('expected 8 to 64 hex digits of a SHA-256.');
  return text.toLowerCase();
}

/** Collects the values of a repeatable flag, in order. */
export const several = (text: string, before: readonly string[]): readonly string[] => [...before, text];

/** Adds the flag that selects the book of `--tape`. */
export const tapeBook = (command: Command): Command =>
  command.option('--book <book>', 'book to use if the recording has several');

/** Parses trading hours and returns their normalized text. */
function sessionFlag(text: string): string {
  try {
    return sessionOf(text).text;
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}

/** Adds the flag that selects hours of a recording. */
export const sessionHours = (command: Command): Command =>
  command.option(
    '--session <hours>',
    'market hours, like 09:30-16:00@America/New_York (default days: Monday to Friday)',
    sessionFlag,
  );

/** Adds the flags of every command that reads a configuration and may start the embedded exchange. */
export function sources(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration (default: the embedded exchange)')
    .option('--tape <dir>', 'recording that the embedded exchange replays')
    .option('--speed <n>', 'speed of the embedded exchange and its clients (1 is real time)', speed, 1)
    .option('--seed <n>', 'random seed', seedNumber);
}
