/**
 * Importer for Tardis CSV files (docs.tardis.dev, "Downloadable CSV files"): incremental_book_L2, book_snapshot_25 and
 * 5, quotes and book_ticker, trades. Files have one or several instruments; times are in microseconds.
 */
import { counted, type Instrument } from '../../core/index.ts';
import { SIDE, type SideCode } from '../model/tape.ts';
import { lotsOf, plainText, ticksOf } from './digits.ts';
import { WrongFile } from './read/findings.ts';
import { GridFinder, type Grid } from './inferredGrid.ts';
import { expectHeader, firstLines, lineBatches, rowsOfLines, shown, sourceOf, type ImportReading } from './lines.ts';
import type { Recording } from './recording.ts';
import { RecentKeys } from './recentKeys.ts';
import type { Chunk } from './rows.ts';
import { Silence } from './silence.ts';

const L2_HEADER = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount';
const TRADES_HEADER = 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount';
const SNAPSHOT_HEADER = /^exchange,symbol,timestamp,local_timestamp,asks\[0\]\.price,asks\[0\]\.amount,bids\[0\]/;
/** Header of quotes and of book_ticker. */
const QUOTES_HEADER = 'exchange,symbol,timestamp,local_timestamp,ask_amount,ask_price,bid_price,bid_amount';
/**
 * Time without a row of a book after which a gap is recorded, in ms. The busiest files have rows every few
 * milliseconds, the quietest every few minutes.
 */
const GAP_MS = 10 * 60_000;

export type TardisKind = 'incremental_book_L2' | 'book_snapshot' | 'quotes' | 'trades';

/**
 * Returns the kind of a file, judged by its first two lines; `from` is in microseconds since 1970. Returns `null` for a
 * file of another format.
 */
export function tardisFile(
  head: readonly string[],
): { kind: TardisKind; exchange: string; symbol: string; from: number } | null {
  const [header = '', row = ''] = head;
  const kind =
    header === L2_HEADER
      ? 'incremental_book_L2'
      : header === TRADES_HEADER
        ? 'trades'
        : SNAPSHOT_HEADER.test(header)
          ? 'book_snapshot'
          : header === QUOTES_HEADER
            ? 'quotes'
            : null;
  const [exchange, symbol, from] = row.split(',');
  if (kind === null || exchange === undefined || symbol === undefined || !(Number(from) > 0)) return null;
  return { kind, exchange, symbol, from: Number(from) };
}

/** Files in order of time; all book files are of one kind. */
export type TardisFiles = {
  readonly kind: Exclude<TardisKind, 'trades'>;
  readonly books: readonly string[];
  readonly trades: readonly string[];
  readonly symbol: string;
  /** Files that also contain other instruments, whose rows are skipped. */
  readonly grouped: ReadonlySet<string>;
};

/** Names that Tardis uses for all instruments of a kind, instead of a symbol. */
const GROUP = /_(?:SPOT|PERPETUALS|FUTURES|OPTIONS|COMBOS)\.csv/;
/** Maximum number of instruments; an exchange has several hundred thousand options. */
const SYMBOLS_MAX = 1_000_000;
const HEAD_LINES = 1_000;

/** Whether a file has several instruments, judged by its name or its first lines. Rejects as `lineBatches` does. */
export async function isGrouped(path: string): Promise<boolean> {
  if (GROUP.test(path)) return true;
  const [, ...rows] = await firstLines(path, HEAD_LINES);
  return new Set(rows.map(symbolOf).filter(symbol => symbol !== '')).size > 1;
}

/** Lists the instruments of a file, with the first time of each in microseconds. Rejects like `lineBatches`. */
export async function symbolsIn(path: string, onBytes: (count: number) => void): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  let isHeader = true;
  for await (const lines of lineBatches(path, onBytes))
    for (const line of lines) {
      if (isHeader) isHeader = false;
      else {
        const symbol = symbolOf(line);
        if (symbol === '' || found.has(symbol)) continue;
        if (found.size >= SYMBOLS_MAX) throw new WrongFile(`${path}: contains more than ${SYMBOLS_MAX} instruments`);
        found.set(symbol, Number(line.split(',', 3)[2]));
      }
    }
  return found;
}

const symbolOf = (line: string): string => line.split(',', 2)[1] ?? '';

/**
 * Opens Tardis files of one instrument. Microseconds become ms with three decimals. More than 10 minutes without a row
 * of the book are a gap. A note reports missing trades.
 */
