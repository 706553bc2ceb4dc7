/** Sums of rows: SQLite finds what breaks its structure, not what changes a value. */
import { crc32 } from 'node:zlib';

/** Finds every change of up to 32 bits in a row. */
export const sumOf = (...fields: readonly unknown[]): number => crc32(JSON.stringify(fields));
