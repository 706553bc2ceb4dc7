import { describe, expect, test } from 'vitest';
import { moneyOf, type LimitName } from '../../../src/core/index.ts';
import { Desk } from '../desk.ts';

const halts = {
  drawdownMax: moneyOf('5000'),
  dayLossMax: moneyOf('3000'),
  fillsPer10Min: 300,
  refusalsPerMinute: 20,
  unknownsPerMinute: 20,
  messagesPerMinute: 600,
};

const useOf = (desk: Desk, limit: LimitName) => desk.engine.limitUses(desk.now).find(use => use.limit === limit);

describe('what is used of each limit', () => {
  test('is what the bot shows, holds and has lost, beside what it may', () => {
    const desk = new Desk({ halts }).open().rounds(3);
    expect(useOf(desk, 'ordersMax')).toEqual({ limit: 'ordersMax', currency: null, max: 20, used: 2 });
    expect(useOf(desk, 'positionMax')).toMatchObject({ currency: 'btc', max: moneyOf('100'), used: 0n });
    // 10 lots at 1002, and two ticks from a middle of 1000.
    expect(useOf(desk, 'orderValueMax')).toMatchObject({ currency: 'mxn', used: moneyOf('10020') });
    expect(useOf(desk, 'collarBps')).toMatchObject({ max: 1000, used: 20 });
    expect(useOf(desk, 'drawdownMax')).toMatchObject({ currency: 'mxn', max: moneyOf('5000'), used: 0n });

    desk.fill(desk.live.find(order => order.side === 'buy')!.id, 10);
    desk.round();
    expect(useOf(desk, 'positionMax')).toMatchObject({ used: moneyOf('10') });
    expect(useOf(desk, 'fillsPer10Min')).toMatchObject({ max: 300, used: 1 });
    // Bought ten at 998, and the middle falls to 900.
    desk.bids = [[890, 50]];
    desk.asks = [[910, 50]];
    desk.rounds(2);
    expect(useOf(desk, 'dayLossMax')).toMatchObject({ max: moneyOf('3000'), used: moneyOf('980') });
    // It had been worth 20 more than nothing, against the middle at which it was bought.
    expect(useOf(desk, 'drawdownMax')).toMatchObject({ used: moneyOf('1000') });
    desk.now += 600_001;
    expect(useOf(desk, 'fillsPer10Min')).toMatchObject({ used: 0 });
  });

  test('is above the limit once it halted for it, and nothing is told of limits that were not set', () => {
    const desk = new Desk({ halts: { ...halts, refusalsPerMinute: 3 } }).open();
    desk.fateOfPlace = () => ({ code: '0303' });
    for (let n = 0; n < 60 && desk.engine.haltedBecause === null; n++) desk.round(1_000);
    expect(desk.engine.haltedBecause).toMatch(/^refusals/);
    expect(useOf(desk, 'refusalsPerMinute')!.used).toBeGreaterThan(3);
    expect(new Desk({ limits: null }).open().engine.limitUses(0)).toEqual([]);
  });
});
