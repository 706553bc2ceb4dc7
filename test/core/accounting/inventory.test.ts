/** Inventory of a book over any history of its account: what is beyond the target, and what of it was earned. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  instrumentOf,
  money,
  moneyOf,
  NO_PROFIT,
  price,
  type Amount,
  type Cause,
  type OwnTrade,
} from '../../../src/core/index.ts';
import { Inventory } from '../../../src/core/accounting/inventory.ts';
import { bookRules } from '../market.ts';

const T = 1.7e12;
/** Ticks and lots of one; 30 lots are the target where there is one. */
const instrument = instrumentOf(bookRules({ tickSize: '1', minimumAmount: '1' }), '1');
const ONE = moneyOf('1');
const MID = 100n;
/** Tenths, so that a position has a fraction of a lot. */
const tenths = (n: number): bigint => (BigInt(n) * ONE) / 10n;
const text = (n: number): string => (n / 10).toFixed(1);

const sum = fc.integer({ min: 1, max: 200 });
const currency = fc.constantFrom('btc', 'mxn', 'usd');
const step = fc.oneof(
  fc.record({
    kind: fc.constant('trade' as const),
    ...{ isOurs: fc.boolean(), maker: fc.boolean(), isBuy: fc.boolean() },
    ...{ major: sum, minor: sum, fee: sum, feeCurrency: currency },
  }),
  fc.record({ kind: fc.constant('trade elsewhere' as const), came: fc.integer({ min: -200, max: 200 }) }),
  fc
    .record({
      kind: fc.constant('conversion' as const),
      ...{ from: currency, to: currency, give: sum, get: sum, worth: fc.option(sum, { nil: undefined }) },
    })
    .filter(({ from, to }) => from !== to),
  fc.record({
    kind: fc.constant('transfer' as const),
    cause: fc.constantFrom<Cause>('fees', 'deposits', 'withdrawals', 'refunds', 'adjustments'),
    ...{ currency, amount: fc.integer({ min: -200, max: 200 }) },
  }),
  fc.constant({ kind: 'look' as const }),
);

