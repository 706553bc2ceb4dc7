import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock, amount, price, randomOf, type Side } from '../../../src/core/index.ts';
import { tapeMarket } from '../../../src/sandbox/markets/recordedMarket.ts';
import {
  KIND,
  RecordedBook,
  SIDE,
  TapeBuilder,
  finishTape,
  type SideCode,
  type Tape,
} from '../../../src/tape/index.ts';
import { ReferenceMarketplace, type Fill } from './referenceMarketplace.ts';
import { runsOf } from '../../many.ts';

type Row =
  | { at: number; clear: true }
  | { at: number; level: SideCode; price: number; amount: number }
  | { at: number; trade: SideCode; price: number; amount: number };

const EPOCH = 1_700_000_000_000;

function tapeOf(rows: readonly Row[]): Tape {
  const builder = new TapeBuilder();
  for (const row of rows) {
    const at = EPOCH + row.at;
    if ('clear' in row) builder.clear(at, at);
    else if ('level' in row) builder.level(at, at, row.level, price(row.price), amount(row.amount));
    else builder.trade(at, at, row.trade, price(row.price), amount(row.amount));
  }
  return finishTape({ source: 'made', book: 'eth_usd', tick: '0.01', columns: builder.columns(), depth: Infinity });
}

function open(tape: Tape, loop = false) {
  const clock = new VirtualClock();
  const exchange = new ReferenceMarketplace(tape.instrument, clock, randomOf(1));
  const fills: Fill[] = [];
  exchange.onFill = fill => fills.push(fill);
  const market = tapeMarket(tape, { loop });
  market.start(exchange);
  return { clock, exchange, fills, market };
}

const BOOK: Row[] = [
  { at: 0, level: SIDE.buy, price: 100, amount: 50 },
  { at: 0, level: SIDE.buy, price: 99, amount: 80 },
  { at: 0, level: SIDE.sell, price: 103, amount: 60 },
  { at: 0, level: SIDE.sell, price: 104, amount: 90 },
];

