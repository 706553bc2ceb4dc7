/** `puntas import --append`: a tape that is gone on with is the tape that one import of everything would have made. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeImport, importTape, type ImportOptions } from '../../src/app/tapes/import.ts';
import { LastDay, loadStoredTape, openStoredTape } from '../../src/tape/index.ts';
import { itOnRecording, withFolder } from './folder.ts';
import { NO_PROGRESS } from '../app/noProgress.ts';

const imported = (from: string, out: string, options: Partial<ImportOptions> = {}) =>
  importTape({ from, out, append: false, progress: NO_PROGRESS, ...options });
const appended = (from: string, out: string, options: Partial<ImportOptions> = {}) =>
  imported(from, out, { append: true, ...options });

/** All of a stored tape but where its files were. */
function contentOf(dir: string) {
  const stored = openStoredTape(dir);
  const { columns, flaws } = loadStoredTape(stored);
  return {
    hash: stored.hash(),
    gaps: stored.gaps,
    flaws: flaws.map(({ what, count, done }) => [what, count, done]).sort(),
    days: stored.days.map(({ day, rows, closed }) => [day, rows, closed]),
    rows: columns.length,
  };
}

type Parts = { readonly first: Record<string, string>; readonly whole: Record<string, string> };

/** Imports the first part, goes on with the whole, and holds that against the whole in one. */
async function goneOnWith({ first, whole }: Parts, options: Partial<ImportOptions> = {}) {
  return withFolder(first, part =>
    withFolder(whole, all =>
      withFolder({}, async out => {
        const [once, twice] = [join(out, 'once'), join(out, 'twice')];
        const { rows, hash } = await imported(all, once, options);
        const before = await imported(part, twice, options);
        const after = await appended(all, twice, options);
        expect(contentOf(twice)).toEqual(contentOf(once));
        expect(after.hash).toBe(hash);
        expect([before.rows + after.rows, after.skipped]).toEqual([rows, before.rows]);
        // Once more: there is nothing newer.
        const again = await appended(all, twice, options);
        expect([again.rows, again.skipped, again.from, again.hash]).toEqual([0, rows, null, hash]);
        expect(describeImport(again)).toContain(
          `${rows} rows were skipped, because they are not newer than the last row of the tape`,
        );
        expect(describeImport(again)).not.toMatch(/NaN|Infinity|Invalid|undefined/);
        expect(readdirSync(out)).toEqual(['once', 'twice']);
        expect(readdirSync(twice)).toEqual([expect.stringMatching(/^book=/)]);
      }),
    ),
  );
}

const HEAD = 'timestamp,sequence,exchange_timestamp,bid_price_0,bid_size_0,ask_price_0,ask_size_0';
const TRADES = 'timestamp,price,size,side,trade_id,exchange_timestamp';
const START = Date.parse('2025-09-03T22:00:00Z');
const bookAt = (at: number, bid = 100, size = '1.5') => `${at / 1000},1,${at},${bid}.0,${size},${bid + 1}.0,2.0`;
const tradeAt = (at: number, id: number) => `${at / 1000},101.0,0.25,buy,${id},${at}`;
const files = (books: readonly string[], trades: readonly string[]) => ({
  'orderbooks_BTC.csv': [HEAD, ...books].join('\n'),
  'trades_BTC.csv': [TRADES, ...trades].join('\n'),
});

