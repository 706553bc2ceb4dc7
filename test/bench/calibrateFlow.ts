/** Prints the table of docs/market-model.md: the seeded flow's statistics beside those of the recordings. */
import { seededFlow } from '../../src/sandbox/flow.ts';
import { FLOW_PROFILES } from '../../src/sandbox/flowProfile.ts';
import { openTape, statisticsOf } from '../../src/tape/index.ts';
import type { TapeStatistics } from '../../src/tape/index.ts';
import { flowRules, recordMarket } from '../sandbox/recordMarket.ts';

const DATA = process.env['PUNTAS_DATA'] ?? '../shared/data';
const HOURS = 24;
const SEED = 1;

type Column = { readonly name: string; readonly statistics: TapeStatistics };

const RECORDINGS = [
  { name: 'Bitso btc_mxn quotes 2024', set: 'bitso-bbo-1s', book: 'btc_mxn' },
  { name: 'Bitso usd_mxn quotes 2024', set: 'bitso-bbo-1s', book: 'usd_mxn' },
  { name: 'Gemini eth_usd 2021', set: 'gemini-ethusd-2021-07-01-l1-trades', book: 'eth_usd' },
  { name: 'Bitstamp btc_usd 2015', set: 'bitstamp-btcusd-2015-05-01-book-orders-trades', book: 'btc_usd' },
  { name: 'Hyperliquid eth_usd 2025', set: 'hyperliquid-2025-09-04-l2-trades', book: 'eth_usd' },
  { name: 'Binance btc_usdt 2024', set: 'binance-spot-2024-08-08', book: 'btc_usdt' },
  { name: 'StandX btc_usd 2026', set: 'standx-btcusd-2026-01-dirty-l2-trades', book: 'btc_usd' },
];

const FLOWS = [
  { book: 'btc_mxn', tick: '10' },
  { book: 'eth_usd', tick: '0.01' },
  { book: 'usd_mxn', tick: '0.001' },
];

/** Amounts are told in median taking orders, so that books of different coins can be compared. */
const ROWS: readonly (readonly [string, (s: TapeStatistics) => number])[] = [
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

const columns: Column[] = [];
for (const { book, tick } of FLOWS) {
  const flow = seededFlow({ seed: SEED, profile: FLOW_PROFILES[book]! });
  const { tape } = recordMarket(flow, flowRules(book, tick), HOURS * 3600);
  columns.push({ name: `flow ${book}`, statistics: statisticsOf(tape) });
}
for (const { name, set, book } of RECORDINGS) {
  try {
    columns.push({ name, statistics: statisticsOf(await openTape(`${DATA}/${set}`, { book })) });
  } catch (error) {
    process.stderr.write(`left out: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
const cells = (first: string, rest: readonly string[]) => `| ${[first, ...rest].join(' | ')} |\n`;
process.stdout.write(
  cells(
    '',
    columns.map(column => column.name),
  ),
);
process.stdout.write(
  cells(
    '---',
    columns.map(() => '---:'),
  ),
);
for (const [name, pick] of ROWS)
  process.stdout.write(
    cells(
      name,
      columns.map(column => cellOf(pick(column.statistics))),
    ),
  );

function cellOf(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value === 0) return '0';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)));
}
