/** Everything that other rooms may import from tape. */
export * from './tape.ts';
export { RecordedBook, RecordedSide } from './recordedBook.ts';
export { openTape } from './open.ts';
export { describeDirt, describeTape, finishTape } from './finish.ts';
export { findRecording, formats } from './import/find.ts';
export { readRecording } from './import/recording.ts';
export type { ImportReport, Recording, RowSink } from './import/recording.ts';
export { RowBuffer } from './import/rows.ts';
export type { Chunk } from './import/rows.ts';
export { statisticsOf } from './statistics.ts';
export type { TapeStatistics } from './statistics.ts';
export { TapeWriter } from './tapeWriter.ts';
export type { TapeWriterOptions } from './tapeWriter.ts';
export { loadStoredTape, openStoredTape } from './storedTape.ts';
export type { ChunkOptions, PriceRange, RulesChange, StoredDay, StoredTape, StoredTapeOptions } from './storedTape.ts';
export type { TapeChunk } from './chunkReader.ts';
export { BLOCK_ROWS } from './rowsCodec.ts';
