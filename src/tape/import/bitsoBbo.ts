/** Reads Bitso's best bid and ask about once a second: prices without amounts and without trades. */
import { amount } from '../../core/index.ts';
import type { DecimalText, Instrument, Price } from '../../core/index.ts';
import { SIDE } from '../model/tape.ts';
import { tapeRules } from '../model/tapeRules.ts';
import { plainText, ticksOf } from './digits.ts';
import { expectHeader, rowsOfLines } from './lines.ts';
import type { ImportReading } from './lines.ts';
import type { Recording } from './recording.ts';
import type { Chunk } from './rows.ts';

const GAP_MS = 10_000;
const HEADER = 'orderbook_timestamp,book,bid,ask,spread';

/** The amounts of the tape are one lot each, a stand-in: such a tape is marked quotesOnly and no replay takes it. */
export function bitsoBbo(files: { quotes: string; book: string; tick: DecimalText }): Recording {
  return {
    source: files.quotes,
    format: 'bitso-bbo',
    files: [files.quotes],
    passes: 1,
    instrument: tapeRules(files.book, files.tick).instrument,
    fromOrders: false,
    depth: 1,
    quotesOnly: true,
    notes: ['best prices without amounts and without trades: good for statistics, not for a replay'],
    streams: reading => [quotes(files.quotes, reading)],
  };
}

function quotes(path: string, { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  let before = Number.NaN;
  return rowsOfLines([path], { findings, ...reading }, (line, number, rows) => {
    if (number === 1) return expectHeader(line, HEADER);
    const [time, book, bid, ask] = line.split(',');
    const at = Date.parse(time!);
    if (ask === undefined || Number.isNaN(at)) throw new RangeError('torn row');
    if (book !== instrument.symbol) throw new RangeError(`expected book ${instrument.symbol}, found ${book}`);
    rows.clear(at, at);
    rows.level(at, at, SIDE.buy, ticks(instrument, bid!), amount(1));
    rows.level(at, at, SIDE.sell, ticks(instrument, ask), amount(1));
    if (at === before) findings.found('quotes with a repeated time', 'kept, the last one stands', rows.place);
    if (at - before > GAP_MS) reading.gap({ from: before, to: at, why: 'no quote for that long' });
    before = at;
  });
}

const ticks = (instrument: Instrument, text: string): Price =>
  ticksOf(
    instrument,
    plainText(text, () => undefined),
  );
