/** An account on another exchange in the engine: exact in every currency of both, and counted in inventory, limits and profit. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { money, moneyOf, textOfMoney, type HaltLimits, type Money, type Side } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { UNIT, TwoToyExchanges } from '../twoToyExchanges.ts';

/** Limits on losses that no test here reaches, so that only the position limit halts. */
const NO_HALTS = { drawdownMax: 10n ** 40n, dayLossMax: 10n ** 40n } as unknown as HaltLimits;

describe('an account on another exchange', () => {
  test('is missing until its balances are read, and its base currency is inventory', () => {
    const two = new TwoToyExchanges();
    two.toy.open({ btc: 1e9 - 500, mxn: 1e9 }).rounds(3);
    expect(two.toy.places()).toEqual([]);
    expect(two.toy.engine.book.riskContext(two.toy.now).missing).toContain(
      'binance: the balances have not been read yet',
    );
    two.readThere();
    two.toy.rounds(3);
    expect(two.inventory).toBe('0');
    expect(two.toy.places().length).toBeGreaterThan(0);
  });

  test('before its balances are read, inventory is unknown: no limit is exceeded, and a price move is no profit', () => {
    // A position beyond the limit of 100 lots if the balances there counted as 0.
    const two = new TwoToyExchanges({ halts: NO_HALTS, target: 2e9 as never });
    two.truth.set('btc', moneyOf('1000000000'));
    two.toy.open().rounds(2);
    for (const side of [two.toy.bids, two.toy.asks]) side[0]![0] += 50;
    two.toy.rounds(2);
    expect([two.toy.engine.book.haltedBecause, two.toy.engine.book.riskContext(two.toy.now).position]).toEqual([
      null,
      0,
    ]);
    two.readThere();
    two.toy.rounds(2);
    expect([two.toy.engine.book.haltedBecause, two.inventory]).toEqual([null, '0']);
    expect(textOfMoney(two.toy.engine.book.snapshot(two.toy.now).booked.profit.total)).toBe('0');
  });

  test('an order there counts in the limits with both outcomes until its end, then with its trades', () => {
    const two = new TwoToyExchanges();
    two.toy.open({ btc: 1e9 - 500, mxn: 1e9 });
    two.readThere();
    two.toy.round();
    const end = two.order('h1', 'sell', 30, 55, [10, 5], 'usdt');
    expect(two.toy.engine.book.riskContext(two.toy.now).converting).toEqual({ buy: 0, sell: 30 });
    expect(two.inventory).toBe('0');
    end();
    expect(two.toy.engine.book.riskContext(two.toy.now).converting).toEqual({ buy: 0, sell: 0 });
    expect(two.inventory).toBe('-15');
    // 825 usdt less fees of 0.55 and 0.275, at 18.25, against 15 btc at 1,000.
    const { hedging } = two.toy.engine.book.snapshot(two.toy.now).booked.profit;
    expect(textOfMoney(hedging)).toBe('41.19375');
    two.readThere();
    expect(two.toy.engine.book.haltedBecause).toBeNull();
  });

  test('a read of the balances there ends no reduce-only of unread balances at home, and one at home does', () => {
    const two = new TwoToyExchanges();
    two.toy.open({ btc: 1e9 - 500, mxn: 1e9 });
    two.readThere();
    two.toy.rounds(3);
    const unread = () => two.toy.engine.book.snapshot(two.toy.now).regime?.why ?? '';
    two.toy.step({ kind: 'balances unread', at: two.toy.now, reason: 'no answer' });
    expect(unread()).toContain('no answer');
    two.readThere();
    expect(unread()).toContain('no answer');
    two.toy.readBalances();
    expect(unread()).not.toContain('no answer');
  });

  test('a difference there halts as one at home does, and names the currency with its place', () => {
    const two = new TwoToyExchanges();
    two.toy.open();
    two.readThere();
    two.truth.set('usdt', moneyOf('89999'));
    for (let n = 0; n < 8; n++) {
      two.toy.round(4_000);
      two.toy.readBalances();
      two.readThere();
    }
    expect(two.toy.engine.book.haltedBecause).toContain('-1 usdt@binance');
  });

  test.each([
    ['usdt', -1, true, true],
    ['btc', -1, true, true],
    ['usdt', 1, true, false],
    ['bnb', -1, true, false],
    ['usdt', -1, false, false],
  ])(
    'a halt by %s that change by %i, with transfers: %s, names the booking of a transfer: %s',
    (currency, by, has, is) => {
      const none = new Map<string, Money>();
      const two = new TwoToyExchanges(has ? { transfers: { feeMax: none, fallMax: none, waitMs: 1 } } : {});
      two.toy.open();
      two.readThere();
      two.truth.set(currency, money(two.truth.get(currency)! + BigInt(by) * UNIT));
      for (let n = 0; n < 8; n++) {
        two.toy.round(4_000);
        two.toy.readBalances();
        two.readThere();
      }
      const why = two.toy.engine.book.haltedBecause ?? '';
      expect([why.includes(`${by} ${currency}@binance`), why.includes('--in-transit')]).toEqual([true, is]);
    },
  );

  test('a loss there is found while hedges there follow each other faster than the reads that find it', () => {
    const two = new TwoToyExchanges();
    two.toy.open();
    two.readThere();
    two.truth.set('usdt', moneyOf('89999'));
    for (let n = 0; n < 12; n++) {
      two.toy.round(2_000);
      two.toy.readBalances();
      two.order(`h${n}`, n % 2 === 0 ? 'sell' : 'buy', 1, 55, [1], 'bnb')();
      two.toy.round(2_000);
      two.readThere();
    }
    expect(two.toy.engine.book.haltedBecause).toContain('-1 usdt@binance');
  });

  test('balances there that lag behind each hedge for one read halt nothing', () => {
    const two = new TwoToyExchanges();
    two.toy.open();
    two.readThere();
    for (let n = 0; n < 12; n++) {
      two.toy.round(2_000);
      two.toy.readBalances();
      const late = new Map(two.truth);
      two.order(`h${n}`, n % 2 === 0 ? 'sell' : 'buy', 1, 55, [1], 'bnb')();
      const current = new Map(two.truth);
      for (const [currency, sum] of late) two.truth.set(currency, sum);
      two.readThere();
      for (const [currency, sum] of current) two.truth.set(currency, sum);
      two.toy.round(2_000);
      two.readThere();
    }
    expect(two.toy.engine.book.haltedBecause).toBeNull();
  });

  const late = fc.record({
    held: fc.integer({ min: 1, max: 50 }),
    orders: fc.array(fc.record({ isReadInFlight: fc.boolean(), isRestarted: fc.boolean() }), {
      minLength: 1,
      maxLength: 4,
    }),
  });

  test('a currency that comes there after the opening is no difference when fees are paid in it', () => {
    fc.assert(
      fc.property(late, ({ held, orders }) => {
        const two = new TwoToyExchanges();
        two.truth.delete('bnb');
        two.toy.open();
        two.readThere();
        two.truth.set('bnb', money(BigInt(held) * UNIT));
        two.toy.round();
        two.readThere();
        for (const [n, { isReadInFlight, isRestarted }] of orders.entries()) {
          const end = two.order(`h${n}`, 'sell', 1, 55, [1], 'bnb');
          const before = two.truth.get('bnb')!;
          // The order was executed, and its trade is not booked yet.
          two.truth.set('bnb', money(before - moneyOf('0.000123')));
          if (isReadInFlight) two.readThere();
          two.truth.set('bnb', before);
          end();
          if (isRestarted) two.restart(8 + n);
          for (let reads = 0; reads < 4; reads++) {
            two.toy.round(4_000);
            two.readThere();
          }
          expect(two.toy.engine.book.haltedBecause).toBeNull();
          expect(two.ledger['bnb']).toBe(textOfMoney(two.truth.get('bnb')!));
        }
      }),
      runsOf(300, 30),
    );
  });

  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('order', 'order', 'fill', 'restart', 'deposit', 'read'),
      side: fc.constantFrom<Side>('buy', 'sell'),
      price: fc.integer({ min: 50, max: 60 }),
      parts: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
      feeIn: fc.constantFrom('btc', 'usdt', 'bnb'),
      rate: fc.bigInt({ min: 1n, max: 40n * UNIT }),
      isTwice: fc.boolean(),
    }),
    { maxLength: 20 },
  );

  test('whatever is traded on both, its ledger equals the truth in every currency, and profit adds up, also over restarts', () => {
    fc.assert(
      fc.property(steps, fc.boolean(), (list, hasTarget) => {
        const two = new TwoToyExchanges(hasTarget ? {} : { target: null });
        two.toy.open({ btc: 1e9 - 500, mxn: 1e9 });
        two.readThere();
        two.toy.round();
        let expected = 0n;
        let bought = 0;
        for (const [i, { what, side, price, parts, feeIn, rate, isTwice }] of list.entries()) {
          if (what === 'restart') two.restart();
          if (what === 'read') two.readThere();
          if (what === 'fill' && two.toy.live.length > 0 && bought === 0) {
            const order = two.toy.live[0]!;
            two.toy.fill(order.id, 3);
            two.toy.round();
            expected += (order.side === 'buy' ? 3n : -3n) * UNIT;
            bought++;
          }
          if (what === 'deposit') {
            two.truth.set('usdt', money(two.truth.get('usdt')! + moneyOf('7.5')));
            for (let n = 0; n < (isTwice ? 2 : 1); n++)
              two.toy.step({
                ...{ kind: 'transfer', at: two.toy.now, source: `deposit ${i}`, cause: 'deposits', why: 'deposit' },
                ...{ currency: 'usdt@binance', amount: moneyOf('7.5'), occurredAt: two.toy.now },
              });
          }
          if (what === 'order') {
            const before = two.truth.get('btc')!;
            const total = parts.reduce((a, b) => a + b, 1);
            two.order(`h${i}`, side, total, price, parts, feeIn, money(rate))();
            expected += two.truth.get('btc')! - before;
          }
          expect(two.inventory).toBe(textOfMoney(money(expected)));
          expect(two.ledger).toEqual(
            Object.fromEntries([...two.truth].map(([currency, sum]) => [currency, textOfMoney(sum)])),
          );
        }
        two.readThere();
        const { engine, now } = two.toy;
        expect([engine.book.haltedBecause, engine.elsewhere!.view.differences()]).toEqual([null, []]);
        const { spread, inventory, fees, hedging, total } = engine.book.snapshot(now).booked.profit;
        expect(spread + inventory + fees + hedging).toBe(total);
      }),
      runsOf(2_000, 60),
    );
  });
});
