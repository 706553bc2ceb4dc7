/** Parser of times in files, exact to the microsecond, from one table of date and clock formats. */
import type { Millis } from '../../../core/index.ts';
import { timeZoneOf, type TimeZone } from '../../model/timeZone.ts';
import { shown, type Findings } from './findings.ts';

export type TimeUnit = 's' | 'ms' | 'us' | 'ns' | 'text';
/** Order of day and month, for dates in which both are numbers. */
export type DayOrder = 'mdy' | 'dmy';

type Fields = Readonly<Record<string, string | undefined>>;
type DateForm = {
  readonly name: string;
  /** Matches the format at the start of a text. */
  readonly pattern: RegExp;
  readonly order?: DayOrder;
};
type ClockForm = {
  readonly name: string;
  readonly pattern: RegExp;
  /** Whether the format has no seconds. After a dash, such a time could also be an offset from UTC. */
  readonly isShort?: true;
};

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const LONG_MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september'];
const MONTH_NAMES = new Map([
  ...[...MONTHS, ...LONG_MONTHS].map((name): [string, number] => [name, MONTHS.indexOf(name.slice(0, 3)) + 1]),
  ...(['sept', 'october', 'november', 'december'] as const).map((name): [string, number] => [
    name,
    MONTHS.indexOf(name.slice(0, 3)) + 1,
  ]),
]);

/** Formats of dates; matched without regard to case. */
export const DATE_FORMS: readonly DateForm[] = [
  { name: '2023-11-14', pattern: /^(?<y>\d{4})-(?<m>\d\d?)-(?<d>\d\d?)/ },
  { name: '2023/11/14', pattern: /^(?<y>\d{4})\/(?<m>\d\d?)\/(?<d>\d\d?)/ },
  { name: '2023.11.14', pattern: /^(?<y>\d{4})\.(?<m>\d\d?)\.(?<d>\d\d?)/ },
  { name: '20231114', pattern: /^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)/ },
  { name: '14.11.2023', pattern: /^(?<d>\d\d?)\.(?<m>\d\d?)\.(?<y>\d{4})/, order: 'dmy' },
  { name: '11/14/2023', pattern: /^(?<a>\d\d?)\/(?<b>\d\d?)\/(?<y>\d{4})/ },
  { name: '11-14-2023', pattern: /^(?<a>\d\d?)-(?<b>\d\d?)-(?<y>\d{4})/ },
  { name: '14 Nov 2023', pattern: /^(?:[a-z]{3,9},? )?(?<d>\d\d?) (?<month>[a-z]{3,9})\.?,? (?<y>\d{4})/i },
  { name: '14-Nov-2023', pattern: /^(?<d>\d\d?)-(?<month>[a-z]{3,9})-(?<y>\d{4})/i },
  { name: '14/Nov/2023', pattern: /^(?<d>\d\d?)\/(?<month>[a-z]{3,9})\/(?<y>\d{4})/i },
  { name: '14Nov2023', pattern: /^(?<d>\d\d?)(?<month>[a-z]{3,9})(?<y>\d{4})/i },
  { name: '2023-Nov-14', pattern: /^(?<y>\d{4})-(?<month>[a-z]{3,9})-(?<d>\d\d?)/i },
  { name: 'Nov 14, 2023', pattern: /^(?:[a-z]{3,9},? )?(?<month>[a-z]{3,9})\.? (?<d>\d\d?),? (?<y>\d{4})/i },
];
/**
 * Index of the date format without separators; only this format may be followed by a time of day without a separator.
 */
const COMPACT = 3;

/** Formats of times of day. */
export const CLOCK_FORMS: readonly ClockForm[] = [
  {
    name: '22:13:20.123456',
    pattern: /^(?<h>\d\d?):(?<i>\d\d):(?<s>\d\d)(?:[.,](?<f>\d{1,12}))?(?:\s?(?<half>[ap])\.?m\.?)?/i,
  },
  { name: '22:13', pattern: /^(?<h>\d\d?):(?<i>\d\d)(?:\s?(?<half>[ap])\.?m\.?)?/i, isShort: true },
  { name: '22:13:20:123', pattern: /^(?<h>\d\d?):(?<i>\d\d):(?<s>\d\d):(?<f>\d{9}|\d{6}|\d{3})/ },
  { name: '22.13.20.123456', pattern: /^(?<h>\d\d)\.(?<i>\d\d)\.(?<s>\d\d)(?:\.(?<f>\d{1,12}))?/ },
  { name: '221320123', pattern: /^(?<h>\d\d)(?<i>\d\d)(?<s>\d\d)(?<f>\d{9}|\d{6}|\d{3})?/ },
  { name: '221320.123', pattern: /^(?<h>\d\d)(?<i>\d\d)(?<s>\d\d)[.,](?<f>\d{1,12})/ },
  { name: '2213', pattern: /^(?<h>\d\d)(?<i>\d\d)/, isShort: true },
];
/** Matches the time format of the C library, which has the year at the end. */
const YEAR_LAST =
  /^[a-z]{3} (?<month>[a-z]{3}) {1,2}(?<d>\d\d?) (?<h>\d\d):(?<i>\d\d):(?<s>\d\d)(?: (?<zone>UTC|GMT))? (?<y>\d{4})$/i;

