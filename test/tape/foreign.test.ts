/** Recordings that other programs wrote: every row comes back, whatever was in it, and nothing that cannot be read ends in silence or in a crash. */
import { createWriteStream, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import yazl from 'yazl';
import { importTape } from '../../src/app/tapes/import.ts';
import { amount, price, textOfAmount, textOfPrice } from '../../src/core/index.ts';
import {
  findRecording,
  formats,
  KIND,
  openTape,
  importRecording,
  RecordedBook,
  SIDE,
  type ImportReport,
  type Tape,
} from '../../src/tape/index.ts';
import { tapeRules } from '../../src/tape/model/tapeRules.ts';
import { itOnRecording, withFolder } from './folder.ts';
import { NO_PROGRESS } from '../app/noProgress.ts';
import { runsOf } from '../many.ts';

const { instrument: CENT } = tapeRules('eth_usd', '0.01');
const p = (ticks: number) => textOfPrice(CENT, price(ticks));
const a = (lots: number) => textOfAmount(CENT, amount(lots));
const RUNS = runsOf(15, 5);

type PlainRow = readonly number[];
const rowsOf = ({ columns: { length, kind, side, at, local, price: prices, amount: amounts } }: Tape): PlainRow[] =>
  Array.from({ length }, (_, i) => [kind[i]!, side[i]!, at[i]!, local[i]!, prices[i]!, amounts[i]!]);
const flawsIn = ({ flaws }: Pick<Tape, 'flaws'>) => Object.fromEntries(flaws.map(({ what, count }) => [what, count]));
const report = (path: string, given = {}): Promise<ImportReport> =>
  findRecording(path, given).then(recording =>
    importRecording(recording, { append: () => undefined, gap: () => undefined }),
  );

const START = 1_700_000_000_000_000;
const change = fc.record({
  wait: fc.integer({ min: 0, max: 5_000_000 }),
  way: fc.integer({ min: 0, max: 300_000 }),
  side: fc.constantFrom<0 | 1>(SIDE.buy, SIDE.sell),
  ticks: fc.integer({ min: 1, max: 400_000 }),
  lots: fc.integer({ min: 0, max: 10 ** 12 }),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
/** With absolute times in microseconds. */
const timed = (changes: readonly Change[]) => {
  let at = START;
  return changes.map(one => ({ ...one, at: (at += one.wait), local: at + one.way }));
};

const L2 = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount';
const TRADES = 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount';
const l2Row = (snapshot: boolean, { at, local, side, ticks, lots }: ReturnType<typeof timed>[number]) =>
  `bitso,ETHUSD,${at},${local},${snapshot},${side === SIDE.buy ? 'bid' : 'ask'},${p(ticks)},${a(lots)}`;

describe('Tardis files', () => {
  it('give back every update and trade, with both times to the microsecond', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 40 }),
        fc.array(change, { maxLength: 20 }),
        async (updates, takers) => {
          const books = timed(updates);
          const trades = timed(takers);
          const files = {
            'x_incremental_book_L2_2023-11-14_ETHUSD.csv.gz': [L2, ...books.map((row, i) => l2Row(i === 0, row))].join(
              '\n',
            ),
            'x_trades_2023-11-14_ETHUSD.csv': [
              TRADES,
              ...trades.map(
                ({ at, local, side, ticks, lots }, i) =>
                  `bitso,ETHUSD,${at},${local},${i + 1},${side === SIDE.buy ? 'buy' : 'sell'},${p(ticks)},${a(lots)}`,
              ),
            ].join('\n'),
          };
          const tape = await withFolder(files, dir => openTape(dir));
          expect(tape.instrument.symbol).toBe('eth_usd');
          const told = (kind: number) => rowsOf(tape).filter(row => row[0] === kind);
          const inTicks = (ticks: number) => Math.round((ticks * 0.01) / Number(tape.instrument.tick));
          const expected = (kind: number) => (row: ReturnType<typeof timed>[number]) => [
            kind,
            row.side,
            row.at / 1000,
            row.local / 1000,
            inTicks(row.ticks),
            row.lots,
          ];
          expect(told(KIND.level)).toEqual(books.map(expected(KIND.level)));
          expect(told(KIND.trade)).toEqual(trades.filter(({ at }) => at >= books[0]!.at).map(expected(KIND.trade)));
          expect(told(KIND.clear)).toHaveLength(1);
        },
      ),
      RUNS,
    );
  });

  it('begin anew at a snapshot, leave out what was buffered before the first, and tell of a silent stretch', async () => {
    const rows = timed([
      { wait: 0, way: 5, side: SIDE.buy, ticks: 90, lots: 1 },
      { wait: 1, way: 5, side: SIDE.buy, ticks: 100, lots: 1 },
      { wait: 0, way: 5, side: SIDE.sell, ticks: 110, lots: 1 },
      { wait: 1_000_000, way: 5, side: SIDE.buy, ticks: 101, lots: 1 },
      { wait: 86_400_000_000, way: 5, side: SIDE.buy, ticks: 102, lots: 1 },
    ]);
    const snapshots = [false, true, true, false, true];
    const text = [L2, ...rows.map((row, i) => l2Row(snapshots[i]!, row))].join('\n');
    const tape = await withFolder({ 'x.csv': text }, dir => openTape(dir));
    expect(flawsIn(tape)).toMatchObject({ 'updates before the first snapshot': 1 });
    expect(tape.gaps).toHaveLength(1);
    const book = new RecordedBook(tape.columns);
    for (let row = 0; row < tape.columns.length; row++) book.apply(row);
    expect([book.bids.length, book.bids.priceAt(0), book.asks.length]).toEqual([1, 102, 0]);
  });

  it('of pictures give back every level that is there', async () => {
    const levels = 25;
    const side = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 10 ** 9 })), {
      maxLength: levels,
      selector: ([ticks]) => ticks,
    });
    const header = ['exchange,symbol,timestamp,local_timestamp'];
    for (let i = 0; i < levels; i++)
      header.push(`asks[${i}].price,asks[${i}].amount,bids[${i}].price,bids[${i}].amount`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(side, side), { minLength: 1, maxLength: 8 }), async pictures => {
        const cell = (level: readonly [number, number] | undefined) => (level ? `${p(level[0])},${a(level[1])}` : ',');
        const line = ([asks, bids]: (typeof pictures)[number], n: number) =>
          [
            `x,ETH-USD,${START + n * 1000},${START + n * 1000 + 7}`,
            ...Array.from({ length: levels }, (_, i) => `${cell(asks[i])},${cell(bids[i])}`),
          ].join(',');
        const text = [header.join(','), ...pictures.map(line)].join('\n');
        const tape = await withFolder({ 'ETH-USD.csv': text }, dir => openTape(dir));
        const factor = 0.01 / Number(tape.instrument.tick);
        const of = (n: number, code: number) =>
          rowsOf(tape)
            .filter(([kind, its, at]) => kind === KIND.level && its === code && at === (START + n * 1000) / 1000)
            .map(row => [row[4], row[5]]);
        pictures.forEach(([asks, bids], n) => {
          expect(of(n, SIDE.sell)).toEqual(asks.map(([ticks, lots]) => [Math.round(ticks * factor), lots]));
          expect(of(n, SIDE.buy)).toEqual(bids.map(([ticks, lots]) => [Math.round(ticks * factor), lots]));
        });
      }),
      RUNS,
    );
  });

  it('infer a tick that every price is a multiple of, and say so; one that is given is kept to', async () => {
    const rows = timed(
      Array.from({ length: 1_200 }, (_, i) => ({
        wait: 1,
        way: 0,
        side: SIDE.buy,
        ticks: 50 * (1 + (i % 700)),
        lots: 1,
      })),
    );
    const text = [L2, ...rows.map(row => l2Row(true, row))].join('\n');
    await withFolder({ 'x.csv': text }, async dir => {
      const inferred = await report(dir);
      expect([inferred.tick, inferred.notes[0]]).toEqual([
        '0.5',
        'tick size 0.5 was inferred from the prices (override with --tick)',
      ]);
      expect((await report(dir, { tick: '0.25' })).tick).toBe('0.25');
      await expect(report(dir, { tick: '1' })).rejects.toThrow(/x\.csv: line 2: price 0\.50 is not a multiple/);
    });
  });

  it('of two instruments in one file are two books', async () => {
    const [row] = timed([{ wait: 0, way: 0, side: SIDE.buy, ticks: 5, lots: 1 }]);
    const text = [L2, l2Row(true, row!), l2Row(true, row!).replace('ETHUSD', 'BTCUSD')].join('\n');
    await expect(withFolder({ 'x.csv': text }, dir => report(dir))).rejects.toThrow(
      /has several books; choose one of: eth_usd, btc_usd$/,
    );
  });

  it('of another instrument far down in the file of one are refused by line', async () => {
    const [row] = timed([{ wait: 0, way: 0, side: SIDE.buy, ticks: 5, lots: 1 }]);
    const one = l2Row(true, row!);
    const text = [L2, ...Array<string>(1_500).fill(one), one.replace('ETHUSD', 'BTCUSD')].join('\n');
    await expect(withFolder({ 'x.csv': text }, dir => report(dir))).rejects.toThrow(
      /x\.csv: line 1502: expected rows of ETHUSD, found "BTCUSD"/,
    );
  });

  it('whose time jumps back by more than a minute are refused by line, a little is mended and counted', async () => {
    const [first, second] = timed([
      { wait: 0, way: 0, side: SIDE.buy, ticks: 5, lots: 1 },
      { wait: 90_000_000, way: 0, side: SIDE.buy, ticks: 6, lots: 1 },
    ]);
    const text = [L2, l2Row(true, second!), l2Row(true, first!)].join('\n');
    await expect(withFolder({ 'x.csv': text }, dir => report(dir))).rejects.toThrow(
      /line 3: the row is 90\.0 s earlier than a previous row/,
    );
    const near = [L2, l2Row(true, { ...second!, at: first!.at + 5_000 }), l2Row(false, first!)].join('\n');
    const { dirt } = await withFolder({ 'x.csv': near }, dir => report(dir));
    expect(dirt.find(({ what }) => what === 'times going backwards')).toMatchObject({ count: 1 });
    expect(dirt[0]?.first).toMatch(/x\.csv:3$/);
  });
});

