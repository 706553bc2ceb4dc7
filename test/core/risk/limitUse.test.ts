/** Use of each limit: the largest value, the farthest price and the loss, beside the maximum. */
import { describe, expect, test } from 'vitest';
import {
  KillSwitch,
  type Amount,
  money,
  moneyOf,
  type LimitName,
  type Order,
  type OrderState,
  type RiskContext,
  type Side,
} from '../../../src/core/index.ts';
import { limitUsesOf } from '../../../src/core/risk/limitUse.ts';
import { ToyExchange } from '../toyExchange.ts';
import { btcMxn, depthOf } from '../market.ts';

const halts = {
  drawdownMax: moneyOf('5000'),
  dayLossMax: moneyOf('3000'),
  fillsPer10Min: 300,
  refusalsPerMinute: 20,
  unknownsPerMinute: 20,
  messagesPerMinute: 600,
};

const useOf = (toy: ToyExchange, limit: LimitName) =>
  toy.engine.book.limitUses(toy.now).find(use => use.limit === limit);

describe('what is used of each limit', () => {
  test('is what the bot shows, holds and has lost, beside what it may', () => {
    const toy = new ToyExchange({ halts }).open().rounds(3);
    expect(useOf(toy, 'ordersMax')).toEqual({ limit: 'ordersMax', currency: null, max: 20, used: 2 });
    expect(useOf(toy, 'positionMax')).toMatchObject({ currency: 'btc', max: moneyOf('100'), used: 0n });
    // 10 lots at 1002, and two ticks from a middle of 1000.
    expect(useOf(toy, 'orderValueMax')).toMatchObject({ currency: 'mxn', used: moneyOf('10020') });
    expect(useOf(toy, 'collarBps')).toMatchObject({ max: 1000, used: 20 });
    expect(useOf(toy, 'drawdownMax')).toMatchObject({ currency: 'mxn', max: moneyOf('5000'), used: 0n });

    toy.fill(toy.live.find(order => order.side === 'buy')!.id, 10);
    toy.round();
    expect(useOf(toy, 'positionMax')).toMatchObject({ used: moneyOf('10') });
    expect(useOf(toy, 'fillsPer10Min')).toMatchObject({ max: 300, used: 1 });
    // Bought ten at 998, and the middle falls to 900.
    toy.bids = [[890, 50]];
    toy.asks = [[910, 50]];
    toy.rounds(2);
    expect(useOf(toy, 'dayLossMax')).toMatchObject({ max: moneyOf('3000'), used: moneyOf('980') });
    // It had been worth 20 more than nothing, against the middle at which it was bought.
    expect(useOf(toy, 'drawdownMax')).toMatchObject({ used: moneyOf('1000') });
    toy.now += 600_001;
    expect(useOf(toy, 'fillsPer10Min')).toMatchObject({ used: 0 });
  });

  test('is above the limit once it halted for it, and nothing is told of limits that were not set', () => {
    const toy = new ToyExchange({ halts: { ...halts, refusalsPerMinute: 3 } }).open();
    toy.fateOfPlace = () => ({ code: '0303' });
    for (let n = 0; n < 60 && toy.engine.book.haltedBecause === null; n++) toy.round(1_000);
    expect(toy.engine.book.haltedBecause).toMatch(/^refusals/);
    expect(useOf(toy, 'refusalsPerMinute')!.used).toBeGreaterThan(3);
    expect(new ToyExchange({ limits: null }).open().engine.book.limitUses(0)).toEqual([]);
  });

  test('is the largest and the farthest of the orders that may live, and the losses without gains', () => {
    const order = (side: Side, price: number, amount: number, state: OrderState): Order =>
      ({ id: '', side, price, amount, filled: amount - 1, state }) as unknown as Order;
    const context = {
      instrument: btcMxn,
      limits: { positionMax: 70, orderValueMax: 5n, ordersMax: 9, collarBps: 300, staleAfterMs: 1 },
      depth: depthOf([[999, 50]], [[1001, 50]]),
      position: -4,
      orders: [
        order('buy', 980, 3, 'open'),
        order('sell', 1030, 2, 'canceling'),
        order('sell', 5_000, 900, 'closed-unsettled'),
      ],
    } as unknown as RiskContext;
    const tickLots = (n: bigint) => n * btcMxn.tickLotMoney;
    const uses = limitUsesOf(context, null, money(0n), 0);
    expect(uses).toEqual([
      { limit: 'positionMax', currency: 'btc', max: 70n * btcMxn.lotMoney, used: 4n * btcMxn.lotMoney },
      { limit: 'orderValueMax', currency: 'mxn', max: tickLots(5n), used: tickLots(2_940n) },
      { limit: 'ordersMax', currency: null, max: 9, used: 2 },
      { limit: 'collarBps', currency: null, max: 300, used: 300 },
    ]);
    expect(limitUsesOf({ ...context, orders: [] }, null, money(0n), 0).map(({ used }) => used)).toEqual([
      ...[4n * btcMxn.lotMoney, 0n],
      ...[0, 0],
    ]);
    const more = {
      ...context,
      limits: { ...context.limits!, orderAmountMax: 50 as Amount, priceMove: { bps: 700, windowMs: 1 } },
    };
    // The mid price is 1000 ticks, and the past price is 1250 ticks.
    const withMore = limitUsesOf({ ...more, pastPrice: 2_500 }, null, money(0n), 0);
    expect(withMore.filter(use => !uses.some(({ limit }) => limit === use.limit))).toEqual([
      { limit: 'orderAmountMax', currency: 'btc', max: 50n * btcMxn.lotMoney, used: 3n * btcMxn.lotMoney },
      { limit: 'priceMove', currency: null, max: 700, used: 2_000 },
    ]);
    expect(limitUsesOf({ ...more, orders: [] }, null, money(0n), 0)).toContainEqual(
      expect.objectContaining({ limit: 'orderAmountMax', used: 0n }),
    );
    const withoutDistances = ['positionMax', 'orderValueMax', 'orderAmountMax', 'ordersMax'];
    // Distances are left out while the mid price or the past price is unknown.
    for (const depth of [depthOf([[999, 50]], []), depthOf([], [[1001, 50]]), depthOf([], [])])
      for (const pastPrice of [0, 2_500]) {
        const unknown = limitUsesOf({ ...more, depth, pastPrice }, null, money(0n), 0);
        expect(unknown.map(({ limit }) => limit)).toEqual(withoutDistances);
        const idle = limitUsesOf({ ...more, depth, pastPrice, orders: [] }, null, money(0n), 0);
        expect(idle.filter(({ used }) => Number.isNaN(Number(used)))).toEqual([]);
      }
    expect(limitUsesOf({ ...more, pastPrice: 0 }, null, money(0n), 0).map(({ limit }) => limit)).toEqual([
      ...withoutDistances,
      'collarBps',
    ]);

    const guard = new KillSwitch(halts);
    const losses = (profit: string) =>
      limitUsesOf({ ...context, limits: null }, guard, moneyOf(profit), 1.7e12)
        .slice(0, 2)
        .map(({ limit, currency, max, used }) => [limit, currency, max, used]);
    const row = (drawdown: string, loss: string) => [
      ['drawdownMax', 'mxn', halts.drawdownMax, moneyOf(drawdown)],
      ['dayLossMax', 'mxn', halts.dayLossMax, moneyOf(loss)],
    ];
    expect(losses('5')).toEqual(row('0', '0'));
    guard.breach(moneyOf('10'), 1.7e12);
    guard.breach(moneyOf('30'), 1.7e12);
    expect([losses('30'), losses('25'), losses('8')]).toEqual([row('0', '0'), row('5', '0'), row('22', '2')]);
  });
});
