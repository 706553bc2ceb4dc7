/** Checksums of rows. SQLite detects damage to its structure, but not to single values. */
import { crc32 } from 'node:zlib';

/** Returns the CRC-32 of a row, which detects every change within 32 consecutive bits. */
export const sumOf = (...fields: readonly unknown[]): number => crc32(JSON.stringify(fields));
