/** A folder with several hours of one book is one tape, in order, and equal to the files joined by hand. */
import { createHash, randomInt } from 'node:crypto';
import fs, { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { booksIn, findRecording, mappedRecording, openTape, type Tape } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { few, isMany } from '../many.ts';
import { itOnRecording, withFolder } from './folder.ts';

const textOf = (dir: string, name: string) => gunzipSync(readFileSync(join(dir, name))).toString('latin1');

/** The file in three, by a time in its lines, each with the header of the whole. */
function inThree(
  text: string,
  hasHeader: boolean,
  timeOf: (line: string) => number,
  cuts: readonly number[],
): string[] {
  const lines = text.trimEnd().split('\n');
  const header = hasHeader ? [lines.shift()!] : [];
  return [0, 1, 2].map(part =>
    [
      ...header,
      ...lines.filter(
        line => (part === 0 || timeOf(line) >= cuts[part - 1]!) && (part === 2 || timeOf(line) < cuts[part]!),
      ),
    ].join('\n'),
  );
}

/** The gaps, how many rows, and a digest of each column: hundreds of thousands of rows are soon compared. */
const plain = ({ columns: { length, ...columns }, gaps }: Tape) => ({
  gaps,
  length,
  columns: Object.entries(columns).map(([name, column]) => [name, createHash('sha256').update(column).digest('hex')]),
});

/** `name` begins with what makes the parts sort against their times, so that only the times can put them in order. */
const CASES: readonly {
  readonly set: string;
  readonly book: string;
  readonly files: readonly {
    readonly pattern: RegExp;
    readonly name: (part: string) => string;
    readonly column: number;
  }[];
  readonly header: boolean;
}[] = [
  {
    set: 'gemini-ethusd-2021-07-01-l1-trades',
    book: 'eth_usd',
    files: [
      { pattern: /market-depth/, name: part => `gemini__eth-usd__${part}__market-depth.csv`, column: 0 },
      { pattern: /__trade/, name: part => `gemini__eth-usd__${part}__trade.csv`, column: 0 },
    ],
    header: true,
  },
  {
    set: 'hyperliquid-2025-09-04-l2-trades',
    book: 'eth_usd',
    files: [
      { pattern: /orderbooks_ETH/, name: part => `orderbooks_ETH_${part}.csv`, column: 0 },
      { pattern: /trades_ETH/, name: part => `trades_ETH_${part}.csv`, column: 0 },
    ],
    header: true,
  },
  {
    set: 'standx-btcusd-2026-01-dirty-l2-trades',
    book: 'btc_usd',
    files: [
      { pattern: /orderbook_/, name: part => `orderbook_BTC-USD_${part}.csv`, column: 0 },
      { pattern: /trades_/, name: part => `trades_BTC-USD_${part}.csv`, column: 0 },
    ],
    header: true,
  },
  {
    set: 'bitstamp-btcusd-2015-05-01-book-orders-trades',
    book: 'btc_usd',
    files: [{ pattern: /bitstamp/, name: part => `bitstamp_btcusd_${part}.log`, column: 0 }],
    header: false,
  },
  {
    set: 'binance-spot-2024-08-08',
    book: 'eth_usdt',
    files: [{ pattern: /ethusdt/, name: part => `spot_ethusdt_${part}.jsonl`, column: 0 }],
    header: false,
  },
];

describe('a folder of three files of one book', () => {
  for (const { set, book, files, header } of few(CASES, 1)) {
    itOnRecording(set, `${set}: gives the rows and gaps of the one file that they were cut from`, async dir => {
      const whole = await openTape(dir, { book });
      const timeOf = (line: string) => Number(/^[\d.]+/.exec(line)![0]);
      const cut: Record<string, string> = {};
      let cuts: number[] | null = null;
      for (const { pattern, name } of files) {
        const text = textOf(
          dir,
          readdirSync(dir).find(file => pattern.test(file))!,
        );
        const times = text.trimEnd().split('\n').slice(1).map(timeOf);
        cuts ??= [times[Math.floor(times.length / 3)]!, times[Math.floor((2 * times.length) / 3)]!];
        for (const [i, part] of inThree(text, header, timeOf, cuts).entries()) cut[name('cab'[i]!)] = part;
      }
      const joined = await withFolder(cut, folder => openTape(folder));
      expect(joined.columns.length).toBeGreaterThan(1_000);
      expect(plain(joined)).toEqual(plain(whole));
    });
  }

  itOnRecording('standx-btcusd-2026-01-dirty-l2-trades', 'a missing file of the middle is a gap, named', async dir => {
    const books = textOf(dir, 'orderbook_BTC-USD_2026-01-07_09.csv.gz').trimEnd().split('\n');
    const trades = textOf(dir, 'trades_BTC-USD_2026-01-07_09.csv.gz').trimEnd().split('\n');
    const third = Math.floor(books.length / 3);
    const rows = (lines: readonly string[]) => [books[0], ...lines].join('\n');
    const files = {
      'orderbook_BTC-USD_1.csv': rows(books.slice(1, third)),
      'orderbook_BTC-USD_3.csv': rows(books.slice(2 * third)),
      'trades_BTC-USD_1.csv': trades.slice(0, 100).join('\n'),
      'trades_BTC-USD_3.csv': [trades[0], ...trades.slice(-100)].join('\n'),
    };
    const { gaps } = await withFolder(files, folder => openTape(folder));
    const [before, after] = [books[third - 1]!, books[2 * third]!].map(line => Number(line.split(',')[0]));
    expect(gaps).toContainEqual({ from: before, to: after, why: 'no book during the gap' });
  });
});

describe('folders of days and hours', () => {
  const HOURS = ['2025-09-04/9', '2025-09-04/10', '2025-09-05/0'];
  const KINDS = ['orderbooks', 'trades'];
  /** The files of one coin, or their first lines in `npm test`. */
  const coin = (dir: string) =>
    Object.fromEntries(
      KINDS.map(kind => {
        const lines = textOf(dir, `${kind}_ETH.csv.gz`).split('\n');
        return [`${kind}_ETH.csv`, (isMany ? lines : lines.slice(0, Math.ceil(lines.length / 8))).join('\n')];
      }),
    );
  /** Three hours of one coin, by the names of their folders. */
  const hours = (dir: string) => {
    const cut: Record<string, string> = {};
    let cuts: number[] | null = null;
    for (const kind of KINDS) {
      const text = readFileSync(join(dir, `${kind}_ETH.csv`), 'utf8');
      const times = text.trimEnd().split('\n').slice(1).map(Number.parseFloat);
      cuts ??= [times[Math.floor(times.length / 3)]!, times[Math.floor((2 * times.length) / 3)]!];
      for (const [i, part] of inThree(text, true, Number.parseFloat, cuts).entries())
        cut[`${HOURS[i]}/${kind}_ETH.csv`] = part;
    }
    return cut;
  };
  const within = (folder: string, files: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

  itOnRecording('hyperliquid-2025-09-04-l2-trades', 'are one tape, below a coin too', async set => {
    const ofCoin = coin(set);
    const whole = plain(await withFolder(ofCoin, folder => openTape(folder)));
    const cut = await withFolder(ofCoin, async folder => hours(folder));
    for (const files of [cut, within('ETH', cut), within('2025', within('hour=07/l2', cut))]) {
      expect(plain(await withFolder(files, folder => openTape(folder)))).toEqual(whole);
      expect(await withFolder(files, booksIn)).toEqual(['eth_usd']);
    }
  });

  itOnRecording(
    'hyperliquid-2025-09-04-l2-trades',
    'are one tape by a mapping file that lies beside them',
    async set => {
      const mapping = readFileSync(join(import.meta.dirname, '../../docs/mappings/books.yaml'), 'utf8')
        .replaceAll('BTC', 'ETH')
        .replace('book: btc_usd\ntick: 1', 'book: eth_usd\ntick: 0.1');
      const [whole, cut] = await withFolder(coin(set), async dir => [await mappedWith(dir, mapping), hours(dir)]);
      const files = { ...cut, 'mapping.yaml': mapping };
      await withFolder(files, async folder => {
        expect(plain(await openTape(folder))).toEqual(plain(whole));
        expect(plain(await openTape(folder, { book: 'eth_usd' }))).toEqual(plain(whole));
        expect(await booksIn(folder)).toEqual(['eth_usd']);
        await expect(openTape(folder, { book: 'btc_usd' })).rejects.toThrow(
          /no book btc_usd; expected one of: eth_usd$/,
        );
      });
      const two = { ...files, 'a.mapping.yaml': mapping.replace('eth_usd', 'eth_usdc'), 'mapping.yaml': mapping };
      await withFolder(two, async folder => {
        expect(await booksIn(folder)).toEqual(['eth_usdc', 'eth_usd']);
        await expect(openTape(folder)).rejects.toThrow(/has several books; choose one of: eth_usdc, eth_usd$/);
        expect((await openTape(folder, { book: 'eth_usdc' })).instrument.symbol).toBe('eth_usdc');
      });
    },
  );

  it('give the date of times that count from midnight', async () => {
    const mapping = `book: btc_usd
tick: 1
tables:
  - files: '*/09.csv'
    kind: quotes
    time: { column: t, unit: ms, day: true }
    bid: b
    ask: a
`;
    const csv = 't,b,a\n1000,10,11';
    const files = {
      '2025-09-04/09.csv': csv,
      '2025-09-05/09.csv': csv,
      '2025-09-05/10.csv': csv,
      'mapping.yaml': mapping,
    };
    const { columns } = await withFolder(files, folder => openTape(folder));
    expect([...new Set(columns.at)]).toEqual([Date.parse('2025-09-04T00:00:01Z'), Date.parse('2025-09-05T00:00:01Z')]);
  });

  it('are looked for only where nothing is known beside them, and only under names of times', async () => {
    const set = files('2025');
    await expect(withFolder(within('notes', set), folder => openTape(folder))).rejects.toThrow(
      /no known recording format; known formats: .*; found notes$/,
    );
    expect((await withFolder(within('2025-09-04', set), folder => openTape(folder))).instrument.symbol).toBe('sol_usd');
  });
  const files = (name: string) => ({
    [`orderbooks_SOL_${name}.csv`]: [BOOKS, bookAt(1_757_000_000, '200.1', '200.2')].join('\n'),
    [`trades_SOL_${name}.csv`]: TRADES,
  });
});

const mappedWith = (dir: string, mapping: string) =>
  withFolder({ 'm.yaml': mapping }, async folder => collectTape(await mappedRecording(dir, join(folder, 'm.yaml'))));

const BOOKS = 'timestamp,sequence,exchange_timestamp,bid_price_0,bid_size_0,ask_price_0,ask_size_0';
const TRADES = 'timestamp,price,size,side,trade_id,exchange_timestamp';
const bookAt = (second: number, bid: string, ask: string) => `${second}.5,1,${second * 1000},${bid},3.0,${ask},2.5`;

describe('a folder of many packed files', () => {
  it('is looked at one file after another, and each is closed', async () => {
    const lines = Array.from(
      { length: 12_000 },
      (_, i) => `${bookAt(1_757_000_000, '200.1', '200.2')}${randomInt(1e9)}${i}`,
    );
    const hour = [BOOKS, ...lines].join('\n');
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [
        [`orderbooks_SOL_${i}.csv.gz`, hour],
        [`trades_SOL_${i}.csv.gz`, TRADES],
      ]).flat() as [string, string][],
    );
    await withFolder(files, async dir => {
      const watch = openFilesOf(dir);
      try {
        expect((await findRecording(dir, { format: 'hyperliquid', tick: '0.1' })).files).toHaveLength(24);
        expect(watch.most()).toBeLessThan(4);
        await watch.allClosed();
      } finally {
        watch.end();
      }
    });
  });
});

