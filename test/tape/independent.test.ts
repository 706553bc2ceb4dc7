/** Every importer of a named format against plain lines of the same files, read here by code that shares nothing with it: counts, sums, and the touch at twenty moments. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { KIND, openTape, RecordedBook, SIDE, type Tape } from '../../src/tape/index.ts';
import { itOnRecording, withFolder } from './folder.ts';
import { expectAsTold, TOLD, UNREAD } from './importTable.ts';

/** Whole units of 10^-8, from plain or exponent text. */
const units = (text: string): bigint => {
  const plain = /e/i.test(text) ? Number(text).toFixed(8) : text;
  const [whole, fraction = ''] = plain.split('.');
  // Doubles printed with 17 digits: what is beyond 10^-8 rounds.
  const [kept, rest] = [fraction.slice(0, 8).padEnd(8, '0'), Number(`0.${fraction.slice(8)}0`)];
  return BigInt(whole! + kept) + (rest >= 0.5 ? 1n : 0n);
};

type Level = readonly [price: bigint, amount: bigint];
/** Best first or not: a whole book of one moment, in ms. */
type Picture = { readonly at: number; readonly bids: readonly Level[]; readonly asks: readonly Level[] };
type Execution = {
  readonly at: number;
  readonly price: bigint;
  readonly amount: bigint;
  readonly side: 'buy' | 'sell' | '';
};
type Read = { readonly pictures: readonly Picture[]; readonly executions: readonly Execution[] };

const linesOf = (dir: string, pattern: RegExp): readonly string[] => {
  const name = readdirSync(dir).find(file => pattern.test(file))!;
  const bytes = readFileSync(join(dir, name));
  const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
  return text.split(/\r?\n/).filter(line => line !== '');
};
const rowsOf = (dir: string, pattern: RegExp): readonly (readonly string[])[] =>
  linesOf(dir, pattern)
    .slice(1)
    .map(line => line.split(','));
const unique = <T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] =>
  [...new Map([...items].reverse().map(item => [keyOf(item), item])).values()].reverse();

function hyperliquid(dir: string, coin: string): Read {
  const level = (cells: readonly string[], i: number): Level => [units(cells[i]!), units(cells[i + 1]!)];
  const pictures = rowsOf(dir, new RegExp(`^orderbooks_${coin}`)).map(cells => {
    const of = Array.from({ length: (cells.length - 3) / 4 }, (_, i) => 3 + 4 * i);
    return { at: Number(cells[2]), bids: of.map(i => level(cells, i)), asks: of.map(i => level(cells, i + 2)) };
  });
  const trades = unique(rowsOf(dir, new RegExp(`^trades_${coin}`)), ([, price, size, , id, at]) =>
    [id, at, price, size].join(),
  );
  const executions = trades.map(([, price, size, side, , at]) => ({
    at: Number(at),
    price: units(price!),
    amount: units(size!),
    side: side as 'buy' | 'sell',
  }));
  return { pictures, executions };
}

function gemini(dir: string): Read {
  const level = (cell: string): readonly Level[] => [cell.split('_').map(units) as unknown as Level];
  return {
    pictures: rowsOf(dir, /market-depth/).map(([at, bid, ask]) => ({
      at: Number(at) * 1_000,
      bids: level(bid!),
      asks: level(ask!),
    })),
    executions: rowsOf(dir, /__trade/).map(([at, price, size, maker]) => ({
      at: Math.round(Number(at) * 1_000),
      price: units(price!),
      amount: units(size!),
      side: maker === '1' ? 'sell' : 'buy',
    })),
  };
}

function standx(dir: string): Read {
  const side = (cell: string): readonly Level[] =>
    cell.split('|').map(level => level.split(':').map(units) as unknown as Level);
  return {
    pictures: linesOf(dir, /^orderbook_/)
      .slice(1)
      // Each row stands twice.
      .filter((line, i, all) => line !== all[i - 1])
      .map(line => line.split(','))
      .map(([at, , bids, asks]) => ({ at: Number(at), bids: side(bids!), asks: side(asks!) })),
    executions: rowsOf(dir, /^trades_/).map(([at, , price, size]) => ({
      at: Number(at),
      price: units(price!),
      amount: units(size!),
      side: '',
    })),
  };
}

