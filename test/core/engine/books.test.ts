import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Engine,
  moneyOf,
  textOfMoney,
  type EngineEvent,
  type Instrument,
  type RestoredLedger,
  type Side,
} from '../../../src/core/index.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { Replaying } from '../../../src/live/replay/replay.ts';
import { runsOf } from '../../many.ts';
import { PATIENCE, quoteAround } from '../toyExchange.ts';
import { AccountState } from '../../../src/core/engine/accountState.ts';
import { BOOKS, CURRENCIES, SharedAccount, START, type Balances } from '../sharedAccount.ts';

/** Targets in lots of 1 that equal the first balances. */
const START_TARGETS = { btc: 1_000, eth: 1_000, usd: 1_000_000 };

/** Sum of what the books with this base currency have beyond their targets. */
function positions({ engine }: SharedAccount, currency: string): bigint {
  return engine.books.filter(({ major }) => major === currency).reduce((sum, { position }) => sum + position, 0n);
}

const things = fc.array(
  fc.record({
    what: fc.constantFrom('fill', 'fill', 'foreign', 'round', 'restart'),
    which: fc.nat(100),
    lots: fc.integer({ min: 1, max: 10 }),
    side: fc.constantFrom<Side>('buy', 'sell'),
  }),
  { minLength: 1, maxLength: 30 },
);

const mids = fc.dictionary(fc.constantFrom(...BOOKS.map(({ symbol }) => symbol)), fc.integer({ min: 900, max: 1_100 }));

const run = fc.record({
  books: fc.shuffledSubarray([...BOOKS], { minLength: 1 }),
  fills: fc.array(fc.record({ which: fc.nat(100), lots: fc.integer({ min: 1, max: 10 }) }), { maxLength: 6 }),
});

