/** Finds out what a folder of recordings holds and imports the book that was asked for. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { importBinance } from './binance.ts';
import { importBitsoBbo } from './bitsoBbo.ts';
import { importBitstamp } from './bitstamp.ts';
import { importGemini } from './gemini.ts';
import { importHyperliquid } from './hyperliquid.ts';
import { importStandx } from './standx.ts';
import type { Tape } from './tape.ts';

/** One book that a folder can give. */
type Choice = { readonly name: string; readonly load: () => Promise<Tape> };

type Shape = { readonly name: string; readonly books: (dir: string, files: readonly string[]) => Choice[] };

/** Loads one book of a recording. Throws an Error of one line that says what is wrong and what would be right. */
export async function openTape(dir: string, options: { readonly book?: string } = {}): Promise<Tape> {
  const files = await filesOf(dir);
  const choices = SHAPES.flatMap(shape => shape.books(dir, files));
  const names = choices.map(choice => choice.name).join(', ');
  if (choices.length === 0) {
    throw new Error(`${dir}: no recording recognised; known are: ${SHAPES.map(shape => shape.name).join('; ')}`);
  }
  if (options.book === undefined) {
    if (choices.length === 1) return choices[0]!.load();
    throw new Error(`${dir}: holds several books; choose one of: ${names}`);
  }
  const chosen = choices.find(choice => choice.name === options.book);
  if (!chosen) throw new Error(`${dir}: holds no book ${options.book}; it has: ${names}`);
  return chosen.load();
}

async function filesOf(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    const why = code === 'ENOENT' ? 'no such folder' : code === 'ENOTDIR' ? 'not a folder' : code;
    throw new Error(`${dir}: ${why}`, { cause: error });
  }
}

/** Calls `make` for each file whose name matches, with the pattern's groups. */
function matching<T>(files: readonly string[], pattern: RegExp, make: (file: string, groups: string[]) => T[]): T[] {
  return files.flatMap(file => {
    const match = pattern.exec(file);
    return match ? make(file, match.slice(1)) : [];
  });
}

const HYPERLIQUID_TICKS: Readonly<Record<string, string>> = { BTC: '1', ETH: '0.1' };

const SHAPES: readonly Shape[] = [
  {
    name: 'Gemini top of book and trades (gemini__*__market-depth.csv, gemini__*__trade.csv)',
    books: (dir, files) =>
      matching(files, /^gemini__(\w+)-(\w+)__(.+)__market-depth(\.csv(?:\.gz)?)$/, (file, [base, quote, day, end]) => {
        const trades = `gemini__${base}-${quote}__${day}__trade${end}`;
        if (!files.includes(trades)) return [];
        const book = `${base}_${quote}`;
        return [{ name: book, load: () => importGemini({ depth: join(dir, file), trades: join(dir, trades), book }) }];
      }),
  },
  {
    name: 'Bitstamp log of books, orders and trades (bitstamp_*.log)',
    books: (dir, files) =>
      matching(files, /^bitstamp_([a-z]{3})([a-z]{3})_.*\.log(?:\.gz)?$/, (file, [base, quote]) => {
        const book = `${base}_${quote}`;
        return [{ name: book, load: () => importBitstamp({ log: join(dir, file), book }) }];
      }),
  },
  {
    name: 'Hyperliquid books and trades (orderbooks_BTC.csv, trades_BTC.csv, and ETH)',
    books: (dir, files) =>
      matching(files, /^orderbooks_(BTC|ETH)(\.csv(?:\.gz)?)$/, (file, [coin, end]) => {
        const trades = `trades_${coin}${end}`;
        if (!files.includes(trades)) return [];
        const book = `${coin!.toLowerCase()}_usd`;
        const tick = HYPERLIQUID_TICKS[coin!]!;
        return [
          {
            name: book,
            load: () => importHyperliquid({ books: join(dir, file), trades: join(dir, trades), book, tick }),
          },
        ];
      }),
  },
  {
    name: 'Binance spot streams (spot_btcusdt_*.jsonl)',
    books: (dir, files) =>
      matching(files, /^spot_([a-z]+)(usdt|usdc|btc)_.*\.jsonl(?:\.gz)?$/, (file, [base, quote]) => {
        const book = `${base}_${quote}`;
        return [{ name: book, load: () => importBinance({ stream: join(dir, file), book }) }];
      }),
  },
  {
    name: 'StandX books and trades (orderbook_BTC-USD_*.csv, trades_BTC-USD_*.csv)',
    books: (dir, files) =>
      matching(files, /^orderbook_([A-Z]+)-([A-Z]+)_(.+\.csv(?:\.gz)?)$/, (file, [base, quote, end]) => {
        const trades = `trades_${base}-${quote}_${end}`;
        if (!files.includes(trades)) return [];
        const book = `${base}_${quote}`.toLowerCase();
        return [{ name: book, load: () => importStandx({ books: join(dir, file), trades: join(dir, trades), book }) }];
      }),
  },
  {
    name: 'Bitso best bid and ask (btc_mxn_*_production.csv, *_sandbox.csv)',
    books: (dir, files) =>
      matching(files, /^([a-z]+_[a-z]+)_[\d-]+_(production|sandbox)\.csv(?:\.gz)?$/, (file, [book, where]) => {
        // Production prices lie on the book's tick; the sandbox quotes finer than any published tick.
        const tick = book === 'usd_mxn' ? '0.001' : where === 'production' ? '10' : '0.01';
        const name = where === 'production' ? book! : `${book}-sandbox`;
        return [{ name, load: () => importBitsoBbo({ quotes: join(dir, file), book: book!, tick }) }];
      }),
  },
];
