/** Public trades in the recordings of earlier runs, for the history of a strategy. */
import { existsSync } from 'node:fs';
import { haveSameGrid, type EngineEvent, type Millis } from '../../core/index.ts';
import { RecentTrades, type CompleteTrades, type NumberedTrade, type WantedTrades } from './pastTrades.ts';
import { GAP, lineOf, type RecordedEvent } from '../recording/recording.ts';
import { readRecording, recordingsIn } from '../recording/recordings.ts';

/** Maximum number of earlier runs, newest first, in whose recordings a history is looked for. */
const RUNS_MAX = 3;

/** Starts of the lines that are parsed; most lines are books and are skipped by their text. */
const PARSED = ['history', 'public trade', 'rules'].map(kind => `i{"event":{"kind":"${kind}"`);

/**
 * Returns the complete trades at the end of the recordings of a state directory; `null` if there are none. Reads the
 * recordings in pieces, with constant memory. Takes some 100 ms per MB on disk.
 */
export function recordedTrades(
  dir: string,
  { instrument, since, run, runsMax = RUNS_MAX }: WantedTrades,
): CompleteTrades | null {
  // Before the first start, there is no state directory.
  if (!existsSync(dir)) return null;
  const earlier = recordingsIn(dir).filter(one => one.run < run);
  for (const one of earlier.slice(-runsMax).reverse()) {
    const found = tradesIn(dir, one.run, instrument, since);
    if (found !== null) return found;
  }
  return null;
}

type Units = WantedTrades['instrument'];

/** Returns the complete trades up to the end of a recording; `null` if it has none, or other units. */
function tradesIn(dir: string, run: number, of: Units, wanted: Millis): CompleteTrades | null {
  let trades = new TradesOfRun(wanted, of.symbol);
  try {
    for (const text of readRecording(dir, run)?.lines ?? []) {
      if (text === GAP) trades = new TradesOfRun(wanted, of.symbol);
      if (!PARSED.some(start => text.startsWith(start))) continue;
      const line = lineOf(text);
      if (line.kind !== 'input') continue;
      const { event } = line;
      if (event.kind === 'rules' && isOfBook(event, of.symbol) && !isOfUnits(event.instrument, of)) return null;
      trades.see(event);
    }
  } catch (error) {
    // The lines of a damaged recording are complete up to the damage.
    if (!(error instanceof RangeError)) throw error;
  }
  return trades.complete;
}

const isOfUnits = (a: Units, b: Units): boolean => a.symbol === b.symbol && haveSameGrid(a, b);

/** Whether an event is of a book. In the recording of one book, events name none, and the rules have its symbol. */
const isOfBook = (event: { readonly symbol?: string }, book: string): boolean => (event.symbol ?? book) === book;

type Found = { readonly recent: RecentTrades; last: bigint; lastTrade?: NumberedTrade };

/** Complete trades of a book in the inputs of one run. Only a book whose strategy needs a history has them. */
export class TradesOfRun {
  readonly #wanted: Millis;
  readonly #book: string;
  #found: Found | null = null;

  /** `wanted`: time since which trades are kept. */
  constructor(wanted: Millis, book: string) {
    this.#wanted = wanted;
    this.#book = book;
  }

  see(event: EngineEvent | RecordedEvent): void {
    if ((event.kind !== 'history' && event.kind !== 'public trade') || !isOfBook(event, this.#book)) return;
    if (event.kind === 'history') this.#found = historyAtStart(event, this.#wanted);
    if (event.kind !== 'public trade' || this.#found === null) return;
    const { price, amount, side, tid, tradedAt: at = event.at } = event;
    // An event without a number is not a trade: a run that polls also reports the price of the last trade.
    if (tid === undefined || amount === undefined || side === undefined) return;
    const trade = { tid: BigInt(tid), at, price, amount, side };
    if (at >= this.#wanted) this.#found.recent.add(trade);
    [this.#found.last, this.#found.lastTrade] = [trade.tid, trade];
  }

  /** Trades up to the last input; `null` if there are none. */
  get complete(): CompleteTrades | null {
    if (this.#found === null) return null;
    const { recent, last, lastTrade } = this.#found;
    return { ...recent.complete, last, ...(lastTrade !== undefined && { lastTrade }) };
  }
}

/**
 * Returns the complete trades that the history of a recorded run starts with; `null` if the number of its newest trade
 * is unknown.
 */
function historyAtStart(event: Extract<EngineEvent, { kind: 'history' }>, wanted: Millis): Found | null {
  const { since, last, trades } = event;
  if (last === null) return null;
  const recent = new RecentTrades(since);
  for (const [at, price, amount, side] of trades)
    if (at >= wanted) recent.add({ ...{ tid: 0n, at, price, amount }, side: side === 0 ? 'buy' : 'sell' });
  return { recent, last: BigInt(last) };
}
