/** Flags of both ends of a trial queue, as values; their modules are loaded only if the flags are given. */
import type { QueuePlace } from '../../app/queue/queuePlace.ts';
import type { StoredFiles } from '../../app/tapeStore/storedFiles.ts';

/** Parses the flags; `tapes`: value of --tapes. Rejects with `UsageError` if either is invalid. */
export async function queueFlags(
  address: string,
  tapes: string | undefined,
): Promise<{ readonly place: QueuePlace; readonly store: StoredFiles | null }> {
  const [{ queuePlace }, { openTapeStore }, { readSecretFile }] = await Promise.all([
    import('../../app/queue/queuePlace.ts'),
    import('../../app/tapeStore/tapeStore.ts'),
    import('../../app/wiring/secretFiles.ts'),
  ]);
  return {
    place: queuePlace(address, process.env, readSecretFile),
    store: tapes === undefined ? null : openTapeStore(tapes, process.env),
  };
}
