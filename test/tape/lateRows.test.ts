/** Rows that come late, and whole books that follow each other, in the format of Tardis and by mapping: nothing is lost, moved or mixed in silence. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findRecording, KIND, mappedRecording, RecordedBook, type Tape } from '../../src/tape/index.ts';
import { importRecording, type ImportReport } from '../../src/tape/import/recording.ts';
import { TapeBuilder, type Columns } from '../../src/tape/model/tape.ts';
import { withFolder } from './folder.ts';

const START = 1_700_000_000_000;
const BOOK_NAME = 'x_incremental_book_L2_2023-11-14_BTCUSDT.csv';
const TRADES_NAME = 'x_trades_2023-11-14_BTCUSDT.csv';
const BOOK_HEADER = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount';
const TRADES_HEADER = 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount';
const BOOK = [
  BOOK_HEADER,
  `x,BTCUSDT,${START}000,${START}000,true,bid,100,5`,
  `x,BTCUSDT,${START}000,${START}000,true,ask,101,5`,
].join('\n');
const MAPPING =
  'book: btc_usdt\ntick: 1\ntables:\n  - files: x_incr*\n    kind: levels\n    time: { column: timestamp, unit: us }\n    side: { column: side, buy: [bid], sell: [ask] }\n    price: price\n    amount: amount\n    snapshot: { column: is_snapshot, words: [true] }\n  - files: x_trades*\n    kind: trades\n    time: { column: timestamp, unit: us }\n    side: { column: side, buy: [buy], sell: [sell] }\n    price: price\n    amount: amount\n    id: id\n';

type Found = { readonly columns: Columns; readonly report: ImportReport };

/** As one of the two formats. Without a bound rows stay where they are. */
const imported = (files: Readonly<Record<string, string>>, isMapped: boolean, sortMs?: number): Promise<Found> =>
  withFolder({ ...files, 'my.yaml': MAPPING }, async folder => {
    const recording = isMapped
      ? await mappedRecording(folder, join(folder, 'my.yaml'))
      : await findRecording(folder, { format: 'tardis', tick: '1' });
    const rows = new TapeBuilder();
    const report = await importRecording(
      recording,
      { append: of => rows.append(of), gap: () => undefined },
      undefined,
      {
        sortMs,
      },
    );
    return { columns: rows.columns(), report };
  });

const tradeLine = (ms: number, id: number, receivedMs: number) =>
  `x,BTCUSDT,${START + ms}000,${START + receivedMs}000,${id},${id % 2 === 0 ? 'buy' : 'sell'},101,1`;
const tradesOf = ({ columns: { kind, at, id, length } }: Pick<Tape, 'columns'>) =>
  Array.from({ length }, (_, row) => row)
    .filter(row => kind[row] === KIND.trade)
    .map(row => [at[row]! - START, id[row]] as const);

