/** Trading sessions: the hours of a week in which a market is open, in its own time zone. Outside them a recording is a gap. */
import type { Millis } from '../../core/index.ts';
import type { Gap } from './tape.ts';
import { timeZoneOf } from './timeZone.ts';
import type { TimeZone } from './timeZone.ts';

/** One stretch of a day. Minutes since local midnight; `to` is beyond 1,440 if it ends on the next day. */
type Hours = { readonly days: ReadonlySet<number>; readonly from: number; readonly to: number };

export type MarketSession = {
  /** As it was written. */
  readonly text: string;
  readonly zone: TimeZone;
  readonly hours: readonly Hours[];
};

/** How a session is written, for messages. */
const SESSION_EXAMPLE = '09:30-16:00@America/New_York or Mon-Fri 09:00-11:30,12:30-15:00@Asia/Tokyo';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const WEEKDAYS = [1, 2, 3, 4, 5];
const PARTS_MAX = 20;
const DAY_MINUTES = 1_440;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Reads text such as `Mon-Fri 09:30-16:00@America/New_York`: days, hours and a zone. Several hours are separated by commas; without days they are
 * Monday to Friday. Hours that end before they begin end on the next day, as `Sun-Thu 18:00-17:00` does. Throws a RangeError on other text.
 */
export function sessionOf(text: string): MarketSession {
  const at = text.lastIndexOf('@');
  const parts = (at < 0 ? text : text.slice(0, at)).split(',');
  const expected = () => new RangeError(`expected a session like ${SESSION_EXAMPLE}, found ${JSON.stringify(text)}`);
  if (at < 0 || parts.length > PARTS_MAX) throw expected();
  let days: readonly number[] = WEEKDAYS;
  const hours = parts.map((part): Hours => {
    const [, named, from, to] = /^\s*(?:([A-Za-z]{3}(?:-[A-Za-z]{3})?)\s+)?(\S{4,5})-(\S{4,5})\s*$/.exec(part) ?? [];
    const [start, end] = [minutesOf(from), minutesOf(to)];
    const found = named === undefined ? days : daysOf(named);
    if (!(start < DAY_MINUTES && end <= DAY_MINUTES) || found === null) throw expected();
    days = found;
    return { days: new Set(days), from: start, to: end > start ? end : end + DAY_MINUTES };
  });
  return { text, zone: timeZoneOf(text.slice(at + 1).trim()), hours };
}

/** NaN if the text is not HH:MM. */
function minutesOf(text = ''): number {
  const [, hours, minutes] = /^(\d{1,2}):([0-5]\d)$/.exec(text) ?? [];
  return Number(hours) * 60 + Number(minutes);
}

/** Days of `Mon` or `Mon-Fri`, also across the end of the week; `null` on other text. */
function daysOf(text: string): readonly number[] | null {
  const [first = -1, last = first] = text.split('-').map(day => DAYS.indexOf(day.toLowerCase()));
  if (first < 0 || last < 0) return null;
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => (first + i) % 7);
}

/** The stretches between `from` and `to` in which the market is open, ascending and apart. */
export function openHours(
  { zone, hours }: MarketSession,
  from: Millis,
  to: Millis,
): readonly (readonly [Millis, Millis])[] {
  const open: [Millis, Millis][] = [];
  // A stretch of the day before may reach into the first.
  const firstDay = Math.floor((from + zone.offsetAt(from)) / DAY_MS) - 2;
  const lastDay = Math.floor((to + zone.offsetAt(to)) / DAY_MS);
  const found: [Millis, Millis][] = [];
  for (let day = firstDay; day <= lastDay; day++) {
    // 1970-01-01 was a Thursday.
    const weekday = (((day + 4) % 7) + 7) % 7;
    for (const one of hours)
      if (one.days.has(weekday))
        found.push([at(zone, day * DAY_MS + one.from * MINUTE_MS), at(zone, day * DAY_MS + one.to * MINUTE_MS)]);
  }
  for (const [start, end] of found.sort((a, b) => a[0] - b[0])) {
    const last = open.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else open.push([start, end]);
  }
  return open.map(([a, b]) => [Math.max(a, from), Math.min(b, to)] as const).filter(([a, b]) => a < b);
}

/** The first moment with that local time; where the clocks skip it, the moment at which they do. */
function at(zone: TimeZone, local: Millis): Millis {
  const [moment] = zone.momentsOf(local);
  if (moment !== undefined) return moment;
  // In the hour that is skipped: the change lies between the two readings.
  let [low, high] = [local - zone.offsetAt(local + DAY_MS), local - zone.offsetAt(local - DAY_MS)].sort(
    (a, b) => a - b,
  ) as [Millis, Millis];
  while (high - low > MINUTE_MS) {
    const pivot = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS;
    if (pivot + zone.offsetAt(pivot) > local) high = pivot;
    else low = pivot;
  }
  return high;
}

/** What a gap between sessions is told as. */
export const closedWhy = ({ text }: Pick<MarketSession, 'text'>): string => `${OUTSIDE}${text}`;
const OUTSIDE = 'outside the session ';

/** Whether a gap is the time in which a market is closed, and not what a recording lacks. */
export const isClosed = ({ why }: Pick<Gap, 'why'>): boolean => why.startsWith(OUTSIDE);

/** The time between `from` and `to` in which the market is closed, as gaps. */
function closedHours(session: MarketSession, from: Millis, to: Millis): readonly Gap[] {
  const why = closedWhy(session);
  const gaps: Gap[] = [];
  let end = from;
  for (const [start, stop] of [...openHours(session, from, to), [to, to] as const]) {
    if (start > end) gaps.push({ from: end, to: start, why });
    end = stop;
  }
  return gaps;
}

/**
 * What a session leaves of a recording's span and gaps: from the first to the last time in it, and the closed hours between among the gaps. Throws an
 * Error if the market was never open.
 */
export function spanInSession(
  { from, to, gaps }: { readonly from: Millis; readonly to: Millis; readonly gaps: readonly Gap[] },
  session: MarketSession,
): { readonly from: Millis; readonly to: Millis; readonly gaps: readonly Gap[] } {
  // The last row counts, too.
  const hours = openHours(session, from, to + 1);
  const [first, last] = [hours[0], hours.at(-1)];
  if (first === undefined || last === undefined)
    throw new Error(
      `no time of the recording is in the session ${session.text}; it is from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`,
    );
  const span = { from: first[0], to: Math.min(last[1], to) };
  const own = gaps.flatMap(gap => openParts(gap, session)).filter(gap => gap.from < span.to);
  const all = [...own, ...closedHours(session, span.from, span.to)];
  return { ...span, gaps: all.sort((a, b) => a.from - b.from) };
}

/** What of a gap is in the hours of a session. */
export const openParts = ({ from, to, why }: Gap, session: MarketSession): readonly Gap[] =>
  openHours(session, from, to).map(([start, end]) => ({ from: start, to: end, why }));

/** In order of time; those that overlap are one with what is said of each. */
export function mergedGaps(gaps: readonly Gap[]): readonly Gap[] {
  const merged: Gap[] = [];
  for (const gap of [...gaps].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || gap.from >= last.to) merged.push(gap);
    else {
      const why = last.why.split('; ').includes(gap.why) ? last.why : `${last.why}; ${gap.why}`;
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, gap.to), why };
    }
  }
  return merged;
}
