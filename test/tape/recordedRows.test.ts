/** The parts of a recorder between the stream and the tape, each by itself: the waiting rows, and the record of single orders. */
import { describe, expect, test } from 'vitest';
import {
  instrumentOf,
  VirtualClock,
  type AvailableBook,
  type BookDiff,
  type BookSnapshot,
  type Exchange,
  type PublicTrade,
  type UnreadableRow,
} from '../../src/core/index.ts';
import { KIND, LevelRecorder, SIDE, type RecordSink } from '../../src/tape/index.ts';
import { advanced, OrderRecord, unfitFor } from '../../src/tape/record/orderRecord.ts';
import { ReorderBuffer } from '../../src/tape/record/reorderBuffer.ts';
import { RULES } from './storedRows.ts';

/** A buffer, and what it has handed to its tape: rows as kind, id and time, and everything else by name. */
function bufferIn(clock: VirtualClock) {
  const told: unknown[] = [];
  const sink: RecordSink = {
    append: ({ length, kind, id, at }) => {
      for (let row = 0; row < length; row++) told.push([kind[row], id[row], at[row]]);
    },
    gap: gap => told.push(gap),
    flaws: entries => told.push(...entries),
    rulesChanged: ({ tickSize }, at) => told.push(['rules', tickSize, at]),
    flush: () => undefined,
  };
  const buffer = new ReorderBuffer(sink, clock);
  return {
    buffer,
    sink,
    told,
    taken: () => told.splice(0),
    book: (kind: number, id: number, at: number) => buffer.book(kind, SIDE.buy, at, at + 7, 100 + id, 200 + id, id),
    trade: (id: number, at: number, maker: number | null) => buffer.trade(SIDE.sell, at, at + 7, 300, 400, id, maker),
  };
}

describe('rows on their way to a tape', () => {
  test('wait 250 ms each, and behind a trade that came in before them as long as it', async () => {
    const clock = new VirtualClock();
    const { buffer, taken, book, trade } = bufferIn(clock);
    const from = clock.elapsed();
    const flushedAt = async (ms: number) => {
      await clock.advance(from + ms - clock.elapsed());
      buffer.flush();
      return taken();
    };
    buffer.beginStep();
    book(KIND.add, 1, 10);
    await clock.advance(100);
    buffer.beginStep();
    book(KIND.add, 2, 11);
    book(KIND.remove, 1, 11);
    expect(await flushedAt(249)).toEqual([]);
    expect(await flushedAt(250)).toEqual([[KIND.add, 1, 10]]);
    trade(90, 11, 1);
    expect(await flushedAt(499)).toEqual([]);
    expect(await flushedAt(500)).toEqual([
      [KIND.trade, 90, 11],
      [KIND.add, 2, 11],
      [KIND.remove, 1, 11],
    ]);
    book(KIND.add, 3, 12);
    buffer.flush(true);
    expect(taken()).toEqual([[KIND.add, 3, 12]]);
  });

  test('have a trade before the step of its change, after the trades of it that came before, and one trade for one change', () => {
    const { buffer, taken, book, trade } = bufferIn(new VirtualClock());
    buffer.beginStep();
    book(KIND.change, 5, 10);
    buffer.beginStep();
    book(KIND.add, 8, 11);
    book(KIND.change, 5, 11);
    book(KIND.remove, 6, 11);
    // The first change of 5, the second, and none that is left.
    for (const id of [91, 92, 93]) trade(id, 9, 5);
    trade(94, 9, 6);
    buffer.flush(true);
    expect(taken()).toEqual([
      [KIND.trade, 91, 9],
      [KIND.change, 5, 10],
      [KIND.trade, 92, 9],
      [KIND.add, 8, 11],
      [KIND.change, 5, 11],
      [KIND.remove, 6, 11],
      [KIND.trade, 93, 9],
      [KIND.trade, 94, 9],
    ]);
  });

  test('have a trade without a maker before the changes of its time and of later times', () => {
    const { buffer, taken, book, trade } = bufferIn(new VirtualClock());
    for (const at of [10, 11, 12]) book(KIND.level, 0, at);
    trade(91, 11, null);
    trade(92, 10, null);
    trade(93, 13, null);
    buffer.flush(true);
    expect(taken().map(row => (row as number[])[2])).toEqual([10, 11, 10, 11, 12, 13]);
  });

  test.each([
    [4_096, 'all of the early trades are remembered'],
    [4_097, 'all but the last of the early trades are forgotten'],
  ])('after %i trades that came before their changes, %s', count => {
    const { buffer, taken, book, trade } = bufferIn(new VirtualClock());
    for (let maker = 1; maker <= count; maker++) trade(10_000 + maker, 10, maker);
    buffer.flush(true);
    taken();
    // A change that its trade precedes already takes no other trade before it.
    const isKnown = (maker: number): boolean => {
      book(KIND.add, maker, 11);
      book(KIND.change, maker, 11);
      trade(maker, 12, maker);
      buffer.flush(true);
      return (taken().at(-1) as number[])[0] === KIND.trade;
    };
    expect([isKnown(1), isKnown(4_096)]).toEqual(count === 4_096 ? [true, true] : [false, false]);
    expect(isKnown(4_097)).toBe(count === 4_097);
  });

  test('all come before a gap and before other rules; a gap of no length is none, and trades before it are forgotten', () => {
    const { buffer, taken, book, trade } = bufferIn(new VirtualClock());
    book(KIND.add, 1, 20);
    buffer.rules({ ...RULES, tickSize: '2' }, 21);
    book(KIND.add, 2, 15);
    trade(91, 16, 7);
    for (const to of [29, 30]) buffer.gap({ from: 30, to, why: 'none' });
    expect([buffer.lastAt, taken()]).toEqual([
      20,
      [
        [KIND.add, 1, 20],
        ['rules', '2', 21],
      ],
    ]);
    const gap = { from: 30, to: 42, why: 'the stream was down' };
    buffer.gap(gap);
    buffer.gap({ ...gap, from: 37 });
    book(KIND.change, 7, 50);
    trade(92, 51, 7);
    buffer.flush(true);
    expect(taken()).toEqual([
      [KIND.add, 2, 15],
      [KIND.trade, 91, 16],
      gap,
      { ...gap, from: 37 },
      [KIND.trade, 92, 51],
      [KIND.change, 7, 50],
    ]);
    expect(buffer.counts).toEqual({ rows: 5, trades: 2, gaps: 2, gapMs: 12 + 5 });
    expect(buffer.lastAt).toBe(51);
  });
});