const FIELDS = ['ev', 'exch_ts', 'local_ts', 'px', 'qty', 'order_id', 'ival', 'fval'];
const TYPES = ['<u8', '<i8', '<i8', '<f8', '<f8', '<u8', '<i8', '<f8'];
type Event = { flags: number; at: bigint; local: bigint; px: number; qty: number; id?: bigint };
const BUY = 1 << 29;
const SELL = 1 << 28;
const BOTH = 2 ** 31 + (1 << 30);

function npy(
  events: readonly Event[],
  descr = FIELDS.map((name, i) => `('${name}', '${TYPES[i]}')`).join(', '),
): Buffer {
  const text = `{'descr': [${descr}], 'fortran_order': False, 'shape': (${events.length},), }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11 + 53, ' ') + '\n';
  const head = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${padded}`, 'latin1');
  head.writeUInt16LE(padded.length, 8);
  const body = Buffer.alloc(events.length * 64);
  events.forEach(({ flags, at, local, px, qty, id = 0n }, i) => {
    body.writeBigUInt64LE(BigInt(flags), i * 64);
    body.writeBigInt64LE(at, i * 64 + 8);
    body.writeBigInt64LE(local, i * 64 + 16);
    body.writeDoubleLE(px, i * 64 + 24);
    body.writeDoubleLE(qty, i * 64 + 32);
    body.writeBigUInt64LE(id, i * 64 + 40);
  });
  return Buffer.concat([head, body]);
}

