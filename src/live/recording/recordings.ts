/** Recordings of a state directory. Each run has one append-only file, so that old runs can be deleted one by one. */
import { openRegularFile, syncFolder, makeFolder } from '../../guard/index.ts';
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { HOUR_MS, type Millis } from '../../core/index.ts';

/** First line of a recording: number, start time and configuration of the run, and the format of the lines. */
export type RecordedRun = {
  readonly run: number;
  readonly startedAt: Millis;
  /** Configuration as text. */
  readonly setup: string;
  /**
   * Format of the lines; absent in the first format. In the first format, a rejection has the exchange's code but no
   * field `meaning`.
   */
  readonly format?: 2;
};

/** Recorder of the current run. */
export type RunRecorder = {
  /** Size of the recording, in bytes on disk. */
  readonly bytes: number;
  /** Appends lines, durable on return. If the disk does not accept all lines, throws and appends no line. */
  write(lines: readonly string[]): void;
  /** Closes the file. Can be called repeatedly. */
  close(): void;
};

const NAME = /^run-(\d{1,15})\.rec$/;
/** Returns the file name of the recording of a run. */
export const recordingName = (run: number): string => `run-${run}.rec`;

/** Size of the length and the checksum before each compressed piece of a recording, in bytes. */
const HEAD_BYTES = 8;
/**
 * Maximum uncompressed size of a separately compressed piece of a recording. Further lines are written to new pieces.
 */
const PIECE_MAX_BYTES = 32 * 1024 * 1024;
/**
 * Size of the deflate window, in bytes. The window includes earlier pieces, because pieces are small and similar. In a
 * measurement, one day of recording took 19 MB with earlier pieces in the window, and 54 MB without earlier pieces.
 */
const WINDOW_BYTES = 32_768;
const HASH_CHUNK_BYTES = 1024 * 1024;

/** Returns the number and size of each recorded run, oldest first. */
export function recordingsIn(dir: string): readonly { readonly run: number; readonly bytes: number }[] {
  return readdirSync(dir)
    .flatMap(name => {
      const run = NAME.exec(name)?.[1];
      return run === undefined ? [] : [{ run: Number(run), bytes: statSync(join(dir, name)).size }];
    })
    .sort((a, b) => a.run - b.run);
}

/** Maximum number of runs whose recordings are kept. */
export const RUNS_MAX = 500;
const MB = 1_000_000;

/**
 * Returns the limits that follow from the section `journal` of the configuration: time and size at which a recording
 * ends, and the size of all earlier recordings. A recording normally has at most an eighth of `keepMb`, and up to a
 * quarter if there is no suitable time for a change of runs. All recordings together never exceed `keepMb`.
 */
export function recordingLimits({ rollHours, keepMb }: { readonly rollHours: number; readonly keepMb: number }) {
  const bytes = (keepMb * MB) / 8;
  return { afterMs: rollHours * HOUR_MS, bytes, recordings: 6 * bytes };
}

/**
 * Deletes the oldest recordings other than `current` until at most `RUNS_MAX` of them remain, with at most `maxBytes` in
 * total.
 */
export function forgetOld(dir: string, current: number, maxBytes: number): void {
  const older = recordingsIn(dir).filter(({ run }) => run !== current);
  let bytes = older.reduce((sum, one) => sum + one.bytes, 0);
  let runs = older.length;
  for (const one of older) {
    if (bytes <= maxBytes && runs <= RUNS_MAX) return;
    rmSync(join(dir, recordingName(one.run)), { force: true });
    bytes -= one.bytes;
    runs--;
  }
}

/** Starts the recording of a run. Throws if the disk does not accept the recording. */
export function recorderIn(dir: string, of: RecordedRun): RunRecorder {
  makeFolder(dir, 0o700);
  const file = openSync(join(dir, recordingName(of.run)), 'wx', 0o600);
  let bytes = 0;
  let closed = false;
  let window: Buffer = Buffer.alloc(0);
  const write = (lines: readonly string[]): void => {
    let ahead = window;
    const pieces = texts(lines).map(plain => {
      const packed = deflateRawSync(plain, ahead.length > 0 ? { dictionary: ahead } : {});
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt32LE(packed.length, 0);
      head.writeUInt32LE(crc32(packed, of.run), 4);
      ahead = Buffer.concat([ahead, plain]).subarray(-WINDOW_BYTES);
      return Buffer.concat([head, packed]);
    });
    const piece = Buffer.concat(pieces);
    // Each write starts after the last complete piece, and overwrites a partial piece that a full disk left.
    for (let done = 0; done < piece.length;) done += writeSync(file, piece, done, piece.length - done, bytes + done);
    fdatasyncSync(file);
    bytes += piece.length;
    window = ahead;
  };
  try {
    write([JSON.stringify(of)]);
    syncFolder(dir);
  } catch (error) {
    closeSync(file);
    rmSync(join(dir, recordingName(of.run)), { force: true });
    throw error;
  }
  return {
    get bytes() {
      return bytes;
    },
    write,
    close: () => {
      if (!closed) closeSync(file);
      closed = true;
    },
  };
}

/** First line of a recording, and all further lines. */
export type RunRecording = { readonly of: RecordedRun; readonly lines: Iterable<string> };

/**
 * Reads the first line (`of`) and all further lines of a run, even while the run is being recorded. Returns `null` if
 * the first piece is incomplete because the run ended at its start. Ignores an incomplete last piece, which was never
 * durable. Throws RangeError if the file is damaged, either immediately or while lines are read. The file stays open
 * until all lines are read or the iterator returns.
 */
