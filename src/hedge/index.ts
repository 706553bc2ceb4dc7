/** Public interface of the hedger for other layers. */
export { ElsewhereDesk } from './elsewhereDesk.ts';
export type { ElsewhereClient, ElsewhereDeskOptions, SendResult, StreamedBook } from './elsewhereDesk.ts';
export type { ElsewhereSetup } from './elsewhereDesk.ts';
export type { StatedExecution } from './elsewhereRoute.ts';
export { elsewhereSetupOf, rateOf, stateElsewhere } from './elsewhereSetup.ts';
export type { ElsewhereHedging, ElsewhereRunSetup, ElsewhereHedgeTerms, RateSources } from './elsewhereSetup.ts';
export { Offers } from './offers.ts';
export { bookRoute } from './pricedRoutes.ts';
export type { BandModel } from './bandFollower.ts';
export { Hedger } from './hedger.ts';
export type { FlattenRequest, HedgeLog, HedgerOptions, HedgeSetup } from './setup.ts';
export { ElsewhereReads } from './elsewhereReads.ts';
export { hedgeInputsOf } from './hedgeInputs.ts';
export type { HedgeInputs } from './hedgeInputs.ts';
export { outcomeFromBalances } from './balanceEvidence.ts';
export { conversionOf, hedgeComparisonText, isOver, mayStillExecute } from './hedgeText.ts';
export type { HedgeRow } from './hedgeText.ts';
