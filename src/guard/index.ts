/** Exports of guard for other layers. */
export { boundedBody, readBody } from './body.ts';
export { Connections } from './connections.ts';
export type { CallerRole } from './connections.ts';
export {
  appendLine,
  appendLineDurably,
  createDurably,
  overwrite,
  syncFolder,
  synced,
  writeDurably,
  writeDurablyAlone,
  writeWhole,
  replaceInPlace,
  replacementProblem,
} from './durableFiles.ts';
export {
  LARGE_FILE,
  openRegularFile,
  readOpenFile,
  readRegularFile,
  regularFileStream,
  SMALL_FILE,
  TEXT_FILE,
} from './files.ts';
export { fileErrorCode, fileProblem, pathLine, type FileUse } from './fileErrors.ts';
export { makeFolder } from './folders.ts';
export { NO_FOLDER, pathProblem, type PathKind } from './givenPaths.ts';
export { GuardedServer, requestProblem, textAnswer } from './guardedServer.ts';
export { OpenRequests } from './openRequests.ts';
export { orNull } from './orNull.ts';
export { followed, openOutput, writeOutputFile, type OutputFile } from './outputFiles.ts';
export { Pool } from './pool.ts';
export { senderOf } from './sender.ts';
export { TailedLines } from './tailedLines.ts';
