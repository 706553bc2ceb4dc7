/** Imports the StandX recording, which is dirty: doubled rows, locked books, late rows, no taker side. */
import type { DecimalText } from '../core/index.ts';
import { lotsOf, ticksOf } from './digits.ts';
import { finishTape } from './finish.ts';
import { eachLine } from './lines.ts';
import { SIDE, TapeBuilder, mergeColumns } from './tape.ts';
import type { SideCode, Tape } from './tape.ts';
import { tapeRules } from './tapeRules.ts';

/** Depth is rounded to 0.1 by the venue while trades print to 0.01; the finer one keeps both exact. */
const TICK: DecimalText = '0.01';
const LATE_MS = 1_000;

export async function importStandx(files: { books: string; trades: string; book: string }): Promise<Tape> {
  const { instrument } = tapeRules(files.book, TICK);
  const books = new TapeBuilder();
  let doubled = 0;
  let late = 0;
  let before = '';
  const putSide = (at: number, local: number, side: SideCode, text: string) => {
    if (text === '') return;
    for (const level of text.split('|')) {
      const [price, quantity] = level.split(':');
      if (price === undefined || quantity === undefined)
        throw new RangeError(`expected price:quantity, found ${level}`);
      books.level(at, local, side, ticksOf(instrument, price), lotsOf(instrument, quantity));
    }
  };
  await eachLine(files.books, (line, number) => {
    if (number === 1) {
      if (line !== 'timestamp_ms,received_ms,bids,asks')
        throw new RangeError('expected the header of an order book file');
      return;
    }
    if (line === before) {
      doubled++;
      return;
    }
    before = line;
    const [at, local, bids, asks] = line.split(',');
    if (asks === undefined) throw new RangeError(`torn row`);
    if (Number(local) - Number(at) > LATE_MS) late++;
    books.clear(Number(at), Number(local));
    putSide(Number(at), Number(local), SIDE.buy, bids!);
    putSide(Number(at), Number(local), SIDE.sell, asks);
  });

  const trades = new TapeBuilder();
  await eachLine(files.trades, (line, number) => {
    if (number === 1) return;
    const cells = line.split(',');
    if (cells.length !== 6) throw new RangeError(`expected 6 fields, found ${cells.length}`);
    // The side column says SELL on every row of the recording, so it says nothing.
    const [at, local, price, quantity] = cells;
    trades.trade(Number(at), Number(local), SIDE.unknown, ticksOf(instrument, price!), lotsOf(instrument, quantity!));
  });

  return finishTape({
    source: files.books,
    book: files.book,
    tick: TICK,
    columns: mergeColumns(books.columns(), trades.columns()),
    depth: 20,
    dirt: [
      { what: 'book rows that appear twice', count: doubled, done: 'dropped' },
      { what: `books received over ${LATE_MS} ms late`, count: late, done: 'kept at their exchange time' },
      { what: 'times going backwards', count: books.backwards + trades.backwards, done: 'set to the time before' },
    ],
  });
}
