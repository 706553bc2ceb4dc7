/** Curves of a report: values of a run in time buckets of equal width. */
import { approximately, type Instrument } from '../../src/core/index.ts';
import type { Collected } from '../collect/collect.ts';
import { short, shortOrNull } from '../../src/pages/index.ts';

/**
 * Curves over time. Entry i of a column covers the time from `fromMs` + i × `everyMs`, or is `null` if unknown. Money
 * and amounts are approximate.
 */
export type Series = {
  readonly fromMs: number;
  readonly everyMs: number;
  readonly columns: Readonly<Record<SeriesColumn, readonly (number | null)[]>>;
};
export type SeriesColumn =
  | 'profit'
  | 'profitLeast'
  | 'profitMost'
  | 'spread'
  | 'inventory'
  | 'fees'
  | 'hedging'
  | 'drawdown'
  | 'position'
  | 'positionLeast'
  | 'positionMost'
  | 'middle'
  | 'marketBps'
  | 'oursBps'
  | 'bidShare'
  | 'askShare'
  | 'requests'
  | 'bought'
  | 'boughtAt'
  | 'sold'
  | 'soldAt';

/** Converts the series to numbers of nine significant digits, with prices and amounts in currency. */
export function seriesOf(instrument: Instrument, fromMs: number, { series }: Collected): Series {
  const tick = approximately(instrument.tickMoney);
  const lot = approximately(instrument.lotMoney);
  const plain = (name: Parameters<typeof series.column>[0], factor = 1): (number | null)[] =>
    Array.from(series.column(name), x => shortOrNull(x * factor));
  const ratio = (
    over: Parameters<typeof series.column>[0],
    under: Parameters<typeof series.column>[0],
    factor = 1,
  ): (number | null)[] => {
    const below = series.column(under);
    return Array.from(series.column(over), (x, i) => (below[i]! > 0 ? short((x / below[i]!) * factor) : null));
  };
  return {
    fromMs,
    everyMs: series.width,
    columns: {
      profit: plain('profit'),
      profitLeast: plain('profitLeast'),
      profitMost: plain('profitMost'),
      spread: plain('spread'),
      inventory: plain('inventory'),
      fees: plain('fees'),
      hedging: plain('hedging'),
      drawdown: plain('drawdown'),
      position: plain('position'),
      positionLeast: plain('positionLeast'),
      positionMost: plain('positionMost'),
      middle: plain('middle'),
      marketBps: ratio('marketBps', 'marketLooks'),
      oursBps: ratio('oursBps', 'oursLooks'),
      bidShare: ratio('bidLooks', 'looks'),
      askShare: ratio('askLooks', 'looks'),
      requests: plain('requests'),
      bought: plain('boughtLots', lot),
      boughtAt: ratio('boughtTickLots', 'boughtLots', tick),
      sold: plain('soldLots', lot),
      soldAt: ratio('soldTickLots', 'soldLots', tick),
    },
  };
}