const bitsoBbo = (dir: string, file: RegExp): Read => ({
  pictures: rowsOf(dir, file).map(([at, , bid, ask]) => ({
    at: new Date(at!).getTime(),
    bids: [[units(bid!), 1n]],
    asks: [[units(ask!), 1n]],
  })),
  executions: [],
});

function bitstamp(dir: string): Read {
  const events = linesOf(dir, /\.log/).map(line => {
    const [at, kind, ...json] = line.split(' ');
    return { at: Number(at), kind: kind!, json: json.join(' ') };
  });
  const levels = (all: readonly (readonly string[])[]) =>
    all.map(([price, size]): Level => [units(price!), units(size!)]);
  return {
    pictures: events
      .filter(({ kind }) => kind === 'order_book')
      .map(({ at, json }) => {
        const { bids, asks } = JSON.parse(json) as Record<'bids' | 'asks', string[][]>;
        return { at, bids: levels(bids), asks: levels(asks) };
      }),
    executions: events
      .filter(({ kind }) => kind === 'trade')
      .map(({ at, json }) => {
        const number = (name: string) => units(new RegExp(`"${name}": ([0-9.e-]+)`).exec(json)![1]!);
        return { at, price: number('price'), amount: number('amount'), side: '' };
      }),
  };
}

type Message = {
  readonly e?: string;
  readonly E: number;
  readonly T: number;
  readonly u: number;
  readonly lastUpdateId?: number;
  readonly p: string;
  readonly q: string;
  readonly m: boolean;
} & Readonly<Record<'b' | 'a' | 'bids' | 'asks', readonly (readonly [string, string])[]>>;

/** Every diff after the snapshot gives a picture, of the best alone: the whole book stands in two maps meanwhile. */
function binance(messages: readonly Message[]): Read {
  const snapshot = messages.find(({ lastUpdateId }) => lastUpdateId !== undefined)!;
  const diffs = messages.filter(({ e, u }) => e === 'depthUpdate' && u > snapshot.lastUpdateId!);
  const sides = [snapshot.bids, snapshot.asks].map(
    side => new Map(side.map(([price, size]) => [units(price), units(size)])),
  );
  const best = (of: number): readonly Level[] => {
    const prices = [...sides[of]!.keys()];
    const price = prices.reduce((a, b) => ((of === 0) === a > b ? a : b));
    return [[price, sides[of]!.get(price)!]];
  };
  const pictures = diffs.map(({ E, b, a }, i) => {
    for (const [of, levels] of [b, a].entries())
      for (const [price, size] of levels)
        if (units(size) === 0n) sides[of]!.delete(units(price));
        else sides[of]!.set(units(price), units(size));
    // The best of tens of thousands of levels takes long; what is not looked at is left out.
    const isLooked = i % BINANCE_LOOKS === 0 || i === diffs.length - 1;
    return { at: E, bids: isLooked ? best(0) : [], asks: isLooked ? best(1) : [] };
  });
  const executions = messages
    .filter(({ e }) => e === 'trade' || e === 'aggTrade')
    .map(({ T, p, q, m }): Execution => ({ at: T, price: units(p), amount: units(q), side: m ? 'sell' : 'buy' }));
  return { pictures, executions };
}
const BINANCE_LOOKS = 10;

const lines2024 = (dir: string, symbol: string): readonly Message[] =>
  linesOf(dir, new RegExp(`^spot_${symbol}`))
    .filter(line => !line.includes('@bookTicker'))
    .map(line => JSON.parse(line.slice(line.indexOf('{'))) as { readonly data?: Message } & Message)
    .map(message => message.data ?? message);
const lists2020 = (dir: string): readonly Message[] =>
  ['snapshot', 'update', 'trades'].flatMap(kind => {
    const found = JSON.parse(linesOf(dir, new RegExp(`^ETHBTC_.*_${kind}`)).join('')) as Message | Message[];
    return Array.isArray(found) ? found : [found];
  });

const scaled = ({ instrument }: Tape) => ({
  price: (ticks: number) => BigInt(ticks) * units(instrument.tick),
  amount: (lots: number) => BigInt(lots) * units(instrument.lot),
});

