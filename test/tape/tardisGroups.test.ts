/** Tardis' files of a group of instruments, and quotes: each instrument is read as from files of its own. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KIND, openTape } from '../../src/tape/index.ts';
import { withFolder } from './folder.ts';
import { plainColumns } from './storedRows.ts';

const L2 = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount';
const TRADES = 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount';
const QUOTES = 'exchange,symbol,timestamp,local_timestamp,ask_amount,ask_price,bid_price,bid_amount';
const START = 1_700_000_000_000_000;
const SYMBOLS = ['BTCUSDT', 'ETHUSDT', 'BTC-PERPETUAL'];

const row = fc.record({
  symbol: fc.constantFrom(...SYMBOLS),
  wait: fc.integer({ min: 1, max: 3_000_000 }),
  ticks: fc.integer({ min: 100, max: 200 }),
  lots: fc.integer({ min: 1, max: 50 }),
});
const rows = fc.array(row, { minLength: 1, maxLength: 40 }).map(all => {
  let at = START;
  // Each begins with a row of its own.
  const first = SYMBOLS.map(symbol => ({ symbol, wait: 1, ticks: 100, lots: 1 }));
  return [...first, ...all].map((one, i) => ({ ...one, i, at: (at += one.wait) }));
});
type Row = typeof rows extends fc.Arbitrary<readonly (infer T)[]> ? T : never;
const head = ({ symbol, at }: Row) => `x,${symbol},${at},${at + 5}`;

/** Lines of a file, of all instruments or of one. */
const files = (all: readonly Row[], book: (row: Row) => string, header: string, name: string, only?: string) => {
  const of = all.filter(({ symbol }) => only === undefined || symbol === only);
  const end = only ?? 'PERPETUALS';
  return {
    [`x_${name}_2023-11-14_${end}.csv`]: [header, ...of.map(book)].join('\n'),
    [`x_trades_2023-11-14_${end}.csv`]: [
      TRADES,
      ...of.map(one => `${head(one)},${one.i + 1},buy,${one.ticks / 10},${one.lots}`),
    ].join('\n'),
  };
};

test.each<[string, string, (row: Row) => string]>([
  ['incremental_book_L2', L2, one => `${head(one)},${one.i < SYMBOLS.length},bid,${one.ticks / 10},${one.lots}`],
  ['quotes', QUOTES, one => `${head(one)},${one.lots},${one.ticks / 10 + 0.1},${one.ticks / 10},${one.lots + 1}`],
])('each instrument of a group of %s is read as from files of its own', async (name, header, book) => {
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom(...SYMBOLS), async (all, symbol) => {
      const given = symbol.includes('-') ? `btc_usd=${symbol}` : symbol.replace('USDT', '_USDT').toLowerCase();
      const read = (of: Readonly<Record<string, string>>) =>
        withFolder(of, async dir => plainColumns((await openTape(dir, { book: given })).columns));
      const own = await read(files(all, book, header, name, symbol));
      expect(await read(files(all, book, header, name))).toEqual(own);
      expect(own.filter(([kind]) => kind === KIND.trade).length).toBeGreaterThan(0);
    }),
    { numRuns: 30 },
  );
});

test('quotes give the best prices with their amounts, and an empty side is empty', async () => {
  const text = [
    QUOTES,
    `x,BTCUSDT,${START},${START + 5},2,101.5,100.5,3`,
    `x,BTCUSDT,${START + 7},${START + 9},,,100.5,4`,
  ].join('\n');
  await withFolder({ 'x_quotes_2023-11-14_BTCUSDT.csv.gz': text }, async dir => {
    const { columns, depth, instrument } = await openTape(dir);
    expect([depth, instrument.tick]).toEqual([1, '0.1']);
    expect(
      plainColumns(columns).map(([kind, side, at, , ticks, lots]) => [kind, side, at, ticks, lots! / 1e8]),
    ).toEqual([
      [0, 2, START / 1_000, 0, 0],
      [1, 0, START / 1_000, 1005, 3],
      [1, 1, START / 1_000, 1015, 2],
      [0, 2, (START + 7) / 1_000, 0, 0],
      [1, 0, (START + 7) / 1_000, 1005, 4],
    ]);
  });
});

test('a group without a book named says which there are, and not all of thousands', async () => {
  const lines = Array.from({ length: 2_000 }, (_, i) => `x,OPT-${i},${START + i},${START + i},1,2,1,1`);
  await withFolder({ 'x_quotes_2023-11-14_OPTIONS.csv': [QUOTES, ...lines].join('\n') }, async dir => {
    await expect(openTape(dir)).rejects.toThrow(/has several books; choose one of: OPT-0, OPT-1, .* and 1970 more$/);
    await expect(openTape(dir, { book: 'OPT-7' })).rejects.toThrow(
      /the name OPT-7 does not show its two currencies; add the currencies, like --book btc_usd=OPT-7$/,
    );
    await expect(openTape(dir, { book: 'btc_usd=OPT-x' })).rejects.toThrow(
      /no instrument OPT-x; expected one of: OPT-0, /,
    );
  });
});
