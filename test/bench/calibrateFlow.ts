/** Prints the table of docs/development/evidence/market-model.md: the seeded flow's statistics beside those of the recordings. */
import { openTape } from '../../src/tape/index.ts';
import { FLOWS, ROWS, columnOf, flowStatistics } from './flowTable.ts';
import { statisticsOf } from '../tape/statistics.ts';

const DATA = process.env['PUNTAS_DATA'] ?? '../shared/data';

const RECORDINGS = [
  { name: 'Bitso btc_mxn quotes 2024', set: 'bitso-bbo-1s', book: 'btc_mxn' },
  { name: 'Bitso usd_mxn quotes 2024', set: 'bitso-bbo-1s', book: 'usd_mxn' },
  { name: 'Gemini eth_usd 2021', set: 'gemini-ethusd-2021-07-01-l1-trades', book: 'eth_usd' },
  { name: 'Bitstamp btc_usd 2015', set: 'bitstamp-btcusd-2015-05-01-book-orders-trades', book: 'btc_usd' },
  { name: 'Hyperliquid eth_usd 2025', set: 'hyperliquid-2025-09-04-l2-trades', book: 'eth_usd' },
  { name: 'Binance btc_usdt 2024', set: 'binance-spot-2024-08-08', book: 'btc_usdt' },
  { name: 'StandX btc_usd 2026', set: 'standx-btcusd-2026-01-dirty-l2-trades', book: 'btc_usd' },
];

const columns: { readonly name: string; readonly cells: readonly string[] }[] = FLOWS.map(flow => ({
  name: `flow ${flow.book}`,
  cells: columnOf(flowStatistics(flow)),
}));
for (const { name, set, book } of RECORDINGS) {
  try {
    columns.push({ name, cells: columnOf(statisticsOf(await openTape(`${DATA}/${set}`, { book }))) });
  } catch (error) {
    process.stderr.write(`left out: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
const line = (first: string, rest: readonly string[]) => `| ${[first, ...rest].join(' | ')} |\n`;
process.stdout.write(
  line(
    '',
    columns.map(column => column.name),
  ),
);
process.stdout.write(
  line(
    '---',
    columns.map(() => '---:'),
  ),
);
ROWS.forEach(([name], i) =>
  process.stdout.write(
    line(
      name,
      columns.map(column => column.cells[i]!),
    ),
  ),
);
