/** Times as files write them: what a form writes is read as the same moment, in every zone, also while the clocks change. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Findings } from '../../src/tape/import/read/findings.ts';
import { CLOCK_FORMS, clockText, DATE_FORMS, dateIn, timeReader } from '../../src/tape/import/read/times.ts';
import { timeZoneOf } from '../../src/tape/model/timeZone.ts';
import { runsOf } from '../many.ts';

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const LONG = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'];
LONG.push('November', 'December');
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

type Day = { readonly y: number; readonly m: number; readonly d: number; readonly weekday: number };
/** Writers of each form of the table, by its name; several where it has variants. */
const DATES: Readonly<Record<string, readonly ((day: Day) => string)[]>> = {
  '2023-11-14': [({ y, m, d }) => `${y}-${pad(m)}-${pad(d)}`, ({ y, m, d }) => `${y}-${m}-${d}`],
  '2023/11/14': [({ y, m, d }) => `${y}/${pad(m)}/${pad(d)}`],
  '2023.11.14': [({ y, m, d }) => `${y}.${pad(m)}.${pad(d)}`],
  '20231114': [({ y, m, d }) => `${y}${pad(m)}${pad(d)}`],
  '14.11.2023': [({ y, m, d }) => `${pad(d)}.${pad(m)}.${y}`, ({ y, m, d }) => `${d}.${m}.${y}`],
  '11/14/2023': [({ y, m, d }) => `${pad(m)}/${pad(d)}/${y}`, ({ y, m, d }) => `${m}/${d}/${y}`],
  '11-14-2023': [({ y, m, d }) => `${pad(m)}-${pad(d)}-${y}`],
  '14 Nov 2023': [
    ({ y, m, d }) => `${pad(d)} ${MONTHS[m - 1]} ${y}`,
    ({ y, m, d, weekday }) => `${DAYS[weekday]}, ${d} ${LONG[m - 1]} ${y}`,
  ],
  '14-Nov-2023': [({ y, m, d }) => `${pad(d)}-${MONTHS[m - 1]!.toUpperCase()}-${y}`],
  '14/Nov/2023': [({ y, m, d }) => `${pad(d)}/${MONTHS[m - 1]}/${y}`],
  '14Nov2023': [({ y, m, d }) => `${pad(d)}${MONTHS[m - 1]!.toUpperCase()}${y}`],
  '2023-Nov-14': [({ y, m, d }) => `${y}-${MONTHS[m - 1]}-${pad(d)}`],
  'Nov 14, 2023': [({ y, m, d }) => `${MONTHS[m - 1]} ${d}, ${y}`, ({ y, m, d }) => `${LONG[m - 1]} ${pad(d)} ${y}`],
};

type Clock = { readonly h: number; readonly i: number; readonly s: number; readonly micros: number };
/** And how exact it is, in microseconds. */
type ClockWriter = { readonly step: number; readonly write: (clock: Clock) => string };
const ms = ({ micros }: Clock) => pad(Math.floor(micros / 1_000), 3);
const hms = ({ h, i, s }: Clock, between = ':') => [h, i, s].map(part => pad(part)).join(between);
const half = ({ h }: Clock) => (h < 12 ? 'AM' : 'PM');
const CLOCKS: Readonly<Record<string, readonly ClockWriter[]>> = {
  '22:13:20.123456': [
    { step: 1, write: c => `${hms(c)}.${pad(c.micros, 6)}` },
    { step: 1, write: c => `${hms(c)}.${pad(c.micros, 6)}000` },
    { step: 1_000, write: c => `${hms(c)},${ms(c)}` },
    { step: 1_000_000, write: c => hms(c) },
    { step: 1_000_000, write: c => `${c.h % 12 || 12}:${pad(c.i)}:${pad(c.s)} ${half(c)}` },
    { step: 1_000, write: c => `${pad(c.h % 12 || 12)}:${pad(c.i)}:${pad(c.s)}.${ms(c)}${half(c).toLowerCase()}` },
  ],
  '22:13': [
    { step: 60_000_000, write: c => `${pad(c.h)}:${pad(c.i)}` },
    { step: 60_000_000, write: c => `${c.h % 12 || 12}:${pad(c.i)} ${half(c)}` },
  ],
  '22:13:20:123': [{ step: 1_000, write: c => `${hms(c)}:${ms(c)}` }],
  '22.13.20.123456': [{ step: 1, write: c => `${hms(c, '.')}.${pad(c.micros, 6)}` }],
  '221320123': [
    { step: 1_000_000, write: c => hms(c, '') },
    { step: 1_000, write: c => `${hms(c, '')}${ms(c)}` },
    { step: 1, write: c => `${hms(c, '')}${pad(c.micros, 6)}` },
    { step: 1, write: c => `${hms(c, '')}${pad(c.micros, 6)}000` },
  ],
  '221320.123': [{ step: 1, write: c => `${hms(c, '')}.${pad(c.micros, 6)}` }],
  '2213': [{ step: 60_000_000, write: c => `${pad(c.h)}${pad(c.i)}` }],
};

