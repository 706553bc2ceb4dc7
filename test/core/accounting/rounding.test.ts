/**
 * The ledger of an exchange that rounds each change of a balance: over any history of trades, quiet reads and restarts,
 * rounding is booked as a fee and is no difference, and anything larger stays one.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ElsewhereAccount, type ElsewhereChange } from '../../../src/core/accounting/elsewhereAccount.ts';
import type { AccountLedger } from '../../../src/core/accounting/accountEvents.ts';
import {
  amount,
  money,
  moneyOf,
  sumOfCauses,
  textOfMoney,
  type Money,
  type OwnTrade,
} from '../../../src/core/index.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { btcMxn } from '../market.ts';
import { OneBook } from './oneBook.ts';

const DECIMALS = { btc: 6, mxn: 2 } as const;
type Currency = keyof typeof DECIMALS;
const unitOf = (currency: Currency): bigint => 10n ** BigInt(18 - DECIMALS[currency]);

type Direction = 'up' | 'down' | 'nearest';

function rounded(sum: bigint, unit: bigint, how: Direction): Money {
  const size = sum < 0n ? -sum : sum;
  const count = (size + { up: unit - 1n, down: 0n, nearest: unit / 2n }[how]) / unit;
  return money((sum < 0n ? -1n : 1n) * count * unit);
}

/** Balances that an exchange rounds. */
class RoundedBalances {
  readonly sums = { btc: moneyOf('1000'), mxn: moneyOf('100000') };

  add(currency: Currency, sum: Money, how: Direction): void {
    this.sums[currency] = money(this.sums[currency] + rounded(sum, unitOf(currency), how));
  }

  rows(decimals: Partial<typeof DECIMALS> = DECIMALS) {
    return (['btc', 'mxn'] as const).map(currency => {
      const total = textOfMoney(this.sums[currency]);
      const count = decimals[currency];
      return { currency, total, locked: '0', available: total, ...(count !== undefined && { decimals: count }) };
    });
  }
}

const trades = fc.record({
  what: fc.constant('trade' as const),
  side: fc.constantFrom<'buy' | 'sell'>('buy', 'sell'),
  /** In units of the eighth decimal. */
  major: fc.integer({ min: 100, max: 10 ** 9 }),
  minor: fc.integer({ min: 1_000_000, max: 10 ** 12 }),
  fee: fc.oneof(fc.constant(0), fc.integer({ min: 10 ** 7, max: 10 ** 9 })),
  feeCurrency: fc.constantFrom<Currency>('btc', 'mxn', 'mxn'),
});
const histories = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: trades },
    fc.record({ what: fc.constantFrom('early read' as const, 'read' as const, 'dies' as const) }),
  ),
  { maxLength: 30, size: 'max' },
);

