import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import { instrumentOf, LOT, money, NO_PROFIT, type Amount, type BookState } from '../../../src/core/index.ts';
import { absentBooksText } from '../../../src/live/loop/opening.ts';
import { textOfLedger, type LedgerCheckpoint } from '../../../src/live/recording/ledgerText.ts';
import { openDatabase, STATE_FILE, type Intent, type Leftovers } from '../../../src/live/state/journal.ts';
import { HOURS_MAX, hoursIn, writeHours, type BookHour } from '../../../src/live/state/profitHours.ts';
import { inUnitsOf } from '../../../src/live/state/unitConversion.ts';
import { runsOf } from '../../many.ts';
import { ACCOUNT, AT, Folders, markOf, opened, place } from '../states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SYMBOLS = ['eth_mxn', 'btc_usd', 'usd_mxn'] as const;

function leftIn(dir: string): Leftovers {
  const journal = opened(dir, AT + 60_000);
  journal.close();
  return journal.leftovers;
}

const amounts = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }).map(money);
const state: fc.Arbitrary<BookState> = fc
  .record({ target: amounts, held: fc.option(amounts), loss: amounts, at: fc.nat(), spread: amounts })
  .map(({ target, held, loss, at, spread }) => ({
    target: 0 as Amount,
    targetRest: target,
    ...(held === null ? {} : { held }),
    guard: { drawdown: loss, day: 20_000, dayLoss: loss },
    profit: { since: AT, at, twiceMid: spread, profit: { ...NO_PROFIT, spread, total: spread } },
    bases: {},
  }));
const states = fc.dictionary(fc.constantFrom(...SYMBOLS), state, { noNullPrototype: true });

const order = fc.record({ symbol: fc.option(fc.constantFrom(...SYMBOLS)), lots: fc.integer({ min: 1, max: 9 }) });
const step = fc.oneof(
  fc.record({ intends: fc.array(order, { minLength: 1, maxLength: 3 }) }),
  fc.record({ ends: fc.nat(100) }),
  fc.record({ keeps: states, first: state }),
  fc.constant({ flushes: true }),
);

/** The mark of a run of several books. */
function markWith(first: BookState, books: Readonly<Record<string, BookState>>): LedgerCheckpoint {
  const mark = markOf('100', '77');
  const units = { tick: '0.5', lot: '0.001' };
  const bookUnits = Object.fromEntries(Object.keys(books).map(symbol => [symbol, units]));
  return { ...mark, bookUnits, ledger: { ...mark.ledger, ...first, symbol: 'btc_mxn', books } };
}

