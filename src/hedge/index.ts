/** Everything that other rooms may import of the hedger. */
export { Offers } from './offers.ts';
export { Hedger } from './hedger.ts';
export type { HedgeLog, HedgerOptions, HedgeSetup } from './hedger.ts';
export { explained, isOver } from './row.ts';
export type { HedgeRow } from './row.ts';
