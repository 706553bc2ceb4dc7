/** Times as files write them: one table of forms, each with its dates and clocks, read exactly to the microsecond. */
import type { Millis } from '../../../core/index.ts';
import { timeZoneOf } from '../../model/timeZone.ts';
import type { TimeZone } from '../../model/timeZone.ts';
import type { Findings } from './findings.ts';
import { shown } from './findings.ts';

export type TimeUnit = 's' | 'ms' | 'us' | 'ns' | 'text';
/** Order of day and month where both are numbers. */
export type DayOrder = 'mdy' | 'dmy';

type Fields = Readonly<Record<string, string>>;
type DateForm = {
  readonly name: string;
  readonly pattern: string;
  readonly isAmbiguous?: true;
  readonly order?: DayOrder;
};
type ClockForm = { readonly name: string; readonly pattern: string; readonly isShort?: true };

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const LONG = ['uary', 'ruary', 'ch', 'il', '', 'e', 'y', 'ust', 'tember', 'ober', 'ember', 'ember'];
const MONTH = `(?<month>${MONTHS.map((month, i) => (LONG[i] === '' ? month : `${month}(?:${LONG[i]})?`)).join('|')}|sept)\\.?`;
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?';
const [YEAR, M, D] = ['(?<y>\\d{4})', '(?<m>\\d\\d?)', '(?<d>\\d\\d?)'];

/** What a date may look like; letters in any case. */
export const DATE_FORMS: readonly DateForm[] = [
  { name: '2023-11-14', pattern: `${YEAR}-${M}-${D}` },
  { name: '2023/11/14', pattern: `${YEAR}/${M}/${D}` },
  { name: '2023.11.14', pattern: `${YEAR}\\.${M}\\.${D}` },
  { name: '20231114', pattern: '(?<y>\\d{4})(?<m>\\d\\d)(?<d>\\d\\d)' },
  { name: '14.11.2023', pattern: `(?<d>\\d\\d?)\\.(?<m>\\d\\d?)\\.${YEAR}`, order: 'dmy' },
  { name: '11/14/2023', pattern: `(?<a>\\d\\d?)/(?<b>\\d\\d?)/${YEAR}`, isAmbiguous: true },
  { name: '11-14-2023', pattern: `(?<a>\\d\\d?)-(?<b>\\d\\d?)-${YEAR}`, isAmbiguous: true },
  { name: '14 Nov 2023', pattern: `${WEEKDAY}${D} ${MONTH},? ${YEAR}` },
  { name: '14-Nov-2023', pattern: `${D}-${MONTH}-${YEAR}` },
  { name: '14/Nov/2023', pattern: `${D}/${MONTH}/${YEAR}` },
  { name: '14Nov2023', pattern: `${D}${MONTH}${YEAR}` },
  { name: '2023-Nov-14', pattern: `${YEAR}-${MONTH}-${D}` },
  { name: 'Nov 14, 2023', pattern: `${WEEKDAY}${MONTH} ${D},? ${YEAR}` },
];

const FRACTION = '(?:[.,](?<f>\\d{1,12}))?';
const AMPM = '(?:\\s?(?<half>[ap])\\.?m\\.?)?';

/** What a time of day may look like. */
export const CLOCK_FORMS: readonly ClockForm[] = [
  { name: '22:13:20.123456', pattern: `(?<h>\\d\\d?):(?<i>\\d\\d):(?<s>\\d\\d)${FRACTION}${AMPM}` },
  { name: '22:13', pattern: `(?<h>\\d\\d?):(?<i>\\d\\d)${AMPM}`, isShort: true },
  { name: '22:13:20:123', pattern: '(?<h>\\d\\d?):(?<i>\\d\\d):(?<s>\\d\\d):(?<f>\\d{3}|\\d{6}|\\d{9})' },
  { name: '22.13.20.123456', pattern: '(?<h>\\d\\d)\\.(?<i>\\d\\d)\\.(?<s>\\d\\d)(?:\\.(?<f>\\d{1,12}))?' },
  { name: '221320123', pattern: '(?<h>\\d\\d)(?<i>\\d\\d)(?<s>\\d\\d)(?<f>\\d{3}|\\d{6}|\\d{9})?' },
  { name: '221320.123', pattern: '(?<h>\\d\\d)(?<i>\\d\\d)(?<s>\\d\\d)[.,](?<f>\\d{1,12})' },
  { name: '2213', pattern: '(?<h>\\d\\d)(?<i>\\d\\d)', isShort: true },
];