describe('several books of one account', () => {
  test('each unit of a currency belongs to exactly one book, over fills, foreign trades and restarts', () => {
    fc.assert(
      fc.property(things, list => {
        let account = new SharedAccount().open();
        const opening = { ...account.balances };
        for (const { what, which, lots, side } of list) {
          const ids = [...account.live.keys()];
          if (what === 'fill' && ids.length > 0) account.fill(ids[which % ids.length]!, lots);
          else if (what === 'foreign') account.trade(BOOKS[which % BOOKS.length]!, side, 1_000, lots);
          else if (what === 'restart') account = restarted(account);
          account.round();
          expect(account.bookOf('btc_usd').position, 'only fills of its own orders').toBe(
            moneyOf(`${account.ownIn.btc_usd}`),
          );
          for (const currency of ['btc', 'eth', 'usd'] as const)
            expect(positions(account, currency), currency).toBe(
              moneyOf(`${account.balances[currency] - opening[currency]}`),
            );
        }
        account.readBalances();
        expect(account.engine.account.differences()).toEqual([]);
        expect(account.halts).toEqual([]);
      }),
      runsOf(300, 30),
    );
  });

  test('funds that two books want are reserved once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), things, (mxn, list) => {
        const account = new SharedAccount({ mxn, usd: 20_000 }).open();
        const { engine } = account;
        for (const { what, which, lots } of list) {
          const ids = [...account.live.keys()];
          if (ids.length > 0) account.fill(ids[which % ids.length]!, lots);
          account.isLate = () => what === 'foreign';
          account.round();
          // An order that was found completed may still spend what the ledger shows, until its trade is listed.
          const asked = { btc: 0n, eth: 0n, usd: 0n, mxn: 0n };
          for (const { exposed } of engine.books) {
            asked[exposed.quote as keyof Balances] += exposed.orders.buy.quote;
            asked[exposed.base as keyof Balances] += exposed.orders.sell.base;
          }
          for (const currency of CURRENCIES)
            expect(asked[currency] <= engine.account.total(currency), currency).toBe(true);
          const spent = { btc: 0, eth: 0, usd: 0, mxn: 0 };
          for (const { command, book, left } of account.live.values())
            if (command.side === 'buy') spent[book.minor as keyof Balances] += left * command.price;
            else spent[book.major as keyof Balances] += left;
          for (const currency of CURRENCIES)
            expect(spent[currency], currency).toBeLessThanOrEqual(account.balances[currency]);
        }
      }),
      runsOf(200, 20),
    );
  });

  test('an order is canceled that would pass a limit together with an order whose trade is not listed yet', () => {
    const currencyLimits = new Map([['btc', moneyOf('25')]]);
    const account = new SharedAccount({}, BOOKS, 1, null, { shared: { currencyLimits } }).open();
    const bidIn = (symbol: string) =>
      [...account.live].find(([, { book, command }]) => book.symbol === symbol && command.side === 'buy')?.[0];
    const filled = bidIn('btc_mxn')!;
    account.isLate = ({ originId }) => originId === filled;
    account.fill(filled, 10);
    account.round();
    expect([bidIn('btc_mxn'), bidIn('btc_usd') === undefined]).toEqual([undefined, false]);
    // A person buys 8 btc: with 10 of the filled order and 10 of the other bid, that is beyond the limit.
    account.trade(BOOKS[0]!, 'buy', 1_000, 8);
    account.round();
    expect(bidIn('btc_usd')).toBeUndefined();
  });

  test('a halt of the account halts all books, a loss only its own, and the others go on quoting', () => {
    const account = new SharedAccount().open();
    expect(new Set([...account.live.values()].map(({ book }) => book.symbol)).size).toBe(BOOKS.length);
    account.bookOf('eth_mxn').halt('x');
    account.round();
    expect(account.halts).toEqual(['eth_mxn: x']);
    expect(new Set([...account.live.values()].map(({ book }) => book.symbol))).toEqual(
      new Set(['btc_mxn', 'btc_usd', 'usd_mxn']),
    );
    account.step({ kind: 'halt', at: account.now, reason: 'y' });
    account.round();
    expect(account.halts).toEqual(['eth_mxn: x', 'btc_mxn: y', 'btc_usd: y', 'usd_mxn: y']);
    expect(account.live.size).toBe(0);
  });

  test('balances that differ from the ledger halt all books', () => {
    const account = new SharedAccount().open();
    account.balances.usd -= 5;
    for (let n = 0; n < 40; n++) {
      account.round();
      account.readBalances();
    }
    expect(account.halts.map(halt => halt.split(':')[0])).toEqual(BOOKS.map(({ symbol }) => symbol));
    expect(account.live.size).toBe(0);
  });

  test('one recording has all books, and its replay gives every command again', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...BOOKS], { minLength: 1 }),
        fc.array(fc.record({ which: fc.nat(100), lots: fc.integer({ min: 0, max: 10 }), mids }), { maxLength: 12 }),
        (books, list) => {
          const account = new SharedAccount({}, books).open();
          for (const { which, lots, mids: at } of list) {
            const ids = [...account.live.keys()];
            if (ids.length > 0 && lots > 0) account.fill(ids[which % ids.length]!, lots);
            account.round(200, at);
          }
          const replaying = new Replaying(1, new SharedAccount({}, books).engine);
          for (const line of account.lines) expect(replaying.take(lineOf(line))).toBeNull();
          const replayed = replaying.end();
          expect(replayed.difference).toBeNull();
          expect(replayed.commands).toBeGreaterThanOrEqual(2 * books.length);
        },
      ),
      runsOf(200, 20),
    );
  });

  test('a recording whose levels belong to another book is not replayed as the same', () => {
    const account = new SharedAccount({}, BOOKS.slice(0, 2)).open();
    account.round(200, { btc_mxn: 1_200 });
    const replaying = new Replaying(1, new SharedAccount({}, BOOKS.slice(0, 2)).engine);
    const swapped = account.lines.map(line =>
      line.startsWith('i{"event":{"kind":"book"') ? line.replace('btc_mxn', 'eth_mxn') : line,
    );
    const ended = swapped.map(line => replaying.take(lineOf(line))).find(result => result !== null);
    expect(ended?.difference).toMatch(/the engine now returns/);
  });

  test('a book that a later run adds begins with what it has, and the others keep their inventory', () => {
    const account = new SharedAccount({}, BOOKS.slice(0, 2)).open();
    account.fill([...account.live.keys()][0]!, 7);
    account.round();
    const next = restarted(account, BOOKS);
    expect(next.bookOf('btc_mxn').position).toBe(account.bookOf('btc_mxn').position);
    expect(next.bookOf('usd_mxn').position).toBe(0n);
    next.trade(BOOKS[3]!, 'buy', 1_000, 5);
    next.round();
    expect(next.bookOf('usd_mxn').position).toBe(moneyOf('5'));
  });

  test('whichever books each run has, in any order, no unit of a currency is lost or counted twice', () => {
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 6 }), runs => {
        let account = new SharedAccount().open();
        const opening = { ...account.balances };
        for (const { books, fills } of runs) {
          for (const { which, lots } of fills) {
            const ids = [...account.live.keys()];
            if (ids.length > 0) account.fill(ids[which % ids.length]!, lots);
            account.round();
          }
          const before = account;
          account = restarted(before, books);
          const [earlier, later] = [statesOf(before), statesOf(account)];
          expect(new Set(later.keys()), 'no state is lost').toEqual(new Set([...earlier.keys(), ...later.keys()]));
          expect(new Set(account.engine.keptBooks)).toEqual(
            new Set([...earlier.keys()].filter(symbol => account.bookOf(symbol) === undefined)),
          );
          for (const { symbol } of books) {
            const isHome = books.find(({ major }) => major === symbol.split('_')[0])!.symbol === symbol;
            if (!isHome && before.bookOf(symbol) !== undefined)
              expect(account.bookOf(symbol).position, `${symbol} keeps its inventory`).toBe(
                before.bookOf(symbol).position,
              );
          }
          for (const currency of new Set(books.map(({ major }) => major as 'btc' | 'eth' | 'usd')))
            expect(positions(account, currency), currency).toBe(
              moneyOf(`${account.balances[currency] - opening[currency]}`),
            );
          for (const symbol of account.engine.keptBooks)
            expect({ ...later.get(symbol), ...INVENTORY }, symbol).toEqual({ ...earlier.get(symbol), ...INVENTORY });
        }
        account.readBalances();
        expect(account.engine.account.differences()).toEqual([]);
        expect(account.halts).toEqual([]);
      }),
      runsOf(300, 10),
    );
  });

  test('a book that no run has gives its inventory to the home of its currency, and gets back what it traded since', () => {
    const account = new SharedAccount().open();
    const id = [...account.live].find(
      ([, { book, command }]) => book.symbol === 'btc_usd' && command.side === 'buy',
    )![0];
    account.fill(id, 4);
    account.round();
    expect([account.bookOf('btc_usd').position, account.bookOf('btc_mxn').position]).toEqual([moneyOf('4'), 0n]);
    const without = restarted(account, [BOOKS[0]!, BOOKS[1]!]);
    expect(without.engine.keptBooks).toEqual(['btc_usd', 'usd_mxn']);
    expect(without.bookOf('btc_mxn').position).toBe(moneyOf('4'));
    const again = restarted(without, BOOKS);
    expect([again.bookOf('btc_usd').position, again.bookOf('btc_mxn').position]).toEqual([0n, moneyOf('4')]);
    expect(again.engine.keptBooks).toEqual([]);
  });

  test('deposits, withdrawals and manual trades leave each currency the inventory that it has if its books are never removed', () => {
    const step = fc.record({
      what: fc.constantFrom('books', 'money', 'money', 'trade'),
      books: fc.subarray(BOOKS.slice(1)),
      currency: fc.constantFrom('btc', 'eth', 'usd'),
      place: fc.constantFrom('', '', '@binance'),
      cause: fc.constantFrom('deposits', 'adjustments', 'fees'),
      lots: fc.integer({ min: -9, max: 9 }).filter(lots => lots !== 0),
    });
    const steps = fc.array(step, { minLength: 1, maxLength: 12 });
    const withdrawal = { currency: 'eth', place: '', cause: 'deposits', lots: -9 } as const;
    fc.assert(
      fc.property(steps, list => {
        let [account, always] = [new SharedAccount().open(), new SharedAccount().open()];
        for (const [n, { what, books, currency, place, cause, lots }] of list.entries()) {
          if (what === 'books') [account, always] = [restarted(account, [BOOKS[0]!, ...books]), restarted(always)];
          for (const each of [account, always]) {
            if (what === 'trade')
              each.trade({ ...BOOKS[0]!, symbol: `${currency}_mxn`, major: currency }, 'buy', 1_000, 3);
            if (what === 'money')
              transfer(each, `${n}`, `${currency}${place}`, place === '' ? cause : 'deposits', lots);
            each.round();
          }
        }
        [account, always] = [restarted(account, BOOKS), restarted(always)];
        for (const { symbol } of BOOKS)
          expect(textOfMoney(account.bookOf(symbol).position), symbol).toBe(
            textOfMoney(always.bookOf(symbol).position),
          );
        expect(account.halts).toEqual([]);
      }),
      {
        ...runsOf(300, 30),
        examples: [
          [
            [
              { ...withdrawal, what: 'books', books: [BOOKS[2]!] },
              { ...withdrawal, what: 'money', books: [] },
            ],
          ],
        ],
      },
    );
  });

  test('what is traded on another exchange belongs to the home of the base currency that is hedged there, in whatever order the books are', () => {
    const orders = fc.array(
      fc.record({ side: fc.constantFrom<Side>('buy', 'sell'), lots: fc.integer({ min: 1, max: 9 }) }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(fc.shuffledSubarray([...BOOKS], { minLength: 1 }), fc.nat(3), orders, (books, which, list) => {
        const hedged = books[which % books.length]!;
        const account = new SharedAccount({}, books, 1, hedged).open();
        account.readThere(hedged.major);
        account.round();
        let bought = 0;
        for (const [n, { side, lots }] of list.entries()) {
          account.hedges(`h${n}`, hedged, side, lots);
          bought += side === 'buy' ? lots : -lots;
          for (const { symbol, major } of books) {
            const isHome = books.find(each => each.major === hedged.major)!.symbol === symbol;
            expect(account.bookOf(symbol).position, symbol).toBe(moneyOf(`${isHome ? bought : 0}`));
            const { hedging } = account.bookOf(symbol).snapshot(account.now).booked.profit;
            // Bought and sold at 1,000 in the quote currency of the book, whose mid price is 1,000 too.
            expect(hedging, `${symbol} of ${major}`).toBe(0n);
          }
        }
        expect(account.halts).toEqual([]);
      }),
      runsOf(200, 20),
    );
  });

  test('what is held and ordered on another exchange counts only in books with the hedged base currency, also later without hedges', () => {
    const orders = fc.array(
      fc.record({ side: fc.constantFrom<Side>('buy', 'sell'), lots: fc.integer({ min: 1, max: 9 }) }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(fc.shuffledSubarray([...BOOKS], { minLength: 2 }), fc.nat(3), orders, (books, which, list) => {
        const hedged = books[which % books.length]!;
        const account = new SharedAccount({}, books, 1, hedged).open();
        account.readThere(hedged.major);
        account.round();
        for (const [n, { side, lots }] of list.entries()) account.hedges(`h${n}`, hedged, side, lots);
        const inventory = (of: SharedAccount) => books.map(({ symbol }) => of.bookOf(symbol).position);
        const before = inventory(account);
        account.hedgeInFlight('last', hedged, 'sell', 7);
        for (const { symbol, major } of books) {
          const sell = major === hedged.major ? 7 : 0;
          expect(account.bookOf(symbol).riskContext(account.now).converting, symbol).toEqual({ buy: 0, sell });
        }
        expect(inventory(restarted(account))).toEqual(before);
      }),
      runsOf(200, 20),
    );
  });

  test('both outcomes of an order on another exchange count in the limits on the value of all books', () => {
    fc.assert(
      fc.property(fc.constantFrom(...BOOKS), fc.constantFrom<Side>('buy', 'sell'), (hedged, side) => {
        const shared = { valueLimit: { currency: 'mxn', max: moneyOf('1000000000') } };
        const account = new SharedAccount({}, BOOKS, 1, hedged, { shared }).open();
        account.readThere(hedged.major);
        account.round();
        account.hedgeInFlight('h', hedged, side, 7);
        for (const book of account.engine.books)
          for (const { currency, up, down } of book.riskContext(account.now).valueRoom!.held) {
            const lots = currency === hedged.major ? moneyOf('7') : 0n;
            expect([up, down]).toEqual(side === 'buy' ? [lots, 0n] : [0n, lots]);
          }
      }),
    );
  });

  test('an amount that is booked on an exchange without access belongs to the home of its currency, in this run as in the next', () => {
    const booking = fc.record({
      currency: fc.constantFrom('btc', 'eth', 'usd', 'mxn'),
      place: fc.constantFrom('binance', 'transit'),
      amount: fc.integer({ min: -9, max: 9 }).filter(amount => amount !== 0),
    });
    const bookings = fc.array(booking, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.shuffledSubarray([...BOOKS], { minLength: 1 }), bookings, (books, list) => {
        const account = new SharedAccount({}, books, 1, null, { targets: START_TARGETS }).open();
        const first = books.map(({ symbol }) => account.bookOf(symbol).position);
        expect(first.every(position => position === 0n)).toBe(true);
        for (const [n, { currency, place, amount }] of list.entries())
          account.step({
            ...{ kind: 'transfer', at: account.now, source: `s${n}`, why: 'told', cause: 'deposits' },
            ...{ currency: `${currency}@${place}`, occurredAt: account.now, amount: moneyOf(`${amount}`) },
          });
        const ledger = account.engine.ledger([])!;
        for (const { symbol, major } of books) {
          const isHome = books.find(each => each.major === major)!.symbol === symbol;
          // An arrival ends what is in transit, so the sum of the bookings may be more.
          const rows = [...ledger.causes].filter(([currency]) => isHome && currency.startsWith(`${major}@`));
          const sum = rows.flatMap(([, row]) => Object.values(row)).reduce((all, booked) => all + booked, 0n);
          expect(account.bookOf(symbol).position, symbol).toBe(sum);
        }
        const next = new SharedAccount(account.balances, books, 2, null, { targets: START_TARGETS });
        next.now = account.now;
        next.step({ kind: 'restore', at: next.now, orders: [], ledger });
        const inventory = (of: SharedAccount) => books.map(({ symbol }) => of.bookOf(symbol).position);
        expect(inventory(next)).toEqual(inventory(account));
      }),
      runsOf(200, 20),
    );
  });

  test('an answer about several orders proves of each the same, whether their book is the only one or one of several', () => {
    const ids = ['mm-0-1', 'mm-0-2', 'mm-0-3'];
    const answer = fc.record({
      kind: fc.constantFrom('canceled', 'looked up'),
      /** The last two are orders that the engine does not know any more. */
      ids: fc.subarray([...ids, 'mm-0-8', 'mm-0-9'], { minLength: 1 }),
      isKnown: fc.boolean(),
      afterMs: fc.constantFrom(0, 1_000, 60_000),
    });
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 8 }), fc.subarray(BOOKS.slice(1)), (answers, others) => {
        const left = ids.map(id => ({ id, side: 'buy', price: 900, amount: 5, filled: 0, oid: null, at: START }));
        const engines = [[BOOKS[0]!], [BOOKS[0]!, ...others], [...others, BOOKS[0]!]].map(books => {
          const { engine } = new SharedAccount({}, books);
          const orders = left.map(order => ({ ...order, symbol: 'btc_mxn' })) as never;
          engine.step({ kind: 'restore', at: START, orders, ledger: null });
          return engine;
        });
        let at = START;
        for (const { kind, ids: asked, isKnown, afterMs } of answers) {
          at += afterMs;
          const value = isKnown && kind === 'canceled' ? asked.map(id => `oid-${id}`) : [];
          const event = { kind, at, startedAt: at, ids: asked, outcome: { kind: 'done', value } } as EngineEvent;
          const [only, ...several] = engines.map(engine => {
            engine.step(event);
            return ids.map(id => ({ ...engine.order(id) }));
          });
          for (const orders of several) expect(orders).toEqual(only);
        }
      }),
      runsOf(500, 50),
    );
  });

  test('a target of a book that is not the first with its base currency, and an order of another book, are errors', () => {
    const options = (instrument: Instrument, target: number | null) => ({
      ...{ instrument, strategy: quoteAround(2), limits: null, target: target as never },
      tolerance: { priceBps: 10, amountShare: 0.5, maxAgeMs: 3_600_000 },
    });
    const of = { instance: 'mm', run: 1, timing: PATIENCE };
    expect(() => new Engine(of, [options(BOOKS[0]!, 5), options(BOOKS[2]!, 5)])).toThrow('btc_usd has a target');
    const engine = new Engine(of, [options(BOOKS[0]!, 5), options(BOOKS[1]!, 5)]);
    const order = { id: 'mm-0-1', side: 'buy', price: 1, amount: 1, filled: 0, oid: null, at: 1 } as never as object;
    const orders = [{ ...order, symbol: 'btc_usd' } as never];
    expect(() => engine.step({ kind: 'restore', at: START, orders, ledger: null })).toThrow('mm-0-1 is in btc_usd');
  });

  test('an event of a book without its symbol, an unknown symbol and an answer for a foreign order are errors', () => {
    const { engine, now: at } = new SharedAccount().open();
    expect(() => engine.step({ kind: 'public trade', at, price: 1 as never })).toThrow(
      'received a public trade event without a symbol, but the engine has 4 books',
    );
    expect(() => engine.step({ kind: 'public trade', symbol: 'x_y', at, price: 1 as never })).toThrow('x_y');
    const outcome = { kind: 'done', value: { oid: 'o' } } as const;
    expect(() => engine.step({ kind: 'placed', at, id: 'mm-1-999', outcome })).toThrow('never placed');
    expect(() => new Engine({ instance: 'mm', run: 1, timing: PATIENCE }, [])).toThrow('at least one book');
  });
});

