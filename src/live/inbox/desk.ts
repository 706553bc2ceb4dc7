/** Between the door and the disk: collects what came while the disk was busy, stores it in one go, and says of each whether it may be answered. */
import type { Millis } from '../../core/index.ts';
import type { Arrived, InboxStore } from './store.ts';

export type DeskOptions = {
  readonly store: Pick<InboxStore, 'put'>;
  /** Never goes back. */
  readonly elapsed: () => Millis;
  /** Calls once everything that has arrived by now was heard. */
  readonly soon: (call: () => void) => void;
  /** Called once for each new text, when it is on disk. */
  readonly onStored: (arrived: Arrived) => void;
  readonly onProblem: (problem: string) => void;
};

export type DeskCounts = { stored: number; repeated: number; notStored: number };

/** More than this waiting for the disk, or waiting this long, and the sender is asked to come again. */
const WAITING_MAX = 2_000;
const WAITING_MAX_MS = 2_000;
/** In one transaction: bounds how long the last of them waits. */
const BATCH_MAX = 500;

type Waiting = { readonly arrived: Arrived; readonly since: Millis; readonly done: (stored: boolean) => void };

/** Takes deliveries one by one. */
export class Desk {
  readonly #options: DeskOptions;
  readonly #counts: DeskCounts;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #failing = false;

  constructor(options: DeskOptions, counts: DeskCounts) {
    this.#options = options;
    this.#counts = counts;
  }

  /** True once it is on disk; false when it will not be. */
  take(arrived: Arrived): Promise<boolean> {
    const since = this.#options.elapsed();
    const oldest = this.#waiting[0]?.since ?? since;
    if (this.#waiting.length >= WAITING_MAX || since - oldest > WAITING_MAX_MS) {
      this.#counts.notStored++;
      return Promise.resolve(false);
    }
    return new Promise(done => {
      this.#waiting.push({ arrived, since, done });
      if (this.#scheduled) return;
      this.#scheduled = true;
      this.#options.soon(() => this.#store());
    });
  }

  #store(): void {
    const batch = this.#waiting.splice(0, BATCH_MAX);
    const fresh = this.#put(batch.map(({ arrived }) => arrived));
    batch.forEach(({ done }) => done(fresh !== null));
    this.#scheduled = this.#waiting.length > 0;
    if (this.#scheduled) this.#options.soon(() => this.#store());
    if (fresh === null) {
      this.#counts.notStored += batch.length;
      return;
    }
    batch.forEach(({ arrived }, i) => {
      if (fresh[i] !== true) this.#counts.repeated++;
      else {
        this.#counts.stored++;
        this.#options.onStored(arrived);
      }
    });
  }

  #put(batch: readonly Arrived[]): boolean[] | null {
    try {
      const fresh = this.#options.store.put(batch);
      if (this.#failing) this.#options.onProblem('deliveries are stored again');
      this.#failing = false;
      return fresh;
    } catch (error) {
      // Told once, not a thousand times a second.
      if (!this.#failing)
        this.#options.onProblem(`deliveries cannot be stored, the sender is told to come again: ${String(error)}`);
      this.#failing = true;
      return null;
    }
  }
}
