/** What conversions under way may still move, in the units of the limits: never less than it is. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PendingConversions } from '../../../src/core/accounting/pendingConversions.ts';
import { money, moneyOf } from '../../../src/core/index.ts';
import { btcMxn } from '../market.ts';

const sums = fc.array(fc.bigInt({ min: 1n, max: 10n ** 20n }), { maxLength: 6 });
const total = (all: readonly bigint[]): bigint => all.reduce((sum, one) => sum + one, 0n);

describe('conversions in flight', () => {
  test('are counted in lots that hold all of them, and in none more, on both sides', () => {
    fc.assert(
      fc.property(sums, sums, fc.constantFrom('in flight', 'planned'), (bought, sold, phase) => {
        const inFlight = new PendingConversions();
        const hear = (id: string, give: string, get: string, major: bigint): void => {
          const of = (currency: string) => ({ currency, amount: currency === 'btc' ? money(major) : moneyOf('1') });
          inFlight.apply({ kind: 'conversion', at: 0, phase, conversion: { id, give: of(give), get: of(get) } });
        };
        bought.forEach((major, n) => hear(`b${n}`, 'mxn', 'btc', major));
        sold.forEach((major, n) => hear(`s${n}`, 'btc', 'mxn', major));
        const lots = inFlight.lots(btcMxn);
        for (const [count, sum] of [
          [lots.buy, total(bought)],
          [lots.sell, total(sold)],
        ] as const) {
          expect(BigInt(count) * btcMxn.lotMoney).toBeGreaterThanOrEqual(sum);
          expect(BigInt(count - 1) * btcMxn.lotMoney).toBeLessThan(sum === 0n ? 0n : sum);
        }
        expect(inFlight.amountPending('btc')).toBe(total(sold));
        expect(inFlight.isEmpty).toBe(phase === 'planned' || bought.length + sold.length === 0);
      }),
    );
  });
});
