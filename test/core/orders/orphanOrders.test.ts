/** Orders under the bot's name that this run did not place: counted in full, canceled, and halted on if another process places them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { instrumentOf, Orders, price, type OrderNews, type OrderReport } from '../../../src/core/index.ts';
import { OriginIds } from '../../../src/core/orders/originIds.ts';
import { OrphanOrders } from '../../../src/core/orders/orphanOrders.ts';
import { bookRules, plain } from '../market.ts';

const T = 1.7e12;
const patience = { requestDelayMaxMs: 1000, tradeReportDelayMaxMs: 300, cancelAgainMs: 50 };
const LATER = 'order bot-4-1 is of a later run of bot: another process trades under this name';
const RIVAL = 'orders of bot keep coming that this process did not place: another one trades under this name';

let news: OrderNews[];
let orders: Orders;
let orphans: OrphanOrders;
const report = (originId: string | undefined, changes: Partial<OrderReport> = {}): OrderReport => ({
  ...{ book: 'btc_mxn', oid: `oid-${originId}`, ...(originId === undefined ? {} : { originId }), side: 'sell' },
  ...{ type: 'limit', status: 'open', price: '100', originalAmount: '10', unfilledAmount: '7', createdAt: T },
  ...changes,
});
const read = (reports: readonly OrderReport[], at = T, instrument = plain) => {
  const adopted: string[] = [];
  const halt = orphans.onOpenOrders({ orders: reports, at }, instrument, ({ id }) => adopted.push(id));
  return { halt, adopted };
};

beforeEach(() => {
  news = [];
  orders = new Orders(plain, patience, one => news.push(one));
  orphans = new OrphanOrders(new OriginIds('bot', 3), orders);
});

describe('an orphan order', () => {
  it('is adopted once, with its price, what it has left and its oid', () => {
    expect(read([report('bot-2-9')])).toEqual({ halt: null, adopted: ['bot-2-9'] });
    expect(orders.get('bot-2-9')).toMatchObject({
      ...{ id: 'bot-2-9', side: 'sell', price: 100, amount: 10, filled: 3, oid: 'oid-bot-2-9', placedAt: T },
      ...{ state: 'partially filled', ending: null },
    });
    expect([orders.reserved('sell'), orders.reserved('buy')]).toEqual([7, 0]);
    expect(orders.byOid('oid-bot-2-9')?.id).toBe('bot-2-9');
    expect(read([report('bot-2-9')], T + 1)).toEqual({ halt: null, adopted: [] });
    expect(news.map(({ kind, order }) => `${kind} ${order.id}`)).toEqual(['adopted bot-2-9']);
  });

  it('without a fill is open', () => {
    read([report('bot-2-9', { unfilledAmount: '10' })]);
    expect([orders.get('bot-2-9')!.state, orders.reserved('sell')]).toEqual(['open', 10]);
  });

  it('of which a part below one lot is left or filled counts as more left, never as less', () => {
    read([report('bot-2-1', { unfilledAmount: '6.4' })]);
    expect([orders.get('bot-2-1')!.filled, orders.reserved('sell')]).toEqual([3, 7]);
  });

  it('off the grid is taken at the worse price, and at the worst of the book where it has none', () => {
    const coarse = instrumentOf(bookRules({ tickSize: '10', minimumPrice: '20', maximumPrice: '500' }), '1');
    const unpriced = (id: string, side: 'buy' | 'sell'): OrderReport => {
      const { price: _, ...rest } = report(id, { side });
      return rest;
    };
    const [buy, sell] = [report('bot-2-1', { side: 'buy', price: '101' }), report('bot-2-2', { price: '109' })];
    read([buy, sell, unpriced('bot-2-3', 'buy'), unpriced('bot-2-4', 'sell')], T, coarse);
    expect([1, 2, 3, 4].map(n => orders.get(`bot-2-${n}`)!.price)).toEqual([11, 10, 50, 2].map(n => price(n)));
  });

  it('is only one with the name of this bot, in its book', () => {
    const strange = [report(undefined), report('by-2-1'), report('bot2-2-1'), report('bot-2-1', { book: 'eth_mxn' })];
    expect(read(strange)).toEqual({ halt: null, adopted: [] });
    expect(orders.live).toEqual([]);
    expect(read([...strange, report('bot-3-77')]).adopted).toEqual(['bot-3-77']);
  });

  it('of a later run halts and is not adopted; the first of them is named, and the others are adopted all the same', () => {
    const found = read([report('bot-4-1'), report('bot-5-1'), report('bot-2-9')]);
    expect(found).toEqual({ halt: LATER, adopted: ['bot-2-9'] });
    expect(orders.get('bot-4-1')).toBeUndefined();
  });
});

describe('orphan orders that keep coming', () => {
  const keepComing = () => [1, 2, 3].map(n => read([report(`bot-2-${n}`)], T + n * 15_000));

  it('are of another process at the third read within a minute: halted on in every later read, and adopted no more', () => {
    expect(keepComing().map(({ halt }) => halt)).toEqual([null, null, RIVAL]);
    expect(read([report('bot-2-4')], T + 46_000)).toEqual({ halt: RIVAL, adopted: [] });
    expect(read([], T + 1e7)).toEqual({ halt: RIVAL, adopted: [] });
    expect(orders.get('bot-2-4')).toBeUndefined();
    expect(read([report('bot-4-1')], T + 2e7).halt).toBe(LATER);
  });

  it('are not of another process when they are orders that were adopted before', () => {
    for (let n = 0; n < 5; n++) expect(read([report('bot-2-1')], T + n)).toMatchObject({ halt: null });
  });

  it('keep the bot from quoting for ten seconds once there are two', () => {
    read([report('bot-2-1')]);
    expect(orphans.mayPlaceAgain(T)).toBe(false);
    read([report('bot-2-2')], T + 5_000);
    expect([5_000, 14_999, 15_000].map(ms => orphans.mayPlaceAgain(T + ms))).toEqual([true, true, false]);
    keepComing();
    expect(orphans.mayPlaceAgain(T + 1e9)).toBe(true);
  });
});
