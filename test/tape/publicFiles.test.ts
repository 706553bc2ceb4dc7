/** Four public files by their mappings, against DuckDB's own reading of them: counts, volumes, sides, and every touch. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KIND, mappedRecording, RecordedBook, SIDE, type Tape } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';

const FILES = process.env['PUNTAS_FILES'] ?? '../shared/cases/files';
const MAPPINGS = join(import.meta.dirname, '../../docs/mappings');

let query: (sql: string) => Promise<readonly (readonly unknown[])[]> = () => Promise.reject(new Error('not open'));
let close = (): void => undefined;
beforeAll(async () => {
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  query = async sql => (await connection.runAndReadAll(sql)).getRowsJson();
  close = () => {
    connection.closeSync();
    database.closeSync();
  };
});
afterAll(() => close());

/** After every book: time in microseconds, best bid and ask in ticks, their amounts in lots. A later one of the same time replaces it. */
function touchesOf({ columns }: Tape): readonly (readonly (number | null)[])[] {
  const book = new RecordedBook(columns);
  const touches: (number | null)[][] = [];
  let isBook = false;
  for (let row = 0; row < columns.length; row++) {
    const at = columns.at[row]!;
    if (columns.kind[row] !== KIND.trade) isBook = true;
    book.apply(row);
    if (!isBook || columns.at[row + 1] === at) continue;
    isBook = false;
    const { bids, asks } = book;
    const of = (side: typeof bids) => [side.priceAt(0) || null, side.priceAt(0) ? side.amountAt(0) : null];
    touches.push([Math.round(at * 1_000), ...of(bids), ...of(asks)]);
  }
  return touches;
}

/** Count, bought, sum of lots and of ticks times lots. */
function tradesOf({ columns: { length, kind, side, price, amount } }: Tape): readonly (number | string)[] {
  let [count, bought, lots, value] = [0, 0, 0n, 0n];
  for (let i = 0; i < length; i++) {
    if (kind[i] !== KIND.trade) continue;
    count++;
    if (side[i] === SIDE.buy) bought++;
    lots += BigInt(amount[i]!);
    value += BigInt(price[i]!) * BigInt(amount[i]!);
  }
  return [count, bought, String(lots), String(value)];
}

type Case = {
  readonly set: string;
  readonly mapping: string;
  readonly books: (dir: string) => string;
  readonly trades?: (dir: string) => string;
  readonly crossed?: number;
};

const LOTS = '100000000';
const file = (dir: string, end: string) =>
  join(
    dir,
    readdirSync(dir).find(name => name.endsWith(end))!,
  );
const LEVELS = Array.from({ length: 10 }, (_, i) => [`a${i + 1}`, `av${i + 1}`, `b${i + 1}`, `bv${i + 1}`]).flat();
const columns = (names: readonly string[]) => `{${names.map(name => `'${name}': 'varchar'`).join()}}`;
const MESSAGES = ['time', 'type', 'id', 'size', 'price', 'direction'];
const lobster = (dir: string, end: string, names: readonly string[]) =>
  `(select *, row_number() over () as n from read_csv('${file(dir, end)}', header = false, columns = ${columns(names)}))`;
// Midnight of 2012-06-21 in New York, by the database's own zones.
const NEW_YORK = `(epoch_us(timestamptz '2012-06-21 00:00:00 America/New_York') + round(time::decimal(20, 9) * 1000000)::bigint)`;

/** SQL of rows: n, t in microseconds, bid and its lots, ask and its lots; and t, ticks, lots, whether the taker bought. */
const CASES: readonly Case[] = [
  {
    set: 'truefx-usdjpy-2013-01-01',
    mapping: 'truefx.yaml',
    books: dir =>
      `select row_number() over () as n, epoch_us(timestamp::timestamptz) as t, round(bid::decimal(18, 6) * 1000) as bid, 1 as bids, round(ask::decimal(18, 6) * 1000) as ask, 1 as asks from read_csv('${file(dir, '.csv')}', all_varchar = true)`,
  },
  {
    set: 'binance-btcusdt-2021-01-08-parquet',
    mapping: 'binance-parquet.yaml',
    books: dir =>
      `select row_number() over () as n, epoch_us(timestamp) as t, round(bid * 100) as bid, round(bid_size * ${LOTS}) as bids, round(ask * 100) as ask, round(ask_size * ${LOTS}) as asks from '${file(dir, 'quotes.parquet')}'`,
    trades: dir =>
      `select epoch_us(timestamp) as t, round(price * 100) as ticks, round(quantity * ${LOTS}) as lots, buyer_maker = 'False' as bought from '${file(dir, 'trades.parquet')}'`,
  },
  {
    set: 'lobster-aapl-2012-06-21-message10',
    mapping: 'lobster.yaml',
    books: dir =>
      `select n, ${NEW_YORK} as t, b1::bigint / 100 as bid, bv1::bigint as bids, a1::bigint / 100 as ask, av1::bigint as asks from ${lobster(dir, 'message_10.csv', MESSAGES)} join ${lobster(dir, 'orderbook_10.csv', LEVELS)} using (n)`,
    trades: dir =>
      `select ${NEW_YORK} as t, price::bigint / 100 as ticks, size::bigint as lots, direction = '-1' as bought from ${lobster(dir, 'message_10.csv', MESSAGES)} where type in ('4', '5')`,
  },
];