/** Inventory of a state; that of a book passes to another when a run does not have the book. */
const INVENTORY = { held: undefined, target: undefined, targetRest: undefined };

/** States of all books that the next run would continue, by symbol. */
function statesOf({ engine }: SharedAccount): ReadonlyMap<string, object> {
  const ledger = engine.ledger([])!;
  const { target, targetRest, held, guard, profit } = ledger;
  const first = { target, targetRest, held, guard, profit };
  return new Map<string, object>([
    [ledger.symbol ?? engine.books[0]!.symbol, first],
    ...Object.entries(ledger.books ?? {}),
  ]);
}

/** Books an amount of this account, or of an exchange where the bot has no access. */
function transfer(account: SharedAccount, source: string, currency: string, cause: string, lots: number): void {
  if (currency in account.balances) account.balances[currency as keyof Balances] += lots;
  account.step({
    ...{ kind: 'transfer', at: account.now, source, why: 'told', cause: cause as 'deposits', currency },
    ...{ occurredAt: account.now, amount: moneyOf(`${lots}`) },
  });
}

/** The next run of the bot; open orders of the earlier run are gone. */
function restarted(
  earlier: SharedAccount,
  books: readonly Instrument[] = BOOKS.filter(({ symbol }) => earlier.bookOf(symbol)),
): SharedAccount {
  earlier.round();
  const left: RestoredLedger = earlier.engine.ledger([])!;
  const ledger = ledgerOf(textOfLedger(left));
  expect(ledger, 'what is stored is what is read').toEqual(left);
  const next = new SharedAccount(earlier.balances, books, Number(earlier.engine.books.length) + earlier.now);
  next.now = earlier.now;
  next.ownIn.btc_usd = earlier.ownIn.btc_usd;
  next.step({ kind: 'restore', at: next.now, orders: [], ledger });
  next.open();
  return next;
}

