/** Everything that the command line may import from backtest. */
export { readEventFile } from './eventFile.ts';
export { BOUNDS, fillModel, MODEL_NAMES } from './models.ts';
export type { ModelName } from './models.ts';
export { constantLatency, exponentialLatency } from './latency.ts';
export type { Latency } from './latency.ts';
export { runReplay } from './replay.ts';
export type { FillRow, OrderRow, ReplayOptions, ReplayResult, ReplaySink } from './replay.ts';
export { rowsOfTape } from './tapeRows.ts';
export type { TapeRowsOptions } from './tapeRows.ts';
export { runGolden } from './golden.ts';
export type { GoldenCounts, GoldenOptions } from './golden.ts';
export { FLAG, RowBuilder } from './rows.ts';
export type { MarketRows } from './rows.ts';
export { TickBook } from './tickBook.ts';
export { recordFlow } from './recordFlow.ts';
export { fillLine, FILLS_HEADER, orderLine, ORDERS_HEADER, reportOf } from './report.ts';
export type { ReplayReport } from './report.ts';
