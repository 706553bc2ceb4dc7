/** The panel of the other exchange: the traded amount of each hedge, and no value that is not known. */
import { expect, test } from 'vitest';
import type { ConsoleView, ShownElsewhere } from '../../../src/console/index.ts';
import { FULL_VIEW } from '../../console/hostileTexts.ts';
import { panels } from './pageText.ts';

type Hedging = NonNullable<ShownElsewhere['hedging']>;
const viewOf = (change: Partial<Hedging>): ConsoleView => {
  const elsewhere = FULL_VIEW.elsewhere!;
  return { ...FULL_VIEW, elsewhere: { ...elsewhere, hedging: { ...elsewhere.hedging!, ...change } } };
};

test.each([
  ['0.05', '0.02', 'completed', 'filled 0.02 of 0.05', 'sold 0.02'],
  ['-0.05', '-0.02', 'completed', 'filled 0.02 of 0.05', 'bought 0.02'],
  ['0.05', null, 'failed', 'no answer', 'to sell 0.05'],
  ['-0.05', null, 'executing', null, 'to buy 0.05'],
] as const)('a hedge of %s that traded %s and is %s (%s) shows: %s', async (amount, traded, state, why, says) => {
  const [first] = FULL_VIEW.elsewhere!.hedging!.last;
  const text = (await panels())('elsewherePanel', viewOf({ last: [{ ...first!, amount, traded, state, why }] }));
  expect(text).toContain(says);
  expect(text).toContain(state === 'completed' ? why : state);
});

test.each([
  [1_000, 400, 2_000, 'leads by 1.0 s (95%: 0.4 to 2.0 s)'],
  [-1_000, -2_000, -400, "follows the bot's book by 1.0 s (95%: 0.4 to 2.0 s)"],
  [-1_000, -2_000, 400, 'neither price clearly leads; lead of the source: -1.0 s (95%: -2.0 to 0.4 s)'],
])('a lead of %d ms with an interval from %d to %d ms shows: %s', async (ms, lowMs, highMs, says) => {
  const elsewhere = FULL_VIEW.elsewhere!;
  const sources = elsewhere.sources.map(source => ({ ...source, lead: { ms, lowMs, highMs, correlation: 0.5 } }));
  const text = (await panels())('elsewherePanel', { ...FULL_VIEW, elsewhere: { ...elsewhere, sources } });
  expect(text).toContain(`${says}, correlation 0.50`);
});

test('unknown amounts and an unknown drift are not shown as 0', async () => {
  const inventory = [{ exchange: 'other', base: null, quote: null, quoteCurrency: 'usdt' }];
  const text = (await panels())('elsewherePanel', viewOf({ inventory, drift: null, driftValue: null }));
  expect(text).toContain('other – – usdt');
  expect(text).toContain('drift at other: unknown');
});
