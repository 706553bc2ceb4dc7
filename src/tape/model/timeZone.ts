/** Time zones: conversion between local wall-clock times and UTC, also across clock changes. */
import { DAY_MS, type Millis } from '../../core/index.ts';

/** Time zone. Times are in epoch ms. A local time is stored as the UTC time with the same date and clock time. */
export type TimeZone = {
  readonly name: string;
  /** Local time minus UTC, in ms. */
  readonly offsetAt: (utc: Millis) => Millis;
  /**
   * Returns the UTC times that have this local time, ascending. There are two if the clocks went back, and none if the
   * clocks skipped the local time.
   */
  readonly momentsOf: (local: Millis) => readonly Millis[];
};

const OFFSET = /^(?:UTC|GMT)?([+-])(\d\d)(?::?(\d\d))?$/;
/** Granularity of clock changes, in ms. Clocks change only on a quarter hour, and at most once per day. */
const QUARTER_MS = 15 * 60_000;

/**
 * Returns the zone of an IANA name such as America/New_York, of `Z`, or of an offset such as -04:00. Throws a
 * RangeError on any other text.
 */
export function timeZoneOf(name: string): TimeZone {
  const fixed = fixedOffset(name);
  if (fixed !== null) return { name, offsetAt: () => fixed, momentsOf: local => [local - fixed] };
  const offsetAt = remembered(offsetsOf(name));
  return {
    name,
    offsetAt,
    momentsOf: local => {
      const offsets = new Set([offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)]);
      const moments = [...offsets].map(offset => local - offset).filter(at => at + offsetAt(at) === local);
      return moments.sort((a, b) => a - b);
    },
  };
}

/** Returns an offset in ms; `null` if the text is not an offset. */
function fixedOffset(text: string): Millis | null {
  if (text === 'Z' || text === 'UTC' || text === 'GMT') return 0;
  const [, sign, hours, minutes = '0'] = OFFSET.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 14 || Number(minutes) > 59) return null;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

function offsetsOf(name: string): (utc: Millis) => Millis {
  const formatter = formatterOf(name);
  return utc => {
    const part: Record<string, number> = {};
    for (const { type, value } of formatter.formatToParts(utc)) part[type] = Number(value);
    const { year, month, day, hour, minute, second } = part;
    const local = Date.UTC(year!, month! - 1, day, hour, minute, second);
    return local - Math.floor(utc / 1_000) * 1_000;
  };
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  // Only names with a place are accepted, because the daylight saving time of abbreviations such as EST is unknown.
  if (timeZone.includes('/'))
    try {
      return new Intl.DateTimeFormat('en-US', {
        timeZone,
        calendar: 'gregory',
        numberingSystem: 'latn',
        hourCycle: 'h23',
        ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
        ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
      });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  throw new RangeError(`expected Z, an offset like -04:00 or a zone like America/New_York, found ${timeZone}`);
}

/**
 * Returns `offsetAt` with a cache for the last two quarter hours, because the times of consecutive rows are usually
 * close together.
 */
function remembered(offsetAt: (utc: Millis) => Millis): (utc: Millis) => Millis {
  let [quarter, offset, before, offsetBefore] = [Number.NaN, 0, Number.NaN, 0];
  return utc => {
    const asked = Math.floor(utc / QUARTER_MS);
    if (asked === quarter) return offset;
    [quarter, offset, before, offsetBefore] = [before, offsetBefore, quarter, offset];
    if (asked !== quarter) [quarter, offset] = [asked, offsetAt(asked * QUARTER_MS)];
    return offset;
  };
}
