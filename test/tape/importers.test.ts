import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, price, textOfAmount, textOfPrice } from '../../src/core/index.ts';
import { KIND, RecordedBook, SIDE, openTape, type Tape } from '../../src/tape/index.ts';
import { tapeRules } from '../../src/tape/model/tapeRules.ts';
import { withFolder } from './folder.ts';
import { runsOf } from '../many.ts';

const { instrument: CENT } = tapeRules('eth_usd', '0.01');
const p = (ticks: number) => textOfPrice(CENT, price(ticks));
const a = (lots: number) => textOfAmount(CENT, amount(lots));

const lots = fc.integer({ min: 1, max: 10 ** 12 });
const bidTicks = fc.integer({ min: 1000, max: 200_000 });
const askTicks = fc.integer({ min: 200_001, max: 400_000 });
const RUNS = runsOf(25, 8);

/** The rows as plain values: kind, side, time, ticks, lots, id. */
const rowsOf = (tape: Tape, kinds: readonly number[]) =>
  Array.from({ length: tape.columns.length }, (_, i) => i)
    .filter(i => kinds.includes(tape.columns.kind[i]!))
    .map(i => {
      const { kind, side, at, price, amount, id } = tape.columns;
      return [kind[i], side[i], at[i], price[i], amount[i], id[i]];
    });

