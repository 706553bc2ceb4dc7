/** Where the files of recordings lie for several machines, each under the SHA-256 of its content: a shared folder, or a bucket. */
import { UsageError } from '../../../src/wiring/usageError.ts';
import { FolderStore } from './folderStore.ts';
import { openS3 } from './s3Store.ts';
import type { StoredFiles } from './storedFiles.ts';

/** `place`: a folder, or s3://BUCKET/PREFIX; endpoint, region and credentials of a bucket come from `env`. Throws `UsageError` for what is neither, and for what is missing; of what may be a credential it shows nothing. */
export function openTapeStore(place: string, env: Readonly<Record<string, string | undefined>>): StoredFiles {
  if (/^s3:/i.test(place)) return openS3(place.replace(/^s3:/i, 's3:'), env);
  if (!place.includes('://')) return new FolderStore(place);
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(place) ?? [];
  throw new UsageError(`--tapes: expected a folder or s3://BUCKET/PREFIX, found ${scheme || 'an address of no kind'}`);
}
