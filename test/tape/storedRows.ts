/** Rules, a time, and the rows of stored tapes as plain values, for tests. */
import type { BookRules } from '../../src/core/index.ts';
import type { Columns, StoredTape, TapeChunk } from '../../src/tape/index.ts';

export const RULES: BookRules = {
  book: 'btc_mxn',
  tickSize: '10',
  minimumAmount: '0.00000001',
  maximumAmount: '500',
  minimumPrice: '10',
  maximumPrice: '16000000',
  minimumValue: '10',
  maximumValue: '200000000',
};
export const START = Date.parse('2026-11-21T00:00:00Z');

/** Kind, side, times, price, amount and id of each row. */
export const plainRows = (stored: StoredTape): readonly (readonly number[])[] =>
  fromChunks(stored, plainColumns).flat();

/** Something of each chunk, taken before the next uses its memory again. */
export function fromChunks<T>(stored: StoredTape, take: (columns: Columns, chunk: TapeChunk) => T): T[] {
  const taken: T[] = [];
  for (const chunk of stored.chunks()) taken.push(take(chunk.columns, chunk));
  return taken;
}

export function plainColumns({ length, kind, side, at, local, price, amount, id }: Columns): (readonly number[])[] {
  return Array.from({ length }, (_, row) => [
    kind[row]!,
    side[row]!,
    at[row]!,
    local[row]!,
    price[row]!,
    amount[row]!,
    id[row]!,
  ]);
}
