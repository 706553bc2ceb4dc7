/** The recorder against the embedded exchange, in one process and in virtual time: what it writes is what happened, or is told as a gap. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { openBox } from '../../src/wiring/embedded.ts';
import {
  instrumentOf,
  randomOf,
  settle,
  VirtualClock,
  type BookRules,
  type Exchange,
  type StreamConnection,
  type StreamTransport,
} from '../../src/core/index.ts';
import { exchangeClient, marketStream } from '../../src/exchange/index.ts';
import { inProcessStream } from '../../src/sandbox/index.ts';
import {
  KIND,
  openStoredTape,
  LevelRecorder,
  RecordedBook,
  Recorder,
  rulesOf,
  SIDE,
  TapeBuilder,
  TapeWriter,
  loadStoredTape,
  type RecordSink,
  type Tape,
} from '../../src/tape/index.ts';
import { OrderRecord } from '../../src/tape/record/orderRecord.ts';
import { wireTo } from '../live/inProcess.ts';
import { sandboxConfig } from '../live/world.ts';

const BOOK = 'btc_mxn';
const SECOND = 1_000;
const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

/** A way to the stream that can be cut, and that a test's hand goes through: it returns each frame as it is to arrive, or null. */
function handled(inner: StreamTransport) {
  const open = new Set<StreamConnection>();
  const line = {
    broken: false,
    hand: (frame: string): string | null => frame,
    cut: () => {
      line.broken = true;
      for (const connection of open) connection.close();
      open.clear();
    },
    transport: {
      connect: listener => {
        const connection = inner.connect({
          open: () => (line.broken ? connection.close() : listener.open()),
          closed: why => listener.closed(why),
          text: frame => {
            const arriving = line.hand(frame);
            if (arriving !== null) listener.text(arriving);
          },
        });
        open.add(connection);
        return connection;
      },
    } satisfies StreamTransport,
  };
  return line;
}

type Levels = { readonly bids: readonly (readonly number[])[]; readonly asks: readonly (readonly number[])[] };

