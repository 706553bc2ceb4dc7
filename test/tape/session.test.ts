/** Sessions: the hours of a market by its own clock, what they leave of a recording, and that nothing outside them counts. */
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { rowsOfTape } from '../../backtest/index.ts';
import { amount, price } from '../../src/core/index.ts';
import {
  isClosed,
  KIND,
  openStoredTape,
  openTape,
  RecordedBook,
  SIDE,
  TapeWriter,
  wideHoursText,
  type Columns,
  type Tape,
} from '../../src/tape/index.ts';
import { wideHoursOf } from '../../src/tape/analysis/spreadHours.ts';
import { tapeInSession } from '../../src/tape/format/open.ts';
import { mappedRecording } from '../../src/tape/import/mapping/mapped.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { openHours, sessionOf } from '../../src/tape/model/session.ts';
import { TapeBuilder } from '../../src/tape/model/tape.ts';
import { tapeRules } from '../../src/tape/model/tapeRules.ts';
import { run, tape as flow } from '../backtest/ladderRun.ts';
import { withFolder } from './folder.ts';
import { plainColumns } from './storedRows.ts';
import { runsOf } from '../many.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-session-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const iso = (at: number) => new Date(at).toISOString().slice(0, 16);
const hoursIn = (text: string, from: string, to: string) =>
  openHours(sessionOf(text), Date.parse(from), Date.parse(to)).map(([a, b]) => `${iso(a)} ${iso(b)}`);

describe('the hours of a session are', () => {
  it.each<[string, string, string, string, readonly string[]]>([
    [
      "by the market's clock, which changes on a weekend between",
      '09:30-16:00@America/New_York',
      '2023-11-03T00:00:00Z',
      '2023-11-07T00:00:00Z',
      ['2023-11-03T13:30 2023-11-03T20:00', '2023-11-06T14:30 2023-11-06T21:00'],
    ],
    [
      'of the days that are said, several a day',
      'Mon-Tue 09:00-11:30,12:30-15:00@Asia/Tokyo',
      '2023-11-13T00:00:00Z',
      '2023-11-16T00:00:00Z',
      [
        '2023-11-13T00:00 2023-11-13T02:30',
        '2023-11-13T03:30 2023-11-13T06:00',
        '2023-11-14T00:00 2023-11-14T02:30',
        '2023-11-14T03:30 2023-11-14T06:00',
      ],
    ],
    [
      'of a night, which ends on the day after',
      'Sun-Thu 18:00-17:00@America/Chicago',
      '2023-11-12T00:00:00Z',
      '2023-11-14T12:00:00Z',
      ['2023-11-13T00:00 2023-11-13T23:00', '2023-11-14T00:00 2023-11-14T12:00'],
    ],
    [
      'across the end of a week',
      'Sat-Sun 00:00-24:00@Z',
      '2023-11-10T00:00:00Z',
      '2023-11-20T00:00:00Z',
      ['2023-11-11T00:00 2023-11-13T00:00', '2023-11-18T00:00 2023-11-20T00:00'],
    ],
    [
      'shorter where the clocks skip their beginning, and longer where an hour is there twice',
      'Sun 02:30-04:00@Europe/Berlin',
      '2024-03-31T00:00:00Z',
      '2024-03-31T12:00:00Z',
      ['2024-03-31T01:00 2024-03-31T02:00'],
    ],
  ])('%s', (_, text, from, to, hours) => {
    expect(hoursIn(text, from, to)).toEqual(hours);
  });

  it.each(['', '09:30-16:00', '9-16@Z', '09:30-25:00@Z', 'Moon 09:30-16:00@Z', '09:30-16:00@', '09:60-16:00@Z'])(
    'not those of %j',
    text => {
      expect(() => sessionOf(text)).toThrow(/^expected (a session like 09:30-16:00@America\/New_York or|Z, an offset)/);
    },
  );

  it.each(['09:30-16:00@EST', '09:30-16:00@New York', '09:30-16:00@America/Nowhere'])(
    'not in a zone as of %j',
    text => {
      expect(() => sessionOf(text)).toThrow(
        /^expected Z, an offset like -04:00 or a zone like America\/New_York, found /,
      );
    },
  );
});

const START = Date.parse('2023-11-14T08:00:00Z');
const SESSION = '10:00-10:02,10:03-10:05@Europe/Berlin';
const HOURS = openHours(sessionOf(SESSION), START, START + 86_400_000);
const isOpen = (at: number) => HOURS.some(([from, to]) => at >= from && at < to);
const RULES = tapeRules('btc_mxn', '10', '0.00000001');

