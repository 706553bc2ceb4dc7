/** Everything that the command line may import from backtest. */
export { readEventFile } from './eventFile.ts';
export { runGolden } from './golden.ts';
export type { GoldenCounts, GoldenOptions } from './golden.ts';
export { FLAG, RowBuilder } from './rows.ts';
export type { MarketRows } from './rows.ts';
export { TickBook } from './tickBook.ts';
