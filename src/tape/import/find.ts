/** Detection of the books in a file or folder of recordings, by file names and first lines. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DecimalText } from '../../core/index.ts';
import { tapeRules } from '../model/tapeRules.ts';
import { binance } from './binance.ts';
import { bitsoBbo } from './bitsoBbo.ts';
import { bitsoReplies, surveyReplies } from './bitsoReplies.ts';
import { bitstamp } from './bitstamp.ts';
import { WrongFile } from './read/findings.ts';
import { gemini } from './gemini.ts';
import type { Grid } from './inferredGrid.ts';
import { hftbacktest, hftbacktestGrid, isHftbacktest, hasOrderRecords } from './hftbacktest.ts';
import { hyperliquid } from './hyperliquid.ts';
import { firstLines } from './lines.ts';
import {
  bookNameOf,
  booksOfParts,
  filesAt,
  filesBelow,
  INFERRED,
  type BookChoice,
  type Found,
  type Given,
} from './bookFiles.ts';
import type { Recording } from './recording.ts';
import { standx } from './standx.ts';
import { isGrouped, symbolsIn, tardis, tardisFile, tardisGrid, type TardisFiles } from './tardis.ts';

type FormatChoice = BookChoice & { readonly format: string };

type Shape = {
  readonly format: string;
  readonly looks: string;
  readonly books: (found: Found) => readonly BookChoice[] | Promise<readonly BookChoice[]>;
};

/** Lists the known formats, the possible values of `Given.format`, in order of detection. */
export const formats = (): readonly string[] => SHAPES.map(({ format }) => format);

/** Opens one book of a recording. Rejects with an Error of one line with the problem and the expected input. */
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

/**
 * Lists the books of a recording. A name is `undefined` if the recording does not state it. Rejects as `findRecording`
 * does.
 */
export const recordedBooks = async (path: string): Promise<readonly (string | undefined)[]> =>
  (await choicesAt(path)).map(({ name, called }) => name ?? called);

async function choicesAt(
  path: string,
  format?: string,
  onBytes: (count: number) => void = () => undefined,
): Promise<readonly FormatChoice[]> {
  const found = await filesAt(path);
  const shapes = SHAPES.filter(shape => format === undefined || shape.format === format);
  if (shapes.length === 0) throw new Error(`unknown format ${format}; expected one of ${formats().join(', ')}`);
  const choicesOf = async (files: readonly string[]): Promise<readonly FormatChoice[]> => {
    const choices: FormatChoice[] = [];
    for (const shape of shapes)
      for (const choice of await shape.books({ dir: found.dir, files, onBytes }))
        choices.push({ ...choice, format: shape.format });
    return choices;
  };
  const flat = await choicesOf(found.files);
  if (flat.length > 0) return flat;
  const nested = (await stat(path)).isDirectory() ? await choicesOf(await filesBelow(path)) : [];
  if (nested.length > 0) return nested;
  const [first = 'nothing', second, ...more] = found.files;
  const seen = [first, ...(second === undefined ? [] : [second]), ...(more.length > 0 ? [`${more.length} more`] : [])];
  throw new Error(
    `${path}: no known recording format; known formats: ${shapes.map(({ looks }) => looks).join('; ')}; other CSV and Parquet files need a mapping file; found ${seen.join(', ')}`,
  );
}

/** Maximum number of names in a message; a file of options can have thousands. */
const NAMES_SHOWN = 30;

function chosenOf(
  path: string,
  choices: readonly FormatChoice[],
  book: string | undefined,
): { readonly choice: BookChoice; readonly book: string } {
  const all = [...new Set(choices.map(({ name, called }) => name ?? called ?? '?'))];
  const more = all.length > NAMES_SHOWN ? ` and ${all.length - NAMES_SHOWN} more` : '';
  const names = `${all.slice(0, NAMES_SHOWN).join(', ')}${more}`;
  const [only, other] = choices;
  if (book === undefined) {
    if (other !== undefined && names === only?.name) throw twice(path, choices, names);
    if (other !== undefined || only === undefined)
      throw new Error(`${path}: has several books; choose one of: ${names}`);
    if (only.name === null)
      throw new Error(
        `${path}: the recording does not name its book${only.called === undefined ? '' : ` (${only.called})`}; give the name with --book, like btc_usdt`,
      );
    return { choice: only, book: only.name };
  }
  const [named, symbol] = book.split('=');
  if (symbol !== undefined) {
    const [chosen, twin] = choices.filter(({ called }) => called === symbol);
    if (twin !== undefined) throw twice(path, choices, symbol);
    if (chosen === undefined) throw new Error(`${path}: no instrument ${symbol}; expected one of: ${names}`);
    return { choice: chosen, book: named! };
  }
  const same = choices.filter(({ name, called }) => (name ?? called) === book);
  if (same.length > 1) throw twice(path, same, book);
  const choice =
    choices.find(({ name }) => name === book) ??
    choices.find(({ called }) => called === book) ??
    (other === undefined && only !== undefined && (only.name === null || only.called !== undefined) ? only : undefined);
  if (choice === undefined) throw new Error(`${path}: no book ${book}; expected one of: ${names}`);
  if (choice.called === book && choice.name === null && !/^[a-z0-9]+_[a-z0-9]+$/.test(book))
    throw new Error(
      `${path}: the name ${book} does not show its two currencies; add the currencies, like --book btc_usd=${book}`,
    );
  return { choice, book: choice.called === book ? (choice.name ?? book) : book };
}