test('refunded fees are profit of one book only, of a home or not, and a transfer of none', () => {
  const account = new SharedAccount({}, BOOKS.slice(0, 3)).open();
  const feesIn = () => account.engine.books.map(book => textOfMoney(book.snapshot(account.now).booked.profit.fees));
  const refund = (currency: string, amount: string, cause: 'fees' | 'deposits' = 'fees') =>
    account.step({
      ...{ kind: 'transfer', at: account.now, source: `${cause} ${currency}`, why: 'told', cause, currency },
      ...{ occurredAt: account.now, amount: moneyOf(amount) },
    });
  expect(feesIn()).toEqual(['0', '0', '0']);
  // Two books have mxn, one of them as the home of btc; usd is the quote currency of a book that is no home.
  refund('mxn', '12.5');
  expect(feesIn()).toEqual(['12.5', '0', '0']);
  refund('usd', '3');
  expect(feesIn()).toEqual(['12.5', '0', '3']);
  refund('eth', '2');
  expect(feesIn()).toEqual(['12.5', '2000', '3']);
  refund('mxn', '100', 'deposits');
  expect(feesIn()).toEqual(['12.5', '2000', '3']);
});

test('a book may use what is free but for what orders of the other books may still spend, and its limits are used by all books with its currencies', () => {
  const bookOf = (symbol: string, position: string, sells: string, pays: string) => {
    const [base, quote] = symbol.split('_') as [string, string];
    const sold = { base: moneyOf(sells), quote: moneyOf('12345') };
    const bought = { base: moneyOf('54321'), quote: moneyOf(pays) };
    return {
      ...{ symbol, major: base, minor: quote, position: moneyOf(position), moved: () => undefined },
      exposed: { base, quote, orders: { buy: bought, sell: sold } },
    };
  };
  const state = new AccountState({
    ...{ instance: 'mm', run: 1, timing: { tradeReportDelayMaxMs: 0 }, major: 'btc', elsewhere: undefined },
    ...{ joint: null, crossRates: null, valueLimit: null },
    currencyLimits: new Map(Object.entries({ btc: '50', mxn: '60' }).map(([name, sum]) => [name, moneyOf(sum)])),
  });
  const books = [
    bookOf('btc_mxn', '-7', '1', '20'),
    bookOf('btc_usd', '3', '2', '5'),
    bookOf('eth_mxn', '9', '4', '300'),
  ] as never[];
  for (const book of books) state.add(book);
  const balances = Object.entries({ btc: '10', mxn: '1000', usd: '70', eth: '30' }).map(([currency, total]) => ({
    ...{ currency, total, locked: '0', available: total },
  }));
  state.accounts.read({ kind: 'balances', at: 1, startedAt: 1, quiet: true, balances }, new Map());
  const fundsOf = (currency: string) => books.map(book => Number(textOfMoney(state.funds(currency, book))));
  expect(['btc', 'mxn', 'usd', 'eth'].map(fundsOf)).toEqual([
    [8, 9, 7],
    [700, 680, 980],
    [65, 70, 65],
    [26, 26, 30],
  ]);
  expect(books.map(book => state.currencyUses(book).map(({ currency, used }) => [currency, used]))).toEqual([
    [
      ['btc', moneyOf('4')],
      ['mxn', 0n],
    ],
    [['btc', moneyOf('4')]],
    [['mxn', 0n]],
  ]);
});