/** `sided`: the files say whose side it was. `steps`: they tell steps, or the importer fills some in, so that books are not counted. */
type How = { readonly sided?: boolean; readonly steps?: boolean };

function expectSame(tape: Tape, { pictures, executions }: Read, { sided = true, steps = false }: How): void {
  const moments = pictures.filter(({ bids }) => bids.length > 0);
  const { kind, at, side, price, amount, length } = tape.columns;
  const of = scaled(tape);
  const began = pictures.reduce((least, picture) => Math.min(least, picture.at), Infinity);
  const known = executions.filter(execution => execution.at >= began);
  const sum = (all: readonly Execution[]) => ({
    count: all.length,
    prices: all.reduce((total, one) => total + one.price, 0n),
    values: all.reduce((total, one) => total + one.price * one.amount, 0n),
    bought: sided ? all.filter(one => one.side === 'buy').length : null,
    sold: sided ? all.filter(one => one.side === 'sell').length : null,
  });
  const imported: Execution[] = [];
  let clears = 0;
  let levels = 0n;
  for (let i = 0; i < length; i++) {
    if (kind[i] === KIND.clear) clears++;
    if (kind[i] === KIND.level) levels += of.price(price[i]!) * of.amount(amount[i]!);
    if (kind[i] !== KIND.trade) continue;
    const word = side[i] === SIDE.buy ? 'buy' : side[i] === SIDE.sell ? 'sell' : '';
    imported.push({ at: at[i]!, price: of.price(price[i]!), amount: of.amount(amount[i]!), side: word });
  }
  expect(sum(imported)).toEqual(sum(known));
  if (!steps) {
    const stand = (level: readonly Level[]) =>
      level.reduce((total, [p, a]) => total + p * (tape.quotesOnly ? of.amount(1) : a), 0n);
    expect([clears, levels]).toEqual([
      pictures.length,
      pictures.reduce((total, { bids, asks }) => total + stand(bids) + stand(asks), 0n),
    ]);
  }
  // Numbers that look random, the same ones each time.
  let seed = 20_261_123;
  const drawn = Array.from({ length: 20 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return moments[seed % moments.length]!;
  }).sort((a, b) => a.at - b.at);
  const book = new RecordedBook(tape.columns);
  let row = 0;
  const latest = new Map(pictures.map(picture => [picture.at, picture]));
  for (const { at: moment } of drawn) {
    while (row < length && at[row]! <= moment) book.apply(row++);
    const { bids, asks } = latest.get(moment)!;
    const best = (all: readonly Level[], sign: bigint) => all.reduce((a, b) => ((b[0] - a[0]) * sign > 0n ? b : a));
    const touch = [best(bids, 1n), best(asks, -1n)].map(([p, a]) => [p, tape.quotesOnly ? null : a]);
    const found = [book.bids, book.asks].map(levels => {
      const p = levels.priceAt(0);
      return [of.price(p), tape.quotesOnly ? null : of.amount(levels.amountOf(p))];
    });
    expect([moment, ...found]).toEqual([moment, ...touch]);
  }
}

/** Replies of one book and one page of trades. */
function bitsoReplies(dir: string): Read {
  const payloadOf = (name: string) =>
    (JSON.parse(readFileSync(join(dir, `${name}.json`), 'utf8')) as { readonly payload: unknown }).payload;
  type Row = Readonly<Record<'book' | 'price' | 'amount' | 'created_at' | 'maker_side', string>>;
  const book = payloadOf('publicOrderBook') as Readonly<Record<'bids' | 'asks', readonly Row[]>> & {
    updated_at: string;
  };
  const levels = (rows: readonly Row[]) => rows.map(({ price, amount }): Level => [units(price), units(amount)]);
  return {
    pictures: [{ at: Date.parse(book.updated_at), bids: levels(book.bids), asks: levels(book.asks) }],
    executions: (payloadOf('publicTrades') as readonly Row[]).map(({ created_at, price, amount, maker_side }) => ({
      at: Date.parse(created_at.replace('+0000', 'Z')),
      price: units(price),
      amount: units(amount),
      side: maker_side === 'buy' ? 'sell' : 'buy',
    })),
  };
}

