/** Public trades of a stored tape, for the history of a strategy. */
import type { Amount, Price } from '../../core/index.ts';
import {
  RecentTrades,
  type CompleteTrades,
  type NumberedTrade,
  type WantedTrades,
} from '../../live/market/pastTrades.ts';
import { KIND, openStoredTape, SIDE } from '../../tape/index.ts';

/**
 * Returns the trades of a tape, complete from its latest gap up to its last numbered trade: the list of the exchange
 * continues them from that number. Throws an Error of one line with the problem of the tape.
 */
export function tapeTrades(dir: string, { instrument, since: wanted }: WantedTrades): CompleteTrades {
  const { symbol, tick, lot } = instrument;
  const tape = openStoredTape(dir, { book: symbol, from: wanted, damaged: 'skip' });
  const since = Math.max(tape.from, ...tape.gaps.map(({ to }) => to));
  const recent = new RecentTrades(since);
  let lastTrade: NumberedTrade | null = null;
  /** Trades without a number that a numbered one has not followed yet. */
  let unnumbered: NumberedTrade[] = [];
  for (const { columns, instrument: own } of tape.chunks()) {
    if (own.tick !== tick || own.lot !== lot)
      throw new Error(`the tape has ticks of ${own.tick} and lots of ${own.lot}, expected ${tick} and ${lot}`);
    for (let row = 0; row < columns.length; row++) {
      if (columns.kind[row] !== KIND.trade) continue;
      const side = columns.side[row];
      if (side === SIDE.unknown) throw new Error('the tape has trades without the side of the taker');
      const [at, id] = [columns.at[row]!, columns.id[row]!];
      const [price, amount] = [columns.price[row]! as Price, columns.amount[row]! as Amount];
      // A number above 2^53 is not exact.
      const tid = id > 0 && Number.isSafeInteger(id) ? BigInt(id) : 0n;
      const trade: NumberedTrade = { tid, at, price, amount, side: side === SIDE.buy ? 'buy' : 'sell' };
      if (tid === 0n) {
        if (at >= since) unnumbered.push(trade);
        if (unnumbered.length > UNNUMBERED_MAX) throw new Error(TOO_FEW_NUMBERS);
        continue;
      }
      lastTrade = trade;
      for (const earlier of unnumbered) recent.add(earlier);
      unnumbered = [];
      if (at >= since) recent.add(trade);
    }
  }
  if (lastTrade === null) throw new Error('the tape has no numbered trades in the time of the history');
  return { ...recent.complete, last: lastTrade.tid, lastTrade };
}

/** Maximum number of consecutive trades without a number. */
const UNNUMBERED_MAX = 100_000;
const TOO_FEW_NUMBERS = `the tape has more than ${UNNUMBERED_MAX} consecutive trades without a number, so the list of the exchange cannot continue them`;