export function readRecording(dir: string, run: number): RunRecording | null {
  return startedRecording(linesOf(join(dir, recordingName(run)), run), run);
}

/** Reads the recording of a followed run. Returns `null` and throws as `readRecording` does; the pieces stay open. */
export const readFollowed = (pieces: RecordingPieces, run: number): RunRecording | null =>
  startedRecording(linesIn(pieces), run);

function startedRecording(lines: Generator<string, undefined>, run: number): RunRecording | null {
  const first = lines.next();
  return first.done === true ? null : { of: recordedRunIn(first.value, run), lines };
}

/** Reads only the first line of a run, and closes the file. Returns `null` and throws as `readRecording` does. */
export function recordedRunOf(dir: string, run: number): RecordedRun | null {
  const pieces = followRecording(dir, run);
  try {
    const first = pieces.next()?.[0];
    return first === undefined ? null : recordedRunIn(first, run);
  } finally {
    pieces.close();
  }
}

function recordedRunIn(line: string, run: number): RecordedRun {
  const of = JSON.parse(line) as RecordedRun;
  if (of.run !== run) throw new RangeError(`expected a recording of run ${run}, found run ${of.run}`);
  return of;
}

function* linesOf(path: string, run: number): Generator<string, undefined> {
  const pieces = new RecordingPieces(path, run);
  try {
    yield* linesIn(pieces);
  } finally {
    pieces.close();
  }
}

function* linesIn(pieces: RecordingPieces): Generator<string, undefined> {
  for (let lines = pieces.next(); lines !== null; lines = pieces.next()) yield* lines;
}

/**
 * Opens a recording that may still grow. The first line of a recording is the `RecordedRun`. Throws if the file is
 * missing.
 */
export const followRecording = (dir: string, run: number): RecordingPieces =>
  new RecordingPieces(join(dir, recordingName(run)), run);

/** Reader of the pieces of a recording, in order, even while the recording is being written. */
export class RecordingPieces {
  readonly #file: number;
  readonly #run: number;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #window: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(path: string, run: number) {
    this.#file = openRegularFile(path);
    this.#run = run;
  }

  /** Size of the pieces that were read, in bytes of the file. Later writes of the bot do not change these bytes. */
  get bytesRead(): number {
    return this.#at;
  }

  /** Returns the SHA-256 of the bytes that were read, in hexadecimal digits. */
  hashOfRead(): string {
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(HASH_CHUNK_BYTES);
    for (let done = 0; done < this.#at;) {
      const part = chunk.subarray(0, Math.min(chunk.length, this.#at - done));
      if (!readWhole(this.#file, part, done)) throw new RangeError(DAMAGED);
      hash.update(part);
      done += part.length;
    }
    return hash.digest('hex');
  }

  /** Returns the share of the file that was read, from 0 to 1. */
  get share(): number {
    const { size } = fstatSync(this.#file);
    return size === 0 ? 1 : this.#at / size;
  }

  /**
   * Returns the lines of the next piece; `null` if no complete piece follows. Throws RangeError if the file is damaged.
   */
  next(): readonly string[] | null {
    if (!readWhole(this.#file, this.#head, this.#at)) return null;
    const length = this.#head.readUInt32LE(0);
    if (!(length > 0 && length <= PIECE_MAX_BYTES)) throw new RangeError(DAMAGED);
    // The length is checked before memory is allocated, because the last piece may be incomplete.
    if (this.#at + HEAD_BYTES + length > fstatSync(this.#file).size) return null;
    const packed = Buffer.alloc(length);
    if (!readWhole(this.#file, packed, this.#at + HEAD_BYTES)) return null;
    if (crc32(packed, this.#run) !== this.#head.readUInt32LE(4)) throw new RangeError(DAMAGED);
    const plain = inflated(packed, this.#window);
    this.#window = Buffer.concat([this.#window, plain]).subarray(-WINDOW_BYTES);
    this.#at += HEAD_BYTES + length;
    return plain.toString('utf8').split('\n').slice(0, -1);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Joins lines into texts, each at most one piece long. Throws RangeError if a line is longer. */
function texts(lines: readonly string[]): Buffer[] {
  const found: Buffer[] = [];
  let text = '';
  for (const line of lines) {
    // A UTF-16 unit has at most three bytes in UTF-8.
    if (3 * (text.length + line.length + 1) > PIECE_MAX_BYTES && text !== '') {
      found.push(Buffer.from(text));
      text = '';
    }
    text += `${line}\n`;
  }
  found.push(Buffer.from(text));
  if (found.some(({ length }) => length > PIECE_MAX_BYTES))
    throw new RangeError(`a line of a recording is longer than ${PIECE_MAX_BYTES} bytes`);
  return found;
}

/** Decompresses a piece. Throws RangeError if it is not deflated text or exceeds the maximum size. */
function inflated(packed: Buffer, window: Buffer): Buffer {
  try {
    return inflateRawSync(packed, {
      maxOutputLength: PIECE_MAX_BYTES,
      ...(window.length > 0 ? { dictionary: window } : {}),
    });
  } catch (error) {
    const isLong = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new RangeError(
      isLong ? `${DAMAGED}: a compressed part unpacks to more than ${PIECE_MAX_BYTES} bytes` : DAMAGED,
      {
        cause: error,
      },
    );
  }
}

const DAMAGED = 'the recording is damaged, and the rest of it cannot be read';

/** Reads from the file until the buffer is full; returns `false` if the file ends first. */
function readWhole(file: number, into: Buffer, from: number): boolean {
  for (let done = 0; done < into.length;) {
    const read = readSync(file, into, done, into.length - done, from + done);
    if (read === 0) return false;
    done += read;
  }
  return true;
}