describe('the record of single orders', () => {
  const open = (oid: string, side: 'buy' | 'sell', price: string, amount: string | null) =>
    ({ kind: 'open', oid, side, price, amount }) as BookDiff['changes'][number];
  const gone = (oid: string, filled: boolean) =>
    ({ kind: 'gone', oid, filled }) as unknown as BookDiff['changes'][number];

  test('has for each change the row that a reader needs: a place in the queue is kept only by an order that shrinks', () => {
    const record = new OrderRecord(instrumentOf(RULES, '0.1'));
    const rows: (readonly number[])[] = [];
    const apply = (...changes: BookDiff['changes']) => {
      record.apply({ changes }, (...row) => void rows.push(row));
      return rows.splice(0);
    };
    const { add, change, remove } = KIND;
    expect(apply(open('a', 'buy', '100', '2'), open('b', 'sell', '130', '3'))).toEqual([
      [add, SIDE.buy, 10, 20, 1],
      [add, SIDE.sell, 13, 30, 2],
    ]);
    expect(apply(open('a', 'buy', '100', '1.5'))).toEqual([[change, SIDE.buy, 10, 15, 1]]);
    expect(apply(open('a', 'buy', '100', '1.5'), open('a', 'buy', '100', null))).toEqual([]);
    expect(apply(open('a', 'buy', '100', '1.6'))).toEqual([
      [remove, SIDE.buy, 10, 15, 1],
      [add, SIDE.buy, 10, 16, 1],
    ]);
    expect(apply(open('b', 'sell', '120', '1'))).toEqual([
      [remove, SIDE.sell, 13, 30, 2],
      [add, SIDE.sell, 12, 10, 2],
    ]);
    expect(apply(open('b', 'buy', '120', '0.5'))).toEqual([
      [remove, SIDE.sell, 12, 10, 2],
      [add, SIDE.buy, 12, 5, 2],
    ]);
    expect(apply(gone('a', true), gone('b', false), gone('c', true))).toEqual([
      [remove, SIDE.buy, 10, 0, 1],
      [remove, SIDE.buy, 12, 5, 2],
    ]);
    expect([record.numberOf('a'), record.numberOf('b'), record.numberOf('c'), record.size]).toEqual([1, 2, null, 0]);
    // An order that comes back is another one.
    expect(apply(open('a', 'sell', '150', '1'))).toEqual([[add, SIDE.sell, 15, 10, 3]]);
    expect(record.numberOf('a')).toBe(3);
  });

  test('remembers the numbers of 4,096 removed orders, then of the newer half of them', () => {
    const record = new OrderRecord(instrumentOf(RULES, '0.1'));
    const remembered = (count: number): number[] =>
      Array.from({ length: count }, (_, i) => i + 1).filter(n => record.numberOf(`o${n}`) !== null);
    for (let n = 1; n <= 4_096; n++)
      record.apply({ changes: [open(`o${n}`, 'buy', '100', '1'), gone(`o${n}`, true)] }, () => undefined);
    expect(remembered(4_096)).toHaveLength(4_096);
    record.apply({ changes: [open('o4097', 'buy', '100', '1'), gone('o4097', true)] }, () => undefined);
    expect(remembered(4_097)).toEqual(Array.from({ length: 2_049 }, (_, i) => i + 2_049));
  });

  test('takes of the steps after a complete book each once, and none that the book has', () => {
    const entry = (oid: string, price: string) => ({ oid, price, amount: '1' });
    const book = {
      sequence: 7,
      bids: [entry('a', '100'), entry('b', '90'), entry('e', '80')],
      asks: [entry('c', '130')],
    } as unknown as BookSnapshot;
    const steps = [
      { sequence: 6, changes: [gone('a', true)] },
      { sequence: 7, changes: [gone('e', true)] },
      { sequence: 8, changes: [open('d', 'sell', '140', '1'), open('b', 'sell', '150', '1')] },
      { sequence: 9, changes: [gone('c', false)] },
    ] as unknown as BookDiff[];
    const { bids, asks } = advanced(book, steps);
    expect(bids.map(({ oid, price }) => [oid, price])).toEqual([
      ['a', '100'],
      ['e', '80'],
    ]);
    expect(asks.map(({ oid, price }) => [oid, price])).toEqual([
      ['d', '140'],
      ['b', '150'],
    ]);
  });

  test('is not set right by a book that is damaged on either side, or has an order without an id on either side', () => {
    const side = (oid?: string) => [{ price: '100', amount: '1', ...(oid === undefined ? {} : { oid }) }];
    const book = (of: object) => unfitFor({ bids: side('a'), asks: side('b'), ...of } as unknown as BookSnapshot);
    expect(book({})).toBeNull();
    for (const name of ['bids', 'asks']) {
      expect(book({ damage: { [name]: { why: `damaged ${name}` } } })).toBe(`damaged ${name}`);
      expect(book({ [name]: side() })).toBe('the orders of the book have no ids');
    }
  });
});

