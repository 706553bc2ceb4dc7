/** Renamed keys of JSON output: the old name is there too, with the same value. */
import { readFileSync } from 'node:fs';
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

/** Types of what consoles, fleet and status print; a time span in them has its unit in its name. */
const PRINTED = [
  ...['src/console/page/view.ts', 'src/console/page/fleet/fleetView.ts', 'src/console/summary.ts'],
  ...['src/app/inspect/botLife.ts', 'src/app/actions/botStatus.ts'],
];
/** Fields with a time span and no unit. */
const unitless = (text: string) =>
  [...text.matchAll(/readonly (\w*(?:Ago|Age|Lag|Delay)|ago|age|lag)\??: (?:number|Millis)/g)].map(([, name]) => name);

test('no time span in printed JSON is without its unit', () => {
  for (const file of PRINTED)
    expect(unitless(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))).toEqual([]);
  expect(unitless('readonly beatAgo: Millis | null; readonly ago: number; readonly agoMs: number')).toEqual([
    'beatAgo',
    'ago',
  ]);
});
