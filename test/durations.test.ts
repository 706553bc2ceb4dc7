/** A measured or computed duration is rounded where a message prints it: 31.8 s, never 31.79477734375 s. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textInSeconds } from '../src/core/index.ts';
import { between } from './draws.ts';
import { sourcesIn } from './imports.ts';

/** Milliseconds that a template divides and prints as seconds, without a rounding call around the division. */
const UNROUNDED = /\$\{([\w.]+) \/ 1_?000\} s\b/g;
/** Constants of the program are whole or half seconds. */
const CONSTANT = /^[A-Z][A-Z_]*(?:\.\w+)?$/;
/** Whole seconds by construction, in places without the shared text. */
const WHOLE: readonly string[] = [
  // A constant of each caller.
  'src/app/actions/strategyPreview.ts runMaxMs',
  // The limits of calls are constants of their callers, and the module is loaded before all others.
  'strategies/ownFiles/callLimit.ts maxMs',
];

test('no message prints an unrounded duration', () => {
  const found = ['src', 'backtest', 'strategies'].flatMap(folder =>
    sourcesIn(folder).flatMap(({ path, text }) =>
      [...text.matchAll(UNROUNDED)]
        .map(([, name]) => name!)
        .flatMap(name => (CONSTANT.test(name) ? [] : [`${path} ${name}`])),
    ),
  );
  expect(found.filter(one => !WHOLE.includes(one))).toEqual([]);
  expect(WHOLE.filter(one => !found.includes(one))).toEqual([]);
});

test('the text of a duration is near it, short, and exact for whole seconds', () => {
  fc.assert(
    fc.property(between(0, 90_000_000), fc.nat(90_000), (ms, seconds) => {
      const [, number] = /^(\d+(?:\.\d{1,3})?) s$/.exec(textInSeconds(ms))!;
      expect(Math.abs(Number(number) * 1_000 - ms)).toBeLessThanOrEqual(ms < 10_000 ? 0.51 : 50.1);
      expect(textInSeconds(1_000 * seconds)).toBe(`${seconds} s`);
    }),
  );
  expect([31_794.777_343_75, 25, 9_999.9999].map(textInSeconds)).toEqual(['31.8 s', '0.025 s', '10 s']);
});
