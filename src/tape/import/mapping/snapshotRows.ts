/** Rows of book snapshots, and the boundaries between snapshots. */
import type { Millis } from '../../../core/index.ts';
import type { Cells } from './cells.ts';

/**
 * Detection of snapshots. Snapshot rows with one time of receipt are one snapshot; a new time starts the next snapshot.
 */
export class SnapshotRows {
  readonly #stated: { readonly column: string; readonly words: readonly string[] } | undefined;
  #of: Millis | null = null;

  constructor(stated: { readonly column: string; readonly words: readonly string[] } | undefined) {
    this.#stated = stated;
  }

  /** Whether a row is the first of a snapshot. Must be called for each row, in order. */
  begins(cells: Cells, local: Millis): boolean {
    const isSnapshot = this.#stated?.words.includes(cells(this.#stated.column)) === true;
    const begins = isSnapshot && this.#of !== local;
    this.#of = isSnapshot ? local : null;
    return begins;
  }
}
