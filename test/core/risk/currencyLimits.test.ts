import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { moneyOf, type Instrument, type Side } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { quoteAround } from '../desk.ts';
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

/** Books with orders of ten lots at several levels; fills are what the test says. */
const limitedDesk = (limits: Readonly<Partial<Record<Currency, number>>>, books = BOOKS): SharedAccount =>
  new SharedAccount(FUNDS, books, 1, null, {
    shared: {
      currencyLimits: new Map(Object.entries(limits).map(([currency, most]) => [currency, moneyOf(`${most}`)])),
    },
    limits: { positionMax: 100_000 },
    strategyOf: () => quoteAround(20, 30, 40),
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
          for (const which of fills) {
            const ids = [...desk.live.keys()];
            if (ids.length > 0) fill(desk, ids[which % ids.length]!);
            desk.round(1_000);
            for (const [currency, most] of Object.entries(limits))
              expect(worst(desk, currency as Currency), currency).toBeLessThanOrEqual(most);
          }
        },
      ),
      runsOf(150, 30),
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
