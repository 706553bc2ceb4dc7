/** What others of the account have locked: the exchange's figure beyond what our own live orders hold. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moneyOf, textOfMoney, type Order, type OrderState, type Side } from '../../../src/core/index.ts';
import { lockedByOrders, lockedByOthers } from '../../../src/core/accounting/foreignLocks.ts';
import { plain } from '../market.ts';

const states = ['sending', 'open', 'partially filled', 'canceling', 'unknown', 'closed-unsettled', 'done'] as const;
const order = fc
  .record({
    side: fc.constantFrom<Side>('buy', 'sell'),
    price: fc.integer({ min: 1, max: 1_000 }),
    amount: fc.integer({ min: 1, max: 50 }),
    filled: fc.nat(49),
    state: fc.constantFrom<OrderState>(...states),
  })
  .map(of => ({ ...of, filled: Math.min(of.filled, of.amount - 1) }) as Order);

describe('what others have locked', () => {
  it('is what is locked less what is left of our own live orders, and never below nothing', () => {
    fc.assert(
      fc.property(fc.array(order, { maxLength: 8 }), fc.nat(50_000), fc.nat(300), (orders, minor, major) => {
        const held = { buy: 0, sell: 0 };
        for (const { side, price, amount, filled, state } of orders) {
          if (state === 'closed-unsettled' || state === 'done') continue;
          held[side] += (amount - filled) * (side === 'buy' ? price : 1);
        }
        const row = (currency: string, locked: number) => ({
          ...{ currency, total: '1000000', locked: String(locked), available: '0' },
        });
        const own = lockedByOrders(plain, orders);
        const locked = lockedByOthers(own, [row('mxn', minor), row('btc', major), row('usd', 7)]);
        expect(locked.get('mxn')).toBe(moneyOf(String(Math.max(0, minor - held.buy))));
        expect(textOfMoney(locked.get('btc')!)).toBe(String(Math.max(0, major - held.sell)));
      }),
    );
  });

  it('is nothing in a currency of which the exchange reports no balance', () => {
    expect([...lockedByOthers(new Map([['btc', moneyOf('1')]]), []).values()]).toEqual([0n]);
  });
});
