/** The example of a strategy with a memory of trades and a step of its own: it does what the page says, and the page shows it as it stands. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { amount, price, type Side } from '../../src/core/index.ts';
import { totalOf } from '../../strategies/quoteLevels.ts';
import { spreadParameters } from '../../strategies/fixedSpread.ts';
import { instrument, MID, viewOf } from './examples.ts';
import { followingTakers } from './ownStep.ts';

const parameters = {
  ...z.strictObject(spreadParameters).parse({ halfSpreadBps: 20, levels: 2, amount: '0.01' }),
  bpsAtFullFlow: 6,
};
const AT = 1_700_000_000_000;

test('the example follows the takers by its own step, up to bpsAtFullFlow, and forgets them', () => {
  const strategy = followingTakers(parameters, instrument);
  const step = (at: number) => strategy.quote(viewOf({ at })).bids[0]!.why.find(({ name }) => name === 'takers')!.ticks;
  const trade = (side: Side, lots: number) =>
    strategy.trade!({ at: AT, price: price(MID), amount: amount(lots), side });
  expect(step(AT)).toBe(0);
  trade('buy', 300);
  expect(step(AT)).toBeCloseTo((6 * MID) / 10_000);
  trade('sell', 100);
  expect(step(AT)).toBeCloseTo((3 * MID) / 10_000);
  expect(step(AT + 60_000)).toBeCloseTo((3 * MID) / 10_000);
  strategy.trade!({ at: AT + 600_000, price: price(MID), amount: amount(1), side: 'sell' });
  expect(step(AT + 600_000)).toBeCloseTo((-6 * MID) / 10_000, 3);
});

test('the steps of each level add up to its price', () => {
  const strategy = followingTakers(parameters, instrument);
  strategy.trade!({ at: AT, price: price(MID), amount: amount(300), side: 'buy' });
  const { bids, asks } = strategy.quote(viewOf({ at: AT }));
  for (const level of [...bids, ...asks]) expect(totalOf(level.why)).toBe(level.price);
  expect([bids.length, asks.length]).toEqual([2, 2]);
});

test('the page shows the example as it stands', () => {
  const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const [, example] = textOf('ownStep.ts').split('// The example begins here.\n');
  expect(textOf('../../docs/development/strategies.md')).toContain(`\`\`\`ts\n${example!}\`\`\``);
});