/** What stands between them. Nothing does only between digits alone. */
const BETWEEN = '(?:,? +|T|_|-|D|:|;)';
/** Before a clock without seconds, which could be an offset. */
const BETWEEN_SHORT = '(?:,? +|T|_|D|;)';
const ZONE =
  '(?: ?(?<zone>Z|UTC|GMT|(?:UTC|GMT)?[+-]\\d\\d(?::?\\d\\d)?))?(?: ?[\\[(](?<place>[A-Za-z_]+(?:/[A-Za-z_+-]+)*)[\\])])?';

type Pattern = { readonly regex: RegExp; readonly date: DateForm | null };
const patternOf = (text: string, date: DateForm | null): Pattern => ({ regex: new RegExp(`^${text}$`, 'i'), date });

const MOMENTS: readonly Pattern[] = [
  ...DATE_FORMS.flatMap(date => [
    ...CLOCK_FORMS.map(clock =>
      patternOf(`${date.pattern}${clock.isShort ? BETWEEN_SHORT : BETWEEN}${clock.pattern}${ZONE}`, date),
    ),
    patternOf(`${date.pattern}${ZONE}`, date),
  ]),
  patternOf(
    `(?<y>\\d{4})(?<m>\\d\\d)(?<d>\\d\\d)(?<h>\\d\\d)(?<i>\\d\\d)(?<s>\\d\\d)(?<f>\\d{3}|\\d{6}|\\d{9})?${ZONE}`,
    DATE_FORMS[3]!,
  ),
  patternOf(
    `(?<y>\\d{4})(?<m>\\d\\d)(?<d>\\d\\d)(?<h>\\d\\d)(?<i>\\d\\d)(?<s>\\d\\d)[.,](?<f>\\d{1,12})${ZONE}`,
    DATE_FORMS[3]!,
  ),
  // As the C library prints it: the year is last.
  patternOf(
    `${WEEKDAY}${MONTH} {1,2}${D} (?<h>\\d\\d):(?<i>\\d\\d):(?<s>\\d\\d)${FRACTION}(?: (?<zone>UTC|GMT))? ${YEAR}`,
    DATE_FORMS[0]!,
  ),
];
const CLOCKS: readonly Pattern[] = CLOCK_FORMS.map(clock => patternOf(`${clock.pattern}${ZONE}`, null));

/** Longer text is no time. */
const TEXT_MAX = 64;
/** 2000 and 2100: a time outside has another unit than was said. */
const [FIRST, LAST] = [946_684_800_000, 4_102_444_800_000];

export type TimeTold = {
  readonly unit: TimeUnit;
  /** Of text without one of its own. */
  readonly zone?: string | undefined;
  readonly order?: DayOrder | undefined;
};

/** Reads the times of one column. `day`: midnight of the day that times of day count from, as local time in ms. */
export type TimeReader = (text: string, day?: Millis) => Millis;

/**
 * Returns a reader of one column's times, in ms since 1970 to the microsecond. It keeps the last form and the last time, which decides between the
 * two moments of a local time while the clocks go back: the first of both until the times go back by more than a minute, then the second.
 * The reader throws a RangeError on text that is no such time.
 */
