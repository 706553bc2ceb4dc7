/** Rows that belong to a whole book, and where one whole book ends and the next begins. */
import type { Millis } from '../../../core/index.ts';
import type { Cells } from './cells.ts';

/** Rows of one whole book were received at one time; rows of another time are the next one. */
export class SnapshotRows {
  readonly #stated: { readonly column: string; readonly words: readonly string[] } | undefined;
  #of: Millis | null = null;

  constructor(stated: { readonly column: string; readonly words: readonly string[] } | undefined) {
    this.#stated = stated;
  }

  /** Whether a row is the first of a whole book. To be called for each row, in their order. */
  begins(cells: Cells, local: Millis): boolean {
    const isSnapshot = this.#stated?.words.includes(cells(this.#stated.column)) === true;
    const begins = isSnapshot && this.#of !== local;
    this.#of = isSnapshot ? local : null;
    return begins;
  }
}