describe('a replayed tape', () => {
  it('tells its public data as late as it was recorded, and nothing in a gap, also when it begins again', async () => {
    const builder = new TapeBuilder();
    const row = (at: number, late: number, lots: number) =>
      builder.level(EPOCH + at, EPOCH + at + late, SIDE.buy, price(100), amount(lots));
    for (const [at, late] of [
      [0, 0],
      [1_000, 426],
      [1_000, 30],
      [9_000, 20],
      [10_000, 0],
    ] as const)
      row(at, late, at + late + 1);
    const made = { source: 'made', book: 'eth_usd', tick: '0.01', columns: builder.columns(), depth: Infinity };
    const tape = { ...finishTape(made), gaps: [{ from: EPOCH + 2_000, to: EPOCH + 9_000, why: 'cut' }] };
    const { clock, exchange } = open(tape, true);
    const told = () => [exchange.feed.delayMs, Math.max(0, exchange.feed.silentUntil - clock.elapsed())];
    const seen: unknown[] = [];
    for (const seconds of [0.5, 1, 0.5, 0.25, 6, 1.5]) {
      await clock.advance(seconds * 1_000);
      seen.push(told());
    }
    expect(seen).toEqual([
      [0, 0],
      [426, 0],
      [426, 7_000],
      [426, 6_750],
      [426, 750],
      [20, 0],
    ]);
    // The second round began at 11 s.
    await clock.advance(3_500);
    expect(told()).toEqual([426, 6_750]);
  });

  it('fills the book at once', () => {
    const { exchange } = open(tapeOf(BOOK));
    expect(exchange.bestBid()).toBe(100);
    expect(exchange.bestAsk()).toBe(103);
    expect(exchange.amountAt('sell', price(104))).toBe(90);
  });

  it('lets a recorded trade fill resting users in their turn: better prices first, then the queue', async () => {
    const { clock, exchange, fills } = open(tapeOf([...BOOK, { at: 1000, trade: SIDE.sell, price: 100, amount: 60 }]));
    exchange.placeFor('late', 'buy', price(100), 20, 'GTC');
    exchange.placeFor('better', 'buy', price(101), 5, 'GTC');
    await clock.advance(1000);
    expect(fills.map(fill => [fill.maker, fill.price, fill.amount])).toEqual([
      ['better', 101, 5],
      ['house', 100, 50],
      ['late', 100, 5],
    ]);
  });

  it('passes by who came while one taker was still being told', async () => {
    const trade = (at: number, place: number) => ({ at, trade: SIDE.buy, price: place, amount: 10 });
    const { clock, exchange, fills } = open(tapeOf([...BOOK, trade(1000, 103), trade(1150, 104), trade(2000, 104)]));
    await clock.advance(1100);
    exchange.placeFor('late', 'sell', price(102), 5, 'GTC');
    await clock.advance(100);
    expect(fills.map(fill => fill.maker)).toEqual(['house', 'house']);
    expect(exchange.amountOf('late', 'sell', price(102))).toBe(5);
    await clock.advance(1000);
    expect(fills.slice(2).map(fill => [fill.maker, fill.amount])).toEqual([
      ['late', 5],
      ['house', 5],
    ]);
  });

  it('takes shrinkage without a trade from behind, so that a place in the queue advances by trades alone', async () => {
    const tape = tapeOf([
      ...BOOK,
      { at: 1000, level: SIDE.buy, price: 100, amount: 90 },
      { at: 2000, level: SIDE.buy, price: 100, amount: 60 },
      { at: 3000, trade: SIDE.sell, price: 100, amount: 50 },
      { at: 4000, trade: SIDE.sell, price: 100, amount: 1 },
    ]);
    const { clock, exchange, fills } = open(tape);
    exchange.placeFor('user', 'buy', price(100), 10, 'GTC');
    await clock.advance(3000);
    // As recorded again, behind the user.
    expect(exchange.amountOf('house', 'buy', price(100))).toBe(60);
    expect(fills.some(fill => fill.maker === 'user')).toBe(false);
    await clock.advance(1000);
    expect(fills.filter(fill => fill.maker === 'user').map(fill => fill.amount)).toEqual([1]);
  });

  it('fills an order that the market moves through only up to the size that crosses, however often the size is repeated', async () => {
    const picture = (at: number): Row[] => [
      { at, clear: true },
      { at, level: SIDE.buy, price: 106, amount: 30 },
      { at, level: SIDE.sell, price: 108, amount: 30 },
    ];
    const { clock, exchange, fills } = open(tapeOf([...BOOK, ...picture(1000), ...picture(2000), ...picture(3000)]));
    exchange.placeFor('user', 'sell', price(105), 100, 'GTC');
    await clock.advance(5000);
    expect(fills.filter(fill => fill.maker === 'user').map(fill => [fill.price, fill.amount])).toEqual([[105, 30]]);
    expect(exchange.amountOf('user', 'sell', price(105))).toBe(70);
  });

  it('restores what a user took when the next book row comes', async () => {
    const { clock, exchange } = open(tapeOf([...BOOK, { at: 1000, level: SIDE.buy, price: 98, amount: 5 }]));
    exchange.placeFor('user', 'buy', price(103), 60, 'IOC');
    expect(exchange.amountAt('sell', price(103))).toBe(0);
    await clock.advance(1000);
    expect(exchange.amountAt('sell', price(103))).toBe(60);
  });

  it('keeps both sides of a recording of one level, though a trade was larger than the level', async () => {
    const rows = tapeOf([BOOK[0]!, BOOK[2]!, { at: 1000, trade: SIDE.buy, price: 103, amount: 500 }]);
    const { clock, exchange, market } = open({ ...rows, depth: 1 });
    await clock.advance(1000);
    expect(exchange.amountAt('sell', price(103))).toBe(60);
    expect(market.counts()).toMatchObject({ shortTrades: 1, shortLots: 440 });
  });

  it('hides the levels of a locked book, so that nobody is filled on it for free', async () => {
    const tape = tapeOf([
      ...BOOK,
      { at: 1000, level: SIDE.buy, price: 103, amount: 7 },
      { at: 2000, level: SIDE.buy, price: 103, amount: 0 },
    ]);
    const { clock, exchange, fills, market } = open(tape);
    await clock.advance(1000);
    expect([exchange.bestBid(), exchange.bestAsk()]).toEqual([100, 104]);
    await clock.advance(1000);
    expect([exchange.bestBid(), exchange.bestAsk()]).toEqual([100, 103]);
    expect(fills).toEqual([]);
    expect(market.counts().hiddenBooks).toBe(1);
  });

  it('infers an unknown taker side from the book and counts it', async () => {
    const { clock, fills, market } = open(tapeOf([...BOOK, { at: 1000, trade: SIDE.unknown, price: 103, amount: 4 }]));
    await clock.advance(1000);
    expect(fills.map(fill => fill.takerSide)).toEqual(['buy']);
    expect(market.counts().inferredSides).toBe(1);
  });

  it('begins again after its end, with the same book', async () => {
    const tape = tapeOf([...BOOK, { at: 1000, level: SIDE.buy, price: 102, amount: 5 }]);
    const { clock, exchange, market } = open(tape, true);
    await clock.advance(1999);
    expect(exchange.bestBid()).toBe(102);
    await clock.advance(1);
    expect(exchange.bestBid()).toBe(100);
    expect(market.counts().wraps).toBe(1);
    await clock.advance(20_000);
    expect(market.counts().wraps).toBe(11);
    expect(exchange.book.buy.length + exchange.book.sell.length).toBeLessThanOrEqual(5);
  });

  it('shows the sums of a recording of single orders', async () => {
    const builder = new TapeBuilder();
    const add = (at: number, side: SideCode, ticks: number, lots: number, id: number) =>
      builder.order(lots > 0 ? KIND.add : KIND.remove, EPOCH + at, EPOCH + at, side, price(ticks), amount(lots), id);
    add(0, SIDE.buy, 100, 5, 1);
    add(0, SIDE.buy, 100, 7, 2);
    add(0, SIDE.sell, 103, 9, 3);
    add(1000, SIDE.buy, 100, 0, 1);
    const columns = builder.columns();
    const { clock, exchange } = open(
      finishTape({ source: 'made', book: 'eth_usd', tick: '0.01', columns, depth: Infinity }),
    );
    expect(exchange.amountAt('buy', price(100))).toBe(12);
    await clock.advance(1000);
    expect(exchange.amountAt('buy', price(100))).toBe(7);
  });

  it('refuses a tape without amounts', () => {
    const tape = { ...tapeOf(BOOK), quotesOnly: true };
    expect(() => tapeMarket(tape, { loop: true })).toThrow(/without amounts/);
  });

  it('does nothing after it was stopped', async () => {
    const { clock, exchange, market } = open(tapeOf([...BOOK, { at: 10, level: SIDE.buy, price: 102, amount: 5 }]));
    market.stop();
    await clock.advance(1000);
    expect(exchange.bestBid()).toBe(100);
    expect(clock.nextDue()).toBeUndefined();
  });
});