describe('what is written to a file comes back from the importer', () => {
  it('Gemini, with the unchanged best prices again after a second with trades', async () => {
    const top = fc.tuple(bidTicks, lots, askTicks, lots);
    const trade = fc.tuple(fc.integer({ min: 0, max: 999 }), askTicks, lots, fc.boolean());
    const second = fc.tuple(fc.option(top, { nil: undefined, freq: 2 }), fc.option(trade, { nil: undefined, freq: 2 }));
    await fc.assert(
      fc.asyncProperty(
        top,
        fc.array(second, { minLength: 10, maxLength: 20, size: 'max' }),
        top,
        async (first, between, last) => {
          const seconds = [[first, undefined] as const, ...between, [last, undefined] as const];
          const timeOf = (i: number) => 1_600_000_000 + i;
          const depth = seconds.flatMap(([one], i) => {
            if (one === undefined) return [];
            const [b, bl, s, sl] = one;
            return [`${timeOf(i)},${p(b)}_${a(bl)},${p(s)}_${a(sl)}`];
          });
          const trades = seconds.flatMap(([, t], i) =>
            t ? [`${timeOf(i)}.${String(t[0]).padStart(3, '0')},${p(t[1])},${a(t[2])},${t[3] ? 1 : 0}`] : [],
          );
          const files = {
            'gemini__eth-usd__2020-01-01__market-depth.csv.gz': [
              'time_seconds,bid_price_bid_size,ask_price_ask_size',
              ...depth,
            ].join('\n'),
            'gemini__eth-usd__2020-01-01__trade.csv.gz': ['time_seconds,price,size,is_buyer_maker', ...trades].join(
              '\r\n',
            ),
          };
          const tape = await withFolder(files, dir => openTape(dir));
          expect(tape.instrument.symbol).toBe('eth_usd');
          let now = first;
          expect(rowsOf(tape, [KIND.level])).toEqual(
            seconds.flatMap(([one], i) => {
              if (one === undefined && seconds[i - 1]![1] === undefined) return [];
              now = one ?? now;
              const [b, bl, s, sl] = now;
              return [
                [KIND.level, SIDE.buy, timeOf(i) * 1000, b, bl, 0],
                [KIND.level, SIDE.sell, timeOf(i) * 1000, s, sl, 0],
              ];
            }),
          );
          expect(rowsOf(tape, [KIND.trade])).toEqual(
            seconds.flatMap(([, t], i) =>
              t ? [[KIND.trade, t[3] ? SIDE.sell : SIDE.buy, timeOf(i) * 1000 + t[0], t[1], t[2], 0]] : [],
            ),
          );
        },
      ),
      RUNS,
    );
  });

  it('Bitstamp', async () => {
    const order = fc.tuple(
      fc.constantFrom('created', 'changed', 'deleted'),
      bidTicks,
      lots,
      fc.integer({ min: 0, max: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(order, { minLength: 1, maxLength: 50 }), async orders => {
        const at = (i: number) => 1_430_000_000_000 + i * 7;
        const book = `${at(0)} order_book {"bids": [["10.00", "1.00000000"]], "asks": [["4001.00", "2.00000000"]]}`;
        const lines = orders.map(
          ([event, ticks, size, type], i) =>
            `${at(i)} order_${event} {"price": "${p(ticks)}", "amount": "${a(size)}", "datetime": "1", "id": ${i + 1}, "order_type": ${type}}`,
        );
        const tape = await withFolder({ 'bitstamp_btcusd_x.log': [book, ...lines].join('\n') }, dir => openTape(dir));
        const kinds = { created: KIND.add, changed: KIND.change, deleted: KIND.remove };
        expect(rowsOf(tape, [KIND.add, KIND.change, KIND.remove])).toEqual(
          orders.map(([event, ticks, size, type], i) => [
            kinds[event],
            type === 0 ? SIDE.buy : SIDE.sell,
            at(i),
            ticks,
            size,
            i + 1,
          ]),
        );
      }),
      RUNS,
    );
  });

  it('Hyperliquid', async () => {
    const level = fc.tuple(bidTicks, lots, askTicks, lots);
    const header = `timestamp,sequence,exchange_timestamp,bid_price_0,bid_size_0,ask_price_0,ask_size_0,bid_price_1,bid_size_1,ask_price_1,ask_size_1`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(level, level), { minLength: 1, maxLength: 20 }), async books => {
        const at = (i: number) => 1_757_000_000_000 + i * 500;
        const cell = (n: number) => `${n}.0`;
        const lines = books.map((levels, i) =>
          [at(i) / 1000, at(i), at(i), ...levels.flatMap(([b, bl, s, sl]) => [cell(b), a(bl), cell(s), a(sl)])].join(
            ',',
          ),
        );
        const trades = `timestamp,price,size,side,trade_id,exchange_timestamp\n1757000000,5.0,1e-05,sell,77,${at(0)}\n1757000009,5.0,1e-05,sell,77,${at(0)}\n`;
        const files = { 'orderbooks_BTC.csv.gz': [header, ...lines].join('\n'), 'trades_BTC.csv.gz': trades };
        const tape = await withFolder(files, dir => openTape(dir));
        expect(rowsOf(tape, [KIND.level])).toEqual(
          books.flatMap((levels, i) =>
            levels.flatMap(([b, bl, s, sl]) => [
              [KIND.level, SIDE.buy, at(i), b, bl, 0],
              [KIND.level, SIDE.sell, at(i), s, sl, 0],
            ]),
          ),
        );
        expect(rowsOf(tape, [KIND.trade])).toEqual([[KIND.trade, SIDE.sell, at(0), 5, 1000, 77]]);
        expect(tape.flaws.map(entry => entry.what)).toContain('trades sent again after a reconnect');
      }),
      RUNS,
    );
  });

  it('StandX, with its doubled rows dropped and its taker sides unknown', async () => {
    const book = fc.tuple(bidTicks, lots, askTicks, lots);
    await fc.assert(
      fc.asyncProperty(fc.array(book, { minLength: 1, maxLength: 20 }), async books => {
        const at = (i: number) => 1_767_000_000_000 + i * 100;
        const lines = books.flatMap(([b, bl, s, sl], i) => {
          const line = `${at(i)},${at(i) + 300},${p(b)}:${a(bl)},${p(s)}:${a(sl)}`;
          return [line, line];
        });
        const files = {
          'orderbook_BTC-USD_1.csv.gz': ['timestamp_ms,received_ms,bids,asks', ...lines].join('\n'),
          'trades_BTC-USD_1.csv.gz': `timestamp_ms,received_ms,price,quantity,side,is_buyer_taker\n${at(0)},${at(1)},50.01,0.0001,SELL,False`,
        };
        const tape = await withFolder(files, dir => openTape(dir));
        expect(rowsOf(tape, [KIND.level])).toEqual(
          books.flatMap(([b, bl, s, sl], i) => [
            [KIND.level, SIDE.buy, at(i), b, bl, 0],
            [KIND.level, SIDE.sell, at(i), s, sl, 0],
          ]),
        );
        expect(rowsOf(tape, [KIND.trade])).toEqual([[KIND.trade, SIDE.unknown, at(0), 5001, 10_000, 0]]);
        expect(tape.flaws.find(entry => entry.what === 'repeated book rows')?.count).toBe(books.length);
      }),
      RUNS,
    );
  });

  it('Binance, wherever among the diffs the snapshot was written', async () => {
    const diff = fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 50 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(diff, { minLength: 1, maxLength: 30 }),
        fc.nat(),
        fc.nat(),
        async (diffs, snapshotPick, writtenPick) => {
          // The book after each diff; a snapshot may fall in the middle of one, and be written later than it was taken.
          const taken = snapshotPick % diffs.length;
          const written = taken + (writtenPick % (diffs.length - taken)) + 1;
          const levels = {
            bids: new Map<string, string>([['10.00', '1.00000000']]),
            asks: new Map<string, string>([['90.00', '1.00000000']]),
          };
          const lines: string[] = [];
          let snapshot = '';
          diffs.forEach(([buy, offset, size], i) => {
            const ticks = buy ? 4000 - offset : 4000 + offset;
            const entry = `["${p(ticks)}","${a(size)}"]`;
            const [U, u] = [100 + 2 * i, 101 + 2 * i];
            const json = `{"stream":"ethusdt@depth","data":{"e":"depthUpdate","E":${1_700_000_000_000 + i},"s":"X","U":${U},"u":${u},"b":[${buy ? entry : ''}],"a":[${buy ? '' : entry}]}}`;
            lines.push(`${1_700_000_000_000_000_000 + i} ${json}`);
            if (i === taken) {
              const side = (map: Map<string, string>) => JSON.stringify([...map]);
              // Its id is the first of this diff's two: the diff straddles it.
              snapshot = `1700000000000000000 {"lastUpdateId":${U},"bids":${side(levels.bids)},"asks":${side(levels.asks)}}`;
            }
            const map = buy ? levels.bids : levels.asks;
            if (size === 0) map.delete(p(ticks));
            else map.set(p(ticks), a(size));
          });
          lines.splice(written, 0, snapshot);
          const tape = await withFolder({ 'spot_ethusdt_1.jsonl.gz': lines.join('\n') }, dir => openTape(dir));
          const book = new RecordedBook(tape.columns);
          for (let row = 0; row < tape.columns.length; row++) book.apply(row);
          for (const side of ['bids', 'asks'] as const) {
            expect(book[side].length).toBe(levels[side].size);
            for (const [text, size] of levels[side]) {
              expect(a(book[side].amountOf(Number(text.replace('.', ''))))).toBe(size);
            }
          }
          expect(tape.gaps).toEqual([]);
        },
      ),
      RUNS,
    );
  });
});

