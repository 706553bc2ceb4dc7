/** Evidence about one order, example by example: each line here kills a change of `orders.ts` that once survived every other test. */
import { beforeEach, describe, expect, it } from 'vitest';
import {
  amount,
  moneyOf,
  Orders,
  price,
  type Money,
  type OrderNews,
  type OrderReport,
  type Outcome,
} from '../../../src/core/index.ts';
import { FinishedOrders } from '../../../src/core/orders/finishedOrders.ts';
import { plain } from '../market.ts';

/** Near the present, so that a sum of two times is nothing like their difference. */
const T = 1.7e12;
const DELAY = 1000;
const LAG = 300;
const MISSING = 60_000;
const none: readonly OrderReport[] = [];
const done = (oid: string): Outcome<{ readonly oid: string }> => ({ kind: 'done', value: { oid } });
const lost = { kind: 'unknown', reason: 'timeout' } as const;
const rejected = { kind: 'refused', code: '0403', message: 'no' } as const;
const canceled = (...oids: string[]): Outcome<readonly string[]> => ({ kind: 'done', value: oids });

let news: OrderNews[];
let orders: Orders;
const kinds = () => news.map(({ kind }) => kind);
const state = (id = 'a-1') => orders.get(id)!.state;
const report = (status: OrderReport['status'], changes: Partial<OrderReport> = {}): OrderReport => ({
  ...{
    book: 'btc_mxn',
    oid: 'oid-a-1',
    originId: 'a-1',
    side: 'buy',
    type: 'limit',
    status,
    price: '100',
    createdAt: T,
  },
  ...{ originalAmount: '10', unfilledAmount: '10' },
  ...changes,
});
const place = (id: string, at = T) => {
  orders.intend(id, 'buy', price(100), amount(10), at);
  orders.sent(id);
};
const open = (id: string, at = T) => {
  place(id, at);
  orders.answered(id, done(`oid-${id}`), false, at);
};

beforeEach(() => {
  news = [];
  const patience = { requestDelayMaxMs: DELAY, tradeReportDelayMaxMs: LAG, cancelAgainMs: 50 };
  orders = new Orders(plain, patience, one => news.push(one));
});

describe('an order whose reported fill is not listed yet', () => {
  it('stays reserved however much time passes, and its trades are reported missing once', () => {
    open('a-1');
    orders.lookedUp(['a-1'], [report('cancelled', { unfilledAmount: '9' })], T + 1, T + 2);
    for (const at of [LAG + 3, MISSING + 1, MISSING + 2, MISSING + 10_000]) {
      orders.tradesRead(T + at);
      orders.tick(T + at + 2);
      expect([state(), orders.reserved('buy')]).toEqual(['closed-unsettled', 1]);
    }
    expect(kinds()).toEqual(['trades missing']);
    orders.filled('a-1', 'oid-a-1', amount(1), T + MISSING + 20_000);
    expect([state(), orders.reserved('buy')]).toEqual(['done', 0]);
  });

  it('is not reported missing before its time', () => {
    open('a-1');
    orders.lookedUp(['a-1'], [report('cancelled', { unfilledAmount: '9' })], T + 1, T + 2);
    orders.tick(T + 2 + MISSING - 1);
    expect(kinds()).toEqual([]);
    orders.tick(T + 2 + MISSING);
    expect(kinds()).toEqual(['trades missing']);
  });

  it('is settled by time alone where it was adopted, because its earlier trades cannot be told apart', () => {
    orders.adopt(
      { ...report('partially filled', { unfilledAmount: '6' }), originId: 'a-1' },
      price(100),
      amount(10),
      amount(4),
      T,
    );
    orders.lookedUp(['a-1'], [report('cancelled', { unfilledAmount: '3' })], T + 1, T + 2);
    expect([state(), orders.reserved('buy')]).toEqual(['closed-unsettled', 3]);
    orders.tradesRead(T + 2 + LAG);
    orders.tick(T + 3 + LAG);
    expect(state()).toBe('done');
  });

  it('stays reserved until a read of trades that began late enough', () => {
    open('a-1');
    orders.filled('a-1', 'oid-a-1', amount(1), T + 1);
    orders.cancelSent('a-1', T + 1);
    for (const at of [LAG + 1, LAG + 2]) orders.read(none, true, T + at, T + at);
    expect(state()).toBe('closed-unsettled');
    orders.tradesRead(T + LAG + 2 + LAG - 1);
    orders.tick(T + 10 * LAG);
    expect(state()).toBe('closed-unsettled');
    orders.tradesRead(T + LAG + 2 + LAG);
    // An older read that is answered later takes nothing back.
    orders.tradesRead(T);
    orders.tick(T + 10 * LAG);
    expect(state()).toBe('done');
  });
});

