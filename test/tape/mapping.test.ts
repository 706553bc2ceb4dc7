/** Mapping files of the page, on the real recordings, against DuckDB: how many rows, their sums, and twenty touches. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { KIND, mappedRecording, openTape, RecordedBook, SIDE, type Tape } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { itOnRecording, withFolder } from './folder.ts';
import { expectAsTold, TOLD } from './importTable.ts';

const MAPPINGS = join(import.meta.dirname, '../../docs/mappings');
const dir = mkdtempSync(join(tmpdir(), 'puntas-mapping-'));
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
afterAll(() => {
  close();
  rmSync(dir, { recursive: true, force: true });
});

const mapped = async (path: string, mapping: string, given = {}): Promise<Tape> =>
  collectTape(await mappedRecording(path, join(MAPPINGS, mapping), given));

/** SQL, in which a price is in ticks and an amount in lots, `at` in ms. Rows in the order of the file are numbered in `n`. */
type Case = {
  readonly set: string;
  readonly mapping: string;
  /** Other than the mapping's own. */
  readonly book?: string;
  readonly quotes?: {
    readonly files: string;
    readonly columns?: string;
    readonly where?: string;
    readonly at: string;
    readonly bid: string;
    readonly ask: string;
  };
  readonly trades?: {
    readonly files: string;
    readonly columns?: string;
    readonly where?: string;
    readonly at: string;
    readonly price: string;
    readonly amount: string;
    readonly buys: string;
    readonly sells: string;
    readonly once?: string;
  };
  /** Trades that stand before the first book are on no tape with books. */
  readonly gapsMin?: number;
};

const NEW_YORK = "epoch_ms(strptime(regexp_extract(filename, '_(\\d{8})_', 1), '%Y%m%d')) + 4 * 3600000 + time::bigint";
const iso = (column: string) => `epoch_us(${column}::timestamptz) / 1000`;
const ticks = (column: string, tick: number) => `round(${column}::decimal(28, 8) * ${1 / tick})::hugeint`;
const lots = (column: string) => `round(${column}::decimal(28, 8) * 100000000)::hugeint`;

const CASES: readonly Case[] = [
  {
    set: 'aster-2025-09-23_24-bbo-trades',
    mapping: 'aster.yaml',
    quotes: {
      files: 'prices_ASTERUSDT*',
      at: 'round(unix_timestamp::double * 1e6) / 1e3',
      bid: ticks('bid', 0.00001),
      ask: ticks('ask', 0.00001),
    },
    trades: {
      files: 'trades_ASTERUSDT*',
      at: 'unix_timestamp_ms::double',
      price: ticks('price', 0.00001),
      amount: lots('quantity'),
      buys: "side = 'buy'",
      sells: "side = 'sell'",
    },
  },
  {
    set: 'b3-wide-2025-04-08_10-l1-trades',
    mapping: 'b3.yaml',
    quotes: {
      files: 'AMBP3_*',
      where: "event_type = 'book'",
      at: iso('network_received_time'),
      bid: ticks('en_b_px_1', 0.01),
      ask: ticks('en_s_px_1', 0.01),
    },
    trades: {
      files: 'AMBP3_*',
      where: "event_type = 'trade'",
      at: iso('network_received_time'),
      price: ticks('md_entry_px', 0.01),
      amount: lots('md_entry_size'),
      buys: "aggressor = '4.0'",
      sells: "aggressor = '3.0'",
    },
    gapsMin: 1,
  },
  {
    set: 'bitflyer-btcjpy-2018-01-21_30-trades-bbo-1m',
    mapping: 'bitflyer.yaml',
    quotes: {
      files: 'bitflyer.ticker.*.BTC_JPY*',
      where: "status = 'RUNNING'",
      at: iso('coalesce("timestamp", loaded)'),
      bid: ticks('best_bid', 1),
      ask: ticks('best_ask', 1),
    },
    trades: {
      files: 'bitflyer.execution.*.BTC_JPY*',
      at: iso('coalesce(exec_date, loaded)'),
      price: ticks('price', 1),
      amount: lots('size'),
      buys: "side = 'BUY'",
      sells: "side = 'SELL'",
      once: 'id',
    },
    gapsMin: 4,
  },
  ...(['ibm', 'bac'] as const).map((share): Case => ({
    set: `us-${share}-2013-10-07_09-nbbo-trades`,
    mapping: 'us-shares.yaml',
    book: `${share}_usd`,
    quotes: {
      files: '*_quote*',
      columns: 'time,bid,bidSize,ask,askSize,exchange,condition,suspicious',
      at: NEW_YORK,
      bid: 'nullif(bid::bigint, 0) // 100',
      ask: 'nullif(ask::bigint, 0) // 100',
    },
    trades: {
      files: '*_trade*',
      columns: 'time,price,size,exchange,condition,suspicious',
      at: NEW_YORK,
      price: 'price::hugeint // 100',
      amount: lots('size'),
      buys: 'false',
      sells: 'false',
    },
    gapsMin: 1,
  })),
  {
    set: 'fx-oanda-fxcm-2014-05-two-venues-l1',
    mapping: 'fx.yaml',
    quotes: {
      files: 'fxcm_eurusd_*',
      columns: 'time,bid,ask',
      at: "epoch_ms(strptime(regexp_extract(filename, '_(\\d{8})', 1), '%Y%m%d')) + 5 * 3600000 + time::bigint",
      bid: ticks('bid', 0.00001),
      ask: ticks('ask', 0.00001),
    },
  },
  {
    set: 'btcbrl-2017-09-07_10-30-five-venues-bbo',
    mapping: 'five-venues.yaml',
    quotes: {
      files: '*',
      where: "venue = 'foxbit'",
      at: 'ts_ms::double',
      bid: ticks('bid', 0.01),
      ask: ticks('ask', 0.01),
    },
    gapsMin: 1,
  },
  {
    set: 'bitso-nine-books-2018-06-03_05-trades',
    mapping: 'bitso-2018-trades.yaml',
    trades: {
      files: '*',
      where: "book = 'btc_mxn'",
      at: iso("(created_at || 'Z')"),
      price: ticks('price', 0.01),
      amount: lots('amount'),
      buys: "maker_side = 'sell'",
      sells: "maker_side = 'buy'",
    },
  },
  {
    set: 'bitso-btcmxn-2019-09-09_10-28-trades',
    mapping: 'bitso-2019-trades.yaml',
    trades: {
      files: '*',
      at: "epoch_ms(strptime(date, '%Y-%m-%d')) + hour::bigint * 3600000",
      price: ticks('price', 0.01),
      amount: lots('volume'),
      buys: "side = 'sell'",
      sells: "side = 'buy'",
    },
  },
];