/** Matches the separator of date and clock time. */
const BETWEEN = /^(?:,? +|[T_\-D:;])/i;
/** Matches the time zone after the clock time. */
const ZONE = /^(?: ?(?<zone>Z|UTC|GMT|(?:UTC|GMT)?[+-]\d\d(?::?\d\d)?))?(?: ?[[(](?<place>[a-z][a-z_/+-]*)[\])])?$/i;

/**
 * Format of a text: index of the date format (`null` without a date) and of the clock format (`null` without a time of
 * day).
 */
type Form = { readonly date: number | null; readonly clock: number | null };

const CLOCK_CHOICES: readonly (number | null)[] = [...CLOCK_FORMS.keys(), null];
const MOMENTS: readonly Form[] = [...DATE_FORMS.keys()].flatMap(date => CLOCK_CHOICES.map(clock => ({ date, clock })));
const CLOCKS: readonly Form[] = [...CLOCK_FORMS.keys()].map(clock => ({ date: null, clock }));

/** Returns the parts of a text in this format; `null` if the text has another format. */
function partsOf(text: string, { date, clock }: Form): Fields | null {
  let rest = text;
  let fields: Fields = {};
  const taken = (pattern: RegExp): boolean => {
    const found = pattern.exec(rest);
    if (found === null) return false;
    rest = rest.slice(found[0].length);
    fields = { ...fields, ...found.groups };
    return true;
  };
  if (date !== null && !taken(DATE_FORMS[date]!.pattern)) return null;
  if (clock !== null) {
    const form = CLOCK_FORMS[clock]!;
    if (date !== null) {
      const isApart = !(form.isShort && /^[-:]/.test(rest)) && taken(BETWEEN);
      if (!isApart && !(date === COMPACT && (form.name === '221320123' || form.name === '221320.123'))) return null;
    }
    if (!taken(form.pattern)) return null;
  }
  return taken(ZONE) ? fields : null;
}

/** Maximum length of a time as text. */
const TEXT_MAX = 64;
/**
 * Bounds of plausible times, in the years 2000 and 2100. A time out of bounds probably has another unit than stated.
 */
const [FIRST, LAST] = [946_684_800_000, 4_102_444_800_000];

export type TimeTold = {
  readonly unit: TimeUnit;
  /** Time zone for text without a zone. */
  readonly zone?: string | undefined;
  readonly order?: DayOrder | undefined;
};

/** Reader of the times in one column. `day` is the midnight from which times of day count, as local time in ms. */
export type TimeReader = (text: string, day?: Millis) => Millis;

