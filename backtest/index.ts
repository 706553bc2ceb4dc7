/** Everything that the command line may import from backtest. */
export { readEventFile, storeEventFile } from './eventFile.ts';
export { BOUNDS, fillModel, MODEL_NAMES } from './models.ts';
export type { ModelName } from './models.ts';
export {
  constantLatency,
  exponentialLatency,
  latencyOf,
  latencySpecOf,
  recordedLatencies,
  requestsTook,
  travel,
} from './latency.ts';
export type { Latency, LatencySpec, Travel } from './latency.ts';
export { runHedgedReplay, runReplay } from './replay.ts';
export type { DeskOptions } from './desk.ts';
export type { HedgeLine, HedgeOptions } from './hedging.ts';
export type { FillRow, OrderRow, ReplayOptions, ReplayResult, ReplaySink } from './replay.ts';
export { rowsOfTape, windowOfLevels } from './tapeRows.ts';
export type { TapeRowsOptions } from './tapeRows.ts';
export { runGolden } from './golden.ts';
export type { GoldenCounts, GoldenOptions } from './golden.ts';
export { RowWindow, windowOfTape } from './rowWindow.ts';
export { FLAG, inUnit, RowBuilder, rowsInShared } from './rows.ts';
export type { MarketRows } from './rows.ts';
export { TickBook } from './tickBook.ts';
export { recordFlow } from './recordFlow.ts';
export { fillLine, FILLS_HEADER, hedgeLine, HEDGES_HEADER, orderLine, ORDERS_HEADER, reportOf } from './report.ts';
export type { BacktestReport, ReplayReport } from './report.ts';
export { pageOf } from './page.ts';
export type { PageParts } from './pageFrame.ts';
export { recordedOrders, scoreQueueModel } from './queueTruth.ts';
export type { QueueScore, RecordedOrder } from './queueTruth.ts';
export { Fees } from './fees.ts';
export { comparedModel, hashOfRuns, mainModel, withoutCurves } from './compare/comparison.ts';
export type { ComparedModel, ComparedRun, ComparedTape, Comparison, Measured } from './compare/comparison.ts';
export { remarksOf } from './compare/remarks.ts';
export { comparisonPage } from './compare/page.ts';
export type { ElsewhereOptions } from './elsewhere.ts';
