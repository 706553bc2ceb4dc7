/** Renamed keys of JSON output: the old name is there too, with the same value. */
import { expect, test } from 'vitest';
import { jsonWithOldNames } from '../../src/messages/oldNames.ts';

test('a renamed key has both names, at every depth, and nothing else is changed', () => {
  const value = {
    bot: { state: 'runs', beatAgoMs: 5, writtenAgoMs: null },
    bots: [{ heardAgoMs: 1, lastFill: { agoMs: 2, price: '7' } }, null],
    sums: [],
    text: 'agoMs',
  };
  expect(JSON.parse(jsonWithOldNames(value))).toEqual({
    ...value,
    bot: { ...value.bot, beatAgo: 5, writtenAgo: null },
    bots: [{ heardAgoMs: 1, heardAgo: 1, lastFill: { agoMs: 2, ago: 2, price: '7' } }, null],
  });
});