async function npz(path: string, array: Buffer): Promise<void> {
  const zip = new yazl.ZipFile();
  zip.addBuffer(array, 'data.npy', { forceZip64Format: true });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}

describe('hftbacktest arrays', () => {
  const event = (kind: number, extra: number, { at, local, ticks, lots }: ReturnType<typeof timed>[number]): Event => ({
    flags: BOTH + extra + kind,
    at: BigInt(at) * 1000n,
    local: BigInt(local) * 1000n,
    px: ticks * 0.01,
    qty: lots * 1e-8,
  });
  const sideOf = (side: number) => (side === SIDE.buy ? BUY : SELL);
  const given = { book: 'eth_usd', tick: '0.01', lot: '0.00000001' };

  it('give back every level and trade, whichever doubles they were written as', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(change, fc.boolean()), { minLength: 1, maxLength: 60 }), async all => {
        const rows = timed(all.map(([one]) => one));
        const events = rows.map((row, i) => event(all[i]![1] && i > 0 ? 2 : i === 0 ? 4 : 1, sideOf(row.side), row));
        await withFolder({}, async dir => {
          await npz(join(dir, 'x.npz'), npy(events));
          const recording = await findRecording(dir, given);
          const found: PlainRow[] = [];
          await importRecording(recording, {
            append: ({ length, kind, side, at, local, price: prices, amount: amounts }) => {
              for (let i = 0; i < length; i++)
                found.push([kind[i]!, side[i]!, at[i]!, local[i]!, prices[i]!, amounts[i]!]);
            },
            gap: () => undefined,
          });
          expect(found).toEqual(
            rows.map(({ side, at, local, ticks, lots }, i) => [
              all[i]![1] && i > 0 ? KIND.trade : KIND.level,
              side,
              at / 1000,
              local / 1000,
              ticks,
              lots,
            ]),
          );
        });
      }),
      RUNS,
    );
  });

  const depth = (flags: number, px: number, qty: number, at = 1n, id = 0n): Event => ({
    flags,
    at: at * 1_000_000n,
    local: at * 1_000_000n,
    px,
    qty,
    id,
  });
  const bookAfter = async (events: readonly Event[]) =>
    withFolder({}, async dir => {
      writeFileSync(join(dir, 'x.npy'), npy(events));
      const tape = await openTape(dir, { book: 'eth_usd' });
      const book = new RecordedBook(tape.columns);
      for (let row = 0; row < tape.columns.length; row++) book.apply(row);
      const side = (of: typeof book.bids) =>
        Array.from({ length: of.length }, (_, i) => [of.priceAt(i), of.amountAt(i)]);
      return { bids: side(book.bids), asks: side(book.asks), tape };
    });

  it('clear a side down to the price that they name, and no further', async () => {
    const { bids, asks } = await bookAfter([
      ...[5, 6, 7, 8].map(px => depth(BOTH + BUY + 1, px, 1)),
      depth(BOTH + SELL + 1, 9, 1),
      depth(BOTH + BUY + 3, 7, 0, 2n),
    ]);
    expect(bids.map(([ticks]) => ticks)).toEqual([6, 5]);
    expect(asks).toHaveLength(1);
  });

  it('tell single orders, numbered anew because their ids have 64 bits', async () => {
    const big = 2n ** 63n;
    const { bids, tape } = await bookAfter([
      depth(BOTH + BUY + 10, 5, 2, 1n, big),
      depth(BOTH + BUY + 10, 6, 3, 2n, big + 1n),
      depth(BOTH + BUY + 12, 6, 1, 3n, big + 1n),
      depth(BOTH + BUY + 11, 5, 0, 4n, big),
      depth(BOTH + BUY + 11, 5, 0, 5n, 77n),
    ]);
    expect(bids).toEqual([[6, 100_000_000]]);
    expect(flawsIn(tape)['changes of unknown orders']).toBe(1);
    expect([...new Set(tape.columns.id)]).toEqual([1, 2]);
  });

  it('count each event once, where it stands in the file once for each clock', async () => {
    const { bids, tape } = await bookAfter([depth(2 ** 31 + BUY + 1, 5, 2), depth((1 << 30) + BUY + 1, 5, 2)]);
    expect(bids).toEqual([[5, 200_000_000]]);
    expect(tape.columns.length).toBe(1);
    expect(flawsIn(tape)['records that apply only to the local clock']).toBe(1);
  });

  it.each([
    ['cut off', npy([depth(BOTH + BUY + 1, 5, 2)]).subarray(0, -1), /x\.npy: the file ends early: 1 record is missing/],
    ['of other fields', npy([], "('px', '<f8')"), /x\.npy: expected records with the fields ev u8, .* found px f8/],
    ['that are none', Buffer.from('hello world, this is no array'), /x\.npy: not a numpy array/],
    ['of nothing', npy([]), /no records/],
  ])('%s are refused by name', async (_what, bytes, message) => {
    await withFolder({}, async dir => {
      writeFileSync(join(dir, 'x.npy'), bytes);
      await expect(report(dir, given)).rejects.toThrow(message);
    });
  });

  it('in a zip that is damaged are refused by name', async () => {
    await withFolder({ 'x.npz': 'PK and then nothing of a zip' }, async dir => {
      await expect(report(dir, given)).rejects.toThrow(/x\.npz: /);
    });
  });

  it('need a book that only a person knows', async () => {
    await withFolder({ 'x.npz': 'x' }, async dir => {
      await expect(report(dir)).rejects.toThrow(/the recording does not name its book; give the name with --book/);
    });
  });
});

