/** What is being put or fetched has a name of its own until it is whole; what a kill leaves of it is known by that name. */
import { randomUUID } from 'node:crypto';

/** Another one each time. */
export const partOf = (sha256: string): string => `${sha256}.part-${randomUUID()}`;

export const PART = /^[0-9a-f]{64}\.part-[0-9a-f-]{36}$/;

/** Not there, or taken away by another process meanwhile. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
