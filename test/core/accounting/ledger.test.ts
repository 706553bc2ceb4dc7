/** The ledger: both sides of every entry add up to nothing, the causes of a currency are its balance, and histories in any order, told any number of times, give one ledger. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  causesFrom,
  causesOf,
  Ledger,
  money,
  moneyOf,
  SOURCES_MAX,
  sumOfCauses,
  textOfMoney,
  type Balance,
  type Cause,
  type Conversion,
  type LedgerEntry,
  type Money,
  type OwnTrade,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { btcMxn } from '../market.ts';
import { OneBook } from './oneBook.ts';
import { postingsOf } from './postings.ts';

const currency = fc.constantFrom('btc', 'mxn', 'usd');
const sum = fc.bigInt({ min: 1n, max: 10n ** 24n }).map(money);
const signed = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }).map(money);
const text = fc.integer({ min: 1, max: 10 ** 9 }).map(n => (n / 100).toFixed(2));

type Told =
  | { readonly kind: 'trade'; readonly trade: OwnTrade }
  | { readonly kind: 'conversion'; readonly conversion: Conversion }
  | {
      readonly kind: 'transfer';
      readonly source: string;
      readonly cause: TransferCause;
      readonly currency: string;
      readonly amount: Money;
    };
type TransferCause = 'fees' | 'deposits' | 'withdrawals' | 'refunds' | 'adjustments';

const trade = fc.record({
  book: fc.constantFrom('btc_mxn', 'btc_mxn', 'btc_usd', 'usd_mxn'),
  side: fc.constantFrom('buy' as const, 'sell' as const),
  ...{ price: text, major: text, minor: text, feeAmount: text },
  feeIsMajor: fc.boolean(),
});
const histories = fc
  .array(
    fc.oneof(
      trade.map(({ feeIsMajor, ...of }) => (n: number): Told => {
        const [major = '', minor = ''] = of.book.split('_');
        const feeCurrency = feeIsMajor ? major : minor;
        return { kind: 'trade', trade: { ...of, tid: `${n}`, oid: `o${n}`, createdAt: n, feeCurrency, maker: true } };
      }),
      fc
        .record({ from: currency, to: currency, give: sum, get: sum })
        .map(({ from, to, give, get }) => (n: number): Told => {
          const legs = { give: { currency: from, amount: give }, get: { currency: to, amount: get } };
          return { kind: 'conversion', conversion: { id: `c${n}`, ...legs } };
        }),
      fc
        .record({
          cause: fc.constantFrom<TransferCause>('fees', 'deposits', 'withdrawals', 'refunds', 'adjustments'),
          ...{ currency, amount: signed },
        })
        .map(of => (n: number): Told => ({ kind: 'transfer', source: `t${n}`, ...of })),
    ),
    { maxLength: 25 },
  )
  .map(all => all.map((make, n) => make(n)));

/** The same history, shuffled, with repeats. */
const retold = histories.chain(history =>
  fc.tuple(
    fc.constant(history),
    fc.shuffledSubarray(history, { minLength: history.length }),
    fc.array(fc.nat(Math.max(0, history.length - 1)), { maxLength: 15 }),
  ),
);

const OPENING: readonly Balance[] = ['btc', 'mxn'].map(each => ({
  ...{ currency: each, total: '1000.00000001', locked: '0', available: '1000' },
}));

function opened(): { readonly bookings: OneBook; readonly entries: LedgerEntry[] } {
  const bookings = new OneBook(btcMxn, null);
  const entries: LedgerEntry[] = [];
  bookings.onEntry(entry => void entries.push(entry));
  bookings.read(OPENING, 0);
  bookings.inventory.mark(20_000);
  return { bookings, entries };
}

function tell(bookings: OneBook, told: Told): void {
  if (told.kind === 'conversion') bookings.convert(told.conversion, 1);
  else if (told.kind === 'transfer') bookings.transfer({ ...told, occurredAt: 1, why: '' });
  else bookings.take(told.trade, 'a-1-1');
}

const booksOf = (bookings: OneBook) => [...bookings.stateToSave([]).causes].sort(([a], [b]) => (a < b ? -1 : 1));

