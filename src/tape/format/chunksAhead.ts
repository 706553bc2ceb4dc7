/**
 * Chunks of a stored tape, decoded ahead by another thread into shared memory. The decoding continues even while the
 * reader blocks the event loop.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ChunkReader, chunkMaker, type ReadOptions, type TapeChunk } from './chunkReader.ts';
import { BLOCK_ROWS, columnBuffers, firstRows, type ColumnBuffers } from './rowsCodec.ts';
import type { ScannedDay } from './scanDay.ts';

/**
 * Indices of the words in shared memory: number of produced chunks, number of consumed chunks, and state. `words` is
 * the number of these words.
 */
export const SHARED = { produced: 0, consumed: 1, state: 2, words: 3 } as const;
export const STATE = { running: 0, ended: 1, failed: 2, stopped: 3 } as const;
/** Number of words per slot: one for the number of rows, one for the index of their rules. */
export const SLOT_WORDS = 2;
export const MESSAGE_BYTES = 4096;

export type Ahead = {
  readonly days: readonly ScannedDay[];
  readonly options: ReadOptions;
  readonly slots: readonly ColumnBuffers[];
  readonly words: Int32Array;
  readonly lengths: Int32Array;
  readonly message: Uint8Array;
};

const SLOTS = 4;
/**
 * Time without output after which the decoding thread counts as failed, in ms. Decoding a block takes some
 * milliseconds.
 */
const SILENCE_MAX_MS = 60_000;

/** Minimum number of rows for which a thread is started. A shorter tape is decoded before a thread would be ready. */
const ROWS_LEAST = 2_000_000;

/**
 * Yields the chunks of the days. The caller's thread decodes short tapes. It also decodes all tapes if the program runs
 * from its sources, where there is no compiled worker.
 */
export function* chunksAhead({
  days,
  ...options
}: ReadOptions & { readonly days: readonly ScannedDay[] }): Generator<TapeChunk, void, undefined> {
  const made = chunkMaker(days);
  const file = fileURLToPath(new URL('./decodeWorker.js', import.meta.url));
  if (days.reduce((sum, day) => sum + day.rows, 0) < ROWS_LEAST || !existsSync(file)) {
    yield* chunksHere(days, options);
    return;
  }
  const slots = Array.from({ length: SLOTS }, () => columnBuffers(BLOCK_ROWS, true));
  const words = new Int32Array(new SharedArrayBuffer(4 * SHARED.words));
  const lengths = new Int32Array(new SharedArrayBuffer(4 * SLOT_WORDS * SLOTS));
  const message = new Uint8Array(new SharedArrayBuffer(MESSAGE_BYTES));
  const ahead: Ahead = { days, options, slots, words, lengths, message };
  const worker = new Worker(file, { workerData: ahead });
  worker.unref();
  try {
    for (let chunk = 0; ; chunk++) {
      while (Atomics.load(words, SHARED.produced) <= chunk) {
        const state = Atomics.load(words, SHARED.state);
        // The last chunk may have arrived between the two loads.
        if (state === STATE.ended && Atomics.load(words, SHARED.produced) <= chunk) return;
        if (state === STATE.failed) throw new Error(textIn(message));
        if (state === STATE.ended) continue;
        if (Atomics.wait(words, SHARED.produced, chunk, SILENCE_MAX_MS) === 'timed-out') {
          throw new Error(`the thread that decodes the tape has not responded for ${SILENCE_MAX_MS / 1000} s`);
        }
      }
      const slot = chunk % SLOTS;
      const columns = slots[slot];
      if (!columns) throw new RangeError(`no slot ${slot}`);
      yield made(firstRows(columns, lengths[SLOT_WORDS * slot]!), lengths[SLOT_WORDS * slot + 1]!);
      Atomics.store(words, SHARED.consumed, chunk + 1);
      Atomics.notify(words, SHARED.consumed);
    }
  } finally {
    Atomics.store(words, SHARED.state, STATE.stopped);
    Atomics.store(words, SHARED.consumed, 2 ** 30);
    Atomics.notify(words, SHARED.consumed);
    void worker.terminate();
  }
}

/** Yields the chunks one after another, decoded in the caller's thread. All chunks use the same memory. */
export function* chunksHere(days: readonly ScannedDay[], options: ReadOptions): Generator<TapeChunk, void, undefined> {
  const made = chunkMaker(days);
  const reader = new ChunkReader(days, options);
  const buffers = columnBuffers(BLOCK_ROWS);
  try {
    for (let next = reader.next(buffers); next !== null; next = reader.next(buffers)) {
      yield made(firstRows(buffers, next.length), next.rules);
    }
  } finally {
    reader.close();
  }
}

/** Decodes a text that is preceded by its length. */
function textIn(message: Uint8Array): string {
  const bytes = Buffer.from(message);
  return bytes.toString('utf8', 4, 4 + bytes.readUInt32LE(0));
}
