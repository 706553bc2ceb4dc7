/** A state that was written in other ticks or lots than the book has now: what is left of it means the same, or is refused by name. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  instrumentOf,
  money,
  moneyOf,
  moneyOfAmount,
  storedTarget,
  targetMoney,
  type Amount,
  type Price,
  type RestoredLedger,
  type RestoredOrder,
} from '../../../src/core/index.ts';
import { inUnitsOf } from '../../../src/live/state/unitConversion.ts';
import { bookRules } from '../../core/market.ts';

const power = (decimals: number): string => (decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`);
const units = fc
  .record({ tick: fc.integer({ min: 0, max: 8 }), lot: fc.integer({ min: 0, max: 8 }) })
  .map(({ tick, lot }) => ({ tick: power(tick), lot: power(lot) }));
const bookIn = ({ tick, lot }: { readonly tick: string; readonly lot: string }) =>
  instrumentOf(bookRules({ tickSize: tick, minimumAmount: lot }), lot);

const orders = fc.array(
  fc.record({
    side: fc.constantFrom('buy' as const, 'sell' as const),
    price: fc.integer({ min: 1, max: 1_000_000 }),
    amount: fc.integer({ min: 1, max: 1_000_000 }),
    share: fc.integer({ min: 0, max: 10 }),
    /** Tenths of a lot that an earlier change of the lot left, if there was one. */
    rest: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
  }),
  { maxLength: 4 },
);
const leftOf = (list: readonly RestoredOrder[], target: number, targetRest = money(0n)) => ({
  ...{ orders: list, marker: undefined, hedges: [], transfers: null, profit: null, units: null },
  ledger: { target: target as Amount, ...(targetRest === 0n ? {} : { targetRest }) } as RestoredLedger,
});

describe('what an earlier run left', () => {
  it('is never less exposure than it was, and its fills and its target are exact, at the first and the next change of the book’s units', () => {
    fc.assert(
      fc.property(
        units,
        units,
        orders,
        fc.bigInt({ min: -(10n ** 21n), max: 10n ** 21n }),
        (written, now, list, target) => {
          const [from, to] = [bookIn(written), bookIn(now)];
          const before = list.map(({ side, price, amount, share, rest }, n): RestoredOrder => ({
            ...{ id: `a-1-${n}`, side, price: price as Price, amount: amount as Amount, oid: null, at: 0 },
            filled: Math.floor((amount * share) / 10) as Amount,
            ...(rest === undefined ? {} : { filledRest: money((from.lotMoney * BigInt(rest)) / 10n) }),
          }));
          const { target: whole, targetRest } = storedTarget(from, money(target));
          const { orders: after, ledger } = inUnitsOf(leftOf(before, whole, targetRest), written, to);
          after.forEach((order, n) => {
            const was = before[n]!;
            const [priceThen, priceNow] = [BigInt(was.price) * from.tickMoney, BigInt(order.price) * to.tickMoney];
            if (was.side === 'buy') expect(priceNow >= priceThen && priceNow - priceThen < to.tickMoney).toBe(true);
            else expect(priceNow <= priceThen && priceThen - priceNow < to.tickMoney).toBe(true);
            const more = moneyOfAmount(to, order.amount) - moneyOfAmount(from, was.amount);
            expect(more >= 0n && more < to.lotMoney).toBe(true);
            const filledThen = moneyOfAmount(from, was.filled) + (was.filledRest ?? 0n);
            expect(moneyOfAmount(to, order.filled) + (order.filledRest ?? 0n)).toBe(filledThen);
            expect(order.filledRest ?? 0n).toBeLessThan(to.lotMoney);
          });
          expect(targetMoney(to, ledger)).toBe(target);
          const rest = ledger.targetRest ?? 0n;
          expect(rest > -to.lotMoney && rest < to.lotMoney && 'targetRest' in ledger === (rest !== 0n)).toBe(true);
        },
      ),
    );
  });

  it('of an older Puntas, which kept no units, was counted in units of 10^-8', () => {
    const order: RestoredOrder = {
      ...{ id: 'a-1-1', side: 'buy', price: 5 as Price, amount: 150_000_000 as Amount, oid: null, at: 0 },
      filled: 50_000_001 as Amount,
    };
    const { orders: after } = inUnitsOf(leftOf([order], 0), null, bookIn({ tick: '1', lot: '0.1' }));
    expect(after).toMatchObject([{ price: 5, amount: 15, filled: 5, filledRest: moneyOf('0.00000001') }]);
  });

  it('of several books has the target that it had, because such a target counts no lots', () => {
    const { ledger } = leftOf([], 7);
    const left = { ...leftOf([], 7), ledger: { ...ledger, symbol: 'btc_mxn' } };
    expect(inUnitsOf(left, { tick: '1', lot: '0.1' }, bookIn({ tick: '1', lot: '0.01' })).ledger).toEqual(left.ledger);
    const one = inUnitsOf(leftOf([], 7), { tick: '1', lot: '0.1' }, bookIn({ tick: '1', lot: '0.01' }));
    expect(one.ledger.target).toBe(70);
  });

  it('has no target that the units cannot count: it is refused by its amount', () => {
    const convert = (target: number) => () =>
      inUnitsOf(leftOf([], target), { tick: '1', lot: '1' }, bookIn({ tick: '1', lot: '0.00000001' }));
    expect(convert(90_071_992)).not.toThrow();
    expect(convert(90_071_993)).toThrow(
      'the inventory target in the ledger, 90071993, cannot be expressed in lots of 0.00000001',
    );
    expect(convert(-90_071_993)).toThrow('-90071993, cannot be expressed in lots');
  });

  it('that the units cannot count is refused with the name of the order', () => {
    const order: RestoredOrder = {
      ...{ id: 'a-1-1', side: 'buy', price: 5 as Price, amount: 9e15 as Amount, filled: 0 as Amount, oid: null, at: 0 },
    };
    const convert = () =>
      inUnitsOf(leftOf([order], 0), { tick: '1', lot: '0.1' }, bookIn({ tick: '1', lot: '0.00000001' }));
    expect(convert).toThrow(/order a-1-1 .*900000000000000/);
  });
});