/** Steps of a book and trades, some seconds apart, around the two sessions. */
const steps = fc.array(
  fc.record({
    after: fc.integer({ min: 0, max: 20_000 }),
    kind: fc.constantFrom('level', 'trade', 'add', 'remove', 'clear'),
    side: fc.constantFrom(SIDE.buy, SIDE.sell),
    place: fc.integer({ min: 1, max: 5 }),
    lots: fc.integer({ min: 0, max: 3 }),
  }),
  { minLength: 20, maxLength: 120 },
);
type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never;

function tapeOf(all: Steps): Tape {
  const rows = new TapeBuilder();
  let at = START + 59 * 60_000;
  // A book is told by levels or by orders.
  const byOrders = ['add', 'remove'].includes(all[0]?.kind ?? '');
  for (const [i, { after, kind, side, place, lots }] of all.entries()) {
    at += after;
    if (kind === (byOrders ? 'level' : 'add') || (kind === 'remove' && !byOrders)) continue;
    const ticks = price(side === SIDE.buy ? 100 - place : 100 + place);
    if (kind === 'clear') rows.clear(at, at);
    else if (kind === 'trade') rows.trade(at, at, side, ticks, amount(lots + 1), i + 1);
    else if (kind === 'level') rows.level(at, at, side, ticks, amount(lots));
    else rows.order(kind === 'add' ? KIND.add : KIND.remove, at, at, side, ticks, amount(lots + 1), place);
  }
  const { instrument, rules } = RULES;
  return {
    ...{ source: 'x', instrument, rules, columns: rows.columns() },
    gaps: [],
    flaws: [],
    depth: Infinity,
    quotesOnly: false,
  };
}

/** Best prices and amounts after the last row of each time. */
function touches({ columns }: { readonly columns: Columns }, wanted: (at: number) => boolean) {
  const book = new RecordedBook(columns);
  const found = new Map<number, readonly number[]>();
  for (let row = 0; row < columns.length; row++) {
    book.apply(row);
    const { bids, asks } = book;
    const at = columns.at[row]!;
    if (wanted(at)) found.set(at, [bids.priceAt(0), bids.amountAt(0), asks.priceAt(0), asks.amountAt(0)]);
  }
  return found;
}

describe('a recording in a session', () => {
  test('has the trades inside and no others, and the book that the whole has, at every moment inside', () => {
    fc.assert(
      fc.property(steps, all => {
        const whole = tapeOf(all);
        fc.pre([...whole.columns.at].some(isOpen));
        const inside = tapeInSession(whole, SESSION);
        const rows = plainColumns(inside.columns);
        const trades = (of: typeof rows) => of.filter(([kind]) => kind === KIND.trade);
        expect(trades(rows)).toEqual(trades(plainColumns(whole.columns)).filter(([, , at]) => isOpen(at!)));
        // The row that empties the book stands at the end of a session.
        expect(rows.every(([kind, , at]) => isOpen(at!) || kind === KIND.clear)).toBe(true);
        const own = touches(whole, isOpen);
        const left = touches(inside, isOpen);
        for (const [at, touch] of own) expect([at, left.get(at)]).toEqual([at, touch]);
        expect(rows.map(([, , at]) => at)).toEqual(rows.map(([, , at]) => at!).toSorted((a, b) => a - b));
        for (const { from, to } of inside.gaps)
          expect(HOURS.some(([a, b]) => Math.max(a, from) < Math.min(b, to))).toBe(false);
      }),
      runsOf(150, 50),
    );
  });

  test('is the same from memory, from a stored tape in pieces of any size, and imported by a mapping', async () => {
    let n = 0;
    await fc.assert(
      fc.asyncProperty(steps, async all => {
        const whole = tapeOf(all);
        fc.pre([...whole.columns.at].some(isOpen));
        const inside = tapeInSession(whole, SESSION);
        const out = join(dir, String(n++));
        const writer = new TapeWriter({
          dir: out,
          rules: RULES.rules,
          source: 'x',
          depth: Infinity,
          quotesOnly: false,
          blockRows: 16,
        });
        writer.append(whole.columns);
        writer.close();
        const stored = openStoredTape(out, { session: SESSION });
        const rows = [...stored.chunks()].flatMap(({ columns }) => plainColumns(columns));
        expect(rows).toEqual(plainColumns(inside.columns));
        expect(stored.gaps).toEqual(inside.gaps);
        const micros = [...stored.chunks({ micros: true })].flatMap(({ columns }) => plainColumns(columns));
        expect(micros.map(([, , at]) => at! / 1_000)).toEqual(rows.map(([, , at]) => at));
        expect(plainColumns((await openTape(out, { session: SESSION })).columns)).toEqual(rows);
        expect(stored.hash()).not.toBe(openStoredTape(out).hash());
      }),
      runsOf(25, 8),
    );
  });

  test('that was closed all the time is refused in one line', () => {
    const whole = tapeOf([{ after: 0, kind: 'clear', side: SIDE.buy, place: 1, lots: 1 }]);
    expect(() => tapeInSession(whole, 'Sat 10:00-11:00@Z')).toThrow(
      /^no time of the recording is inside the session Sat 10:00-11:00@Z; the recording is from 2023-11-14T/,
    );
  });

  test('is what an import by a mapping with a session gives', async () => {
    const at = (minute: number) => new Date(START + minute * 60_000).toISOString();
    const csv = [
      't,b,bs,a,as',
      ...[50, 61, 62.5, 63.5, 70].map((minute, i) => `${at(minute)},${100 + i},1,${110 + i},2`),
    ];
    const mapping = `book: btc_usd\ntick: 1\nsession: ${SESSION}\ntables:\n  - { files: q.csv, kind: quotes, time: t, bid: b, bidAmount: bs, ask: a, askAmount: as }\n`;
    await withFolder({ 'q.csv': csv.join('\n'), 'm.yaml': mapping }, async folder => {
      const tape = await collectTape(await mappedRecording(folder, join(folder, 'm.yaml')));
      const without = await collectTape(
        await mappedRecording(folder, join(folder, 'm.yaml')).then(({ session: _, ...recording }) => recording),
      );
      const inside = tapeInSession(without, SESSION);
      expect(plainColumns(tape.columns)).toEqual(plainColumns(inside.columns));
      expect(tape.gaps).toEqual(inside.gaps);
      expect(tape.gaps.map(({ why }) => why)).toEqual(['no book row during the gap', `outside the session ${SESSION}`]);
    });
  });
});

