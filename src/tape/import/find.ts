/** Finds out what a file or folder of recordings holds: every book of it, by the names and first lines of its files. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DecimalText } from '../../core/index.ts';
import { tapeRules } from '../model/tapeRules.ts';
import { binance } from './binance.ts';
import { bitsoBbo } from './bitsoBbo.ts';
import { bitsoReplies, surveyReplies } from './bitsoReplies.ts';
import { bitstamp } from './bitstamp.ts';
import { bookNameOf } from './bookName.ts';
import { WrongFile } from './findings.ts';
import { gemini } from './gemini.ts';
import type { Grid } from './grid.ts';
import { hftbacktest, hftbacktestGrid, isHftbacktest, tellsOrders } from './hftbacktest.ts';
import { hyperliquid } from './hyperliquid.ts';
import { firstLines } from './lines.ts';
import type { Recording } from './recording.ts';
import { standx } from './standx.ts';
import { tardis, tardisFile, tardisGrid } from './tardis.ts';
import type { TardisFiles } from './tardis.ts';

/** What a person may say about a recording that does not say it itself. */
export type Given = {
  readonly book?: string;
  readonly format?: string;
  readonly tick?: DecimalText;
  readonly lot?: DecimalText;
};

/** One book that a folder can give. `name` is null where only a person knows which book it is. */
type Choice = {
  readonly name: string | null;
  /** What the recording itself calls it, where that is not the name. */
  readonly called?: string;
  readonly open: (book: string, given: Given, onBytes: (count: number) => void) => Promise<Recording> | Recording;
};

type Found = {
  readonly dir: string;
  readonly files: readonly string[];
  readonly onBytes: (count: number) => void;
};
type Shape = {
  readonly format: string;
  readonly looks: string;
  readonly books: (found: Found) => readonly Choice[] | Promise<readonly Choice[]>;
};

/** What `Given.format` may be, in the order in which they are looked for. */
export const formats = (): readonly string[] => SHAPES.map(({ format }) => format);

