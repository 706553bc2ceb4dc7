/** Recorded book other than the bot's, for the desk of a replay: its best prices, without depth. */
import type { Clock, Value } from '../../src/core/index.ts';
import type { DeskBook } from '../../src/sandbox/index.ts';
import type { RecordedBests } from '../../src/tape/index.ts';
import { GapIterator } from '../rows/gapIterator.ts';

/**
 * Returns a book for the desk. The book has no price in gaps, before the first recorded price, and after the end of the
 * recording. `valueMax` replaces the instrument's own limit and is evaluated at each use. The time of `clock` must not
 * decrease.
 */
export function recordedDeskBook(recorded: RecordedBests, clock: Clock, valueMax?: () => Value): DeskBook {
  const { at, bid, ask, to, instrument } = recorded;
  const gaps = new GapIterator(recorded.gaps);
  let next = 0;
  const best = (side: Float64Array): number => {
    const now = clock.now();
    while (next < at.length && at[next]! <= now) next++;
    return now <= to && !gaps.isIn(now) ? (side[next - 1] ?? 0) : 0;
  };
  return {
    instrument: {
      ...instrument,
      get valueMax() {
        return valueMax === undefined ? instrument.valueMax : valueMax();
      },
    },
    rules: { book: instrument.symbol },
    engine: { bestBid: () => best(bid), bestAsk: () => best(ask), eachLevel: () => undefined },
  };
}