describe('a rejection', () => {
  it('does not end an order of which a fill is known, nor one whose oid is known', () => {
    place('a-1');
    place('a-2');
    orders.filled('a-1', 'oid-a-1', amount(3), T + 1);
    orders.read([report('open', { oid: 'oid-a-2', originId: 'a-2' })], false, T + 1, T + 1);
    for (const id of ['a-1', 'a-2']) orders.answered(id, rejected, false, T + 2);
    expect([state('a-1'), state('a-2')]).toEqual(['partially filled', 'open']);
    expect(orders.reserved('buy')).toBe(7 + 10);
  });

  it('does not end an order whose cancel is on its way once its oid is known', () => {
    open('a-1');
    orders.cancelSent('a-1', T + 1);
    orders.answered('a-1', rejected, false, T + 2);
    expect(state()).toBe('canceling');
  });
});

describe('the answer to a cancel', () => {
  it('of several orders gives none of them an oid', () => {
    for (const id of ['a-1', 'a-2']) {
      place(id);
      orders.answered(id, lost, false, T);
    }
    orders.cancelAnswered(['a-1', 'a-2'], canceled('oid-a-2'), T + 1, T + 2);
    expect([orders.get('a-1')!.oid, orders.get('a-2')!.oid, orders.byOid('oid-a-2')]).toEqual([null, null, undefined]);
  });

  it('passes over an oid that is not known when that of the order is', () => {
    open('a-1');
    orders.cancelSent('a-1', T + 1);
    orders.cancelAnswered(['a-1'], canceled('oid-of-another', 'oid-a-1'), T + 1, T + 2);
    expect([orders.get('a-1')!.oid, orders.byOid('oid-of-another')]).toEqual(['oid-a-1', undefined]);
  });
});

describe('an intent', () => {
  it('keeps what it was placed for, and has no such key where it was placed for nothing', () => {
    const made = orders.intend('a-1', 'sell', price(7), amount(3), T, { level: 2, placedFor: { index: 1, parts: 2 } });
    expect(made).toMatchObject({ level: 2, placedFor: { index: 1, parts: 2 }, takes: false, placedAt: T });
    const bare = orders.intend('a-2', 'sell', price(7), amount(3), T);
    expect(['level', 'placedFor'].filter(key => key in bare)).toEqual([]);
    expect(orders.intend('a-3', 'sell', price(7), amount(3), T, { takes: true }).takes).toBe(true);
  });
});

describe('fills finer than a lot', () => {
  it('count as soon as they add up to one, from what the ledger already had', () => {
    const half = (plain.lotMoney / 2n) as Money;
    open('a-1');
    const left = {
      id: 'a-2',
      side: 'buy',
      price: price(100),
      amount: amount(10),
      filled: amount(2),
      oid: 'oid-a-2',
    } as const;
    orders.restore({ ...left, filledRest: half, at: T }, T);
    const filled: number[] = [];
    for (const id of ['a-1', 'a-1', 'a-1', 'a-2', 'a-2']) {
      orders.filled(id, `oid-${id}`, amount(1), T + 1, half);
      filled.push(orders.get(id)!.filled);
    }
    expect(filled).toEqual([1, 3, 4, 4, 5]);
  });
});

