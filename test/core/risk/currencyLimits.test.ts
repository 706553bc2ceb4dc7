import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  moneyOf,
  remaining,
  type Conversion,
  type Instrument,
  type Money,
  type Side,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { quoteAround } from '../toyExchange.ts';
import { plain } from '../market.ts';
import { SharedAccount, type Balances } from '../sharedAccount.ts';

type Currency = keyof Balances;

const BOOKS: readonly Instrument[] = [
  { ...plain, symbol: 'btc_mxn' },
  { ...plain, symbol: 'btc_usd', minor: 'usd' },
  { ...plain, symbol: 'usd_mxn', major: 'usd' },
  { ...plain, symbol: 'eth_usd', major: 'eth', minor: 'usd' },
];
const FUNDS: Balances = { btc: 1_000_000, eth: 1_000_000, usd: 1_000_000_000, mxn: 1_000_000_000 };

/** Amounts in which conversions are drawn. */
const UNIT: Readonly<Record<Currency, number>> = { btc: 5, eth: 5, usd: 5_000, mxn: 5_000 };
const unitsOf = (amount: Money): number => Number(amount / moneyOf('1'));

/** Books with orders of ten lots at several levels; fills are what the test says. */
const limitedDesk = (
  limits: Readonly<Partial<Record<Currency, number>>>,
  books = BOOKS,
  ...distances: readonly number[]
): SharedAccount =>
  new SharedAccount(FUNDS, books, 1, null, {
    shared: {
      currencyLimits: new Map(Object.entries(limits).map(([currency, most]) => [currency, moneyOf(`${most}`)])),
    },
    limits: { positionMax: 100_000 },
    strategyOf: () => quoteAround(...(distances.length > 0 ? distances : [20, 30, 40])),
  }).open();

const fill = (desk: SharedAccount, id: string): void => desk.fill(id, Infinity);

const held = ({ balances }: SharedAccount, currency: Currency): number => balances[currency] - FUNDS[currency];

/** The largest |exposure| of a currency that fills of the live orders can lead to. */
function worst(desk: SharedAccount, currency: Currency): number {
  let [up, down] = [held(desk, currency), held(desk, currency)];
  for (const { command, book, left } of desk.live.values()) {
    const change = book.major === currency ? left : book.minor === currency ? -left * command.price : 0;
    const signed = command.side === 'buy' ? change : -change;
    if (signed > 0) up += signed;
    else down += signed;
  }
  return Math.max(Math.abs(up), Math.abs(down));
}

const sidesOf = ({ live }: SharedAccount): ReadonlySet<string> =>
  new Set([...live.values()].map(({ book, command }) => `${book.symbol} ${command.side}`));