type Rows = {
  readonly count: number;
  readonly ticks: bigint;
  readonly value: bigint;
  readonly buys: number;
  readonly sells: number;
};

/** Of the trades: how many, the sum of ticks and of ticks times lots, how many bought and sold. */
function tradesOf({ columns: { length, kind, side, price, amount } }: Tape): Rows {
  let [count, ticks, value, buys, sells] = [0, 0n, 0n, 0, 0];
  for (let i = 0; i < length; i++) {
    if (kind[i] !== KIND.trade) continue;
    count++;
    ticks += BigInt(price[i]!);
    value += BigInt(price[i]!) * BigInt(amount[i]!);
    if (side[i] === SIDE.buy) buys++;
    if (side[i] === SIDE.sell) sells++;
  }
  return { count, ticks, value, buys, sells };
}

/** The best bid and ask at each of the times, which rise: after the last row of the book that is not later; null for an empty side. */
function touchesAt(tape: Tape, times: readonly number[]): readonly (readonly (number | null)[])[] {
  const book = new RecordedBook(tape.columns);
  let row = 0;
  return times.map(time => {
    while (row < tape.columns.length && tape.columns.at[row]! <= time) book.apply(row++);
    return [book.bids.priceAt(0) || null, book.asks.priceAt(0) || null];
  });
}

/** BAC has 3.6 million rows. */
const PATIENCE_MS = 300_000;
const numberOf = (value: unknown) => (value === null ? null : Number(value));

