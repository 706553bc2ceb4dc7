/** Steps of a book in the order of its sequence: holds them until a whole book comes, and notices when one was lost (public facts 12.6). */
import type { BookDiff } from '../ports/port.ts';

/**
 * What came of a step. `applied`: the book is one step further. `old`: known already. `held`: kept until a whole book comes.
 * `gap`: steps before it were lost, and a whole book is needed.
 */
export type L3Step = 'applied' | 'old' | 'held' | 'gap';

/** Steps that are kept for a whole book. */
export const HELD_MAX = 20_000;

export class StepSequence {
  #at: bigint | null = null;
  #held: BookDiff[] = [];

  /** Step that the book stands at; null while it waits for a whole one. */
  get at(): bigint | null {
    return this.#at;
  }

  /** Takes a step in any order and any number of times; what is `applied` is the caller's to apply. */
  take(diff: BookDiff): L3Step {
    if (this.#at === null) {
      this.#hold(diff);
      return 'held';
    }
    if (diff.sequence <= this.#at) return 'old';
    if (diff.sequence !== this.#at + 1n) {
      this.lose();
      this.#hold(diff);
      return 'gap';
    }
    this.#at = diff.sequence;
    return 'applied';
  }

  /** No step is missing between a whole book of this sequence and those that are held. */
  reaches(sequence: bigint): boolean {
    const first = this.#held[0];
    return first === undefined || first.sequence <= sequence + 1n;
  }

  /** Goes on from a whole book that it reaches: the held steps after it, which are the caller's to apply. */
  begin(sequence: bigint): readonly BookDiff[] {
    const later = this.#held.filter(diff => diff.sequence > sequence);
    this.#held = [];
    this.#at = later[later.length - 1]?.sequence ?? sequence;
    return later;
  }

  /** Something was missed: from here on it waits for a whole book. */
  lose(): void {
    this.#at = null;
    this.#held = [];
  }

  /** What is held is always one run of steps: after a gap in it only what follows can still be of use. */
  #hold(diff: BookDiff): void {
    const last = this.#held[this.#held.length - 1];
    if (last && diff.sequence <= last.sequence) return;
    if (last && (diff.sequence !== last.sequence + 1n || this.#held.length >= HELD_MAX)) this.#held = [];
    this.#held.push(diff);
  }
}
