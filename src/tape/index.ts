/** Everything that other rooms may import from tape. */
export * from './tape.ts';
export { RecordedBook, RecordedSide } from './recordedBook.ts';
export { openTape } from './open.ts';
export { describeTape, finishTape } from './finish.ts';
export { statisticsOf } from './statistics.ts';
export type { TapeStatistics } from './statistics.ts';