describe('dirt in a recording', () => {
  it('is counted: a missing Binance diff is a gap', async () => {
    const line = (U: number, u: number) =>
      `1 {"stream":"x@depth","data":{"e":"depthUpdate","E":${U},"s":"X","U":${U},"u":${u},"b":[["10.00","1"]],"a":[["11.00","1"]]}}`;
    const text = [
      '1 {"lastUpdateId":9,"bids":[["10.00","2"]],"asks":[["11.00","2"]]}',
      line(10, 12),
      line(15, 16),
    ].join('\n');
    const tape = await withFolder({ 'spot_ethusdt_1.jsonl': text }, dir => openTape(dir));
    expect(tape.gaps).toEqual([{ from: 10, to: 15, why: 'diffs 13 to 14 are missing' }]);
  });

  it('is never silent: a price off the tick grid stops the import with the file and the price', async () => {
    const files = {
      'gemini__eth-usd__d__market-depth.csv': 'time_seconds,bid_price_bid_size,ask_price_ask_size\n1,10.005_1,11.00_1',
      'gemini__eth-usd__d__trade.csv': 'time_seconds,price,size,is_buyer_maker\n',
    };
    await expect(withFolder(files, dir => openTape(dir))).rejects.toThrow(
      /market-depth\.csv: line 2: price 10\.005 is not a multiple/,
    );
  });

  it('is named: a torn line says its number', async () => {
    const files = { 'bitstamp_btcusd_x.log': '1430000000000 order_book {"bids": [], "asks": []}\n14300000' };
    await expect(withFolder(files, dir => openTape(dir))).rejects.toThrow(/x\.log: line 2: expected/);
  });

  it('finds a Bitstamp taker from the orders that shrank: the oldest at the price rested', async () => {
    const at = 1_430_000_000_000;
    const text = [
      `${at} order_book {"bids": [["236.20", "1.0"]], "asks": [["236.50", "1.0"]]}`,
      `${at + 1} order_changed {"price": "236.47", "amount": "1.0", "datetime": "1", "id": 47, "order_type": 0}`,
      `${at + 2} order_deleted {"price": "236.47", "amount": "0.00000000", "datetime": "1", "id": 12, "order_type": 1}`,
      `${at + 3} trade {"price": 236.47, "amount": 2.1138293799999999, "id": 8}`,
    ].join('\n');
    const tape = await withFolder({ 'bitstamp_btcusd_x.log': text }, dir => openTape(dir));
    expect(rowsOf(tape, [KIND.trade])).toEqual([[KIND.trade, SIDE.buy, at + 3, 23_647, 211_382_938, 8]]);
  });
});

