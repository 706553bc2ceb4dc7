/** Importer for the StandX recording, which has duplicate rows, locked books, late rows and no taker sides. */
import type { Instrument } from '../../core/index.ts';
import { SIDE, type SideCode } from '../model/tape.ts';
import { lotsOf, ticksOf } from './digits.ts';
import { expectHeader, rowsOfLines, shown, sourceOf, type ImportReading } from './lines.ts';
import type { BookFiles, Recording } from './recording.ts';
import type { Chunk, RowBuffer } from './rows.ts';
import { Silence } from './silence.ts';

/** Time without a book after which a gap is recorded, in ms. Books arrive several times per second. */
const GAP_MS = 10_000;
const LATE_MS = 1_000;
const BOOK_HEADER = 'timestamp_ms,received_ms,bids,asks';
const TRADE_HEADER = 'timestamp_ms,received_ms,price,quantity,side,is_buyer_taker';

/** Opens a StandX recording. Times are in ms. More than 10 s without a book are a gap. */
export function standx(files: BookFiles, instrument: Instrument): Recording {
  return {
    source: sourceOf(files.books),
    format: 'standx',
    files: [...files.books, ...files.trades],
    passes: 1,
    instrument,
    fromOrders: false,
    depth: 20,
    quotesOnly: false,
    notes: ['the side column of the trades is SELL in every row, so it is ignored'],
    streams: reading => [books(files.books, reading), trades(files.trades, reading)],
  };
}

function books(files: readonly string[], { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  let before = '';
  const silence = new Silence(reading, GAP_MS, 'book');
  const side = (rows: RowBuffer, at: number, local: number, code: SideCode, text: string) => {
    if (text === '') return;
    for (const level of text.split('|')) {
      const [price, quantity] = level.split(':');
      if (price === undefined || quantity === undefined)
        throw new RangeError(`expected price:quantity, found ${shown(level)}`);
      rows.level(at, local, code, ticksOf(instrument, price), lotsOf(instrument, quantity));
    }
  };
  return rowsOfLines(files, { findings, ...reading }, (line, number, rows) => {
    if (number === 1) return expectHeader(line, BOOK_HEADER);
    if (line === before) {
      findings.found('repeated book rows', 'dropped', rows.place);
      return;
    }
    before = line;
    const [time, received, bids, asks] = line.split(',');
    if (asks === undefined) throw new RangeError('incomplete row');
    const [at, local] = [Number(time), Number(received)];
    rows.clear(at, local);
    silence.heard(at);
    side(rows, at, local, SIDE.buy, bids!);
    side(rows, at, local, SIDE.sell, asks);
    if (local - at > LATE_MS)
      findings.found(
        `books received over ${LATE_MS} ms after their exchange time`,
        'kept at their exchange time',
        rows.place,
      );
  });
}

const trades = (files: readonly string[], reading: ImportReading): AsyncGenerator<Chunk> =>
  rowsOfLines(files, reading, (line, number, rows) => {
    if (number === 1) return expectHeader(line, TRADE_HEADER);
    const { instrument } = reading;
    const cells = line.split(',');
    if (cells.length !== 6) throw new RangeError(`expected 6 fields, found ${cells.length}`);
    const [at, local, price, quantity] = cells;
    rows.trade(Number(at), Number(local), SIDE.unknown, ticksOf(instrument, price!), lotsOf(instrument, quantity!));
  });
