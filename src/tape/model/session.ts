/**
 * Trading sessions: the weekly opening hours of a market in its time zone. Outside these hours, a recording has a gap.
 */
import { DAY_MS, MINUTE_MS, type Millis } from '../../core/index.ts';
import type { Gap } from './tape.ts';
import { timeZoneOf, type TimeZone } from './timeZone.ts';

/**
 * Opening hours on some weekdays, in minutes since local midnight. `to` exceeds 1,440 if the hours end on the next day.
 */
type Hours = { readonly days: ReadonlySet<number>; readonly from: number; readonly to: number };

export type MarketSession = {
  /** Text of the session, as the operator wrote it. */
  readonly text: string;
  readonly zone: TimeZone;
  readonly hours: readonly Hours[];
};

/** Example of a session, for messages. */
const SESSION_EXAMPLE = '09:30-16:00@America/New_York or Mon-Fri 09:00-11:30,12:30-15:00@Asia/Tokyo';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const WEEKDAYS = [1, 2, 3, 4, 5];
const PARTS_MAX = 20;
const DAY_MINUTES = 1_440;

/**
 * Parses text such as `Mon-Fri 09:30-16:00@America/New_York`: days, hours and a zone. Commas separate several hours.
 * Without days, Monday to Friday apply. If the end is before the start, as in `Sun-Thu 18:00-17:00`, the hours end on
 * the next day. Throws a RangeError on other text.
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

/** Returns the minutes since midnight of HH:MM; NaN for other text. */
function minutesOf(text = ''): number {
  const [, hours, minutes] = /^(\d{1,2}):([0-5]\d)$/.exec(text) ?? [];
  return Number(hours) * 60 + Number(minutes);
}

/** Returns the days of a text like `Mon` or `Mon-Fri`, which may span the end of the week; `null` for other text. */
function daysOf(text: string): readonly number[] | null {
  const [first = -1, last = first] = text.split('-').map(day => DAYS.indexOf(day.toLowerCase()));
  if (first < 0 || last < 0) return null;
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => (first + i) % 7);
}

/** Returns the open hours between `from` and `to`, ascending and disjoint. */
export function openHours(
  { zone, hours }: MarketSession,
  from: Millis,
  to: Millis,
): readonly (readonly [Millis, Millis])[] {
  const open: [Millis, Millis][] = [];
  // Hours of the previous day may extend into the first day.
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

/**
 * Returns the first UTC time that has this local time. If the clocks skip the local time, returns the time of the clock
 * change.
 */
function at(zone: TimeZone, local: Millis): Millis {
  const [moment] = zone.momentsOf(local);
  if (moment !== undefined) return moment;
  // For a skipped local time, the clock change is between the two candidates.
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

/** Returns the reason text of a gap between sessions. */
export const closedWhy = ({ text }: Pick<MarketSession, 'text'>): string => `${OUTSIDE}${text}`;
const OUTSIDE = 'outside the session ';

/** Whether a gap is closed market time rather than missing data. */
export const isClosed = ({ why }: Pick<Gap, 'why'>): boolean => why.startsWith(OUTSIDE);

/** Returns the closed market time between `from` and `to` as gaps. */
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
 * Restricts the span and gaps of a recording to a session; closed hours inside the span become gaps. Throws an Error if
 * the market was never open.
 */
export function spanInSession(
  { from, to, gaps }: { readonly from: Millis; readonly to: Millis; readonly gaps: readonly Gap[] },
  session: MarketSession,
): { readonly from: Millis; readonly to: Millis; readonly gaps: readonly Gap[] } {
  // The end is one millisecond after the last row, so that the last row is included.
  const hours = openHours(session, from, to + 1);
  const [first, last] = [hours[0], hours.at(-1)];
  if (first === undefined || last === undefined)
    throw new Error(
      `no time of the recording is inside the session ${session.text}; the recording is from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`,
    );
  const span = { from: first[0], to: Math.min(last[1], to) };
  const own = gaps.flatMap(gap => openParts(gap, session)).filter(gap => gap.from < span.to);
  const all = [...own, ...closedHours(session, span.from, span.to)];
  return { ...span, gaps: all.sort((a, b) => a.from - b.from) };
}

/** Returns the parts of a gap inside the session. */
export const openParts = ({ from, to, why }: Gap, session: MarketSession): readonly Gap[] =>
  openHours(session, from, to).map(([start, end]) => ({ from: start, to: end, why }));
