import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fees } from '../../backtest/exchange/fees.ts';
import { constantLatency, recordedLatencies, travel, type LatencySpec } from '../../backtest/rows/latency.ts';
import { MESSAGE, MessageRing } from '../../backtest/exchange/messageRing.ts';
import { NO_ASK, NO_BID, OrderPool, OwnOrder, OwnSide } from '../../backtest/exchange/ownOrders.ts';
import { RequestBudget } from '../../backtest/exchange/requestBudget.ts';
import { RunHash } from '../../backtest/replay/runHash.ts';
import { BUY, SELL } from '../../backtest/rows/rows.ts';
import { TickBook } from '../../backtest/rows/tickBook.ts';
import { amount, instrumentOf, moneyOf, price, randomOf } from '../../src/core/index.ts';
import { runsOf } from '../many.ts';
import { exponentialLatency } from './exponentialLatency.ts';

describe('messages on their way', () => {
  test('arrive in the order in which they were sent, none before an earlier one, however many there are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 300 }), delays => {
        const ring = new MessageRing();
        const order = new OwnOrder();
        delays.forEach((delay, i) => ring.push(i + delay, MESSAGE.filled, order, i, i, 0));
        expect(order.messages).toBe(delays.length);
        let before = -Infinity;
        for (let i = 0; i < delays.length; i++) {
          expect(ring.lots).toBe(i);
          expect(ring.headAt).toBeGreaterThanOrEqual(Math.max(before, i + delays[i]!));
          before = ring.headAt;
          ring.shift();
        }
        expect([ring.headAt, ring.count, order.messages]).toEqual([Infinity, 0, 0]);
        expect(() => ring.shift()).toThrow(/no message/);
      }),
    );
  });

  test('are what a plain list has, each with all its own numbers, however many come and go before more are on their way than ever', () => {
    const turn = fc.record({ sent: fc.integer({ min: 0, max: 200 }), taken: fc.integer({ min: 0, max: 200 }) });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), turns => {
        const ring = new MessageRing();
        const kinds = Object.values(MESSAGE);
        const orders = Array.from({ length: 3 }, () => new OwnOrder());
        const list: { at: number; order: OwnOrder; numbers: readonly number[] }[] = [];
        let [made, latest] = [0, 0];
        for (const { sent, taken } of turns) {
          for (let i = 0; i < sent; i++) {
            const n = ++made;
            const order = orders[n % orders.length]!;
            const kind = kinds[n % kinds.length]!;
            const at = (n * 7) % 1_000;
            latest = Math.max(latest, at);
            ring.push(at, kind, order, n, n + 0.25, n + 0.5, n + 0.75);
            list.push({ at: latest, order, numbers: [kind, n, n + 0.25, n + 0.5, n + 0.75] });
          }
          for (let i = 0; i <= taken && list.length > 0; i++) {
            const { at, order, numbers } = list[0]!;
            expect([ring.kind, ring.lots, ring.sent, ring.mid, ring.place]).toEqual(numbers);
            expect(ring.order).toBe(order);
            expect([ring.headAt, ring.count]).toEqual([at, list.length]);
            if (i === taken) break;
            ring.shift();
            list.shift();
          }
          expect([ring.headAt, ring.count]).toEqual([list[0]?.at ?? Infinity, list.length]);
          for (const order of orders) expect(order.messages).toBe(list.filter(one => one.order === order).length);
        }
      }),
      runsOf(100, 30),
    );
  });
});

describe('our resting orders', () => {
  test.each([BUY, SELL] as const)(
    'are met best price first and oldest first, whatever came and went (side %i)',
    side => {
      const step = fc.record({ add: fc.boolean(), place: fc.integer({ min: 1, max: 9 }), which: fc.nat() });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), steps => {
          const resting = new Uint32Array(10);
          const own = new OwnSide(side, resting);
          const pool = new OrderPool();
          for (const { add, place, which } of steps) {
            if (add) own.add(pool.take(side, place, 1));
            else if (own.orders.length > 0) {
              const gone = own.orders[which % own.orders.length]!;
              own.remove(gone);
              pool.release(gone);
            }
            const sign = side === BUY ? -1 : 1;
            const wanted = [...own.orders].sort((a, b) => sign * (a.place - b.place) || a.id - b.id);
            expect(own.orders).toEqual(wanted);
            expect(own.best).toBe(wanted[0]?.place ?? (side === BUY ? NO_BID : NO_ASK));
            for (let at = 0; at < 10; at++) expect(resting[at]).toBe(wanted.filter(order => order.place === at).length);
          }
        }),
      );
    },
  );

  test('are not used again while something names them', () => {
    const pool = new OrderPool();
    const order = pool.take(BUY, 1, 1);
    order.messages = 1;
    expect(() => pool.release(order)).toThrow(/in use/);
  });
});