/** Opens one book of a recording. Rejects with an Error of one line that says what is wrong and what would be right. */
export async function findRecording(
  path: string,
  given: Given = {},
  onBytes: (count: number) => void = () => undefined,
): Promise<Recording> {
  const chosen = chosenOf(path, await choicesAt(path, given.format, onBytes), given.book);
  try {
    return await chosen.choice.open(chosen.book, given, onBytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new WrongFile(`${path}: ${error.message}`, { cause: error });
  }
}

/** Names of the books of a recording; undefined where it does not say. Rejects as `findRecording` does. */
export const recordedBooks = async (path: string): Promise<readonly (string | undefined)[]> =>
  (await choicesAt(path)).map(({ name, called }) => name ?? called);

async function choicesAt(
  path: string,
  format?: string,
  onBytes: (count: number) => void = () => undefined,
): Promise<readonly Choice[]> {
  const found = await filesAt(path);
  const shapes = SHAPES.filter(shape => format === undefined || shape.format === format);
  if (shapes.length === 0) throw new Error(`no format ${format}; there are ${formats().join(', ')}`);
  const choices: Choice[] = [];
  for (const shape of shapes) choices.push(...(await shape.books({ ...found, onBytes })));
  if (choices.length === 0)
    throw new Error(`${path}: no recording recognised; known are: ${shapes.map(({ looks }) => looks).join('; ')}`);
  return choices;
}

function chosenOf(
  path: string,
  choices: readonly Choice[],
  book: string | undefined,
): { readonly choice: Choice; readonly book: string } {
  const names = choices.map(({ name, called }) => name ?? called ?? '?').join(', ');
  const [only, other] = choices;
  if (book === undefined) {
    if (other !== undefined || only === undefined)
      throw new Error(`${path}: holds several books; choose one of: ${names}`);
    if (only.name === null)
      throw new Error(
        `${path}: does not say which book it is of${only.called === undefined ? '' : ` (${only.called})`}; name it with --book, like btc_usdt`,
      );
    return { choice: only, book: only.name };
  }
  const choice =
    choices.find(({ name }) => name === book) ??
    choices.find(({ called }) => called === book) ??
    (other === undefined && only !== undefined && (only.name === null || only.called !== undefined) ? only : undefined);
  if (choice === undefined) throw new Error(`${path}: holds no book ${book}; it has: ${names}`);
  return { choice, book: choice.called === book ? (choice.name ?? book) : book };
}

async function filesAt(path: string): Promise<Pick<Found, 'dir' | 'files'>> {
  try {
    if ((await stat(path)).isFile()) return { dir: dirname(path), files: [basename(path)] };
    return { dir: path, files: (await readdir(path)).sort() };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    const why = code === 'ENOENT' ? 'no such folder' : code === 'ENOTDIR' ? 'not a folder' : code;
    throw new Error(`${path}: ${why}`, { cause: error });
  }
}

/** Calls `make` for each file whose name matches, with the pattern's groups. */
function matching<T>(files: readonly string[], pattern: RegExp, make: (file: string, groups: string[]) => T[]): T[] {
  return files.flatMap(file => {
    const match = pattern.exec(file);
    return match ? make(file, match.slice(1)) : [];
  });
}

/** The grid that was given; without a tick the one that is inferred from all prices, and what to say about it. */
async function gridOf(
  given: Given,
  infer: () => Promise<Grid>,
): Promise<{ readonly grid: Partial<Grid> & Pick<Grid, 'tick'>; readonly notes: readonly string[] }> {
  const { tick, lot } = given;
  if (tick !== undefined) return { grid: { tick, ...(lot !== undefined && { lot }) }, notes: [] };
  const found = await infer();
  return {
    grid: { tick: found.tick, lot: lot ?? found.lot },
    notes: [`tick ${found.tick} inferred from the prices (or say --tick)`],
  };
}

/** Files of one instrument, in order of time; snapshots and updates of one book are two recordings of it. */
async function tardisBooks({ dir, files }: Found): Promise<readonly Choice[]> {
  const byMarket = new Map<string, { symbol: string; files: { kind: string; path: string; from: number }[] }>();
  for (const name of files.filter(file => /\.csv(\.gz)?$/.test(file))) {
    const path = join(dir, name);
    const file = tardisFile(await firstLines(path, 2));
    if (file === null) continue;
    const key = `${file.exchange} ${file.symbol}`;
    const market = byMarket.get(key) ?? { symbol: file.symbol, files: [] };
    market.files.push({ kind: file.kind, path, from: file.from });
    byMarket.set(key, market);
  }
  return [...byMarket.values()].flatMap(({ symbol, files: of }) => {
    const pathsOf = (kind: string) =>
      of
        .filter(file => file.kind === kind)
        .sort((a, b) => a.from - b.from)
        .map(({ path }) => path);
    // Updates tell more than snapshots of 25 levels.
    const kind = of.some(file => file.kind === 'incremental_book_L2') ? 'incremental_book_L2' : 'book_snapshot';
    const set: TardisFiles = { kind, books: pathsOf(kind), trades: pathsOf('trades'), symbol };
    if (set.books.length === 0) return [];
    const open: Choice['open'] = async (book, given, onBytes) => {
      const { grid, notes } = await gridOf(given, () => tardisGrid(set, onBytes));
      return tardis(set, tapeRules(book, grid.tick, grid.lot).instrument, notes);
    };
    return [{ name: bookNameOf(symbol), called: symbol, open }];
  });
}

async function replyBooks({ dir, files, onBytes }: Found): Promise<readonly Choice[]> {
  const paths: string[] = [];
  for (const name of files.filter(file => /\.(jsonl|ndjson|json)(\.gz)?$/.test(file))) {
    const path = join(dir, name);
    const [first = ''] = await firstLines(path, 1);
    // Binance lines begin with a time.
    if (first.trimStart().startsWith('{')) paths.push(path);
  }
  if (paths.length === 0) return [];
  const found = await surveyReplies(paths, onBytes);
  return found.map(of => ({ name: of.book, open: (_book, given) => bitsoReplies(paths, of, given) }));
}

function hftbacktestBooks({ dir, files }: Found): readonly Choice[] {
  const paths = files.filter(isHftbacktest).map(file => join(dir, file));
  if (paths.length === 0) return [];
  const open: Choice['open'] = async (book, given, onBytes) => {
    const { grid, notes } = await gridOf(given, () => hftbacktestGrid(paths, onBytes));
    const instrument = tapeRules(book, grid.tick, grid.lot).instrument;
    return hftbacktest(paths, instrument, await tellsOrders(paths), notes);
  };
  return [{ name: null, open }];
}

const HYPERLIQUID_TICKS: Readonly<Record<string, string>> = { BTC: '1', ETH: '0.1' };

const SHAPES: readonly Shape[] = [
  {
    format: 'bitso-replies',
    looks: "replies of the exchange's REST interface, one JSON a line (*.jsonl, *.json)",
    books: replyBooks,
  },
  {
    format: 'tardis',
    looks: 'Tardis incremental_book_L2, book_snapshot_25 and trades (*.csv, by their headers)',
    books: tardisBooks,
  },
  { format: 'hftbacktest', looks: 'hftbacktest event arrays (*.npz, *.npy)', books: hftbacktestBooks },
  {
    format: 'gemini',
    looks: 'Gemini top of book and trades (gemini__*__market-depth.csv, gemini__*__trade.csv)',
    books: ({ dir, files }) =>
      matching(files, /^gemini__(\w+)-(\w+)__(.+)__market-depth(\.csv(?:\.gz)?)$/, (file, [base, quote, day, end]) => {
        const trades = `gemini__${base}-${quote}__${day}__trade${end}`;
        if (!files.includes(trades)) return [];
        const paths = { depth: join(dir, file), trades: join(dir, trades) };
        return [{ name: `${base}_${quote}`, open: book => gemini({ ...paths, book }) }];
      }),
  },
  {
    format: 'bitstamp',
    looks: 'Bitstamp log of books, orders and trades (bitstamp_*.log)',
    books: ({ dir, files }) =>
      matching(files, /^bitstamp_([a-z]{3})([a-z]{3})_.*\.log(?:\.gz)?$/, (file, [base, quote]) => [
        { name: `${base}_${quote}`, open: book => bitstamp({ log: join(dir, file), book }) },
      ]),
  },
  {
    format: 'hyperliquid',
    looks: 'Hyperliquid books and trades (orderbooks_BTC.csv, trades_BTC.csv, and ETH)',
    books: ({ dir, files }) =>
      matching(files, /^orderbooks_(BTC|ETH)(\.csv(?:\.gz)?)$/, (file, [coin, end]) => {
        const trades = `trades_${coin}${end}`;
        if (!files.includes(trades)) return [];
        const tick = HYPERLIQUID_TICKS[coin!]!;
        const paths = { books: join(dir, file), trades: join(dir, trades), tick };
        return [{ name: `${coin!.toLowerCase()}_usd`, open: book => hyperliquid({ ...paths, book }) }];
      }),
  },
  {
    format: 'binance',
    looks: 'Binance spot streams (spot_btcusdt_*.jsonl)',
    books: ({ dir, files }) =>
      matching(files, /^spot_([a-z]+)(usdt|usdc|btc)_.*\.jsonl(?:\.gz)?$/, (file, [base, quote]) => [
        { name: `${base}_${quote}`, open: book => binance({ stream: join(dir, file), book }) },
      ]),
  },
  {
    format: 'standx',
    looks: 'StandX books and trades (orderbook_BTC-USD_*.csv, trades_BTC-USD_*.csv)',
    books: ({ dir, files }) =>
      matching(files, /^orderbook_([A-Z]+)-([A-Z]+)_(.+\.csv(?:\.gz)?)$/, (file, [base, quote, end]) => {
        const trades = `trades_${base}-${quote}_${end}`;
        if (!files.includes(trades)) return [];
        const paths = { books: join(dir, file), trades: join(dir, trades) };
        return [{ name: `${base}_${quote}`.toLowerCase(), open: book => standx({ ...paths, book }) }];
      }),
  },
  {
    format: 'bitso-bbo',
    looks: 'Bitso best bid and ask (btc_mxn_*_production.csv, *_sandbox.csv)',
    books: ({ dir, files }) =>
      matching(files, /^([a-z]+_[a-z]+)_[\d-]+_(production|sandbox)\.csv(?:\.gz)?$/, (file, [book, where]) => {
        // Production prices lie on the book's tick; the sandbox quotes finer than any published tick.
        const tick = book === 'usd_mxn' ? '0.001' : where === 'production' ? '10' : '0.01';
        const name = where === 'production' ? book! : `${book}-sandbox`;
        return [{ name, open: () => bitsoBbo({ quotes: join(dir, file), book: book!, tick }) }];
      }),
  },
];
