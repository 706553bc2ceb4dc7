import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, price } from '../../src/core/index.ts';
import { plainText } from '../../src/tape/import/digits.ts';
import {
  bestsOf,
  finishTape,
  KIND,
  midsOf,
  RecordedBook,
  RecordedSide,
  SIDE,
  TapeBuilder,
  type Tape,
} from '../../src/tape/index.ts';
import { statisticsOf } from './statistics.ts';

describe('columns', () => {
  it('set a time that goes back to the one before, and count it', () => {
    const builder = new TapeBuilder();
    for (const at of [5, 3, 7]) builder.trade(at, at, SIDE.buy, price(1), amount(1));
    expect([...builder.columns().at]).toEqual([5, 5, 7]);
    expect([...builder.columns().local]).toEqual([5, 3, 7]);
    expect(builder.backwards).toBe(1);
  });

  it('refuse what is not a whole number of ticks and lots', () => {
    const builder = new TapeBuilder();
    expect(() => builder.trade(0, 0, SIDE.buy, price(1.5), amount(1))).toThrow(RangeError);
    expect(() => builder.trade(0, 0, SIDE.buy, price(1), amount(Number.NaN))).toThrow(RangeError);
    expect(() => builder.trade(Number.NaN, 0, SIDE.buy, price(1), amount(1))).toThrow(RangeError);
  });
});

describe('numbers as recordings print them', () => {
  it('keep their value when an exponent is written out', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: -9, max: 9 }), (digits, exponent) => {
        const text = plainText(`${digits}e${exponent}`, () => undefined);
        expect(text).toMatch(/^\d+(\.\d+)?$/);
        expect(Number(text)).toBe(Number(`${digits}e${exponent}`));
      }),
    );
  });

  it('lose the noise of a double that was printed with all its digits, and only that', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 12 }), lots => {
        const meant = Number((lots / 1e8).toFixed(8));
        const printed = meant.toPrecision(17);
        let noisy = 0;
        expect(Number(plainText(printed, () => noisy++))).toBe(meant);
        expect(plainText('0.00000001', () => expect.unreachable())).toBe('0.00000001');
      }),
    );
  });
});

describe('one side of a recorded book', () => {
  it('equals a naive sorted map after any changes', () => {
    const change = fc.tuple(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 3 }));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 300 }), fc.constantFrom<1 | -1>(1, -1), (changes, sign) => {
        const side = new RecordedSide(sign);
        const naive = new Map<number, number>();
        for (const [at, size] of changes) {
          side.set(at, size);
          if (size > 0) naive.set(at, size);
          else naive.delete(at);
        }
        const expected = [...naive].sort((a, b) => (a[0] - b[0]) * sign);
        expect(Array.from({ length: side.length }, (_, i) => [side.priceAt(i), side.amountAt(i)])).toEqual(expected);
        for (let at = 1; at <= 200; at++) expect(side.amountOf(at)).toBe(naive.get(at) ?? 0);
      }),
    );
  });
});

describe('the best prices of a recording', () => {
  const row = fc.record({
    kind: fc.constantFrom(...Array<typeof KIND.level>(9).fill(KIND.level), KIND.clear, KIND.trade, KIND.trade),
    side: fc.constantFrom(SIDE.buy, SIDE.sell),
    at: fc.integer({ min: 0, max: 3 }),
    lots: fc.integer({ min: 0, max: 3 }),
    later: fc.nat(2),
  });
  // The two sides seldom meet.
  const rowsDrawn = fc.array(
    row.map(({ at, ...of }) => ({ ...of, at: at + (of.side === SIDE.buy ? 90 : 92) })),
    { maxLength: 60 },
  );

  it('are those of every time at which they changed, while the book has two sides that do not meet', () => {
    fc.assert(
      fc.property(rowsDrawn, rows => {
        const builder = new TapeBuilder();
        const sides = [new Map<number, number>(), new Map<number, number>()] as const;
        const expected: [number, number, number][] = [];
        let time = 1_000;
        const times = rows.map(({ later }) => (time += later));
        rows.forEach(({ kind, side, at, lots }, i) => {
          const now = times[i]!;
          if (kind === KIND.trade) return builder.trade(now, now + 5, side, price(at), amount(1));
          if (kind === KIND.clear) {
            builder.clear(now, now + 5);
            for (const one of sides) one.clear();
          } else {
            builder.level(now, now + 5, side, price(at), amount(lots));
            sides[side].delete(at);
            if (lots > 0) sides[side].set(at, lots);
          }
          // Rows of one time are one change.
          if (times[i + 1] === now && rows[i + 1]!.kind !== KIND.trade) return;
          const [bid, ask] = [Math.max(...sides[0].keys()), Math.min(...sides[1].keys())];
          const [, bidBefore, askBefore] = expected.at(-1) ?? [];
          if (Number.isFinite(bid) && bid < ask && ask < Infinity && (bid !== bidBefore || ask !== askBefore))
            expected.push([now, bid, ask]);
        });
        const columns = builder.columns();
        const gaps = [{ from: 1, to: 2, why: 'a gap' }];
        const tape = {
          columns,
          gaps,
          source: 'a test',
          instrument: { symbol: 'btc_mxn', tick: '0.5' },
        } as unknown as Tape;
        const bests = bestsOf(tape);
        expect(Array.from(bests.at, (at, i) => [at, bests.bid[i], bests.ask[i]])).toEqual(expected);
        const mids: [number, number][] = [];
        for (const [at, bid, ask] of expected)
          if (mids.at(-1)?.[1] !== (bid + ask) / 4) mids.push([at, (bid + ask) / 4]);
        const found = midsOf(tape);
        expect(Array.from(found.at, (at, i) => [at, found.mid[i]])).toEqual(mids);
        const to = rows.length === 0 ? -Infinity : time;
        expect([found.to, bests.to, found.gaps, found.book, found.source]).toEqual([to, to, gaps, 'btc_mxn', 'a test']);
      }),
    );
  });
});

