/** The statistics that docs/development/evidence/market-model.md sets side by side, and those of the seeded flow. */
import { seededFlow } from '../../src/sandbox/markets/flow.ts';
import { FLOW_PROFILES } from '../../src/sandbox/markets/flowProfile.ts';
import { flowRules, recordMarket } from '../sandbox/markets/recordMarket.ts';
import { statisticsOf, type TapeStatistics } from '../tape/statistics.ts';

export const FLOWS = [
  { book: 'btc_mxn', tick: '10' },
  { book: 'eth_usd', tick: '0.1' },
  { book: 'usd_mxn', tick: '0.001' },
] as const;

const HOURS = 12;
const SEED = 1;

/** Half a day of the flow, recorded as if it had been a venue. */
export function flowStatistics({ book, tick }: (typeof FLOWS)[number]): TapeStatistics {
  const flow = seededFlow({ seed: SEED, profile: FLOW_PROFILES[book]! });
  return statisticsOf(recordMarket(flow, flowRules(book, tick), HOURS * 3600).tape);
}

/** One column of the table: a cell for each of ROWS. */
export const columnOf = (statistics: TapeStatistics): string[] => ROWS.map(([, pick]) => cellOf(pick(statistics)));

/** Amounts are told in median taking orders, so that books of different coins can be compared. */
export const ROWS: readonly (readonly [string, (s: TapeStatistics) => number])[] = [
  ['hours', s => s.seconds / 3600],
  ['spread median, bps', s => s.spreadBps.median],
  ['spread mean, bps', s => s.spreadBps.mean],
  ['spread p95, bps', s => s.spreadBps.p95],
  ['depth at touch, in median orders', s => s.depth.touch / s.size.median],
  ['depth within 10 bps, in median orders', s => s.depth.within10 / s.size.median],
  ['depth within 25 bps, in median orders', s => s.depth.within25 / s.size.median],
  ['executions a second', s => s.tradesPerSecond],
  ['taking orders a second', s => s.takersPerSecond],
  ['order size: mean / median', s => s.size.mean / s.size.median],
  ['order size: p90 / median', s => s.size.p90 / s.size.median],
  ['order size: p99 / median', s => s.size.p99 / s.size.median],
  ['order size: p99 / mean', s => s.size.p99 / s.size.mean],
  ['CV of the time between orders', s => s.arrivalCv],
  ['share within 100 ms of the order before', s => s.within100Ms],
  ['share within 1 s of the order before', s => s.within1S],
  ['mid moves over 1 s, bps (root mean square)', s => s.volatilityBps.over1S],
  ['mid moves over 60 s, bps (root mean square)', s => s.volatilityBps.over60S],
  ...[1, 2, 3, 4, 5].map(
    lag =>
      [`correlation of sides, lag ${lag}`, (s: TapeStatistics) => s.sideCorrelation[lag - 1] ?? Number.NaN] as const,
  ),
  ['mid after an order, 1 s, bps', s => s.markoutBps.after1S],
  ['mid after an order, 10 s, bps', s => s.markoutBps.after10S],
  ['mid after an order, 60 s, bps', s => s.markoutBps.after60S],
  ['life of a best price, s', s => s.touchSeconds],
];

function cellOf(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value === 0) return '0';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)));
}
