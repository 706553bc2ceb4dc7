/**
 * Book steps in sequence order: holds steps until a complete book arrives, and detects lost steps (public facts 12.6).
 */
import type { BookDiff } from '../ports/port.ts';

/**
 * Result of a step.
 * - applied: the book advanced by one step.
 * - old: already applied.
 * - held: stored until a complete book arrives.
 * - gap: earlier steps were lost; a complete book is required.
 */
export type L3Step = 'applied' | 'old' | 'held' | 'gap';

/** Maximum number of steps that are stored until a complete book arrives. */
export const HELD_MAX = 20_000;

export class StepSequence {
  #at: bigint | null = null;
  #held: BookDiff[] = [];

  /** Current sequence number; null while waiting for a complete book. */
  get at(): bigint | null {
    return this.#at;
  }

  /**
   * Accepts a step; steps may arrive in any order and repeatedly. The caller applies the step if the result is
   * `applied`.
   */
  take(diff: BookDiff): L3Step {
    if (this.#at === null) {
      this.#hold(diff);
      return 'held';
    }
    if (diff.sequence <= this.#at) return 'old';
    if (diff.sequence !== this.#at + 1n) {
      this.reset();
      this.#hold(diff);
      return 'gap';
    }
    this.#at = diff.sequence;
    return 'applied';
  }

  /** Whether no step is missing between a complete book of this sequence number and the stored steps. */
  reaches(sequence: bigint): boolean {
    const first = this.#held[0];
    return first === undefined || first.sequence <= sequence + 1n;
  }

  /**
   * Continues from a complete book for which `reaches` is true. Returns the stored steps that follow the book, for the
   * caller to apply.
   */
  begin(sequence: bigint): readonly BookDiff[] {
    const later = this.#held.filter(diff => diff.sequence > sequence);
    this.#held = [];
    this.#at = later[later.length - 1]?.sequence ?? sequence;
    return later;
  }

  /** Discards the sequence number and the stored steps; later steps are stored until a complete book arrives. */
  reset(): void {
    this.#at = null;
    this.#held = [];
  }

  /** Stores a step. Stored steps are always consecutive: after a gap, only later steps are useful. */
  #hold(diff: BookDiff): void {
    const last = this.#held[this.#held.length - 1];
    if (last && diff.sequence <= last.sequence) return;
    if (last && (diff.sequence !== last.sequence + 1n || this.#held.length >= HELD_MAX)) this.#held = [];
    this.#held.push(diff);
  }
}