test.each([
  { places: 33, apart: 1 },
  { places: 5_000, apart: 160 },
])(
  'a tick book of $places places knows its best prices like a sorted list does, and lets a new level hide what it crosses',
  ({ places, apart }) => {
    const level = fc.record({
      bid: fc.boolean(),
      at: fc.integer({ min: 1, max: 30 }).map(n => n * apart),
      lots: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(level, { maxLength: 80 }), levels => {
        const book = new TickBook({ places });
        let isCrossed = false;
        for (const { bid, at, lots } of levels) {
          const before = bid ? book.bids[at] : book.asks[at];
          expect(bid ? book.setBid(at, lots) : book.setAsk(at, lots)).toBe(before);
          const bestBid = book.bids.findLastIndex(n => n > 0);
          const bestAsk = book.asks.findIndex(n => n > 0);
          isCrossed ||= bestBid >= 0 && bestAsk >= 0 && bestBid >= bestAsk;
          expect(book.bid).toBeLessThan(book.ask);
          if (isCrossed) continue;
          expect([book.bid, book.ask]).toEqual([Math.max(bestBid, 0), bestAsk < 0 ? places - 1 : bestAsk]);
        }
      }),
    );
  },
);

describe('the request budget', () => {
  test('never lets more than its number pass in any minute, and lets them pass again after it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 200 }), waits => {
        const budget = new RequestBudget(5);
        const passed: number[] = [];
        let at = 0;
        for (const wait of waits) {
          at += wait;
          const recent = passed.filter(time => at - time < 60_000).length;
          expect(budget.take(at, 1)).toBe(recent < 5);
          if (recent < 5) passed.push(at);
        }
      }),
    );
  });
});

describe('fees', () => {
  const instrument = instrumentOf({
    book: 'btc_mxn',
    tickSize: '10',
    minimumAmount: '0.0001',
    maximumAmount: '100',
    minimumPrice: '10',
    maximumPrice: '10000000',
    minimumValue: '10',
    maximumValue: '200000000',
  });
  const tiers = [
    { volume: '1000', maker: '0.005', taker: '0.006' },
    { volume: '9999999999', maker: '0.001', taker: '0.002' },
  ];
  const day = 86_400_000;

  test('are taken on what is received, rounded at eight decimals', () => {
    const fees = new Fees(instrument, { tiers, volume30d: '0' });
    expect(fees.fill('buy', price(100), amount(1_500))).toEqual({
      major: moneyOf('0.000015'),
      minor: moneyOf('0.015'),
      fee: moneyOf('0.00000008'),
    });
    expect(fees.fill('sell', price(100), amount(1_500)).fee).toBe(moneyOf('0.000075'));
  });

  test('fall with the volume of thirty days, and rise again when it has left them', () => {
    const fees = new Fees(instrument, { tiers, volume30d: '500' });
    expect(fees.traded(moneyOf('499'), 0)).toBe(false);
    // The bound of a tier belongs to it; the next tier starts above it (rest-api 2.8).
    expect(fees.traded(moneyOf('1'), day)).toBe(false);
    expect(fees.traded(moneyOf('0.5'), day)).toBe(true);
    expect([fees.makerRate, fees.takerRate]).toEqual([100_000, 200_000]);
    expect(fees.traded(moneyOf('1'), 29 * day)).toBe(false);
    expect(fees.traded(moneyOf('1'), 30 * day)).toBe(true);
    expect(fees.makerRate).toBe(500_000);
  });
});