const twice = (path: string, choices: readonly FormatChoice[], book: string) =>
  new Error(
    `${path}: has ${book} in several formats; choose with --format: ${choices.map(({ format }) => format).join(', ')}`,
  );

/**
 * Returns the given tick and lot. Without a tick, infers both from all prices and amounts, and adds a note for the
 * operator.
 */
async function gridOf(
  given: Given,
  infer: () => Promise<Grid>,
): Promise<{ readonly grid: Partial<Grid> & Pick<Grid, 'tick'>; readonly notes: readonly string[] }> {
  const { tick, lot } = given;
  if (tick !== undefined) return { grid: { tick, ...(lot !== undefined && { lot }) }, notes: [] };
  const found = await infer();
  return {
    grid: { tick: found.tick, lot: lot ?? found.lot },
    notes: [INFERRED(found.tick)],
  };
}

type TardisPart = { readonly kind: string; readonly path: string; readonly from: number; readonly isGrouped: boolean };

/**
 * Groups the files by instrument, in order of time. A file may contain several instruments. Snapshots, updates and
 * quotes of one book are separate recordings.
 */
async function tardisBooks({ dir, files, onBytes }: Found): Promise<readonly BookChoice[]> {
  const byMarket = new Map<string, { symbol: string; files: TardisPart[] }>();
  for (const name of files.filter(file => /\.csv(?:\.(?:gz|zst|lz4|zip))?$/.test(file))) {
    const path = join(dir, name);
    const file = tardisFile(await firstLines(path, 2));
    if (file === null) continue;
    const grouped = await isGrouped(path);
    const symbols = grouped ? await symbolsIn(path, onBytes) : new Map([[file.symbol, file.from]]);
    for (const [symbol, from] of symbols) {
      const key = `${file.exchange} ${symbol}`;
      const market = byMarket.get(key) ?? { symbol, files: [] };
      market.files.push({ kind: file.kind, path, from, isGrouped: grouped });
      byMarket.set(key, market);
    }
  }
  return [...byMarket.values()].flatMap(({ symbol, files: of }) => {
    const pathsOf = (kind: string) =>
      of
        .filter(file => file.kind === kind)
        .sort((a, b) => a.from - b.from)
        .map(({ path }) => path);
    // The kinds of book files are in order of preference: updates have the most data, quotes the least.
    const kind = (['incremental_book_L2', 'book_snapshot', 'quotes'] as const).find(one => pathsOf(one).length > 0);
    if (kind === undefined) return [];
    const grouped = new Set(of.filter(file => file.isGrouped).map(({ path }) => path));
    const set: TardisFiles = { kind, books: pathsOf(kind), trades: pathsOf('trades'), symbol, grouped };
    const open: BookChoice['open'] = async (book, given, onRead) => {
      const { grid, notes } = await gridOf(given, () => tardisGrid(set, onRead));
      return tardis(set, tapeRules(book, grid.tick, grid.lot).instrument, notes);
    };
    return [{ name: bookNameOf(symbol), called: symbol, open }];
  });
}

async function replyBooks({ dir, files, onBytes }: Found): Promise<readonly BookChoice[]> {
  const paths: string[] = [];
  for (const name of files.filter(file => /\.(jsonl|ndjson|json)(?:\.(?:gz|zst|lz4|zip))?$/.test(file))) {
    const path = join(dir, name);
    // The error of an unreadable file is ignored here, because the importer of the format reports it.
    const [first = ''] = await firstLines(path, 1).catch(() => []);
    // Lines of Binance recordings start with a time, so the test for a brace excludes them.
    if (first.trimStart().startsWith('{')) paths.push(path);
  }
  if (paths.length === 0) return [];
  const found = await surveyReplies(paths, onBytes);
  return found.map(of => ({ name: of.book, open: (_book, given) => bitsoReplies(paths, of, given) }));
}

function hftbacktestBooks({ dir, files }: Found): readonly BookChoice[] {
  const paths = files.filter(isHftbacktest).map(file => join(dir, file));
  if (paths.length === 0) return [];
  const open: BookChoice['open'] = async (book, given, onBytes) => {
    const { grid, notes } = await gridOf(given, () => hftbacktestGrid(paths, onBytes));
    const instrument = tapeRules(book, grid.tick, grid.lot).instrument;
    return hftbacktest(paths, instrument, await hasOrderRecords(paths), notes);
  };
  return [{ name: null, open }];
}

const binanceBook = (symbol: string) => {
  const name = bookNameOf(symbol);
  return name === null ? { name, called: symbol } : { name };
};

