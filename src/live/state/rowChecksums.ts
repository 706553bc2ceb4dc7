/** Checksums of rows. SQLite detects damage to its structure, but not to single values. */
import { crc32 } from 'node:zlib';

/** Returns a checksum that detects every change of up to 32 bits in a row. */
export const sumOf = (...fields: readonly unknown[]): number => crc32(JSON.stringify(fields));