it('a Bitstamp taker is on the other side of the oldest order that shrank at its price within 5 s and since the trade before', async () => {
  const event = fc.record({
    after: fc.constantFrom(0, 1, 2_500, 5_000),
    what: fc.constantFrom('created', 'changed', 'deleted', 'filled', 'trade'),
    price: fc.constantFrom(10_000, 10_001),
    // The id decides the side of an order: an even id is an ask.
    id: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 30, maxLength: 60, size: 'max' }), async all => {
      let at = 1_430_000_000_000;
      let shrunk: { at: number; id: number; price: number; side: number }[] = [];
      const sides: number[] = [];
      const lines = all.map(({ after, what, price: ticks, id }, n) => {
        const type = id % 2 === 0 ? 1 : 0;
        at += after;
        if (what === 'trade') {
          const makers = shrunk.slice(-16).filter(one => one.price === ticks && at - one.at <= 5_000);
          const oldest = makers.sort((one, other) => one.id - other.id)[0];
          sides.push(oldest === undefined ? SIDE.unknown : oldest.side === SIDE.buy ? SIDE.sell : SIDE.buy);
          shrunk = [];
          return `${at} trade {"price": ${p(ticks)}, "amount": 1.5, "id": ${n + 1}}`;
        }
        if (what === 'changed' || what === 'filled')
          shrunk.push({ at, id, price: ticks, side: type === 0 ? SIDE.buy : SIDE.sell });
        const name = what === 'filled' ? 'deleted' : what;
        const left = what === 'filled' ? '0.00000000' : '1.00000000';
        return `${at} order_${name} {"price": "${p(ticks)}", "amount": "${left}", "datetime": "1", "id": ${id}, "order_type": ${type}}`;
      });
      const book = `1429999999999 order_book {"bids": [["90.00", "1.0"]], "asks": [["110.00", "1.0"]]}`;
      const tape = await withFolder({ 'bitstamp_btcusd_x.log': [book, ...lines].join('\n') }, dir => openTape(dir));
      expect(rowsOf(tape, [KIND.trade]).map(row => row[1])).toEqual(sides);
    }),
    RUNS,
  );
});

describe('a folder that cannot be opened', () => {
  const cases: [string, Record<string, string>, string | undefined, RegExp][] = [
    [
      'is named when nothing in it is known, with what is known',
      { 'notes.txt': 'x' },
      undefined,
      /no known recording format; known formats: replies of .* Gemini/,
    ],
    [
      'is named when it holds several books, with their names',
      { 'spot_ethusdt_1.jsonl': '', 'spot_btcusdt_1.jsonl': '' },
      undefined,
      /choose one of: btc_usdt, eth_usdt$/,
    ],
    [
      'is named when it lacks the book, with the books it has',
      { 'spot_ethusdt_1.jsonl': '' },
      'btc_mxn',
      /no book btc_mxn; expected one of: eth_usdt$/,
    ],
    [
      'is named when its file is empty',
      { 'spot_ethusdt_1.jsonl': '' },
      undefined,
      /the recording contains no order book/,
    ],
    ['is named when its file is not gzip', { 'bitstamp_btcusd_x.log': 'x' }, undefined, /x\.log: line 1/],
  ];
  it.each(cases)('%s', async (_name, files, book, message) => {
    await expect(withFolder(files, dir => openTape(dir, book === undefined ? {} : { book }))).rejects.toThrow(message);
  });

  it('is named when it is missing', async () => {
    await expect(openTape('no/such/place')).rejects.toThrow('no/such/place: no such file or folder');
  });
});