describe('a recording of single orders', () => {
  it('gives the sum of the orders at each price', () => {
    const event = fc.record({
      id: fc.integer({ min: 1, max: 6 }),
      kind: fc.constantFrom(KIND.add, KIND.change, KIND.remove),
      at: fc.integer({ min: 90, max: 95 }),
      lots: fc.integer({ min: 0, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), events => {
        const builder = new TapeBuilder();
        const live = new Map<number, { at: number; lots: number }>();
        events.forEach(({ id, kind, at, lots }, i) => {
          builder.order(kind, i, i, SIDE.buy, price(at), amount(lots), id);
          if (kind === KIND.remove || lots === 0) live.delete(id);
          else if (kind === KIND.add || live.has(id)) live.set(id, { at, lots });
        });
        const book = new RecordedBook(builder.columns());
        events.forEach((_, row) => book.apply(row));
        for (let at = 90; at <= 95; at++) {
          const sum = [...live.values()].reduce((all, order) => all + (order.at === at ? order.lots : 0), 0);
          expect(book.bids.amountOf(at)).toBe(sum);
        }
      }),
    );
  });
});

describe('statistics', () => {
  // One book for 100 s; at 50 s a buy of 3 in two executions takes the ask, and the mid goes up by 10 bps for good.
  const builder = new TapeBuilder();
  const put = (at: number, bid: number, ask: number) => {
    builder.clear(at, at);
    for (let i = 0; i < 3; i++) {
      builder.level(at, at, SIDE.buy, price(bid - i * 20), amount(200_000_000));
      builder.level(at, at, SIDE.sell, price(ask + i * 20), amount(100_000_000));
    }
  };
  put(0, 99_950, 100_050);
  builder.trade(10_000, 10_000, SIDE.buy, price(100_050), amount(100_000_000));
  builder.trade(50_000, 50_000, SIDE.buy, price(100_050), amount(100_000_000));
  builder.trade(50_000, 50_000, SIDE.buy, price(100_070), amount(200_000_000));
  put(50_500, 100_050, 100_150);
  builder.trade(90_000, 90_000, SIDE.sell, price(100_050), amount(100_000_000));
  put(100_000, 100_050, 100_150);
  const tape = finishTape({ source: 'made', book: 'eth_usd', tick: '0.01', columns: builder.columns(), depth: 3 });
  const statistics = statisticsOf(tape);

  it('measure the spread, the depth and the rates', () => {
    expect(statistics.spreadBps.median).toBeCloseTo(10, 1);
    expect(statistics.depth.touch).toBeCloseTo(1.5, 9);
    expect(statistics.depth.within10).toBeCloseTo(4.5, 9);
    expect(statistics.tradesPerSecond).toBeCloseTo(0.04, 9);
    expect(statistics.takersPerSecond).toBeCloseTo(0.03, 9);
    expect(statistics.size.median).toBeCloseTo(1, 9);
  });

  it('measure the moves of the mid after takers', () => {
    // The first sees nothing within 10 s, the second 10 bps; the third nothing again.
    expect(statistics.markoutBps.after10S).toBeCloseTo(10 / 3, 1);
    expect(statistics.markoutBps.after60S).toBeCloseTo(10, 1);
    expect(statistics.volatilityBps.over1S).toBeCloseTo(10 / Math.sqrt(99), 1);
  });
});