describe('the ledger', () => {
  it('has both sides of every entry, which add up to nothing, and causes that add up to the balance, always', () => {
    fc.assert(
      fc.property(histories, history => {
        const { bookings, entries } = opened();
        for (const told of history) {
          tell(bookings, told);
          for (const [name, causes] of bookings.stateToSave([]).causes)
            expect(sumOfCauses(causes)).toBe(bookings.total(name));
        }
        const balances = new Map<string, bigint>();
        for (const entry of entries) {
          const sums = new Map<string, bigint>();
          for (const { account, currency: name, amount } of postingsOf(entry)) {
            sums.set(name, (sums.get(name) ?? 0n) + amount);
            if (account === 'balance') balances.set(name, (balances.get(name) ?? 0n) + amount);
          }
          expect([...sums.values()].every(all => all === 0n)).toBe(true);
        }
        expect(balances).toEqual(new Map(bookings.totals));
        expect([...causesFrom(entries)].sort()).toEqual(booksOf(bookings).sort());
      }),
    );
  });

  it('is the same for every order and repetition of trades, conversions and transfers, and so are position and profit', () => {
    fc.assert(
      fc.property(retold, ([history, shuffled, repeats]) => {
        const [one, other] = [opened(), opened()];
        for (const told of history) tell(one.bookings, told);
        for (const told of shuffled) tell(other.bookings, told);
        for (const n of repeats) {
          const again = history[n];
          if (again) tell(other.bookings, again);
        }
        expect(booksOf(other.bookings)).toEqual(booksOf(one.bookings));
        expect(other.entries).toHaveLength(one.entries.length);
        expect(new Set(other.entries.map(({ source }) => source)).size).toBe(other.entries.length);
        expect(other.bookings.inventory.position()).toBe(one.bookings.inventory.position());
        expect(other.bookings.inventory.profit()).toEqual(one.bookings.inventory.profit());
      }),
    );
  });

  it('goes on where it was left, knows what it has booked, and books the rest', () => {
    fc.assert(
      fc.property(retold, fc.nat(), ([history, shuffled], cut) => {
        const [whole, first] = [opened(), opened()];
        for (const told of history) tell(whole.bookings, told);
        for (const told of history.slice(0, cut % (history.length + 1))) tell(first.bookings, told);
        const second = new OneBook(btcMxn, null);
        const tids = history.flatMap(told => (told.kind === 'trade' ? [told.trade.tid] : []));
        second.restore(first.bookings.stateToSave(tids));
        second.inventory.restore(second.total('btc'), first.bookings.inventory.target(first.bookings.total('btc')));
        for (const told of shuffled) tell(second, told);
        expect(booksOf(second)).toEqual(booksOf(whole.bookings));
      }),
    );
  });
});

describe('the sources of a ledger', () => {
  const entry = (source: string): LedgerEntry => ({
    ...{ source, at: 1.7e12, why: null },
    changes: [{ cause: 'deposits', currency: 'btc', amount: moneyOf('1') }],
  });
  const book = (ledger: Ledger, n: number) => ledger.book(entry(`s${n}`));

  it('are known again for 300 entries, also by a later run; then the oldest is forgotten, and no other', () => {
    const first = new Ledger();
    for (let n = 1; n <= SOURCES_MAX; n++) expect(book(first, n)).toBe(true);
    expect(SOURCES_MAX).toBe(300);
    const later = new Ledger();
    later.restore(first.causes, first.sources);
    for (const ledger of [first, later]) {
      const before = ledger.version;
      expect([book(ledger, 1), book(ledger, 300), ledger.version]).toEqual([false, false, before]);
      expect([book(ledger, 301), book(ledger, 2), ledger.sources.length]).toEqual([true, false, SOURCES_MAX]);
      expect(ledger.sources).toEqual(Array.from({ length: SOURCES_MAX }, (_, n) => `s${n + 2}`));
      expect([book(ledger, 1), ledger.version]).toEqual([true, before + 2]);
      expect(ledger.balance('btc')).toBe(moneyOf('302'));
    }
    // Bookings of the later run do not change the ledger that it was given.
    expect(first.causes.get('btc')).toEqual(causesOf({ deposits: moneyOf('302') }));
    expect(causesOf({})).toEqual({ ...causesOf({ deposits: moneyOf('1') }), deposits: 0n });
  });
});

const balances = (btc: string, mxn: string): readonly Balance[] => [
  { currency: 'btc', total: btc, locked: '0', available: btc },
  { currency: 'mxn', total: mxn, locked: '0', available: mxn },
];
const causeOf = (bookings: OneBook, name: string, cause: Cause) => bookings.stateToSave([]).causes.get(name)?.[cause];

describe('profit', () => {
  it('is what it was after any deposit, withdrawal, refund or adjustment, with and without a target', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.constantFrom('deposits' as const, 'withdrawals' as const, 'refunds' as const, 'adjustments' as const),
            currency,
            signed,
          ),
        ),
        fc.constantFrom(null, 5 as never),
        (moved, target) => {
          const bookings = new OneBook(btcMxn, target);
          bookings.read(OPENING, 0);
          bookings.inventory.mark(20_000);
          const before = bookings.inventory.profit();
          moved.forEach(([cause, name, amount], n) =>
            bookings.transfer({ source: `t${n}`, cause, currency: name, amount, occurredAt: 1, why: '' }),
          );
          expect(bookings.inventory.profit()).toEqual(before);
        },
      ),
    );
  });

  it('grows by a fee that was given back', () => {
    const { bookings } = opened();
    const rebate = { cause: 'fees', occurredAt: 1, why: 'rebate' } as const;
    bookings.transfer({ ...rebate, source: 'r1', currency: 'mxn', amount: moneyOf('2') });
    bookings.transfer({ ...rebate, source: 'r2', currency: 'btc', amount: moneyOf('0.01') });
    // The mark is 100 mxn: half of 20,000 half ticks of 0.01.
    expect(bookings.inventory.profit()).toMatchObject({ fees: moneyOf('3'), total: moneyOf('3') });
    expect(causeOf(bookings, 'mxn', 'fees')).toBe(moneyOf('2'));
  });
});