describe('the stored state of several books', () => {
  test('is what the next start finds, each order in its book, after a kill between any two writes', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 10 }), list => {
        const dir = folders.fresh();
        const journal = opened(dir);
        const durable = { orders: new Map<string, string | undefined>(), mark: null as LedgerCheckpoint | null };
        let ended: string[] = [];
        let kept: LedgerCheckpoint | null = null;
        let ids = 0;
        const written = (): void => {
          for (const id of ended) durable.orders.delete(id);
          if (kept !== null) durable.mark = kept;
          [ended, kept] = [[], null];
        };
        for (const each of list) {
          if ('intends' in each) {
            const orders = each.intends.map(({ symbol, lots }): Intent => {
              const command = place(`a-1-${++ids}`, 'buy', 1000, lots);
              return symbol === null ? command : { ...command, symbol };
            });
            journal.intend(orders, AT + ids);
            written();
            for (const { id, symbol } of orders) durable.orders.set(id, symbol);
          } else if ('ends' in each) {
            const id = [...durable.orders.keys()][each.ends];
            if (id !== undefined && !ended.includes(id)) {
              journal.ended(id, 'filled');
              ended.push(id);
            }
          } else if ('keeps' in each) {
            kept = markWith(each.first, each.keeps);
            journal.keep(kept, []);
          } else {
            journal.flush();
            written();
          }
          const left = leftIn(folders.copyOf(dir));
          expect(new Map(left.orders.map(({ id, symbol }) => [id, symbol]))).toEqual(durable.orders);
          expect(left.ledger === null ? null : textOfLedger(left.ledger)).toBe(
            durable.mark === null ? null : textOfLedger(durable.mark.ledger),
          );
          if (left.ledger !== null) expect(left.ledger).toEqual(durable.mark!.ledger);
          expect(left.bookUnits).toEqual(durable.mark?.bookUnits);
        }
        journal.close();
      }),
      runsOf(100, 10),
    );
  });

  test('has each hour of each book once, as it was written last, in order of time', () => {
    const hour = fc.record({ symbol: fc.option(fc.constantFrom(...SYMBOLS)), hour: fc.nat(4), minute: fc.nat(59) });
    fc.assert(
      fc.property(fc.array(fc.array(hour, { maxLength: 4 }), { maxLength: 5 }), writes => {
        const db = openDatabase(':memory:');
        const books = new Map<string | undefined, Map<number, BookHour>>(
          [undefined, ...SYMBOLS].map(of => [of, new Map()]),
        );
        let n = 0;
        for (const hours of writes) {
          const ended = hours.map(({ symbol, hour, minute }): BookHour => {
            const profit = { ...NO_PROFIT, total: money(BigInt(++n)) };
            const of = { since: AT, at: AT + hour * 3_600_000 + minute * 60_000, twiceMid: null, profit };
            books.get(symbol ?? undefined)!.set(hour, of);
            return symbol === null ? of : { ...of, symbol };
          });
          writeHours(db, ACCOUNT, ended);
        }
        for (const [symbol, hours] of books)
          expect(hoursIn(db, ACCOUNT, symbol)).toEqual([...hours].toSorted(([a], [b]) => a - b).map(([, of]) => of));
        db.close();
      }),
      { numRuns: 50 },
    );
  });

  test('forgets the oldest hours of a book that has more than four years of them, and no hour of another book', () => {
    const db = openDatabase(':memory:');
    const first = 10;
    const fill = (name: string, count: number) =>
      db.exec(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
        INSERT INTO hours SELECT '${name}', (${first} + i) * 3600000, '{}', 0 FROM n`);
    fill(ACCOUNT, HOURS_MAX);
    fill(`book btc_usd of ${ACCOUNT}`, HOURS_MAX - 1);
    const spanOf = (name: string) => {
      const row = db.prepare(
        'SELECT count(*) AS count, min(hour) AS low, max(hour) AS high FROM hours WHERE account = ?',
      );
      const { count, low, high } = row.get(name) as { count: number; low: number; high: number };
      return [count, low / 3_600_000, high / 3_600_000];
    };
    const last = first + HOURS_MAX - 1;
    const hourAt = (n: number) => ({ since: null, at: n * 3_600_000, twiceMid: null, profit: NO_PROFIT });
    writeHours(db, ACCOUNT, [{ ...hourAt(last), symbol: 'btc_usd' }, hourAt(last)]);
    expect(spanOf(ACCOUNT)).toEqual([HOURS_MAX, first, last]);
    expect(spanOf(`book btc_usd of ${ACCOUNT}`)).toEqual([HOURS_MAX, first, last]);
    writeHours(db, ACCOUNT, [hourAt(last + 1), hourAt(last + 2)]);
    expect(spanOf(ACCOUNT)).toEqual([HOURS_MAX, first + 2, last + 2]);
    expect(spanOf(`book btc_usd of ${ACCOUNT}`)).toEqual([HOURS_MAX, first, last]);
    db.close();
  });

  test('is stored as that of one book is, until there is an order or a state of another book', () => {
    const dir = folders.fresh();
    const versionIn = (): unknown => {
      const db = new Database(join(folders.copyOf(dir), STATE_FILE));
      const [row] = db.pragma('user_version') as { user_version: number }[];
      db.close();
      return row!.user_version;
    };
    const journal = opened(dir);
    journal.intend([place('a-1-1')], AT);
    journal.flush(markOf('100', '77'));
    expect(versionIn()).toBe(5);
    journal.intend([{ ...place('a-1-2'), symbol: 'btc_usd' }], AT);
    expect(versionIn()).toBe(6);
    journal.close();
    expect(leftIn(dir).orders.map(({ id, symbol }) => [id, symbol])).toEqual([
      ['a-1-1', undefined],
      ['a-1-2', 'btc_usd'],
    ]);
    const other = folders.fresh();
    const next = opened(other);
    next.flush(markWith({ target: 0 as Amount, guard: null }, {}));
    next.close();
    expect(leftIn(other).ledger?.symbol).toBe('btc_mxn');
    const db = new Database(join(other, STATE_FILE));
    expect(db.pragma('user_version')).toEqual([{ user_version: 6 }]);
    db.close();
  });

  test('is refused when the book of an order was changed, and forgets it with its order', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.intend([{ ...place('a-1-1'), symbol: 'btc_usd' }], AT);
    journal.close();
    const change = (where: string, sql: string): void => {
      const db = new Database(join(where, STATE_FILE));
      db.exec(sql);
      db.close();
    };
    const damaged = folders.copyOf(dir);
    change(damaged, "UPDATE order_books SET book = 'eth_mxn'");
    expect(() => opened(damaged)).toThrow(/a row of order_books does not match its checksum/);
    change(dir, 'DELETE FROM intents');
    opened(dir).close();
    const db = new Database(join(dir, STATE_FILE));
    expect(db.prepare('SELECT * FROM order_books').all()).toEqual([]);
    db.close();
  });

  test('has each order in the units of its book, whatever the units of the others are', () => {
    const first = bookIn('btc_mxn', '1', '0.01');
    const others = [bookIn('btc_usd', '0.5', '0.1')];
    const left = {
      orders: [
        { ...order1('a-1-1'), price: 1000, amount: 5 },
        { ...order1('a-1-2'), price: 1000, amount: 5, symbol: 'btc_usd' },
      ] as never as Leftovers['orders'],
      ledger: null,
      bookUnits: { btc_usd: { tick: '0.1', lot: '0.2' } },
    };
    const { orders } = inUnitsOf(left, { tick: '1', lot: '0.001' }, first, others);
    expect(orders.map(({ id, symbol, price, amount }) => [id, symbol, price, amount])).toEqual([
      ['a-1-1', undefined, 1000, 1],
      ['a-1-2', 'btc_usd', 200, 10],
    ]);
    expect(inUnitsOf({ ...left, orders: [] }, { tick: '1', lot: '0.01' }, first, others).orders).toEqual([]);
    expect(() => inUnitsOf(left, null, first)).toThrow('order a-1-2 of an earlier run is in btc_usd');
  });

  test('of books that a run does not quote is named at its start, with the inventory that the run takes over', () => {
    const book = bookIn('btc_mxn', '1', LOT);
    const { ledger } = markOf('100', '77');
    expect(absentBooksText(null, [book])).toBeNull();
    expect(absentBooksText(ledger, [book])).toBeNull();
    const books = { btc_usd: { target: 0 as Amount, guard: null }, eth_mxn: { target: 0 as Amount, guard: null } };
    expect(absentBooksText({ ...ledger, symbol: 'btc_mxn', books }, [book])).toBe(
      'the ledger has the state of books that this bot does not quote: btc_usd, eth_mxn; their profit and markouts are kept; the inventory of btc_usd counts as inventory of btc_mxn',
    );
  });
});

const bookIn = (book: string, tickSize: string, lot: string) =>
  instrumentOf(
    {
      ...{ book, tickSize, minimumAmount: lot, maximumAmount: '1000', minimumPrice: tickSize, maximumPrice: '1000000' },
      ...{ minimumValue: '0', maximumValue: '1000000' },
    },
    lot,
  );

const order1 = (id: string) => ({ id, side: 'buy', filled: 0, oid: null, at: AT });
