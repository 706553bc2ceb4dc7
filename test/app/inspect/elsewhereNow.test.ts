/** Prices and hedges on other exchanges, as console and status show them: each figure is its own. */
import { expect, test } from 'vitest';
import { elsewhereNow, whyNotQuoted } from '../../../src/app/inspect/elsewhereNow.ts';
import { ElsewhereSeen } from '../../../src/app/inspect/elsewhereSeen.ts';
import { moneyOf, type EngineEvent, type HedgeRow, type OwnTrade, type Snapshot } from '../../../src/core/index.ts';
import { btcMxn } from '../../core/market.ts';

const AT = 1_700_000_000_000;
const SOURCE = {
  ...{ name: 'binance', refusal: null, detail: null, sell: 1, buy: 1, quoteRate: 1 },
  ...{ price: 150_300_000, ageMs: 11, lagMs: 12, basisBps: 13, basisErrorBps: 14 },
};
const FIGURES = {
  ...{ place: 'binance', isOpen: true, baseCurrency: 'btc', quoteCurrency: 'usdt', openOrders: 2, failures: 3 },
  ...{ held: moneyOf('0.4'), quoteHeld: moneyOf('5000'), funds: { base: moneyOf('0'), quote: moneyOf('0') } },
  ...{ inTransit: { base: moneyOf('0.6'), quote: moneyOf('70') }, rate: moneyOf('17') },
  ...{ debt: moneyOf('0.08'), debtMax: moneyOf('0.1'), band: moneyOf('0.02'), debtValue: moneyOf('9') },
  ...{ drift: moneyOf('-11'), driftValue: moneyOf('-187'), closed: { buy: null, sell: null } },
};
const snapshotOf = (changes: object = {}, figures: object | null = {}) =>
  ({
    ...{ at: AT, bid: 149_000_000, ask: 151_000_000, bookAge: 250, quoting: 'quoting', waitsFor: null },
    ...{ emptySidesText: null, regime: { failure: null }, livePrice: { sources: [SOURCE] } },
    booked: { holdings: new Map([['btc', moneyOf('1.25')], ['mxn', moneyOf('900000.5')], ['usdt', moneyOf('6')]]) }, // prettier-ignore
    elsewhere: figures && { ...FIGURES, ...figures },
    ...changes,
  }) as unknown as Snapshot;

const trade = (tid: string, side: 'buy' | 'sell', major: string, minor: string, feeCurrency = 'usdt'): OwnTrade =>
  ({ tid, oid: tid, book: 'btc_usdt', side, major, minor, feeAmount: '2', feeCurrency, createdAt: AT }) as never;
const order = (id: string, at: number, phase: 'in flight' | 'ended', trades: readonly OwnTrade[] = []) =>
  ({ kind: 'elsewhere', at, phase, trades, rate: moneyOf('17'), conversion: { id } }) as unknown as EngineEvent;
const row = (id: string, changes: Partial<HedgeRow> = {}): HedgeRow => ({
  ...{ id, at: AT - 50, state: 'completed', amount: '0.08', acceptedAt: null, conversionId: null, why: null },
  ...{ middle: '1500000', weighed: [] },
  offer: {
    ...{ way: 'elsewhere', id: `o-${id}`, lifeMs: 1 },
    ...{ give: { currency: 'btc', amount: '0.08' }, get: { currency: 'usdt', amount: '7000' } },
  },
  ...changes,
});
/** Data that a replay has collected; the engine has no sources of its own here. */
function seenOf(rows: readonly HedgeRow[], events: readonly EngineEvent[]): ElsewhereSeen {
  const book = { symbol: 'btc_mxn', livePrice: () => null };
  const seen = new ElsewhereSeen({ book } as never);
  for (const event of events) seen.see(event, id => rows.find(one => one.id === id));
  return seen;
}
const source = (feed: string, startedAt: number, reading: object | string, symbol?: string) =>
  ({ kind: 'source', at: AT - 1, feed, startedAt, reading, ...(symbol === undefined ? {} : { symbol }) }) as never;