const CASES: readonly (How & { readonly set: string; readonly book: string; readonly read: (dir: string) => Read })[] =
  [
    {
      set: 'bitstamp-btcusd-2015-05-01-book-orders-trades',
      book: 'btc_usd',
      read: bitstamp,
      sided: false,
    },
    { set: 'gemini-ethusd-2021-07-01-l1-trades', book: 'eth_usd', read: gemini, steps: true },
    ...['BTC', 'ETH'].map(coin => ({
      set: 'hyperliquid-2025-09-04-l2-trades',
      book: `${coin.toLowerCase()}_usd`,
      read: (dir: string) => hyperliquid(dir, coin),
    })),
    ...['btc', 'eth'].map(coin => ({
      set: 'binance-spot-2024-08-08',
      book: `${coin}_usdt`,
      read: (dir: string) => binance(lines2024(dir, `${coin}usdt`)),
      steps: true,
    })),
    {
      set: 'binance-spot-2020-11-01-ethbtc-l2-trades',
      book: 'eth_btc',
      read: dir => binance(lists2020(dir)),
      steps: true,
    },
    { set: 'standx-btcusd-2026-01-dirty-l2-trades', book: 'btc_usd', read: standx, sided: false },
    ...['btc_mxn', 'usd_mxn', 'btc_mxn-sandbox', 'usd_mxn-sandbox'].map(book => {
      const [name, where = 'production'] = book.split('-');
      return { set: 'bitso-bbo-1s', book, read: (dir: string) => bitsoBbo(dir, new RegExp(`^${name}_.*_${where}`)) };
    }),
    { set: 'bitso-api-fixtures/bitso-java', book: 'btc_mxn', read: bitsoReplies },
  ];

describe('plain lines of the recording say what the tape says', () => {
  for (const { set, book, read, ...how } of CASES)
    itOnRecording(set, `${set}: ${book}`, async dir => {
      const tape = await openTape(dir, { book });
      expectAsTold(set, null, book, tape);
      expectSame(tape, read(dir), how);
    });

  itOnRecording('gemini-ethusd-2021-07-01-l1-trades', 'what is filled in is counted', async dir => {
    const tape = await openTape(dir);
    const again = tape.flaws.find(
      ({ what }) => what === 'seconds without a book row after a second with trades',
    )!.count;
    expect(tape.columns.kind.filter(kind => kind === KIND.clear)).toHaveLength(gemini(dir).pictures.length + again);
  });

  it('and these are the sets that the page says are known by their files', () => {
    expect(CASES.map(({ set, book }) => [set, book])).toEqual(
      TOLD.filter(({ mapping }) => mapping === null).map(({ set, book }) => [set, book]),
    );
  });

  itOnRecording('.', 'and no set is left out of the page', async dir => {
    const sets = readdirSync(dir, { withFileTypes: true }).filter(entry => entry.isDirectory());
    const told = [...TOLD.map(({ set }) => set.split('/')[0]), ...UNREAD];
    expect(sets.map(({ name }) => name).filter(name => !told.includes(name))).toEqual([]);
    return Promise.resolve();
  });
});