function worldOf(seed: number, epoch = Date.parse('2026-11-21T12:00:00Z')) {
  const clock = new VirtualClock(epoch);
  const dir = mkdtempSync(join(tmpdir(), 'puntas-record-'));
  const box = openBox(sandboxConfig(), clock, { tapes: [], seed });
  ended.push(() => {
    box.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const line = handled(inProcessStream(box.exchange.stream, clock, 0));
  const wire = wireTo({ exchange: box.exchange, clock, random: randomOf(seed) });
  const client = exchangeClient({
    clock,
    random: randomOf(seed),
    transport: wire,
    budgets: { public: 57, private: 200 },
  });
  const broken: unknown[] = [];
  const log: string[] = [];
  const time = async (ms: number) => {
    await clock.advance(ms);
    if (broken.length > 0) throw broken[0];
  };
  const payload = <T>(target: string): T =>
    (
      JSON.parse(box.exchange.respond({ method: 'GET', target, headers: {}, body: '' }, '10.0.0.9').body) as {
        payload: T;
      }
    ).payload;
  /** All public trades after the first `from`, oldest first. */
  const tradeRows = (from: number): TradeRow[] => {
    const all: TradeRow[] = [];
    for (let marker = from; ;) {
      const page = payload<TradeRow[]>(`/api/v3/trades?book=${BOOK}&sort=asc&limit=100&marker=${marker}`);
      all.push(...page);
      if (page.length < 100) return all;
      marker = page.at(-1)!.tid;
    }
  };
  const rules = async (): Promise<BookRules> => {
    const books = client.availableBooks();
    await time(200);
    const outcome = await books;
    if (outcome.kind !== 'done') throw new Error('no rules');
    return rulesOf(outcome.value.find(({ book }) => book === BOOK)!);
  };
  const writerOf = (of: BookRules) => new TapeWriter({ dir, rules: of, source: 'a test', depth: Infinity });
  // What is durable is another test's matter, and every flush waits for the disk.
  const lazily = (writer: TapeWriter): RecordSink => ({
    append: columns => writer.append(columns),
    gap: gap => writer.gap(gap),
    flaws: entries => writer.flaws(entries),
    rulesChanged: (to, at) => writer.rulesChanged(to, at),
    flush: () => undefined,
  });
  const common = {
    clock,
    log: (text: string) => void log.push(text),
    onBroken: (error: unknown) => void broken.push(error),
  };
  return {
    clock,
    dir,
    line,
    log,
    client,
    time,
    rules,
    async record(
      changes: {
        readonly exchange?: Partial<Exchange>;
        readonly checkEveryMs?: number;
        readonly rulesEveryMs?: number;
      } = {},
    ) {
      const of = await rules();
      const writer = writerOf(of);
      const recorder = new Recorder({
        ...common,
        ...changes,
        exchange: { ...client, ...changes.exchange },
        stream: marketStream({ transport: line.transport, clock, random: randomOf(seed ^ 5), book: BOOK }),
        sink: lazily(writer),
        rules: of,
        resumedFrom: writer.resumedFrom,
      });
      recorder.start();
      return { recorder, stop: () => closed(recorder, writer) };
    },
    async poll(exchange: Partial<Exchange> = {}, rulesEveryMs?: number) {
      const of = await rules();
      const writer = writerOf(of);
      const recorder = new LevelRecorder({
        ...common,
        exchange: { ...client, ...exchange },
        sink: lazily(writer),
        rules: of,
        resumedFrom: writer.resumedFrom,
        pollMs: 2_500,
        ...(rulesEveryMs !== undefined && { rulesEveryMs }),
      });
      recorder.start();
      return { recorder, stop: () => closed(recorder, writer) };
    },
    /** Lets every frame arrive that is on its way: what the exchange shows then is what was heard. */
    async quiet() {
      box.exchange.venue.set({ feedDelayMinMs: 0, feedDelayMaxMs: 0 });
      await time(200);
    },
    /** The exchange's own book now, in ticks and lots. */
    book: (): Levels => inUnits(payload(`/api/v3/order_book?book=${BOOK}&aggregate=true`)),
    /** Ids of all public trades after the first `from`, oldest first. */
    trades: (from: number): number[] => tradeRows(from).map(({ tid }) => tid),
    tradeRows,
    newest: (): number => payload<{ tid: number }[]>(`/api/v3/trades?book=${BOOK}&limit=1`)[0]?.tid ?? 0,
  };
}

type TradeRow = { readonly tid: number; readonly price: string; readonly amount: string };
type Entry = { readonly price: string; readonly amount: string | null };
const inUnits = ({ bids, asks }: { readonly bids: readonly Entry[]; readonly asks: readonly Entry[] }): Levels => {
  const side = (entries: readonly Entry[]) =>
    entries.map(({ price, amount }) => [Number(price) / 10, Math.round(Number(amount) * 1e8)]);
  return { bids: side(bids), asks: side(asks) };
};

function closed(recorder: { stop(): void }, writer: TapeWriter): void {
  recorder.stop();
  writer.close();
}

const tapeIn = (dir: string): Tape => loadStoredTape(openStoredTape(dir));
function bookOf({ columns }: Pick<Tape, 'columns'>): Levels {
  const book = new RecordedBook(columns);
  for (let row = 0; row < columns.length; row++) book.apply(row);
  const side = (of: typeof book.bids) => Array.from({ length: of.length }, (_, i) => [of.priceAt(i), of.amountAt(i)]);
  return { bids: side(book.bids), asks: side(book.asks) };
}
const idsOf = ({ columns }: Tape): number[] => [...columns.id].filter((_, row) => columns.kind[row] === KIND.trade);
const best = ({ bids, asks }: Levels, n = 50): Levels => ({ bids: bids.slice(0, n), asks: asks.slice(0, n) });

describe('a recording from the stream', () => {
  test('ends with the book that the exchange has, and has every trade once', async () => {
    const world = worldOf(1);
    const { recorder, stop } = await world.record();
    await world.time(2 * SECOND);
    const from = world.newest();
    await world.time(150 * SECOND);
    await world.quiet();
    const [book, trades] = [world.book(), world.trades(from)];
    stop();
    const tape = tapeIn(world.dir);
    expect(trades.length).toBeGreaterThan(30);
    expect(idsOf(tape).filter(id => id > from)).toEqual(trades);
    expect(best(bookOf(tape))).toEqual(best(book));
    expect(tape.gaps).toEqual([]);
    expect(recorder.status).toMatchObject({ source: 'stream', gaps: 0, trades: idsOf(tape).length });
    expect(tape.columns.side.every((side, row) => tape.columns.kind[row] !== KIND.trade || side !== SIDE.unknown)).toBe(
      true,
    );
  });

  test('has each execution before the change of the book that it made, and nothing of the book is crossed', async () => {
    const world = worldOf(2);
    const { stop } = await world.record();
    await world.time(120 * SECOND);
    stop();
    const { columns } = tapeIn(world.dir);
    const book = new RecordedBook(columns);
    let [atTouch, trades] = [0, 0];
    for (let row = 0; row < columns.length; row++) {
      if (columns.kind[row] === KIND.trade) {
        trades++;
        const touch =
          columns.side[row] === SIDE.buy
            ? book.asks.amountOf(columns.price[row]!)
            : book.bids.amountOf(columns.price[row]!);
        if (touch >= columns.amount[row]!) atTouch++;
      }
      book.apply(row);
      if (columns.at[row + 1] !== columns.at[row] && book.asks.length > 0)
        expect(book.bids.priceAt(0)).toBeLessThan(book.asks.priceAt(0));
    }
    expect(trades).toBeGreaterThan(30);
    expect(atTouch).toBe(trades);
  });

  test('tells of a break as a gap, fills in the trades of it, and goes on with the right book', async () => {
    const world = worldOf(3);
    const { recorder, stop } = await world.record();
    await world.time(30 * SECOND);
    const from = world.newest();
    world.line.cut();
    const cutAt = world.clock.now();
    await world.time(45 * SECOND);
    world.line.broken = false;
    const mendedAt = world.clock.now();
    await world.time(60 * SECOND);
    await world.quiet();
    const [book, trades] = [world.book(), world.trades(from)];
    expect(recorder.status.source).toBe('stream');
    stop();
    const tape = tapeIn(world.dir);
    expect(idsOf(tape).filter(id => id > from)).toEqual(trades);
    expect(best(bookOf(tape))).toEqual(best(book));
    // Whole books that were read meanwhile bound the gaps.
    expect(tape.gaps.length).toBeGreaterThan(2);
    expect(Math.abs(tape.gaps[0]!.from - cutAt)).toBeLessThan(5 * SECOND);
    expect(tape.gaps.at(-1)!.to).toBeGreaterThanOrEqual(mendedAt);
    tape.gaps.slice(1).forEach((gap, i) => expect(gap.from).toBe(tape.gaps[i]!.to));
    for (const { from: begin, to } of tape.gaps) expect(to - begin).toBeLessThan(20 * SECOND);
  });

  test('that stops while only trades can be read has a gap from the break to its last trade', async () => {
    const world = worldOf(3);
    let isDown = false;
    const orderBook: Exchange['orderBook'] = (...asked) =>
      isDown ? Promise.resolve({ kind: 'unknown', reason: 'by the test' }) : world.client.orderBook(...asked);
    const { stop } = await world.record({ exchange: { orderBook } });
    await world.time(30 * SECOND);
    world.line.cut();
    isDown = true;
    const cutAt = world.clock.now();
    await world.time(120 * SECOND);
    stop();
    const { columns, gaps } = tapeIn(world.dir);
    const to = columns.at[columns.length - 1]!;
    expect(to - cutAt).toBeGreaterThan(60 * SECOND);
    expect(gaps).toHaveLength(1);
    expect(Math.abs(gaps[0]!.from - cutAt)).toBeLessThan(5 * SECOND);
    expect(gaps[0]!.to).toBe(to);
  });

  test('whatever is lost, cut or garbled on the way, ends with the right book and every trade once', async () => {
    const harm = fc.record({
      after: fc.integer({ min: 1, max: 40 }),
      what: fc.constantFrom('lose a frame', 'garble a frame', 'cut', 'mend', 'empty a step'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(harm, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 1_000 }),
        async (harms, seed) => {
          const world = worldOf(seed);
          const { stop } = await world.record({ checkEveryMs: 20 * SECOND });
          await world.time(3 * SECOND);
          const from = world.newest();
          for (const { after, what } of harms) {
            await world.time(after * SECOND);
            if (what === 'cut') world.line.cut();
            else if (what === 'mend') world.line.broken = false;
            else {
              world.line.hand = frame => {
                if (!frame.includes('diff-orders') || !frame.includes('sequence')) return frame;
                world.line.hand = one => one;
                if (what === 'lose a frame') return null;
                if (what === 'garble a frame') return frame.replace('"payload"', '"playload"');
                return JSON.stringify({ ...(JSON.parse(frame) as object), payload: [] });
              };
            }
          }
          world.line.broken = false;
          world.line.hand = frame => frame;
          await world.time(150 * SECOND);
          await world.quiet();
          const [book, trades] = [world.book(), world.trades(from)];
          stop();
          const tape = tapeIn(world.dir);
          expect(idsOf(tape).filter(id => id > from)).toEqual(trades);
          expect(best(bookOf(tape))).toEqual(best(book));
          const damage = harms.some(({ what }) => what !== 'mend');
          if (!damage) expect(tape.gaps).toEqual([]);
        },
      ),
      { numRuns: 2, endOnFailure: true },
    );
  });

  test('finds a step that said too little at the next check, sets the book right, and tells since when', async () => {
    const world = worldOf(5);
    const { stop } = await world.record({ checkEveryMs: 30 * SECOND });
    await world.time(40 * SECOND);
    world.line.hand = frame =>
      frame.includes('diff-orders') && frame.includes('sequence')
        ? JSON.stringify({ ...(JSON.parse(frame) as object), payload: [] })
        : frame;
    await world.time(15 * SECOND);
    world.line.hand = frame => frame;
    await world.time(20 * SECOND);
    stop();
    const tape = tapeIn(world.dir);
    expect(tape.gaps.some(({ why }) => /the recorded book differed from the exchange in \d+ orders/.test(why))).toBe(
      true,
    );
    expect(tape.flaws.map(({ what }) => what)).toContain('recorded orders that differed from the exchange');
  });

  test('goes on with a tape that another run left: what lies between is a gap', async () => {
    const world = worldOf(6);
    const first = await world.record();
    await world.time(20 * SECOND);
    first.stop();
    const stoppedAt = world.clock.now();
    await world.time(30 * SECOND);
    const second = await world.record();
    await world.time(20 * SECOND);
    await world.quiet();
    const book = world.book();
    second.stop();
    const tape = tapeIn(world.dir);
    expect(tape.gaps).toHaveLength(1);
    expect(tape.gaps[0]).toMatchObject({ why: 'the recorder was not running' });
    expect(tape.gaps[0]!.to - stoppedAt).toBeGreaterThan(29 * SECOND);
    expect(best(bookOf(tape))).toEqual(best(book));
  });

  test('begins a new file set at midnight UTC, which is whole by itself', async () => {
    const midnight = Date.parse('2026-11-22T00:00:00Z');
    const world = worldOf(7, midnight - 30 * SECOND);
    const { stop } = await world.record();
    await world.time(90 * SECOND);
    await world.quiet();
    const book = world.book();
    stop();
    const stored = openStoredTape(world.dir);
    expect(stored.days.map(({ day, closed: isClosed }) => [day, isClosed])).toEqual([
      ['2026-11-21', true],
      ['2026-11-22', true],
    ]);
    expect(stored.gaps).toEqual([]);
    const second = loadStoredTape(openStoredTape(world.dir, { from: midnight + 10 * SECOND }));
    expect(best(bookOf(second))).toEqual(best(book));
  });

  test('has another tick from the moment the exchange says so, and its book in ticks of it', async () => {
    const world = worldOf(8);
    let changed = false;
    const availableBooks: Exchange['availableBooks'] = async () => {
      const outcome = await world.client.availableBooks();
      if (outcome.kind !== 'done' || !changed) return outcome;
      return { ...outcome, value: outcome.value.map(row => (row.book === BOOK ? { ...row, tickSize: '5' } : row)) };
    };
    const { stop } = await world.record({ exchange: { availableBooks }, rulesEveryMs: 30 * SECOND });
    await world.time(60 * SECOND);
    changed = true;
    await world.time(60 * SECOND);
    await world.quiet();
    const book = world.book();
    stop();
    const stored = openStoredTape(world.dir);
    expect(stored.rules.map(({ rules }) => rules.tickSize)).toEqual(['10', '5']);
    const changedAt = stored.rules[1]!.at;
    const after = loadStoredTape(openStoredTape(world.dir, { from: changedAt + SECOND }));
    const doubled = ({ bids, asks }: Levels): Levels => {
      const twice = (side: readonly (readonly number[])[]) => side.map(([price, lots]) => [price! * 2, lots!]);
      return { bids: twice(bids), asks: twice(asks) };
    };
    expect(best(bookOf(after))).toEqual(best(doubled(book)));
  });

  test('is durable within a second of what was heard, trades held for their steps included', async () => {
    const world = worldOf(10);
    const of = await world.rules();
    const late: number[] = [];
    let waiting: number[] = [];
    const recorder = new Recorder({
      clock: world.clock,
      exchange: world.client,
      stream: marketStream({ transport: world.line.transport, clock: world.clock, random: randomOf(1), book: BOOK }),
      sink: {
        append: ({ length, local }) => void waiting.push(...local.subarray(0, length)),
        gap: () => undefined,
        flaws: () => undefined,
        rulesChanged: () => undefined,
        flush: () => {
          late.push(...waiting.map(heard => world.clock.now() - heard));
          waiting = [];
        },
      },
      rules: of,
      resumedFrom: null,
      log: () => undefined,
      onBroken: error => expect.unreachable(String(error)),
    });
    recorder.start();
    await world.time(60 * SECOND);
    recorder.stop();
    expect(late.length).toBe(recorder.status.rows);
    expect(Math.max(...late)).toBeLessThan(SECOND);
  });

  test('with a disk that takes no more ends, and says why', async () => {
    const world = worldOf(9);
    const of = await world.rules();
    const broken: unknown[] = [];
    const full = () => {
      throw new Error('ENOSPC: no space left on device');
    };
    const recorder = new Recorder({
      clock: world.clock,
      exchange: world.client,
      stream: marketStream({ transport: world.line.transport, clock: world.clock, random: randomOf(1), book: BOOK }),
      sink: {
        append: () => undefined,
        gap: () => undefined,
        flaws: () => undefined,
        rulesChanged: () => undefined,
        flush: full,
      },
      rules: of,
      resumedFrom: null,
      log: () => undefined,
      onBroken: error => broken.push(error),
    });
    recorder.start();
    await world.clock.advance(SECOND);
    expect(String(broken[0])).toMatch(/ENOSPC/);
    await settle();
  });
});

describe('a book whose tick changes again and again', () => {
  const TICKS = ['5', '1', '2', '10'];
  const EVERY = 7 * SECOND;
  test.each(['record', 'poll'] as const)(
    'has every trade once and every level of each moment at the price that the exchange told: %s',
    async way => {
      const world = worldOf(9);
      let reads = 0;
      let polled: Levels = { bids: [], asks: [] };
      const exchange: Partial<Exchange> = {
        availableBooks: async () => {
          const outcome = await world.client.availableBooks();
          if (outcome.kind !== 'done') return outcome;
          const tickSize = TICKS[reads++ % TICKS.length]!;
          return { ...outcome, value: outcome.value.map(row => (row.book === BOOK ? { ...row, tickSize } : row)) };
        },
        orderBook: async (...of) => {
          const outcome = await world.client.orderBook(...of);
          if (outcome.kind === 'done') polled = inUnits(outcome.value);
          return outcome;
        },
      };
      const started = way === 'record' ? world.record({ exchange, rulesEveryMs: EVERY }) : world.poll(exchange, EVERY);
      const { stop } = await started;
      await world.time(3 * SECOND);
      const from = world.newest();
      await world.time(120 * SECOND);
      const told = world
        .tradeRows(from)
        .map(({ tid, price, amount }) => [tid, Number(price), Math.round(Number(amount) * 1e8)]);
      await world.time(3 * SECOND);
      await world.quiet();
      const whole = way === 'record' ? world.book() : polled;
      stop();
      const stored = openStoredTape(world.dir);
      expect(stored.rules.length).toBeGreaterThan(16);
      const recorded: number[][] = [];
      // The rows since the tick changed.
      let sameTick = new TapeBuilder();
      let before = '';
      for (const { columns, rules } of stored.chunks()) {
        const tick = Number(rules.tickSize);
        if (rules.tickSize !== before) sameTick = new TapeBuilder();
        before = rules.tickSize;
        sameTick.append(columns);
        for (let row = 0; row < columns.length; row++) {
          const [kind, price] = [columns.kind[row]!, columns.price[row]! * tick];
          if (kind === KIND.trade) recorded.push([columns.id[row]!, price, columns.amount[row]!]);
          // The exchange itself has only prices of its own tick.
          if (kind !== KIND.clear) expect(price % 10).toBe(0);
        }
      }
      const first = recorded.findIndex(([id]) => id! > from);
      expect(told.length).toBeGreaterThan(20);
      expect(recorded.slice(first, first + told.length)).toEqual(told);
      const tick = Number(stored.rules.at(-1)!.rules.tickSize);
      const inTens = (side: readonly (readonly number[])[]) =>
        side.map(([price, lots]) => [(price! * tick) / 10, lots!]);
      const { bids, asks } = bookOf({ columns: sameTick.columns() });
      expect(best({ bids: inTens(bids), asks: inTens(asks) })).toEqual(best(whole));
    },
  );
});

describe('the record of single orders', () => {
  test('takes a price that the whole book spells otherwise than the stream for the same, and another for another', () => {
    const world = { book: 'ltc_mxn', tickSize: '0.1', minimumAmount: '0.001', maximumAmount: '1000' };
    const rules = { ...world, minimumPrice: '1', maximumPrice: '100000', minimumValue: '1', maximumValue: '1000000' };
    const record = new OrderRecord(instrumentOf(rules));
    const rows: (readonly number[])[] = [];
    const row = (...of: readonly number[]) => void rows.push(of);
    record.apply({ changes: [{ kind: 'open', oid: 'a', side: 'buy', price: '1700', amount: '2' }] }, row);
    const whole = (price: string) => ({ bids: [{ oid: 'a', price, amount: '2.00000000' }], asks: [] });
    expect([record.become(whole('1700.0'), row), rows.length]).toEqual([0, 1]);
    expect(record.become(whole('1700.1'), row)).toBe(2);
  });
});

describe('a recording by polls', () => {
  test('ends with the levels of the last poll, and has every trade once', async () => {
    const world = worldOf(11);
    let polled: Levels = { bids: [], asks: [] };
    const { stop } = await world.poll({
      orderBook: async (...of) => {
        const outcome = await world.client.orderBook(...of);
        if (outcome.kind === 'done') polled = inUnits(outcome.value);
        return outcome;
      },
    });
    await world.time(3 * SECOND);
    const from = world.newest();
    await world.time(120 * SECOND);
    const trades = world.trades(from);
    await world.time(3 * SECOND);
    stop();
    const tape = tapeIn(world.dir);
    expect(trades.length).toBeGreaterThan(20);
    expect(
      idsOf(tape)
        .filter(id => id > from)
        .slice(0, trades.length),
    ).toEqual(trades);
    expect(polled.bids.length).toBeGreaterThan(10);
    expect(bookOf(tape)).toEqual(polled);
    expect(tape.gaps).toEqual([]);
  });

  test('tells of books that could not be read for a while as a gap', async () => {
    const world = worldOf(12);
    let isDown = false;
    const { stop } = await world.poll({
      orderBook: async (...of) => (isDown ? { kind: 'unknown', reason: 'by the test' } : world.client.orderBook(...of)),
    });
    await world.time(20 * SECOND);
    isDown = true;
    await world.time(30 * SECOND);
    isDown = false;
    await world.time(10 * SECOND);
    stop();
    const { gaps } = tapeIn(world.dir);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]!.to - gaps[0]!.from).toBeGreaterThan(28 * SECOND);
  });

  test('passes over a late book, and goes on with an exchange that counts its steps anew', async () => {
    const world = worldOf(13);
    let less = 0n;
    const { stop } = await world.poll({
      orderBook: async (...of) => {
        const outcome = await world.client.orderBook(...of);
        if (outcome.kind !== 'done') return outcome;
        return { ...outcome, value: { ...outcome.value, sequence: outcome.value.sequence - less } };
      },
    });
    await world.time(20 * SECOND);
    less = 10n ** 6n;
    await world.time(3 * SECOND);
    less = 0n;
    await world.time(10 * SECOND);
    less = 10n ** 6n;
    const anewAt = world.clock.now();
    await world.time(90 * SECOND);
    stop();
    const { columns, gaps } = tapeIn(world.dir);
    const levelTimes = [...columns.at].filter((_, row) => columns.kind[row] === KIND.level);
    expect(levelTimes.at(-1)! - anewAt).toBeGreaterThan(80 * SECOND);
    // Nothing is believed before a minute of growing books.
    expect(levelTimes.filter(at => at > anewAt && at < anewAt + 60 * SECOND)).toEqual([]);
    expect(gaps).toHaveLength(1);
  });
});
