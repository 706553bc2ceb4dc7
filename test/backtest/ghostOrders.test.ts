/** What a recording left behind: one market told by levels and by single orders is crossed for as long, and the same is taken out of it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FLAG, rowsOfTape, TickBook, type MarketRows } from '../../backtest/index.ts';
import { amount, price } from '../../src/core/index.ts';
import { finishTape, KIND, SIDE, TapeBuilder, type Tape } from '../../src/tape/index.ts';

type Side = typeof SIDE.buy | typeof SIDE.sell;
/** An order comes, goes, or is executed to its end. `isLost`: the recording does not tell that it went. */
type Event = {
  readonly at: number;
  readonly what: 'add' | 'remove' | 'execute';
  readonly id: number;
  readonly isLost: boolean;
};
type Order = { readonly side: Side; readonly tick: number; readonly lots: number };
type Market = { readonly events: readonly Event[]; readonly orders: ReadonlyMap<number, Order> };

const turn = fc.record({
  move: fc.integer({ min: -3, max: 3 }),
  seconds: fc.integer({ min: 2, max: 6 }),
  loses: fc.constantFrom<'bid' | 'ask' | null>('bid', 'ask', null, null, null, null),
  trades: fc.constantFrom<'bid' | 'ask' | null>('bid', 'ask', null),
});
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

/** Two orders a side that follow a price; all of them move each turn. Now and then one stays behind in the recording. */
function marketOf(turns: readonly Turn[]): Market {
  const events: Event[] = [];
  const orders = new Map<number, Order>();
  const left = new Set<number>();
  let quotes: { readonly id: number; readonly order: Order }[] = [];
  let at = 1_000;
  let middle = 1_000;
  for (const { move, seconds, loses, trades } of turns) {
    middle += move;
    for (const { id, order } of quotes) {
      const isBest = quotes.find(one => one.order.side === order.side)?.id === id;
      const isLost = isBest && loses === (order.side === SIDE.buy ? 'bid' : 'ask');
      if (isLost) left.add(order.tick);
      events.push({ at, what: 'remove', id, isLost });
    }
    // Where something was left behind no order comes: a level would then tell of both.
    const free = (from: number, step: number): number => {
      let tick = from;
      while (left.has(tick)) tick += step;
      return tick;
    };
    const [bid, ask] = [free(middle - 1, -1), free(middle + 1, 1)];
    const ticks = [
      [SIDE.buy, bid],
      [SIDE.buy, free(bid - 1, -1)],
      [SIDE.sell, ask],
      [SIDE.sell, free(ask + 1, 1)],
    ] as const;
    quotes = ticks.map(([side, tick], i) => {
      const id = orders.size + 1;
      const order = { side, tick, lots: 3 + i };
      orders.set(id, order);
      events.push({ at, what: 'add', id, isLost: false });
      return { id, order };
    });
    at += 1_000 * seconds;
    const side = trades === 'bid' ? SIDE.buy : SIDE.sell;
    const met = trades === null ? undefined : quotes.find(({ order }) => order.side === side);
    if (met === undefined) continue;
    events.push({ at: at - 500, what: 'execute', id: met.id, isLost: false });
    quotes = quotes.filter(({ id }) => id !== met.id);
  }
  return { events, orders };
}

const otherSide = (side: Side): Side => (side === SIDE.buy ? SIDE.sell : SIDE.buy);