describe('a cancel of one unknown order', () => {
  it('that lists the oid of another says nothing of the order', () => {
    for (const listed of [[], ['oid-a-2']]) {
      orders = new Orders(plain, { requestDelayMaxMs: DELAY, tradeReportDelayMaxMs: LAG, cancelAgainMs: 50 }, () => {});
      place('a-1');
      orders.answered('a-1', lost, false, T);
      open('a-2');
      const at = T + DELAY;
      for (const n of [0, 1, 2, 3]) orders.read(none, true, at + n, at + n);
      orders.lookedUp(['a-1'], none, at, at);
      orders.tradesRead(at);
      orders.cancelAnswered(['a-1'], canceled(...listed), at, at);
      orders.tick(at + 4);
      expect([listed, state()]).toEqual([listed, listed.length === 0 ? 'closed-unsettled' : 'unknown']);
    }
  });
});

describe('a look-up', () => {
  it('that says completed closes the order, and is no sighting of it', () => {
    open('a-1');
    orders.lookedUp(['a-1'], [report('completed', { unfilledAmount: '0' })], T + 1, T + 2);
    expect([state(), orders.get('a-1')!.ending]).toEqual(['closed-unsettled', 'filled']);
  });

  it('that shows an unknown order proves that it is there, and teaches its oid', () => {
    place('a-1');
    orders.answered('a-1', lost, false, T);
    orders.lookedUp(['a-1'], [report('open')], T + 1, T + 2);
    expect([state(), orders.byOid('oid-a-1')?.id]).toEqual(['open', 'a-1']);
    place('a-2');
    const ended = report('cancelled', { oid: 'oid-a-2', originId: 'a-2' });
    orders.lookedUp(['a-2'], [ended], T + 1, T + 2);
    expect([state('a-2'), orders.byOid('oid-a-2')?.id]).toEqual(['done', 'a-2']);
  });
});

describe('a fill after the end of its order', () => {
  it('is reported late once, and ends nothing again', () => {
    open('a-1');
    orders.lookedUp(['a-1'], [report('cancelled')], T + 1, T + 2);
    expect(state()).toBe('done');
    orders.filled('a-1', 'oid-a-1', amount(10), T + 3);
    expect(kinds()).toEqual(['ended', 'late fill']);
  });
});

describe('a sighting', () => {
  it('of an order that lives is no news, however often', () => {
    open('a-1');
    for (const at of [1, 2, 3]) orders.read([report('open')], true, T + at, T + at);
    expect(kinds()).toEqual([]);
  });

  it('does not move the time from which absence counts once the oid is known', () => {
    open('a-1');
    orders.read([report('open')], true, T + 10, T + 10);
    orders.read(none, true, T + 5, T + 11);
    expect(orders.needsLookUp(orders.get('a-1')!)).toBe(true);
  });

  it('takes back what absence, look-ups, cancels and reads of trades had proven', () => {
    const proofs = {
      absences: (at: number) => [0, 1, 2, 3].forEach(n => orders.read(none, true, at + n, at + n)),
      lookUps: (at: number) => orders.lookedUp(['a-1'], none, at, at),
      cancels: (at: number) => orders.cancelAnswered(['a-1'], canceled(), at, at),
      trades: (at: number) => orders.tradesRead(at),
    };
    for (const repeated of Object.keys(proofs)) {
      news = [];
      orders = new Orders(plain, { requestDelayMaxMs: DELAY, tradeReportDelayMaxMs: LAG, cancelAgainMs: 50 }, one =>
        news.push(one),
      );
      place('a-1');
      orders.answered('a-1', lost, false, T);
      const at = T + DELAY;
      for (const prove of Object.values(proofs)) prove(at);
      // Seen by a reader that lags and does not name an oid that is new: then unknown again is not possible, so it is restored.
      orders.read([report('open')], true, at + 10, at + 10);
      expect(state()).toBe('open');
      for (const [name, prove] of Object.entries(proofs)) if (name !== repeated) prove(at + 2 * DELAY);
      orders.tick(at + 2 * DELAY + 10);
      expect([repeated, state() === 'done']).toEqual([repeated, false]);
    }
  });

  it('between two absences keeps an order that lives from being closed', () => {
    open('a-1');
    const at = T + LAG + 1;
    orders.read(none, true, at, at);
    orders.read([report('open')], true, at + 1, at + 1);
    orders.read(none, true, at + 2, at + 2);
    expect(state()).toBe('open');
    orders.read(none, true, at + 3, at + 3);
    expect(state()).toBe('closed-unsettled');
  });
});

