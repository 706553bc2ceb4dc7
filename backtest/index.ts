/** Public interface of the research code: replays, profiles, tuning, and their reports. */
export { BOUNDS, fillModel, MODEL_NAMES } from './exchange/fillModels.ts';
export type { ModelName } from './exchange/fillModels.ts';
export { ownFillModel } from './exchange/ownFillModel.ts';
export type { FillModelFile } from './exchange/ownFillModel.ts';
export { constantLatency, latencyOf, latencySpecOf, recordedLatencies, requestsTook, travel } from './rows/latency.ts';
export type { Latency, LatencySpec, Travel } from './rows/latency.ts';
export { REPLAY_THREAD } from './replay/replayThread.ts';
export { READ_REQUESTS } from './replay/replayAccount.ts';
export { runSeveralBooks } from './replay/severalBooksReplay.ts';
export type { SeveralBooksReplayOptions, SeveralBooksResult } from './replay/severalBooksReplay.ts';
export type { SkewSizes } from './replay/jointShares.ts';
export { severalBooksPage } from './severalBooks/severalBooksPage.ts';
export { hashOver, skewsOf, totalsOf } from './severalBooks/severalBooksReport.ts';
export type {
  SeveralBooksModel,
  SeveralBooksReport,
  SeveralBooksRun,
  SeveralBooksTotal,
} from './severalBooks/severalBooksReport.ts';
export { runSideBySide } from './replay/sideBySide.ts';
export type { SideBySideOptions } from './replay/sideBySide.ts';
export type { ReplayDeskOptions } from './exchange/desk.ts';
export type { ElsewhereExchangeOptions } from './exchange/elsewhereExchange.ts';
export { priceKindOf } from './rows/recordedPrice.ts';
export type { ReplayedHedge, HedgeOptions } from './replay/hedging.ts';
export type { FillRow, OrderRow, ReplayOptions, ReplayResult, ReplaySink } from './replay/replay.ts';
export { rowsOfTape, windowOfLevels } from './rows/tapeRows.ts';
export type { TapeRowsOptions } from './rows/tapeRows.ts';
export { RowWindow } from './rows/rowWindow.ts';
export { FLAG, RowBuilder, rowsInShared } from './rows/rows.ts';
export type { MarketRows } from './rows/rows.ts';
export { TickBook } from './rows/tickBook.ts';
export { recordFlow, recordLinkedFlows } from './rows/recordFlow.ts';
export { fillLine, FILLS_HEADER, hedgeLine, HEDGES_HEADER, orderLine, ORDERS_HEADER } from './report/csvLines.ts';
export { reportOf, sweptLatency } from './report/report.ts';
export { tilesTextOf } from './report/firstScreen.ts';
export { mainOf, shownModels } from './report/mainModel.ts';
export { crossedText, isCrossed, longest, longestText } from './report/summary.ts';
export { excludesZero, intervalOf } from './report/interval.ts';
export type { Interval } from './report/interval.ts';
export type { BacktestReport, ReplayReport } from './report/report.ts';
export { reportPage } from './report/page.ts';
export { Fees, makerBpsOf, paceOf } from './exchange/fees.ts';
export { againstFirst, comparedModel, hashOfRuns, mainModel, withoutCurves } from './compare/comparison.ts';
export type {
  ComparedModel,
  ComparedRun,
  ComparedTape,
  ComparedVerdict,
  Comparison,
  Measured,
  StaggeredStart,
} from './compare/comparison.ts';
export { comparedBooks, booksAgainstFirst } from './compare/comparedBooks.ts';
export type { ComparedBooks, ComparedTotal } from './compare/comparedBooks.ts';
export { comparedBooksWords } from './compare/comparedBooksSummary.ts';
export { remarksOf } from './compare/remarks.ts';
export { comparisonPage } from './compare/page.ts';
export type { ExternalReferenceOptions } from './replay/externalReference.ts';
export { distanceProfileOf, PROFILE_HORIZONS_S } from './profile/distanceProfile.ts';
export type { DistancePoint, DistanceProfile, ProfileOptions } from './profile/distanceProfile.ts';
export type { DistanceSums } from './profile/virtualOrders.ts';
export { quoteVerdictOf, VERDICT_ERROR } from './profile/quoteVerdict.ts';
export { quoteAnswer, hoursText, missingText } from './profile/verdictWords.ts';
export type { QuoteAnswer } from './profile/verdictWords.ts';
export type { QuoteVerdict, VerdictOptions } from './profile/quoteVerdict.ts';
export { marketProfileOf } from './profile/marketProfile.ts';
export type { MarketProfile } from './profile/marketProfile.ts';
export { HORIZON_S, ORDERS_PER_SIDE as ORDERS_A_SIDE, ranked, scoutedBook, verdictDistance } from './scout/scouting.ts';
export type { ScoutedBook, Scouting } from './scout/scouting.ts';
export { checksWithin, endsScouting } from './scout/checks.ts';
export { scoutPage } from './scout/page.ts';
export { booksTogether } from './scout/together.ts';
export type { BookPair, TimedBook, JointMoves } from './scout/together.ts';
export { correlationText, isRelated, riskText, togetherWords } from './scout/togetherWords.ts';
export { bpsText } from './profile/bpsText.ts';
export { compact, scoutWords, shownIn, signed } from './scout/summary.ts';
export { flawOfSpace, textOfPoint } from './tune/search/space.ts';
export type { Parameter as SpaceParameter, ParameterValue, Point, Space } from './tune/search/space.ts';
export type { Search } from './tune/search/search.ts';
export { newSearch } from './tune/search/searches.ts';
export { paretoFront, paretoRanks } from './tune/search/paretoFront.ts';
export { medianAfter } from './tune/search/medianStop.ts';
export { combinatorialSplits, walkForwardSplits } from './tune/judge/timeSplits.ts';
export type { CombinatorialSplits, ResultSpan } from './tune/judge/timeSplits.ts';
export { chooseAndJudge, meanOf, pathResults } from './tune/judge/outOfSample.ts';
export { overfittingOf } from './tune/judge/overfitting.ts';
export { stationaryInterval } from './tune/judge/stationaryInterval.ts';
export { runningRatio } from './tune/judge/confidenceSequence.ts';
export type { RunningRatio, TradedBlock } from './tune/judge/confidenceSequence.ts';
export { neighboursOf, stabilityOf } from './tune/judge/stability.ts';
export type { Neighbour } from './tune/judge/stability.ts';
export { deflatedSharpe, momentsOf, varianceByLuck } from './tune/judge/sharpe.ts';
export type { Evidence, HeldOut, TunedParameter, TunedTrial, Tuning } from './tune/report/tuning.ts';
export { tuningWords } from './tune/report/summary.ts';
export { verdictOn } from './tune/report/tuningVerdict.ts';
export { tuningPage } from './tune/report/page.ts';
export { hedgedBookOf, hedgedTable, hedgedWords, hedgeTapeReport, hedgeTapeText } from './hedged/hedgedBook.ts';
export type { HedgedBook, HedgeTape, HedgeVenue } from './hedged/hedgedBook.ts';
export { HEDGE_LATENCY_MS, HEDGED_HORIZONS_S, hedgedProfileOf, PAIR_HORIZON_S } from './hedged/hedgedProfile.ts';
export type { HedgedOptions, HedgedProfile, MeasuredBasis } from './hedged/hedgedProfile.ts';
export { hedgedVerdictsOf, payingFeeOf } from './hedged/hedgedVerdict.ts';
export type { HedgedVerdict } from './hedged/hedgedVerdict.ts';
