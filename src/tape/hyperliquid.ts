/** Imports Hyperliquid recordings: pictures of 20 levels a side about twice a second, and trades. */
import type { DecimalText } from '../core/index.ts';
import { lotsOf, plainText, ticksOf } from './digits.ts';
import { finishTape } from './finish.ts';
import { eachLine } from './lines.ts';
import { SIDE, TapeBuilder, mergeColumns } from './tape.ts';
import type { Gap, Tape } from './tape.ts';
import { tapeRules } from './tapeRules.ts';

/** A silence in a stream that sends twice a second. */
const GAP_MS = 10_000;
/** Trades among which a repetition is looked for. */
const REMEMBERED = 4_096;

export async function importHyperliquid(files: {
  books: string;
  trades: string;
  book: string;
  tick: DecimalText;
}): Promise<Tape> {
  const { instrument } = tapeRules(files.book, files.tick);
  const ignore = () => undefined;
  const ticks = (text: string) => ticksOf(instrument, plainText(text, ignore));
  const lots = (text: string) => lotsOf(instrument, plainText(text, ignore));

  const books = new TapeBuilder();
  const gaps: Gap[] = [];
  let repeated = 0;
  let before = Number.NaN;
  await eachLine(files.books, (line, number) => {
    const cells = line.split(',');
    if (number === 1) {
      if (!line.startsWith('timestamp,sequence,exchange_timestamp,bid_price_0,bid_size_0,ask_price_0,ask_size_0')) {
        throw new RangeError('expected the header of an order book file');
      }
      return;
    }
    if (cells.length < 7 || (cells.length - 3) % 4 !== 0) throw new RangeError(`torn row`);
    const local = Number(cells[0]) * 1000;
    const at = Number(cells[2]);
    if (at === before) repeated++;
    if (at - before > GAP_MS) gaps.push({ from: before, to: at, why: 'no book for that long' });
    before = at;
    books.clear(at, local);
    for (let i = 3; i < cells.length; i += 4) {
      books.level(at, local, SIDE.buy, ticks(cells[i]!), lots(cells[i + 1]!));
      books.level(at, local, SIDE.sell, ticks(cells[i + 2]!), lots(cells[i + 3]!));
    }
  });

  const trades = new TapeBuilder();
  let recent = new Set<string>();
  let older = new Set<string>();
  let doubled = 0;
  await eachLine(files.trades, (line, number) => {
    if (number === 1) return;
    const [time, price, size, side, id, at, extra] = line.split(',');
    if (at === undefined || extra !== undefined) throw new RangeError(`expected 6 fields`);
    // After a reconnect the venue sends its last trades again: equal but for the time of receipt.
    const same = `${id} ${at} ${price} ${size}`;
    if (recent.has(same) || older.has(same)) {
      doubled++;
      return;
    }
    recent.add(same);
    if (recent.size >= REMEMBERED) {
      older = recent;
      recent = new Set();
    }
    const code = side === 'buy' ? SIDE.buy : side === 'sell' ? SIDE.sell : SIDE.unknown;
    trades.trade(Number(at), Number(time) * 1000, code, ticks(price!), lots(size!), Number(id));
  });

  return finishTape({
    source: files.books,
    book: files.book,
    tick: files.tick,
    columns: mergeColumns(books.columns(), trades.columns()),
    depth: 20,
    gaps,
    dirt: [
      { what: 'books with a repeated exchange time', count: repeated, done: 'kept, the last one stands' },
      { what: 'trades sent again after a reconnect', count: doubled, done: 'dropped' },
      { what: 'times going backwards', count: books.backwards + trades.backwards, done: 'set to the time before' },
    ],
  });
}
