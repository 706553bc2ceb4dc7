/** Tables as programs write them: JSON by paths, signs as sides, numbers of other countries, dates and clocks apart, files beside each other. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { mappedRecording } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { withPoint } from '../../src/tape/import/digits.ts';
import { withFolder } from './folder.ts';

type Files = Readonly<Record<string, string>>;
const read = (files: Files, tables: string, more = '') =>
  withFolder({ ...files, 'm.yaml': `book: btc_usd\ntick: 0.5\n${more}tables:\n${tables}` }, async dir => {
    const { columns } = await collectTape(await mappedRecording(dir, join(dir, 'm.yaml')));
    return Array.from({ length: columns.length }, (_, i) =>
      [columns.kind[i], columns.side[i], new Date(columns.at[i]!).toISOString().slice(11, 23)]
        .concat([String(columns.price[i]), String(columns.amount[i]! / 1e8)] as never)
        .join(' '),
    );
  });
const refusal = (files: Files, tables: string, more = '') =>
  read(files, tables, more).then(
    rows => rows.join('; '),
    (error: unknown) => (error as Error).message,
  );

/** 2023-11-14T22:13:20Z. */
const AT = 1_700_000_000_000;
const QUOTES = ['0 2 22:13:20.000 0 0', '1 0 22:13:20.000 20 1', '1 1 22:13:20.000 22 2'];

describe('the same quotes come from', () => {
  const quotes = (time: string, more = '') =>
    `  - { files: q*, kind: quotes, time: ${time}, bid: b, bidAmount: bs, ask: a, askAmount: as${more} }\n`;
  it.each<[string, Files, string]>([
    [
      'lines of JSON, numbers as text or not',
      { 'q.jsonl': `{"t":${AT},"b":10.0,"bs":"1","a":"11","as":2}\n` },
      quotes('{ column: t, unit: ms }'),
    ],
    ['a list of JSON', { 'q.json': `[{"t":${AT},"b":10,"bs":1,"a":11,"as":2}]` }, quotes('{ column: t, unit: ms }')],
    [
      'paths into JSON behind words of the line',
      { 'q.log': `${AT}000000 x {"data":{"b":[["10","1"]],"a":[["11","2"]]}}\n` },
      '  - { files: q*, kind: books, json: { before: [t, word] }, time: { column: t, unit: ns }, levels: 3, bid: "data.b.{}.0", bidAmount: "data.b.{}.1", ask: "data.a.{}.0", askAmount: "data.a.{}.1" }\n',
    ],
    [
      'a date and a clock in columns of their own',
      { 'q.csv': 'd,c,b,bs,a,as\n20231114,221320,10,1,11,2\n' },
      quotes('{ column: d, clock: c, zone: Z }'),
    ],
    [
      'a clock in whole numbers, in the zone of a place',
      { 'q.csv': 'd,c,b,bs,a,as\n11/14/2023,171320,10,1,11,2\n' },
      quotes('{ column: d, clock: c, zone: America/New_York }'),
    ],
    [
      'a clock alone, on the day in the name of the file',
      { 'q_20231114.csv': 'c,b,bs,a,as\n5:13:20 PM,10,1,11,2\n' },
      quotes('{ column: c, day: true, zone: America/New_York }'),
    ],
    [
      'numbers with a comma and thousands with points',
      { 'q.csv': `t;b;bs;a;as\n14.11.2023 22:13:20,000;10,0;1,00;11;0.002\n` },
      quotes('{ column: t, zone: Z }', ', delimiter: ";", decimal: ",", thousands: ".", amountUnit: 1')
        .replace('askAmount: as', 'askAmount: bs')
        .replace('ask: a,', 'ask: a,'),
    ],
    [
      'rows of a file beside it',
      { 'q.csv': '10,1,11,2\n', 'z.csv': `${AT / 1000},x\n` },
      quotes('{ column: t, unit: s }', ', header: [b, bs, a, as], beside: { files: z*, header: [t, other] }'),
    ],
  ])('%s', async (name, files, table) => {
    const rows = await read(files, table);
    if (name.startsWith('numbers')) expect(rows.slice(0, 2)).toEqual(QUOTES.slice(0, 2));
    else expect(rows).toEqual(QUOTES);
  });
});

