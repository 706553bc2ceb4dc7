/** Charts, fills and markouts over several runs: those of one run, wherever it was split. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunHistory } from '../../../src/app/console/runHistory.ts';
import {
  emptyDepth,
  money,
  NO_PROFIT,
  price,
  signOf,
  type BookEngine,
  type EngineEvent,
  type EngineNews,
  type Order,
  type ProfitSinceOpening,
  type Side,
} from '../../../src/core/index.ts';
import { btcMxn } from '../../core/market.ts';
import { runsOf } from '../../many.ts';

const MARKOUT_MS = 60_000;
const WHOLE_MAX = 1_200;

/** A book with one price a side, whose inventory is the number of the input. */
function fakeBook() {
  const depth = Object.assign(emptyDepth(5), { bids: 1, asks: 1 });
  const ends: ((ended: ProfitSinceOpening) => void)[] = [];
  const live: Order[] = [];
  let inventory = 0n;
  const book = {
    riskContext: () => ({ depth }),
    hourEnds: { listen: (listener: (typeof ends)[number]) => void ends.push(listener) },
    liveOrders: live,
    snapshot: () => ({
      ...{ bid: depth.bidPrices[0], ask: depth.askPrices[0], orders: [] },
      booked: {
        fills: 0,
        inventory: money(inventory),
        profit: NO_PROFIT,
        runProfit: NO_PROFIT,
        sinceOpening: { profit: NO_PROFIT },
      },
      ...{ known: { trades: null }, uptime: { bid: 0, ask: 0 }, regimes: {}, decisions: [] },
      counts: { buy: {}, sell: {} },
    }),
  } as unknown as BookEngine;
  const show = (mid: number, n: number) => {
    [depth.bidPrices[0], depth.askPrices[0], depth.bidAmounts[0]] = [mid - 1, mid + 1, n];
    inventory = BigInt(n);
  };
  return {
    book,
    show,
    live,
    endHour: (at: number) => ends.forEach(end => end({ since: 0, at, twiceMid: null, profit: NO_PROFIT })),
  };
}

const inputAt = (at: number) => ({ kind: 'book', at }) as unknown as EngineEvent;
const fillAt = (at: number, side: Side, n: number, minor: bigint) =>
  ({
    ...{ kind: 'fill', level: null, gain: null },
    fill: {
      ...{ tid: String(n), id: `own-${n}`, oid: `o${n}`, at, book: 'btc_mxn', side, price: price(150_000) },
      ...{ major: money(1n), minor: money(minor), fee: money(0n), feeIn: 'major', maker: true },
    },
  }) as unknown as EngineNews;

const input = fc.record({
  gapS: fc.constantFrom(1, 1, 20, 61),
  mid: fc.integer({ min: 149_000, max: 151_000 }),
  fill: fc.option(fc.constantFrom<Side>('buy', 'sell')),
  isHourEnd: fc.boolean(),
  // True if the input is the first one of a new run.
  isStart: fc.boolean(),
});

