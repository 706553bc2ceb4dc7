import { describe, expect, it } from 'vitest';
import { amount, price } from '../../../src/core/index.ts';
import { Fifo } from '../../../src/sandbox/matching/fifo.ts';
import { checkedOrder } from '../../../src/sandbox/venue/orderChecks.ts';
import { OWN_TRADES_MAX } from '../../../src/sandbox/venue/ownTrades.ts';
import { joined, TradeHistory, TRADES_MAX } from '../../../src/sandbox/venue/tradeHistory.ts';
import { FINISHED_MAX } from '../../../src/sandbox/venue/venue.ts';
import { arena } from '../trader.ts';

describe('an exchange that runs for months', () => {
  it('keeps a bounded number of orders and trades, the newest ones', () => {
    const { exchange, ann } = arena({ nonce: 'unchecked' });
    const { venue } = exchange;
    const account = venue.accounts.get(ann.id)!;
    const house = exchange.marketplace('btc_mxn');
    let last = '';
    const order = { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1500000', major: '0.00001' };
    for (let i = 0; i < OWN_TRADES_MAX + 6000; i++) {
      house.place('sell', price(150_000), amount(1000), 'GTC');
      const checked = checkedOrder(venue, account, { ...order, origin_id: `o-${i}` });
      if (checked.kind === 'refused') throw new Error(checked.message);
      last = venue.accept(account, checked.value.book, checked.value.draft, checked.value.lock).oid;
    }
    expect(venue.ordersKept).toBe(FINISHED_MAX);
    expect(account.finishedOrigins.size).toBe(FINISHED_MAX);
    expect(account.trades.count).toBe(OWN_TRADES_MAX);
    expect(account.active.size + account.activeOrigins.size).toBe(0);
    expect(ann.order(last)!['status']).toBe('completed');
    expect(ann.get('GET', `/api/v3/order_trades/${last}`)).toHaveLength(1);
    expect(ann.get('GET', '/api/v3/order_trades?origin_id=o-0')).toEqual([]);
    expect(ann.get<{ tid: string }[]>('GET', '/api/v3/user_trades?sort=asc&limit=1')[0]!.tid).toBe('100006001');
    expect([...exchange.truth().imbalance.values()].every(sum => sum === 0n)).toBe(true);
  });

  it('keeps the last public trades and pages through exactly those', () => {
    const history = new TradeHistory();
    for (let tid = 1; tid <= 3 * TRADES_MAX + 7; tid++) {
      history.add({
        tid,
        ordinal: tid,
        run: tid,
        at: tid * 1000,
        price: price(5),
        amount: amount(2),
        makerSide: 'buy',
      });
    }
    const newest = 3 * TRADES_MAX + 7;
    expect(history.page(2, 'desc').map(t => t.tid)).toEqual([newest, newest - 1]);
    expect(history.page(2, 'asc').map(t => t.tid)).toEqual([newest - TRADES_MAX + 1, newest - TRADES_MAX + 2]);
    expect(history.page(5, 'asc', newest - 1).map(t => t.tid)).toEqual([newest]);
    expect(history.page(5, 'desc', newest - TRADES_MAX + 1)).toEqual([]);
    const [all] = joined(history.candlesSince(0), Number.MAX_SAFE_INTEGER);
    expect(all).toMatchObject({ count: newest, lots: 2 * newest, low: 5, high: 5 });
  });

  it('forgets from its queues in order', () => {
    const queue = new Fifo<number>();
    for (let i = 0; i < 1000; i++) {
      queue.push(i);
      queue.push(i + 0.5);
      expect(queue.shift()).toBe(i % 2 === 0 ? i / 2 : (i - 1) / 2 + 0.5);
    }
    expect([queue.size, queue.oldest(), queue.newest(), queue.values().length]).toEqual([1000, 500, 999.5, 1000]);
    queue.clear();
    expect([queue.size, queue.oldest(), queue.newest(), queue.shift()]).toEqual([0, undefined, undefined, undefined]);
  });
});