describe('a tape that is gone on with', () => {
  it('is the same as one import of all, wherever the first ended, over midnights, with its gaps and dirt', async () => {
    const step = fc.tuple(fc.integer({ min: 1, max: 40_000_000 }), fc.integer({ min: 90, max: 110 }), fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 30 }), fc.nat(), async (steps, where) => {
        let at = START;
        const told = steps.map(([pause, bid, isTrade], i) => {
          at += pause;
          // Some trades come twice: dirt.
          return { at, book: bookAt(at, bid), trade: isTrade ? [tradeAt(at, i + 1), tradeAt(at, i + 1)] : [] };
        });
        const some = told.slice(0, 1 + (where % (told.length - 1)));
        const of = (rows: typeof told) =>
          files(
            rows.map(({ book }) => book),
            rows.flatMap(({ trade }) => trade),
          );
        await goneOnWith({ first: of(some), whole: of(told) });
      }),
      { numRuns: 20 },
    );
  });

  const textOf = (dir: string, name: string) =>
    gunzipSync(readFileSync(join(dir, name)))
      .toString('latin1')
      .trimEnd();
  const column = (i: number) => (line: string) => Number(line.split(',')[i]);
  const ofBinance = (line: string): number => Number(/"T":(\d+)/.exec(line)?.[1] ?? /"E":(\d+)/.exec(line)?.[1] ?? 0);
  const REAL: readonly (readonly [
    string,
    readonly (readonly [RegExp, boolean, (line: string) => number])[],
    number?,
  ])[] = [
    [
      'gemini-ethusd-2021-07-01-l1-trades',
      [
        [/market-depth/, true, column(0)],
        [/__trade/, true, column(0)],
      ],
    ],
    [
      'hyperliquid-2025-09-04-l2-trades',
      [
        [/orderbooks_ETH/, true, column(2)],
        [/trades_ETH/, true, column(5)],
      ],
    ],
    [
      'standx-btcusd-2026-01-dirty-l2-trades',
      [
        [/orderbook_/, true, column(0)],
        [/trades_/, true, column(0)],
      ],
    ],
    ['bitstamp-btcusd-2015-05-01-book-orders-trades', [[/bitstamp/, false, line => Number(line.slice(0, 13))]]],
    ['binance-spot-2024-08-08', [[/ethusdt/, false, ofBinance]]],
    ['bitso-bbo-1s', [[/btc_mxn.*production/, true, line => Date.parse(line.split(',')[0]!)]]],
  ];
  for (const [set, sources] of REAL) {
    itOnRecording(set, `${set}: is the same as one import of all`, async dir => {
      const parts: Parts = { first: {}, whole: {} };
      let cut = Number.NaN;
      for (const [pattern, hasHeader, timeOf] of sources) {
        const name = readdirSync(dir).find(file => pattern.test(file))!;
        // Tickers have no time of the exchange to cut at, and are left out by the import too.
        const lines = textOf(dir, name)
          .split('\n')
          .filter(line => !line.includes('@bookTicker'));
        const header = hasHeader ? [lines.shift()!] : [];
        const times = lines.map(timeOf);
        // Two books in seconds that follow each other, so that nothing is filled in between them.
        if (Number.isNaN(cut))
          cut = times.find((at, i) => i > lines.length / 3 && at > times[i - 1]! && at - times[i - 1]! <= 1_000)!;
        parts.whole[name] = [...header, ...lines].join('\n');
        parts.first[name] = [...header, ...lines.filter(line => timeOf(line) < cut)].join('\n');
      }
      await goneOnWith(parts);
    });
  }

  itOnRecording(
    'fx-oanda-fxcm-2014-05-two-venues-l1',
    'a day of a mapped set after another, and then the folder',
    async dir => {
      const names = readdirSync(dir).filter(name => /^fxcm_nzdusd_2014050[127]/.test(name));
      expect(names).toHaveLength(3);
      const mapping = join(import.meta.dirname, '../../docs/mappings/fx.yaml');
      await withFolder({ 'fx.yaml': readFileSync(mapping, 'utf8').replace('eurusd', 'nzdusd') }, async out => {
        const options = { mapping: join(out, 'fx.yaml'), book: 'nzd_usd' };
        const [from, once, twice] = ['all', 'once', 'twice'].map(name => join(out, name)) as [string, string, string];
        mkdirSync(from);
        for (const name of names) {
          writeFileSync(join(from, name), readFileSync(join(dir, name)));
          await appended(from, twice, options);
        }
        await imported(from, once, options);
        expect(contentOf(twice)).toEqual(contentOf(once));
      });
    },
  );

  it('that was killed between two days ends with a whole one, and goes on from there', async () => {
    const told = (count: number) => {
      const times = Array.from({ length: count }, (_, i) => START + i * 3_600_000);
      return files(
        times.map(at => bookAt(at)),
        times.map((at, i) => tradeAt(at, i + 1)),
      );
    };
    await withFolder(told(2), part =>
      withFolder(told(60), all =>
        withFolder({}, async out => {
          const [once, twice] = [join(out, 'once'), join(out, 'twice')];
          await imported(all, once);
          await imported(part, twice);
          // The first of what is put back, and no more.
          const first = join('book=btc_usd', 'day=2025-09-03', 'rows.tape');
          writeFileSync(join(twice, first), readFileSync(join(once, first)));
          await appended(all, twice);
          expect(contentOf(twice)).toEqual(contentOf(once));
        }),
      ),
    );
  });

  it('names the time between as a gap where the recording does not reach back', async () => {
    const parts = [0, 1].map(i =>
      files(
        [0, 500].map(ms => bookAt(START + i * 7_200_000 + ms)),
        [tradeAt(START + i * 7_200_000 + 600, i + 1)],
      ),
    );
    await withFolder(parts[0]!, one =>
      withFolder(parts[1]!, two =>
        withFolder({}, async out => {
          await appended(one, out);
          const { gaps, skipped, rows } = await appended(two, out);
          const gap = {
            from: START + 600,
            to: START + 7_200_000,
            why: 'no data between the earlier import and this import',
          };
          expect([gaps, skipped, rows]).toEqual([[gap], 0, 7]);
          expect(openStoredTape(out)).toMatchObject({ gaps: [gap], rows: 14 });
          expect(openStoredTape(out).days.map(({ day }) => day)).toEqual(['2025-09-03', '2025-09-04']);
        }),
      ),
    );
  });

  it('has the book of the recording from there on, where its own was another', async () => {
    const head = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount';
    const row = (second: number, snapshot: boolean, side: string, price: string, size: string) =>
      `x,ETHUSD,17000000${String(second).padStart(2, '0')}000000,17000000${String(second).padStart(2, '0')}000000,${snapshot},${side},${price},${size}`;
    const file = (bid: string) => [
      head,
      row(1, true, 'bid', bid, '1'),
      row(1, true, 'ask', '12', '1'),
      row(2, false, 'bid', '11', '1'),
    ];
    await withFolder({ 'a.csv': file('10').join('\n') }, one =>
      withFolder({ 'a.csv': [...file('9'), row(3, false, 'ask', '12', '3')].join('\n') }, two =>
        withFolder({}, async out => {
          await imported(one, out);
          const { skipped, rows } = await appended(two, out);
          expect([skipped, rows]).toEqual([4, 5]);
          const { columns } = loadStoredTape(openStoredTape(out));
          const last = Array.from(columns.price).map((price, i) => [
            columns.at[i]! % 100_000,
            columns.kind[i],
            price,
            columns.amount[i]! / 1e8,
          ]);
          expect(last.slice(4)).toEqual([
            [2_000, 0, 0, 0],
            [2_000, 1, 9, 1],
            [2_000, 1, 11, 1],
            [2_000, 1, 12, 1],
            [3_000, 1, 12, 3],
          ]);
        }),
      ),
    );
  });
});

