/** One account in which two books trade: each has its own inventory and profit, and both share the funds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  causesOf,
  instrumentOf,
  money,
  moneyOf,
  price,
  type Balance,
  type EngineEvent,
  type Instrument,
  type Money,
  type OwnTrade,
  type Side,
} from '../../../src/core/index.ts';
import { Inventory } from '../../../src/core/accounting/inventory.ts';
import { TradingAccount } from '../../../src/core/accounting/tradingAccount.ts';
import { bookRules, btcMxn } from '../market.ts';

const ethMxn = instrumentOf(bookRules({ book: 'eth_mxn' }));
const BOOKS = [btcMxn, ethMxn];
/** Near the present. */
const T = 1.7e12;
const CURRENCIES = ['btc', 'eth', 'mxn'];

const balancesOf = (total: string, locked = '0'): readonly Balance[] =>
  CURRENCIES.map(currency => ({ currency, total, locked, available: total }));

/** An account with both books, open with 1,000 of each currency. */
function shared() {
  const books = BOOKS.map(instrument => ({ instrument, inventory: new Inventory(instrument, null) }));
  const account = new TradingAccount({ tradeReportDelayMaxMs: 1_000 }, booked => {
    for (const { instrument, inventory } of books)
      if (booked.kind === 'trade' && booked.trade.book === instrument.symbol)
        inventory.trade(booked.trade, price(1), 'a-1-1');
      else inventory.moved(booked, 0);
  });
  const read = (startedAt: number, balances: readonly Balance[], own: ReadonlyMap<string, Money> = new Map()) =>
    account.read({ kind: 'balances', at: startedAt, startedAt, quiet: true, balances }, own);
  expect([account.missing, account.isOpen]).toEqual(['the balances have not been read yet', false]);
  read(0, balancesOf('1000'));
  const [btc, eth] = books.map(({ inventory }) => inventory);
  for (const { inventory } of books) inventory.mark(20_000);
  return { account, btc: btc!, eth: eth!, read };
}

const trades = fc.array(
  fc.record({
    book: fc.constantFrom(...BOOKS),
    side: fc.constantFrom<Side>('buy', 'sell'),
    major: fc.integer({ min: 1, max: 10 ** 6 }),
    minor: fc.integer({ min: 1, max: 10 ** 6 }),
    isFeeMajor: fc.boolean(),
  }),
  { maxLength: 15 },
);
type Drawn = { book: Instrument; side: Side; major: number; minor: number; isFeeMajor: boolean };
const tradeOf = ({ book, side, major, minor, isFeeMajor }: Drawn, n: number): OwnTrade => ({
  ...{ book: book.symbol, tid: `${n}`, oid: `o${n}`, createdAt: n, side, price: '1', maker: true },
  ...{ major: `${major}`, minor: `${minor}`, feeAmount: '0.5', feeCurrency: isFeeMajor ? book.major : book.minor },
});

const conversion = (phase: 'in flight' | 'done' | 'failed'): Extract<EngineEvent, { kind: 'conversion' }> => ({
  ...{ kind: 'conversion', at: 1, phase },
  conversion: {
    id: 'h1',
    give: { currency: 'mxn', amount: moneyOf('300') },
    get: { currency: 'btc', amount: moneyOf('2') },
  },
});