const ZONES = ['Z', '+00:00', '-04:00', '+05:30', 'Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'Asia/Kathmandu'];
ZONES.push('Australia/Lord_Howe', 'America/Sao_Paulo', 'Pacific/Auckland', 'Africa/Casablanca');

/** What a clock in that zone shows, by the platform's own conversion of the other direction. */
function shownIn(zone: string, micros: number): Day & Clock {
  const at = Math.floor(micros / 1_000);
  const local = new Date(at + timeZoneOf(zone).offsetAt(at));
  return {
    ...{ y: local.getUTCFullYear(), m: local.getUTCMonth() + 1, d: local.getUTCDate(), weekday: local.getUTCDay() },
    ...{ h: local.getUTCHours(), i: local.getUTCMinutes(), s: local.getUTCSeconds() },
    micros: ((micros % 1_000_000) + 1_000_000) % 1_000_000,
  };
}

const [FROM, TO] = [Date.UTC(2001, 0, 1), Date.UTC(2060, 0, 1)];
const micros = fc.integer({ min: FROM * 1_000, max: TO * 1_000 });
const zone = fc.constantFrom(...ZONES);
const dateWriter = fc.constantFrom(...Object.values(DATES).flat());
const clockWriter = fc.constantFrom(...Object.values(CLOCKS).flat());

describe('what a form writes is read as the same moment', () => {
  test('and the writers here are of every form of the tables', () => {
    expect(Object.keys(DATES).sort()).toEqual(DATE_FORMS.map(({ name }) => name).sort());
    expect(Object.keys(CLOCKS).sort()).toEqual(CLOCK_FORMS.map(({ name }) => name).sort());
  });

  test('in every zone, whatever stands between date and clock', () => {
    const between = fc.constantFrom(' ', 'T', '  ', ', ', '_');
    fc.assert(
      fc.property(micros, zone, dateWriter, clockWriter, between, (at, name, date, { step, write }, gap) => {
        const exact = at - (at % step);
        const shown = shownIn(name, exact);
        const text = `${date(shown)}${gap}${write(shown)}`;
        const read = timeReader({ unit: 'text', zone: name, order: 'mdy' })(text);
        const moments = timeZoneOf(name).momentsOf(
          Math.floor(exact / 1_000) + timeZoneOf(name).offsetAt(exact / 1_000),
        );
        // A time that is there twice is read as the first of both.
        expect(Math.round(read * 1_000)).toBe(moments[0]! * 1_000 + (exact % 1_000));
      }),
      runsOf(3_000, 600),
    );
  });

  test('with an offset of its own, which goes before the zone that was said', () => {
    const offset = fc.integer({ min: -47, max: 56 }).map(quarters => quarters * 15);
    const forms = fc.constantFrom(
      ...Object.values(CLOCKS)
        .flat()
        .filter(({ step }) => step < 60_000_000),
    );
    fc.assert(
      fc.property(micros, offset, dateWriter, forms, fc.boolean(), (at, minutes, date, { step, write }, colon) => {
        const exact = at - (at % step);
        const sign = minutes < 0 ? '-' : '+';
        const [h, m] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const name = `${sign}${pad(h)}:${pad(m)}`;
        const shown = shownIn(name, exact);
        const text = `${date(shown)} ${write(shown)}${colon ? name : name.replace(':', '')}`;
        expect(Math.round(timeReader({ unit: 'text', zone: 'Asia/Tokyo', order: 'mdy' })(text) * 1_000)).toBe(exact);
      }),
      runsOf(2_000, 500),
    );
  });

  test('whatever form the texts before it had', () => {
    const written = fc.tuple(micros, dateWriter, clockWriter).map(([at, date, { step, write }]) => {
      const exact = at - (at % step);
      return { exact, text: `${date(shownIn('Z', exact))} ${write(shownIn('Z', exact))}` };
    });
    fc.assert(
      fc.property(fc.array(written, { minLength: 2, maxLength: 6 }), all => {
        const read = timeReader({ unit: 'text', zone: 'Z', order: 'mdy' });
        expect(all.map(({ text }) => Math.round(read(text) * 1_000))).toEqual(all.map(({ exact }) => exact));
      }),
      runsOf(1_000, 300),
    );
  });

  test('also as a number of seconds, ms, us or ns, whole or with decimals, to the microsecond', () => {
    const digits = (at: number, n: number) => String(BigInt(at) * 10n ** BigInt(Math.max(0, n - 6)));
    fc.assert(
      fc.property(micros, at => {
        const read = (unit: 's' | 'ms' | 'us' | 'ns', text: string) => Math.round(timeReader({ unit })(text) * 1_000);
        const [whole, part] = [String(Math.floor(at / 1_000_000)), pad(at % 1_000_000, 6)];
        expect(read('us', String(at))).toBe(at);
        expect(read('ns', digits(at, 9))).toBe(at);
        expect(read('ns', `${digits(at, 9)}.0`)).toBe(at);
        expect(read('s', `${whole}.${part}`)).toBe(at);
        expect(read('s', `${whole},${part}999`)).toBe(at + 1);
        expect(read('ms', `${whole}${part.slice(0, 3)}.${part.slice(3)}`)).toBe(at);
        expect(read('s', `${whole[0]}.${whole.slice(1)}${part}e+${pad(whole.length - 1)}`)).toBe(at);
      }),
    );
  });
});

describe('a time is read as people mean it:', () => {
  it.each([
    ['2023.11.14 22:13:20.123', 'Z', '2023-11-14T22:13:20.123Z'],
    ['20231114 221320123', 'Z', '2023-11-14T22:13:20.123Z'],
    ['14.11.2023 22:13:20.123', 'Z', '2023-11-14T22:13:20.123Z'],
    ['11/14/2023 22:13:20.123', 'Z', '2023-11-14T22:13:20.123Z'],
    ['2023.11.14D22:13:20.123456789', 'Z', '2023-11-14T22:13:20.123Z'],
    ['2023-11-14-22.13.20.123456', 'Z', '2023-11-14T22:13:20.123Z'],
    ['14/Nov/2023:22:13:20 +0100', undefined, '2023-11-14T21:13:20.000Z'],
    ['Tue Nov 14 22:13:20 2023', 'Z', '2023-11-14T22:13:20.000Z'],
    ['Tue, 14 Nov 2023 22:13:20 GMT', undefined, '2023-11-14T22:13:20.000Z'],
    ['20231114-22:13:20.123', 'Z', '2023-11-14T22:13:20.123Z'],
    ['20231114T221320Z', undefined, '2023-11-14T22:13:20.000Z'],
    ['20231114221320', 'Z', '2023-11-14T22:13:20.000Z'],
    ['20231114221320123', 'Z', '2023-11-14T22:13:20.123Z'],
    ['2023-11-14 22:13:20.123+00', undefined, '2023-11-14T22:13:20.123Z'],
    ['2023-11-14T22:13:20.123-05:00[America/New_York]', undefined, '2023-11-15T03:13:20.123Z'],
    ['2023-11-14T22:13:20[Europe/Berlin]', undefined, '2023-11-14T21:13:20.000Z'],
    ['2023-11-14-05:00', 'Z', '2023-11-14T05:00:00.000Z'],
    ['2023-11-14', 'America/New_York', '2023-11-14T05:00:00.000Z'],
  ])('%s', (text, named, iso) => {
    const at = timeReader({ unit: 'text', zone: named })(text);
    expect(new Date(Math.floor(at)).toISOString()).toBe(iso);
  });
});

describe('a time is refused in one line where', () => {
  it.each<[string, string, string | undefined, RegExp]>([
    ['day and month may be either', '11/12/2023 10:00:00', 'Z', /order: mdy.*may be month 11 or month 12/],
    [
      'it has no zone',
      '2023-11-14 10:00:00',
      undefined,
      /expected a time with a time zone, found .*; set `zone` in the mapping/,
    ],
    ['the day is none', '2023-02-30 10:00:00', 'Z', /expected a valid date/],
    ['there is no such hour', '2023-02-03 24:00:00', 'Z', /expected a time of day/],
    ['the hour is not one of half a day', '2023-02-03 13:00:00 PM', 'Z', /expected an hour from 1 to 12/],
    ['the zone is an abbreviation', '2023-02-03 13:00:00[EST]', undefined, /zone like America\/New_York, found EST/],
    ['it is no time', 'tomorrow', 'Z', /expected a time with a time zone, found "tomorrow"/],
    ['it is very long', '2'.repeat(1_000_000), 'Z', /expected a time, found "2{80}…"$/],
  ])('%s', (_, text, named, why) => {
    expect(() => timeReader({ unit: 'text', zone: named })(text)).toThrow(why);
  });

  test('a clock in digits may be hours or seconds', () => {
    expect(clockText('93000')).toBe('093000');
    expect(clockText('93000123')).toBe('093000123');
    expect(clockText('930', 6)).toBe('000930');
    expect(clockText('930', 4)).toBe('0930');
    expect(() => clockText('930')).toThrow(/the time "930" is ambiguous; set `clockDigits` in the mapping/);
    expect(clockText('9:30:00')).toBe('9:30:00');
  });
});

describe('while the clocks change', () => {
  /** 2023-11-05 in New York: 1:59:59 EDT is followed by 1:00:00 EST. */
  const FOLD = ['00:59', '01:00', '01:30', '01:59', '01:00', '01:30', '01:59', '02:00'];

  test('times that are there twice are the first of both until they go back, and are counted', () => {
    const findings = new Findings();
    const read = timeReader({ unit: 'text', zone: 'America/New_York' }, findings, () => 'x.csv:1');
    const at = FOLD.map(clock => new Date(read(`2023-11-05 ${clock}`)).toISOString().slice(11, 16));
    expect(at).toEqual(['04:59', '05:00', '05:30', '05:59', '06:00', '06:30', '06:59', '07:00']);
    expect(findings.flaws.map(({ what, count }) => [what, count])).toEqual([
      ['ambiguous local times, which occur twice when clocks are set back', 6],
    ]);
  });

  test('times that the clocks skip are read by the clock before, and are counted', () => {
    const findings = new Findings();
    const read = timeReader({ unit: 'text', zone: 'Europe/Berlin' }, findings, () => 'x.csv:1');
    expect(new Date(read('2024-03-31 02:30:00')).toISOString()).toBe('2024-03-31T01:30:00.000Z');
    expect(findings.flaws.map(({ what, count }) => [what, count])).toEqual([
      ['local times that are skipped when clocks are set forward', 1],
    ]);
  });

  test('every moment of ten years is one of those that have its local time, and no local time has three', () => {
    const seconds = fc.integer({ min: Date.UTC(2015, 0, 1) / 1_000, max: Date.UTC(2026, 0, 1) / 1_000 });
    fc.assert(
      fc.property(seconds, zone, (at, name) => {
        const { offsetAt, momentsOf } = timeZoneOf(name);
        const moments = momentsOf(at * 1_000 + offsetAt(at * 1_000));
        expect(moments).toContain(at * 1_000);
        expect(moments.length).toBeLessThan(3);
      }),
      runsOf(2_000, 500),
    );
  });
});

test('the day of a file is the date in its name, and no other digits', () => {
  const iso = (text: string) => new Date(dateIn(text, 'first')!).toISOString().slice(0, 10);
  expect(iso('AAPL_2012-06-21_34200000_57600000_message_10.csv')).toBe('2012-06-21');
  expect(iso('x_20231114.csv')).toBe('2023-11-14');
  expect(iso('x.2023.11.14.csv')).toBe('2023-11-14');
  expect(dateIn('x_34200000_57600000.csv', 'first')).toBe(null);
});