test('numbers in JSON keep all their digits', async () => {
  const rows = await read(
    { 'q.jsonl': `{"t":1700000000000000001,"p":12345678901234567.5,"q":0.00000001,"s":"b"}\n` },
    '  - { files: q*, kind: trades, time: { column: t, unit: ns }, price: p, amount: q, priceUnit: "0.0000000001" }\n',
  ).catch((error: unknown) => (error as Error).message);
  expect(rows).toMatch(/price 1234567\.89012345675 is not a multiple/);
});

describe('the sign of an amount is its side', () => {
  test('of trades: the taker sells what is below nought', async () => {
    const rows = await read(
      { 'q.csv': `t,p,q\n${AT},10,-1.5\n${AT},10,2\n${AT},10,+3\n` },
      "  - { files: q*, kind: trades, time: { column: t, unit: ms }, price: p, amount: abs(q), side: { column: sign(q), buy: ['+'], sell: ['-'] } }\n",
    );
    expect(rows).toEqual(['2 1 22:13:20.000 20 1.5', '2 0 22:13:20.000 20 2', '2 0 22:13:20.000 20 3']);
  });

  test('of levels, and a count of nought takes a level away', async () => {
    const rows = await read(
      { 'q.csv': `t,p,n,q\n${AT},10,2,1.5\n${AT},11,1,-2\n${AT},10,0,1\n` },
      "  - { files: q*, kind: levels, time: { column: t, unit: ms }, price: p, amount: abs(q), side: { column: sign(q), buy: ['+'], sell: ['-'] }, removed: { column: n, words: [0] } }\n",
    );
    expect(rows).toEqual(['1 0 22:13:20.000 20 1.5', '1 1 22:13:20.000 22 2', '1 0 22:13:20.000 20 0']);
  });
});

test('a number as another country writes it is the same number', () => {
  const written = (value: number, decimals: number, decimal: string, thousands: string) => {
    const [whole, fraction] = value.toFixed(decimals).split('.');
    const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, thousands);
    return fraction === undefined ? grouped : `${grouped}${decimal}${fraction}`;
  };
  const ways = fc.constantFrom([',', '.'], [',', ' '], ['.', ','], ['.', "'"], ['.', '_']);
  fc.assert(
    fc.property(
      fc.nat(2_000_000_000),
      fc.integer({ min: 0, max: 4 }),
      ways,
      (digits, decimals, [decimal, thousands]) => {
        const value = digits / 10 ** decimals;
        const text = written(value, decimals, decimal, thousands);
        expect(withPoint(text, decimal, thousands)).toBe(value.toFixed(decimals));
      },
    ),
    { numRuns: 2_000 },
  );
});