describe('latency', () => {
  const dice = () => randomOf(4);

  test('is drawn with the mean or the median that was asked for, the same again from the same seed', () => {
    const drawn = (spec: LatencySpec) => {
      const way = travel(spec, dice());
      return Array.from({ length: 4_000 }, () => way(0)).sort((a, b) => a - b);
    };
    const mean = (all: number[]) => all.reduce((sum, ms) => sum + ms, 0) / all.length;
    const exponential = drawn({ kind: 'exponential', least: 5, mean: 20 });
    expect(mean(exponential)).toBeCloseTo(20, -1);
    expect(exponential[0]).toBeGreaterThanOrEqual(5);
    const lognormal = drawn({ kind: 'lognormal', median: 20, sigma: 0.5 });
    expect(lognormal[2_000]).toBeCloseTo(20, -1);
    // The 84th percentile is one sigma of the logarithm away.
    expect(Math.log(lognormal[3_360]! / lognormal[2_000]!)).toBeCloseTo(0.5, 1);
    expect(drawn({ kind: 'lognormal', median: 20, sigma: 0.5 })).toEqual(lognormal);
  });

  test('that was recorded is half of what a request took, straight between two of them, and repeated outside', () => {
    const spec = recordedLatencies('sent,answered\n2000,2060\n1000,1020\n', 'a file');
    const way = travel(spec, dice());
    expect([1000, 1500, 1999.999, 2500, 3000, 500].map(at => Math.round(way(at)))).toEqual([10, 20, 30, 20, 10, 20]);
  });

  test.each([
    ['at,ms\n1,2', /expected the header "sent,answered"/],
    ['sent,answered\n5,4', /line 2: expected a send time and an answer time that is not earlier, found "5,4"/],
    ['sent,answered\n', /no answered request/],
  ])('in a file is refused with the line that is wrong: %j', (csv, sentence) => {
    expect(() => recordedLatencies(csv, 'a file')).toThrow(sentence);
  });

  test('of cancels may be another than of placements', () => {
    const latency = constantLatency(5, 6, 7);
    expect([latency.there(0), latency.back(0), latency.cancel(0)]).toEqual([5, 6, 7]);
  });
});

test('latency is never negative, and an impossible one is refused', () => {
  const drawn = exponentialLatency(5, 20, randomOf(1));
  const draws = Array.from({ length: 2_000 }, () => drawn.there(0));
  expect(Math.min(...draws)).toBeGreaterThanOrEqual(5);
  expect(draws.reduce((sum, ms) => sum + ms, 0) / draws.length).toBeCloseTo(20, -1);
  expect(() => constantLatency(-1, 0)).toThrow(/at least 0/);
  expect(() => constantLatency(Number.NaN, 0)).toThrow(/at least 0/);
  expect(() => exponentialLatency(5, 4, randomOf(1))).toThrow(/minimum <= mean/);
});

describe('the hash of a run', () => {
  const hashOf = (facts: readonly (number | string)[]) => {
    const hash = new RunHash();
    for (const fact of facts)
      if (typeof fact === 'number') hash.number(fact);
      else hash.text(fact);
    return hash.digest();
  };
  const fact = fc.oneof(fc.double({ noNaN: true }), fc.string({ maxLength: 9, unit: 'binary' }));

  test('is equal for equal facts, and another when one of them is another, is missing or stands elsewhere', () => {
    fc.assert(
      fc.property(fc.array(fact, { minLength: 1, maxLength: 20 }), fact, fc.nat(), (facts, other, any) => {
        const at = any % facts.length;
        expect(hashOf([...facts])).toBe(hashOf(facts));
        expect(hashOf(facts.filter((_, i) => i !== at))).not.toBe(hashOf(facts));
        if (typeof other === typeof facts[at] && other !== facts[at])
          expect(hashOf(facts.map((one, i) => (i === at ? other : one)))).not.toBe(hashOf(facts));
      }),
    );
    expect(hashOf(['ab', 'c'])).not.toBe(hashOf(['a', 'bc']));
    expect(hashOf([-0])).toBe(hashOf([0]));
  });

  test('hears the last of ever so many facts, and of one text that is longer than what is hashed at once', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => i);
    expect(hashOf([...many, 1])).not.toBe(hashOf([...many, 2]));
    const long = 'x'.repeat(100_001);
    expect(hashOf([`${long}a`])).not.toBe(hashOf([`${long}b`]));
    expect(hashOf([0, ...many])).not.toBe(hashOf([1, ...many]));
  });
});
