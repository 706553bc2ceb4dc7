/** Checksums of rows. SQLite detects damage to its structure, but not to single values. */
import { crc32 } from 'node:zlib';

/**
 * Returns the SQL of a text column as bytes, which `textOfColumn` decodes; `null` if the column is not text. The driver
 * ends the process on a text that is not UTF-8, and a damaged row may have one.
 */
export const textColumn = (name: string): string =>
  `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) END AS ${name}`;

/** Returns the SQL of a number column; `null` if the column is not a number. */
export const numberColumn = (name: string): string =>
  `CASE WHEN typeof(${name}) IN ('integer', 'real') THEN ${name} END AS ${name}`;

/** Decodes a column of `textColumn`. Bytes that are not UTF-8 become replacement characters, which no checksum matches. */
export const textOfColumn = (bytes: unknown): string | null =>
  bytes instanceof ArrayBuffer ? Buffer.from(bytes).toString('utf8') : null;

/** Returns the CRC-32 of a row, which detects every change within 32 consecutive bits. */
export const sumOf = (...fields: readonly unknown[]): number => crc32(JSON.stringify(fields));