describe('recorded replies of the exchange', () => {
  const iso = (ms: number) => new Date(ms).toISOString();
  const MS = 1_767_225_600_000;
  const entries = (levels: readonly (readonly [number, number])[]) =>
    levels.map(([ticks, lots]) => ({ book: 'eth_usd', price: p(ticks), amount: a(lots) }));
  const level = fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 10 ** 9 }));
  const side = (offset: number) =>
    fc
      .uniqueArray(level, { maxLength: 5, selector: ([ticks]) => ticks })
      .map(all => all.map(([ticks, lots]) => [ticks + offset, lots] as const));

  it('give back every book and, of pages that overlap, every trade once', async () => {
    const trade = fc.record({
      ticks: fc.integer({ min: 1, max: 100 }),
      lots: fc.integer({ min: 1, max: 10 ** 9 }),
      buy: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(side(1_000), side(2_000), fc.array(trade, { maxLength: 3 })), {
          minLength: 1,
          maxLength: 10,
        }),
        async turns => {
          let tid = 0;
          const all: { tid: number; at: number; ticks: number; lots: number; buy: boolean }[] = [];
          const lines = turns.flatMap(([bids, asks, trades], n) => {
            const at = MS + n * 2_000;
            for (const one of trades) all.push({ ...one, tid: ++tid, at });
            const page = all.slice(-20).reverse();
            const book = {
              success: true,
              payload: { updated_at: iso(at), sequence: `${n + 1}`, bids: entries(bids), asks: entries(asks) },
            };
            const tape = {
              success: true,
              payload: page.map(({ tid: id, at: when, ticks, lots, buy }) => ({
                book: 'eth_usd',
                tid: id,
                created_at: iso(when).replace('.000Z', '+0000'),
                price: p(ticks),
                amount: a(lots),
                maker_side: buy ? 'sell' : 'buy',
              })),
            };
            const bodies = [JSON.stringify(tape), book] as const;
            return [
              JSON.stringify({ at: at + 90, path: '/api/v3/trades?book=eth_usd', body: bodies[0] }),
              JSON.stringify({ at: iso(at + 95), url: 'https://x/api/v3/order_book?book=eth_usd', body: bodies[1] }),
            ];
          });
          const tape = await withFolder({ 'x.jsonl.gz': lines.join('\n') }, dir => openTape(dir));
          const factor = 0.01 / Number(tape.instrument.tick);
          const levels = rowsOf(tape).filter(([kind]) => kind === KIND.level);
          expect(levels).toEqual(
            turns.flatMap(([bids, asks], n) =>
              [...bids.map(one => [SIDE.buy, ...one]), ...asks.map(one => [SIDE.sell, ...one])].map(
                ([code, ticks, lots]) => [
                  KIND.level,
                  code,
                  MS + n * 2_000,
                  MS + n * 2_000 + 95,
                  Math.round(ticks! * factor),
                  lots,
                ],
              ),
            ),
          );
          // Trades stand before the book of their time: those of the first second have no book behind them.
          const known = all.filter(({ at }) => at > MS);
          expect(
            rowsOf(tape)
              .filter(([kind]) => kind === KIND.trade)
              .map(row => row.slice(4)),
          ).toEqual(known.map(({ ticks, lots }) => [Math.round(ticks * factor), lots]));
        },
      ),
      RUNS,
    );
  });

  const book = (sequence: number, at: number, bid = 100, ask = 110) =>
    JSON.stringify({
      success: true,
      payload: { updated_at: iso(at), sequence, bids: entries([[bid, 5]]), asks: entries([[ask, 5]]) },
    });
  const rules = (tick: string) =>
    JSON.stringify({
      success: true,
      payload: [
        {
          book: 'eth_usd',
          tick_size: tick,
          minimum_amount: '0.001',
          maximum_amount: '100',
          minimum_price: '0.1',
          maximum_price: '10000',
          minimum_value: '5',
          maximum_value: '1000000',
        },
      ],
    });

  it('say that rules changed that a replay keeps', async () => {
    const later = rules('1').replace('"minimum_amount":"0.001"', '"minimum_amount":"0.01"');
    const notesOf = (...lines: readonly string[]) =>
      withFolder({ 'a.jsonl': lines.join('\n') }, async dir => (await findRecording(dir)).notes);
    const note = 'the rules of the book changed 1 time during the recording; a replay keeps the rules of its start';
    expect(await notesOf(rules('1'), book(1, MS), later, book(2, MS + 1_000))).toContain(note);
    expect(await notesOf(rules('1'), book(1, MS), rules('1'), book(2, MS + 1_000))).not.toContain(note);
  });

  it('have each trade once, from the first reply that shows it, whether replies come late, twice, by pages, or with trades of other books', async () => {
    const TRADES = 60;
    const tradeOf = (tid: number) => ({ at: MS + 1_000 * tid, ticks: 100 + (tid % 7), lots: tid, buy: tid % 3 === 0 });
    const reply = fc.record({
      newest: fc.integer({ min: 1, max: TRADES }),
      count: fc.integer({ min: 1, max: 25 }),
      isAscending: fc.boolean(),
      isPage: fc.boolean(),
      /** Trades of another book in the same reply, newer and older than all. */
      others: fc.subarray([1, 30, 1_000]),
      isSpelledOut: fc.boolean(),
    });
    const rowOf = (tid: number, of: string, spelledOut: boolean) => {
      const { at, ticks, lots, buy } = tradeOf(tid);
      return {
        book: of,
        tid: spelledOut ? String(tid) : tid,
        created_at: iso(at).replace('.000Z', '+0000'),
        price: p(ticks),
        amount: a(lots),
        maker_side: buy ? 'sell' : 'buy',
      };
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(reply, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 0, max: 12 }),
        async (replies, split) => {
          const wanted: number[][] = [];
          let [newest, unconnected] = [0, 0];
          const lines = replies.map(({ isAscending, isPage, others, isSpelledOut, ...of }, i) => {
            const local = MS + 100_000 + i * 1_000;
            const first = Math.max(1, of.newest - of.count + 1);
            const ids = Array.from({ length: of.newest - first + 1 }, (_, n) => first + n);
            if (newest > 0 && !isPage && first > newest) unconnected++;
            for (const tid of ids.filter(id => id > newest)) {
              const { at, ticks, lots, buy } = tradeOf(tid);
              wanted.push([tid, buy ? SIDE.buy : SIDE.sell, at, local, ticks, lots]);
            }
            newest = Math.max(newest, of.newest);
            const rows = ids.map(tid => rowOf(tid, 'eth_usd', isSpelledOut));
            const payload = [
              ...(isAscending ? rows : rows.reverse()),
              ...others.map(tid => rowOf(tid, 'btc_usd', isSpelledOut)),
            ];
            const path = `/api/v3/trades?book=eth_usd${isPage ? `&marker=${first - 1}` : ''}`;
            return JSON.stringify({ at: local, path, body: { success: true, payload } });
          });
          const [one, two] = [lines.slice(0, split), lines.slice(split)];
          const files = {
            'a.jsonl': [rules('0.01'), book(1, MS), ...one].join('\n'),
            'b.jsonl': [...two, ''].join('\n'),
          };
          const { 'a.jsonl': start } = files;
          const tape = await withFolder(two.length > 0 ? files : { 'a.jsonl': start }, dir => openTape(dir));
          const { id } = tape.columns;
          const trades = rowsOf(tape).flatMap(([kind, ...row], i) => (kind === KIND.trade ? [[id[i]!, ...row]] : []));
          expect(trades).toEqual(wanted);
          expect(flawsIn(tape)['trade replies that share no trade with the previous reply'] ?? 0).toBe(unconnected);
        },
      ),
      runsOf(100, 25),
    );
  });

  it('take the rules from the recording, and leave out books that say nothing new or come late', async () => {
    const lines = [rules('0.05'), book(5, MS), book(5, MS + 1_000), book(4, MS + 2_000), book(7, MS + 60_000)];
    await withFolder({ 'x.jsonl': lines.join('\n') }, async dir => {
      const tape = await openTape(dir);
      expect([tape.instrument.tick, tape.rules.minimumValue]).toEqual(['0.05', '5']);
      expect(tape.columns.kind.filter(kind => kind === KIND.clear)).toHaveLength(2);
      expect(tape.gaps).toEqual([{ from: MS + 1_000, to: MS + 60_000, why: 'no book during the gap' }]);
      expect(flawsIn(tape)).toMatchObject({
        'repeated reads of an unchanged book': 1,
        'books older than the previous book': 1,
      });
    });
  });

  it('count crossed, locked and one-sided books, and say where the first is', async () => {
    const lines = [book(1, MS), book(2, MS + 1_000, 120), book(3, MS + 2_000, 110), book(4, MS + 3_000, 130)];
    const { dirt } = await withFolder({ 'x.jsonl': lines.join('\n') }, dir => report(dir));
    const of = (what: string) => dirt.find(entry => entry.what === what);
    expect(of('crossed books')).toMatchObject({ count: 2 });
    expect(of('crossed books')?.first).toMatch(/x\.jsonl:2$/);
    expect(of('locked books')?.first).toMatch(/x\.jsonl:3$/);
  });

  it('skip one line in a hundred that cannot be read, with its number, and refuse a file of more', async () => {
    const many = Array.from({ length: 200 }, (_, i) => book(i + 1, MS + i * 1_000));
    const { dirt } = await withFolder({ 'x.jsonl': [...many, '{"success":tr'].join('\n') }, dir => report(dir));
    expect(dirt).toContainEqual({
      what: 'lines that cannot be read',
      count: 2,
      done: 'the line was skipped',
      first: expect.stringMatching(/x\.jsonl:201$/) as string,
    });
    await expect(
      withFolder({ 'x.jsonl': [...many.slice(0, 20), '{"success":tr'].join('\n') }, dir => report(dir)),
    ).rejects.toThrow(/x\.jsonl: line 21: /);
  });

  itOnRecording('bitso-api-fixtures', 'of other people are read: a whole file that is one reply', async dir => {
    const { book: name, trades, dirt } = await report(join(dir, 'bitso-java'));
    expect([name, trades]).toEqual(['btc_mxn', 25]);
    expect(flawsIn({ flaws: dirt })['replies without market data']).toBeGreaterThan(0);
  });
});

