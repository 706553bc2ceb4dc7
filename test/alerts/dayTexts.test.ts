/** Texts of the daily digest: each period begins where the last one ended, or where the book was first seen. */
import { expect, test } from 'vitest';
import { DayTextsOfBooks } from '../../src/alerts/sentences.ts';
import { moneyOf, type Profit, type Snapshot } from '../../src/core/index.ts';
import { BOOKS, SharedAccount } from '../core/sharedAccount.ts';

test('the first digest of a book has its fills since it was first seen, the next ones those since the previous digest', () => {
  const [first, added] = [BOOKS[0]!, BOOKS[1]!];
  const account = new SharedAccount({}, [first, added]).open();
  account.round();
  const days = new DayTextsOfBooks();
  const snapshotOf = (symbol: string) => account.bookOf(symbol).snapshot(account.now);
  /** Fills an order of the bot. The books are looked at before and after it, as twice per second. */
  const fill = (symbol: string) => {
    days.see(snapshotOf(symbol));
    account.fill([...account.live].find(([, { book }]) => book.symbol === symbol)![0], 1);
    account.round();
    days.see(snapshotOf(symbol));
  };
  const fillsIn = (book: typeof first) =>
    /fills in this period: (\d+)/.exec(days.of(snapshotOf(book.symbol), book))![1];
  fill(first.symbol);
  expect(fillsIn(first)).toBe('1');
  // From here on, the bot has the other book too.
  fill(added.symbol);
  fill(added.symbol);
  fill(first.symbol);
  expect([fillsIn(first), fillsIn(added)]).toEqual(['1', '2']);
  expect([fillsIn(first), fillsIn(added)]).toEqual(['0', '0']);
});

test('a digest has each part of the profit since the previous one, and all else since the opening or the start', () => {
  const account = new SharedAccount({}, [BOOKS[0]!]).open();
  const { symbol } = BOOKS[0]!;
  const shown = account.bookOf(symbol).snapshot(account.now);
  const profitOf = (parts: readonly string[]) => {
    const [spread, inventory, fees, hedging, total] = parts.map(text => moneyOf(text));
    return { spread, inventory, fees, hedging, total } as Profit;
  };
  const with_ = (fills: number, parts: readonly string[], unknown: string | null = null): Snapshot => {
    const figures = {
      ...{ ...shown.booked, fills, inventory: moneyOf('0.25'), profit: profitOf(parts) },
      runProfit: profitOf(['0', '0', '0', '0', '7']),
      sinceOpening: { ...shown.booked.sinceOpening, profit: profitOf(['0', '0', '0', '0', '5000']) },
    };
    return {
      ...shown,
      ...{ booked: figures, uptime: { bid: 0.987, ask: 0.5 } },
      known: { ...shown.known, unknown, trades: unknown === null ? figures : null },
    };
  };
  const days = new DayTextsOfBooks();
  days.see(with_(100, ['1', '2', '3', '4', '10']));
  const first = days.of(with_(130, ['11', '-18', '2', '4.5', '-0.5']), BOOKS[0]!);
  const { major, minor } = BOOKS[0]!;
  const live = 'share of time with live quotes since the start of the bot: bids 98.7%, asks 50.0%';
  expect(first.split('; ')).toEqual([
    `profit in this period -10.5 ${minor} (spread 10, inventory -20, fees -1, hedging 0.5)`,
    'fills in this period: 30',
    expect.stringMatching(/^profit .*5,?000/),
    `inventory 0.25 ${major} from its target`,
    live,
  ]);
  expect(days.of(with_(131, ['12', '0', '0', '0', '0'], 'a trade is unread'), BOOKS[0]!)).toBe(
    `fills, inventory and profit are unknown (a trade is unread); ${live}`,
  );
  // A period with unknown figures is none of the next one.
  expect(days.of(with_(135, ['12.5', '0', '0', '0', '1']), BOOKS[0]!)).toMatch(
    /^profit in this period 1 \w+ \(spread 0\.5, inventory 0, fees 0, hedging 0\); fills in this period: 4; /,
  );
});