describe('a backtest in a session', () => {
  const from = flow.columns.at[0]!;
  /** The flow, begun three minutes before the first of two sessions. */
  const shift = Date.parse('2023-11-14T08:57:00Z') - from;
  const moved = (columns: Columns): Columns => ({
    ...columns,
    at: columns.at.map(at => at + shift),
    local: columns.local.map(at => at + shift),
  });
  const whole: Tape = { ...flow, columns: moved(flow.columns) };
  const traded = (tape: Tape) => run({ rows: rowsOfTape(tape), gaps: tape.gaps, instrument: tape.instrument });

  test('has no fill outside, and quotes inside as ever', () => {
    const inside = tapeInSession(whole, SESSION);
    const { fills, result } = traded(inside);
    expect(fills.length).toBeGreaterThan(3);
    expect(fills.filter(({ at }) => !isOpen(at))).toEqual([]);
    expect(traded(whole).fills.some(({ at }) => !isOpen(at))).toBe(true);
    // The minute between the sessions is not missed.
    expect(result.collected.quoted.both).toBeGreaterThan(0.8);
    expect(inside.gaps.every(isClosed)).toBe(true);
  });

  test('is the same whatever trades and levels there are outside', () => {
    const { columns } = whole;
    const wild: Tape = {
      ...whole,
      columns: {
        ...columns,
        amount: columns.amount.map((lots, row) =>
          columns.kind[row] === KIND.trade && !isOpen(columns.at[row]!) ? lots * 1_000 : lots,
        ),
        price: columns.price.map((ticks, row) =>
          columns.kind[row] === KIND.trade && !isOpen(columns.at[row]!) ? Math.round(ticks / 2) : ticks,
        ),
      },
    };
    const [one, other] = [traded(tapeInSession(whole, SESSION)), traded(tapeInSession(wild, SESSION))];
    expect(other.fills).toEqual(one.fills);
    expect(other.result.hash).toBe(one.result.hash);
    expect(traded(wild).result.hash).not.toBe(traded(whole).result.hash);
  });
});

describe('hours whose spread is not of the market', () => {
  const withSpreads = (spreadOf: (hour: number) => number): Tape => {
    const rows = new TapeBuilder();
    const midnight = Date.parse('2023-11-14T00:00:00Z');
    for (let minute = 0; minute < 24 * 60; minute++) {
      const at = midnight + minute * 60_000;
      rows.clear(at, at);
      rows.level(at, at, SIDE.buy, price(10_000), amount(1));
      rows.level(at, at, SIDE.sell, price(10_000 + spreadOf(Math.floor(minute / 60))), amount(1));
    }
    return { ...tapeOf([]), columns: rows.columns() };
  };

  test('are named with their spread and the others', () => {
    const wide = wideHoursOf(withSpreads(hour => (hour >= 13 && hour < 20 ? 2 : 60)))!;
    expect(wideHoursText(wide)).toMatch(
      /^The median spread at 20:00 to 13:00 UTC is (5[5-9]|6[0-5]) bps, against (1\.[89]|2|2\.1) bps in the other hours\. .*--session/,
    );
  });

  test('are none where the spread only breathes', () => {
    expect(wideHoursOf(withSpreads(hour => 10 + hour))).toBe(null);
  });
});