describe('the inventory of a book', () => {
  it('moves by what the base currency moves, but for transfers that move the target too, and earns only by trades of the bot, hedges and given back fees', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), fc.constantFrom(null, 30), (steps, target) => {
        const inventory = new Inventory(instrument, target as Amount | null);
        inventory.moved(
          {
            kind: 'opening',
            changes: [
              { cause: 'opening', currency: 'btc', amount: money(ONE * 50n) },
              { cause: 'opening', currency: 'mxn', amount: money(ONE * 9n) },
            ],
          },
          T,
        );
        inventory.mark(Number(2n * MID));
        let [held, beyond] = [ONE * 50n, target === null ? 0n : ONE * 20n];
        // In money of the quote currency; a base unit is worth the mid.
        const gains = { spread: 0n, hedging: 0n, fees: 0n };
        for (const [n, one] of steps.entries()) {
          if (one.kind === 'trade') {
            const trade: OwnTrade = {
              ...{ book: instrument.symbol, tid: `${n}`, oid: `o${n}`, createdAt: T + n, price: '1' },
              ...{ side: one.isBuy ? 'buy' : 'sell', maker: one.maker, feeCurrency: one.feeCurrency },
              ...{ major: text(one.major), minor: text(one.minor), feeAmount: text(one.fee) },
            };
            const fill = inventory.trade(trade, price(7), one.isOurs ? 'a-1-1' : null);
            const { feeCurrency: _, feeAmount, major, minor, price: __, createdAt: at, ...same } = trade;
            expect(fill).toEqual({
              ...{ ...same, at, id: one.isOurs ? 'a-1-1' : null, price: 7, fee: moneyOf(feeAmount) },
              ...{ major: moneyOf(major), minor: moneyOf(minor) },
              feeIn: { btc: 'major', mxn: 'minor', usd: 'other' }[one.feeCurrency],
            });
            const sign = one.isBuy ? 1n : -1n;
            const moved = sign * tenths(one.major) - (one.feeCurrency === 'btc' ? tenths(one.fee) : 0n);
            [held, beyond] = [held + moved, beyond + moved];
            if (!one.isOurs) continue;
            const gain = sign * (tenths(one.major) * MID - tenths(one.minor));
            gains[one.maker ? 'spread' : 'hedging'] += gain;
            gains.fees -= tenths(one.fee) * { btc: MID, mxn: 1n, usd: 0n }[one.feeCurrency];
          } else if (one.kind === 'trade elsewhere') {
            const came = tenths(one.came);
            const trade = { book: 'btc_usd' } as unknown as OwnTrade;
            const changes = [
              { cause: 'trades' as const, currency: 'btc', amount: money(came * 2n) },
              { cause: 'fees' as const, currency: 'btc', amount: money(-came) },
              { cause: 'trades' as const, currency: 'mxn', amount: money(came) },
            ];
            inventory.moved({ kind: 'trade', trade, changes }, T + n);
            [held, beyond] = [held + came, beyond + came];
          } else if (one.kind === 'conversion') {
            const worth = one.worth === undefined ? undefined : money(tenths(one.worth));
            const changes = [
              { cause: 'conversions' as const, currency: one.from, amount: money(-tenths(one.give)) },
              { cause: 'conversions' as const, currency: one.to, amount: money(tenths(one.get)) },
            ];
            inventory.moved({ kind: 'conversion', changes, worth }, T + n);
            const of = (name: string) =>
              one.to === name ? tenths(one.get) : one.from === name ? -tenths(one.give) : 0n;
            [held, beyond] = [held + of('btc'), beyond + of('btc')];
            const third = one.from === 'usd' ? -(worth ?? 0n) : one.to === 'usd' ? (worth ?? 0n) : 0n;
            if (of('usd') === 0n || worth !== undefined) gains.hedging += of('btc') * MID + of('mxn') + third;
          } else if (one.kind === 'transfer') {
            const amount = money(tenths(one.amount));
            inventory.moved(
              { kind: 'transfer', changes: [{ cause: one.cause, currency: one.currency, amount }] },
              T + n,
            );
            if (one.currency === 'btc') held += amount;
            if (one.cause === 'fees') gains.fees += amount * { btc: MID, mxn: 1n, usd: 0n }[one.currency];
            if (one.currency === 'btc' && (one.cause === 'fees' || target !== null)) beyond += amount;
          } else {
            // Only some moments are looked at, so that what is kept from the look before is seen.
            expect(inventory.positionLots()).toBe(Number(beyond / ONE));
          }
        }
        expect(inventory.position()).toBe(beyond);
        expect([inventory.positionLots(), inventory.positionLots()]).toEqual([
          Number(beyond / ONE),
          Number(beyond / ONE),
        ]);
        expect(inventory.target(money(held))).toBe(held - beyond);
        const total = money(gains.spread + gains.hedging + gains.fees);
        expect(inventory.profit()).toEqual({ ...gains, inventory: 0n, total });
        expect([inventory.profitForLimits(), inventory.profitOfTrading()]).toEqual([total, total]);
        inventory.mark(Number(4n * MID));
        expect(inventory.profitOfTrading()).toBe(total);
        expect(inventory.profitForLimits()).toBe(total + beyond * MID);
      }),
    );
  });

  it('is nothing before the balances are known, whatever is heard; only a trade of its own book is refused', () => {
    const inventory = new Inventory(instrument, null);
    const changes = [{ cause: 'fees' as const, currency: 'btc', amount: money(ONE) }];
    inventory.mark(200);
    inventory.moved({ kind: 'trade', trade: {} as OwnTrade, changes }, T);
    inventory.moved({ kind: 'transfer', changes: [...changes, { ...changes[0]!, cause: 'deposits' }] }, T);
    inventory.moved({ kind: 'conversion', changes }, T);
    const usd = { ...changes[0]!, currency: 'usd' };
    inventory.moved({ kind: 'conversion', changes: [...changes, usd] }, T);
    inventory.moved({ kind: 'conversion', changes: [...changes, usd], worth: money(ONE) }, T);
    expect([inventory.isOpen, inventory.position(), inventory.positionLots()]).toEqual([false, 0n, 0]);
    expect([inventory.profit(), inventory.profitForLimits(), inventory.profitOfTrading()]).toEqual([
      ...[NO_PROFIT, null, null],
    ]);
    expect(inventory.profitSinceOpening(T)).toEqual({ since: null, at: T, twiceMid: null, profit: NO_PROFIT });
    const trade = { major: '1', minor: '1', feeAmount: '0', side: 'buy' } as OwnTrade;
    expect(() => inventory.trade({ ...trade, feeCurrency: 'btc' }, price(1), null)).toThrow(
      'a trade arrived before the opening balances',
    );
  });

  it('has no profit of trading before the first mid, and is open', () => {
    const inventory = new Inventory(instrument, null);
    inventory.moved({ kind: 'opening', changes: [] }, T);
    expect([inventory.isOpen, inventory.profitOfTrading(), inventory.currency]).toEqual([true, null, 'btc']);
    expect(inventory.profitSinceOpening(T + 9)).toEqual({ since: T, at: T + 9, twiceMid: null, profit: NO_PROFIT });
  });

  it('goes on with the target that is configured, and else with the one that was kept', () => {
    const lotsAfter = (configured: number | null): number => {
      const inventory = new Inventory(instrument, configured as Amount | null);
      inventory.restore(money(ONE * 50n), money(ONE * 40n));
      expect(inventory.profitSinceOpening(T)).toEqual({ since: null, at: T, twiceMid: null, profit: NO_PROFIT });
      return inventory.positionLots();
    };
    expect([lotsAfter(null), lotsAfter(30), lotsAfter(0)]).toEqual([10, 20, 50]);
  });
});