/** `hasTrades`: executions of the orders have rows of their own, as they have on most tapes. */
function tapeOf({ events, orders }: Market, kind: 'levels' | 'orders', hasTrades = true): Tape {
  const tape = new TapeBuilder();
  for (const { at, what, id, isLost } of events) {
    const { side, tick, lots } = orders.get(id)!;
    if (isLost) continue;
    const [ticks, size] = [price(tick), amount(lots)];
    if (kind === 'levels') {
      if (what === 'execute') tape.trade(at, at, otherSide(side), ticks, size);
      tape.level(at, at, side, ticks, amount(what === 'add' ? lots : 0));
    } else if (what === 'add') tape.order(KIND.add, at, at, side, ticks, size, id);
    else {
      tape.order(KIND.remove, at, at, side, ticks, amount(what === 'execute' ? 0 : lots), id);
      if (what === 'execute' && hasTrades) tape.trade(at, at, otherSide(side), ticks, size);
    }
  }
  // A last row, so that the end is the same.
  const end = events.at(-1)!.at + 5_000;
  if (kind === 'levels') tape.level(end, end, SIDE.buy, price(900), amount(1));
  else tape.order(KIND.add, end, end, SIDE.buy, price(900), amount(1), 1_000_000);
  return finishTape({ source: 'test', book: 'btc_usd', tick: '0.01', columns: tape.columns(), depth: Infinity });
}

/** What is left behind and taken out, for how long the book is crossed, and the best prices after each time. */
function seenIn(rows: MarketRows) {
  const book = new TickBook(rows);
  const ghosts: string[] = [];
  const bests = new Map<number, string>();
  let [crossedMs, since] = [0, Number.NaN];
  for (let row = 0; row < rows.length; row++) {
    const [flags, at, place] = [rows.flags[row]!, rows.at[row]!, rows.place[row]!];
    if ((flags & FLAG.trade) !== 0) continue;
    if ((flags & FLAG.ghost) !== 0)
      ghosts.push(`${at} ${(flags & FLAG.sell) === 0 ? 'bid' : 'ask'} ${place + rows.base}`);
    const isCrossed = (flags & FLAG.crossed) !== 0;
    if (isCrossed && Number.isNaN(since)) since = at;
    if (!isCrossed && !Number.isNaN(since)) [crossedMs, since] = [crossedMs + at - since, Number.NaN];
    if ((flags & FLAG.sell) === 0) book.setBid(place, rows.lots[row]!);
    else book.setAsk(place, rows.lots[row]!);
    bests.set(
      at,
      `${book.bid === 0 ? '' : book.bid + rows.base} / ${book.ask === book.last ? '' : book.ask + rows.base}`,
    );
  }
  const end = rows.at[rows.length - 1]!;
  return { ghosts, crossedMs: crossedMs + (Number.isNaN(since) ? 0 : end - since), bests: [...bests] };
}

const executedIn = (rows: MarketRows): number =>
  rows.flags
    .subarray(0, rows.length)
    .reduce((sum, flags, row) => sum + ((flags & FLAG.trade) !== 0 ? rows.lots[row]! : 0), 0);

describe('what a recording left behind', () => {
  test('is the same of single orders as of the levels that they add up to', () => {
    let found = 0;
    fc.assert(
      fc.property(fc.array(turn, { minLength: 3, maxLength: 40 }), fc.boolean(), (turns, hasTrades) => {
        const market = marketOf(turns);
        const levels = seenIn(rowsOfTape(tapeOf(market, 'levels')));
        found += levels.ghosts.length;
        expect(seenIn(rowsOfTape(tapeOf(market, 'orders', hasTrades)))).toEqual(levels);
      }),
      { numRuns: 300 },
    );
    expect(found).toBeGreaterThan(0);
  });

  test('does not keep later orders out of the book for longer than a second', () => {
    const tape = new TapeBuilder();
    const add = (at: number, side: Side, tick: number, id: number): void =>
      tape.order(KIND.add, at, at, side, price(tick), amount(5), id);
    add(0, SIDE.buy, 1_000, 1);
    add(0, SIDE.sell, 1_010, 2);
    add(60_000, SIDE.buy, 1_020, 3);
    add(660_000, SIDE.buy, 900, 4);
    const { crossedMs } = seenIn(
      rowsOfTape(
        finishTape({ source: 'test', book: 'btc_usd', tick: '0.01', columns: tape.columns(), depth: Infinity }),
      ),
    );
    expect(crossedMs).toBe(600_000);
  });

  test('and that lives after all is back with its next row', () => {
    const tape = new TapeBuilder();
    const order = (
      kind: typeof KIND.add | typeof KIND.change | typeof KIND.remove,
      at: number,
      side: Side,
      tick: number,
      lots: number,
      id: number,
    ) => tape.order(kind, at, at, side, price(tick), amount(lots), id);
    order(KIND.add, 0, SIDE.buy, 1_000, 5, 1);
    order(KIND.add, 0, SIDE.sell, 1_010, 5, 2);
    for (const at of [1_000, 15_000]) tape.trade(at, at, SIDE.buy, price(1_012), amount(1));
    order(KIND.change, 20_000, SIDE.sell, 1_010, 4, 2);
    const rows = rowsOfTape(
      finishTape({ source: 'test', book: 'btc_usd', tick: '0.01', columns: tape.columns(), depth: Infinity }),
    );
    const { ghosts, bests } = seenIn(rows);
    expect(ghosts).toEqual(['15000 ask 1010']);
    expect(bests.at(-1)).toEqual([20_000, '1000 / 1010']);
  });
});