export function tardis(files: TardisFiles, instrument: Instrument, notes: readonly string[]): Recording {
  const { kind, books, trades } = files;
  return {
    source: sourceOf(books),
    format: `tardis ${kind}`,
    files: [...books, ...trades],
    passes: 1,
    instrument,
    fromOrders: false,
    depth: kind === 'book_snapshot' ? 25 : kind === 'quotes' ? 1 : Infinity,
    quotesOnly: false,
    notes:
      trades.length === 0 ? [...notes, 'the recording has books without trades, so a replay has few fills'] : notes,
    streams: reading => [
      kind === 'book_snapshot'
        ? snapshots(books, files, reading)
        : kind === 'quotes'
          ? quotes(books, files, reading)
          : updates(books, files, reading),
      tradeRows(trades, files, reading),
    ],
  };
}

/** Symbol of the instrument to read, and the files with several instruments. */
type Own = Pick<TardisFiles, 'symbol' | 'grouped'>;
const isOther = (line: string, file: string, { symbol, grouped }: Own): boolean =>
  grouped.has(file) && symbolOf(line) !== symbol;

/** Infers tick and lot from all prices and amounts of the books and trades. Rejects like `lineBatches`. */
export async function tardisGrid(files: TardisFiles, onBytes: (count: number) => void): Promise<Grid> {
  const finder = new GridFinder();
  for (const file of [...files.books, ...files.trades]) {
    let [first, isQuotes] = [true, false];
    for await (const lines of lineBatches(file, onBytes)) {
      for (const line of lines) {
        if (first) {
          isQuotes = line === QUOTES_HEADER;
          first = false;
          continue;
        }
        if (isOther(line, file, files)) continue;
        const cells = line.split(',');
        if (isQuotes) {
          const [, , , , askAmount = '', ask = '', bid = '', bidAmount = ''] = cells;
          cells.splice(4, 4, ask, askAmount, bid, bidAmount);
        }
        const from = cells.length === 8 && !isQuotes ? 6 : 4;
        for (let i = from; i + 1 < cells.length; i += 2) {
          if (cells[i] === '' || !/^[\d.eE+-]+$/.test(cells[i]!)) continue;
          finder.price(cells[i]!);
          finder.amount(cells[i + 1]!);
        }
      }
    }
  }
  return finder.grid();
}

/**
 * Reads updates of the book. A snapshot replaces the book. All rows of a snapshot have an equal receive time or an
 * equal exchange time; a level that repeats at another time starts a new snapshot. Rows before the first snapshot are
 * skipped, because they belong to an older book.
 */
function updates(files: readonly string[], own: Own, reading: ImportReading): AsyncGenerator<Chunk> {
  const { instrument, findings } = reading;
  const silence = new Silence(reading, GAP_MS, 'book row');
  let snapshot: { readonly at: number; readonly local: number; readonly levels: Set<number> } | null = null;
  let begun = false;
  let before = '';
  return rowsOfLines(files, reading, (line, number, rows, file) => {
    if (number === 1) return expectHeader(line, L2_HEADER);
    if (isOther(line, file, own)) return;
    const cells = fields(line, 8, own.symbol);
    const [, , , , isSnapshot, side, price, size] = cells;
    const [at, local] = timesOf(cells);
    if (isSnapshot !== 'true' && isSnapshot !== 'false')
      throw new RangeError(`expected is_snapshot true or false, found ${shown(isSnapshot ?? '')}`);
    const code = side === 'bid' ? SIDE.buy : side === 'ask' ? SIDE.sell : null;
    if (code === null) throw new RangeError(`expected side bid or ask, found ${shown(side ?? '')}`);
    const ticks = ticksOf(instrument, plainNumber(price!));
    const lots = lotsOf(instrument, plainNumber(size!));
    if (isSnapshot === 'false' && !begun) {
      findings.found('updates before the first snapshot', 'left out', rows.place);
      return;
    }
    const level = code === SIDE.buy ? ticks : -1 - ticks;
    const others = snapshot === null ? 2 : Number(local !== snapshot.local) + Number(at !== snapshot.at);
    const isNext = others === 2 || (others === 1 && snapshot?.levels.has(level) === true);
    if (isSnapshot === 'false') snapshot = null;
    else if (isNext || snapshot === null) {
      rows.clear(at, local);
      snapshot = { at, local, levels: new Set([level]) };
    } else {
      snapshot.levels.add(level);
      snapshot = { ...snapshot, at, local };
    }
    begun = true;
    if (line === before) findings.found('repeated rows', 'kept; a repeated row changes nothing', rows.place);
    before = line;
    silence.heard(at);
    rows.level(at, local, code, ticks, lots);
  });
}