describe('at an exchange that rounds', () => {
  it('any history of trades and restarts is no difference, and the ledger has the balances to the digit after each quiet read', () => {
    let roundings = 0;
    fc.assert(
      fc.property(histories, fc.constantFrom<Direction>('up', 'down', 'nearest'), fc.nat(2), (history, how, more) => {
        // The list of trades has `more` decimals than the balances, and rounds too.
        const exchange = new RoundedBalances();
        let bookings = new OneBook(btcMxn, null);
        bookings.read(exchange.rows(), 0);
        history.forEach((step, n) => {
          const at = n + 1;
          if (step.what === 'trade') {
            const { side, feeCurrency } = step;
            const sign = side === 'buy' ? 1n : -1n;
            const moved = (currency: Currency, size: number, direction: bigint): string => {
              const sum = BigInt(size) * 10n ** 10n;
              exchange.add(currency, money(direction * sum), how);
              return textOfMoney(rounded(sum, 10n ** BigInt(18 - DECIMALS[currency] - more), 'nearest'));
            };
            const trade: OwnTrade = {
              ...{ book: 'btc_mxn', tid: `${at}`, oid: 'o', createdAt: at, side, price: '1', maker: true },
              ...{ major: moved('btc', step.major, sign), minor: moved('mxn', step.minor, -sign) },
              ...{ feeAmount: moved(feeCurrency, step.fee, -1n), feeCurrency },
            };
            bookings.trade(trade);
          } else if (step.what === 'dies') {
            const ledger = textOfLedger({ target: amount(0), guard: null, ...bookings.stateToSave([]) });
            bookings = new OneBook(btcMxn, null);
            bookings.inventory.restore(moneyOf('0'), moneyOf('0'));
            bookings.restore(ledgerOf(ledger));
          } else {
            bookings.read(exchange.rows(), at);
            expect(bookings.differences()).toEqual([]);
            if (step.what === 'early read') return;
            bookings.onEntry(({ source, why, changes }) => {
              roundings++;
              expect([source, why]).toEqual([
                expect.stringMatching(/^rounding \d+ \d+$/),
                expect.stringContaining('rounding'),
              ]);
              for (const { cause } of changes) expect(cause).toBe('fees');
            });
            bookings.settleRounding(at);
            bookings.onEntry(() => undefined);
            for (const { currency, total } of exchange.rows())
              expect(textOfMoney(bookings.total(currency))).toBe(total);
            // Without a further trade, one unit is a difference.
            exchange.sums.mxn = money(exchange.sums.mxn - unitOf('mxn'));
            bookings.read(exchange.rows(), at);
            bookings.settleRounding(at);
            expect(bookings.differences()).toEqual([{ currency: 'mxn', difference: -unitOf('mxn') }]);
            exchange.sums.mxn = money(exchange.sums.mxn + unitOf('mxn'));
            bookings.read(exchange.rows(), at);
          }
        });
      }),
    );
    expect(roundings).toBeGreaterThan(50);
  });

  const sale: OwnTrade = {
    ...{ book: 'btc_mxn', tid: '1', oid: 'o', createdAt: 1, side: 'sell', price: '100', maker: true },
    ...{ major: '1', minor: '100.001', feeAmount: '0.002', feeCurrency: 'mxn' },
  };
  const sold = (mxn: string, decimals: Partial<typeof DECIMALS> = DECIMALS): OneBook => {
    const exchange = new RoundedBalances();
    const bookings = new OneBook(btcMxn, null);
    bookings.read(exchange.rows(decimals), 0);
    bookings.inventory.mark(20_000);
    bookings.trade(sale);
    exchange.sums.btc = moneyOf('999');
    exchange.sums.mxn = moneyOf(mxn);
    bookings.read(exchange.rows(decimals), 1);
    bookings.settleRounding(1);
    return bookings;
  };
  const mxn = (difference: string) => [{ currency: 'mxn', difference: moneyOf(difference) }];

  it('two amounts differ by at most two units together, in either direction', () => {
    // The ledger has 100,099.999 mxn.
    expect(sold('100100.01').differences()).toEqual([]);
    expect(sold('100099.98').differences()).toEqual([]);
    expect(sold('100100.02').differences()).toEqual(mxn('0.021'));
    expect(sold('100099.97').differences()).toEqual(mxn('-0.029'));
  });

  it('nothing is booked while another currency differs', () => {
    const bookings = sold('100100');
    bookings.trade({ ...sale, tid: '2' });
    bookings.read(
      [
        { currency: 'btc', total: '999', locked: '0', available: '999', decimals: 6 },
        { currency: 'mxn', total: '100200', locked: '0', available: '100200', decimals: 2 },
      ],
      2,
    );
    const { version } = bookings;
    bookings.settleRounding(2);
    expect([bookings.version, bookings.differences().map(({ currency }) => currency)]).toEqual([version, ['btc']]);
  });

  it('rounding is part of the fees in ledger and profit', () => {
    const bookings = sold('100099.99');
    expect(bookings.stateToSave([]).causes.get('mxn')).toMatchObject({
      trades: moneyOf('100.001'),
      fees: moneyOf('-0.011'),
    });
    expect(sumOfCauses(bookings.stateToSave([]).causes.get('mxn')!)).toBe(moneyOf('100099.99'));
    expect(bookings.inventory.profit().fees).toBe(moneyOf('-0.011'));
  });

  it('an exchange that states no decimals rounds nothing', () => {
    const bookings = sold('100100', {});
    expect(bookings.differences()).toEqual(mxn('0.001'));
    expect(bookings.stateToSave([]).roundings).toBeUndefined();
  });

  it('another exchange counts its rounding as cash at its latest rate, and its rows are kept for it', () => {
    const changes: ElsewhereChange[] = [];
    const delays = { tradeReportDelayMaxMs: 1, listWaitMs: 1 };
    const account = new ElsewhereAccount({ place: 'there', major: 'btc', minor: 'usd' }, {}, delays, change =>
      changes.push(change),
    );
    const read = (usd: string, at: number) =>
      account.read({
        ...{ kind: 'balances', at, startedAt: at, quiet: true, place: 'there', rate: moneyOf('20') },
        balances: [{ currency: 'usd', total: usd, locked: '0', available: usd, decimals: 2 }],
      });
    read('1000', 0);
    const give = { currency: 'btc', amount: moneyOf('1') };
    const get = { currency: 'usd', amount: moneyOf('5') };
    const trades = [{ ...sale, book: 'btc_usd', minor: '5.004', feeAmount: '0', feeCurrency: 'usd' }];
    const conversion = { id: 'h1', give, get };
    account.apply({ kind: 'elsewhere', at: 1, phase: 'in flight', conversion });
    account.apply({ kind: 'elsewhere', at: 1, phase: 'ended', conversion, trades, rate: moneyOf('19') });
    const saved = account.addTo<AccountLedger>({ causes: new Map(), sources: [], seen: new Map() });
    expect(saved.roundings).toEqual(new Map([['usd@there', { decimals: 2, amounts: 1 }]]));
    changes.length = 0;
    read('1005', 2);
    expect(changes).toEqual([{ kind: 'trade', major: 0n, cash: moneyOf('-0.08') }]);
    expect(account.view.differences()).toEqual([]);
  });
});