/**
 * Returns a reader of one column's times, in epoch ms, exact to the microsecond. The reader remembers the last format
 * and the last time. When clocks go back, a local time occurs twice. The reader uses the first occurrence until the
 * times in the file go back by more than a minute, then the second. The reader throws a RangeError on invalid text.
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
  let form: Form | null = null;
  let last = -Infinity;

  const moment = (local: Millis, of: TimeZone): Millis => {
    const [first, second] = of.momentsOf(local);
    if (first === undefined) {
      findings?.found(
        'local times that are skipped when clocks are set forward',
        'read with the UTC offset from before the change',
        place(),
      );
      return local - of.offsetAt(local - 86_400_000);
    }
    if (second === undefined) return first;
    findings?.found(
      'ambiguous local times, which occur twice when clocks are set back',
      'read as the first occurrence; as the second, if the first is over a minute before the previous row',
      place(),
    );
    return last - first > BACK_MAX_MS ? second : first;
  };

  const ofText = (text: string, day: Millis | undefined): Millis => {
    const [groups, found] = matched(text, day === undefined ? MOMENTS : CLOCKS, form);
    form = found;
    const date = DATE_FORMS[found?.date ?? -1];
    // An offset takes precedence over a place name, because only the offset makes a repeated local time unambiguous.
    const of = groups.zone?.toUpperCase() ?? groups.place;
    const written = of === undefined ? zone : zoneOf(of);
    if (written === null)
      throw new RangeError(`expected a time with a time zone, found ${shown(text)}; set \`zone\` in the mapping`);
    const midnight = day ?? dayFrom(groups, date?.order ?? order, text);
    const micros = microsOfDay(groups, text);
    // The zone's offset is looked up with whole milliseconds, so that the microseconds stay exact.
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
      // Numbers that count from midnight are local time.
      const whole = Math.floor(micros / 1_000);
      at =
        day === undefined || zone === null
          ? ((day ?? 0) * 1_000 + micros) / 1_000
          : (moment(day + whole, zone) * 1_000 + (micros - whole * 1_000)) / 1_000;
    }
    if (!(at >= FIRST && at < LAST))
      throw new RangeError(
        `expected a time in the years 2000 to 2099, ${unit === 'text' ? 'as text with a time zone' : `as a number in ${unit}`}, found ${shown(text)}`,
      );
    last = at;
    return at;
  };
}

const ZONES_MAX = 100;
/** Maximum time by which the times of rows may go back without a change of the clock, in ms. */
const BACK_MAX_MS = 60_000;

/** Returns the parts of a text and its format; tries the previous format first. */
function matched(text: string, forms: readonly Form[], before: Form | null): readonly [Fields, Form | null] {
  const again = before === null ? null : partsOf(text, before);
  if (again !== null) return [again, before];
  for (const form of forms) {
    const found = partsOf(text, form);
    if (found !== null) return [found, form];
  }
  const yearLast = forms === MOMENTS ? YEAR_LAST.exec(text)?.groups : undefined;
  if (yearLast !== undefined) return [yearLast, before];
  throw new RangeError(`expected a time with a time zone, found ${shown(text)}`);
}

/** Returns midnight of a date as local time, in ms. */
function dayFrom({ y, m, d, a, b, month }: Fields, order: DayOrder | undefined, text: string): Millis {
  let [monthNumber, day] = [
    month === undefined ? Number(m) : (MONTH_NAMES.get(month.toLowerCase()) ?? Number.NaN),
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
    throw new RangeError(`expected a valid date, found ${shown(text)}`);
  return at;
}

/** Returns the microseconds of the time of day; 0 for a date only. */
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

/** Converts digits of a fraction to microseconds; rounds half up. */
const microsOfFraction = (digits: string): number => Math.round(Number(digits.padEnd(7, '0').slice(0, 7)) / 10);

const NUMBER = /^(\d{1,20})(?:[.,](\d+))?$/;
const EXPONENT = /^(\d)(?:[.,](\d+))?[eE]\+?(\d\d?)$/;
/** Number of decimals of a second in each unit. */
const UNIT_DIGITS = { s: 0, ms: 3, us: 6, ns: 9 } as const;

/** Converts a number in this unit from its digits to microseconds; rounds half up. NaN on other text. */
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
 * Restores the leading zeros of a time of day that has its own cell: 93000 is 09:30:00, and 93000123 has milliseconds.
 * `digits` is the full number of digits. Throws a RangeError if the text is ambiguous.
 */
export function clockText(text: string, digits?: number): string {
  const [, whole, fraction = ''] = /^(\d{1,15})([.,]\d+)?$/.exec(text) ?? [];
  if (whole === undefined) return text;
  const length = digits ?? (fraction !== '' ? 6 : CLOCK_DIGITS[whole.length]);
  if (length === undefined || whole.length > length)
    throw new RangeError(`the time ${shown(text)} is ambiguous; set \`clockDigits\` in the mapping`);
  return `${whole.padStart(length, '0')}${fraction}`;
}

/**
 * Number of digits of a time of day including leading zeros, by its number of digits without leading zeros. Ambiguous
 * lengths have no entry.
 */
const CLOCK_DIGITS: readonly (number | undefined)[] = [, , , , , 6, 6, , 9, 9, , 12, 12, , 15, 15];

/** Returns midnight of the first or last date in the text, as local time in ms; `null` if there is no date. */
export function dateIn(text: string, which: 'first' | 'last'): Millis | null {
  const dates = text.matchAll(/((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])/g);
  const found = [...dates].at(which === 'first' ? 0 : -1);
  return found === undefined ? null : Date.UTC(Number(found[1]), Number(found[3]) - 1, Number(found[4]));
}
