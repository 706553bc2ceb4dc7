/** A stored tape of level changes and trades as rows that are decoded ahead. */
import { RowWindow } from '../../backtest/rows/rowWindow.ts';
import { windowOfRange } from '../../backtest/rows/rows.ts';
import { KIND, SIDE, type StoredTape } from '../../src/tape/index.ts';

/** A stored tape of level changes and trades with their sides, in microseconds, decoded ahead. Throws where the tape tells anything else. */
export function windowOfTape(tape: StoredTape): RowWindow {
  const { prices, traded, kinds, dir } = tape;
  if (prices === null || [...kinds].some(kind => kind !== KIND.level && kind !== KIND.trade)) {
    throw new Error(`${dir}: has more than level changes and trades`);
  }
  const chunks = tape.chunksAhead({ micros: true });
  return new RowWindow(windowOfRange(prices, traded), window => {
    const { done, value } = chunks.next();
    if (done) return false;
    const { columns, instrument } = value;
    if (instrument.tick !== tape.instrument.tick) throw new Error(`${dir}: the tick changed`);
    if (columns.kind.includes(KIND.trade) && columns.side.includes(SIDE.unknown)) {
      throw new Error(`${dir}: has trades without a side`);
    }
    window.reserve(columns.length);
    window.append(columns);
    return true;
  });
}