test('fills, markouts, points and ends of hours are those of all runs, in the order of time', () => {
  fc.assert(
    fc.property(fc.array(input, { minLength: 1, maxLength: 60, size: 'max' }), inputs => {
      let [at, history, world, isFollowing] = [1_000_000, null as RunHistory | null, fakeBook(), true];
      let earlier: RunHistory | null = null;
      const [times, fills, hourEnds]: [number[], { at: number; side: Side; minor: bigint }[], number[]] = [[], [], []];
      for (const [n, { gapS, mid, fill, isHourEnd, isStart }] of inputs.entries()) {
        at += gapS * 1_000;
        if (history === null || isStart) {
          [earlier, world] = [history, fakeBook()];
          history = new RunHistory(btcMxn, n, at);
          history.watch(world.book);
          isFollowing = earlier === null;
        }
        world.show(mid, n);
        history.see(inputAt(at));
        times.push(at);
        if (fill !== null) {
          const minor = BigInt(n + 1) * 10n ** 18n;
          history.hear(fillAt(at, fill, n, minor));
          fills.push({ at, side: fill, minor });
        }
        if (isHourEnd) {
          world.endHour(at);
          hourEnds.push(at);
        }
        // A chain of runs follows the earlier run after the first input of the next, with its fills.
        if (!isFollowing) history.follow(earlier!);
        isFollowing = true;
      }
      const bps = fills.map(({ at: filledAt, side }) => {
        // The first input of a run precedes its first mid price.
        const settled = times.findIndex((time, i) => time >= filledAt + MARKOUT_MS && !inputs[i]!.isStart);
        if (settled < 0) return null;
        return (signOf(side) * (inputs[settled - 1]!.mid - 150_000) * 10_000) / 150_000;
      });
      expect(
        history!
          .fills(500)
          .map(one => [one.at, one.markoutBps])
          .reverse(),
      ).toEqual(fills.map((one, i) => [one.at, bps[i]]));
      for (const { side, fills: count, bps: mean } of history!.markouts) {
        const own = fills.flatMap((one, i) => {
          const value = bps[i] ?? null;
          const isOfSide = side === 'both' || (side === 'bid') === (one.side === 'buy');
          return value !== null && isOfSide ? [{ ...one, bps: value }] : [];
        });
        expect(count).toBe(own.length);
        const weight = own.reduce((all, { minor }) => all + Number(minor), 0);
        if (mean === null) expect(own).toEqual([]);
        else expect(mean).toBeCloseTo(own.reduce((all, one) => all + one.bps * Number(one.minor), 0) / weight, 6);
      }
      const { recent, whole } = history!.shown;
      expect(recent.map(([time]) => time)).toEqual(times);
      expect(whole).toEqual(recent);
      expect(history!.hourEnds.map(ended => ended.at)).toEqual(hourEnds);
    }),
    runsOf(200, 60),
  );
});

test('points of an earlier run from after the start of the next one are dropped, so that no line goes back in time', () => {
  const history = (from: number, to: number) => {
    const { book, show } = fakeBook();
    const made = new RunHistory(btcMxn, 1, from);
    made.watch(book);
    show(150_000, 1);
    for (let at = from; at < to; at += 1_000) made.see(inputAt(at));
    return made;
  };
  const [before, after] = [history(100_000, 130_000), history(120_000, 125_000)];
  after.follow(before);
  for (const points of [after.shown.recent, after.shown.whole]) {
    const times = points.map(([at]) => at!);
    expect(times).toEqual(Array.from({ length: 25 }, (_, i) => 100_000 + i * 1_000));
  }
});

test('the chart of the whole time has a bounded number of points at equal distances, also over several runs', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 4 }), lengths => {
      let [at, earlier] = [0, null as RunHistory | null];
      for (const length of lengths) {
        const { book, show } = fakeBook();
        const made = new RunHistory(btcMxn, 1, at);
        made.watch(book);
        show(150_000, 1);
        for (let n = 0; n < length; n++, at += 1_000) {
          made.see(inputAt(at));
          if (n === 0 && earlier !== null) made.follow(earlier);
        }
        earlier = made;
      }
      const times = earlier!.shown.whole.map(([time]) => time!);
      expect(times.length).toBeLessThanOrEqual(WHOLE_MAX);
      const gaps = times.slice(1).map((time, i) => time - times[i]!);
      const step = Math.max(1_000, ...gaps);
      expect(at / step).toBeLessThanOrEqual(2 * WHOLE_MAX);
      // One distance may be shorter at the start of a run.
      expect(gaps.filter(gap => gap < step).length).toBeLessThan(lengths.length * 2);
    }),
    runsOf(60, 10),
  );
});

test('the amount ahead of an order is the least since it was live, and is forgotten once it is not', () => {
  const { book, show, live } = fakeBook();
  const made = new RunHistory(btcMxn, 1, 0);
  made.watch(book);
  const order = (id: string) => ({ id, side: 'buy', price: price(149_999), state: 'open' }) as unknown as Order;
  const see = (amounts: number, at: number) => {
    show(150_000, amounts);
    made.see(inputAt(at));
  };
  live.push(order('a'));
  for (const [i, lots] of [7, 3, 9].entries()) see(lots, i);
  expect([made.ahead(order('a')), made.ahead(order('b'))]).toEqual([3, null]);
  live.length = 0;
  see(1, 10);
  expect(made.ahead(order('a'))).toBeNull();
});