describe('Tardis files as drawn', () => {
  /** A minute of updates of some levels, with a whole book at the beginning and one in the middle; trades with ids. */
  const drawn = () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const start = Date.parse('2025-01-31T23:59:30Z') * 1_000;
    const books: string[] = [];
    const trades: string[] = [];
    for (let i = 0; i < 600; i++) {
      const at = start + i * 100_000;
      const row = (snapshot: boolean, side: string, price: number, size: number) =>
        books.push(
          `deribit,BTC-USD,${at},${at + 900},${snapshot},${side},${(price / 2).toFixed(1)},${(size / 1e4).toFixed(4)}`,
        );
      if (i % 300 === 0)
        for (let level = 0; level < 20; level++) {
          row(true, 'bid', 199_999 - level, 1 + random(99_999));
          row(true, 'ask', 200_001 + level, 1 + random(99_999));
        }
      row(false, 'bid', 199_999 - random(20), random(3) * random(99_999));
      row(false, 'ask', 200_001 + random(20), random(3) * random(99_999));
      if (i % 4 === 1) {
        const [side, price] = random(2) === 0 ? ['buy', 200_001] : ['sell', 199_999];
        trades.push(
          `deribit,BTC-USD,${at + 5},${at + 905},${i},${side},${(price / 2).toFixed(1)},${(1 + random(999)) / 1e4}`,
        );
      }
    }
    return { books, trades };
  };

  it('are read as DuckDB reads them, over two days of files', async () => {
    const { books, trades } = drawn();
    const heads = {
      incremental_book_L2: 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount',
      trades: 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount',
    };
    const midnight = Date.parse('2025-02-01T00:00:00Z') * 1_000;
    const days = (kind: keyof typeof heads, lines: readonly string[]) => ({
      [`z_${kind}_2025-01-31.csv.gz`]: [
        heads[kind],
        ...lines.filter(line => Number(line.split(',')[2]) < midnight),
      ].join('\n'),
      [`a_${kind}_2025-02-01.csv.gz`]: [
        heads[kind],
        ...lines.filter(line => Number(line.split(',')[2]) >= midnight),
      ].join('\n'),
    });
    await withFolder({ ...days('incremental_book_L2', books), ...days('trades', trades) }, async dir => {
      const tape = await openTape(dir);
      const database = await DuckDBInstance.create(':memory:');
      const connection = await database.connect();
      const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
      const table = (kind: string) => `read_csv('${dir}/*${kind}*', all_varchar = true, union_by_name = true)`;
      const { kind, side, at, price, amount, length } = tape.columns;
      const rows = Array.from({ length }, (_, i) => i).filter(i => kind[i] === KIND.trade);
      const of = scaled(tape);
      const sql = `select count(*), sum(price::decimal(20, 8) * amount::decimal(20, 8))::varchar, count(*) filter (side = 'buy') from ${table('trades')}`;
      const [[count, value, buys] = []] = await query(sql);
      const sum = rows.reduce((total, i) => total + of.price(price[i]!) * of.amount(amount[i]!), 0n);
      expect([rows.length, sum, rows.filter(i => side[i] === SIDE.buy).length]).toEqual([
        Number(count),
        units(value as string) * 100_000_000n,
        Number(buys),
      ]);
      const book = new RecordedBook(tape.columns);
      let row = 0;
      for (let i = 0; i < 20; i++) {
        const moment = Number(books[0]!.split(',')[2]) / 1_000 + 2_900 * i + 50;
        while (row < length && at[row]! <= moment) book.apply(row++);
        // Of each price the last that was said since the last whole book.
        const since = `(select max(timestamp::bigint) from ${table('book_L2')} where is_snapshot = 'true' and timestamp::bigint <= ${moment} * 1000)`;
        const last = `select side, price::double as price, last(amount::double order by timestamp::bigint, is_snapshot = 'false') as left_over from ${table('book_L2')} where timestamp::bigint between ${since} and ${moment} * 1000 group by side, price`;
        const [[bid, ask] = []] = await query(
          `select max(price) filter (side = 'bid'), min(price) filter (side = 'ask') from (${last}) where left_over > 0`,
        );
        expect([book.bids.priceAt(0) / 2, book.asks.priceAt(0) / 2]).toEqual([bid, ask]);
      }
      connection.closeSync();
      database.closeSync();
    });
  });
});

describe('a silence is a gap in every format', () => {
  itOnRecording('standx-btcusd-2026-01-dirty-l2-trades', 'StandX: 108 s that are taken out are named', async dir => {
    const text = (pattern: RegExp) => linesOf(dir, pattern);
    const [header, ...books] = text(/^orderbook_/);
    const atOf = (line: string) => Number(line.split(',')[0]);
    const from = atOf(books[8_000]!);
    const before = books.filter(line => atOf(line) <= from);
    const after = books.filter(line => atOf(line) >= from + 108_000);
    const files = {
      'orderbook_BTC-USD_1.csv': [header, ...before, ...after].join('\n'),
      'trades_BTC-USD_1.csv': text(/^trades_/).join('\n'),
    };
    const { gaps } = await withFolder(files, folder => openTape(folder));
    expect(gaps).toEqual([{ from, to: atOf(after[0]!), why: 'no book during the gap' }]);
    expect(Math.floor((gaps[0]!.to - gaps[0]!.from) / 1_000)).toBe(108);
  });
});