/** Reads snapshots; cells of missing levels are empty. */
function snapshots(files: readonly string[], own: Own, reading: ImportReading): AsyncGenerator<Chunk> {
  const { instrument, findings } = reading;
  const silence = new Silence(reading, GAP_MS, 'book row');
  let cellCount = 0;
  let before = '';
  return rowsOfLines(files, reading, (line, number, rows, file) => {
    if (number === 1) {
      cellCount = line.split(',').length;
      if (SNAPSHOT_HEADER.test(line) && (cellCount - 4) % 4 === 0) return;
      throw new WrongFile(`expected the header of a book_snapshot file, found ${shown(line)}`);
    }
    if (isOther(line, file, own)) return;
    const cells = fields(line, cellCount, own.symbol);
    if (line === before) {
      findings.found('repeated snapshots', 'dropped', rows.place);
      return;
    }
    before = line;
    const [at, local] = timesOf(cells);
    rows.clear(at, local);
    const put = (side: SideCode, from: number) => {
      for (let i = from; i < cells.length; i += 4) {
        if (cells[i] === '') continue;
        rows.level(
          at,
          local,
          side,
          ticksOf(instrument, plainNumber(cells[i]!)),
          lotsOf(instrument, plainNumber(cells[i + 1]!)),
        );
      }
    };
    put(SIDE.sell, 4);
    put(SIDE.buy, 6);
    silence.heard(at);
  });
}

/** Reads best prices; the cells of a missing side are empty. */
function quotes(files: readonly string[], own: Own, reading: ImportReading): AsyncGenerator<Chunk> {
  const { instrument, findings } = reading;
  const silence = new Silence(reading, GAP_MS, 'book row');
  let before = '';
  return rowsOfLines(files, reading, (line, number, rows, file) => {
    if (number === 1) return expectHeader(line, QUOTES_HEADER);
    if (isOther(line, file, own)) return;
    const cells = fields(line, 8, own.symbol);
    if (line === before) {
      findings.found('repeated quotes', 'dropped', rows.place);
      return;
    }
    before = line;
    const [, , , , askAmount, ask, bid, bidAmount] = cells;
    const [at, local] = timesOf(cells);
    rows.clear(at, local);
    const put = (side: SideCode, price: string, size: string) => {
      if (price !== '')
        rows.level(at, local, side, ticksOf(instrument, plainNumber(price)), lotsOf(instrument, plainNumber(size)));
    };
    put(SIDE.buy, bid!, bidAmount!);
    put(SIDE.sell, ask!, askAmount!);
    silence.heard(at);
  });
}

/**
 * Reads trades. The side is the taker's ("aggressor"), or `unknown` if the exchange does not state it. Ids are stored
 * only if they are numbers.
 */
function tradeRows(files: readonly string[], own: Own, reading: ImportReading): AsyncGenerator<Chunk> {
  const { instrument, findings } = reading;
  const known = new RecentKeys();
  return rowsOfLines(files, reading, (line, number, rows, file) => {
    if (number === 1) return expectHeader(line, TRADES_HEADER);
    if (isOther(line, file, own)) return;
    const cells = fields(line, 8, own.symbol);
    const [, , time, , id, side, price, size] = cells;
    const [at, local] = timesOf(cells);
    if (id !== '' && known.has(`${id} ${time} ${price} ${size}`)) {
      findings.found('repeated trades', 'dropped', rows.place);
      return;
    }
    const numericId = Number(id);
    rows.trade(
      at,
      local,
      side === 'buy' ? SIDE.buy : side === 'sell' ? SIDE.sell : SIDE.unknown,
      ticksOf(instrument, plainNumber(price!)),
      lotsOf(instrument, plainNumber(size!)),
      Number.isSafeInteger(numericId) && numericId > 0 ? numericId : 0,
    );
  });
}

function fields(line: string, count: number, symbol: string): string[] {
  const cells = line.split(',');
  if (cells.length !== count) throw new RangeError(`expected ${counted(count, 'field')}, found ${cells.length}`);
  if (cells[1] !== symbol)
    throw new WrongFile(`expected rows of ${symbol}, found ${shown(cells[1] ?? '')}; use one file per instrument`);
  return cells;
}

/** Returns exchange time and receive time, in milliseconds. */
function timesOf([, , at, local]: readonly string[]): readonly [number, number] {
  return [micros(at), micros(local)];
}

function micros(text: string | undefined): number {
  if (text === undefined || !/^\d{15,17}$/.test(text))
    throw new RangeError(`expected microseconds since 1970, found ${shown(text ?? '')}`);
  return Number(text) / 1000;
}

const plainNumber = (text: string): string => plainText(text, () => undefined);
