/** Temporary names for incomplete files, by which leftovers of a kill are recognized. */
import { randomUUID } from 'node:crypto';

/** Returns a new unique name. */
export const partOf = (sha256: string): string => `${sha256}.part-${randomUUID()}`;

export const PART = /^[0-9a-f]{64}\.part-[0-9a-f-]{36}$/;

/** Whether a file does not exist, or another process has removed it meanwhile. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
