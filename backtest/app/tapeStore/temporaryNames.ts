/** Temporary names for files in transfer, by which leftovers of killed processes are recognized. */
import { randomUUID } from 'node:crypto';

/** Returns a unique temporary name for the file. */
export const temporaryName = (sha256: string): string => `${sha256}.part-${randomUUID()}`;

export const TEMPORARY_NAME = /^[0-9a-f]{64}\.part-[0-9a-f-]{36}$/;

/** Whether the error means a missing file, which another process may have removed. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