// A recording never shows a crossed book here: bids stay under 100, asks at 101 or above.
const levelRow = fc.record({
  side: fc.constantFrom<SideCode>(SIDE.buy, SIDE.sell),
  offset: fc.integer({ min: 1, max: 6 }),
  amount: fc.integer({ min: 0, max: 40 }),
  trade: fc.boolean(),
  pause: fc.integer({ min: 0, max: 2 }),
});
const userAct = fc.record({
  act: fc.constantFrom('GTC', 'IOC', 'cancel'),
  side: fc.constantFrom<Side>('buy', 'sell'),
  price: fc.integer({ min: 92, max: 109 }),
  amount: fc.integer({ min: 1, max: 60 }),
});

describe('whatever users do', () => {
  it('the house never shows more than the recording, and exactly the recording once no user order stands against it', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(levelRow, userAct), { minLength: 1, maxLength: 60 }), steps => {
        const rows: Row[] = [];
        let at = 1000;
        for (const [row] of steps) {
          at += row.pause * 100;
          const near = row.side === SIDE.buy ? 100 - row.offset : 100 + row.offset;
          if (row.trade) rows.push({ at, trade: row.side, price: 200 - near, amount: row.amount + 1 });
          else rows.push({ at, level: row.side, price: near, amount: row.amount });
        }
        // A last book row, long after everything else, in a corner where nobody trades.
        const tape = tapeOf([...BOOK_OF_LAW, ...rows, { at: at + 1000, level: SIDE.buy, price: 50, amount: 1 }]);
        const { clock, exchange } = open(tape);
        const recorded = new RecordedBook(tape.columns);
        let row = 0;
        const mine: number[] = [];
        const compare = (exact: boolean) => {
          for (const side of ['buy', 'sell'] as const) {
            const levels = side === 'buy' ? recorded.bids : recorded.asks;
            for (let p = 50; p <= 110; p++) {
              const house = exchange.amountOf('house', side, price(p));
              if (exact) expect(house).toBe(levels.amountOf(p));
              else expect(house).toBeLessThanOrEqual(levels.amountOf(p));
            }
          }
        };
        const follow = () => {
          for (; row < tape.columns.length && tape.columns.at[row]! <= EPOCH + clock.elapsed(); row++)
            recorded.apply(row);
        };
        for (const [, user] of steps) {
          if (clock.nextDue() === undefined || clock.nextDue()! >= at + 1000) break;
          clock.runNext();
          follow();
          compare(false);
          if (user.act === 'cancel') exchange.cancel(mine.pop() ?? 0);
          else mine.push(exchange.placeFor('user', user.side, price(user.price), user.amount, user.act).id);
        }
        while (clock.nextDue() !== undefined && clock.nextDue()! < at + 1000) clock.runNext();
        for (const id of mine) exchange.cancel(id);
        while (clock.runNext());
        follow();
        compare(true);
        expect(exchange.book.buy.concat(exchange.book.sell).every(order => order.owner === 'house')).toBe(true);
      }),
      runsOf(300, 100),
    );
  });
});

const BOOK_OF_LAW: Row[] = [
  { at: 0, clear: true },
  { at: 0, level: SIDE.buy, price: 99, amount: 50 },
  { at: 0, level: SIDE.sell, price: 101, amount: 60 },
];
