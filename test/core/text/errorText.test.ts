import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textOfError } from '../../../src/core/index.ts';

test.each([
  [new Error('no room'), 'no room'],
  ['no room', 'no room'],
  [{ message: 'no room', code: 'SQLITE_FULL' }, 'no room'],
  [{ code: 'SQLITE_FULL' }, 'SQLITE_FULL'],
  [{ rawCode: 13 }, '{"rawCode":13}'],
  [undefined, 'undefined'],
  [7n, '7'],
  [{ toJSON: () => undefined }, 'an error without a message was thrown'],
  [{ n: 7n }, 'an error without a message was thrown'],
])('what was thrown is told as %#', (thrown, text) => expect(textOfError(thrown)).toBe(text));

test('whatever is thrown, also what lost its class between two threads, has words', () => {
  fc.assert(
    fc.property(fc.anything(), thrown => {
      const text = textOfError(thrown);
      expect(typeof text).toBe('string');
      expect(text).not.toBe('[object Object]');
    }),
  );
});
