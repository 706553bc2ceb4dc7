/** What conversions under way may still move, in the units of the limits: never less than it is. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PendingConversions } from '../../../src/core/accounting/pendingConversions.ts';
import { money, moneyOf, type Conversion, type ConversionEvent } from '../../../src/core/index.ts';
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
        expect(inFlight.inFlight).toBe(phase === 'planned' ? 0 : bought.length + sold.length);
      }),
    );
  });
});

const event = fc.record({
  id: fc.constantFrom('a', 'b', 'c'),
  phase: fc.constantFrom<ConversionEvent['phase']>('planned', 'in flight', 'in flight', 'done', 'failed'),
  isBought: fc.boolean(),
  ...{ give: fc.bigInt({ min: 1n, max: 3n }), get: fc.bigInt({ min: 4n, max: 6n }) },
});

describe('conversions that may be carried out', () => {
  test('count until their outcome is known, in both currencies, and alone in flight one explains exactly its two legs', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 8 }), events => {
        const pending = new PendingConversions();
        const known = new Map<string, { phase: string; conversion: Conversion }>();
        for (const { id, phase, isBought, give, get } of events) {
          const [from, to] = isBought ? ['mxn', 'btc'] : ['btc', 'mxn'];
          const conversion = {
            id,
            give: { currency: from, amount: money(give * btcMxn.lotMoney) },
            get: { currency: to, amount: money(get * btcMxn.lotMoney) },
          };
          pending.apply({ kind: 'conversion', at: 1.7e12, phase, conversion });
          known.set(id, { phase, conversion });

          const all = [...known.values()].filter(one => one.phase === 'planned' || one.phase === 'in flight');
          const inFlight = all.filter(one => one.phase === 'in flight').map(one => one.conversion);
          const legs = (leg: 'give' | 'get', currency: string) =>
            total(all.map(one => (one.conversion[leg].currency === currency ? one.conversion[leg].amount : 0n)));
          expect(pending.inFlight).toBe(inFlight.length);
          expect([pending.amountPending('btc'), pending.amountPending('mxn')]).toEqual([
            legs('give', 'btc'),
            legs('give', 'mxn'),
          ]);
          expect(pending.lots(btcMxn)).toEqual({
            buy: Number(legs('get', 'btc') / btcMxn.lotMoney),
            sell: Number(legs('give', 'btc') / btcMxn.lotMoney),
          });

          const isOnlyOne = inFlight.length === 1;
          const one = inFlight[0] ?? conversion;
          const left = { currency: one.give.currency, difference: money(-one.give.amount) };
          const came = { currency: one.get.currency, difference: one.get.amount };
          expect(pending.explainDifferences([])).toBe(true);
          expect(pending.explainDifferences([left, came])).toBe(isOnlyOne);
          expect(pending.explainDifferences([came, left])).toBe(isOnlyOne);
          if (!isOnlyOne) continue;
          const off = ({ currency, difference }: typeof left) => ({ currency, difference: money(difference + 1n) });
          const other = (leg: typeof left) => ({ ...leg, currency: 'usd' });
          for (const differences of [
            ...[[left], [came], [left, left], [came, came], [left, came, other(came)]],
            ...[
              [off(left), came],
              [left, off(came)],
              [other(left), came],
              [left, other(came)],
            ],
            [
              { ...left, difference: one.give.amount },
              { ...came, difference: money(-one.get.amount) },
            ],
          ])
            expect(pending.explainDifferences(differences)).toBe(false);
        }
      }),
      { numRuns: 60 },
    );
  });
});