/** One unit of the eighth decimal. */
const LAST_DIGIT = 10n ** 10n;

describe('what rounding leaves of a conversion', () => {
  const conversion: Conversion = {
    id: 'h1',
    give: { currency: 'btc', amount: moneyOf('1') },
    get: { currency: 'mxn', amount: moneyOf('99') },
  };
  const after = (btc: string, mxn: string, at = 1): OneBook => {
    const bookings = new OneBook(btcMxn, null);
    bookings.read(balances('10', '1000'), 0);
    bookings.inventory.mark(20_000);
    bookings.convert(conversion, at);
    bookings.read(balances(btc, mxn), at + 1);
    bookings.settleResidue(at + 1);
    return bookings;
  };

  it('is booked with the conversion, to the last digit', () => {
    const bookings = after('9', '1098.99999999');
    expect(bookings.differences()).toEqual([]);
    expect(causeOf(bookings, 'mxn', 'conversions')).toBe(moneyOf('98.99999999'));
    expect(bookings.inventory.profit().hedging).toBe(moneyOf('-1.00000001'));
    // Once: the next last digit is nobody's.
    bookings.read(balances('9', '1098.99999998'), 3);
    bookings.settleResidue(3);
    expect(bookings.differences()).toHaveLength(1);
  });

  it('is booked at the first read in which nothing else differs, of each conversion and leg, whatever came before', () => {
    const unit = fc.integer({ min: -1, max: 1 });
    const converted = fc.record({ kind: fc.constant('convert'), from: currency, to: currency, gave: unit, got: unit });
    const steps = fc.oneof(
      converted,
      fc.record({ kind: fc.constant('deposit'), to: currency }),
      fc.constant({ kind: 'listed' } as const),
      fc.constant({ kind: 'read' } as const),
    );
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 12 }), all => {
        const holdings = new OneBook(btcMxn, null);
        const reported = new Map<string, bigint>(['btc', 'mxn', 'usd'].map(of => [of, moneyOf('1000')]));
        const add = (sums: Map<string, bigint>, of: string, more: bigint) => sums.set(of, (sums.get(of) ?? 0n) + more);
        const read = () => {
          const rows = [...reported].map(([of, total]) => ({ currency: of, total: textOfMoney(money(total)) }));
          holdings.read(
            rows.map(row => ({ ...row, locked: '0', available: row.total })),
            1,
          );
          holdings.settleResidue(1);
        };
        read();
        let unlisted: string[] = [];
        const residue = new Map<string, bigint>();
        [...all, { kind: 'listed' } as const, { kind: 'read' } as const].forEach((step, n) => {
          if (step.kind === 'convert') {
            if (step.from === step.to) return;
            const [give, get] = [moneyOf('3'), moneyOf('5')];
            const rounded = [BigInt(step.gave) * LAST_DIGIT, BigInt(step.got) * LAST_DIGIT] as const;
            const legs = { give: { currency: step.from, amount: give }, get: { currency: step.to, amount: get } };
            holdings.convert({ id: `h${n}`, ...legs }, 1);
            add(reported, step.from, rounded[0] - give);
            add(reported, step.to, get + rounded[1]);
            add(residue, step.from, rounded[0]);
            add(residue, step.to, rounded[1]);
          } else if (step.kind === 'deposit') {
            add(reported, step.to, moneyOf('7'));
            unlisted.push(step.to);
          } else if (step.kind === 'listed') {
            const deposit = { cause: 'deposits', amount: moneyOf('7'), occurredAt: 1, why: '' } as const;
            unlisted.forEach((of, i) => holdings.transfer({ ...deposit, source: `f${n} ${i}`, currency: of }));
            unlisted = [];
          } else {
            read();
            if (unlisted.length === 0) residue.clear();
            const expected = new Map(residue);
            for (const of of unlisted) add(expected, of, moneyOf('7'));
            const found = holdings.differences().map(one => [one.currency, one.difference] as const);
            expect(new Map(found)).toEqual(new Map([...expected].filter(([, sum]) => sum !== 0n)));
          }
        });
      }),
      runsOf(5_000, 100),
    );
  });

  it('is nothing once the balances were equal to the ledger after it', () => {
    const bookings = after('9', '1099');
    expect(bookings.differences()).toEqual([]);
    const before = bookings.version;
    bookings.read(balances('9', '1098.99999999'), 3);
    bookings.settleResidue(3);
    expect([bookings.differences().length, bookings.version]).toEqual([1, before]);
  });

  it.each([
    ['more than a last digit', '9', '1098.99999998'],
    ['half a coin', '8.5', '1099'],
  ])('is nothing when it is %s', (_, btc, mxn) => {
    expect(after(btc, mxn).differences()).not.toEqual([]);
  });
});
