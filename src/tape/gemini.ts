/** Imports Gemini's top of book a second plus trades, as the ccapi project records them. */
import type { DecimalText } from '../core/index.ts';
import { lotsOf, ticksOf } from './digits.ts';
import { finishTape } from './finish.ts';
import { eachLine } from './lines.ts';
import { SIDE, TapeBuilder, mergeColumns } from './tape.ts';
import type { Gap, Tape } from './tape.ts';
import { tapeRules } from './tapeRules.ts';

const TICK: DecimalText = '0.01';
/** A book that stays the same for longer than this was not recorded: the longest silence of the recorded day is 38 s. */
const SILENCE_S = 600;
const DEPTH_HEADER = 'time_seconds,bid_price_bid_size,ask_price_ask_size';
const TRADE_HEADER = 'time_seconds,price,size,is_buyer_maker';

type Top = { readonly bid: readonly [string, string]; readonly ask: readonly [string, string] };

/**
 * A row stands for the whole second that it is stamped with, so it comes before that second's trades. A second without a row
 * means "unchanged": after a second with trades the unchanged top is written down again, so that a replay restores it.
 */
export async function importGemini(files: { depth: string; trades: string; book: string }): Promise<Tape> {
  const { instrument } = tapeRules(files.book, TICK);
  const trades = new TapeBuilder();
  const tradedSeconds = new Set<number>();
  await eachLine(files.trades, (line, number) => {
    if (number === 1) return expectHeader(line, TRADE_HEADER);
    const [time, price, size, buyerMaker] = fields(line, 4);
    const at = Math.floor(Number(time) * 1000 + 0.5);
    const side = buyerMaker === '1' ? SIDE.sell : buyerMaker === '0' ? SIDE.buy : SIDE.unknown;
    trades.trade(at, at, side, ticksOf(instrument, price!), lotsOf(instrument, size!));
    tradedSeconds.add(Math.floor(at / 1000));
  });

  const books = new TapeBuilder();
  const put = (second: number, top: Top) => {
    const at = second * 1000;
    books.clear(at, at);
    books.level(at, at, SIDE.buy, ticksOf(instrument, top.bid[0]), lotsOf(instrument, top.bid[1]));
    books.level(at, at, SIDE.sell, ticksOf(instrument, top.ask[0]), lotsOf(instrument, top.ask[1]));
  };
  let last: { second: number; top: Top } | undefined;
  const gaps: Gap[] = [];
  let restated = 0;
  let doubled = 0;
  await eachLine(files.depth, (line, number) => {
    if (number === 1) return expectHeader(line, DEPTH_HEADER);
    const [time, bid, ask] = fields(line, 3);
    const second = Number(time);
    if (last?.second === second) doubled++;
    if (last && second - last.second > SILENCE_S) {
      gaps.push({ from: last.second * 1000, to: second * 1000, why: 'no book for that long' });
    } else if (last) {
      for (let s = last.second + 1; s < second; s++) {
        if (!tradedSeconds.has(s - 1)) continue;
        put(s, last.top);
        restated++;
      }
    }
    const top: Top = { bid: level(bid!), ask: level(ask!) };
    put(second, top);
    last = { second, top };
  });

  return finishTape({
    source: files.depth,
    book: files.book,
    tick: TICK,
    columns: mergeColumns(books.columns(), trades.columns()),
    depth: 1,
    gaps,
    dirt: [
      { what: 'book rows with a repeated second', count: doubled, done: 'kept, the last one stands' },
      { what: 'times going backwards', count: books.backwards + trades.backwards, done: 'set to the time before' },
      { what: 'seconds without a row after trades', count: restated, done: 'the unchanged top was written again' },
    ],
  });
}

function level(text: string): readonly [string, string] {
  const [price, size, extra] = text.split('_');
  if (price === undefined || size === undefined || extra !== undefined) {
    throw new RangeError(`expected price_size, found ${JSON.stringify(text)}`);
  }
  return [price, size];
}

function fields(line: string, count: number): string[] {
  const found = line.split(',');
  if (found.length !== count) throw new RangeError(`expected ${count} fields, found ${found.length}`);
  return found;
}

function expectHeader(line: string, header: string): void {
  if (line !== header) throw new RangeError(`expected the header ${header}, found ${line.slice(0, 80)}`);
}
