/** Importer for Bitso's best bid and ask, recorded about once per second: prices without amounts and without trades. */
import { amount, type Instrument, type Price } from '../../core/index.ts';
import { SIDE } from '../model/tape.ts';
import { plainText, ticksOf } from './digits.ts';
import { expectHeader, rowsOfLines, sourceOf, type ImportReading } from './lines.ts';
import type { BookFiles, Recording } from './recording.ts';
import type { Chunk } from './rows.ts';
import { Silence } from './silence.ts';

const GAP_MS = 10_000;
const HEADER = 'orderbook_timestamp,book,bid,ask,spread';

/**
 * Opens a recording of Bitso's best prices. Every amount is a placeholder of one lot, and the tape is marked as quotes
 * only, so that replays reject it.
 */
export function bitsoBbo({ books: files }: BookFiles, instrument: Instrument): Recording {
  return {
    source: sourceOf(files),
    format: 'bitso-bbo',
    files,
    passes: 1,
    instrument,
    fromOrders: false,
    depth: 1,
    quotesOnly: true,
    notes: ['best prices without amounts and without trades: usable for statistics, not for a replay'],
    streams: reading => [quotes(files, reading)],
  };
}

function quotes(files: readonly string[], { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  let before = Number.NaN;
  const silence = new Silence(reading, GAP_MS, 'quote');
  return rowsOfLines(files, { findings, ...reading }, (line, number, rows) => {
    if (number === 1) return expectHeader(line, HEADER);
    const [time, book, bid, ask] = line.split(',');
    const at = Date.parse(time!);
    if (ask === undefined || Number.isNaN(at)) throw new RangeError('incomplete row');
    if (book !== instrument.symbol) throw new RangeError(`expected book ${instrument.symbol}, found ${book}`);
    rows.clear(at, at);
    rows.level(at, at, SIDE.buy, ticks(instrument, bid!), amount(1));
    rows.level(at, at, SIDE.sell, ticks(instrument, ask), amount(1));
    if (at === before)
      findings.found('quotes with a repeated time', 'kept; the last row of that time applies', rows.place);
    silence.heard(at);
    before = at;
  });
}

const ticks = (instrument: Instrument, text: string): Price =>
  ticksOf(
    instrument,
    plainText(text, () => undefined),
  );