export function timeReader({ unit, zone: named, order }: TimeTold, findings?: Findings, place = () => ''): TimeReader {
  const zone = named === undefined ? null : timeZoneOf(named);
  const zones = new Map<string, TimeZone>();
  const zoneOf = (text: string): TimeZone => {
    const known = zones.get(text);
    if (known) return known;
    const found = timeZoneOf(text);
    if (zones.size < ZONES_MAX) zones.set(text, found);
    return found;
  };
  let form = 0;
  let last = -Infinity;

  const moment = (local: Millis, of: TimeZone): Millis => {
    const [first, second] = of.momentsOf(local);
    if (first === undefined) {
      findings?.found('local times that the clocks skip', 'read by the clock before the change', place());
      return local - of.offsetAt(local - 86_400_000);
    }
    if (second === undefined) return first;
    findings?.found(
      'local times that are there twice, as the clocks go back',
      'the first of both until the times go back by more than a minute, then the second',
      place(),
    );
    return last - first > BACK_MAX_MS ? second : first;
  };

  const ofText = (text: string, day: Millis | undefined): Millis => {
    const patterns = day === undefined ? MOMENTS : CLOCKS;
    const [groups, at] = matched(text, patterns, form);
    form = at;
    // An offset says which of two moments is meant, which the name of a place beside it does not.
    const of = groups.zone?.toUpperCase() ?? groups.place;
    const written = of === undefined ? zone : zoneOf(of);
    if (written === null)
      throw new RangeError(
        `expected a time in text with a zone, found ${shown(text)}; the mapping may say its \`zone\``,
      );
    const midnight = day ?? dayOf(groups, patterns[at]!.date?.order ?? order, text);
    const micros = microsOfDay(groups, text);
    // The clock is looked up for whole ms, which keeps what is below them exact.
    const whole = Math.floor(micros / 1_000);
    return (moment(midnight + whole, written) * 1_000 + (micros - whole * 1_000)) / 1_000;
  };

  return (text, day) => {
    if (text.length > TEXT_MAX) throw new RangeError(`expected a time, found ${shown(text)}`);
    const trimmed = text.trim();
    let at: Millis;
    if (unit === 'text') at = ofText(trimmed, day);
    else {
      const micros = microsOf(trimmed, unit);
      // Seconds after midnight are what the clock shows.
      const whole = Math.floor(micros / 1_000);
      at =
        day === undefined || zone === null
          ? ((day ?? 0) * 1_000 + micros) / 1_000
          : (moment(day + whole, zone) * 1_000 + (micros - whole * 1_000)) / 1_000;
    }
    if (!(at >= FIRST && at < LAST))
      throw new RangeError(`expected a time in ${unit === 'text' ? 'text with a zone' : unit}, found ${shown(text)}`);
    last = at;
    return at;
  };
}

const ZONES_MAX = 100;
/** Rows may be out of order by so much. */
const BACK_MAX_MS = 60_000;

/** The groups of the first pattern that fits, and which it is. That of the text before is tried first. */
function matched(text: string, patterns: readonly Pattern[], before: number): readonly [Fields, number] {
  const first = patterns[before]?.regex.exec(text);
  if (first) return [first.groups as Fields, before];
  for (const [i, { regex }] of patterns.entries()) {
    const found = regex.exec(text);
    if (found) return [found.groups as Fields, i];
  }
  throw new RangeError(`expected a time in text with a zone, found ${shown(text)}`);
}

/** Midnight as local time, in ms. */
function dayOf({ y, m, d, a, b, month }: Fields, order: DayOrder | undefined, text: string): Millis {
  let [monthNumber, day] = [
    month === undefined ? Number(m) : MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1,
    Number(d),
  ];
  if (a !== undefined && b !== undefined) {
    const [first, second] = [Number(a), Number(b)];
    if (order === undefined && first <= 12 && second <= 12 && first !== second)
      throw new RangeError(
        `expected \`order: mdy\` or \`order: dmy\` in the mapping: ${shown(text)} may be month ${first} or month ${second}`,
      );
    [monthNumber, day] = (order ?? (first > 12 ? 'dmy' : 'mdy')) === 'mdy' ? [first, second] : [second, first];
  }
  const at = Date.UTC(Number(y), monthNumber - 1, day);
  const date = new Date(at);
  if (date.getUTCMonth() !== monthNumber - 1 || date.getUTCDate() !== day)
    throw new RangeError(`expected a day of the calendar, found ${shown(text)}`);
  return at;
}

