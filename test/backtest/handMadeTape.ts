/** A recording by hand: levels and trades, with a lot of 10^-8. */
import { amount, price } from '../../src/core/index.ts';
import { finishTape, SIDE, TapeBuilder, type Tape } from '../../src/tape/index.ts';

export type Row = readonly [at: number, kind: 'bid' | 'ask' | 'buy' | 'sell', ticks: number, lots: number];

export function handMadeTape(rows: readonly Row[], book = 'btc_mxn', tick = '1'): Tape {
  const builder = new TapeBuilder();
  for (const [at, kind, ticks, lots] of rows) {
    if (kind === 'bid' || kind === 'ask')
      builder.level(at, at, kind === 'bid' ? SIDE.buy : SIDE.sell, price(ticks), amount(lots));
    else builder.trade(at, at, kind === 'buy' ? SIDE.buy : SIDE.sell, price(ticks), amount(lots));
  }
  return finishTape({ source: 'by hand', book, tick, depth: 5, columns: builder.columns() });
}
