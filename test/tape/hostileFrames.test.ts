/** What the frames of a tape say is checked when it is read: numbers are numbers, names are names, and sentences are text that commands nothing. */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStoredTape, SIDE, TapeWriter } from '../../src/tape/index.ts';
import { flawsOf, gapOf, headOf } from '../../src/tape/format/dayFiles.ts';
import { jsonFrame, TAG } from '../../src/tape/format/frames.ts';
import { amount, price } from '../../src/core/index.ts';
import { RULES, START } from './storedRows.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-hostile-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const HEAD = {
  format: 'puntas tape',
  version: 1,
  book: 'btc_mxn',
  day: '2026-11-21',
  previous: null,
  lot: '0.00000001',
  source: 'a test',
  depth: 50,
  quotesOnly: false,
  rules: RULES,
};
const MARKUP = '<form action="https://evil.example">';
const ESCAPES = '\u001b[2J\u202e';

describe('the first frame', () => {
  test('is taken as it is written', () => expect(headOf(HEAD, 'x')).toEqual(HEAD));

  test.each([
    ['book', MARKUP],
    ['book', '../../etc'],
    ['day', MARKUP],
    ['previous', MARKUP],
    ['lot', MARKUP],
    ['lot', '-1'],
    ['depth', MARKUP],
    ['depth', 0.5],
    ['quotesOnly', MARKUP],
    ['rules', { ...RULES, book: MARKUP }],
    ['rules', { ...RULES, tickSize: MARKUP }],
    ['rules', { ...RULES, maximumValue: '1e9' }],
  ])('whose %s is %j is refused with the name of the file', (key, value) => {
    expect(() => headOf({ ...HEAD, [key]: value }, 'x/rows.tape')).toThrow(
      /^x\/rows\.tape: expected a valid book, day, lot, source, depth and rules in the first frame/,
    );
  });

  test('says where it comes from in text that commands nothing, and is not endless', () => {
    const { source } = headOf({ ...HEAD, source: `${ESCAPES}${'x'.repeat(5_000)}` }, 'x');
    expect(source).toMatch(/^\ufffd\[2J\ufffdx+$/);
    expect(source.length).toBeLessThanOrEqual(1_000);
  });
});

describe('a frame of dirt or of a gap', () => {
  function withFrame(tag: 'DIRT' | 'GAPS', value: object): void {
    const tape = new TapeWriter({ dir, rules: RULES, source: 'a test', blockRows: 10 });
    for (let n = 0; n < 20; n++) tape.level(START + n, START + n, SIDE.buy, price(1_000), amount(1));
    tape.close();
    appendFileSync(join(dir, 'book=btc_mxn', 'day=2026-11-21', 'rows.tape'), jsonFrame(tag, value));
  }

  test('with text where a number is meant is refused: this is how markup came into a report', () => {
    withFrame(TAG.flaws, { entries: [{ what: 'a', count: MARKUP, done: 'b' }] });
    expect(() => openStoredTape(dir)).toThrow(/rows\.tape: frame DIRT at byte \d+ has invalid content$/);
  });

  test('with times that are none is refused', () => {
    withFrame(TAG.gap, { from: MARKUP, to: START, why: 'x' });
    expect(() => openStoredTape(dir)).toThrow(/GAPS at byte \d+ has invalid content$/);
  });

  test('tells its sentences without what a terminal obeys', () => {
    withFrame(TAG.flaws, { entries: [{ what: `a${ESCAPES}`, count: 1, done: `b${ESCAPES}`, first: `c${ESCAPES}` }] });
    const { flaws: dirt } = openStoredTape(dir);
    expect(
      dirt.some(
        ({ what, done, first }) => /^a\ufffd/.test(what) && /^b\ufffd/.test(done) && /^c\ufffd/.test(first ?? ''),
      ),
    ).toBe(true);
  });

  test('is whole or refused, whatever JSON it holds', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        const value = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
        const gap = gapOf(value ?? {});
        if (gap !== null)
          expect([Number.isFinite(gap.from), Number.isFinite(gap.to), typeof gap.why]).toEqual([true, true, 'string']);
        for (const { what, count, done } of flawsOf([value]) ?? [])
          expect([typeof what, Number.isSafeInteger(count), typeof done]).toEqual(['string', true, 'string']);
      }),
    );
  });
});