describe('the executions of a tape of single orders', () => {
  /** Takers who sweep orders at several prices, as feeds tell them: orders first, trades behind, both with times of one millisecond. */
  const sweep = fc.record({
    wait: fc.integer({ min: 1_500, max: 5_000 }),
    sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 }),
    perPrice: fc.integer({ min: 1, max: 4 }),
    noise: fc.integer({ min: 0, max: 20 }),
    delay: fc.integer({ min: -400, max: 400 }),
    isSummed: fc.boolean(),
  });

  test('are all of the trades, however many rows lie between, however late they come, and also where one trade is of several orders', () => {
    fc.assert(
      fc.property(fc.array(sweep, { minLength: 1, maxLength: 6 }), sweeps => {
        type Row = { readonly at: number; readonly put: (tape: TapeBuilder) => void };
        const rows: Row[] = [];
        let [at, id, total] = [1_000, 0, 0];
        const order = (
          when: number,
          kind: typeof KIND.add | typeof KIND.remove,
          side: Side,
          tick: number,
          lots: number,
          name: number,
        ) => rows.push({ at: when, put: tape => tape.order(kind, when, when, side, price(tick), amount(lots), name) });
        order(0, KIND.add, SIDE.buy, 500, 1, ++id);
        for (const { wait, sizes, perPrice, noise, delay, isSummed } of sweeps) {
          at += wait;
          const makers = sizes.map((lots, i) => ({ lots, tick: 1_000 + Math.floor(i / perPrice), id: ++id }));
          for (const maker of makers) order(at, KIND.add, SIDE.sell, maker.tick, maker.lots, maker.id);
          at += wait;
          for (const maker of makers) order(at, KIND.remove, SIDE.sell, maker.tick, 0, maker.id);
          for (let i = 0; i < noise; i++) {
            order(at, KIND.add, SIDE.buy, 400, 1, ++id);
            order(at, KIND.remove, SIDE.buy, 400, 1, id);
          }
          const trades = isSummed
            ? [...new Set(makers.map(({ tick }) => tick))].map(tick => ({
                tick,
                lots: makers.filter(maker => maker.tick === tick).reduce((sum, { lots }) => sum + lots, 0),
              }))
            : makers;
          for (const { tick, lots } of trades) {
            const when = at + delay;
            rows.push({ at: when, put: tape => tape.trade(when, when, SIDE.buy, price(tick), amount(lots)) });
            total += lots;
          }
        }
        const tape = new TapeBuilder();
        for (const { put } of [...rows].sort((a, b) => a.at - b.at)) put(tape);
        const made = rowsOfTape(
          finishTape({ source: 'test', book: 'btc_usd', tick: '0.01', columns: tape.columns(), depth: Infinity }),
        );
        expect(executedIn(made)).toBe(total);
        expect(made.orders!.executed.some(one => one === 1)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
