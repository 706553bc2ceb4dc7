/** Every mapping of the docs on a few rows as its venue writes them: the book, the trades and who took them. The real recordings are in mapping.test.ts. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it, test } from 'vitest';
import { KIND, mappedRecording, RecordedBook, SIDE, type Tape } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { withFolder } from './folder.ts';

const MAPPINGS = join(import.meta.dirname, '../../docs/mappings');

type Case = {
  readonly files: Readonly<Record<string, string>>;
  /** Best bid and ask after the last row, in ticks. */
  readonly touch: readonly [number, number];
  /** Time in UTC, taker, ticks, lots. */
  readonly trades: readonly string[];
};

const lines = (...rows: readonly string[]): string => rows.join('\n');
const levels = (side: string, from: number, step: number) =>
  Array.from({ length: 20 }, (_, i) => [`${side}_price_${i}`, `${side}_size_${i}`, from + i * step, i + 1] as const);
const bids = levels('bid', 60_000, -1);
const asks = levels('ask', 60_001, 1);
const numbered = [...bids, ...asks];

const frame = (local: string, channel: string, data: object): string => `${local} ${JSON.stringify({ channel, data })}`;
const lobsterBook = (bid: number, ask: number): string =>
  Array.from({ length: 10 }, (_, i) =>
    i < 9 ? [ask + 100 * i, 10 + i, bid - 100 * i, 20 + i] : [9_999_999_999, 0, -9_999_999_999, 0],
  ).join();

