/** What stops a book: a resume forgives losses, counts and inventory once, and the first reason of a halt stays. */
import { describe, expect, it } from 'vitest';
import { amount, moneyOf } from '../../../src/core/index.ts';
import { RiskSupervisor, type RiskNews } from '../../../src/core/risk/riskSupervisor.ts';
import { OneBook } from '../accounting/oneBook.ts';
import { plain } from '../market.ts';

const T = 1.7e12;
const halts = {
  ...{ drawdownMax: moneyOf('1000'), dayLossMax: moneyOf('1000') },
  ...{ fillsPer10Min: 2, refusalsPerMinute: 2, unknownsPerMinute: 2, messagesPerMinute: 2 },
};

function supervised() {
  const book = new OneBook(plain, amount(0));
  const balance = { currency: 'btc', total: '110', locked: '0', available: '110' };
  for (const at of [T - 10_000, T - 1_000]) book.read([balance, { ...balance, currency: 'mxn' }], at);
  const news: RiskNews[] = [];
  const risk = new RiskSupervisor({ halts, limits: { positionMax: amount(100) } }, book.inventory, one =>
    news.push(one),
  );
  return { risk, book, news };
}
const deposit = (book: OneBook, major: string) =>
  book.transfer({
    ...{ source: `d${major}`, cause: 'deposits', currency: 'btc', occurredAt: T, why: '' },
    amount: moneyOf(major),
  });

describe('a resume while inventory is beyond its limit', () => {
  it('lets it only be closed, and halts again only when it grows', () => {
    const { risk, book } = supervised();
    expect(risk.check(T)).toBe(true);
    expect(risk.haltedBecause).toMatch(/^position: 110 btc from the target is beyond its limit$/);
    risk.resume({ kind: 'resume', at: T + 1 });
    expect([risk.check(T + 2), risk.haltedBecause]).toEqual([false, null]);
    expect(risk.reducingBecause).toContain('only closed');
    expect(risk.check(T + 3)).toBe(false);
    deposit(book, '10');
    expect(risk.check(T + 4)).toBe(true);
    expect(risk.haltedBecause).toMatch(/^position: 120 btc/);
  });
});

describe('a resume after too many of something', () => {
  it('counts from nothing', () => {
    const { risk, book } = supervised();
    deposit(book, '-60');
    for (const at of [1, 2, 3]) risk.killSwitch!.fill(T + at);
    expect(risk.check(T + 4)).toBe(true);
    expect(risk.haltedBecause).toMatch(/^fills: more than 2/);
    risk.halt(T + 5, 'another reason');
    expect(risk.haltedBecause).toMatch(/^fills/);
    risk.resume({ kind: 'resume', at: T + 6 });
    expect([risk.check(T + 7), risk.haltedBecause, risk.isWithinLimit]).toEqual([false, null, true]);
  });
});
