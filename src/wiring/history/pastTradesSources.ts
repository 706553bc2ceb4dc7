/** Sources of past trades on the disk, which are read in a thread. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { textOfError } from '../../core/index.ts';
import type { CompleteTrades, PastTradesSource } from '../../live/market/pastTrades.ts';
import { foundPastTrades, type PastTradesFound, type PastTradesRead } from './pastTradesRead.ts';

/** Maximum heap of the thread, in MB. A read keeps the newest trades only. */
const HEAP_MAX_MB = 512;

/** Returns the recordings of a state directory as a source of past trades. */
export const recordingsSource = (dir: string): PastTradesSource => ({
  name: 'the recordings',
  read: (wanted, signal) => readInThread({ from: 'recordings', dir, wanted }, signal),
});

/** Returns a tape as a source of past trades. */
export const tapeSource = (dir: string): PastTradesSource => ({
  name: dir,
  read: (wanted, signal) => readInThread({ from: 'tape', dir, wanted }, signal),
});

/**
 * Reads past trades in a thread. Rejects with the problem of the source, or with the reason of `signal`, which also
 * ends the thread. If the program runs from its sources, where there is no compiled thread, the caller's thread reads.
 */
export async function readInThread(
  of: PastTradesRead,
  signal: AbortSignal,
  file = fileURLToPath(new URL('./historyThread.js', import.meta.url)),
): Promise<CompleteTrades | null> {
  signal.throwIfAborted();
  const result = existsSync(file) ? await threadResult(of, signal, file) : foundPastTrades(of);
  if ('problem' in result) throw new Error(result.problem);
  return result.found;
}

async function threadResult(of: PastTradesRead, signal: AbortSignal, file: string): Promise<PastTradesFound> {
  const thread = new Worker(file, { workerData: of, resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB } });
  // After an abort, nothing else hears an error of the thread, which would end the program.
  thread.on('error', () => undefined);
  try {
    const ended = once(thread, 'exit', { signal }).then(() => {
      throw new Error('the thread that reads them ended');
    });
    const [result] = (await Promise.race([once(thread, 'message', { signal }), ended])) as [PastTradesFound];
    return result;
  } catch (error) {
    signal.throwIfAborted();
    return { problem: textOfError(error) };
  } finally {
    await thread.terminate();
  }
}