describe('a mapping gives what DuckDB reads of the same public file', () => {
  const on = (set: string, mapping: string, test: (dir: string) => Promise<void>) => {
    const dir = join(FILES, set);
    const isThere = existsSync(dir);
    const name = `${mapping} on ${set}`;
    it.skipIf(!isThere)(isThere ? name : `${name} (skipped: nothing at ${dir}; PUNTAS_FILES says where they are)`, () =>
      test(dir),
    );
  };
  const read = async (dir: string, mapping: string) => collectTape(await mappedRecording(dir, join(MAPPINGS, mapping)));
  const ofTrades = (rows: string, from: number) =>
    query(
      `select count(*)::int, (count(*) filter (bought))::int, coalesce(sum(lots::hugeint), 0)::varchar, coalesce(sum(ticks::hugeint * lots::hugeint), 0)::varchar from (${rows}) where t >= ${from}`,
    );

  for (const { set, mapping, books, trades } of CASES)
    on(set, mapping, async dir => {
      const tape = await read(dir, mapping);
      expect(tape.flaws.filter(({ what }) => /cannot be read|not whole ticks or lots|backwards/.test(what))).toEqual(
        [],
      );
      const wanted = await query(
        `select t::varchar, bid::bigint::varchar, bids::bigint::varchar, ask::bigint::varchar, asks::bigint::varchar from (${books(dir)}) qualify row_number() over (partition by t order by n desc) = 1 order by t`,
      );
      expect(touchesOf(tape)).toEqual(wanted.map(row => row.map(Number)));
      const [found] = await ofTrades(
        trades === undefined ? 'select 0 as t, 0 as ticks, 0 as lots, false as bought limit 0' : trades(dir),
        Number(wanted[0]![0]),
      );
      expect(tradesOf(tape)).toEqual(found);
    });

  on('hyperliquid-btc-2025-01-26-raw', 'hyperliquid-raw.yaml', async dir => {
    const tape = await read(dir, 'hyperliquid-raw.yaml');
    expect(tape.flaws.filter(({ what }) => /cannot be read|not whole ticks or lots|backwards/.test(what))).toEqual([]);
    const path = file(dir, '.gz');
    const lines = `(select row_number() over () as n, split_part(line, ' ', 1)::hugeint as local, substr(line, strpos(line, ' ') + 1)::json as frame from read_csv('${path}', header = false, delim = '', quote = '', columns = {'line': 'varchar'}))`;
    const wanted = await query(
      `select (frame->>'$.data.time')::bigint * 1000 as t, round((frame->>'$.data.levels[0][0].px')::decimal(18, 4))::bigint, round((frame->>'$.data.levels[0][0].sz')::decimal(18, 8) * ${LOTS})::bigint, round((frame->>'$.data.levels[1][0].px')::decimal(18, 4))::bigint, round((frame->>'$.data.levels[1][0].sz')::decimal(18, 8) * ${LOTS})::bigint from ${lines} where frame->>'$.channel' = 'l2Book' qualify row_number() over (partition by t order by n desc) = 1 order by t`,
    );
    expect(touchesOf(tape)).toEqual(wanted.map(row => row.map(Number)));
    const trades = `select distinct (one->>'$.time')::bigint * 1000 as t, (one->>'$.px')::decimal(18, 4)::bigint as ticks, ((one->>'$.sz')::decimal(18, 8) * ${LOTS})::bigint as lots, one->>'$.side' = 'B' as bought, one->>'$.tid' as id from (select unnest(cast(frame->'$.data' as json[])) as one from ${lines} where frame->>'$.channel' = 'trades')`;
    const [found] = await ofTrades(trades, Number(wanted[0]![0]));
    expect(tradesOf(tape)).toEqual(found);
    // Receipt in nanoseconds is kept to the microsecond.
    const [first] = gunzipSync(readFileSync(path)).toString('latin1').split('\n');
    expect(Math.round(tape.columns.local[0]! * 1_000)).toBe(Math.round(Number(first!.split(' ')[0]) / 1_000));
  });
});