describe('an account that two books share', () => {
  it('gives each the position that its own currency moved by, and the profit that its own trades made', () => {
    fc.assert(
      fc.property(trades, drawn => {
        const both = shared();
        const [alone, other] = [shared(), shared()];
        drawn.map(tradeOf).forEach(trade => {
          both.account.trade(trade);
          (trade.book === btcMxn.symbol ? alone : other).account.trade(trade);
        });
        for (const [inventory, name] of [[both.btc, 'btc'] as const, [both.eth, 'eth'] as const])
          expect(inventory.position()).toBe(both.account.total(name) - moneyOf('1000'));
        expect(both.btc.profit()).toEqual(alone.btc.profit());
        expect(both.eth.profit()).toEqual(other.eth.profit());
        const spent = (one: TradingAccount) => one.total('mxn') - moneyOf('1000');
        expect(spent(both.account)).toBe(spent(alone.account) + spent(other.account));
      }),
    );
  });

  it('has one sum of funds: what a conversion may take and what others have locked neither book has', () => {
    const { account, read, btc, eth } = shared();
    read(
      10,
      balancesOf('1000', '50'),
      new Map([
        ['mxn', moneyOf('30')],
        ['btc', moneyOf('80')],
      ]),
    );
    expect([account.funds('mxn'), account.funds('btc')]).toEqual([moneyOf('980'), moneyOf('1000')]);
    account.convert(conversion('in flight'));
    expect(account.funds('mxn')).toBe(moneyOf('680'));
    expect([account.converting(btcMxn).buy, account.converting(ethMxn).buy]).toEqual([
      Number(moneyOf('2') / btcMxn.lotMoney),
      0,
    ]);
    account.convert(conversion('done'));
    expect(account.funds('mxn')).toBe(moneyOf('680'));
    // A hedge of the one book; the other has nothing of it but the funds.
    expect([btc.position(), eth.position()]).toEqual([moneyOf('2'), money(0n)]);
    expect(btc.profit().hedging).not.toBe(0n);
    expect(eth.profit().hedging).toBe(0n);
  });

  it('stops both when its balances differ, and says so with currency and sum', () => {
    const { account, read } = shared();
    expect([account.missing, account.differs]).toEqual([null, false]);
    expect(read(20_000, balancesOf('999'))).toBeNull();
    const reasons = [40_000, 60_000].map(at => read(at, balancesOf('999')));
    expect(account.differs).toBe(true);
    expect(reasons.at(-1)).toContain('-1 mxn');
  });

  it('compares anew after a conversion, and gives what is left after a transfer a time of its own', () => {
    const patience = { tradeReportDelayMaxMs: 1_000, listWaitMs: 60_000 };
    const differing = () => {
      const account = new TradingAccount(patience, () => {});
      const read = (startedAt: number, total: string) =>
        account.read(
          { kind: 'balances', at: startedAt, startedAt, quiet: true, balances: balancesOf(total) },
          new Map(),
        );
      for (const at of [T - 20_000, T - 10_000]) read(at, '1000');
      for (const at of [0, 10_000, 20_000]) expect(read(T + at, '999')).toBeNull();
      expect([account.differs, account.unexplained?.haltsAt]).toEqual([true, T + 60_000]);
      return { account, read };
    };
    const converted = differing();
    converted.account.convert({ ...conversion('failed'), at: T + 20_000 });
    expect(converted.account.differs).toBe(false);
    const moved = differing();
    const transfer = { source: 'f1', cause: 'deposits', currency: 'btc', why: '', amount: moneyOf('5') } as const;
    moved.account.transfer({ kind: 'transfer', at: T + 20_000, occurredAt: T, ...transfer });
    expect(moved.account.differs).toBe(false);
    for (const at of [30_000, 40_000, 60_000]) expect(moved.read(T + at, '999')).toBeNull();
    expect(moved.account.unexplained?.haltsAt).toBe(T + 90_000);
  });

  it('compares nothing with balances that were read while trades came, and knows their locks all the same', () => {
    const { account } = shared();
    const read = (startedAt: number, quiet: boolean, total: string, locked: string) =>
      account.read(
        { kind: 'balances', at: T, startedAt, quiet, balances: balancesOf(total, locked) },
        new Map([['btc', money(0n)]]),
      );
    const { checked } = account;
    for (let n = 1; n <= 4; n++) expect(read(T + n * 60_000, false, '999', '7')).toBeNull();
    expect(account.checked).toBe(checked);
    expect([account.differs, account.unexplained, account.funds('btc')]).toEqual([false, null, moneyOf('993')]);
    expect(account.differences()).toHaveLength(3);
  });

  it('while a conversion is in flight takes balances for equal when they are, but for exactly its legs, and halts for none', () => {
    const legs = { btc: '1002', eth: '1000', mxn: '700' };
    for (const [totals, isEqual] of [
      [{ btc: '1000', eth: '1000', mxn: '1000' }, true],
      [legs, true],
      [{ ...legs, eth: '999' }, false],
      [{ ...legs, mxn: '1000' }, false],
    ] as const) {
      const { account } = shared();
      account.resumed(T);
      expect(account.missing).toBe('the balances have not been compared with the ledger yet');
      account.convert(conversion('in flight'));
      expect(account.isConverting).toBe(true);
      const balances = Object.entries(totals).map(([currency, total]) => ({
        ...{ currency, total, locked: '0', available: total },
      }));
      for (let n = 1; n <= 4; n++) {
        const at = T + n * 60_000;
        expect(account.read({ kind: 'balances', at, startedAt: at, quiet: true, balances }, new Map())).toBeNull();
      }
      // A resume waits until nothing differs, so even its own legs leave it open.
      expect(account.missing === null).toBe(isEqual && totals !== legs);
      account.convert(conversion('done'));
      expect(account.isConverting).toBe(false);
      expect(account.total('mxn')).toBe(moneyOf('700'));
    }
  });

  it('that goes on with a ledger needs not wait for a conversion whose legs are all that differs', () => {
    for (const [eth, isEqual] of [
      ['1000', true],
      ['999', false],
    ] as const) {
      const account = new TradingAccount({ tradeReportDelayMaxMs: 1_000 }, () => {});
      account.restore({
        causes: new Map(CURRENCIES.map(currency => [currency, causesOf({ opening: moneyOf('1000') })])),
        ...{ sources: [], seen: new Map() },
      });
      account.convert(conversion('in flight'));
      const balances = Object.entries({ btc: '1002', eth, mxn: '700' }).map(([currency, total]) => ({
        ...{ currency, total, locked: '0', available: total },
      }));
      expect(account.read({ kind: 'balances', at: T, startedAt: T, quiet: true, balances }, new Map())).toBeNull();
      expect(account.isReconciled).toBe(isEqual);
    }
  });

  it('leaves its ledger, whole, to a later run, and tells every entry', () => {
    const { account } = shared();
    const entries: string[] = [];
    account.onEntry(({ source }) => entries.push(source));
    const before = account.version;
    const trade = tradeOf({ book: btcMxn, side: 'buy', major: 2, minor: 3, isFeeMajor: true }, 1);
    account.trade(trade);
    account.transfer({
      ...{ kind: 'transfer', at: T, occurredAt: T, source: 'f1', cause: 'deposits', currency: 'eth', why: '' },
      amount: moneyOf('5'),
    });
    expect([entries, account.version - before]).toEqual([['trade 1 o1', 'f1'], 2]);
    const later = new TradingAccount({ tradeReportDelayMaxMs: 1_000 }, () => {});
    later.restore(account.stateToSave(['1']));
    later.trade(trade);
    expect(new Map(later.totals)).toEqual(new Map(account.totals));
    expect([later.isOpen, later.total('eth')]).toEqual([true, moneyOf('1005')]);
  });
});
