/** Importer for Gemini's trades and its best prices of each second, as recorded by the ccapi project. */
import { counted, type Instrument } from '../../core/index.ts';
import { SIDE } from '../model/tape.ts';
import { lotsOf, ticksOf } from './digits.ts';
import { Findings } from './read/findings.ts';
import { expectHeader, rowsOfLines, shown, sourceOf, type ImportReading } from './lines.ts';
import type { BookFiles, Recording } from './recording.ts';
import type { Chunk, RowBuffer } from './rows.ts';

/**
 * Time without a change after which a gap is recorded, in seconds. The longest time without a change on the recorded
 * day is 38 s.
 */
const SILENCE_S = 600;
const DEPTH_HEADER = 'time_seconds,bid_price_bid_size,ask_price_ask_size';
const TRADE_HEADER = 'time_seconds,price,size,is_buyer_maker';

type Top = { readonly bid: readonly [string, string]; readonly ask: readonly [string, string] };

/**
 * Opens a Gemini recording. A row applies to the full second of its timestamp, so it precedes that second's trades. A
 * second without a row means that the best prices did not change. After a second with trades, the unchanged prices are
 * written again, so that a replay restores them. Seconds with trades are therefore kept in memory, at most 86,400 per
 * day.
 */
export function gemini(files: BookFiles, instrument: Instrument): Recording {
  return {
    source: sourceOf(files.books),
    format: 'gemini',
    files: [...files.books, ...files.trades],
    passes: 2,
    instrument,
    fromOrders: false,
    depth: 1,
    quotesOnly: false,
    notes: ['one level per side, with times in whole seconds: the order of events within a second is unknown'],
    streams: reading => [books(files, reading), trades(files.trades, reading)],
  };
}

async function* books(files: BookFiles, reading: ImportReading): AsyncGenerator<Chunk> {
  const traded = await tradedSeconds(files.trades, reading);
  const { instrument, findings } = reading;
  const put = (second: number, top: Top, rows: RowBuffer) => {
    const at = second * 1000;
    rows.clear(at, at);
    rows.level(at, at, SIDE.buy, ticksOf(instrument, top.bid[0]), lotsOf(instrument, top.bid[1]));
    rows.level(at, at, SIDE.sell, ticksOf(instrument, top.ask[0]), lotsOf(instrument, top.ask[1]));
  };
  let last: { second: number; top: Top } | undefined;
  /** Reports the time since the last book as a gap if it is too long. Returns whether it is. */
  const isSilent = (second: number): boolean => {
    if (last === undefined || second - last.second <= SILENCE_S) return false;
    reading.gap({ from: last.second * 1000, to: second * 1000, why: 'no book during the gap' });
    return true;
  };
  reading.onEnd(at => isSilent(at / 1000));
  yield* rowsOfLines(files.books, reading, (line, number, rows) => {
    if (number === 1) return expectHeader(line, DEPTH_HEADER);
    const [time, bid, ask] = fields(line, 3);
    const second = Number(time);
    const top: Top = { bid: level(bid!), ask: level(ask!) };
    if (last?.second === second)
      findings.found(
        'book rows with the time of the previous row',
        'kept; the last row of that time applies',
        rows.place,
      );
    if (!isSilent(second) && last) {
      for (let s = last.second + 1; s < second; s++) {
        if (!traded.has(s - 1)) continue;
        put(s, last.top, rows);
        findings.found(
          'seconds without a book row after a second with trades',
          'the previous book row was repeated',
          rows.place,
        );
      }
    }
    put(second, top, rows);
    last = { second, top };
  });
}

/**
 * Returns the seconds with trades, read in a first pass over the trades. Flaws are reported only in the second pass.
 */
async function tradedSeconds(files: readonly string[], reading: ImportReading): Promise<ReadonlySet<number>> {
  const seconds = new Set<number>();
  for await (const { columns } of trades(files, { ...reading, findings: new Findings() })) {
    for (const at of columns.at) seconds.add(Math.floor(at / 1000));
  }
  return seconds;
}

const trades = (files: readonly string[], reading: ImportReading): AsyncGenerator<Chunk> =>
  rowsOfLines(files, reading, (line, number, rows) => {
    if (number === 1) return expectHeader(line, TRADE_HEADER);
    const { instrument } = reading;
    const [time, price, size, buyerMaker] = fields(line, 4);
    const at = Math.floor(Number(time) * 1000 + 0.5);
    const side = buyerMaker === '1' ? SIDE.sell : buyerMaker === '0' ? SIDE.buy : SIDE.unknown;
    rows.trade(at, at, side, ticksOf(instrument, price!), lotsOf(instrument, size!));
  });

function level(text: string): readonly [string, string] {
  const [price, size, extra] = text.split('_');
  if (price === undefined || size === undefined || extra !== undefined)
    throw new RangeError(`expected a level as price_size, found ${shown(text)}`);
  return [price, size];
}

function fields(line: string, count: number): string[] {
  const found = line.split(',');
  if (found.length !== count) throw new RangeError(`expected ${counted(count, 'field')}, found ${found.length}`);
  return found;
}
