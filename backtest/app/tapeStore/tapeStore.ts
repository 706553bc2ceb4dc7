/** Store of recordings for several machines: a shared folder or a bucket. Files are named by their SHA-256. */
import { UsageError } from '../../../src/wiring/usageError.ts';
import { FolderStore } from './folderStore.ts';
import { openS3 } from './s3Store.ts';
import type { StoredFiles } from './storedFiles.ts';

/**
 * Opens `place`: a folder, or s3://BUCKET/PREFIX with endpoint, region and credentials from `env`. Throws `UsageError`
 * for an invalid place or a missing value, without showing possible credentials.
 */
export function openTapeStore(place: string, env: Readonly<Record<string, string | undefined>>): StoredFiles {
  if (/^s3:/i.test(place)) return openS3(place.replace(/^s3:/i, 's3:'), env);
  if (!place.includes('://')) return new FolderStore(place);
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(place) ?? [];
  throw new UsageError(`--tapes: expected a folder or s3://BUCKET/PREFIX, found ${scheme || 'another address'}`);
}