describe('a recorder of polled levels', () => {
  const POLL = 2_500;
  const AT = Date.parse('2026-11-21T12:00:00Z');
  const listed = (changes: Partial<AvailableBook> = {}): AvailableBook => ({ ...RULES, tiers: [], ...changes });
  /** A recorder on an exchange whose next replies the test sets; its books have the time of their read. */
  function recording(resumedFrom: number | null = null) {
    const clock = new VirtualClock(AT);
    const made = bufferIn(clock);
    const log: string[] = [];
    const side = (...prices: readonly string[]) => prices.map(price => ({ price, amount: '0.3' }));
    const world = {
      book: true,
      bids: side('100'),
      asks: side('130'),
      trades: [] as PublicTrade[],
      unreadable: [] as UnreadableRow[],
      books: [listed()],
      unreadableBooks: [] as UnreadableRow[],
    };
    const readAt: number[] = [];
    let sequence = 0n;
    const exchange = {
      limits: { tradesPage: 100 },
      orderBook: () => {
        if (!world.book) return Promise.resolve({ kind: 'unknown', reason: 'by the test' });
        readAt.push(clock.now());
        const { bids, asks } = world;
        return Promise.resolve({
          kind: 'done',
          value: { book: RULES.book, sequence: ++sequence, updatedAt: clock.now(), bids, asks },
        });
      },
      trades: () =>
        Promise.resolve({ kind: 'done', value: world.trades.splice(0), unreadable: world.unreadable.splice(0) }),
      availableBooks: () => Promise.resolve({ kind: 'done', value: world.books, unreadable: world.unreadableBooks }),
    } as unknown as Exchange;
    const told = made.told;
    const recorder = new LevelRecorder({
      ...{ clock, exchange, resumedFrom, rules: RULES, lot: '0.1', pollMs: POLL, rulesEveryMs: 10_000 },
      ...{ sink: made.sink, log: line => void log.push(line), onBroken: error => expect.fail(String(error)) },
    });
    recorder.start();
    return { clock, recorder, world, log, told, readAt, side };
  }
  const gapsIn = (told: readonly unknown[]) =>
    told.filter(one => one !== null && typeof one === 'object' && 'why' in one);

  test.each([
    [7_400, false],
    [7_600, true],
    [30_000, true],
  ])('has a gap from book to book after %i ms without one: %s', async (ms, isGap) => {
    const { clock, recorder, world, told, readAt } = recording();
    await clock.advance(20 * POLL + 10);
    const count = readAt.length;
    world.book = false;
    await clock.advance(readAt.at(-1)! + ms - 10 - clock.now());
    world.book = true;
    await clock.advance(4 * POLL);
    recorder.stop();
    const gap = { from: readAt[count - 1], to: readAt[count], why: 'no book could be read' };
    expect(gapsIn(told)).toEqual(isGap ? [gap] : []);
  });

  test('that stops while no book can be read has a gap up to its last trade', async () => {
    const { clock, recorder, world, told, readAt } = recording();
    await clock.advance(4 * POLL + 10);
    world.book = false;
    await clock.advance(20 * POLL);
    const createdAt = clock.now();
    world.trades = [{ book: RULES.book, tid: '7', createdAt, price: '100', amount: '0.5', makerSide: 'buy' }];
    await clock.advance(2 * POLL);
    recorder.stop();
    expect(gapsIn(told)).toEqual([{ from: readAt.at(-1), to: createdAt, why: 'no book could be read' }]);
  });

  test('names what it could not record: trades without a row, and levels and trades between two ticks', async () => {
    const { clock, recorder, world, log, told, readAt, side } = recording();
    await clock.advance(4 * POLL + 10);
    const trade = (tid: number, price: string): PublicTrade => ({
      ...{ book: RULES.book, tid: String(tid), createdAt: clock.now(), price, amount: '0.5', makerSide: 'buy' },
    });
    const from = readAt.at(-1);
    world.bids = side('100', '95', '94');
    world.trades = [trade(7, '100'), trade(8, '101')];
    world.unreadable = [{ why: 'price: expected digits' }];
    await clock.advance(2 * POLL);
    recorder.stop();
    const since = readAt.findIndex(at => at === from);
    expect(log).toEqual([
      expect.stringMatching(/^btc_mxn: a trade could not be read and is missing in the recording: .*expected digits/),
    ]);
    expect(gapsIn(told)).toEqual([{ from, to: readAt[since + 1], why: 'some trades could not be read' }]);
    const books = readAt.length - since - 1;
    expect(told.slice(-2)).toEqual([
      { what: 'levels with a price between two ticks', count: 2 * books, done: 'left out' },
      { what: 'trades with a price between two ticks', count: 1, done: 'left out' },
    ]);
    expect(told.filter(one => Array.isArray(one) && one[0] === KIND.trade).map(one => (one as number[])[1])).toEqual([
      7,
    ]);
  });

  test.each([
    [null, false],
    [AT - 60_000, true],
  ])('goes on with a tape whose last row is of %s with a gap: %s', async (resumedFrom, isGap) => {
    const { clock, recorder, told, readAt } = recording(resumedFrom);
    await clock.advance(4 * POLL);
    recorder.stop();
    expect(gapsIn(told)).toEqual(
      isGap ? [{ from: resumedFrom, to: readAt[0], why: 'the recorder was not running' }] : [],
    );
  });

  test('says once per read why it does not know the rules of its book, and takes rules of its book only', async () => {
    const { clock, recorder, world, log, told } = recording();
    world.books = [listed({ book: 'eth_mxn', tickSize: '7' }), listed()];
    await clock.advance(10_010);
    expect(log).toEqual([]);
    world.books = [listed({ book: 'eth_mxn' })];
    await clock.advance(10_000);
    world.unreadableBooks = [{ book: 'eth_mxn', why: 'not this one' }];
    await clock.advance(10_000);
    world.unreadableBooks = [{ book: RULES.book, why: 'tickSize: expected a decimal' }];
    await clock.advance(10_000);
    world.books = [listed({ tickSize: '5' })];
    await clock.advance(20_000);
    recorder.stop();
    expect(log).toEqual([
      'btc_mxn: the exchange no longer lists the book',
      'btc_mxn: the exchange no longer lists the book',
      'btc_mxn: the rules of the book cannot be read: tickSize: expected a decimal',
      'btc_mxn: the exchange changed the rules of the book (tick size 10 before, 5 now)',
    ]);
    expect(told.filter(one => Array.isArray(one) && one[0] === 'rules').map(one => (one as unknown[])[1])).toEqual([
      '5',
    ]);
  });
});