test('each figure of prices, debt, inventory and hedges is its own, and a hedge has what it cost beside what was expected', () => {
  const rows = [
    row('h-1', { state: 'failed', why: 'no answer', amount: '0.01', at: AT - 90 }),
    row('conversion', { offer: { ...row('x').offer!, way: 'conversion' } }),
    row('h-2', {
      weighed: [
        { way: 'rfq', cost: '99', bps: 9.9, not: 'dearer' },
        { way: 'elsewhere', cost: '11', bps: 1.1, not: null },
      ],
    }),
    row('h-3', { state: 'executing', why: 'is listed', amount: '-0.03', at: AT - 10 }),
  ];
  const seen = seenOf(rows, [
    source('kraken', AT - 40, { bid: 1.5, ask: 2.5 }),
    source('binance', AT - 30, { bid: 0, ask: 3 }),
    source('binance', AT - 5, { bid: 90_000.123456789, ask: 90_100 }, 'btc_mxn'),
    source('coinbase', AT - 60, 'closed'),
    source('other', AT - 60, { bid: 7, ask: 8 }, 'eth_mxn'),
    order('h-3', AT - 9, 'in flight'),
    order('h-3', AT - 8, 'in flight'),
    order('h-2', AT - 20, 'in flight'),
    order('h-2', AT - 6, 'ended', [trade('1', 'sell', '0.05', '4400'), trade('2', 'sell', '0.03', '2700', 'bnb')]),
    order('h-1', AT - 6, 'ended'),
  ]);
  const shown = elsewhereNow(snapshotOf(), seen, rows, btcMxn)!;
  expect(shown.books).toEqual([
    { name: 'btc_mxn', isHere: true, bid: '1490000.00', ask: '1510000.00', problem: null, spreadBps: expect.closeTo(400 / 3, 6) as number, ageMs: 250 }, // prettier-ignore
    { name: 'kraken', isHere: false, ageMs: 40, bid: '1.5', ask: '2.5', spreadBps: 5_000, problem: null },
    { name: 'binance', isHere: false, ageMs: 5, bid: '90000.1235', ask: '90100', spreadBps: expect.closeTo(11.0915, 3) as number, problem: null }, // prettier-ignore
    { name: 'coinbase', isHere: false, ageMs: 60, bid: null, ask: null, spreadBps: null, problem: 'closed' },
  ]);
  expect(shown.sources).toEqual([
    {
      ...{ name: 'binance', notUsed: null, price: '1503000', ageMs: 11, lagMs: 12, basisBps: 13, basisErrorBps: 14 },
      ...{ fromMidBps: expect.closeTo(20, 6) as number, lead: null, noLead: expect.any(String) as string },
    },
  ]);
  // 0.08 btc at the mid price are 120000 mxn; 7100 usdt at 17 are 120700, without the fee of 2 usdt.
  const cost = 120_000 - (4400 + 2700 - 2) * 17;
  expect(shown.hedging).toEqual({
    ...{ place: 'binance', failures: 3, currency: 'btc', quoteCurrency: 'mxn' },
    ...{ debt: '0.08', debtMax: '0.1', band: '0.02', debtShare: expect.closeTo(0.8, 9) as number },
    open: { id: 'h-3', since: AT - 9, isUnknown: true, amount: '-0.03', why: 'is listed' },
    whyNotQuoted: 'quoting',
    inventory: [
      { exchange: 'here', base: '1.25', quote: '900000.5', quoteCurrency: 'mxn' },
      { exchange: 'binance', base: '0.4', quote: '5000', quoteCurrency: 'usdt' },
      { exchange: 'in transit', base: '0.6', quote: '70', quoteCurrency: 'usdt' },
    ],
    ...{ drift: '-11', driftValue: '-187' },
    last: [
      {
        ...{ id: 'h-3', at: AT - 10, state: 'executing', amount: '-0.03', why: 'is listed', traded: null },
        ...{ expectedBps: null, paidBps: null, paid: null, otherFees: null },
      },
      {
        ...{ id: 'h-2', at: AT - 50, state: 'completed', amount: '0.08', why: null, traded: '0.08', expectedBps: 1.1 },
        ...{ paidBps: expect.closeTo((cost / 120_000) * 10_000, 6) as number, paid: String(cost), otherFees: '2 bnb' },
      },
      {
        ...{ id: 'h-1', at: AT - 90, state: 'failed', amount: '0.01', why: 'no answer', traded: null },
        ...{ expectedBps: null, paidBps: null, paid: null, otherFees: null },
      },
    ],
  });
});

