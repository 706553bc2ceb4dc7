import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { constantLatency, fillModel, rowsOfTape, type ModelName } from '../../backtest/index.ts';
import { MESSAGE } from '../../backtest/exchange/messageRing.ts';
import { OrderPool } from '../../backtest/exchange/ownOrders.ts';
import { SimulatedExchange } from '../../backtest/exchange/simulatedExchange.ts';
import { BUY } from '../../backtest/rows/rows.ts';
import { amount, price } from '../../src/core/index.ts';
import { finishTape, SIDE, TapeBuilder } from '../../src/tape/index.ts';

const ASK = 1_010;
const BEST = 1_009;

/** Lots of the bids from BEST downwards, or an execution that a seller made so far below BEST. */
type Event = { readonly bids: readonly number[] } | { readonly sold: number; readonly lots: number };

/** What a bid of ours, so far below BEST, got after every second, seen in pictures of so many levels. Of the pictures from the second on, those are shown that `isShown`. */
function filled(
  events: readonly Event[],
  depth: number,
  model: ModelName,
  below: number,
  cameAt = 1500,
  isShown: (i: number) => boolean = () => true,
): readonly number[] {
  const tape = new TapeBuilder();
  events.forEach((event, i) => {
    const at = 1000 * (i + 1);
    if ('sold' in event) return tape.trade(at, at, SIDE.sell, price(BEST - event.sold), amount(event.lots));
    if (i > 0 && !isShown(i)) return;
    tape.clear(at, at);
    const levels = event.bids.map((lots, n) => ({ lots, tick: BEST - n })).filter(({ lots }) => lots > 0);
    for (const { lots, tick } of levels.slice(0, depth)) tape.level(at, at, SIDE.buy, price(tick), amount(lots));
    tape.level(at, at, SIDE.sell, price(ASK), amount(9));
  });
  const rows = rowsOfTape(
    finishTape({ source: 'made', book: 'btc_usd', tick: '0.01', columns: tape.columns(), depth }),
  );
  const exchange = new SimulatedExchange(rows, fillModel(model, rows), constantLatency(0, 0));
  const order = new OrderPool().take(BUY, BEST - below - rows.base, 20);
  exchange.requests.push(cameAt, MESSAGE.place, order, order.lots, cameAt, 0);
  return events.map((_, i) => {
    exchange.runTo(1000 * (i + 1));
    return order.lots - order.left;
  });
}

const bids = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 8, maxLength: 8 });
const picture = fc.record({ bids });
const trade = fc.record({ sold: fc.integer({ min: 0, max: 8 }), lots: fc.integer({ min: 1, max: 25 }) });
const market = fc.tuple(
  fc.record({ bids: bids.map(lots => lots.map(n => n + 1)) }),
  fc.array(fc.oneof(picture, trade), { maxLength: 25 }),
);