const CASES: Readonly<Record<string, Case>> = {
  'truefx.yaml': {
    files: {
      'usdjpy-ticks.csv': lines(
        'timestamp,bid,ask',
        '2013-01-01 22:02:35.907000+00:00,86.657,86.728',
        '2013-01-01 22:02:35.913000+00:00,86.655,86.729',
      ),
    },
    touch: [86_655, 86_729],
    trades: [],
  },
  'hyperliquid-raw.yaml': {
    files: {
      'btcusd_20250126.gz': lines(
        frame('1737918843893903000', 'l2Book', {
          coin: 'BTC',
          levels: [
            [
              { n: 5, px: '105055.0', sz: '3.03622' },
              { n: 1, px: '105054.0', sz: '0.1428' },
            ],
            [{ n: 2, px: '105056.0', sz: '0.5' }],
          ],
          time: 1737918843542,
        }),
        frame('1737918844167767000', 'trades', [
          { coin: 'BTC', px: '105056.0', side: 'B', sz: '0.00219', tid: 1, time: 1737918844000 },
          { coin: 'BTC', px: '105055.0', side: 'A', sz: '0.001', tid: 2, time: 1737918844001 },
        ]),
      ),
    },
    touch: [105_055, 105_056],
    trades: ['2025-01-26T19:14:04.000Z buy 105056 219000', '2025-01-26T19:14:04.001Z sell 105055 100000'],
  },
  'lobster.yaml': {
    files: {
      'X_2012-06-21_34200000_57600000_message_10.csv': lines(
        '34200.004241176,1,16113575,18,5853300,1',
        '34200.25,4,16113575,8,5853300,1',
        '34201.5,5,0,3,5855000,-1',
      ),
      'X_2012-06-21_34200000_57600000_orderbook_10.csv': lines(
        lobsterBook(5_853_300, 5_859_400),
        lobsterBook(5_853_300, 5_859_400),
        lobsterBook(5_853_200, 5_859_300),
      ),
    },
    touch: [58_532, 58_593],
    trades: ['2012-06-21T13:30:00.250Z sell 58533 8', '2012-06-21T13:30:01.500Z buy 58550 3'],
  },
  'aster.yaml': {
    files: {
      'prices_ASTERUSDT.csv': lines('unix_timestamp,bid,ask', '1758600000.5,1.50001,1.50003'),
      'trades_ASTERUSDT.csv': lines(
        'id,unix_timestamp_ms,side,price,quantity',
        '1,1758600001000,buy,1.50003,2',
        '2,1758600001500,sell,1.50001,3',
      ),
    },
    touch: [150_001, 150_003],
    trades: ['2025-09-23T04:00:01.000Z buy 150003 200000000', '2025-09-23T04:00:01.500Z sell 150001 300000000'],
  },
  'b3.yaml': {
    files: {
      'AMBP3_2025-04-08.csv': lines(
        'symbol,rpt_seq,network_received_time,event_type,md_entry_px,md_entry_size,aggressor,en_s_px_1,en_b_px_1',
        'AMBP3,1,2025-04-08 13:03:12.248937786+00:00,book,,,,125.63000000000001,124.11',
        'AMBP3,2,2025-04-08 13:03:13.000000000+00:00,trade,125.63,100.0,4.0,,',
        'AMBP3,3,2025-04-08 13:03:14.000000000+00:00,trade,124.11,200.0,3.0,,',
        'AMBP3,4,2025-04-08 13:03:15.000000000+00:00,trade,125.0,300.0,1.0,,',
      ),
    },
    touch: [12_411, 12_563],
    trades: [
      '2025-04-08T13:03:13.000Z buy 12563 10000000000',
      '2025-04-08T13:03:14.000Z sell 12411 20000000000',
      '2025-04-08T13:03:15.000Z none 12500 30000000000',
    ],
  },
  'bitflyer.yaml': {
    files: {
      'bitflyer.ticker.2018-01-21.BTC_JPY.csv': lines(
        'timestamp,loaded,status,best_bid,best_bid_size,best_ask,best_ask_size',
        '2018-01-21T00:00:00.5Z,2018-01-21T00:00:01Z,RUNNING,1400000,0.5,1400100,0.25',
      ),
      'bitflyer.execution.2018-01-21.BTC_JPY.csv': lines(
        'id,exec_date,loaded,side,price,size',
        '1,2018-01-21T00:00:02Z,2018-01-21T00:00:03Z,BUY,1400100,0.1',
        '2,,2018-01-21T00:00:04Z,SELL,1400000,0.2',
      ),
    },
    touch: [1_400_000, 1_400_100],
    trades: ['2018-01-21T00:00:02.000Z buy 1400100 10000000', '2018-01-21T00:00:04.000Z sell 1400000 20000000'],
  },
  'bitso-2018-trades.yaml': {
    files: {
      'trades_2018-06-03.csv': lines(
        'book,created_at,amount,maker_side,price,tid',
        'btc_mxn,2018-06-03T00:00:01,0.5,sell,150000.01,1',
        'eth_mxn,2018-06-03T00:00:01,0.5,sell,11000.01,2',
        'btc_mxn,2018-06-03T00:00:02,0.25,buy,150000.00,3',
      ),
    },
    touch: [0, 0],
    trades: ['2018-06-03T00:00:01.000Z buy 15000001 50000000', '2018-06-03T00:00:02.000Z sell 15000000 25000000'],
  },
  'bitso-2019-trades.yaml': {
    files: {
      'btc_mxn_trades_2019-09.csv': lines(
        'date,hour,price,volume,side',
        '2019-09-09,7,200000.50,0.5,sell',
        '2019-09-09,8,200000.25,0.1,buy',
      ),
    },
    touch: [0, 0],
    trades: ['2019-09-09T07:00:00.000Z buy 20000050 50000000', '2019-09-09T08:00:00.000Z sell 20000025 10000000'],
  },
  'books.yaml': {
    files: {
      'orderbooks_BTC.csv': lines(
        ['exchange_timestamp', 'timestamp', ...numbered.flatMap(([price, size]) => [price, size])].join(),
        ['1757000000000', '1757000000.25', ...numbered.flatMap(([, , price, size]) => [price, size])].join(),
      ),
      'trades_BTC.csv': lines(
        'exchange_timestamp,timestamp,trade_id,price,size,side',
        '1757000001000,1757000001.5,7,60001,0.5,buy',
        '1757000002000,1757000002.5,8,60000,0.5,sell',
      ),
    },
    touch: [60_000, 60_001],
    trades: ['2025-09-04T15:33:21.000Z buy 60001 50000000', '2025-09-04T15:33:22.000Z sell 60000 50000000'],
  },
  'five-venues.yaml': {
    files: {
      'btcbrl_2017_five_venues.csv': lines(
        'venue,ts_ms,bid,ask',
        'foxbit,1504800000000,14000.01,14100.02',
        'mercado,1504800000000,1,2',
      ),
    },
    touch: [1_400_001, 1_410_002],
    trades: [],
  },
  'fx.yaml': {
    files: { 'fxcm_eurusd_20140501.csv': '3600000,1.38701,1.38703\n' },
    touch: [138_701, 138_703],
    trades: [],
  },
  'us-shares.yaml': {
    files: {
      'ibm_20131007_quote.csv': lines('34200000,1840000,3,0,0,N,R,0', '34200001,0,0,1841500,2,N,R,0'),
      'ibm_20131007_trade.csv': '34200500,1841500,100,N,@,0\n',
    },
    touch: [18_400, 18_415],
    trades: ['2013-10-07T13:30:00.500Z none 18415 10000000000'],
  },
};

const NAMES = new Map<number, string>([
  [SIDE.buy, 'buy'],
  [SIDE.sell, 'sell'],
  [SIDE.unknown, 'none'],
]);

const read = (files: Readonly<Record<string, string>>, mapping: string): Promise<Tape> =>
  withFolder(files, folder => mappedRecording(folder, join(MAPPINGS, mapping)).then(collectTape));

