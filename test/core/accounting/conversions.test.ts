/** Conversions and transfers in the engine: what may be carried out counts both ways until it is known, and money that came from elsewhere is never profit. */
import { describe, expect, test } from 'vitest';
import { money, moneyOf, textOfMoney, type Conversion } from '../../../src/core/index.ts';
import { Desk, quoteAround } from '../desk.ts';

const sale: Conversion = {
  id: 'h1',
  give: { currency: 'btc', amount: moneyOf('60') },
  get: { currency: 'mxn', amount: moneyOf('59000') },
};
const told = (desk: Desk, phase: 'in flight' | 'done' | 'failed', conversion = sale) =>
  desk.step({ kind: 'conversion', at: desk.now, phase, conversion });
const balances = (desk: Desk, btc: string, mxn: string) =>
  desk.step({
    kind: 'balances',
    at: desk.now,
    startedAt: desk.now,
    quiet: true,
    balances: [
      { currency: 'btc', total: btc, locked: '0', available: btc },
      { currency: 'mxn', total: mxn, locked: '0', available: mxn },
    ],
  });
const worst = (desk: Desk) =>
  desk.engine.book.preview(desk.now).levels.map(({ level, verdict }) => [level.side, verdict]);

describe('a conversion', () => {
  test('in flight takes its room from the side on which it may come, and leaves the other alone', () => {
    const desk = new Desk({ strategy: quoteAround(2, 3, 4, 5, 6) }).open();
    told(desk, 'in flight', { ...sale, give: { currency: 'btc', amount: moneyOf('60') } });
    desk.rounds(3);
    // 100 lots are the limit, 60 may go, five levels of ten are wanted a side.
    expect(desk.live.filter(({ side }) => side === 'sell')).toHaveLength(4);
    expect(desk.live.filter(({ side }) => side === 'buy')).toHaveLength(5);
    told(desk, 'failed');
    desk.rounds(3);
    expect(desk.live.filter(({ side }) => side === 'sell')).toHaveLength(5);
  });

  test('in flight leaves what it may take to nobody', () => {
    const desk = new Desk().open();
    told(desk, 'in flight', { ...sale, give: { currency: 'mxn', amount: moneyOf('999999999') } });
    desk.round();
    expect(worst(desk)).toContainEqual(['buy', 'insufficient funds']);
    expect(worst(desk)).toContainEqual(['sell', 'would be placed']);
  });

  test('in flight explains any difference of the balances; done or failed, they must equal the ledger again', () => {
    const desk = new Desk().open();
    desk.round();
    told(desk, 'in flight');
    for (let n = 0; n < 5; n++) balances(desk, '999999940', '1000059000');
    expect(desk.engine.book.haltedBecause).toBeNull();
    told(desk, 'done');
    for (let n = 0; n < 5; n++) balances(desk, '999999940', '1000059000');
    expect(desk.engine.book.haltedBecause).toBeNull();
    for (let n = 0; n < 5; n++) balances(desk, '1000000000', '1000000000');
    expect(desk.engine.book.haltedBecause).toContain('differ');
  });

  test('done is hedging in the profit, to the last digit, and moves the position', () => {
    const desk = new Desk().open();
    desk.round();
    const before = desk.engine.book.snapshot(desk.now).booked.inventory;
    told(desk, 'in flight');
    told(desk, 'done');
    const { profit, inventory } = desk.engine.book.snapshot(desk.now).booked;
    // The middle is 1000.
    expect(textOfMoney(profit.hedging)).toBe('-1000');
    expect(inventory - before).toBe(-moneyOf('60'));
  });

  test('into a third currency is no profit', () => {
    const desk = new Desk().open();
    desk.round();
    const usd: Conversion = { ...sale, get: { currency: 'usd', amount: moneyOf('3000') } };
    told(desk, 'done', usd);
    const { profit, holdings } = desk.engine.book.snapshot(desk.now).booked;
    expect(profit.total).toBe(0n);
    expect(holdings.get('usd')).toBe(moneyOf('3000'));
  });
});

describe('a transfer', () => {
  test('is in the ledger, and never profit', () => {
    const desk = new Desk().open();
    desk.round();
    const transfer = { kind: 'transfer', at: desk.now, occurredAt: desk.now, why: 'told' } as const;
    desk.step({ ...transfer, source: 'f1', cause: 'deposits', currency: 'mxn', amount: moneyOf('500') });
    desk.step({ ...transfer, source: 'w1', cause: 'withdrawals', currency: 'btc', amount: money(-moneyOf('2')) });
    // The same again is known.
    desk.step({ ...transfer, source: 'w1', cause: 'withdrawals', currency: 'btc', amount: money(-moneyOf('2')) });
    for (let n = 0; n < 5; n++) balances(desk, '999999998', '1000000500');
    expect(desk.engine.book.haltedBecause).toBeNull();
    const { profit, inventory } = desk.engine.book.snapshot(desk.now).booked;
    expect(profit.total).toBe(0n);
    // Without a target of its own the bot comes back to what it holds.
    expect(inventory).toBe(0n);
  });
});
