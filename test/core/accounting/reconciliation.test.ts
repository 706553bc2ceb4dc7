/** Balances against the ledger over any history: when quotes stop, when a halt follows, and what an operator's resume takes into the ledger. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { money, moneyOf } from '../../../src/core/index.ts';
import { Bookings } from '../../../src/core/accounting/bookings.ts';
import { Reconciliation } from '../../../src/core/accounting/reconciliation.ts';

const T = 1.7e12;
const LATE = 2_000;
const REFUSE_AFTER = 10_000;
const WAIT = 30_000;
/** Lists that may tell of a change for no time at all, for less than a difference must last to stop quotes, and longer. */
const WAITS = [0, 4_000, REFUSE_AFTER, WAIT];

/** An account with 100 of each currency, by a ledger of an earlier run. */
function opened(wait = WAIT) {
  const causes = { opening: money(0n), trades: money(0n), fees: money(0n), conversions: money(0n) };
  const rest = { deposits: money(0n), withdrawals: money(0n), refunds: money(0n), adjustments: money(0n) };
  const bookings = new Bookings(() => {});
  const of = { ...causes, ...rest, opening: moneyOf('100') };
  bookings.restore({
    causes: new Map([
      ['btc', of],
      ['mxn', of],
      ['usd', { ...of, opening: money(0n) }],
    ]),
    sources: [],
    seen: new Map(),
  });
  const reconciliation = new Reconciliation(bookings, LATE, wait);
  const read = (at: number, difference: number) => {
    const total = `${100 + difference + adjusted(bookings)}`;
    bookings.read([{ currency: 'btc', total, locked: '0', available: total }], at);
    return reconciliation.read(at);
  };
  return { bookings, reconciliation, read };
}
/** Whole btc that adjustments have booked. */
const adjusted = (bookings: Bookings): number => Number((bookings.total('btc') - moneyOf('100')) / moneyOf('1'));

type Step =
  | { kind: 'read'; difference: number; ms: number }
  | { kind: 'restartCount' | 'restartWait' | 'resumed' | 'recordEqualBalances'; ms: number };
const ms = fc.oneof(fc.integer({ min: 1, max: 4_000 }), fc.constantFrom(LATE, REFUSE_AFTER, WAIT - REFUSE_AFTER, WAIT));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('read' as const), difference: fc.constantFrom(0, 1, 1, 1, 2), ms }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom(...(['restartCount', 'restartWait', 'resumed', 'recordEqualBalances'] as const)),
      ms,
    }),
  },
);

/** The same rules, read off the whole history each time. */
class Model {
  /** Difference of the last read that the ledger has not taken in. */
  last = 0;
  readonly wait: number;
  constructor(wait: number) {
    this.wait = wait;
  }
  /** Differing reads in a row since the last equal one or explanation. */
  inARow = 0;
  /** Time of the first differing read since the last equal one, explanation or resume. */
  first: number | null = null;
  isOld = false;
  equalled = false;
  /** After a resume: the difference that is watched, and since when. */
  watched: { difference: number; since: number } | null = null;

  read(at: number, difference: number): boolean {
    this.last = difference;
    if (this.watched !== null && difference !== 0) {
      if (this.watched.difference !== difference) this.watched = { difference, since: at };
      else if (at - this.watched.since >= LATE) {
        this.watched = null;
        this.equalled = true;
        this.last = 0;
      }
      return false;
    }
    this.watched = null;
    if (difference === 0) {
      [this.inARow, this.first, this.equalled] = [0, null, true];
      return false;
    }
    this.inARow++;
    this.first ??= at;
    this.isOld = at - this.first >= Math.min(REFUSE_AFTER, this.wait);
    return this.inARow >= 3 && at - this.first >= this.wait;
  }
  restartCount() {
    this.inARow = 0;
  }
  restartWait() {
    [this.inARow, this.first] = [0, null];
  }
  recordEqualBalances() {
    if (this.watched !== null && this.last !== 0) return;
    this.watched = null;
    this.equalled = true;
  }
  resumed(at: number) {
    this.restartWait();
    this.equalled = false;
    this.watched ??= { difference: 0, since: at };
  }
}

