/** Metrics of a run: each figure of the book that is asked for, and of no other. */
import { expect, test } from 'vitest';
import { amount, instrumentOf, moneyOf, price, type Order, type Side, type Snapshot } from '../../src/core/index.ts';
import type { Run } from '../../src/live/loop/run.ts';
import { monitored, volumeOf } from '../../src/wiring/monitoredState.ts';
import { bookRules, plain } from '../core/market.ts';

const order = (side: Side, at: number, state: Order['state']) =>
  ({ side, price: price(at), state }) as unknown as Order;
const orders = [
  ...[order('buy', 90, 'open'), order('buy', 95, 'partially filled'), order('buy', 99, 'done')],
  ...[order('sell', 130, 'open'), order('sell', 105, 'open'), order('sell', 120, 'open'), order('sell', 101, 'done')],
];
const figures = {
  ...{ profit: 'of this process', runProfit: 'of the run' },
  sinceOpening: { profit: 'since the opening' },
};
const shown = {
  ...{ symbol: 'eth_usd', orders, bid: price(98), ask: price(102), bookAge: 7, quoting: null, silent: ['a reason'] },
  known: { trades: figures, holdings: new Map([['eth', moneyOf('3')]]) },
  regime: { regime: 'wide' },
  ...{ decisions: ['decisions'], regimes: ['regimes'], figures: ['figures'], livePrice: { sources: ['sources'] } },
  ...{ elsewhere: 'elsewhere', markouts: 'markouts' },
} as unknown as Snapshot;
const beside = { sentinelAgeMs: 11, diskFreeBytes: 12 };
// The first book has other currencies, a finer tick, and other numbers everywhere.
const run = {
  rulesOfBooks: [{ instrument: plain }, { instrument: instrumentOf(bookRules({ book: 'eth_usd', tickSize: '0.5' })) }],
  marketStatuses: [
    { streamUp: false, queueAhead: { buy: amount(71), sell: amount(72) } },
    { streamUp: true, queueAhead: { buy: amount(300_000_000), sell: null } },
  ],
  budgetUses: ['first budget', 'second budget'],
  engine: { books: [1, 2].map(book => ({ limitUses: (at: number) => [`limit of book ${book} at ${at}`] })) },
  time: () => 50,
} as unknown as Run;

test('each figure of the second book is its own, in its own currencies and ticks', () => {
  const lots = moneyOf(String(300_000_000 / 10 ** 8));
  const { fees, ...seen } = monitored(shown, run, beside, 1);
  expect(fees).toBe(run.rulesOfBooks[1]);
  expect(seen).toEqual({
    ...{ book: 'eth_usd', majorCurrency: 'eth', minorCurrency: 'usd' },
    quotesLive: { buy: 2, sell: 3 },
    quotePrice: { buy: moneyOf('47.5'), sell: moneyOf('52.5') },
    mid: moneyOf('50'),
    position: shown.known.holdings,
    ...{ pnl: 'of this process', profitSinceOpening: 'since the opening', profitOfRun: 'of the run' },
    spreadBps: 1_000,
    marketSpreadBps: 400,
    ...{ bookAgeMs: 7, bookBudget: 'second budget', streamUp: true, queueAhead: { buy: lots, sell: null } },
    ...{ notQuoting: ['a reason'], decisions: ['decisions'], regime: 'wide', regimes: ['regimes'] },
    ...{ figures: ['figures'], sources: ['sources'], elsewhere: 'elsewhere', markouts: 'markouts' },
    limits: { uses: ['limit of book 2 at 50'], sentinelAgeMs: 11, diskFreeBytes: 12 },
  });
});

test('what is not there is none: quotes, one side of the book, its age, its budget, the figures of trades', () => {
  const none = { ...shown, orders: [], bid: price(0), bookAge: Infinity, quoting: 'book stale', livePrice: null };
  const unknown = { ...none, known: { ...shown.known, trades: null, holdings: null } } as unknown as Snapshot;
  expect(monitored(unknown, { ...run, budgetUses: [] } as unknown as Run, beside, 1)).toMatchObject({
    ...{ quotesLive: { buy: 0, sell: 0 }, quotePrice: { buy: null, sell: null }, mid: null, spreadBps: null },
    ...{ marketSpreadBps: null, bookAgeMs: null, bookBudget: null, position: null, sources: [] },
    ...{ pnl: null, profitSinceOpening: null, profitOfRun: null, notQuoting: ['book stale', 'a reason'] },
  });
});

test('the volume of a fill is in both currencies', () => {
  const fill = { major: moneyOf('2'), minor: moneyOf('300') } as unknown as Parameters<typeof volumeOf>[0];
  expect(volumeOf(fill, plain)).toEqual([
    { currency: 'btc', sum: moneyOf('2') },
    { currency: 'mxn', sum: moneyOf('300') },
  ]);
});