describe('whatever the market does', () => {
  test('a recording of fewer levels never brings more under the pessimistic model', () => {
    fc.assert(
      fc.property(market, fc.integer({ min: 0, max: 7 }), ([first, events], below) => {
        const got = [8, 5, 3, 1].map(depth => filled([first, ...events], depth, 'pessimistic', below));
        for (let i = 1; i < got.length; i++)
          got[i]!.forEach((lots, n) => expect(lots).toBeLessThanOrEqual(got[i - 1]![n]!));
      }),
      { numRuns: 300 },
    );
  });

  test('nor do rarer pictures', () => {
    const came = fc.integer({ min: 1, max: 8 }).map(n => 1000 * n + 500);
    const busy = fc.tuple(
      fc.record({ bids: bids.map(lots => lots.map(n => n + 1)) }),
      fc.array(fc.oneof(picture, trade), { minLength: 10, maxLength: 20, size: 'max' }),
    );
    const kept = fc.array(fc.boolean(), { minLength: 26, maxLength: 26 });
    const levels = fc.constantFrom(1, 3, 8);
    fc.assert(
      fc.property(busy, kept, came, levels, fc.integer({ min: 0, max: 7 }), (made, shown, cameAt, depth, below) => {
        const events = [made[0], ...made[1]];
        const all = filled(events, depth, 'pessimistic', below, cameAt);
        const some = filled(events, depth, 'pessimistic', below, cameAt, i => shown[i]!);
        some.forEach((lots, n) => expect(lots).toBeLessThanOrEqual(all[n]!));
      }),
      { numRuns: 300 },
    );
  });

  test('pessimistic is never above expected, nor expected above optimistic, at any depth', () => {
    const depth = fc.constantFrom(1, 3, 8);
    fc.assert(
      fc.property(market, depth, fc.integer({ min: 0, max: 7 }), ([first, events], levels, below) => {
        const [least, middle, most] = (['pessimistic', 'expected', 'optimistic'] as const).map(model =>
          filled([first, ...events], levels, model, below),
        );
        least!.forEach((lots, n) => expect(lots).toBeLessThanOrEqual(middle![n]!));
        middle!.forEach((lots, n) => expect(lots).toBeLessThanOrEqual(most![n]!));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a bid behind the recorded levels', () => {
  const book = { bids: [9, 4, 30, 0, 0, 0, 0, 0] };
  test('has a queue before it that is not recorded: as much as the last recorded level, or more than any', () => {
    const sold = { sold: 2, lots: 10 };
    expect(filled([book, sold], 8, 'expected', 2)).toEqual([0, 0]);
    expect(filled([book, sold], 2, 'expected', 2)).toEqual([0, 6]);
    expect(filled([book, sold], 2, 'pessimistic', 2)).toEqual([0, 0]);
    expect(filled([book, { sold: 3, lots: 10 }], 2, 'pessimistic', 2)).toEqual([0, 10]);
  });

  test('keeps its place when its level slides out of the picture', () => {
    const away = { bids: [4, 4, 30, 0, 0, 0, 0, 0] };
    const near = { bids: [0, 4, 30, 0, 0, 0, 0, 0] };
    expect(filled([near, near, away, { sold: 2, lots: 35 }], 2, 'pessimistic', 2)).toEqual([0, 0, 0, 5]);
    // One that came later finds what was there when it was last seen.
    expect(filled([near, away, { sold: 2, lots: 35 }], 2, 'expected', 2, 2500)).toEqual([0, 0, 5]);
  });
});

describe('between two pictures', () => {
  test('executions move the touch: a bid where the asks were is taken, until a picture shows them again', () => {
    const accepted = (events: readonly Event[], at: number): boolean => {
      const tape = new TapeBuilder();
      events.forEach((event, i) => {
        const time = 1000 * (i + 1);
        if ('sold' in event) return tape.trade(time, time, SIDE.sell, price(BEST - event.sold), amount(event.lots));
        tape.clear(time, time);
        event.bids.forEach((lots, n) => tape.level(time, time, SIDE.buy, price(BEST - n), amount(lots)));
        tape.level(time, time, SIDE.sell, price(ASK), amount(9));
      });
      const columns = tape.columns();
      const rows = rowsOfTape(finishTape({ source: 'made', book: 'btc_usd', tick: '0.01', columns, depth: 20 }));
      const exchange = new SimulatedExchange(rows, fillModel('pessimistic', rows), constantLatency(0, 0));
      const order = new OrderPool().take(1, BEST - 1 - rows.base, 5);
      exchange.requests.push(at, MESSAGE.place, order, 5, at, 0);
      exchange.runTo(at);
      return order.resting;
    };
    const book = { bids: [4, 4, 4] };
    expect(accepted([book], 1500)).toBe(false);
    // A seller who met the third level left nothing at the first two.
    expect(accepted([book, { sold: 2, lots: 1 }], 2500)).toBe(true);
    expect(accepted([book, { sold: 1, lots: 3 }], 2500)).toBe(false);
    expect(accepted([book, { sold: 1, lots: 4 }], 2500)).toBe(true);
    expect(accepted([book, { sold: 2, lots: 1 }, book], 3500)).toBe(false);
  });
});
