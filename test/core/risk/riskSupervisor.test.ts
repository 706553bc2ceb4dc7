/** What stops a book: a resume forgives losses, counts and inventory once, and the first reason of a halt stays. */
import { describe, expect, it } from 'vitest';
import { amount, moneyOf, type RiskContext } from '../../../src/core/index.ts';
import { RiskSupervisor, type RiskNews, type RiskRules } from '../../../src/core/risk/riskSupervisor.ts';
import { OneBook } from '../accounting/oneBook.ts';
import { depthOf, plain } from '../market.ts';

const T = 1.7e12;
const halts = {
  ...{ drawdownMax: moneyOf('1000'), dayLossMax: moneyOf('1000') },
  ...{ fillsPer10Min: 2, refusalsPerMinute: 2, unknownsPerMinute: 2, messagesPerMinute: 2 },
};

function supervised(changes: Partial<RiskRules> = {}) {
  const book = new OneBook(plain, amount(0));
  const balance = { currency: 'btc', total: '110', locked: '0', available: '110' };
  for (const at of [T - 10_000, T - 1_000]) book.read([balance, { ...balance, currency: 'mxn' }], at);
  const news: RiskNews[] = [];
  const risk = new RiskSupervisor({ halts, limits: { positionMax: amount(100) }, ...changes }, book.inventory, one =>
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

describe('a halt', () => {
  it('is told once, with its regime before it, and with its first reason only', () => {
    const { risk, news } = supervised();
    risk.halt(T, 'one');
    risk.halt(T + 1, 'another');
    expect(news.map(one => (one.kind === 'halted' ? one.reason : one.to.regime))).toEqual(['halted', 'one']);
    expect([risk.haltedBecause, risk.pendingHaltReason(T), risk.regimes.state.since]).toEqual(['one', 'one', T]);
    const [change] = news;
    expect(change).toMatchObject({ kind: 'regime', from: { regime: 'paused', why: 'not ready' }, to: { why: 'one' } });
  });

  it('by a loss comes before one by inventory, and either alone is one', () => {
    const { risk, book, news } = supervised();
    // 110 btc are beyond the limit; a fall of the middle from 20 to 10 loses 1,100 on them.
    book.inventory.mark(40);
    expect(risk.pendingHaltReason(T)).toBe('position: 110 btc from the target is beyond its limit');
    risk.resume({ kind: 'resume', at: T });
    expect(risk.check(T + 1)).toBe(false);
    expect([risk.reducingBecause, risk.pendingHaltReason(T)]).toEqual([
      'inventory is beyond its limit, and a person has resumed: it is only closed until it is within limits.positionMax',
      null,
    ]);
    book.inventory.mark(20);
    expect(risk.check(T + 2)).toBe(true);
    expect(risk.haltedBecause).toMatch(/^drawdown: profit fell 1100 /);
    expect([risk.check(T + 3), news.filter(({ kind }) => kind === 'halted').length]).toEqual([false, 1]);
  });

  it('comes of nothing without limits of halts, nor of inventory that nothing limits', () => {
    const { risk } = supervised({ halts: undefined });
    expect([risk.killSwitch, risk.check(T), risk.haltedBecause]).toEqual([null, false, null]);
    const unlimited = supervised({ limits: null }).risk;
    expect([unlimited.check(T), unlimited.isWithinLimit, unlimited.pendingHaltReason(T)]).toEqual([false, false, null]);
  });

  it('comes of nothing before the balances are known', () => {
    const inventory = new OneBook(plain, amount(0)).inventory;
    const risk = new RiskSupervisor({ halts, limits: { positionMax: amount(100) } }, inventory, () => {});
    for (const at of [1, 2, 3]) risk.killSwitch!.fill(T + at);
    expect([risk.check(T + 4), risk.isWithinLimit, risk.pausedBecause]).toEqual([false, false, null]);
  });
});

describe('a look at the regime', () => {
  const depth = depthOf([[9, 50]], [[11, 50]]);
  const context = (positionMax: number | null, position: number) =>
    ({ depth, position, limits: positionMax === null ? null : { positionMax } }) as unknown as RiskContext;
  const regimes = {
    leaveShare: 0.8,
    calmMs: 0,
    wide: null,
    reduceOnly: { positionShare: 0.5, drawdown: moneyOf('300') },
  };

  it('counts inventory against its limit, and the fall of the profit where it is asked for', () => {
    const { risk, book } = supervised({ regimes });
    deposit(book, '-60');
    book.inventory.mark(40);
    risk.check(T);
    risk.look(T, context(100, 49), null);
    expect(risk.regimes.state.regime).toBe('normal');
    risk.look(T + 1, context(100, 50), null);
    expect(risk.regimes.state.why).toBe('inventory is near its limit');
    risk.look(T + 2, context(100, 39), null);
    // 50 btc, and the middle falls by 6.
    book.inventory.mark(28);
    risk.look(T + 3, context(100, 39), null);
    expect(risk.reducingBecause).toBe(
      'drawdown: profit fell 300 from its peak; from a drawdown of 300, orders only reduce inventory',
    );
    risk.look(T + 4, context(null, 0), 'no limits');
    expect(risk.regimes.state.why).toBe('no limits');
    risk.regimes.apply({ kind: 'pause', at: T + 5, reason: 'lunch' });
    expect(risk.pausedBecause).toBe('lunch');
  });

  it('knows no fall without a kill switch, nor before the balances', () => {
    const without = supervised({ regimes, halts: undefined }).risk;
    without.look(T, context(100, 0), null);
    const unknown = new RiskSupervisor({ halts, regimes, limits: null }, new OneBook(plain, null).inventory, () => {});
    unknown.killSwitch!.breach(moneyOf('900'), T);
    unknown.look(T, context(100, 0), null);
    expect([without.reducingBecause, unknown.reducingBecause]).toEqual([null, null]);
  });
});