describe('a mapping file gives the tape that DuckDB reads from the same files', () => {
  for (const { set, mapping, book, quotes, trades, gapsMin = 0 } of CASES) {
    itOnRecording(
      set,
      `${mapping} on ${set}`,
      async data => {
        const source = ({ files, columns, where = 'true' }: { files: string; columns?: string; where?: string }) => {
          const named =
            columns === undefined
              ? ''
              : `, header = false, names = [${columns
                  .split(',')
                  .map(name => `'${name}'`)
                  .join()}]`;
          return `(select *, row_number() over () as n from read_csv('${data}/${files}.gz', all_varchar = true, filename = true${named}) where ${where})`;
        };
        const tape = await mapped(data, mapping, book === undefined ? {} : { book });
        expectAsTold(set, mapping, tape.instrument.symbol, tape);
        expect(tape.gaps.length).toBeGreaterThanOrEqual(gapsMin);
        expect(tape.flaws.filter(({ what }) => /cannot be read|not whole ticks or lots/.test(what))).toEqual([]);
        let from = -1e15;
        if (quotes) {
          const { at, bid, ask } = quotes;
          await query(
            `create or replace temp table quotes as select n, ${at} as t, ${bid} as bid, ${ask} as ask from ${source(quotes)}`,
          );
          const [[count, first, last] = []] = await query('select count(*), min(t), max(t) from quotes');
          expect(tape.columns.kind.reduce((sum, kind) => sum + (kind === KIND.clear ? 1 : 0), 0)).toBe(Number(count));
          from = Number(first);
          const span = Number(last) - from;
          // Spread over the whole by the golden ratio. A side that is null is as it was.
          const moments = Array.from({ length: 20 }, (_, i) =>
            Math.floor(from + ((span * (i + 1) * 0.618) % span)),
          ).sort();
          const touches = touchesAt(tape, moments);
          for (const [i, moment] of moments.entries()) {
            const last = (side: string) =>
              `(select ${side} from quotes where t <= ${moment} and ${side} is not null order by t desc, n desc limit 1)`;
            const [[b, a] = []] = await query(`select ${last('bid')}, ${last('ask')}`);
            expect([moment, ...touches[i]!]).toEqual([moment, numberOf(b), numberOf(a)]);
          }
        }
        if (trades) {
          const { at, price, amount, buys, sells, once } = trades;
          const rows = `(select ${once === undefined ? '' : `distinct on (${once})`} ${at} as t, ${price} as ticks, ${amount} as lots, ${buys} as buys, ${sells} as sells from ${source(trades)})`;
          const [[count, ticksSum, value, bought, sold] = []] = await query(
            `select count(*), sum(ticks)::hugeint::varchar, sum(ticks * lots)::hugeint::varchar, count(*) filter (buys), count(*) filter (sells) from ${rows} where t >= ${from}`,
          );
          expect(tradesOf(tape)).toEqual({
            count: Number(count),
            ticks: BigInt(String(ticksSum)),
            value: BigInt(String(value)),
            buys: Number(bought),
            sells: Number(sold),
          });
          // A recording that has sides has both: words that match no row would be equal by being none.
          if (buys !== 'false') expect(Number(bought) > 0 && Number(sold) > 0).toBe(true);
        }
      },
      PATIENCE_MS,
    );
  }

  test('and these are the sets that the page says need one', () => {
    expect(CASES.map(({ set, mapping }) => [set, mapping]).sort()).toEqual(
      TOLD.flatMap(({ set, mapping }) => (mapping === null ? [] : [[set, mapping]])).sort(),
    );
  });

  itOnRecording(
    'hyperliquid-2025-09-04-l2-trades',
    'books.yaml gives what the importer of that venue gives',
    async data => {
      const own = await openTape(data, { book: 'btc_usd' });
      const found = await mapped(data, 'books.yaml');
      // One tells the sides level by level, the other one after the other.
      for (const wanted of [SIDE.buy, SIDE.sell]) {
        const rowsOf = ({ columns: { length, side } }: Tape) =>
          Array.from({ length }, (_, i) => i).filter(i => side[i] === wanted);
        const of = (tape: Tape) => {
          const { kind, at, price, amount, id } = tape.columns;
          return rowsOf(tape).map(i => [kind[i], at[i], price[i], amount[i], id[i]].join());
        };
        expect(of(found).join('\n') === of(own).join('\n')).toBe(true);
        // A receipt time between two microseconds may be rounded to either.
        const ownRows = rowsOf(own);
        const receipts = rowsOf(found).map((i, n) =>
          Math.abs(found.columns.local[i]! - own.columns.local[ownRows[n]!]!),
        );
        expect(receipts.every(ms => ms < 0.0015)).toBe(true);
      }
      expect(found.gaps.map(({ from, to }) => [from, to])).toEqual(own.gaps.map(({ from, to }) => [from, to]));
    },
  );

  itOnRecording(
    'bitstamp-btcusd-2015-05-01-book-orders-trades',
    'orders.yaml reads single orders from Parquet, whatever packed it',
    async data => {
      const log = readdirSync(data).find(name => name.endsWith('.log.gz'))!;
      const events = gunzipSync(readFileSync(join(data, log)))
        .toString('latin1')
        .split('\n')
        .flatMap(line => {
          const [, at, event, json] = /^(\d{13}) order_(created|changed|deleted) (.*)$/.exec(line) ?? [];
          if (json === undefined) return [];
          const { id, price, amount, order_type } = JSON.parse(json) as Record<string, string | number>;
          return [
            {
              at: Number(at),
              event,
              id: Number(id),
              price: Number(price),
              amount: Number(amount),
              side: order_type === 0 ? 'bid' : 'ask',
            },
          ];
        });
      const csv = join(dir, 'orders.csv');
      writeFileSync(
        csv,
        [
          'time,event,id,price,amount,side',
          ...events.map(({ at, event, id, price, amount, side }) =>
            [at, event, id, price.toFixed(2), amount.toFixed(8), side].join(),
          ),
        ].join('\n'),
      );
      for (const codec of ['zstd', 'snappy', 'gzip']) {
        const types =
          "{time: 'bigint', event: 'varchar', id: 'bigint', price: 'decimal(12, 2)', amount: 'decimal(18, 8)', side: 'varchar'}";
        const folder = mkdtempSync(join(dir, 'parquet-'));
        await query(
          `copy (select * from read_csv('${csv}', columns = ${types}, header = true)) to '${folder}/orders.parquet' (format parquet, codec '${codec}', row_group_size 4096)`,
        );
        const { columns, depth } = await mapped(folder, 'orders.yaml');
        expect(depth).toBe(Infinity);
        const kinds = { created: KIND.add, changed: KIND.change, deleted: KIND.remove } as const;
        const wanted = events.map(({ at, event, id, price, amount }) =>
          [kinds[event as keyof typeof kinds], at, id, Math.round(price * 100), Math.round(amount * 1e8)].join(),
        );
        const found = Array.from({ length: columns.length }, (_, i) =>
          [columns.kind[i], columns.at[i], columns.id[i], columns.price[i], columns.amount[i]].join(),
        );
        expect(found.join('\n') === wanted.join('\n')).toBe(true);
      }
    },
  );
});

