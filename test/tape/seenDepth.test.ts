/** The depth of a tape is what its books show, not what the format could: what lies behind is not known to a replay. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { findRecording, mappedRecording, openStoredTape, SIDE, TapeWriter } from '../../src/tape/index.ts';
import { amount, price } from '../../src/core/index.ts';
import { bookFolder, dayOf } from '../../src/tape/format/dayFiles.ts';
import { scanDay } from '../../src/tape/format/scanDay.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { importRecording, type Recording } from '../../src/tape/import/recording.ts';
import { tapeRules } from '../../src/tape/model/tapeRules.ts';
import { withFolder } from './folder.ts';
import { runsOf } from '../many.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-depth-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const START = 1_700_000_000_000;
/** Levels of the bids and of the asks of each book. */
type Counts = readonly (readonly [number, number])[];
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

/** Formats that tell books of a depth, the most that each can show, and its files for books of so many levels. */
const FORMATS: Readonly<
  Record<
    string,
    {
      readonly most: number;
      readonly files: (counts: Counts) => Readonly<Record<string, string>>;
      readonly open?: (folder: string) => Promise<Recording>;
    }
  >
> = {
  'bitso-replies': {
    most: 50,
    files: counts => ({
      'a.jsonl': counts
        .map(([bids, asks], i) => {
          const entry = (price: number) => ({ book: 'btc_mxn', price: String(price), amount: '1' });
          return JSON.stringify({
            at: START + i * 1_000,
            path: '/api/v3/order_book?book=btc_mxn',
            body: {
              success: true,
              payload: {
                updated_at: new Date(START + i * 1_000).toISOString(),
                sequence: String(i + 1),
                bids: upTo(bids).map(n => entry(1_000 - n)),
                asks: upTo(asks).map(n => entry(1_001 + n)),
              },
            },
          });
        })
        .join('\n'),
    }),
  },
  ...Object.fromEntries(
    [5, 25].map(width => [
      `tardis book_snapshot_${width}`,
      {
        most: width,
        files: (counts: Counts) => ({
          [`x_book_snapshot_${width}_2023-11-14_BTCUSDT.csv`]: [
            `exchange,symbol,timestamp,local_timestamp,${upTo(width)
              .map(n => `asks[${n}].price,asks[${n}].amount,bids[${n}].price,bids[${n}].amount`)
              .join()}`,
            ...counts.map(([bids, asks], i) =>
              [
                'x',
                'BTCUSDT',
                `${START + i * 1_000}000`,
                `${START + i * 1_000}000`,
                ...upTo(width).flatMap(n => [
                  ...(n < asks ? [1_001 + n, 1] : ['', '']),
                  ...(n < bids ? [1_000 - n, 1] : ['', '']),
                ]),
              ].join(),
            ),
          ].join('\n'),
        }),
      },
    ]),
  ),
  'a mapping of books': {
    most: 20,
    files: counts => ({
      'a.csv': [
        ['t', ...upTo(20).flatMap(n => [`b${n}`, `bq${n}`, `a${n}`, `aq${n}`])].join(),
        ...counts.map(([bids, asks], i) =>
          [
            START + i * 1_000,
            ...upTo(20).flatMap(n => [
              ...(n < bids ? [1_000 - n, 1] : ['', '']),
              ...(n < asks ? [1_001 + n, 1] : ['', '']),
            ]),
          ].join(),
        ),
      ].join('\n'),
      'my.yaml':
        'book: btc_usd\ntick: 1\ntables:\n  - files: a.csv\n    kind: books\n    levels: 20\n    time: { column: t, unit: ms }\n    bid: b{}\n    bidAmount: bq{}\n    ask: a{}\n    askAmount: aq{}\n',
    }),
    open: folder => mappedRecording(folder, join(folder, 'my.yaml')),
  },
};

