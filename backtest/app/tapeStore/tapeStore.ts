/** Store of recording files shared by several machines, each under the SHA-256 of its content: a folder or a bucket. */
import { UsageError } from '../../../src/wiring/usageError.ts';
import { FolderStore } from './folderStore.ts';
import { openS3 } from './s3Store.ts';
import type { StoredFiles } from './storedFiles.ts';

/**
 * Opens a store. `place`: a folder, or s3://BUCKET/PREFIX; endpoint, region and credentials of a bucket come from
 * `env`.
 * @throws UsageError for another kind of place or a missing value, without showing possible credentials.
 */
export function openTapeStore(place: string, env: Readonly<Record<string, string | undefined>>): StoredFiles {
  if (/^s3:/i.test(place)) return openS3(place.replace(/^s3:/i, 's3:'), env);
  if (!place.includes('://')) return new FolderStore(place);
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(place) ?? [];
  throw new UsageError(`--tapes: expected a folder or s3://BUCKET/PREFIX, found ${scheme || 'an address of no kind'}`);
}
