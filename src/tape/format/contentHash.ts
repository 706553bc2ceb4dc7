/** Hash of rows that does not depend on their division into blocks. */
import { createHash, type Hash } from 'node:crypto';
import type { Columns } from '../model/tape.ts';

/**
 * Hash of rows: SHA-256 over the SHA-256 of each column. Kinds and sides have one byte each. Times in microseconds,
 * prices, amounts and ids are little-endian doubles.
 */
export class ContentHash {
  readonly #columns: readonly Hash[] = Array.from({ length: 7 }, () => createHash('sha256'));

  /** Adds rows whose times are in milliseconds. */
  add(columns: Columns): void {
    const { kind, side, at, local, price, amount, id } = columns;
    [kind, side, micros(at), micros(local), price, amount, id].forEach((column, i) =>
      this.#columns[i]?.update(Buffer.from(column.buffer, column.byteOffset, column.byteLength)),
    );
  }

  digest(): string {
    const all = createHash('sha256');
    for (const column of this.#columns) all.update(column.copy().digest());
    return all.digest('hex');
  }
}

const micros = (times: Float64Array): Float64Array => times.map(time => Math.round(time * 1000));
