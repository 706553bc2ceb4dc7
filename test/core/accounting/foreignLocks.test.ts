/** What others of the account have locked: the exchange's figure beyond what our own live orders hold. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moneyOf, type Side } from '../../../src/core/index.ts';
import { Orders } from '../../../src/core/orders/orders.ts';
import { lockedByOthers, lockedSince } from '../../../src/core/accounting/foreignLocks.ts';
import { PATIENCE, ToyExchange } from '../toyExchange.ts';
import { plain } from '../market.ts';

const op = fc.record({
  what: fc.constantFrom('place', 'take', 'fill', 'cancel', 'end with a trade that no list shows'),
  side: fc.constantFrom<Side>('buy', 'sell'),
  price: fc.integer({ min: 1, max: 1_000 }),
  lots: fc.integer({ min: 1, max: 50 }),
  which: fc.nat(7),
});
type Op = typeof op extends fc.Arbitrary<infer T> ? T : never;
const ops = fc.array(op, { maxLength: 8 });

/** Orders at the exchange, of which the bot learns each change at once. */
class Book {
  now = 0;
  readonly orders = new Orders(plain, PATIENCE, () => undefined);
  readonly #live: { id: string; side: Side; price: number; amount: number; filled: number }[] = [];
  #count = 0;

  apply({ what, side, price, lots, which }: Op): void {
    const { orders } = this;
    const at = ++this.now;
    if (what === 'place' || what === 'take') {
      const id = `mm-1-${++this.#count}`;
      orders.intend(id, side, price as never, lots as never, at, { takes: what === 'take' });
      orders.sent(id);
      orders.answered(id, { kind: 'done', value: { oid: `oid-${id}` } }, false, at);
      this.#live.push({ id, side, price, amount: lots, filled: 0 });
      return;
    }
    const order = this.#live[which % this.#live.length];
    if (order === undefined) return;
    const left = order.amount - order.filled;
    const part = Math.min(lots, left);
    const end = () => void this.#live.splice(this.#live.indexOf(order), 1);
    if (what === 'fill') {
      order.filled += part;
      orders.filled(order.id, `oid-${order.id}`, part as never, at);
      if (order.filled === order.amount) end();
      return;
    }
    const unfilled = what === 'cancel' ? left : left - part;
    const report = {
      ...{ book: plain.symbol, oid: `oid-${order.id}`, originId: order.id, side: order.side, type: 'limit' as const },
      ...{ status: 'cancelled' as const, createdAt: 0, price: `${order.price}` },
      ...{ originalAmount: `${order.amount}`, unfilledAmount: `${unfilled}` },
    };
    orders.lookedUp([order.id], [report], at, at);
    end();
  }

  /** Answer to a balance read of which others have locked some, in mxn and btc. */
  balances([minor, major]: readonly [number, number]) {
    for (const { side, price, amount, filled } of this.#live) {
      if (side === 'buy') minor += (amount - filled) * price;
      else major += amount - filled;
    }
    const row = (currency: string, locked: number) => ({
      ...{ currency, total: '1000000', locked: String(locked), available: '0' },
    });
    return [row('mxn', minor), row('btc', major), row('usd', 7)];
  }
}

const bid = { side: 'buy', price: 100, which: 0 } as const;
const PLACED = { ...bid, what: 'place', lots: 10 } as const;
/** A bid that ends or is filled in part after the answer, and one of which a part was filled before. */
const examples: [Op[], Op[], Op[], [number, number]][] = [
  ...(['place', 'take'] as const).flatMap(placed =>
    (['fill', 'cancel', 'end with a trade that no list shows'] as const).map(
      (what): [Op[], Op[], Op[], [number, number]] => [
        [{ ...PLACED, what: placed }],
        [],
        [{ ...bid, what, lots: 4 }],
        [0, 0],
      ],
    ),
  ),
  [[PLACED, { ...bid, what: 'fill', lots: 4 }], [], [], [5_000, 0]],
];

describe('what others have locked', () => {
  it('is what is locked less our own orders, also those that end before the answer is applied, and never below nothing', () => {
    fc.assert(
      fc.property(ops, ops, ops, fc.tuple(fc.nat(50_000), fc.nat(300)), (earlier, before, after, others) => {
        const book = new Book();
        for (const each of earlier) book.apply(each);
        const startedAt = ++book.now;
        for (const each of before) book.apply(each);
        const balances = book.balances(others);
        for (const each of after) book.apply(each);
        const found = lockedByOthers(lockedSince(plain, book.orders, startedAt), balances);
        for (const [i, currency] of (['mxn', 'btc'] as const).entries()) {
          const all = moneyOf(String(others[i]));
          const locked = found.get(currency)!;
          expect(locked).toBeGreaterThanOrEqual(0n);
          if (before.length + after.length === 0) expect(locked).toBe(all);
          else expect(locked).toBeLessThanOrEqual(all);
        }
      }),
      { examples },
    );
  });

  it('takes no funds from the bot, which replaces an order that ended while the balances were read', () => {
    for (const [end, mxn] of [
      ['filled', 25_000],
      ['canceled', 15_000],
    ] as const) {
      const toy = new ToyExchange().open({ btc: 100, mxn });
      toy.rounds(2);
      const bids = () => toy.live.filter(({ side }) => side === 'buy');
      const [ended] = bids();
      const startedAt = ++toy.now;
      const locked = String(ended!.price * ended!.amount);
      // The book is too old, so the bot quotes again only after the balances.
      toy.now += 4_000;
      const isFilled = end === 'filled';
      if (isFilled) toy.fill(ended!.id, ended!.amount);
      else ended!.isLive = false;
      const outcome = { kind: 'done', value: [toy.report(ended!)] } as const;
      toy.step({ kind: 'looked up', at: toy.now, startedAt: toy.now, ids: [ended!.id], outcome });
      toy.readPrivate();
      const total = `${mxn - toy.traded.paid}`;
      const balances = [
        { currency: 'mxn', total, locked, available: '0' },
        { currency: 'btc', total: `${100 + toy.traded.lots}`, locked: '0', available: '0' },
      ];
      toy.step({ kind: 'balances', at: toy.now, startedAt, quiet: !isFilled, balances });
      expect(bids()).toEqual([]);
      toy.rounds(20);
      expect([end, bids().map(({ amount }) => amount)]).toEqual([end, [ended!.amount]]);
    }
  });

  it('is nothing in a currency of which the exchange reports no balance', () => {
    expect([...lockedByOthers(new Map([['btc', moneyOf('1')]]), []).values()]).toEqual([0n]);
  });
});