test('what is not known is no figure: a one-sided book, balances that were not read, a hedge of an earlier run', () => {
  const seen = seenOf([row('h-3', { state: 'unknown' })], [order('earlier', AT - 9, 'in flight')]);
  const closed = { isOpen: false, debtMax: moneyOf('0'), inTransit: { base: moneyOf('0'), quote: moneyOf('0') } };
  const unread = { bid: 0, bookAge: Infinity, booked: { holdings: new Map() } };
  const shown = elsewhereNow(snapshotOf(unread, closed), seen, [], btcMxn)!;
  expect(shown.books).toEqual([
    { name: 'btc_mxn', isHere: true, bid: null, ask: '1510000.00', problem: null, spreadBps: null, ageMs: null },
  ]);
  expect(shown.sources[0]!.fromMidBps).toBeNull();
  expect(shown.hedging).toMatchObject({
    ...{ debtShare: 1, drift: null, driftValue: null },
    open: { id: 'earlier', since: AT - 9, isUnknown: true, amount: null, why: null },
    inventory: [
      { exchange: 'here', base: null, quote: null },
      { exchange: 'binance', base: null, quote: null },
    ],
  });
  expect(elsewhereNow(snapshotOf(unread, { ...closed, debt: moneyOf('0') }), seen, [], btcMxn)!.hedging!.debtShare).toBe(0); // prettier-ignore
  for (const [state, isUnknown] of [['unknown', true], ['completed', true], ['accepted', false]] as const) // prettier-ignore
    expect(elsewhereNow(snapshotOf(), seen, [row('earlier', { state })], btcMxn)!.hedging!.open!.isUnknown).toBe(isUnknown); // prettier-ignore
  expect(elsewhereNow(snapshotOf({ livePrice: null }, null), seen, [], btcMxn)).toBeNull();
  expect(elsewhereNow(snapshotOf({ livePrice: null }), seen, [], btcMxn)!.sources).toEqual([]);
  expect(elsewhereNow(snapshotOf({}, null), seen, [], btcMxn)).toMatchObject({ hedging: null, sources: [{}] });
  // One side of what is in transit is enough.
  const half = { inTransit: { base: moneyOf('0'), quote: moneyOf('70') } };
  expect(elsewhereNow(snapshotOf({}, half), seen, [], btcMxn)!.hedging!.inventory).toHaveLength(3);
});

test('the costs of the last twenty hedges are kept, each of its own trades, and that of a hedge without a mid price is unknown', () => {
  const ids = Array.from({ length: 21 }, (_, i) => `h-${i}`);
  const rows = [...ids.map(id => row(id)), { ...row('old'), middle: undefined as never }];
  const events = ids.map((id, i) => order(id, AT + i, 'ended', [trade('1', 'sell', '0.01', String(800 + i))]));
  const seen = seenOf(rows, [...events, order('old', AT, 'ended', [trade('1', 'sell', '1', '1')])]);
  expect([seen.costOf('h-0'), seen.costOf('old'), seen.costOf('nothing')]).toEqual([null, null, null]);
  const costs = ids.slice(1).map(id => Number(seen.costOf(id)!.cost) / 1e18);
  expect(costs).toEqual(ids.slice(1).map((_, i) => 15_000 - (800 + i + 1 - 2) * 17));
  // An order that ended is not open, whatever it traded.
  expect(seenOf(rows, [order('a', 1, 'in flight'), order('b', 2, 'in flight'), order('a', 3, 'ended')]).open).toEqual([
    { id: 'b', since: 2 },
  ]);
});

test('why nothing is quoted is the reason and what it waits for, or else why the sides are empty, with a failure first', () => {
  const why = (changes: object) => whyNotQuoted(snapshotOf({ quoting: null, ...changes }));
  expect([
    why({ quoting: 'paused' }),
    why({ quoting: 'paused', waitsFor: 'the book' }),
    why({}),
    why({ emptySidesText: 'no bids: a limit' }),
    why({ emptySidesText: 'no bids: a limit', regime: { failure: 'the file failed' } }),
    why({ regime: { failure: 'the file failed' } }),
  ]).toEqual(['paused', 'paused (the book)', null, 'no bids: a limit', 'the file failed', null]);
});