describe('a reopened order', () => {
  const end = (id: string, at: number) =>
    orders.lookedUp([id], [report('cancelled', { oid: `oid-${id}`, originId: id })], at, at);

  it('is not closed by reads that began before it was seen again', () => {
    open('a-1');
    end('a-1', T + 1);
    orders.read([report('open')], true, T + 5_000, T + 5_010);
    expect(state()).toBe('open');
    for (const at of [5_005, 5_010]) orders.read(none, true, T + at, T + 5_020);
    expect([state(), orders.needsLookUp(orders.get('a-1')!)]).toEqual(['open', false]);
  });

  it('is partially filled if anything of it was traded, also less than a lot', () => {
    open('a-1');
    orders.filled('a-1', 'oid-a-1', amount(0), T + 1, moneyOf('0.5'));
    orders.lookedUp(['a-1'], [report('cancelled')], T + 2, T + 3);
    expect(state()).toBe('done');
    orders.read([report('open')], true, T + 4, T + 5);
    expect(state()).toBe('partially filled');
  });

  it('leaves the just ended alone and no other, so that a book read lists each once', () => {
    for (const id of ['a-1', 'a-2', 'a-3']) open(id);
    for (const id of ['a-1', 'a-2']) end(id, T + 10);
    const listed = () => [...orders.inBookSince(T + 5)].map(({ id }) => id).toSorted();
    expect(listed()).toEqual(['a-1', 'a-2', 'a-3']);
    orders.read([report('open', { oid: 'oid-a-2', originId: 'a-2' })], false, T + 20, T + 21);
    expect(listed()).toEqual(['a-1', 'a-2', 'a-3']);
    // One that is closed and waits for its trades is no finished order: when it is seen again, nothing leaves the list.
    const waits = report('cancelled', { oid: 'oid-a-3', originId: 'a-3', unfilledAmount: '9' });
    orders.lookedUp(['a-3'], [waits], T + 21, T + 21);
    expect(state('a-3')).toBe('closed-unsettled');
    orders.read([report('open', { oid: 'oid-a-3', originId: 'a-3' })], false, T + 22, T + 23);
    expect(listed()).toEqual(['a-1', 'a-2', 'a-3']);
  });

  it('is one of the last sixty-four that ended, which a book on its way may still show', () => {
    for (let n = 0; n < 65; n++) {
      open(`b-${n}`);
      end(`b-${n}`, T + 10);
      const from = Math.max(0, n - 63);
      expect([...orders.inBookSince(T + 5)].map(({ id }) => id)).toEqual(
        Array.from({ length: n + 1 - from }, (_, i) => `b-${from + i}`),
      );
    }
  });

  it('is not forgotten while it lives, however many end meanwhile', () => {
    const finished = new FinishedOrders<{ id: string; endNumber: number }>(3);
    const lives = { id: 'lives', endNumber: 0 };
    finished.add(lives);
    finished.reopen('lives');
    expect(finished.get('lives')).toBeUndefined();
    const forgotten = Array.from({ length: 5 }, (_, n) => finished.add({ id: `${n}`, endNumber: 0 })?.id ?? null);
    expect(forgotten).toEqual([null, null, null, '0', '1']);
    open('a-1');
    end('a-1', T + 1);
    orders.read([report('open')], false, T + 2, T + 3);
    for (let n = 0; n < 5_001; n++) {
      open(`b-${n}`);
      end(`b-${n}`, T + 10);
    }
    expect(orders.byOid('oid-a-1')?.state).toBe('open');
  });
});

