/** Exports of the folder tape for other layers. */
export * from './model/tape.ts';
export { RecordedBook, RecordedSide } from './model/recordedBook.ts';
export { booksIn, isStoredTape, openTape } from './format/open.ts';
export { gapMs, gapsWithin } from './model/gaps.ts';
export { isClosed, sessionOf } from './model/session.ts';
export { SpreadHours, wideHoursOf, wideHoursText } from './analysis/spreadHours.ts';
export type { WideHours } from './analysis/spreadHours.ts';
export { describeFlaw, finishTape } from './analysis/finishTape.ts';
export { findRecording, formats } from './import/find.ts';
export { openRecording } from './import/mapping/mappedFolder.ts';
export { mappedRecording } from './import/mapping/mapped.ts';
export { isTimeFolder } from './import/bookFiles.ts';
export { bytesToRead, importRecording } from './import/recording.ts';
export type { ImportReport, Recording, RecordingSink, TapeEnd } from './import/recording.ts';
export { RowBuffer } from './import/rows.ts';
export { Silence } from './import/silence.ts';
export type { Chunk } from './import/rows.ts';
export { calibrationOf } from './analysis/calibration.ts';
export type { Calibration } from './analysis/calibration.ts';
export type { Estimate } from './analysis/jackknife.ts';
export type { Prediction } from './analysis/prediction.ts';
export { basisMemoryFor, LEADER_HORIZONS, leaderIn, leaderOf } from './analysis/leader.ts';
export type { Leader } from './analysis/leader.ts';
export { logSecondsOf } from './analysis/seconds.ts';
export type { LogSeconds } from './analysis/seconds.ts';
export { imbalanceOf } from './analysis/signals.ts';
export type { Imbalance, Signals } from './analysis/signals.ts';
export { bestsOf, midsOf } from './model/mids.ts';
export type { RecordedBests, RecordedMids } from './model/mids.ts';
export { walk } from './model/walk.ts';
export { LastDay } from './format/lastDay.ts';
export { TapeWriter } from './format/tapeWriter.ts';
export type { TapeWriterOptions } from './format/tapeWriter.ts';
export { loadStoredTape, openStoredTape } from './format/storedTape.ts';
export type {
  ChunkOptions,
  DayScans,
  PriceRange,
  RulesChange,
  StoredDay,
  StoredTape,
  StoredTapeOptions,
} from './format/storedTape.ts';
export type { TapeChunk } from './format/chunkReader.ts';
export { BLOCK_ROWS } from './format/rowsCodec.ts';
export { Recorder } from './record/recorder.ts';
export { RULES_EVERY_MS, rulesOf } from './record/recordedRules.ts';
export type { RecorderOptions, RecorderStatus } from './record/recorderTypes.ts';
export type { RecordSink } from './record/reorderBuffer.ts';
export { LevelRecorder } from './record/levelRecorder.ts';
export { exportTape } from './format/exportTape.ts';
