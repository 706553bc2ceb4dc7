import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  excessOrders,
  money,
  moneyOf,
  type Instrument,
  type LimitedOrder,
  type Side,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { quoteAround } from '../toyExchange.ts';
import { plain } from '../market.ts';
import { SharedAccount, type Balances } from '../sharedAccount.ts';

const BOOKS: readonly Instrument[] = [
  { ...plain, symbol: 'btc_mxn' },
  { ...plain, symbol: 'btc_usd', minor: 'usd' },
];
const FUNDS: Balances = { btc: 1_000_000, eth: 0, usd: 1_000_000_000, mxn: 1_000_000_000 };

const deskOf = (shared: object): SharedAccount =>
  new SharedAccount(FUNDS, BOOKS, 1, null, {
    shared,
    limits: { positionMax: 100_000 },
    strategyOf: () => quoteAround(20, 30, 40),
  }).open();

const held = ({ balances }: SharedAccount): number => balances.btc - FUNDS.btc;
const onSide = ({ live }: SharedAccount, side: Side): number =>
  [...live.values()].filter(({ command }) => command.side === side).reduce((sum, { left }) => sum + left, 0);

describe('orders that limits over all books no longer allow', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['currency limit', { currencyLimits: new Map([['btc', moneyOf('70')]]) }],
    ['value limit', { valueLimit: { currency: 'mxn', max: moneyOf(`${70 * 1_010}`) } }],
  ];

  test.each(cases)('are canceled after trades of others (%s), and orders that reduce stay', (reason, shared) => {
    const desk = deskOf(shared);
    expect([onSide(desk, 'buy'), onSide(desk, 'sell')]).toEqual([60, 60]);
    desk.trade(BOOKS[0]!, 'buy', 1_000, 30);
    desk.round(1_000).round(1_000);
    expect([held(desk), onSide(desk, 'buy'), onSide(desk, 'sell')]).toEqual([30, 40, 60]);
    const counts = desk.engine.books.flatMap(book => book.snapshot(desk.now).decisions);
    const canceled = counts.filter(({ action, reason: why }) => action === 'canceled' && why === reason);
    expect(canceled.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    desk.trade(BOOKS[0]!, 'buy', 1_000, 50);
    desk.round(1_000).round(1_000);
    expect([held(desk), onSide(desk, 'buy'), onSide(desk, 'sell')]).toEqual([80, 0, 60]);
    // No order is canceled and placed in turns.
    const before = [...desk.live.keys()];
    for (let k = 0; k < 5; k++) desk.round(1_000);
    expect([...desk.live.keys()]).toEqual(before);
  });

  test.each(cases)('after any trades of others and fills, live orders fit, or only reduce (%s)', (_, shared) => {
    const event = fc.record({ isOther: fc.boolean(), side: fc.constantFrom<Side>('buy', 'sell'), lots: fc.nat(60) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 15 }), events => {
        const desk = deskOf(shared);
        for (const { isOther, side, lots } of events) {
          const ids = [...desk.live.keys()];
          if (isOther && lots > 0) desk.trade(BOOKS[0]!, side, 1_000, lots);
          else if (ids.length > 0) desk.fill(ids[lots % ids.length]!, Infinity);
          desk.round(1_000).round(1_000);
          const [up, down] = [held(desk) + onSide(desk, 'buy'), onSide(desk, 'sell') - held(desk)];
          expect(up).toBeLessThanOrEqual(Math.max(70, held(desk)));
          expect(down).toBeLessThanOrEqual(Math.max(70, -held(desk)));
          if (held(desk) >= 10) expect(onSide(desk, 'sell')).toBeGreaterThan(0);
          if (held(desk) <= -10) expect(onSide(desk, 'buy')).toBeGreaterThan(0);
        }
      }),
      runsOf(150, 25),
    );
  });

  test('are the largest of the most exceeded limit first, in any order of the list, and never more than needed', () => {
    const order = fc.record({
      side: fc.constantFrom<Side>('buy', 'sell'),
      pair: fc.constantFrom(['btc', 'mxn'] as const, ['btc', 'usd'] as const, ['usd', 'mxn'] as const),
      lots: fc.integer({ min: 1, max: 50 }),
      price: fc.integer({ min: 1, max: 20 }),
      isCancelable: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(order, { maxLength: 12 }),
        fc.integer({ min: -50, max: 50 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 500 }),
        (drawn, heldBtc, btcMax, usdMax) => {
          const orders: LimitedOrder[] = drawn.map(({ side, pair: [base, quote], lots, price, isCancelable }, i) => ({
            ...{ id: `mm-1-${i}`, side, base, quote, isCancelable },
            exchanges: { base: money(BigInt(lots)), quote: money(BigInt(lots * price)) },
          }));
          const limits = new Map([
            ['btc', money(BigInt(btcMax))],
            ['usd', money(BigInt(usdMax))],
          ]);
          const holdings = new Map([
            ['btc', { up: BigInt(heldBtc), down: BigInt(-heldBtc) }],
            ['usd', { up: 0n, down: 0n }],
          ]);
          const under = { currencies: limits, value: null, held: holdings };
          const excess = excessOrders(under, orders);
          expect([...excessOrders(under, orders.toReversed()).keys()]).toEqual([...excess.keys()]);
          const kept = orders.filter(({ id }) => !excess.has(id));
          const reach = (currency: string, isUp: boolean, of: readonly LimitedOrder[]): readonly LimitedOrder[] =>
            of.filter(
              ({ base, quote, side }) =>
                (base === currency && (side === 'buy') === isUp) || (quote === currency && (side === 'sell') === isUp),
            );
          const sum = (currency: string, isUp: boolean, of: readonly LimitedOrder[]): bigint =>
            reach(currency, isUp, of).reduce(
              (total, { base, exchanges }) => total + (base === currency ? exchanges.base : exchanges.quote),
              holdings.get(currency)![isUp ? 'up' : 'down'],
            );
          for (const [currency, max] of limits)
            for (const isUp of [true, false])
              if (sum(currency, isUp, kept) > max)
                expect(reach(currency, isUp, kept).some(({ isCancelable }) => isCancelable)).toBe(false);
          // Each is the largest that can be canceled of the limit that those before it leave exceeded most.
          [...excess.keys()].forEach((id, k, ids) => {
            const left = orders.filter(one => !ids.slice(0, k).includes(one.id));
            const exceeded = [...limits].flatMap(([currency, max]) =>
              [true, false].flatMap(isUp => {
                const over = sum(currency, isUp, left) - max;
                const changes = reach(currency, isUp, left)
                  .filter(({ isCancelable }) => isCancelable)
                  .map(({ id: of, base, exchanges }) => ({
                    of,
                    amount: base === currency ? exchanges.base : exchanges.quote,
                  }));
                return over > 0n && changes.length > 0 ? [{ share: Number(over) / Number(max), changes }] : [];
              }),
            );
            const most = Math.max(...exceeded.map(({ share }) => share));
            const largest = exceeded
              .filter(({ share }) => share === most)
              .flatMap(({ changes }) => {
                const size = changes.reduce((max, { amount }) => (amount > max ? amount : max), 0n);
                return changes.flatMap(({ of, amount }) => (amount === size ? [of] : []));
              });
            expect(largest).toContain(id);
          });
        },
      ),
      runsOf(1_000, 200),
    );
  });

  test('are canceled by what has a price, also while another currency has none', () => {
    const order = (id: string, base: string, side: Side): LimitedOrder => ({
      ...{ id, side, base, quote: 'mxn', isCancelable: true },
      exchanges: { base: money(60n), quote: money(60n) },
    });
    const one = { numerator: 1n, denominator: 1n };
    const value = { currency: 'mxn', max: money(100n), prices: new Map([['btc', one]]) };
    const held = new Map([
      ['btc', { up: 50n, down: -50n }],
      ['eth', { up: 1n, down: -1n }],
    ]);
    const orders = [order('a', 'btc', 'buy'), order('b', 'btc', 'sell'), order('c', 'eth', 'buy')];
    expect([...excessOrders({ currencies: new Map(), value, held }, orders)]).toEqual([['a', 'value limit']]);
    expect([...excessOrders({ currencies: new Map(), value: { ...value, max: money(110n) }, held }, orders)]).toEqual(
      [],
    );
  });
});
