/** Opening balances of the account of a backtest: neither side is empty because of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { simulatedAccountOf } from '../../../../backtest/app/backtest/backtest.ts';
import { moneyOf, moneyOfAmount, textOfMoney, type Amount } from '../../../../src/core/index.ts';
import { sandboxConfig } from '../../../live/world.ts';
import { instrument } from '../../../strategies/examples.ts';

const lots = (min: number) => fc.integer({ min, max: 1_000_000_000 }).map(n => moneyOfAmount(instrument, n as Amount));

test('a remote account begins at its target, or in the middle of its limit, with the money for bids up to the limit', () => {
  const { exchange: _, inventory: __, ...shipped } = sandboxConfig({}, 'live');
  fc.assert(
    fc.property(
      lots(1),
      fc.option(lots(0)),
      fc.integer({ min: 1_000, max: 3_000_000 }),
      (positionMax, target, ticks) => {
        const config = {
          ...shipped,
          exchange: { kind: 'remote' },
          limits: { ...shipped.limits, positionMax: textOfMoney(positionMax) },
          inventory: target === null ? {} : { target: textOfMoney(target) },
        } as unknown as Parameters<typeof simulatedAccountOf>[0];
        const { balances } = simulatedAccountOf(config, instrument, ticks) as { balances: Record<string, string> };
        const [major, minor] = [moneyOf(balances[instrument.major]!), moneyOf(balances[instrument.minor]!)];
        if (target === null) expect(major).toBeGreaterThanOrEqual(positionMax);
        else expect(major).toBe(target);
        const price = BigInt(ticks) * instrument.tickMoney;
        expect(minor * 10n ** 18n).toBeGreaterThanOrEqual(positionMax * price);
      },
    ),
  );
});