describe('balances that differ from the ledger', () => {
  it('stop quotes, halt, and are taken into the ledger exactly as the rules say, for any history of reads, explanations and resumes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.constantFrom(...WAITS), (steps, wait) => {
        const { bookings, reconciliation, read } = opened(wait);
        const model = new Model(wait);
        let at = T;
        for (const one of steps) {
          at += one.ms;
          if (one.kind === 'read') {
            const before = adjusted(bookings);
            const wasWatched = model.watched;
            const halts = model.read(at, one.difference);
            expect(read(at, one.difference) !== null).toBe(halts);
            const takes = wasWatched !== null && model.watched === null && one.difference !== 0;
            expect(adjusted(bookings) - before).toBe(takes ? one.difference : 0);
            expect(reconciliation.checked?.at).toBe(at);
            expect(reconciliation.checked?.differences.get('btc') ?? 0n).toBe(moneyOf(`${one.difference}`));
          } else if (one.kind === 'resumed') {
            reconciliation.resumed(at);
            model.resumed(at);
          } else {
            reconciliation[one.kind]();
            model[one.kind]();
          }
          const differs = model.inARow >= 2 && model.isOld;
          expect(reconciliation.differs).toBe(differs);
          expect(reconciliation.hasEqualled).toBe(model.equalled);
          expect(reconciliation.unexplained).toEqual(
            differs && model.first !== null ? { difference: `${model.last} btc`, haltsAt: model.first + wait } : null,
          );
        }
      }),
      { numRuns: 400 },
    );
  });

  it('are told with every currency that differs, and shown beside what was reported', () => {
    const { bookings, reconciliation } = opened(0);
    expect([reconciliation.checked, reconciliation.unexplained, reconciliation.hasEqualled]).toEqual([
      null,
      null,
      false,
    ]);
    let reason: string | null = null;
    for (const at of [T, T + 1, T + 2]) {
      bookings.read(
        [
          { currency: 'btc', total: '99.5', locked: '0', available: '0' },
          { currency: 'mxn', total: '102', locked: '0', available: '0' },
        ],
        at,
      );
      expect(reason).toBeNull();
      reason = reconciliation.read(at);
    }
    expect(reason).toBe("the exchange's balances differ from our ledger by -0.5 btc, 2 mxn (reported minus ours)");
    const { reported, differences } = reconciliation.checked!;
    expect([...reported]).toEqual([
      ['btc', moneyOf('99.5')],
      ['mxn', moneyOf('102')],
    ]);
    expect([...differences]).toEqual([
      ['btc', moneyOf('-0.5')],
      ['mxn', moneyOf('2')],
    ]);
    bookings.read([], T + 3);
    expect(reported.size).toBe(2);
  });

  it('by the rounding of a conversion alone are no difference', () => {
    const { bookings, reconciliation } = opened(0);
    const legs = { give: { currency: 'mxn', amount: moneyOf('10') }, get: { currency: 'btc', amount: moneyOf('1') } };
    bookings.convert({ id: 'h1', ...legs }, T);
    bookings.read([{ currency: 'btc', total: '101.00000001', locked: '0', available: '0' }], T + 1);
    expect([reconciliation.read(T + 1), reconciliation.hasEqualled]).toEqual([null, true]);
    expect(bookings.total('btc')).toBe(moneyOf('101.00000001'));
  });

  it('begin a new time once a part is explained: no halt before the lists had their whole time again', () => {
    const { reconciliation, read } = opened();
    for (const at of [0, 1_000, WAIT - 1]) expect(read(T + at, 1)).toBeNull();
    reconciliation.restartWait();
    for (const at of [WAIT, WAIT + 1, WAIT + 2, 2 * WAIT - 1]) expect(read(T + at, 1)).toBeNull();
    expect(read(T + 2 * WAIT, 1)).toBe("the exchange's balances differ from our ledger by 1 btc (reported minus ours)");
  });
});

test("a currency that the ledger has never had is not compared: it is none of the bot's", () => {
  const { bookings } = opened();
  const all = { btc: '100', mxn: '100', doge: '3' };
  bookings.read(
    Object.entries(all).map(([currency, total]) => ({ currency, total, locked: '0', available: total })),
    T,
  );
  expect(bookings.differences()).toEqual([]);
});

describe('a surplus after a conversion', () => {
  const converted = (reported: { btc: string; mxn: string; usd?: string }) => {
    const { bookings } = opened();
    const conversion = {
      id: 'h1',
      give: { currency: 'mxn', amount: moneyOf('10') },
      get: { currency: 'btc', amount: moneyOf('1') },
    };
    bookings.convert(conversion, T);
    bookings.read(
      Object.entries(reported).map(([currency, total]) => ({ currency, total, locked: '0', available: total })),
      T + 1,
    );
    bookings.settleResidue(T + 1);
    return bookings;
  };

  it.each([
    ['of one unit of the eighth decimal is its rounding', { btc: '101.00000001', mxn: '90' }, true],
    ['missing by one unit is its rounding too', { btc: '101', mxn: '89.99999999' }, true],
    ['of two units is not', { btc: '101.00000002', mxn: '90' }, false],
    ['missing by two units is not', { btc: '101', mxn: '89.99999998' }, false],
    ['of a third currency is not, however small', { btc: '101', mxn: '90', usd: '0.00000001' }, false],
    ['of one leg is not while the other differs by more', { btc: '101.00000001', mxn: '91' }, false],
  ] as const)('%s', (_, reported, isBooked) => {
    const bookings = converted(reported);
    expect(bookings.differences().length === 0).toBe(isBooked);
    expect(bookings.total('btc') === moneyOf('101') && bookings.total('mxn') === moneyOf('90')).toBe(!isBooked);
  });

  it('is booked once: what comes after it is no rounding', () => {
    const bookings = converted({ btc: '101.00000001', mxn: '90' });
    bookings.read([{ currency: 'btc', total: '101.00000002', locked: '0', available: '0' }], T + 2);
    bookings.settleResidue(T + 2);
    expect(bookings.differences()).toEqual([{ currency: 'btc', difference: moneyOf('0.00000001') }]);
  });
});

describe('the ledger of an earlier run', () => {
  it('is not opened again by the first balances that are read', () => {
    const { bookings } = opened();
    expect(bookings.isOpen).toBe(true);
    bookings.read([{ currency: 'btc', total: '100', locked: '0', available: '100' }], T);
    bookings.read([{ currency: 'btc', total: '100', locked: '0', available: '100' }], T + 5_000);
    expect(bookings.total('btc')).toBe(moneyOf('100'));
    expect(() => bookings.restore({ causes: new Map(), sources: [], seen: new Map() })).toThrow(
      /opening balances are already booked/,
    );
  });
});
