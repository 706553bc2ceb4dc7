/** Public trades of a stored tape, for the history of a strategy. */
import type { Amount, Price } from '../../core/index.ts';
import type { NumberedTrade, PastTradesSource } from '../../live/market/pastTrades.ts';
import { KIND, openStoredTape, SIDE } from '../../tape/index.ts';

/** Returns a tape as a source of past trades: complete from its latest gap on. */
export const tapeTrades = (dir: string): PastTradesSource => ({
  name: dir,
  read: ({ symbol, tick, lot }, wanted) => {
    const tape = openStoredTape(dir, { book: symbol, from: wanted, damaged: 'skip' });
    const trades: NumberedTrade[] = [];
    const since = Math.max(tape.from, ...tape.gaps.map(({ to }) => to));
    let lastTrade: NumberedTrade | null = null;
    for (const { columns, instrument } of tape.chunks()) {
      if (instrument.tick !== tick || instrument.lot !== lot)
        throw new Error(
          `the tape has ticks of ${instrument.tick} and lots of ${instrument.lot}, expected ${tick} and ${lot}`,
        );
      for (let row = 0; row < columns.length; row++) {
        const [at, tid] = [columns.at[row]!, columns.id[row]!];
        // A number above 2^53 is not exact.
        if (columns.kind[row] !== KIND.trade || !(tid > 0 && Number.isSafeInteger(tid))) continue;
        const side = columns.side[row];
        if (side === SIDE.unknown) throw new Error('the tape has trades without the side of the taker');
        const [price, amount] = [columns.price[row]! as Price, columns.amount[row]! as Amount];
        lastTrade = { ...{ tid: BigInt(tid), at, price, amount }, side: side === SIDE.buy ? 'buy' : 'sell' };
        if (at >= since) trades.push(lastTrade);
      }
    }
    if (lastTrade === null) throw new Error('the tape has no numbered trades in the time of the history');
    return { since, last: lastTrade.tid, lastTrade, trades };
  },
});