describe('one line says what is wrong with', () => {
  const quotes = (time: string, more = '') => `  - { files: q*, kind: quotes, time: ${time}, bid: b, ask: a${more} }\n`;
  it.each<[string, Files, string, string, RegExp]>([
    [
      'a point where commas are',
      { 'q.csv': `t;b;a\n${AT};10.5;11\n` },
      quotes('{ column: t, unit: ms }', ', delimiter: ";", decimal: ","'),
      '',
      /line 2: expected a number with "," as decimal separator, found "10\.5"/,
    ],
    [
      'thousands of two digits',
      { 'q.csv': `t;b;a\n${AT};1,00;11\n` },
      quotes('{ column: t, unit: ms }', ', delimiter: ";", thousands: ","'),
      '',
      /line 2: expected a number with "\." as decimal separator and "," as thousands separator, found "1,00"/,
    ],
    ['a line that is not JSON', { 'q.jsonl': '{"t":1\n' }, quotes('t'), '', /line 1: .*the line is neither valid JSON/],
    [
      'a file beside that is shorter',
      { 'q.csv': '10,11\n10,11\n', 'z.csv': `${AT}\n` },
      quotes('{ column: t, unit: ms }', ', header: [b, a], beside: { files: z*, header: [t] }'),
      '',
      /z\.csv: has fewer rows than .*q\.csv; expected equal numbers of rows$/,
    ],
    [
      'a file beside that is longer',
      { 'q.csv': '10,11\n', 'z.csv': `${AT}\n${AT}\n` },
      quotes('{ column: t, unit: ms }', ', header: [b, a], beside: { files: z*, header: [t] }'),
      '',
      /z\.csv: has more rows than .*q\.csv; expected equal numbers of rows$/,
    ],
    [
      'a zone that is none',
      { 'q.csv': '' },
      quotes('{ column: t, zone: EST }'),
      '',
      /m\.yaml:\d+: tables\.0\.time.*: .*zone like America\/New_York, found EST|m\.yaml:\d+: tables\.0\.time/,
    ],
    [
      'a session that is none',
      { 'q.csv': '' },
      quotes('t'),
      'session: 9 to 5\n',
      /m\.yaml:3: session: expected a session like 09:30-16:00@America\/New_York/,
    ],
    [
      'day and month that may be either',
      { 'q.csv': 't,b,a\n11/12/2023 10:00:00,10,11\n' },
      quotes('{ column: t, zone: Z }'),
      '',
      /q\.csv: line 2: expected `order: mdy` or `order: dmy` in the mapping/,
    ],
    [
      'a clock that may be hours or seconds',
      { 'q.csv': 'd,c,b,a\n20231114,930,10,11\n' },
      quotes('{ column: d, clock: c, zone: Z }'),
      '',
      /q\.csv: line 2: the time "930" is ambiguous; set `clockDigits` in the mapping/,
    ],
  ])('%s', async (_, files, table, more, why) => {
    expect(await refusal(files, table, more)).toMatch(why);
    expect(await refusal(files, table, more)).not.toContain('\n');
  });

  test('a mapping of anchors that repeat each other a billionfold', async () => {
    const lol = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`);
    const text = `l0: &l0 [x]\n${lol.join('\n')}\nbook: *l9\n`;
    await withFolder({ 'q.csv': 'a', 'm.yaml': text }, async dir => {
      await expect(mappedRecording(dir, join(dir, 'm.yaml'))).rejects.toThrow(/m\.yaml: Excessive alias count/);
    });
  });

  test('a mapping that is too long, or too deep, to be one', async () => {
    for (const [text, why] of [
      [`book: ${'x'.repeat(2_000_000)}`, /m\.yaml: larger than 1048576 bytes; pass a mapping file with --mapping$/],
      [`book: ${'x'.repeat(300_000)}`, /m\.yaml: expected at most 262144 characters, found 300006$/],
      [`book: ${'['.repeat(100_000)}`, /m\.yaml: [^\n]+$/],
    ] as const)
      await withFolder({ 'q.csv': 'a', 'm.yaml': text }, async dir => {
        await expect(mappedRecording(dir, join(dir, 'm.yaml'))).rejects.toThrow(why);
      });
  });

  test('a pattern of many stars, without trying each of their places', async () => {
    const name = `${'a'.repeat(200)}.csv`;
    await withFolder({ [name]: 'a' }, async dir => {
      const { writeFileSync } = await import('node:fs');
      writeFileSync(
        join(dir, 'm.yaml'),
        `book: btc_usd\ntick: 1\ntables:\n  - { files: '${'*a'.repeat(60)}*b', kind: quotes, time: t, bid: b, ask: a }\n`,
      );
      await expect(mappedRecording(dir, join(dir, 'm.yaml'))).rejects.toThrow(/no file matches/);
    });
  });
});
