/** Everything that other rooms may import from tape. */
export * from './tape.ts';
export { RecordedBook, RecordedSide } from './recordedBook.ts';
export { openTape } from './open.ts';
export { describeTape, finishTape } from './finish.ts';
export { statisticsOf } from './statistics.ts';
export type { TapeStatistics } from './statistics.ts';
export { TapeWriter } from './tapeWriter.ts';
export type { TapeWriterOptions } from './tapeWriter.ts';
export { loadStoredTape, openStoredTape } from './storedTape.ts';
export type { ChunkOptions, PriceRange, RulesChange, StoredDay, StoredTape, StoredTapeOptions } from './storedTape.ts';
export type { TapeChunk } from './chunkReader.ts';
export { BLOCK_ROWS } from './rowsCodec.ts';
