/** Public trades in the recordings of earlier runs, for the history of a strategy. */
import type { EngineEvent, Instrument, Millis } from '../../core/index.ts';
import type { CompleteTrades, NumberedTrade, PastTradesSource } from './pastTrades.ts';
import { GAP, lineOf } from '../recording/recording.ts';
import { readRecording, recordingsIn } from '../recording/recordings.ts';

/** Maximum number of earlier runs, newest first, in whose recordings a history is looked for. */
const RUNS_MAX = 3;
/**
 * Maximum size of the recordings that are read for a history, in bytes on disk. Reading them delays the start of the run
 * by some 100 ms per MB, during which the bot sends no heartbeat.
 */
const BYTES_MAX = 30_000_000;

/** Starts of the lines that are parsed; most lines are books and are skipped by their text. */
const PARSED = ['history', 'public trade', 'rules'].map(kind => `i{"event":{"kind":"${kind}"`);

/** Returns the recordings of a state directory as a source of past trades. */
export const recordedTrades = (dir: string): PastTradesSource => ({
  name: 'the recordings',
  read: (instrument, since, run) => {
    const earlier = recordingsIn(dir).filter(one => one.run < run);
    let bytes = 0;
    for (const one of earlier.slice(-RUNS_MAX).reverse()) {
      bytes += one.bytes;
      if (bytes > BYTES_MAX) return null;
      const found = tradesIn(dir, one.run, instrument, since);
      if (found !== null) return found;
    }
    return null;
  },
});

/** Returns the complete trades up to the end of a recording; `null` if it has none, or other units. */
function tradesIn(dir: string, run: number, of: Instrument, wanted: Millis): CompleteTrades | null {
  let found: { since: Millis; last: bigint; lastTrade?: NumberedTrade; trades: NumberedTrade[] } | null = null;
  try {
    for (const text of readRecording(dir, run)?.lines ?? []) {
      if (text === GAP) found = null;
      if (!PARSED.some(start => text.startsWith(start))) continue;
      const line = lineOf(text);
      if (line.kind !== 'input') continue;
      const { event } = line;
      if (event.kind === 'rules' && !isOfUnits(event.instrument, of)) return null;
      if (event.kind === 'history') found = historyAtStart(event);
      if (event.kind === 'public trade' && found !== null) {
        const { at, price, amount, side, tid } = event;
        // A run that needs a history reports each trade with its number, and while it polls, sometimes the last price.
        if (tid === undefined || amount === undefined || side === undefined) continue;
        const trade = { tid: BigInt(tid), at, price, amount, side };
        if (at >= wanted) found.trades.push(trade);
        [found.last, found.lastTrade] = [trade.tid, trade];
      }
    }
  } catch (error) {
    // The lines of a damaged recording are complete up to the damage.
    if (!(error instanceof RangeError)) throw error;
  }
  return found;
}

const isOfUnits = (a: Instrument, b: Instrument): boolean =>
  a.symbol === b.symbol && a.tick === b.tick && a.lot === b.lot;

/** Returns the start of complete trades that an event of a recorded run reports; `null` without a number to go on from. */
function historyAtStart({ since, last, trades }: Extract<EngineEvent, { kind: 'history' }>) {
  if (last === null) return null;
  const all = trades.map(([at, price, amount, side]): NumberedTrade => ({
    ...{ tid: 0n, at, price: price, amount: amount },
    side: side === 0 ? 'buy' : 'sell',
  }));
  return { since, last: BigInt(last), trades: all };
}
