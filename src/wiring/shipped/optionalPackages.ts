/** Optional packages, such as those of queues and buckets: loaded on demand, and named in the error if missing. */
import { UsageError } from '../usageError.ts';

/**
 * Loads optional packages with `load`, which imports them. `place` names what needs the
 * packages. Rejects with `UsageError` and the install command if a package is missing. Rejects with any other error of
 * `load` unchanged.
 */
export async function loadOptional<T>(place: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const missing = missingPackage(error);
    if (missing === null) throw error;
    throw new UsageError(
      `${place}: the package ${missing} is not installed; install the optional packages with: npm install --include=optional`,
    );
  }
}

/** Returns the name of the package that an import did not find; `null` for any other error. */
function missingPackage(error: unknown): string | null {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return null;
  return /Cannot find package '([^']+)'/.exec(error.message)?.[1] ?? null;
}