/** Watches the files of a folder that are open. */
function openFilesOf(dir: string) {
  const open = new Set<number>();
  let most = 0;
  let closed = (): void => undefined;
  const [reallyOpen, reallyClose] = [fs.open, fs.close];
  const opens = vi.spyOn(fs, 'open').mockImplementation(((path: string, ...rest: unknown[]) => {
    const done = rest.pop() as (error: Error | null, fd: number) => void;
    (reallyOpen as (...of: unknown[]) => void)(path, ...rest, (error: Error | null, fd: number) => {
      if (error === null && path.startsWith(dir)) most = Math.max(most, open.add(fd).size);
      done(error, fd);
    });
  }) as typeof fs.open);
  const closes = vi.spyOn(fs, 'close').mockImplementation((fd, done) => {
    if (open.delete(fd) && open.size === 0) closed();
    reallyClose(fd, done);
  });
  return {
    most: () => most,
    allClosed: () => new Promise<void>(resolve => (open.size === 0 ? resolve() : (closed = resolve))),
    end: () => [opens, closes].forEach(spy => spy.mockRestore()),
  };
}

describe('a folder that does not fit together', () => {
  it('names two recordings of one time by both files', async () => {
    const files = {
      'orderbooks_SOL_a.csv': [BOOKS, ...[0, 100, 200].map(s => bookAt(1_757_000_000 + s, '200.1', '200.2'))].join(
        '\n',
      ),
      'orderbooks_SOL_b.csv': [BOOKS, bookAt(1_757_000_050, '200.1', '200.2')].join('\n'),
      'trades_SOL_a.csv': TRADES,
      'trades_SOL_b.csv': TRADES,
    };
    await withFolder(files, async dir => {
      await expect(openTape(dir)).rejects.toThrow(
        /orderbooks_SOL_b\.csv: starts 150\.0 s before .*orderbooks_SOL_a\.csv ends/,
      );
    });
  });

  it('names books without trades, and takes the others; any coin has the tick of its prices, or the one that is given', async () => {
    const prices = Array.from({ length: 1_000 }, (_, i) => (200 + i * 0.05).toFixed(2));
    const lines = prices.map((bid, i) => bookAt(1_757_000_000 + i, bid, (Number(bid) + 0.1).toFixed(2)));
    const files = {
      'orderbooks_SOL_a.csv': [BOOKS, ...lines].join('\n'),
      'orderbooks_SOL_b.csv': [BOOKS, bookAt(1_757_009_000, '200.1', '200.2')].join('\n'),
      'trades_SOL_a.csv': TRADES,
    };
    await withFolder(files, async dir => {
      const inferred = await findRecording(dir);
      expect(inferred.instrument).toMatchObject({ symbol: 'sol_usd', tick: '0.05' });
      expect(inferred.notes).toContain(
        'orderbooks_SOL_b.csv skipped: the file trades_SOL_b.csv is missing in the same folder',
      );
      const { instrument } = await findRecording(dir, { tick: '0.01', lot: '0.5' });
      expect(instrument).toMatchObject({ tick: '0.01', lot: '0.5' });
    });
  });
});