describe('rows that come late', () => {
  test('are put in their place where they come late by no more than the bound, however they are mixed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ step: fc.integer({ min: 0, max: 90_000 }), late: fc.integer({ min: 0, max: 400_000 }) }), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.boolean(),
        async (trades, isMapped) => {
          let ms = 0;
          const told = trades.map(({ step, late }, i) => ({ ms: (ms += step + 1), id: i + 1, received: ms + late }));
          const lines = [...told]
            .sort((a, b) => a.received - b.received)
            .map(one => tradeLine(one.ms, one.id, one.received));
          const files = { [BOOK_NAME]: BOOK, [TRADES_NAME]: [TRADES_HEADER, ...lines].join('\n') };
          const { columns, report } = await imported(files, isMapped, 400_000);
          expect(tradesOf({ columns })).toEqual(told.map(one => [one.ms, one.id]));
          const outOfOrder =
            lines.length > 1 &&
            lines.join('\n') !== told.map(one => tradeLine(one.ms, one.id, one.received)).join('\n');
          expect(report.dirt.some(({ what }) => what === 'rows out of order')).toBe(outOfOrder);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('by minutes are left out and named, where they are few; the others are as they were', async () => {
    for (const isMapped of [true, false]) {
      const lines = Array.from({ length: 300 }, (_, i) => tradeLine((i + 1) * 1_000, i + 1, (i + 1) * 1_000));
      const late = tradeLine(5_000, 999, 299_000);
      const withLate = [...lines.slice(0, 298), late, ...lines.slice(298)];
      const { columns, report } = await imported(
        { [BOOK_NAME]: BOOK, [TRADES_NAME]: [TRADES_HEADER, ...withLate].join('\n') },
        isMapped,
      );
      expect(tradesOf({ columns })).toEqual(lines.map((_, i) => [(i + 1) * 1_000, i + 1]));
      expect(report.dirt).toContainEqual(
        expect.objectContaining({
          what: 'lines more than a minute earlier than a previous row',
          count: 1,
          first: expect.stringMatching(/trades_2023-11-14_BTCUSDT\.csv:300$/) as string,
        }),
      );
    }
  });

  test('and are many refuse the file: it is not sorted', async () => {
    const lines = Array.from({ length: 300 }, (_, i) => tradeLine((300 - i) * 1_000, i + 1, (300 - i) * 1_000));
    const files = { [BOOK_NAME]: BOOK, [TRADES_NAME]: [TRADES_HEADER, ...lines].join('\n') };
    await expect(imported(files, false)).rejects.toThrow(
      /the row is \d+\.\d s earlier than a previous row; sort the rows by exchange time first, or use --sort 10m \(\d+ of 303 lines cannot be read\)/,
    );
  });
});

describe('whole books that follow each other', () => {
  const level = fc.record({ away: fc.integer({ min: 0, max: 5 }), lots: fc.integer({ min: 1, max: 9 }) });
  const levels = fc.uniqueArray(level, { minLength: 1, maxLength: 5, selector: ({ away }) => away });
  const whole = fc.record({
    middle: fc.integer({ min: 90, max: 110 }),
    bids: levels,
    asks: levels,
    /** Received in two parts, or as one. */
    parts: fc.boolean(),
    updates: fc.array(level, { maxLength: 2 }),
  });

  test('are as many books on the tape, each with its own levels alone, with or without updates between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(whole, { minLength: 1, maxLength: 12 }), async books => {
        const lines: string[] = [];
        const expected: string[][] = [];
        for (const [i, { middle, bids, asks, parts, updates }] of books.entries()) {
          const at = START + i * 1_000;
          const bid = new Map(bids.map(({ away, lots }) => [middle - 1 - away, lots]));
          const ask = new Map(asks.map(({ away, lots }) => [middle + away, lots]));
          const line = (side: string, price: number, lots: number, local: number, isSnapshot = true, time = at) =>
            `x,BTCUSDT,${time}000,${local}000,${isSnapshot},${side},${price},${lots}`;
          lines.push(
            ...[...bid].map(([price, lots]) => line('bid', price, lots, at + 5)),
            ...[...ask].map(([price, lots]) => line('ask', price, lots, at + (parts ? 6 : 5))),
          );
          expected.push(rowsOf(bid, ask));
          for (const [n, { away, lots }] of updates.entries()) {
            const time = at + 10 + n;
            ask.set(middle + away, lots);
            lines.push(line('ask', middle + away, lots, time + 5, false, time));
            expected.push(rowsOf(bid, ask));
          }
        }
        const { columns } = await imported({ [BOOK_NAME]: [BOOK_HEADER, ...lines].join('\n') }, false);
        expect(columns.kind.filter(kind => kind === KIND.clear)).toHaveLength(books.length);
        const book = new RecordedBook(columns);
        const found: string[][] = [];
        for (let row = 0; row < columns.length; row++) {
          book.apply(row);
          if (row + 1 < columns.length && columns.at[row + 1] === columns.at[row]) continue;
          found.push(
            [book.bids, book.asks].flatMap(side =>
              Array.from({ length: side.length }, (_, n) => `${side.priceAt(n)} x ${side.amountAt(n) / 1e8}`),
            ),
          );
        }
        expect(found).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  const rowsOf = (bids: ReadonlyMap<number, number>, asks: ReadonlyMap<number, number>): string[] =>
    [[...bids].sort(([a], [b]) => b - a), [...asks].sort(([a], [b]) => a - b)]
      .flat()
      .map(([price, lots]) => `${price} x ${lots}`);
});
