/** Charts, fills and markouts over several runs: those of one run, wherever it was split. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunHistory } from '../../../src/app/console/runHistory.ts';
import { POINT } from '../../../src/console/page/view.ts';
import {
  emptyDepth,
  money,
  moneyOf,
  NO_PROFIT,
  price,
  signOf,
  type BookEngine,
  type EngineEvent,
  type EngineNews,
  type Fill,
  type Order,
  type ProfitSinceOpening,
  type Side,
} from '../../../src/core/index.ts';
import { btcMxn } from '../../core/market.ts';
import { runsOf } from '../../many.ts';

const MARKOUT_MS = 60_000;
const WHOLE_MAX = 1_200;

/** A book with one price a side, whose inventory is the number of the input; `changed`: other fields of its snapshot. */
function fakeBook(changed: object = {}) {
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
      ...changed,
    }),
  } as unknown as BookEngine;
  const show = (mid: number, n: number) => {
    [depth.bidPrices[0], depth.askPrices[0], depth.bidAmounts[0]] = [mid - 1, mid + 1, n];
    inventory = BigInt(n);
  };
  return {
    ...{ book, depth, show, live },
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

test('the amount ahead of an order is the least at its price while it is live, on its own side and as far as the book is known', () => {
  // Prices are far from each other in some books, so that an order is between two levels or beyond the last one.
  const levels = fc.uniqueArray(
    fc.record({ at: fc.integer({ min: 1, max: 8 }), lots: fc.integer({ min: 1, max: 9 }) }),
    {
      selector: ({ at }) => at,
      minLength: 0,
      maxLength: 5,
    },
  );
  const states = ['open', 'partially filled', 'canceling', 'unknown', 'done'] as const;
  const seen = fc.record({
    buy: levels,
    sell: levels,
    live: fc.array(fc.constantFrom(...states), { minLength: 16, maxLength: 16 }),
  });
  const orders = (['buy', 'sell'] as const).flatMap(side =>
    Array.from({ length: 8 }, (_, i) => ({ id: `${side}-${i + 1}`, side, at: i + 1 })),
  );
  // Bids fall from 150,000 and asks rise from it.
  const ticks = (side: Side, at: number): number => 150_000 + (side === 'buy' ? -at : at);
  fc.assert(
    fc.property(fc.array(seen, { minLength: 1, maxLength: 6 }), books => {
      const { book, depth, live } = fakeBook();
      const made = new RunHistory(btcMxn, 1, 0);
      made.watch(book);
      const least = new Map<string, number>();
      for (const [n, shown] of books.entries()) {
        for (const side of ['buy', 'sell'] as const) {
          const own = shown[side].toSorted((a, b) => a.at - b.at);
          const [prices, amounts] =
            side === 'buy' ? [depth.bidPrices, depth.bidAmounts] : [depth.askPrices, depth.askAmounts];
          own.forEach(({ at, lots }, i) => ([prices[i], amounts[i]] = [ticks(side, at), lots]));
          depth[side === 'buy' ? 'bids' : 'asks'] = own.length;
        }
        const all = orders.map(({ id, side, at }, i) => ({
          id,
          side,
          price: price(ticks(side, at)),
          state: shown.live[i]!,
        }));
        live.splice(0, live.length, ...(all as unknown as Order[]));
        made.see(inputAt(n));
        for (const [i, { id, side, at }] of orders.entries()) {
          const state = shown.live[i]!;
          if (state === 'unknown' || state === 'done') least.delete(id);
          else {
            const level = shown[side].find(each => each.at === at);
            // A full list of levels can have more of them beyond its last one.
            const isKnown = shown[side].length < 5 || shown[side].some(each => each.at > at);
            if (level !== undefined || isKnown) least.set(id, Math.min(least.get(id) ?? Infinity, level?.lots ?? 0));
          }
          expect(made.ahead({ id } as Order)).toBe(least.get(id) ?? null);
        }
      }
    }),
    runsOf(500, 100),
  );
});

/** Lists of a history that are bounded: how many entries each has, what adds the entry number n, and what is shown. */
const LISTS: readonly (readonly [
  name: string,
  max: number,
  add: (history: RunHistory, world: ReturnType<typeof fakeBook>, n: number) => void,
  shown: (history: RunHistory) => readonly unknown[],
])[] = [
  [
    'events',
    200,
    (history, _, n) => history.tell({ at: n, who: 'bot', level: 'warn', text: '' }),
    history => history.events.map(({ at }) => at),
  ],
  [
    'fills',
    500,
    (history, _, n) => history.hear(fillAt(n, 'buy', n, 1n)),
    history =>
      history
        .fills(10_000)
        .map(({ at }) => at)
        .toReversed(),
  ],
  ['ends of hours', 1_000, (_, world, n) => world.endHour(n), history => history.hourEnds.map(({ at }) => at)],
  [
    'recent points',
    900,
    (history, _, n) => history.see(inputAt(1_000 * n)),
    history => history.shown.recent.map(([at = 0]) => at / 1_000),
  ],
];

test.each(LISTS)('of more %s than %i the newest are kept, in one run and over two', (_, max, add, shown) => {
  for (const [first, second] of [
    [0, max + 7],
    [max + 7, 3],
    [max - 2, max - 3],
  ] as const) {
    let n = 0;
    const run = (count: number): RunHistory => {
      const world = fakeBook();
      const made = new RunHistory(btcMxn, 1, 0);
      made.watch(world.book);
      for (const end = n + count; n < end; n++) add(made, world, n);
      return made;
    };
    const [before, after] = [run(first), run(second)];
    after.follow(before);
    expect(shown(after)).toEqual(Array.from({ length: max }, (__, i) => n - max + i));
  }
});

test('changes of the configuration have the run and the start of the run that brought them, and the newest hundred are kept', () => {
  let history: RunHistory | null = null;
  for (let run = 0; run < 110; run++) {
    const { book } = fakeBook();
    const next = new RunHistory(btcMxn, run, 0);
    next.watch(book);
    for (const at of [0, 1, 2]) next.see(inputAt(1_000 * run + at));
    // A run without changes has none.
    next.changed(run === 105 ? [] : [{ key: 'levels', from: '1', to: '2', takesEffect: 'reload' }]);
    if (history !== null) next.follow(history);
    history = next;
  }
  const runs = Array.from({ length: 110 }, (_, run) => run).filter(run => run !== 105);
  expect(history!.shown.changes.map(({ run, at }) => [run, at])).toEqual(
    runs.slice(-100).map(run => [run, 1_000 * run]),
  );
});

test('a point has each figure in its own field, and the best of the live orders of each side', () => {
  const order = (side: Side, at: number, state: Order['state']) => ({ side, price: price(at), state });
  const orders = [
    ...[order('buy', 700, 'open'), order('buy', 900, 'partially filled'), order('buy', 950, 'done')],
    ...[order('sell', 1_500, 'open'), order('sell', 1_300, 'canceling'), order('sell', 1_200, 'closed-unsettled')],
  ];
  const [spread, inventory, fees, hedging, total] = ['1', '20', '-3', '-0.5', '17.5'].map(text => moneyOf(text));
  const booked = {
    inventory: moneyOf('0.25'),
    sinceOpening: { profit: { spread, inventory, fees, hedging, total } },
  };
  const fields = (of: object) => {
    const made = new RunHistory(btcMxn, 1, 0);
    made.watch(fakeBook({ bid: 1_000, ask: 1_100, booked, ...of }).book);
    return Object.fromEntries(made.point(7).map((value, i) => [POINT[i], value])) as unknown;
  };
  const figures = { inventory: 0.25, profit: 17.5, spread: 1, holding: 20, fees: -3, hedging: -0.5 };
  expect(fields({ orders })).toEqual({ at: 7, bid: 10, ask: 11, ourBid: 9, ourAsk: 13, ...figures });
  expect(fields({ orders: [], bid: 0 })).toEqual({ at: 7, bid: 0, ask: 11, ourBid: 0, ourAsk: 0, ...figures });
});

test.each<[Partial<Fill>, object]>([
  [
    { side: 'buy', feeIn: 'major', maker: true },
    { side: 'bid', fee: '0.5 btc', role: 'maker' },
  ],
  [
    { side: 'sell', feeIn: 'minor', maker: false },
    { side: 'ask', fee: '0.5 mxn', role: 'taker' },
  ],
  [
    { side: 'sell', feeIn: 'other', maker: true },
    { side: 'ask', fee: '0.5', role: 'maker' },
  ],
])('a fill with %j is listed with %j, the newest first', (changes, expected) => {
  const made = new RunHistory(btcMxn, 1, 0);
  const told = (n: number, of: Partial<Fill>) => {
    const news = fillAt(1_000 * n, 'buy', n, moneyOf('300'));
    if (news.kind === 'fill') made.hear({ ...news, fill: { ...news.fill, major: moneyOf('0.2'), ...of } });
  };
  for (const n of [1, 2, 3]) told(n, n === 3 ? { ...changes, fee: moneyOf('0.5') } : {});
  const [newest, ...others] = made.fills(2);
  expect(newest).toEqual({ at: 3_000, price: '1500.00', amount: '0.2', id: 'own-3', markoutBps: null, ...expected });
  expect(others.map(({ at }) => at)).toEqual([2_000]);
});

test('shares of time and counts are those of all runs, each for as long as it lasted', () => {
  const lasted = [
    { s: 10, uptime: { bid: 1, ask: 0.5 }, fills: 1 },
    { s: 30, uptime: { bid: 0, ask: 0.5 }, fills: 20 },
    { s: 60, uptime: { bid: 0.5, ask: 0 }, fills: 300 },
  ];
  let [at, history] = [5_000, null as RunHistory | null];
  for (const { s, uptime, fills } of lasted) {
    const { booked } = fakeBook().book.snapshot(0);
    const { book } = fakeBook({ uptime, booked: { ...booked, fills } });
    const next = new RunHistory(btcMxn, 1, 0);
    next.watch(book);
    next.see(inputAt(at));
    if (history !== null) next.follow(history);
    next.see(inputAt((at += 1_000 * s)));
    history = next;
    const { uptime: all, booked: sums } = next.across({ ...book.snapshot(at), at });
    const ended = lasted.slice(0, lasted.findIndex(each => each.s === s) + 1);
    const whole = ended.reduce((sum, each) => sum + each.s, 0);
    for (const side of ['bid', 'ask'] as const)
      expect(all[side]).toBeCloseTo(ended.reduce((sum, each) => sum + each.uptime[side] * each.s, 0) / whole, 9);
    expect(sums.fills).toBe(ended.reduce((sum, each) => sum + each.fills, 0));
    // Time between two runs is of neither.
    at += 7_000;
  }
});