/** Ticks of two coins on Hyperliquid. The ticks of other coins change with the price, so they are not listed. */
const HYPERLIQUID_TICKS: Readonly<Record<string, DecimalText>> = { BTC: '1', ETH: '0.1' };
const CENT: { readonly tick: DecimalText } = { tick: '0.01' };

const SHAPES: readonly Shape[] = [
  {
    format: 'bitso-replies',
    looks: 'replies of the Bitso REST API, one JSON object per line (*.jsonl, *.json)',
    books: replyBooks,
  },
  {
    format: 'tardis',
    looks: 'Tardis incremental_book_L2, book_snapshot_25, quotes and trades (*.csv, recognized by their headers)',
    books: tardisBooks,
  },
  { format: 'hftbacktest', looks: 'hftbacktest event arrays (*.npz, *.npy)', books: hftbacktestBooks },
  {
    format: 'gemini',
    looks: 'Gemini top of book and trades (gemini__*__market-depth.csv, gemini__*__trade.csv)',
    books: found =>
      booksOfParts(
        found,
        gemini,
        /^gemini__([A-Za-z0-9]+)-([A-Za-z0-9]+)__(.+)__market-depth(\.csv(?:\.(?:gz|zst|lz4|zip))?)$/,
        ([base, quote, day, end]) => ({
          name: `${base}_${quote}`,
          ...CENT,
          trades: `gemini__${base}-${quote}__${day}__trade${end}`,
        }),
      ),
  },
  {
    format: 'bitstamp',
    looks: 'Bitstamp log of books, orders and trades (bitstamp_*.log)',
    books: found =>
      booksOfParts(
        found,
        bitstamp,
        /^bitstamp_([a-z]{3})([a-z]{3})_.*\.log(?:\.(?:gz|zst|lz4|zip))?$/,
        ([base, quote]) => ({
          name: `${base}_${quote}`,
          ...(quote === 'usd' && CENT),
          trades: null,
        }),
      ),
  },
  {
    format: 'hyperliquid',
    looks: 'Hyperliquid books and trades of any coin (orderbooks_BTC*.csv, trades_BTC*.csv)',
    books: found =>
      booksOfParts(
        found,
        hyperliquid,
        /^orderbooks_([A-Za-z0-9]+)([-_.].*)?(\.csv(?:\.(?:gz|zst|lz4|zip))?)$/,
        ([coin, part = '', end]) => {
          const tick = HYPERLIQUID_TICKS[coin!];
          return {
            name: `${coin!.toLowerCase()}_usd`,
            ...(tick !== undefined && { tick }),
            trades: `trades_${coin}${part}${end}`,
          };
        },
      ),
  },
  {
    format: 'binance',
    looks:
      'Binance spot and USD-M streams (spot_btcusdt_*.jsonl, usdm_btcusdt_*.jsonl), or lists of messages (BTCUSDT_*_update.json with _snapshot and _trades)',
    books: async found => [
      ...(await booksOfParts(
        found,
        binance,
        /^(?:spot|usdm|coinm)_([a-z0-9]+)(?:_perp)?_.*\.jsonl(?:\.(?:gz|zst|lz4|zip))?$/,
        ([symbol]) => ({
          ...binanceBook(symbol!),
          ...(['btcusdt', 'ethusdt'].includes(symbol!) && CENT),
          trades: null,
        }),
      )),
      ...(await booksOfParts(
        found,
        binance,
        /^([A-Z0-9]+)_(.+)_update(\.json(?:\.(?:gz|zst|lz4|zip))?)$/,
        ([symbol, time, end]) => ({
          ...binanceBook(symbol!),
          before: `${symbol}_${time}_snapshot${end}`,
          trades: `${symbol}_${time}_trades${end}`,
        }),
      )),
    ],
  },
  {
    format: 'standx',
    looks: 'StandX books and trades (orderbook_BTC-USD_*.csv, trades_BTC-USD_*.csv)',
    books: found =>
      booksOfParts(
        found,
        standx,
        /^orderbook_([A-Z]+)-([A-Z]+)_(.+\.csv(?:\.(?:gz|zst|lz4|zip))?)$/,
        ([base, quote, end]) => ({
          name: `${base}_${quote}`.toLowerCase(),
          // The exchange rounds prices in the book to 0.1, but prices of trades to 0.01. The finer tick represents both
          // exactly.
          ...(base === 'BTC' && CENT),
          trades: `trades_${base}-${quote}_${end}`,
        }),
      ),
  },
  {
    format: 'bitso-bbo',
    looks: 'Bitso best bid and ask (btc_mxn_*_production.csv, *_sandbox.csv)',
    books: found =>
      booksOfParts(
        found,
        bitsoBbo,
        /^([a-z]+_[a-z]+)_[\d-]+_(production|sandbox)\.csv(?:\.(?:gz|zst|lz4|zip))?$/,
        ([book, where]) => ({
          name: where === 'production' ? book! : `${book}-sandbox`,
          symbol: book!,
          // Prices in production are multiples of the book's tick; prices in Bitso's sandbox are finer than any
          // published tick.
          tick: book === 'usd_mxn' ? '0.001' : where === 'production' ? '10' : '0.01',
          trades: null,
        }),
      ),
  },
];
