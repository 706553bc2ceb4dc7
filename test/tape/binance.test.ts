/** Binance's streams beyond the plain case: USD-M, COIN-M, lists, and snapshots while the book is known. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KIND, openTape, RecordedBook, type Tape } from '../../src/tape/index.ts';
import { runsOf, testInMany } from '../many.ts';
import { itOnRecording, withFolder } from './folder.ts';

type Level = readonly [string, string];
type Diff = { readonly E: number; readonly u: number; readonly b: readonly Level[]; readonly a: readonly Level[] };

const NANOS = (ms: number) => `${ms}000000`;
const snapshot = (at: number, id: number, bid: string) =>
  `${NANOS(at)} ${JSON.stringify({ lastUpdateId: id, bids: [[bid, '1']], asks: [['200.00', '1']] })}`;
const diff = (at: number, of: object, bid: string, s = 'BTCUSDT') =>
  `${NANOS(at)} ${JSON.stringify({ stream: 'x@depth', data: { e: 'depthUpdate', E: at, s, b: [[bid, '2']], a: [], ...of } })}`;
const T = 1_700_000_000_000;
const wholeBook = (at: number, id: number, bids: ReadonlyMap<number, number>) => {
  const levels = [...bids].filter(([, lots]) => lots > 0).map(([tick, lots]) => [`${tick}.00`, `${lots}`]);
  return `${NANOS(at)} ${JSON.stringify({ lastUpdateId: id, bids: levels, asks: [['200.01', '1']] })}`;
};
const levelsAt = ({ columns }: Tape, at: number) => {
  const book = new RecordedBook(columns);
  for (let row = 0; row < columns.length && columns.at[row]! <= at; row++) book.apply(row);
  return Array.from({ length: book.bids.length }, (_, i) => [book.bids.priceAt(i), book.bids.amountAt(i)]);
};

describe('Binance', () => {
  it('USD-M diffs follow each other by pu: only one that is missing is a gap, up to the next snapshot', async () => {
    const lines = [
      snapshot(T, 100, '100.00'),
      diff(T + 1, { U: 90, u: 110, pu: 80 }, '101.00'),
      diff(T + 2, { U: 150, u: 160, pu: 110 }, '102.00'),
      diff(T + 3, { U: 190, u: 200, pu: 180 }, '103.00'),
      diff(T + 4, { U: 205, u: 210, pu: 200 }, '104.00'),
      snapshot(T + 5, 212, '105.00'),
      diff(T + 6, { U: 214, u: 220, pu: 210 }, '106.00'),
      diff(T + 7, { U: 230, u: 240, pu: 220 }, '107.00'),
    ];
    const { gaps, instrument } = await withFolder({ 'usdm_btcusdt_1.jsonl': lines.join('\n') }, dir => openTape(dir));
    expect(instrument.symbol).toBe('btc_usdt');
    expect(gaps).toEqual([{ from: T + 2, to: T + 6, why: 'a diff after 160 is missing' }]);
  });

  it('with any diff missing, has outside its gaps the book that it has with the diff', async () => {
    const drawn = fc.record({
      /** Price and amount of the level that each diff changes. */
      changes: fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(2)), { minLength: 2, maxLength: 12 }),
      /** Diffs after which a snapshot of an earlier diff comes. */
      snapshots: fc.array(fc.tuple(fc.nat(11), fc.nat(3)), { maxLength: 3 }),
      missing: fc.nat(11),
      hasPu: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ changes, snapshots, missing, hasPu }) => {
        const bookAfter = (id: number) => new Map(changes.slice(0, id));
        const lines = changes.flatMap(([tick, lots], i) => {
          const ids = { U: i + 1, u: i + 1, ...(hasPu && { pu: i }), b: [[`${tick}.00`, `${lots}`]] };
          const later = snapshots.flatMap(([after, ago]) => (after === i ? [Math.max(0, i + 1 - ago)] : []));
          return [
            { i, line: diff(T + i, ids, '1.00') },
            ...later.map(id => ({ i: null, line: wholeBook(T + i, id, bookAfter(id)) })),
          ];
        });
        const opened = async (kept: readonly { readonly line: string }[]) => {
          const text = [wholeBook(T, 0, new Map()), ...kept.map(({ line }) => line)].join('\n');
          return withFolder({ 'usdm_btcusdt_1.jsonl': text }, dir => openTape(dir));
        };
        const [whole, less] = [await opened(lines), await opened(lines.filter(({ i }) => i !== missing))];
        expect(whole.gaps).toEqual([]);
        for (const at of changes.map((_, i) => T + i + 0.5)) {
          const isKnown =
            at < less.columns.at[less.columns.length - 1]! && !less.gaps.some(gap => gap.from < at && at < gap.to);
          if (isKnown) expect([at, levelsAt(less, at)]).toEqual([at, levelsAt(whole, at)]);
        }
      }),
      runsOf(400, 100),
    );
  });

  it('COIN-M is refused, with the reason', async () => {
    const lines = [snapshot(T, 100, '100.00'), diff(T + 1, { U: 90, u: 110, pu: 80 }, '101.00', 'BTCUSD_PERP')];
    await withFolder({ 'coinm_btcusd_perp_1.jsonl': lines.join('\n') }, async dir => {
      await expect(openTape(dir)).rejects.toThrow(
        /BTCUSD_PERP is a COIN-M contract: its amounts count contracts of a fixed dollar value/,
      );
    });
  });

  it('a snapshot older than the book goes under the diffs that came after it, and is no gap', async () => {
    const lines = [
      snapshot(T, 100, '100.00'),
      diff(T + 1, { U: 101, u: 110 }, '101.00'),
      diff(T + 2, { U: 111, u: 120 }, '102.00'),
      snapshot(T + 3, 110, '101.00'),
      diff(T + 4, { U: 121, u: 130 }, '103.00'),
    ];
    const { gaps, columns } = await withFolder({ 'spot_btcusdt_1.jsonl': lines.join('\n') }, dir => openTape(dir));
    expect(gaps).toEqual([]);
    const book = new RecordedBook(columns);
    for (let row = 0; row < columns.length; row++) book.apply(row);
    expect([0, 1, 2].map(i => book.bids.priceAt(i))).toEqual([10_300, 10_200, 10_100]);
  });

  it('a snapshot older than all diffs since the last one is dropped, because the diffs cannot continue it', async () => {
    const lines = [
      snapshot(T, 100, '100.00'),
      diff(T + 1, { U: 101, u: 110 }, '101.00'),
      snapshot(T + 2, 110, '101.00'),
      diff(T + 3, { U: 111, u: 120 }, '102.00'),
      snapshot(T + 4, 105, '100.00'),
      diff(T + 5, { U: 121, u: 130 }, '103.00'),
    ];
    const tape = await withFolder({ 'spot_btcusdt_1.jsonl': lines.join('\n') }, dir => openTape(dir));
    expect(tape.gaps).toEqual([]);
    expect(levelsAt(tape, T + 5).map(([price]) => price)).toEqual([10_300, 10_200, 10_100]);
    expect(tape.flaws.map(({ what }) => what)).toContain('snapshots older than all kept diffs');
  });

  describe('hours 0 and 2 without the one between', () => {
    const LATER = T + 7_200_000;
    const levels = (bid: string) => ({ bids: [[bid, '1']], asks: [['900.01', '1']] });
    const update = (E: number, id: number, bid: string) => ({
      e: 'depthUpdate',
      ...{ E, s: 'BTCUSDT', U: id, u: id, b: [[bid, '2']], a: [] },
    });
    const list = (of: unknown) => JSON.stringify(of);
    const stream = (ids: readonly [number, number, number]) =>
      [
        snapshot(T, 100, '100.00'),
        diff(T, { U: 101, u: 101 }, '101.00'),
        snapshot(LATER, ids[0], '600.00'),
        diff(LATER - 5, { U: ids[1], u: ids[1] }, '102.00'),
        diff(LATER, { U: ids[2], u: ids[2] }, '601.00'),
      ].join('\n');
    const SHAPES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      [
        'as lists',
        {
          'BTCUSDT_00_snapshot.json': list({ lastUpdateId: 100, ...levels('100.00') }),
          'BTCUSDT_00_update.json': list([update(T, 101, '101.00')]),
          'BTCUSDT_00_trades.json': '[]',
          'BTCUSDT_02_snapshot.json': list({ lastUpdateId: 9_000, ...levels('600.00') }),
          'BTCUSDT_02_update.json': list([update(LATER - 5, 9_000, '102.00'), update(LATER, 9_001, '601.00')]),
          'BTCUSDT_02_trades.json': '[]',
        },
      ],
      ['as one stream', { 'spot_btcusdt_1.jsonl': stream([9_000, 9_000, 9_001]) }],
    ];

    it.each(SHAPES)('%s: the later book is not known before its time, and the hole is a gap', async (_, files) => {
      const { gaps, columns } = await withFolder(files, dir => openTape(dir));
      expect(gaps).toEqual([{ from: T, to: LATER, why: 'diffs 102 to 9000 are missing' }]);
      const book = new RecordedBook(columns);
      let row = 0;
      while (row < columns.length && columns.at[row]! < LATER) book.apply(row++);
      expect([book.bids.priceAt(0), book.bids.priceAt(1)]).toEqual([10_100, 10_000]);
      while (row < columns.length) book.apply(row++);
      expect([book.bids.priceAt(0), book.bids.priceAt(1), book.bids.length]).toEqual([60_100, 60_000, 2]);
    });

    it('a snapshot ahead of a book that goes on is no hole', async () => {
      const files = { 'spot_btcusdt_1.jsonl': stream([102, 102, 103]) };
      const { gaps, columns } = await withFolder(files, dir => openTape(dir));
      expect(gaps).toEqual([]);
      expect(columns.at.filter(at => at > T && at < LATER)).toEqual(Float64Array.of(LATER - 5));
    });
  });

  testInMany(
    'lists of tens of megabytes are read, and beside another recording too long ones do not matter',
    async () => {
      const blank = ' '.repeat(20 * 2 ** 20);
      const files = {
        'BTCUSDT_00_snapshot.json': JSON.stringify({
          lastUpdateId: 100,
          bids: [['100.00', '1']],
          asks: [['200.01', '1']],
        }),
        'BTCUSDT_00_update.json': `[${blank}${JSON.stringify({ e: 'depthUpdate', E: T, s: 'BTCUSDT', U: 101, u: 101, b: [], a: [['199.00', '1']] })}]`,
        'BTCUSDT_00_trades.json': '[]',
      };
      const { columns } = await withFolder(files, dir => openTape(dir));
      expect([...columns.price]).toEqual([0, 10_000, 20_001, 19_900]);
      const long = { ...files, 'BTCUSDT_00_update.json': `[${blank.repeat(7)}]` };
      await withFolder(long, async dir => {
        await expect(openTape(dir)).rejects.toThrow(
          /00_update\.json: the file is longer than 128 MiB, the maximum for one JSON list; use a file with one JSON message per line/,
        );
      });
      const beside = {
        'notes.json': long['BTCUSDT_00_update.json'],
        'spot_btcusdt_1.jsonl': snapshot(T, 100, '100.00'),
      };
      expect((await withFolder(beside, dir => openTape(dir))).columns.length).toBe(3);
    },
  );

  itOnRecording(
    'binance-spot-2020-11-01-ethbtc-l2-trades',
    'lists of diffs and aggregated trades are read, as by hand',
    async dir => {
      const jsonOf = (what: string) =>
        JSON.parse(gunzipSync(readFileSync(join(dir, `ETHBTC_2020-11-01T09_${what}.json.gz`))).toString()) as unknown;
      const { lastUpdateId, bids, asks } = jsonOf('snapshot') as { lastUpdateId: number; bids: Level[]; asks: Level[] };
      const diffs = (jsonOf('update') as Diff[]).filter(({ u }) => u > lastUpdateId);
      const trades = jsonOf('trades') as { a: number; T: number; p: string; q: string; m: boolean }[];
      const tape = await openTape(dir, { book: 'eth_btc' });
      expect(tape.instrument).toMatchObject({ symbol: 'eth_btc', tick: '0.000001' });
      expect(tape.gaps).toEqual([]);
      expect(tape.flaws.map(({ what }) => what)).not.toContain('crossed books');
      const { kind, at, price, amount, id, length } = tape.columns;
      const first = diffs[0]!.E;
      const sum = (of: readonly bigint[]) => of.reduce((a, b) => a + b, 0n);
      const rows = Array.from({ length }, (_, i) => i).filter(i => kind[i] === KIND.trade);
      const mine = trades.filter(({ T }) => T >= first);
      expect(rows.map(i => id[i])).toEqual(mine.map(({ a }) => a));
      expect(sum(rows.map(i => BigInt(price[i]!) * BigInt(amount[i]!)))).toBe(
        sum(mine.map(({ p, q }) => BigInt(Math.round(Number(p) * 1e6)) * BigInt(Math.round(Number(q) * 1e8)))),
      );
      // Twenty touches, by a book of two maps.
      const book = new RecordedBook(tape.columns);
      const sides = [new Map(bids), new Map(asks)] as const;
      let row = 0;
      for (const [i, { E, b, a }] of diffs.entries()) {
        for (const [p, q] of b) sides[0].set(p, q);
        for (const [p, q] of a) sides[1].set(p, q);
        if (i % Math.floor(diffs.length / 20) !== 7) continue;
        while (row < length && at[row]! <= E) book.apply(row++);
        const live = sides.map(side =>
          [...side].filter(([, q]) => Number(q) > 0).map(([p]) => Math.round(Number(p) * 1e6)),
        );
        expect([E, book.bids.priceAt(0), book.asks.priceAt(0)]).toEqual([
          E,
          Math.max(...live[0]!),
          Math.min(...live[1]!),
        ]);
      }
    },
  );
});
