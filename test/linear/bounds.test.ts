/** Texts from outside are measured before they are read: what no parser reads quickly is refused by a count of its signs, never by a clock. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readYaml } from '../../src/config/text/yamlText.ts';
import { maskedText, shortDecimal, trimmedEnd } from '../../src/core/index.ts';
import { parseExactJson } from '../../src/exchange/wire/json.ts';
import { readingOf } from '../../src/live/market/feed.ts';
import { matchesStars } from '../../src/tape/import/mapping/mapped.ts';

const MEBI = 1024 * 1024;
const filled = (start: string, unit: string, end: string, length = MEBI): string =>
  start + unit.repeat(Math.floor((length - start.length - end.length) / unit.length)) + end;

describe('JSON of the exchange', () => {
  test.each([
    ['levels of lists', '['.repeat(MEBI / 2) + ']'.repeat(MEBI / 2), /more than 32 nested levels/],
    ['levels of objects', filled('', '{"a":', '0'), /more than 32 nested levels/],
    ['elements', filled('[', '0,', '0]'), /more than 100000 parts/],
    ['empty objects', filled('[', '{},', '{}]'), /more than 100000 parts/],
    ['long numbers', filled('[', '123456789012345678,', '1]'), /more than 10000 numbers longer than 15 characters/],
    ['members', `{${Array.from({ length: 5_000 }, (_, i) => `"k${i}":0`).join()}}`, /more than 4096 members/],
  ])('with too many %s is refused before it is parsed', (_, text, why) =>
    expect(() => parseExactJson(text)).toThrow(why),
  );

  test('of an order book with 6,000 orders and of 32 levels is read', () => {
    const order = { book: 'btc_mxn', price: '1234567.89', amount: '0.12345678', oid: 'abcdefghijklmnop' };
    const bids = Array.from({ length: 6_000 }, () => order);
    expect(parseExactJson(JSON.stringify({ success: true, payload: { bids } }))).toEqual({
      success: true,
      payload: { bids },
    });
    const deep = filled('', '[', '', 32) + '"x"'.padEnd(20_000) + ']'.repeat(32);
    expect(parseExactJson(deep)).toEqual(JSON.parse(deep));
  });
});

describe('YAML', () => {
  test.each([
    ['lists in lists', `a: ${'['.repeat(20_000)}`],
    ['anchors', `a: ${'&a '.repeat(20_000)}`],
    ['tags', `a: ${'!a '.repeat(20_000)}`],
    ['aliases', `a: &a [1]\nb: [${'*a,'.repeat(20_000)}]`],
    ['keys without a value', '? '.repeat(30_000)],
    ['dashes', '- '.repeat(30_000)],
    ['lines', 'a: b\n'.repeat(10_000)],
    ['characters', `a: ${'b'.repeat(70_000)}`],
  ])('with too many %s is refused before it is parsed', (_, text) => {
    const read = readYaml(text, 'bot.yaml', 'book: btc_mxn');
    expect(read).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^bot\.yaml: (?:larger|more) than \d+ /) as string,
    });
  });
});

describe('a price feed', () => {
  test('reads no time of more signs than a time has, and the times that it read before', () => {
    const format = { price: ['/p'], time: '/t' };
    const read = (t: string) => readingOf(JSON.stringify({ p: 1, t }), format, 1_000, 0);
    expect(read(`${'1T'.repeat(30_000)}Z`)).toMatchObject({ kind: 'failed' });
    for (const time of ['1970-01-01T00:00:01Z', '1970-01-01 00:00:00.5+00:00', '1970-01-01t00:00:01z'])
      expect(read(time)).toMatchObject({ kind: 'price' });
  });
});

describe('what took the place of patterns of quadratic time', () => {
  const zeros = fc.string({ unit: fc.constantFrom('0', '0', '1'), minLength: 1 });
  test('shortens decimals as the pattern did', () => {
    fc.assert(
      fc.property(zeros, zeros, (whole, fraction) => {
        expect(trimmedEnd(whole, '0')).toBe(whole.replace(/0+$/, ''));
        expect(shortDecimal(whole)).toBe(whole);
        expect(shortDecimal(`${whole}.${fraction}`)).toBe(`${whole}.${fraction}`.replace(/\.?0+$/, ''));
      }),
    );
  });

  test('matches stars in names of files as the pattern did', () => {
    const unit = fc.constantFrom('a', 'b', '*');
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 6 }),
        fc.string({ unit: fc.constantFrom('a', 'b') }),
        (pattern, text) => {
          const escaped = pattern.split('*').join('.*');
          expect(matchesStars(pattern, text)).toBe(new RegExp(`^${escaped}$`).test(text));
        },
      ),
    );
  });

  test('masks every Authorization header that the pattern masked', () => {
    const former =
      /\b([a-z]+)(?:\s|%20|\+)+[^\s:"]+?(?::|%3A)(?:\d{10,}(?::|%3A)[^\s"'\\,;]*|\d+(?::|%3A)[^\s"'\\,;]{16,})/gi;
    const parts = fc.constantFrom(
      ...['Bitso', ' ', '+', '%20', 'key1', ':', '%3A', '1234567890123', '12', 'fedcba9876543210', '"', ',', '=', '/'],
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 14 }), list => {
        const text = list.join('');
        const masked = maskedText(text, []);
        for (const [found] of text.matchAll(former)) {
          const value = found.slice(found.search(/(?::|%3A)\d+(?::|%3A)/i));
          expect(masked.includes(value), `${text} became ${masked}`).toBe(false);
        }
      }),
      // The separators of a scheme may be mixed.
      { numRuns: 2_000, examples: [[['Bitso', '+', ' ', 'Bitso', '%3A', '1234567890123', '%3A']]] },
    );
  });
});