describe('the depth of a tape', () => {
  test('is that of its deepest book, whatever its format could show, in memory and stored', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(FORMATS)),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 })), {
          minLength: 1,
          maxLength: 4,
        }),
        async (name, drawn) => {
          const { most, files, open } = FORMATS[name]!;
          const counts = drawn.map(([bids, asks]) => [Math.min(bids, most), Math.min(asks, most)] as const);
          const deepest = Math.max(...counts.flat());
          const found = await withFolder(files(counts), async folder => {
            const opened = () => (open ? open(folder) : findRecording(folder, { tick: '1' }));
            const { depth } = await collectTape(await opened());
            const recording = await opened();
            const { symbol, tick, lot } = recording.instrument;
            const out = mkdtempSync(join(dir, 'tape-'));
            const writer = new TapeWriter({
              dir: out,
              rules: tapeRules(symbol, tick, lot).rules,
              source: 'a test',
              depth: recording.depth,
            });
            await importRecording(recording, writer);
            writer.close();
            const stored = openStoredTape(out);
            return [depth, stored.depth, stored.statedDepth >= stored.depth];
          });
          expect(found).toEqual([deepest, deepest, true]);
        },
      ),
      runsOf(60, 20),
    );
  });

  test('is that of the last books of each day, whether it is still recorded, was closed, was killed or was reopened', () => {
    const DAY = 86_400_000;
    const stepOf = (kind: string, levels = 1, days = 0) => ({ kind, levels, days });
    const step = fc.record({
      kind: fc.constantFrom<string>('book', 'book', 'change', 'change', 'gap', 'reopen', 'kill'),
      levels: fc.integer({ min: 1, max: 6 }),
      days: fc.constantFrom(0, 0, 1, 3),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 9 }), fc.integer({ min: 1, max: 5 }), (steps, blockRows) => {
        const options = { dir: mkdtempSync(join(dir, 'days-')), source: 'a test', depth: 8, blockRows };
        const open = () => new TapeWriter({ ...options, rules: tapeRules('btc_usd', '1').rules });
        let writer = open();
        let at = START;
        const found: { readonly day: number; depth: number; isOwn: boolean }[] = [];
        const check = () => {
          const whole = openStoredTape(options.dir);
          expect(whole.depth).toBe(Math.min(...found.map(({ depth }) => depth)));
          for (const { day, depth } of found)
            expect(openStoredTape(options.dir, { from: day * DAY, to: (day + 1) * DAY - 1 }).depth).toBe(depth);
        };
        for (const { kind, levels, days } of [stepOf('change'), ...steps]) {
          if (kind === 'book' || kind === 'change') {
            at += 1_000 + days * DAY;
            const day = Math.floor(at / DAY);
            if (found.at(-1)?.day !== day) found.push({ day, depth: found.at(-1)?.depth ?? 8, isOwn: false });
            if (kind === 'book') {
              writer.clear(at, at);
              const last = found.at(-1)!;
              last.depth = last.isOwn ? Math.max(last.depth, levels) : levels;
              last.isOwn = true;
            }
            for (const n of upTo(levels)) writer.level(at, at, SIDE.buy, price(100 - n), amount(1));
          } else if (kind === 'gap') writer.gap({ from: at, to: at + 1, why: 'by the test' });
          else {
            if (kind === 'reopen') writer.close();
            writer = open();
          }
          writer.flush();
          check();
        }
        writer.close();
        check();
        // Each closed day also records its depth, so that no reader looks for it on earlier days.
        for (const { day, depth } of found) {
          const name = dayOf(day * DAY);
          const folder = join(bookFolder(options.dir, 'btc_usd'), `day=${name}`);
          const { seenDepth } = scanDay(folder, { book: 'btc_usd', day: name, skip: false });
          expect(seenDepth).toBe(depth === 8 ? null : depth);
        }
      }),
      {
        ...runsOf(100, 12),
        examples: [
          [[stepOf('book', 3), stepOf('change', 1, 1), stepOf('change', 1, 3)], 2],
          [[stepOf('book', 3), stepOf('reopen'), stepOf('gap'), stepOf('reopen'), stepOf('change', 1, 1)], 5],
          [
            [
              stepOf('book', 3),
              stepOf('change', 1, 1),
              stepOf('kill'),
              stepOf('gap'),
              stepOf('kill'),
              stepOf('book', 2),
            ],
            1,
          ],
        ],
      },
    );
  });

  test('is that of the day with the shallowest books, and one of whole books stays whole', () => {
    const written = (depth: number, counts: readonly number[]) => {
      const out = mkdtempSync(join(dir, 'tape-'));
      const writer = new TapeWriter({ dir: out, rules: tapeRules('btc_usd', '1').rules, source: 'a test', depth });
      counts.forEach((count, day) => {
        const at = START + day * 86_400_000;
        writer.append({
          length: count + 1,
          kind: Uint8Array.from([0, ...upTo(count).map(() => 1)]),
          side: Uint8Array.from([2, ...upTo(count).map(() => 0)]),
          at: new Float64Array(count + 1).fill(at),
          local: new Float64Array(count + 1).fill(at),
          price: Float64Array.from([0, ...upTo(count).map(n => 100 - n)]),
          amount: Float64Array.from([0, ...upTo(count).map(() => 1)]),
          id: new Float64Array(count + 1),
        });
      });
      writer.close();
      return openStoredTape(out).depth;
    };
    expect(written(50, [50, 3, 50])).toBe(3);
    expect(written(50, [50, 50])).toBe(50);
    expect(written(Infinity, [2])).toBe(Infinity);
  });
});
