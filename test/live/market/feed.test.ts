import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readingOf } from '../../../src/live/market/feed.ts';

const NOW = 1_790_000_000_000;
const PLAIN = { price: [] };
const LAST = { price: ['/data/last'] };
const TIMED = { price: ['/p'], time: '/t' };

describe('the text of a feed', () => {
  test.each<[string, string, Parameters<typeof readingOf>[1], number, number]>([
    ['is one plain number', ' 1850000.25\n', PLAIN, 1_850_000.25, 40],
    ['has a number at a pointer', '{"data":{"last":18.5}}', LAST, 18.5, 40],
    ['has decimal text at a pointer', '{"data":{"last":"18.50"}}', LAST, 18.5, 40],
    [
      'has bid and ask, whose middle counts',
      '{"bids":[["10"]],"asks":[["12"]]}',
      { price: ['/bids/0/0', '/asks/0/0'] },
      11,
      40,
    ],
    ['has keys with a slash and a tilde', '{"a/b":{"~":3}}', { price: ['/a~1b/~0'] }, 3, 40],
    ['says its time in ISO', `{"p":1,"t":"${new Date(NOW - 5_000).toISOString()}"}`, TIMED, 1, 5_000],
    ['says its time in seconds', `{"p":1,"t":${NOW / 1e3 - 7}}`, TIMED, 1, 7_000],
    ['says its time in milliseconds, as text', `{"p":1,"t":"${NOW - 9}"}`, TIMED, 1, 9],
    ['says its time in nanoseconds', `{"p":1,"t":${(NOW - 2_000) * 1e6}}`, TIMED, 1, 2_000],
    ['may be a little ahead of our clock', `{"p":1,"t":${NOW + 4_000}}`, TIMED, 1, 0],
  ])('%s', (_, text, format, price, ageMs) => {
    const sides = format.price.length === 2 ? { bid: 10, ask: 12 } : {};
    expect(readingOf(text, format, NOW, NOW - 40)).toEqual({ kind: 'price', price, ageMs, ...sides });
  });

  test.each<[string, Parameters<typeof readingOf>[1], string]>([
    ['', PLAIN, 'expected one plain number, found nothing'],
    ['NaN', PLAIN, 'expected one plain number, found "NaN"'],
    ['-3', PLAIN, 'expected one plain number, found "-3"'],
    ['1e5', PLAIN, 'expected one plain number, found "1e5"'],
    ['1,850', PLAIN, 'expected one plain number, found "1,850"'],
    ['0.00', PLAIN, 'expected a price above zero, found 0'],
    [
      '<!DOCTYPE html>\n<html><body>Sign in to the hotel</body>',
      PLAIN,
      'expected one plain number, found "<!DOCTYPE html> <html><body>Sign in t..."',
    ],
    ['<html>', LAST, 'expected JSON, found "<html>"'],
    ['{"data":{"last":', LAST, 'expected JSON, found "{\\"data\\":{\\"last\\":"'],
    ['{"data":{}}', LAST, 'expected a price above zero at /data/last, found nothing'],
    ['{"data":{"last":-5}}', LAST, 'expected a price above zero at /data/last, found "-5"'],
    ['{"data":{"last":"NaN"}}', LAST, 'expected a price above zero at /data/last, found "NaN"'],
    ['{"data":{"last":1e999}}', LAST, 'expected a price above zero at /data/last, found "Infinity"'],
    ['{"data":{"last":{}}}', LAST, 'expected a price above zero at /data/last, found an object or a list'],
    ['null', LAST, 'expected a price above zero at /data/last, found nothing'],
    [
      '{"p":1}',
      { price: ['/__proto__/toString'] },
      'expected a price above zero at /__proto__/toString, found nothing',
    ],
    ['{"p":1,"t":"2026-09-21 13:33"}', TIMED, 'expected a time at /t, found "2026-09-21 13:33"'],
    ['{"p":1,"t":-1}', TIMED, 'expected a time at /t, found "-1"'],
    [`{"p":1,"t":${NOW + 60_000}}`, TIMED, 'the time of the price is 60 s in the future'],
  ])('%j is no price, and says why', (text, format, why) => {
    expect(readingOf(text, format, NOW, NOW)).toEqual({ kind: 'failed', why });
  });

  test('whatever it is, is a price above zero of some age or one short line', () => {
    const texts = fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' }), fc.double().map(String));
    const formats = fc.constantFrom(PLAIN, LAST, TIMED, { price: ['/0', '/1'] });
    fc.assert(
      fc.property(texts, formats, (text, format) => {
        const reading = readingOf(text, format, NOW, NOW);
        if (reading.kind === 'price') {
          expect(reading.price > 0 && reading.price < Infinity && reading.ageMs >= 0).toBe(true);
        } else {
          expect(reading.why.length).toBeLessThan(400);
          expect(reading.why).not.toMatch(/\p{Cc}/u);
        }
      }),
      { numRuns: 300 },
    );
  });
});