describe('going on with a tape is refused in one line', () => {
  const books = (count: number, step = 1) =>
    Array.from({ length: count }, (_, i) => bookAt(START + i * 500, 100 + i * step));
  const whole = files(books(3), []);

  it.each<[string, Partial<ImportOptions>, Record<string, string>, RegExp]>([
    [
      'for another tick than it has',
      { tick: '0.5' },
      whole,
      /--tick 0\.5: the tape of btc_usd in .* has the value 1; omit --tick/,
    ],
    [
      'for another lot',
      { lot: '0.1' },
      whole,
      /--lot 0\.1: the tape of btc_usd in .* has the value 0\.00000001; omit --lot/,
    ],
    [
      'for a book of another depth',
      { book: 'btc_usd' },
      {
        'a.csv':
          'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount\nx,BTC-USD,1757000000000000,1757000000000000,true,bid,5,1\n',
      },
      /contains 20 levels per side of btc_usd, but .* contains complete books; a tape cannot mix these, so choose another --out/,
    ],
    [
      'for prices that its tick does not have',
      {},
      files([bookAt(START + 9_000).replace('100.0', '100.5')], []),
      /price 100\.5 is not a multiple of btc_usd's tick size 1/,
    ],
  ])('%s, and stays as it was', async (_, options, second, message) => {
    await withFolder(whole, one =>
      withFolder(second, two =>
        withFolder({}, async out => {
          await imported(one, out);
          const before = contentOf(out);
          await expect(appended(two, out, options)).rejects.toThrow(message);
          expect(contentOf(out)).toEqual(before);
          expect(readdirSync(out)).toEqual(['book=btc_usd']);
        }),
      ),
    );
  });

  it('for a tape into which somebody records meanwhile', async () => {
    await withFolder(whole, from =>
      withFolder({}, async out => {
        await imported(from, out);
        const work = join(out, 'work');
        const copy = new LastDay(out, work, 'btc_usd');
        const rows = join(out, 'book=btc_usd', 'day=2025-09-03', 'rows.tape');
        const size = readFileSync(rows).length;
        appendFileSync(rows, 'more');
        expect(() => copy.putBack()).toThrow(
          /day=2025-09-03: changed by another process during the import; stop the other process, and import again/,
        );
        expect(readFileSync(rows)).toHaveLength(size + 4);
      }),
    );
  });

  it('says how to go on with a tape that is there', async () => {
    await withFolder(whole, from =>
      withFolder({}, async out => {
        await imported(from, out);
        await expect(imported(from, out)).rejects.toThrow(
          /book=btc_usd already exists; append to this tape with --append/,
        );
      }),
    );
  });
});
