/** The selection of the listed transfers that are booked: by currency, those that close its difference. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { money } from '../../../src/core/index.ts';
import { explaining } from '../../../src/live/account/transferSelection.ts';
import type { ListedTransfer } from '../../../src/live/account/transferReads.ts';
import { runsOf } from '../../many.ts';

const CURRENCIES = ['mxn', 'btc', 'usd'];
const totalOf = (transfers: readonly ListedTransfer[]): bigint =>
  transfers.reduce((sum, each) => sum + each.amount, 0n);

test('what is booked closes the difference of each currency where some of its transfers do, is all that was listed late where none do, and without a difference adds up to nothing', () => {
  const listed = fc.record({
    currency: fc.constantFrom(...CURRENCIES),
    amount: fc.constantFrom(-3n, -2n, -1n, 1n, 2n, 3n),
    isEarly: fc.boolean(),
  });
  const differences = fc.tuple(...CURRENCIES.map(() => fc.constantFrom(0n, 0n, 1n, -2n, 4n, 40n)));
  fc.assert(
    fc.property(fc.array(listed, { maxLength: 12 }), differences, (drawn, by) => {
      const early = new Set<string>();
      const transfers = drawn.map(({ currency, amount, isEarly }, i): ListedTransfer => {
        if (isEarly) early.add(`t${i}`);
        return {
          id: `t${i}`,
          source: `funding t${i}`,
          cause: 'deposits',
          currency,
          amount: money(amount),
          occurredAt: i,
          why: 'a deposit',
        };
      });
      const booked = explaining(
        transfers,
        new Map(CURRENCIES.map((currency, i) => [currency, money(by[i]!)])),
        ({ id }) => early.has(id),
      );
      // Each at most once, and in the order of the lists.
      expect(booked).toEqual(transfers.filter(each => booked.includes(each)));
      for (const [i, currency] of CURRENCIES.entries()) {
        const all = transfers.filter(each => each.currency === currency);
        const late = all.filter(({ id }) => !early.has(id));
        const chosen = booked.filter(each => each.currency === currency);
        // Every sum that some of them have; of more than ten, all or the late ones alone are tried.
        const sums = new Set(all.length === 0 ? [] : [totalOf(late), totalOf(all)]);
        if (all.length <= 10)
          for (let bits = 1; bits < 2 ** all.length; bits++)
            sums.add(totalOf(all.filter((_, n) => (bits >> n) % 2 === 1)));
        const difference = by[i]!;
        if (totalOf(late) === difference) expect(chosen).toEqual(late);
        else if (difference === 0n) expect(chosen).toEqual([]);
        else if (sums.has(difference)) expect(totalOf(chosen)).toBe(difference);
        else expect(chosen).toEqual(late);
      }
    }),
    runsOf(2_000, 300),
  );
});