describe('limits by currency over all books', () => {
  test('hold after any fills, whatever orders are live', () => {
    const limit = fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.record({ btc: limit, eth: limit, usd: fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: undefined }) }),
        fc.shuffledSubarray([...BOOKS], { minLength: 1 }),
        fc.array(fc.nat(100), { maxLength: 40 }),
        (drawn, books, fills) => {
          const isLimited = (currency: string, most: number | undefined): boolean =>
            most !== undefined && books.some(({ major }) => major === currency);
          const limits = Object.fromEntries(
            Object.entries(drawn).filter(([currency, most]) => isLimited(currency, most)),
          ) as Partial<Record<Currency, number>>;
          const desk = limitedDesk(limits, books);
          // Checked after each event: the bot cancels an order beyond a limit at its next decision.
          const step = desk.step.bind(desk);
          desk.step = event => {
            step(event);
            for (const [currency, most] of Object.entries(limits))
              expect(worst(desk, currency as Currency), currency).toBeLessThanOrEqual(most);
          };
          for (const which of fills) {
            const ids = [...desk.live.keys()];
            if (ids.length > 0) fill(desk, ids[which % ids.length]!);
            desk.round(1_000);
          }
        },
      ),
      runsOf(150, 30),
    );
  });

  test('give each side of a book what holdings, conversions in flight and other books leave, in any of its states', () => {
    const limit = fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined });
    const large = fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: undefined });
    const step = fc.record({
      what: fc.constantFrom('fill', 'convert', 'convert', 'end', 'fail'),
      which: fc.nat(100),
      pair: fc.shuffledSubarray<Currency>(['btc', 'eth', 'usd', 'usd', 'mxn'], { minLength: 2, maxLength: 2 }),
      part: fc.integer({ min: 1, max: 10 }),
    });
    fc.assert(
      fc.property(
        fc.record({ btc: limit, eth: limit, usd: large }),
        fc.shuffledSubarray([...BOOKS], { minLength: 2 }),
        fc.array(step, { minLength: 1, maxLength: 8 }),
        (drawn, books, steps) => {
          const isBase = (currency: string) => books.some(({ major }) => major === currency);
          const limits = Object.fromEntries(
            Object.entries(drawn).filter(([currency, most]) => most !== undefined && isBase(currency)),
          ) as Partial<Record<string, number>>;
          const desk = limitedDesk(limits, books, 20);
          const pending: Conversion[] = [];
          for (const [i, { what, which, pair, part }] of steps.entries()) {
            const ids = [...desk.live.keys()];
            if (what === 'fill' && ids.length > 0) fill(desk, ids[which % ids.length]!);
            if (what === 'convert' && pair[0] !== pair[1]) {
              const [give, get] = pair.map(currency => ({ currency, amount: moneyOf(`${part * UNIT[currency]}`) }));
              const conversion = { id: `c-${i}`, give: give!, get: get! };
              pending.push(conversion);
              desk.step({ kind: 'conversion', at: desk.now, phase: 'in flight', conversion });
            }
            const [ended] = what === 'end' || what === 'fail' ? pending.splice(which % (pending.length || 1), 1) : [];
            if (ended !== undefined) {
              const phase = what === 'end' ? 'done' : 'failed';
              desk.step({ kind: 'conversion', at: desk.now, phase, conversion: ended });
              if (phase === 'done') {
                desk.balances[ended.give.currency as Currency] -= unitsOf(ended.give.amount);
                desk.balances[ended.get.currency as Currency] += unitsOf(ended.get.amount);
              }
            }
            desk.round(1_000);
            /** Maximum (`up`) or minimum of a currency in the account after its conversions. */
            const bound = (currency: string, isUp: boolean): number => {
              const leg = isUp ? 'get' : 'give';
              const sum = pending.filter(one => one[leg].currency === currency).map(one => unitsOf(one[leg].amount));
              return held(desk, currency as Currency) + (isUp ? 1 : -1) * sum.reduce((all, one) => all + one, 0);
            };
            /** Amount of a currency that orders of the other books may add or take. */
            const ordered = (currency: string, isUp: boolean, except: string): number => {
              let sum = 0;
              for (const other of desk.engine.books) {
                if (other.symbol === except) continue;
                const { orders, instrument } = other.riskContext(desk.now);
                for (const order of orders) {
                  if (instrument.major === currency && (order.side === 'buy') === isUp) sum += remaining(order);
                  if (instrument.minor === currency && (order.side === 'sell') === isUp)
                    sum += remaining(order) * order.price;
                }
              }
              return sum;
            };
            for (const { symbol, major, minor } of books) {
              const room = (currency: string, isUp: boolean) => {
                const most = limits[currency];
                const away = (isUp ? 1 : -1) * bound(currency, isUp);
                return most === undefined ? null : moneyOf(`${most - away - ordered(currency, isUp, symbol)}`);
              };
              const isLimited = limits[major] !== undefined || limits[minor] !== undefined;
              expect(desk.bookOf(symbol).riskContext(desk.now).currencyRooms, symbol).toEqual(
                isLimited
                  ? {
                      buy: { base: room(major, true), quote: room(minor, false) },
                      sell: { base: room(major, false), quote: room(minor, true) },
                    }
                  : null,
              );
            }
            // Orders that no longer fit are canceled.
            for (const [currency, most] of Object.entries(limits))
              for (const isUp of [true, false]) {
                const away = (isUp ? 1 : -1) * bound(currency, isUp);
                const open = [...desk.live.values()].map(({ command, book, left }) => {
                  if (book.major === currency) return (command.side === 'buy') === isUp ? left : 0;
                  return book.minor === currency && (command.side === 'sell') === isUp ? left * command.price : 0;
                });
                const sum = open.reduce((all, one) => all + one, 0);
                expect(away + sum, currency).toBeLessThanOrEqual(sum === 0 ? away : most!);
              }
          }
        },
      ),
      runsOf(150, 20),
    );
  });

  test('stop only what would raise the exposure, and say the reason, the room and the key', () => {
    const desk = limitedDesk({ btc: 60 });
    const buy = (): string | undefined =>
      [...desk.live.values()].find(({ command, book }) => command.side === 'buy' && book.major === 'btc')?.command.id;
    for (let id = buy(); id !== undefined; id = buy()) {
      fill(desk, id);
      desk.round(1_000);
    }
    expect(held(desk, 'btc')).toBe(60);
    expect(sidesOf(desk)).toEqual(
      new Set(['btc_mxn sell', 'btc_usd sell', 'usd_mxn buy', 'usd_mxn sell', 'eth_usd buy', 'eth_usd sell']),
    );
    const { unshown, emptySidesText } = desk.engine.books[1]!.snapshot(desk.now);
    expect(unshown.buy?.reason).toBe('currency limit');
    expect(emptySidesText).toContain('accountLimits allows only 0 btc more over all books');
    expect(desk.engine.books[1]!.limitUses(desk.now)).toContainEqual({
      ...{ limit: 'accountLimits', currency: 'btc', max: moneyOf('60'), used: moneyOf('60') },
    });
  });

  test('count the quote currency of one book that is the base of another', () => {
    const desk = limitedDesk({ usd: 25_000 }, BOOKS.slice(0, 3));
    const sells = (): string[] =>
      [...desk.live.values()]
        .filter(({ command, book }) => command.side === 'sell' && book.symbol === 'btc_usd')
        .map(({ command }) => command.id);
    for (let [id] = sells(); id !== undefined; [id] = sells()) {
      fill(desk, id);
      desk.round(1_000);
    }
    expect(held(desk, 'usd')).toBeGreaterThan(15_000);
    expect(held(desk, 'usd')).toBeLessThanOrEqual(25_000);
    expect([...sidesOf(desk)]).toContain('btc_usd buy');
  });

  test('are refused for a currency that is the base of no book', () => {
    expect(() => limitedDesk({ usd: 25_000 }, BOOKS.slice(0, 2))).toThrow(
      'usd has a limit, but is the base currency of no book',
    );
  });

  test.each<Side>(['buy', 'sell'])('without a limit, both sides of all books are quoted (%s)', side => {
    const desk = limitedDesk({});
    for (const { symbol } of BOOKS) expect([...sidesOf(desk)]).toContain(`${symbol} ${side}`);
  });
});