/** A date alone is its midnight. */
function microsOfDay({ h = '0', i = '0', s = '0', f = '', half }: Fields, text: string): number {
  let hour = Number(h);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) throw new RangeError(`expected an hour from 1 to 12, found ${shown(text)}`);
    hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  const [minute, second] = [Number(i), Number(s)];
  if (!(hour < 24 && minute < 60 && second < 60)) throw new RangeError(`expected a time of day, found ${shown(text)}`);
  return ((hour * 60 + minute) * 60 + second) * 1_000_000 + microsOfFraction(f);
}

/** Rounds half up. */
const microsOfFraction = (digits: string): number => Math.round(Number(digits.padEnd(7, '0').slice(0, 7)) / 10);

const NUMBER = /^(\d{1,20})(?:[.,](\d+))?$/;
const EXPONENT = /^(\d)(?:[.,](\d+))?[eE]\+?(\d\d?)$/;
/** Digits of a second that one unit has. */
const UNIT_DIGITS = { s: 0, ms: 3, us: 6, ns: 9 } as const;

/** Whole microseconds of a number in this unit, by its digits; rounds half up. NaN on other text. */
function microsOf(text: string, unit: keyof typeof UNIT_DIGITS): number {
  let [, whole, fraction = ''] = NUMBER.exec(text) ?? [];
  if (whole === undefined) {
    const [, first, more = '', power] = EXPONENT.exec(text) ?? [];
    if (first === undefined) return Number.NaN;
    const digits = `${first}${more}`.padEnd(Number(power) + 1, '0');
    [whole, fraction] = [digits.slice(0, Number(power) + 1), digits.slice(Number(power) + 1)];
  }
  const digits = whole.padStart(UNIT_DIGITS[unit] + 1, '0');
  const point = digits.length - UNIT_DIGITS[unit];
  const micros = Number(digits.slice(0, point)) * 1_000_000 + microsOfFraction(digits.slice(point) + fraction);
  return micros < LAST * 1_000 ? micros : Number.NaN;
}

/**
 * The time of day in a cell of its own. Whole numbers have lost the noughts before them: 93000 is 09:30:00, and 93000123 has milliseconds; `digits`
 * says how many there are. Throws a RangeError on those that may be either.
 */
export function clockText(text: string, digits?: number): string {
  const [, whole, fraction = ''] = /^(\d{1,15})([.,]\d+)?$/.exec(text) ?? [];
  if (whole === undefined) return text;
  const length = digits ?? (fraction !== '' ? 6 : CLOCK_DIGITS[whole.length]);
  if (length === undefined || whole.length > length)
    throw new RangeError(`expected \`clockDigits\` in the mapping, as ${shown(text)} may be hours or seconds`);
  return `${whole.padStart(length, '0')}${fraction}`;
}

/** Digits of a clock by those that are left of it, where only one is possible. */
const CLOCK_DIGITS: readonly (number | undefined)[] = [, , , , , 6, 6, , 9, 9, , 12, 12, , 15, 15];

/** Midnight in a date that stands somewhere in the text, as local time in ms; the last one; `null` if there is none. */
export function dateIn(text: string, which: 'first' | 'last'): Millis | null {
  const dates = text.matchAll(/((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])/g);
  const found = [...dates].at(which === 'first' ? 0 : -1);
  return found === undefined ? null : Date.UTC(Number(found[1]), Number(found[3]) - 1, Number(found[4]));
}
