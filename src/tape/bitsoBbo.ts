/** Imports Bitso's best bid and ask about once a second: prices without amounts and without trades. */
import { amount } from '../core/index.ts';
import type { DecimalText } from '../core/index.ts';
import { plainText, ticksOf } from './digits.ts';
import { finishTape } from './finish.ts';
import { eachLine } from './lines.ts';
import { SIDE, TapeBuilder } from './tape.ts';
import type { Gap, Tape } from './tape.ts';
import { tapeRules } from './tapeRules.ts';

const GAP_MS = 10_000;

/** The amounts of the tape are one lot each, a stand-in: such a tape is marked quotesOnly and no replay takes it. */
export async function importBitsoBbo(files: { quotes: string; book: string; tick: DecimalText }): Promise<Tape> {
  const { instrument } = tapeRules(files.book, files.tick);
  const tape = new TapeBuilder();
  const gaps: Gap[] = [];
  let repeated = 0;
  let before = Number.NaN;
  await eachLine(files.quotes, (line, number) => {
    if (number === 1) {
      if (line !== 'orderbook_timestamp,book,bid,ask,spread')
        throw new RangeError('expected the header of a quote file');
      return;
    }
    const [time, book, bid, ask] = line.split(',');
    const at = Date.parse(time!);
    if (ask === undefined || Number.isNaN(at)) throw new RangeError(`torn row`);
    if (book !== files.book) throw new RangeError(`expected book ${files.book}, found ${book}`);
    if (at === before) repeated++;
    if (at - before > GAP_MS) gaps.push({ from: before, to: at, why: 'no quote for that long' });
    before = at;
    tape.clear(at, at);
    tape.level(
      at,
      at,
      SIDE.buy,
      ticksOf(
        instrument,
        plainText(bid!, () => undefined),
      ),
      amount(1),
    );
    tape.level(
      at,
      at,
      SIDE.sell,
      ticksOf(
        instrument,
        plainText(ask, () => undefined),
      ),
      amount(1),
    );
  });
  return finishTape({
    source: files.quotes,
    book: files.book,
    tick: files.tick,
    columns: tape.columns(),
    depth: 1,
    quotesOnly: true,
    gaps,
    dirt: [
      { what: 'quotes with a repeated time', count: repeated, done: 'kept, the last one stands' },
      { what: 'times going backwards', count: tape.backwards, done: 'set to the time before' },
    ],
  });
}
