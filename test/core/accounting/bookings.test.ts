/** The ledger and the profit: exact at every fill, the same for any order and repetition of trades, and never fed by strangers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amount,
  differenceOfProfits,
  money,
  moneyOf,
  Position,
  price,
  sumOfProfits,
  textOfMoney,
  type Fill,
  type LedgerEntry,
  type OwnTrade,
  type Side,
} from '../../../src/core/index.ts';
import { Bookings, type Booked, type FillOf } from '../../../src/core/accounting/bookings.ts';
import { btcMxn } from '../market.ts';
import { OneBook } from './oneBook.ts';

const T = 1.7e12;
const RESUMED = 'reported by the exchange when the operator resumed';
const side = fc.constantFrom<Side>('buy', 'sell');
const atto = fc.bigInt({ min: 1n, max: 10n ** 22n });
type Step =
  | { kind: 'mark'; halfTicks: number }
  | {
      kind: 'fill';
      side: Side;
      major: bigint;
      minor: bigint;
      fee: bigint;
      feeIn: 'major' | 'minor' | 'other';
      maker: boolean;
    }
  | { kind: 'convert'; sells: boolean; major: bigint; minor: bigint }
  | { kind: 'rebate'; isMajor: boolean; sum: bigint }
  | { kind: 'flow'; major: bigint };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('mark' as const), halfTicks: fc.integer({ min: 1, max: 400_000_000 }) }),
  fc.record({
    kind: fc.constant('fill' as const),
    side,
    major: atto,
    minor: atto,
    fee: fc.bigInt({ min: 0n, max: 10n ** 18n }),
    feeIn: fc.constantFrom<'major' | 'minor' | 'other'>('major', 'minor', 'other'),
    maker: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('convert' as const), sells: fc.boolean(), major: atto, minor: atto }),
  fc.record({
    kind: fc.constant('rebate' as const),
    isMajor: fc.boolean(),
    sum: fc.bigInt({ min: 1n, max: 10n ** 18n }),
  }),
  fc.record({ kind: fc.constant('flow' as const), major: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }) }),
);

function fillOf(s: Extract<Step, { kind: 'fill' }>): Fill {
  return {
    tid: '1',
    id: 'a-1-1',
    oid: 'x',
    at: 0,
    book: 'btc_mxn',
    side: s.side,
    price: price(1),
    major: money(s.major),
    minor: money(s.minor),
    fee: money(s.fee),
    feeIn: s.feeIn,
    maker: s.maker,
  };
}

describe('the position', () => {
  it('in lots is never more than there is, in either direction, and less than a lot short of it', () => {
    const atOnce = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
    fc.assert(
      fc.property(atOnce, moved => {
        const bookings = new OneBook(btcMxn, amount(0));
        bookings.read([{ currency: 'btc', total: '0', locked: '0', available: '0' }], 0);
        const transfer = { source: 'x', cause: 'deposits', currency: 'btc', occurredAt: 0, why: '' } as const;
        bookings.transfer({ ...transfer, amount: money(moved) });
        const rest = bookings.inventory.position() - BigInt(bookings.inventory.positionLots()) * btcMxn.lotMoney;
        expect(bookings.inventory.position()).toBe(moved);
        expect(moved < 0n ? -rest : rest).toBeGreaterThanOrEqual(0n);
        expect(moved < 0n ? -rest : rest).toBeLessThan(btcMxn.lotMoney);
      }),
    );
  });
});

describe('profit', () => {
  it('is spread plus inventory plus hedging plus fees, and exactly the change of equity, after every fill and every mark', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        (steps, opening) => {
          const position = new Position(btcMxn, money(opening));
          // The same by plain bookkeeping, in minor money over 2 x 10^18.
          let [inventory, cash, mark, openingMark, flows, fees] = [opening, 0n, 0n, 0n, 0n, 0n];
          let early: bigint[] = [];
          let earlyFees: bigint[] = [];
          // Results of the trades against the mark of their time, or the first mark.
          const gains = { spread: 0n, hedging: 0n };
          const unmarked: { part: keyof typeof gains; major: bigint; minor: bigint }[] = [];
          const gain = (part: keyof typeof gains, major: bigint, minor: bigint): void => {
            if (openingMark === 0n) unmarked.push({ part, major, minor });
            else gains[part] += major * mark + minor * 2n * 10n ** 18n;
          };
          for (const s of steps) {
            if (s.kind === 'mark') {
              position.mark(s.halfTicks);
              mark = BigInt(s.halfTicks) * btcMxn.tickMoney;
              if (openingMark === 0n) {
                openingMark = mark;
                flows = early.reduce((sum, major) => sum + major * mark, 0n);
                fees += earlyFees.reduce((sum, fee) => sum + fee * mark, 0n);
                for (const { part, major, minor } of unmarked.splice(0)) gain(part, major, minor);
              }
            } else if (s.kind === 'fill') {
              position.fill(fillOf(s));
              const sign = s.side === 'buy' ? 1n : -1n;
              inventory += sign * s.major - (s.feeIn === 'major' ? s.fee : 0n);
              cash -= sign * s.minor + (s.feeIn === 'minor' ? s.fee : 0n);
              gain(s.maker ? 'spread' : 'hedging', sign * s.major, -sign * s.minor);
              if (s.feeIn === 'other') fees += 0n;
              else if (s.feeIn === 'minor') fees += s.fee * 2n * 10n ** 18n;
              else if (openingMark === 0n) earlyFees = [...earlyFees, s.fee];
              else fees += s.fee * mark;
            } else if (s.kind === 'convert') {
              const sign = s.sells ? -1n : 1n;
              position.convert(money(sign * s.major), money(-sign * s.minor));
              gain('hedging', sign * s.major, -sign * s.minor);
              inventory += sign * s.major;
              cash -= sign * s.minor;
            } else if (s.kind === 'rebate') {
              position.rebate(s.isMajor, money(s.sum));
              if (s.isMajor) inventory += s.sum;
              else cash += s.sum;
              if (!s.isMajor) fees -= s.sum * 2n * 10n ** 18n;
              else if (openingMark === 0n) earlyFees = [...earlyFees, -s.sum];
              else fees -= s.sum * mark;
            } else {
              position.flow(money(s.major));
              inventory += s.major;
              if (openingMark === 0n) early = [...early, s.major];
              else flows += s.major * mark;
            }
            // In either order, each alone sees the last mark.
            if (s.kind !== 'mark') expect(position.isExplained()).toBe(true);
            expect(position.inventory).toBe(inventory);
            expect(position.cash).toBe(cash);
            expect(position.twiceMid).toBe(openingMark === 0n ? null : mark);
            const profit = position.profit();
            expect(position.isExplained()).toBe(true);
            expect([profit.spread, profit.hedging]).toEqual([
              gains.spread / (2n * 10n ** 18n),
              gains.hedging / (2n * 10n ** 18n),
            ]);
            expect(position.total()).toBe(profit.total);
            expect(profit.spread + profit.inventory + profit.hedging + profit.fees).toBe(profit.total);
            expect(profit.fees).toBe(-fees / (2n * 10n ** 18n));
            if (openingMark === 0n) continue;
            const change = cash * 2n * 10n ** 18n + inventory * mark - opening * openingMark - flows;
            expect(profit.total).toBe(change / (2n * 10n ** 18n));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of one round trip is the spread, less what the fees took', () => {
    const position = new Position(btcMxn, money(0n));
    const trade = { kind: 'fill', major: moneyOf('1'), feeIn: 'minor', fee: moneyOf('0.1'), maker: true } as const;
    position.mark(20_000); // 100.00 minor
    position.fill(fillOf({ ...trade, side: 'buy', minor: moneyOf('99') }));
    position.fill(fillOf({ ...trade, side: 'sell', minor: moneyOf('101') }));
    const { spread, inventory, fees, total } = position.profit();
    expect([spread, inventory, fees, total].map(sum => textOfMoney(sum))).toEqual(['2', '0', '-0.2', '1.8']);
  });

  it('of a conversion is what it brought against the mark, and is called hedging', () => {
    const position = new Position(btcMxn, moneyOf('2'));
    position.mark(20_000); // 100.00 minor
    position.convert(money(-moneyOf('2')), moneyOf('199'));
    const { spread, inventory, hedging, total } = position.profit();
    expect([spread, inventory, hedging, total].map(sum => textOfMoney(sum))).toEqual(['0', '0', '-1', '-1']);
    expect(position.inventory).toBe(0n);
  });

  it('of a fill before the first mark is measured against the first mark', () => {
    const position = new Position(btcMxn, money(0n));
    position.fill(
      fillOf({
        ...{ kind: 'fill', side: 'buy', major: moneyOf('1'), minor: moneyOf('99') },
        ...{ fee: 0n, feeIn: 'minor', maker: true },
      }),
    );
    expect(position.profit().total).toBe(0n);
    position.mark(20_000);
    expect(textOfMoney(position.profit().spread)).toBe('1');
    expect(position.isExplained()).toBe(true);
  });

  it.each([0, -1, Number.NaN])('knows no mark of %s', halfTicks => {
    expect(() => new Position(btcMxn, money(0n)).mark(halfTicks)).toThrow(
      new RangeError(`expected a valuation price above zero as a whole number of half ticks, found ${halfTicks}`),
    );
  });

  it('of two periods is the sum of each part, and of one of them what the other leaves, part by part', () => {
    const part = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(money);
    const profits = fc.record({ spread: part, inventory: part, fees: part, hedging: part, total: part });
    fc.assert(
      fc.property(profits, profits, (a, b) => {
        const both = sumOfProfits(a, b);
        for (const name of ['spread', 'inventory', 'fees', 'hedging', 'total'] as const)
          expect(both[name]).toBe(a[name] + b[name]);
        expect(differenceOfProfits(both, a)).toEqual(b);
      }),
    );
  });
});

const tradeText = fc.integer({ min: 1, max: 10 ** 9 }).map(n => textOfMoney(money(BigInt(n) * 10n ** 10n)));
const anyTrade = fc.record({
  book: fc.constantFrom('btc_mxn', 'btc_mxn', 'eth_btc', 'eth_mxn'),
  side,
  price: tradeText,
  major: tradeText,
  minor: tradeText,
  feeAmount: tradeText,
  isFeeMajor: fc.boolean(),
});
const someTrades = fc.array(anyTrade, { maxLength: 12 }).map(all =>
  all.map(({ isFeeMajor, ...trade }, n): OwnTrade => {
    const [major, minor] = trade.book.split('_') as [string, string];
    return {
      ...trade,
      tid: String(n),
      oid: `x${n}`,
      createdAt: n,
      feeCurrency: isFeeMajor ? major : minor,
      maker: true,
    };
  }),
);

function opened(): OneBook {
  const bookings = new OneBook(btcMxn, null);
  const balance = (currency: string) => ({ currency, total: '1000', locked: '0', available: '1000' });
  bookings.read([balance('btc'), balance('mxn'), balance('eth')], 0);
  bookings.inventory.mark(20_000);
  return bookings;
}

const take = (bookings: OneBook, trade: OwnTrade, isOurs: boolean): void =>
  bookings.take(trade, isOurs ? 'a-1-1' : null);

describe('the ledger', () => {
  it('is opening plus trades less fees, in every currency, to the last digit', () => {
    fc.assert(
      fc.property(someTrades, trades => {
        const bookings = opened();
        const expected = new Map(['btc', 'mxn', 'eth'].map(currency => [currency, moneyOf('1000') as bigint]));
        const add = (currency: string, sum: bigint) => expected.set(currency, expected.get(currency)! + sum);
        for (const trade of trades) {
          take(bookings, trade, true);
          const [major, minor] = trade.book.split('_') as [string, string];
          add(major, (trade.side === 'buy' ? 1n : -1n) * moneyOf(trade.major));
          add(minor, (trade.side === 'buy' ? -1n : 1n) * moneyOf(trade.minor));
          add(trade.feeCurrency, -moneyOf(trade.feeAmount));
        }
        expect(new Map(bookings.totals)).toEqual(expected);
        expect(bookings.inventory.position()).toBe(expected.get('btc')! - moneyOf('1000'));
      }),
    );
  });

  it('is the same for any order and any repetition of the same trades', () => {
    fc.assert(
      fc.property(
        someTrades.chain(trades =>
          fc.tuple(
            fc.constant(trades),
            fc.shuffledSubarray(trades, { minLength: trades.length }),
            fc.array(fc.nat(Math.max(0, trades.length - 1)), { maxLength: 10 }),
          ),
        ),
        ([trades, shuffled, repeats]) => {
          const [one, other] = [opened(), opened()];
          for (const trade of trades) take(one, trade, true);
          for (const trade of shuffled) take(other, trade, true);
          for (const n of repeats) if (trades[n]) take(other, trades[n], true);
          expect(new Map(other.totals)).toEqual(new Map(one.totals));
          expect(other.inventory.position()).toBe(one.inventory.position());
          expect(other.inventory.profit()).toEqual(one.inventory.profit());
        },
      ),
    );
  });

  it('books both records of a trade of the account with itself, which share one trade id', () => {
    const bookings = opened();
    const bought: OwnTrade = {
      ...{ book: 'btc_mxn', tid: '7', createdAt: 1, price: '100', major: '2', minor: '200', maker: true },
      ...{ oid: 'ours', side: 'buy', feeAmount: '0.1', feeCurrency: 'btc' },
    };
    const sold: OwnTrade = { ...bought, oid: 'others', side: 'sell', feeAmount: '1', feeCurrency: 'mxn', maker: false };
    for (const trade of [bought, sold, bought, sold]) take(bookings, trade, trade === bought);
    expect(textOfMoney(bookings.total('btc'))).toBe('999.9');
    expect(textOfMoney(bookings.total('mxn'))).toBe('999');
    expect(() => take(bookings, { ...sold, minor: '201' }, false)).toThrow('reported as');
  });

  it('never counts a trade of somebody else on the account as profit', () => {
    fc.assert(
      fc.property(someTrades, trades => {
        const bookings = opened();
        for (const trade of trades) take(bookings, trade, false);
        expect(bookings.inventory.profit()).toEqual({ spread: 0n, inventory: 0n, hedging: 0n, fees: 0n, total: 0n });
        // But what it brought is held, and counts toward the position.
        expect(bookings.inventory.position()).toBe(bookings.total('btc') - moneyOf('1000'));
      }),
    );
  });

  it('tells in which currency the reported balance differs, and by how much', () => {
    const bookings = opened();
    bookings.read([{ currency: 'btc', total: '999.5', locked: '0', available: '0' }], 1);
    expect(bookings.differences()).toEqual([{ currency: 'btc', difference: moneyOf('-0.5') }]);
    expect(textOfMoney(bookings.total('btc'))).toBe('1000');
  });

  it('says of every entry what it is, when it was and why, and tells its book the same changes', () => {
    const entries: LedgerEntry[] = [];
    const told: Booked[] = [];
    let order: ReturnType<FillOf> = { id: 'mm-7-3', level: 2 };
    const bookings = new Bookings(
      booked => told.push(booked),
      () => order,
    );
    bookings.onEntry(entry => entries.push(entry));
    const read = (btc: string, mxn: string, at: number): void =>
      bookings.read(
        [
          ['btc', btc],
          ['mxn', mxn],
        ].map(([currency, total]) => ({ currency: currency!, total: total!, locked: '0', available: total! })),
        at,
      );
    read('10', '1000', T);
    const trade: OwnTrade = {
      ...{ book: 'btc_mxn', tid: '71', oid: 'x1', createdAt: T + 1, side: 'sell', price: '100.50', maker: true },
      ...{ major: '2', minor: '201', feeAmount: '1', feeCurrency: 'mxn' },
    };
    bookings.trade(trade);
    order = { id: 'mm-7-4', level: null };
    bookings.trade({ ...trade, tid: '72', maker: false });
    order = { id: null, level: 5 };
    bookings.trade({ ...trade, tid: '73', side: 'buy' });
    const give = { currency: 'btc', amount: moneyOf('1') };
    const get = { currency: 'mxn', amount: moneyOf('99') };
    bookings.convert({ id: 'h1', give, get, why: 'found in the balances', worth: moneyOf('98') }, T + 2);
    bookings.convert({ id: 'h2', give, get }, T + 3);
    read('6.00000001', '1396', T + 4);
    bookings.settleResidue(T + 4);
    const transfer = { source: 'f1', cause: 'deposits', currency: 'btc', amount: moneyOf('3') } as const;
    bookings.transfer({ ...transfer, occurredAt: T - 5, why: 'a deposit by SPEI' });
    read('9', '1400', T + 6);
    bookings.adjust(T + 7);
    const lines = entries.map(({ source, at, why, changes }) => [
      ...[source, at - T, why],
      changes.map(({ cause, currency, amount: of }) => `${cause} ${textOfMoney(of)} ${currency}`).join(', '),
    ]);
    const sold = 'trades -2 btc, trades 201 mxn, fees -1 mxn';
    const converted = 'conversions -1 btc, conversions 99 mxn';
    expect(lines).toEqual([
      ['opening', 0, null, 'opening 10 btc, opening 1000 mxn'],
      ['trade 71 x1', 1, 'btc_mxn at 100.50 as maker of mm-7-3 level 2', sold],
      ['trade 72 x1', 1, 'btc_mxn at 100.50 as taker of mm-7-4', sold],
      ['trade 73 x1', 1, 'btc_mxn at 100.50 as maker', 'trades 2 btc, trades -201 mxn, fees -1 mxn'],
      ['conversion h1', 2, 'found in the balances', converted],
      ['conversion h2', 3, null, converted],
      ['residue h2', 4, 'rounding', 'conversions 0.00000001 btc'],
      ['f1', -5, 'a deposit by SPEI', 'deposits 3 btc'],
      [`resume ${T + 7} btc`, 7, RESUMED, 'adjustments -0.00000001 btc'],
      [`resume ${T + 7} mxn`, 7, RESUMED, 'adjustments 4 mxn'],
    ]);
    expect(told.map(({ changes }) => changes)).toEqual(entries.map(({ changes }) => changes));
    expect(told.map(({ kind }) => kind)).toEqual([
      ...['opening', 'trade', 'trade', 'trade', 'conversion', 'conversion', 'conversion'],
      ...['transfer', 'transfer', 'transfer'],
    ]);
    expect(told.flatMap(one => (one.kind === 'conversion' ? [one.worth] : []))).toEqual([
      moneyOf('98'),
      ...[undefined, undefined],
    ]);
    expect(told.flatMap(one => (one.kind === 'trade' ? [one.trade.tid] : []))).toEqual(['71', '72', '73']);
    expect(bookings.version).toBe(entries.length);
  });

  it('forgets a balance that a later read does not tell, and counts only what it tells as a difference', () => {
    const bookings = opened();
    bookings.read([{ currency: 'mxn', total: '7', locked: '0', available: '7' }], 1);
    bookings.read([{ currency: 'btc', total: '999', locked: '0', available: '999' }], 2);
    expect(bookings.differences()).toEqual([{ currency: 'btc', difference: moneyOf('-1') }]);
    expect([...bookings.reported.keys()]).toEqual(['btc']);
  });

  it('leaves a later run what it was told of the trades that may be told again, both records of one id, and no others', () => {
    const bookings = opened();
    const bought: OwnTrade = {
      ...{ book: 'btc_mxn', tid: '7', createdAt: 1, price: '100', major: '2', minor: '200', maker: true },
      ...{ oid: 'x1', side: 'buy', feeAmount: '0.1', feeCurrency: 'btc' },
    };
    // One order id begins with the other.
    const sold: OwnTrade = { ...bought, oid: 'x11', side: 'sell', feeAmount: '1', feeCurrency: 'mxn' };
    for (const trade of [sold, bought, { ...bought, tid: '8' }]) take(bookings, trade, true);
    const { seen, causes, sources } = bookings.stateToSave(['7', '9']);
    expect([...seen]).toEqual([['7', 'x11 sell 100 2 200 1 mxn\nx1 buy 100 2 200 0.1 btc']]);
    const later = new OneBook(btcMxn, null);
    later.restore({ causes, sources, seen });
    for (const trade of [bought, sold]) take(later, trade, true);
    expect(new Map(later.totals)).toEqual(new Map(bookings.totals));
    for (const changes of [{ side: 'sell' }, { price: '1' }, { major: '1' }, { minor: '1' }, { feeAmount: '1' }])
      expect(() => take(later, { ...bought, ...changes } as OwnTrade, true)).toThrow(
        /^trade 7 was first reported as x1 buy 100 2 200 0\.1 btc, and now as x1 /,
      );
    expect(() => take(later, { ...bought, feeCurrency: 'mxn' }, true)).toThrow(/and now as x1 buy 100 2 200 0\.1 mxn$/);
  });

  it('knows a trade again for 20,000 trades, and then forgets the oldest, and no other', () => {
    const bookings = new Bookings(() => {});
    const tell = (tid: number): boolean => {
      const before = bookings.version;
      bookings.trade({
        ...{ book: 'btc_mxn', tid: `${tid}`, oid: 'x', createdAt: T, side: 'buy', price: '1', maker: true },
        ...{ major: '1', minor: '1', feeAmount: '0', feeCurrency: 'btc' },
      });
      return bookings.version > before;
    };
    for (let tid = 1; tid <= 20_000; tid++) tell(tid);
    expect([tell(1), tell(20_000)]).toEqual([false, false]);
    expect([tell(20_001), tell(2), tell(20_001), tell(1)]).toEqual([true, false, false, true]);
  });

  it('books of a trade in a book whose name tells no two currencies its fee alone, and the rest shows as a difference', () => {
    for (const book of ['btcmxn', 'btc_mxn_perp', '_mxn', '']) {
      const bookings = opened();
      const trade = { book, tid: '1', oid: 'x', createdAt: 0, side: 'buy', price: '10', feeAmount: '0.1' } as const;
      take(bookings, { ...trade, major: '2', minor: '20', feeCurrency: 'mxn', maker: true }, false);
      const totals = (['btc', 'mxn'] as const).map(currency => textOfMoney(bookings.total(currency)));
      expect(totals).toEqual(['1000', '999.9']);
      expect([...bookings.totals.keys()]).toEqual(['btc', 'mxn', 'eth']);
      bookings.read([{ currency: 'btc', total: '1002', locked: '0', available: '1002' }], 1);
      expect(bookings.differences()).toContainEqual({ currency: 'btc', difference: moneyOf('2') });
    }
  });

  it('refuses a trade before the opening balances', () => {
    const trade = {
      book: 'btc_mxn',
      tid: '1',
      oid: 'x',
      createdAt: 0,
      side: 'buy',
      price: '1',
      major: '1',
      minor: '1',
      feeAmount: '0',
      feeCurrency: 'btc',
      maker: true,
    } as const;
    expect(() => new OneBook(btcMxn, null).take(trade, null)).toThrow(/opening balances/);
  });
});

it.each(['', '@there'])(
  'an amount that the first balances lack is booked once, from the first settled read without a difference after a trade in it, also by a later run (currencies%s)',
  at => {
    const kinds: string[] = [];
    const entries: string[] = [];
    const started = () => {
      const bookings = new Bookings(({ kind }) => kinds.push(kind), undefined, undefined, at === '' ? null : 'there');
      bookings.onEntry(({ source, changes }) =>
        entries.push(`${source}: ${changes.map(each => `${textOfMoney(each.amount)} ${each.currency}`).join(', ')}`),
      );
      return bookings;
    };
    let bookings = started();
    const read = (sums: Readonly<Record<string, string>>, time: number, isSettled = true) =>
      bookings.read(
        Object.entries(sums).map(([currency, total]) => ({
          ...{ currency: `${currency}${at}`, total, locked: '0', available: total },
        })),
        time,
        isSettled,
      );
    read({ btc: '9', usd: '0' }, T);
    read({ btc: '9', usd: '0', bnb: '3', ltc: '4' }, T + 1);
    const trade: OwnTrade = {
      ...{ book: 'btc_usd', tid: '1', oid: 'o', createdAt: T, side: 'sell', price: '5', major: '1', minor: '5' },
      ...{ feeAmount: '0.5', feeCurrency: 'bnb', maker: false },
    };
    bookings.trade(trade);
    // The first read may include a trade that is not booked yet, and the second one does.
    read({ btc: '8', usd: '5', bnb: '2' }, T + 2, false);
    read({ btc: '7', usd: '10', bnb: '2' }, T + 3);
    expect(bookings.differences().map(({ currency }) => currency)).toEqual([`btc${at}`, `usd${at}`]);
    const before = bookings.stateToSave(['1']);
    expect(before.unopened).toEqual([`bnb${at}`]);
    bookings = started();
    bookings.restore(before);
    bookings.trade({ ...trade, tid: '2' });
    read({ btc: '7', usd: '10', bnb: '2' }, T + 4);
    expect([bookings.differences(), bookings.stateToSave([]).unopened]).toEqual([[], undefined]);
    expect(bookings.reported.get(`bnb${at}`)).toBe(moneyOf('2'));
    read({ btc: '7', usd: '10', bnb: '1.5' }, T + 5);
    expect(bookings.differences()).toEqual([{ currency: `bnb${at}`, difference: moneyOf('-0.5') }]);
    expect(entries).toEqual([
      `opening: 9 btc${at}, 0 usd${at}`,
      `trade 1 o${at}: -1 btc${at}, 5 usd${at}, -0.5 bnb${at}`,
      `trade 2 o${at}: -1 btc${at}, 5 usd${at}, -0.5 bnb${at}`,
      `opening bnb${at}: 3 bnb${at}`,
    ]);
    expect(kinds).toEqual(['opening', 'trade', 'trade', 'transfer']);
  },
);