describe('an import', () => {
  itOnRecording(
    'bitstamp-btcusd-2015-05-01-book-orders-trades',
    'stores exactly the rows that are read in memory, with the same dirt',
    async dir => {
      const tape = await openTape(dir);
      await withFolder({}, async out => {
        const left = join(out, 'tape', '.unfinished-import-Killed');
        mkdirSync(left, { recursive: true });
        const report = await importTape({ from: dir, out: join(out, 'tape'), append: false, progress: NO_PROGRESS });
        const stored = await openTape(join(out, 'tape'));
        expect(rowsOf(stored)).toEqual(rowsOf(tape));
        expect(stored.columns.id).toEqual(tape.columns.id);
        expect(stored.flaws).toEqual(tape.flaws);
        expect([stored.depth, stored.rules]).toEqual([tape.depth, tape.rules]);
        expect(report).toMatchObject({ rows: tape.columns.length, days: 1, format: 'bitstamp' });
        expect(report.notes.at(-1)).toBe(
          `${left}: this folder belongs to an interrupted or running import; remove the folder if no import is running`,
        );
      });
    },
  );
});

describe('whatever is in a file', () => {
  const HEADS = [
    '',
    L2,
    TRADES,
    'timestamp_ms,received_ms,bids,asks',
    'time_seconds,bid_price_bid_size,ask_price_ask_size',
    'orderbook_timestamp,book,bid,ask,spread',
  ];
  const NAMES = [
    ['x.csv'],
    ['x.jsonl'],
    ['x.json'],
    ['x.npy'],
    ['x.npz'],
    ['bitstamp_btcusd_x.log'],
    ['spot_btcusdt_x.jsonl'],
    ['orderbooks_BTC.csv', 'trades_BTC.csv'],
    ['orderbook_BTC-USD_x.csv', 'trades_BTC-USD_x.csv'],
    ['gemini__eth-usd__d__market-depth.csv', 'gemini__eth-usd__d__trade.csv'],
    ['btc_mxn_2024-05-26_production.csv'],
  ];
  const junk = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.json(),
    fc.json().map(text => `1430000000000 order_book ${text}`),
    fc.json().map(text => `1430000000000 order_created ${text}`),
    fc.json().map(text => `1 {"stream":"x@depth","data":${text}}`),
    fc.json().map(text => `1 {"stream":"x@trade","data":${text}}`),
    fc.json().map(text => `{"success":true,"payload":${text}}`),
    fc.json().map(text => `{"at":1,"path":"?book=a_b","body":{"payload":{"bids":${text},"asks":[]}}}`),
    fc
      .array(fc.oneof(fc.integer(), fc.double(), fc.constantFrom('bid', 'true', '', 'x')), { maxLength: 12 })
      .map(String),
  );

  it('ends in a tape or in one line that names the file or the folder, never in anything else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...NAMES),
        fc.constantFrom(...HEADS),
        fc.array(junk, { maxLength: 6 }),
        async (names, head, lines) => {
          const files = Object.fromEntries(
            names.map(name => [name, [...(head === '' ? [] : [head]), ...lines].join('\n')]),
          );
          await withFolder(files, async dir => {
            try {
              const { rows } = await report(dir, { book: 'eth_usd' });
              expect(rows).toBeGreaterThan(0);
            } catch (error) {
              expect(error).toBeInstanceOf(Error);
              const { name, message } = error as Error;
              expect([name, message]).toEqual(['Error', expect.stringContaining(dir)]);
              expect(message).not.toContain('\n');
            }
          });
        },
      ),
      runsOf(150, 50),
    );
  });

  it('every format has a name to ask for it by, and another name is answered with them', async () => {
    expect(formats()).toContain('tardis');
    await expect(report('.', { format: 'excel' })).rejects.toThrow(
      /unknown format excel; expected one of bitso-replies, tardis/,
    );
  });
});
