/** `puntas doctor` with several books: the account is checked once, and each book by name. */
import { afterAll, expect, test } from 'vitest';
import { doctor } from '../../../src/app/doctor/doctor.ts';
import { configOfBooks } from '../../../src/config/books.ts';
import { booksOf } from '../../../src/config.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { sandboxConfig } from '../../live/world.ts';
import { Folders } from '../../live/states.ts';
import { memoryLog } from '../../memoryLog.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'];

/**
 * Runs doctor on the embedded exchange with an amount of each order by book, and returns the findings of each check.
 * `mayOrder`: answers whether the trial orders may be placed; without it, none is tried.
 */
async function found(amounts: Readonly<Record<string, string>> = {}, mayOrder?: (what: string) => Promise<boolean>) {
  const desk = sandboxConfig({ state: { dir: folders.fresh() } }, 'desk');
  const config = configOfBooks(
    booksOf(desk).map(book => {
      const amount = amounts[book.book];
      return amount === undefined
        ? book
        : {
            ...book,
            strategy: { ...book.strategy, amount },
            limits: { ...book.limits, positionMax: '900', orderValueMax: '900000000' },
          };
    }),
  );
  const { findings } = await doctor({
    ...{ config, which: { configFile: undefined, stateDir: config.state.dir }, clock: realClock(), seed: 1 },
    ...{ version: 'test', openLog: () => memoryLog().log, tell: () => undefined, onStarted: () => undefined },
    ...(mayOrder && { mayOrder }),
  });
  return (check: string) =>
    findings.filter(each => each.check === check).map(({ result, says }) => `${result}: ${says}`);
}

test('what belongs to the account is checked once, and what belongs to a book for each, by name', async () => {
  const of = await found();
  for (const check of ['configuration', 'key', 'exchange', 'clock', 'requests', 'capital', 'withdrawals'])
    expect(of(check), check).toHaveLength(1);
  expect(of('exchange')[0]).toBe(`pass: the exchange answers and lists ${BOOKS.join(', ')}`);
  for (const check of ['book', 'quotes', "bids' money", "asks' money", 'fee tier', 'spread'])
    expect(
      of(check).map(text => / (\w+): /.exec(text)?.[1]),
      check,
    ).toEqual(BOOKS);
  expect(of('inventory')).toEqual([]);
  expect(of('capital')[0]).toMatch(/^pass: .* btc: \S+ of 1\.5, eth: \S+ of 30, mxn: /);
  expect(of('requests')[0]).toContain('replace all 12 quotes');
});

test('money that is enough for each book alone but not for all fails, by currency', async () => {
  // Two levels of 0.45 btc take 0.9 of 1.5 btc, in two books.
  const of = await found({ btc_mxn: '0.45', btc_usd: '0.45' });
  expect(of("asks' money").filter(text => text.startsWith('fail'))).toEqual([]);
  expect(of('capital').join()).toMatch(/fail: the quotes need 1\.8\d* btc, but the account has 1\.5/);
});

test('a book whose orders do not fit is named, and the others pass', async () => {
  const of = await found({ eth_mxn: '0.00000001' });
  expect(of('book').map(text => text.slice(0, 14))).toEqual(['pass: btc_mxn:', 'fail: eth_mxn:', 'pass: btc_usd:']);
});

test('declined, no order is sent in any book', async () => {
  const declined: string[] = [];
  const of = await found({}, what => {
    declined.push(what);
    return Promise.resolve(false);
  });
  expect(declined).toHaveLength(1);
  expect(of('order')).toEqual([`warn: trial order not sent; you declined this order: ${declined[0]!}`]);
});