describe('absence', () => {
  it('in a read that began before the placement was answered proves nothing', () => {
    place('a-1');
    orders.answered('a-1', done('oid-a-1'), false, T + 1_000);
    for (const at of [998, 999, 1_000]) orders.read(none, true, T + at, T + 5_000);
    expect([state(), orders.needsLookUp(orders.get('a-1')!)]).toEqual(['open', false]);
    orders.read(none, true, T + 1_001, T + 5_000);
    expect(orders.needsLookUp(orders.get('a-1')!)).toBe(true);
  });
});

describe('an unknown order that a cancel lists', () => {
  it('is not closed by one read, however often it was absent before', () => {
    place('a-1');
    orders.answered('a-1', lost, false, T);
    for (const n of [0, 1, 2]) orders.read(none, true, T + DELAY + n, T + DELAY + n);
    const at = T + 2 * DELAY;
    orders.cancelAnswered(['a-1'], canceled('oid-a-1'), at - 1, at);
    orders.read(none, true, at + LAG, at + LAG);
    expect(state()).toBe('canceling');
    orders.read(none, true, at + LAG + 1, at + LAG + 1);
    expect(state()).toBe('closed-unsettled');
  });
});

describe('an unknown order of which all evidence says that it never arrived', () => {
  const proofs = {
    absences: (at: number) => [0, 1, 2, 3].forEach(n => orders.read(none, true, at + n, at + n)),
    lookUps: (at: number) => orders.lookedUp(['a-1'], none, at, at),
    cancels: (at: number) => orders.cancelAnswered(['a-1'], canceled(), at, at),
    trades: (at: number) => orders.tradesRead(at),
  };
  const all = Object.keys(proofs) as (keyof typeof proofs)[];
  const at = T + DELAY;

  it('lives all the same if it is filled before that is acted on', () => {
    place('a-1');
    orders.answered('a-1', lost, false, T);
    for (const name of all) proofs[name](at);
    orders.filled('a-1', 'oid-a-1', amount(1), at + 4);
    orders.tick(at + 5);
    expect(state()).toBe('partially filled');
  });

  // Restored with all of its fills, a sighting cannot make it live: it stays unknown, and its evidence starts again.
  it.each(all)('is not given up after a sighting until there are %s again', missing => {
    const left = { id: 'a-1', side: 'buy', price: price(100), amount: amount(10), filled: amount(10) } as const;
    orders.restore({ ...left, oid: null, at: T }, T);
    for (const name of all) proofs[name](at);
    orders.read([report('open')], false, at + 5, at + 5);
    for (const name of all) if (name !== missing) proofs[name](at + 10);
    orders.tick(at + 20);
    expect(state()).toBe('unknown');
    orders.lookedUp(['a-1'], [report('open')], at + 30, at + 30);
    for (const name of all) if (name !== 'lookUps') proofs[name](at + 40);
    orders.tick(at + 50);
    expect(state()).toBe('unknown');
    proofs.lookUps(at + 60);
    orders.tick(at + 60);
    expect(state()).toBe('closed-unsettled');
  });
});

describe('an order of an earlier run', () => {
  it('is found by its oid, also by a fill that names no origin id', () => {
    const left = {
      id: 'a-1',
      side: 'buy',
      price: price(100),
      amount: amount(10),
      filled: amount(0),
      oid: 'oid-a-1',
    } as const;
    orders.restore({ ...left, at: T - 10 }, T);
    expect(orders.byOid('oid-a-1')?.id).toBe('a-1');
    expect(orders.filled(null, 'oid-a-1', amount(2), T + 1)).toBe(true);
    expect(orders.reserved('buy')).toBe(8);
  });
});