describe('a mapping file', () => {
  test('has under thirty lines, LOBSTER aside, which names forty columns', () => {
    for (const name of readdirSync(MAPPINGS))
      expect([name, readFileSync(join(MAPPINGS, name), 'utf8').split('\n').length < 30]).toEqual([
        name,
        name !== 'lobster.yaml',
      ]);
  });

  const QUOTES =
    'book: btc_usd\ntables:\n  - files: a*.csv\n    kind: quotes\n    time: { column: t, unit: ms }\n    bid: b\n    ask: a\n';
  const opened = (files: Readonly<Record<string, string>>, mapping: string, given = {}) =>
    withFolder({ ...files, 'my.yaml': mapping }, folder =>
      mappedRecording(folder, join(folder, 'my.yaml'), given).then(async recording => ({
        recording,
        tape: await collectTape(recording),
      })),
    );
  const CSV = 't,b,a\n1700000000000,10.5,11\n';

  it.each([
    ['a key that is none', `${QUOTES}    bids: x\n`, /my\.yaml:\d+: tables\.0: Unrecognized key: "bids"/],
    ['a key that is missing', QUOTES.replace('    ask: a\n', ''), /my\.yaml:\d+: tables\.0\.ask: .*expected string/],
    [
      'a column that the file lacks',
      QUOTES.replace('ask: a', 'ask: best_ask'),
      /a\.csv: no column best_ask; the file has t, b, a/,
    ],
    ['files that are not there', QUOTES.replace('a*.csv', 'z*.csv'), /no file matches z\*\.csv/],
    [
      'another unit than the times have',
      QUOTES.replace('ms', 's'),
      /a\.csv: line 2: expected a time in the years 2000 to 2099, as a number in s, found "1700000000000"/,
    ],
    ['no zone of times without one', QUOTES.replace('unit: ms', 'unit: text'), /expected a time with a time zone/],
    ['a tick of nothing', `tick: 0\n${QUOTES}`, /my\.yaml:1: tick: /],
    [
      'amounts of one side alone',
      `${QUOTES}    bidAmount: c\n`,
      /my\.yaml:\d+: tables\.0: expected both bidAmount and askAmount, or neither key/,
    ],
  ])('is refused in one line for %s', async (_, mapping, message) => {
    await expect(opened({ 'a.csv': CSV }, mapping)).rejects.toThrow(message);
  });

  it('gives way to --tick and --book, and infers a tick that nobody gave', async () => {
    const many = [
      't,b,a',
      ...Array.from({ length: 600 }, (_, i) => `${1_700_000_000_000 + i},${10 + i * 0.5},${10.5 + i * 0.5}`),
    ].join('\n');
    const { recording } = await opened({ 'a.csv': many }, QUOTES);
    expect(recording.instrument).toMatchObject({ symbol: 'btc_usd', tick: '0.5' });
    const given = await opened({ 'a.csv': many }, QUOTES, { book: 'eth_usd', tick: '0.1' });
    expect(given.tape.instrument).toMatchObject({ symbol: 'eth_usd', tick: '0.1' });
  });

  it('makes a book of its own of each snapshot, also where no update is between', async () => {
    const mapping =
      'book: btc_usd\ntick: 1\ntables:\n  - files: a.csv\n    kind: levels\n    time: { column: t, unit: ms }\n    received: { column: r, unit: ms }\n    side: { column: s, buy: [b], sell: [a] }\n    price: p\n    amount: q\n    snapshot: { column: w, words: [yes] }\n';
    const picture = (minute: number, ask: number) => {
      const at = 1_700_000_000_000 + minute * 60_000;
      // Levels may have times of their own: what was received at once is one picture.
      return [`${at},${at + 9},b,100,1,yes`, `${at + 1},${at + 9},a,${ask},1,yes`];
    };
    const update = '1700000180000,1700000180009,a,120,1,no';
    const csv = ['t,r,s,p,q,w', ...[101, 105, 110].flatMap((ask, i) => picture(i, ask)), update].join('\n');
    const { tape } = await opened({ 'a.csv': csv }, mapping);
    expect(tape.columns.kind.filter(kind => kind === KIND.clear)).toHaveLength(3);
    const book = new RecordedBook(tape.columns);
    for (let row = 0; row < tape.columns.length; row++) book.apply(row);
    expect([book.bids.length, book.asks.length, book.asks.priceAt(0), book.asks.priceAt(1)]).toEqual([1, 2, 110, 120]);
  });

  it('gives silences of books and trades that overlap as one gap, in order', async () => {
    const START = 1_700_000_000_000;
    const rows = (header: string, seconds: readonly number[], cells: string) =>
      [header, ...seconds.map(second => `${START + second * 1_000},${cells}`)].join('\n');
    const files = {
      'a.csv': rows('t,b,a', [0, 10, 20, 30, 5_000, 5_010, 5_020, 5_030, 7_000], '100,101'),
      't.csv': rows('t,p,q', [1, 2, 400, 410, 420, 5_001, 5_002, 5_400, 7_000], '100,1'),
    };
    const mapping = `${QUOTES.replace('\n', '\ntick: 1\n')}  - files: t.csv\n    kind: trades\n    silence: 300\n    time: { column: t, unit: ms }\n    price: p\n    amount: q\n`;
    const { tape } = await opened(files, mapping);
    const [book, trade] = ['no book row during the gap', 'no trade during the gap'];
    expect(tape.gaps.map(({ from, to, why }) => [(from - START) / 1_000, (to - START) / 1_000, why])).toEqual([
      [2, 5_001, `${trade}; ${book}`],
      [5_002, 7_000, `${trade}; ${book}`],
    ]);
  });

  it('reads quoted cells, packed books and amounts in another unit', async () => {
    const mapping =
      'book: btc_usd\ntick: 0.5\ntables:\n  - files: a.csv\n    kind: books\n    levels: 2\n    packed: "|:"\n    delimiter: ";"\n    amountUnit: 0.001\n    time: { column: t, unit: us }\n    bid: b\n    ask: a\n';
    const csv = '\ufeff"t";"b";"a"\r\n1700000000000123;"10.5:1|10:2";"11:3"\r\n';
    const { tape } = await opened({ 'a.csv': csv }, mapping);
    const { kind, side, at, price, amount } = tape.columns;
    expect(Array.from(at)).toEqual(Array.from({ length: 4 }, () => 1_700_000_000_000.123));
    expect(Array.from(kind)).toEqual([KIND.clear, KIND.level, KIND.level, KIND.level]);
    expect(Array.from(side).slice(1)).toEqual([SIDE.buy, SIDE.buy, SIDE.sell]);
    expect(Array.from(price).slice(1)).toEqual([21, 20, 22]);
    expect(Array.from(amount).slice(1)).toEqual([100_000, 200_000, 300_000]);
  });
});