const tradesOf = ({ columns: { kind, at, side, price, amount, length } }: Tape): readonly string[] =>
  Array.from({ length }, (_, row) => row)
    .filter(row => kind[row] === KIND.trade)
    .map(row => [new Date(at[row]!).toISOString(), NAMES.get(side[row]!), price[row], amount[row]].join(' '));

const touchOf = ({ columns }: Tape): readonly number[] => {
  const book = new RecordedBook(columns);
  for (let row = 0; row < columns.length; row++) book.apply(row);
  return [book.bids.priceAt(0), book.asks.priceAt(0)];
};

describe('a mapping of the docs', () => {
  it.each(Object.entries(CASES))('%s reads what its venue writes, sides included', async (mapping, of) => {
    const tape = await read(of.files, mapping);
    expect(tradesOf(tape)).toEqual(of.trades);
    expect(touchOf(tape)).toEqual(of.touch);
    expect(tape.flaws.filter(({ what }) => /cannot be read|between ticks or lots|words/.test(what))).toEqual([]);
  });

  test('orders.yaml reads single orders from Parquet', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'puntas-orders-'));
    try {
      const csv = lines(
        'time,event,id,price,amount,side',
        '1700000000000,created,1,100.00,1.5,bid',
        '1700000000001,created,2,100.05,2.5,ask',
        '1700000000002,created,3,100.04,1,ask',
        '1700000000003,changed,1,100.00,1.25,bid',
        '1700000000004,deleted,3,100.04,1,ask',
      );
      writeFileSync(join(dir, 'a.csv'), csv);
      const database = await DuckDBInstance.create(':memory:');
      const connection = await database.connect();
      await connection.run(
        `copy (select * from read_csv('${dir}/a.csv', columns = {time: 'bigint', event: 'varchar', id: 'bigint', price: 'decimal(12, 2)', amount: 'decimal(18, 8)', side: 'varchar'}, header = true)) to '${dir}/orders.parquet' (format parquet)`,
      );
      connection.closeSync();
      database.closeSync();
      const tape = await mappedRecording(dir, join(MAPPINGS, 'orders.yaml')).then(collectTape);
      expect(touchOf(tape)).toEqual([10_000, 10_005]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test('binance-parquet.yaml reads best prices and trades from Parquet, whose buyers are makers in words', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'puntas-binance-'));
    try {
      const database = await DuckDBInstance.create(':memory:');
      const connection = await database.connect();
      const quotes = `select timestamptz '2021-01-08 00:00:01.076+00' as timestamp, 0.066851 as ask_size, 39433.62 as ask, 0.0031 as bid_size, 39432.99 as bid`;
      const trades = `select timestamptz '2021-01-08 00:00:02+00' as timestamp, 1 as trade_id, 39432.99::double as price, 0.00031099999999999997::double as quantity, 'True' as buyer_maker
        union all select timestamptz '2021-01-08 00:00:03+00', 2, 39433.62, 0.5, 'False'`;
      await connection.run(`copy (${quotes}) to '${dir}/btcusdt-quotes.parquet' (compression brotli)`);
      await connection.run(`copy (${trades}) to '${dir}/btcusdt-trades.parquet' (compression brotli)`);
      connection.closeSync();
      database.closeSync();
      const tape = await mappedRecording(dir, join(MAPPINGS, 'binance-parquet.yaml')).then(collectTape);
      expect(touchOf(tape)).toEqual([3_943_299, 3_943_362]);
      expect(tradesOf(tape)).toEqual([
        '2021-01-08T00:00:02.000Z sell 3943299 31100',
        '2021-01-08T00:00:03.000Z buy 3943362 50000000',
      ]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test('is one of these: none is shipped untried', () => {
    expect([...Object.keys(CASES), 'orders.yaml', 'binance-parquet.yaml'].sort()).toEqual(readdirSync(MAPPINGS).sort());
  });

  test('b3.yaml with the numbers of its first version stops, and says which words are there', async () => {
    await withFolder({ ...CASES['b3.yaml']!.files, 'b3.yaml': B3_OF_OLD }, async folder => {
      const recording = await mappedRecording(folder, join(folder, 'b3.yaml'));
      await expect(collectTape(recording)).rejects.toThrow(
        /AMBP3_2025-04-08\.csv: none of the mapping's words for side\.buy \("4"\) occurs; column aggressor contains "4\.0" \(1\), "3\.0" \(1\), "1\.0" \(1\)/,
      );
    });
  });
});

const B3_OF_OLD = `book: ambp3_brl
tick: 0.01
tables:
  - files: AMBP3_*.csv*
    kind: quotes
    where: { event_type: book }
    time: network_received_time
    bid: en_b_px_1
    ask: en_s_px_1
  - files: AMBP3_*.csv*
    kind: trades
    where: { event_type: trade }
    time: network_received_time
    id: rpt_seq
    price: md_entry_px
    amount: md_entry_size
    side: { column: aggressor, buy: [4], sell: [3] }
`;
