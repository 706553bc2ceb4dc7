/** The flags of both ends of a queue of trials, as values; what they need is loaded only where they are given. */
import type { QueuePlace } from '../app/queue/queuePlace.ts';
import type { StoredFiles } from '../app/tapeStore/storedFiles.ts';

/** `tapes`: of --tapes. Rejects with `UsageError` for what is no address or no place of recordings. */
export async function queueFlags(
  address: string,
  tapes: string | undefined,
): Promise<{ readonly place: QueuePlace; readonly store: StoredFiles | null }> {
  const [{ queuePlace }, { openTapeStore }, { readSecretFile }] = await Promise.all([
    import('../app/queue/queuePlace.ts'),
    import('../app/tapeStore/tapeStore.ts'),
    import('../../src/wiring/secretFiles.ts'),
  ]);
  return {
    place: queuePlace(address, process.env, readSecretFile),
    store: tapes === undefined ? null : openTapeStore(tapes, process.env),
  };
}
