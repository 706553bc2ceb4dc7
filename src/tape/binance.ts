/** Imports Binance spot streams: depth diffs over a REST snapshot, and trades, one JSON message a line. */
import type { DecimalText } from '../core/index.ts';
import { lotsOf, ticksOf } from './digits.ts';
import { finishTape } from './finish.ts';
import { eachLine } from './lines.ts';
import { SIDE, TapeBuilder, mergeColumns } from './tape.ts';
import type { Gap, SideCode, Tape } from './tape.ts';
import { tapeRules } from './tapeRules.ts';

const TICK: DecimalText = '0.01';
/** Diffs kept while no snapshot has come: ten minutes of them. */
const WAITING_MAX = 6_000;

type Levels = readonly (readonly [string, string])[];
type Depth = {
  readonly e: 'depthUpdate';
  readonly E: number;
  readonly U: number;
  readonly u: number;
  readonly b: Levels;
  readonly a: Levels;
};
type Trade = {
  readonly e: 'trade';
  readonly T: number;
  readonly t: number;
  readonly p: string;
  readonly q: string;
  readonly m: boolean;
};
type Snapshot = { readonly lastUpdateId: number; readonly bids: Levels; readonly asks: Levels };
type Message = { readonly data: Depth | Trade | { readonly e?: undefined } } | Snapshot;

/**
 * A diff may be written before the snapshot whose id it straddles. All diffs are kept until the snapshot is there, and those that
 * end after its id are applied to it; dropping them leaves levels behind that cross the book.
 */
export async function importBinance(files: { stream: string; book: string }): Promise<Tape> {
  const { instrument } = tapeRules(files.book, TICK);
  const books = new TapeBuilder();
  const trades = new TapeBuilder();
  const gaps: Gap[] = [];
  let waiting: { readonly depth: Depth; readonly local: number }[] = [];
  let synced = false;
  let lastId = 0;
  let lastAt = 0;
  let early = 0;
  let old = 0;
  let tickers = 0;

  const put = (at: number, local: number, side: SideCode, levels: Levels) => {
    for (const [price, size] of levels)
      books.level(at, local, side, ticksOf(instrument, price), lotsOf(instrument, size));
  };
  const onDepth = (depth: Depth, local: number) => {
    if (!synced) {
      if (waiting.length >= WAITING_MAX) throw new RangeError(`${WAITING_MAX} diffs and no snapshot`);
      waiting.push({ depth, local });
      return;
    }
    if (depth.u <= lastId) {
      old++;
      return;
    }
    if (depth.U > lastId + 1) {
      gaps.push({ from: lastAt, to: depth.E, why: `diffs ${lastId + 1} to ${depth.U - 1} are missing` });
    }
    put(depth.E, local, SIDE.buy, depth.b);
    put(depth.E, local, SIDE.sell, depth.a);
    lastId = depth.u;
    lastAt = depth.E;
  };
  const onSnapshot = (snapshot: Snapshot, local: number) => {
    // It has no exchange time: it stands before the first diff that goes on from it.
    const next = waiting.find(entry => entry.depth.u > snapshot.lastUpdateId) ?? waiting.at(-1);
    const at = next?.depth.E ?? (lastAt > 0 ? lastAt : local);
    books.clear(at, local);
    put(at, local, SIDE.buy, snapshot.bids);
    put(at, local, SIDE.sell, snapshot.asks);
    synced = true;
    lastId = snapshot.lastUpdateId;
    lastAt = at;
    const kept = waiting;
    waiting = [];
    early += kept.filter(entry => entry.depth.u > snapshot.lastUpdateId).length;
    for (const entry of kept) onDepth(entry.depth, entry.local);
  };

  await eachLine(files.stream, line => {
    const space = line.indexOf(' ');
    if (space < 0) throw new RangeError(`expected "local_ns json"`);
    const local = Number(line.slice(0, space)) / 1e6;
    if (line.includes('@bookTicker"')) {
      tickers++;
      return;
    }
    const message = JSON.parse(line.slice(space + 1)) as Message;
    if ('lastUpdateId' in message) return onSnapshot(message, local);
    const { data } = message;
    if (data.e === 'depthUpdate') onDepth(data, local);
    else if (data.e === 'trade') {
      const side = data.m ? SIDE.sell : SIDE.buy;
      trades.trade(data.T, local, side, ticksOf(instrument, data.p), lotsOf(instrument, data.q), data.t);
    } else throw new RangeError(`unknown message`);
  });

  return finishTape({
    source: files.stream,
    book: files.book,
    tick: TICK,
    columns: mergeColumns(books.columns(), trades.columns()),
    depth: Infinity,
    gaps,
    dirt: [
      { what: 'diffs written before the snapshot they go on from', count: early, done: 'kept and applied after it' },
      { what: 'diffs older than the snapshot', count: old, done: 'dropped' },
      { what: 'tickers', count: tickers, done: 'left out; the diffs say the same' },
      { what: 'times going backwards', count: books.backwards + trades.backwards, done: 'set to the time before' },
    ],
  });
}
