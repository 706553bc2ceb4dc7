/** Between the door and the disk: collects what came while the disk was busy, stores it in one go, and says of each whether it may be answered. */
import { textOfError } from '../../core/index.ts';
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
  /** Free bytes on the disk; null where that is not known. */
  readonly room: () => number | null;
};

/** What became of deliveries; `noRoom` and `failed`: the disk had too little room, or did not take them. */
export type DeskCounts = { stored: number; repeated: number; waiting: number; noRoom: number; failed: number };

/** Kept free for the journal and the latch: below it no delivery is stored. Ten days of a recording at 19 MB a day, and the state file's log. */
export const RESERVE_BYTES = 256_000_000;
/** A problem that lasts is told again after this long. */
const TOLD_EVERY_MS = 60_000;

/** More than this waiting for the disk, or waiting this long, and the sender is asked to come again. */
const WAITING_MAX = 2_000;
const WAITING_MAX_MS = 2_000;
/** In one transaction: bounds how long the last of them waits. */
const BATCH_MAX = 500;
const BATCH_MAX_BYTES = 1_000_000;

type Waiting = { readonly arrived: Arrived; readonly since: Millis; readonly done: (stored: boolean) => void };

/** Takes deliveries one by one. */
export class Desk {
  readonly #options: DeskOptions;
  readonly #counts: DeskCounts;
  #waiting: Waiting[] = [];
  #scheduled = false;
  /** Why nothing is stored, when that was told last, and how many were not stored since. */
  #problem: { readonly why: string; readonly of: 'room' | 'disk'; toldAt: Millis; untold: number } | null = null;

  constructor(options: DeskOptions, counts: DeskCounts) {
    this.#options = options;
    this.#counts = counts;
  }

  /** Why nothing is stored, for a person; null while deliveries are. */
  problem(): string | null {
    this.#hasRoom();
    return this.#problem?.why ?? null;
  }

  /** True once it is on disk; false when it will not be. */
  take(arrived: Arrived): Promise<boolean> {
    const since = this.#options.elapsed();
    const oldest = this.#waiting[0]?.since ?? since;
    if (this.#waiting.length >= WAITING_MAX || since - oldest > WAITING_MAX_MS) {
      this.#counts.waiting++;
      return Promise.resolve(false);
    }
    if (!this.#hasRoom()) {
      this.#counts.noRoom++;
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
    const batch = this.#nextBatch();
    const fresh = this.#put(batch.map(({ arrived }) => arrived));
    batch.forEach(({ done }) => done(fresh !== null));
    this.#scheduled = this.#waiting.length > 0;
    if (this.#scheduled) this.#options.soon(() => this.#store());
    if (fresh === null) {
      this.#counts.failed += batch.length;
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

  #nextBatch(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ arrived }, i) => {
      bytes += arrived.body.length;
      return i > 0 && (i >= BATCH_MAX || bytes > BATCH_MAX_BYTES);
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  #put(batch: readonly Arrived[]): boolean[] | null {
    try {
      const fresh = this.#options.store.put(batch);
      this.#mended();
      return fresh;
    } catch (error) {
      this.#failed('disk', `deliveries cannot be stored (${textOfError(error)}); the sender is asked to retry`);
      return null;
    }
  }

  #hasRoom(): boolean {
    const free = this.#options.room();
    if (free === null || free >= RESERVE_BYTES) {
      if (this.#problem?.of === 'room') this.#mended();
      return true;
    }
    const [has, reserve] = [free, RESERVE_BYTES].map(bytes => Math.floor(bytes / 1e6));
    this.#failed(
      'room',
      `deliveries are not stored; the sender is asked to retry: ${has} MB are free on the disk of the state directory, and ${reserve} MB of them are reserved for the journal; free disk space`,
    );
    return false;
  }

  /** Told at once, then once a minute, not a thousand times a second. */
  #failed(of: 'room' | 'disk', why: string): void {
    const now = this.#options.elapsed();
    const { toldAt, untold } = this.#problem ?? { toldAt: -Infinity, untold: 0 };
    const isTold = now - toldAt >= TOLD_EVERY_MS;
    this.#problem = { why, of, toldAt: isTold ? now : toldAt, untold: isTold ? 0 : untold + 1 };
    if (isTold) this.#options.onProblem(untold === 0 ? why : `${why} (${untold} more times before this)`);
  }

  #mended(): void {
    if (this.#problem !== null) this.#options.onProblem('deliveries are stored again');
    this.#problem = null;
  }
}
