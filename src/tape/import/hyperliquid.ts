/** Importer for Hyperliquid recordings: snapshots of 20 levels per side about twice per second, and trades. */
import { counted, type Instrument } from '../../core/index.ts';
import { SIDE } from '../model/tape.ts';
import { lotsOf, plainText, ticksOf } from './digits.ts';
import { WrongFile } from './read/findings.ts';
import { rowsOfLines, shown, sourceOf, type ImportReading } from './lines.ts';
import type { BookFiles, Recording } from './recording.ts';
import { RecentKeys } from './recentKeys.ts';
import type { Chunk } from './rows.ts';
import { Silence } from './silence.ts';

/** Time without a book after which a gap is recorded, in ms. The stream sends about two books per second. */
const GAP_MS = 10_000;
const BOOK_HEADER = 'timestamp,sequence,exchange_timestamp,bid_price_0,bid_size_0,ask_price_0,ask_size_0';
const TRADE_HEADER = 'timestamp,price,size,side,trade_id,exchange_timestamp';

/**
 * Opens a Hyperliquid recording. Times of receipt are in seconds, exchange times in ms. More than 10 s without a book
 * are a gap.
 */
export function hyperliquid({ books: of, trades: by }: BookFiles, instrument: Instrument): Recording {
  return {
    source: sourceOf(of),
    format: 'hyperliquid',
    files: [...of, ...by],
    passes: 1,
    instrument,
    fromOrders: false,
    depth: 20,
    quotesOnly: false,
    notes: [],
    streams: reading => [books(of, reading), trades(by, reading)],
  };
}

const ticks = (instrument: Instrument, text: string) => ticksOf(instrument, plainText(text, ignore));
const lots = (instrument: Instrument, text: string) => lotsOf(instrument, plainText(text, ignore));
const ignore = () => undefined;

function books(files: readonly string[], { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  let before = Number.NaN;
  const silence = new Silence(reading, GAP_MS, 'book');
  return rowsOfLines(files, { findings, ...reading }, (line, number, rows) => {
    if (number === 1) {
      if (line.startsWith(BOOK_HEADER)) return;
      throw new WrongFile(`expected a header that begins with ${BOOK_HEADER}, found ${shown(line)}`);
    }
    const cells = line.split(',');
    if (cells.length < 7 || (cells.length - 3) % 4 !== 0)
      throw new RangeError(`expected 3 fields plus 4 fields for each level, found ${counted(cells.length, 'field')}`);
    const local = Number(cells[0]) * 1000;
    const at = Number(cells[2]);
    rows.clear(at, local);
    for (let i = 3; i < cells.length; i += 4) {
      rows.level(at, local, SIDE.buy, ticks(instrument, cells[i]!), lots(instrument, cells[i + 1]!));
      rows.level(at, local, SIDE.sell, ticks(instrument, cells[i + 2]!), lots(instrument, cells[i + 3]!));
    }
    if (at === before)
      findings.found('books with a repeated exchange time', 'kept; the last row of that time applies', rows.place);
    silence.heard(at);
    before = at;
  });
}

function trades(files: readonly string[], { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  const known = new RecentKeys();
  return rowsOfLines(files, { findings, ...reading }, (line, number, rows) => {
    if (number === 1) {
      if (line === TRADE_HEADER) return;
      throw new WrongFile(`expected the header ${TRADE_HEADER}, found ${shown(line)}`);
    }
    const [time, price, size, side, id, at, extra] = line.split(',');
    if (at === undefined || extra !== undefined) throw new RangeError(`expected 6 fields`);
    // After a reconnect, the exchange sends its last trades again. Only the time of receipt of a repeated trade
    // differs.
    if (known.has(`${id} ${at} ${price} ${size}`)) {
      findings.found('trades sent again after a reconnect', 'dropped', rows.place);
      return;
    }
    const code = side === 'buy' ? SIDE.buy : side === 'sell' ? SIDE.sell : SIDE.unknown;
    rows.trade(Number(at), Number(time) * 1000, code, ticks(instrument, price!), lots(instrument, size!), Number(id));
  });
}
