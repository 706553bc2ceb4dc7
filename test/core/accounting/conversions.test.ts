/** Conversions and transfers in the engine: what may be carried out counts both ways until it is known, and money that came from elsewhere is never profit. */
import { describe, expect, test } from 'vitest';
import { money, moneyOf, textOfMoney, type Conversion } from '../../../src/core/index.ts';
import { ToyExchange, quoteAround } from '../toyExchange.ts';

const sale: Conversion = {
  id: 'h1',
  give: { currency: 'btc', amount: moneyOf('60') },
  get: { currency: 'mxn', amount: moneyOf('59000') },
};
const told = (toy: ToyExchange, phase: 'in flight' | 'done' | 'failed', conversion = sale) =>
  toy.step({ kind: 'conversion', at: toy.now, phase, conversion });
const balances = (toy: ToyExchange, btc: string, mxn: string) =>
  toy.step({
    kind: 'balances',
    at: toy.now,
    startedAt: toy.now,
    quiet: true,
    balances: [
      { currency: 'btc', total: btc, locked: '0', available: btc },
      { currency: 'mxn', total: mxn, locked: '0', available: mxn },
    ],
  });
const worst = (toy: ToyExchange) =>
  toy.engine.book.preview(toy.now).levels.map(({ level, verdict }) => [level.side, verdict]);

describe('a conversion', () => {
  test('in flight takes its room from the side on which it may come, and leaves the other alone', () => {
    const toy = new ToyExchange({ strategy: quoteAround(2, 3, 4, 5, 6) }).open();
    told(toy, 'in flight', { ...sale, give: { currency: 'btc', amount: moneyOf('60') } });
    toy.rounds(3);
    // 100 lots are the limit, 60 may go, five levels of ten are wanted a side.
    expect(toy.live.filter(({ side }) => side === 'sell')).toHaveLength(4);
    expect(toy.live.filter(({ side }) => side === 'buy')).toHaveLength(5);
    told(toy, 'failed');
    toy.rounds(3);
    expect(toy.live.filter(({ side }) => side === 'sell')).toHaveLength(5);
  });

  test('in flight leaves what it may take to nobody', () => {
    const toy = new ToyExchange().open();
    told(toy, 'in flight', { ...sale, give: { currency: 'mxn', amount: moneyOf('999999999') } });
    toy.round();
    expect(worst(toy)).toContainEqual(['buy', 'insufficient funds']);
    expect(worst(toy)).toContainEqual(['sell', 'would be placed']);
  });

  test('in flight explains any difference of the balances; done or failed, they must equal the ledger again', () => {
    const toy = new ToyExchange().open();
    toy.round();
    told(toy, 'in flight');
    for (let n = 0; n < 5; n++) balances(toy, '999999940', '1000059000');
    expect(toy.engine.book.haltedBecause).toBeNull();
    told(toy, 'done');
    for (let n = 0; n < 5; n++) balances(toy, '999999940', '1000059000');
    expect(toy.engine.book.haltedBecause).toBeNull();
    for (let n = 0; n < 5; n++) balances(toy, '1000000000', '1000000000');
    expect(toy.engine.book.haltedBecause).toContain('differ');
  });

  test('done is hedging in the profit, to the last digit, and moves the position', () => {
    const toy = new ToyExchange().open();
    toy.round();
    const before = toy.engine.book.snapshot(toy.now).booked.inventory;
    told(toy, 'in flight');
    told(toy, 'done');
    const { profit, inventory } = toy.engine.book.snapshot(toy.now).booked;
    // The middle is 1000.
    expect(textOfMoney(profit.hedging)).toBe('-1000');
    expect(inventory - before).toBe(-moneyOf('60'));
  });

  test('into a third currency is no profit', () => {
    const toy = new ToyExchange().open();
    toy.round();
    const usd: Conversion = { ...sale, get: { currency: 'usd', amount: moneyOf('3000') } };
    told(toy, 'done', usd);
    const { profit, holdings } = toy.engine.book.snapshot(toy.now).booked;
    expect(profit.total).toBe(0n);
    expect(holdings.get('usd')).toBe(moneyOf('3000'));
  });
});

describe('a transfer', () => {
  test('is in the ledger, and never profit', () => {
    const toy = new ToyExchange().open();
    toy.round();
    const transfer = { kind: 'transfer', at: toy.now, occurredAt: toy.now, why: 'told' } as const;
    toy.step({ ...transfer, source: 'f1', cause: 'deposits', currency: 'mxn', amount: moneyOf('500') });
    toy.step({ ...transfer, source: 'w1', cause: 'withdrawals', currency: 'btc', amount: money(-moneyOf('2')) });
    // The same again is known.
    toy.step({ ...transfer, source: 'w1', cause: 'withdrawals', currency: 'btc', amount: money(-moneyOf('2')) });
    for (let n = 0; n < 5; n++) balances(toy, '999999998', '1000000500');
    expect(toy.engine.book.haltedBecause).toBeNull();
    const { profit, inventory } = toy.engine.book.snapshot(toy.now).booked;
    expect(profit.total).toBe(0n);
    // Without a target of its own the bot comes back to what it holds.
    expect(inventory).toBe(0n);
  });
});
