/** Where the files of recordings lie for several machines, each under the SHA-256 of its content: a shared folder, or a bucket. */
import { FolderStore } from './folderStore.ts';
import { openS3 } from './s3Store.ts';
import type { StoredFiles } from './storedFiles.ts';

/** `place`: a folder, or s3://BUCKET/PREFIX; endpoint, region and credentials of a bucket come from `env`. Throws `UsageError` for what is neither, and for what is missing. */
export function openTapeStore(place: string, env: Readonly<Record<string, string | undefined>>): StoredFiles {
  return place.startsWith('s3:') ? openS3(place, env) : new FolderStore(place);
}
