/** Thread that decodes a stored tape ahead of its reader. */
import { workerData } from 'node:worker_threads';
import { ChunkReader } from './chunkReader.ts';
import { MESSAGE_BYTES, SHARED, SLOT_WORDS, STATE, type Ahead } from './chunksAhead.ts';

const { days, options, slots, words, lengths, message } = workerData as Ahead;
try {
  const reader = new ChunkReader(days, options);
  for (let chunk = 0; ; chunk++) {
    for (let consumed = Atomics.load(words, SHARED.consumed); chunk - consumed >= slots.length;) {
      Atomics.wait(words, SHARED.consumed, consumed);
      consumed = Atomics.load(words, SHARED.consumed);
    }
    if (Atomics.load(words, SHARED.state) === STATE.stopped) break;
    const slot = chunk % slots.length;
    const buffers = slots[slot];
    const next = buffers ? reader.next(buffers) : null;
    if (next === null) {
      Atomics.compareExchange(words, SHARED.state, STATE.running, STATE.ended);
      break;
    }
    lengths[SLOT_WORDS * slot] = next.length;
    lengths[SLOT_WORDS * slot + 1] = next.rules;
    Atomics.store(words, SHARED.produced, chunk + 1);
    Atomics.notify(words, SHARED.produced);
  }
  reader.close();
} catch (error) {
  const text = Buffer.from(error instanceof Error ? error.message : String(error)).subarray(0, MESSAGE_BYTES - 4);
  const bytes = Buffer.from(message.buffer);
  bytes.writeUInt32LE(text.length, 0);
  text.copy(bytes, 4);
  Atomics.compareExchange(words, SHARED.state, STATE.running, STATE.failed);
}
// The reader may be waiting for a chunk. The notification makes the reader check the state again.
Atomics.notify(words, SHARED.produced);
