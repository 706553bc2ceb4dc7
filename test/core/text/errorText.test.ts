import { readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textOfError } from '../../../src/core/index.ts';
import { sourcesIn } from '../../imports.ts';

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

test.each([
  ['a folder that is not there', () => readdirSync('/nowhere/state'), 'no such file or directory (/nowhere/state)'],
  ['a folder in the place of a file', () => readFileSync('/'), /^illegal operation on a directory/],
  ['a file in the place of a folder', () => writeFileSync('/dev/null/a', ''), 'not a directory (/dev/null/a)'],
  ['a folder that does not exist', () => rmdirSync('/nowhere'), 'no such file or directory (/nowhere)'],
])('an error of the file system has neither the name of its code nor that of the system call: %s', (_, call, text) => {
  let thrown: unknown = null;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  const { code, syscall } = thrown as { readonly code: string; readonly syscall: string };
  const told = textOfError(thrown);
  expect(told).toMatch(text);
  for (const name of [code, syscall]) expect(told).not.toContain(name);
});

test('what a command, the app or the wiring says about an error never has the raw message of the system', () => {
  const rooms = ['src/app', 'src/cli', 'src/messages', 'src/wiring', 'backtest/app', 'backtest/commands'];
  const files = rooms.flatMap(sourcesIn);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter(({ text }) => /\berror\.message : String\(error\)/.test(text)).map(({ path }) => path)).toEqual(
    [],
  );
});
