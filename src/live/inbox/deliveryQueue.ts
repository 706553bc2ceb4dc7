/**
 * Queue between the webhook listener and the disk. The queue batches deliveries while the disk is busy, and reports
 * whether a delivery can be acknowledged.
 */
import { counted, textOfError, type Millis } from '../../core/index.ts';
import type { Arrived, InboxStore } from './store.ts';

export type DeliveryQueueOptions = {
  readonly store: Pick<InboxStore, 'put'>;
  /** Returns monotonic time in ms. */
  readonly elapsed: () => Millis;
  /** Defers the call until the queue has all deliveries that have already arrived. */
  readonly soon: (call: () => void) => void;
  /** Called once for each new delivery, when it is on disk. */
  readonly onStored: (arrived: Arrived) => void;
  readonly onProblem: (problem: string) => void;
  /** Returns the free bytes on the disk; `null` if unknown. */
  readonly room: () => number | null;
};

/** Number of deliveries by outcome. `noRoom`: the disk had too little space. `failed`: the disk rejected the write. */
export type DeliveryCounts = { stored: number; repeated: number; waiting: number; noRoom: number; failed: number };

/**
 * Bytes of free space reserved for the journal and the latch. If less space is free, no delivery is stored. The reserve
 * is enough for ten days of a recording with 19 MB per day, and for the log of the state file.
 */
export const RESERVE_BYTES = 256_000_000;
/** Pause between reports of a problem that remains. */
const TOLD_EVERY_MS = 60_000;

/** Number of waiting deliveries at which the sender of a further delivery must retry later. */
const WAITING_MAX = 2_000;
/**
 * Maximum waiting time of the oldest delivery. If the oldest delivery waits longer, the sender of a further delivery
 * must retry later.
 */
const WAITING_MAX_MS = 2_000;
/**
 * Maximum number of deliveries in one transaction. The limit bounds the time until the last delivery of the transaction
 * is acknowledged.
 */
const BATCH_MAX = 500;
const BATCH_MAX_BYTES = 1_000_000;

type Waiting = { readonly arrived: Arrived; readonly since: Millis; readonly done: (stored: boolean) => void };

/** Queue of deliveries that are waiting for the disk. */
export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions;
  readonly #counts: DeliveryCounts;
  #waiting: Waiting[] = [];
  #scheduled = false;
  /**
   * Current problem: the reason why deliveries are not stored, and the time of its last report. `untold`: number of
   * times that the problem occurred again since that report.
   */
  #problem: { readonly why: string; readonly of: 'room' | 'disk'; toldAt: Millis; untold: number } | null = null;

  constructor(options: DeliveryQueueOptions, counts: DeliveryCounts) {
    this.#options = options;
    this.#counts = counts;
  }

  /** Returns why deliveries are not stored, for the operator; `null` while deliveries are stored. */
  problem(): string | null {
    this.#hasRoom();
    return this.#problem?.why ?? null;
  }

  /**
   * Adds a delivery. Resolves to `true` once the delivery is on disk, and to `false` if the delivery will not be
   * stored.
   */
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
      this.#failed('disk', `webhook deliveries cannot be stored (${textOfError(error)}); the sender is asked to retry`);
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
      `webhook deliveries are not stored and senders are asked to retry, because only ${has} MB are free on the disk of the state directory and ${reserve} MB are reserved for the journal; free up disk space`,
    );
    return false;
  }

  /** Reports a problem immediately, then at most once per minute. */
  #failed(of: 'room' | 'disk', why: string): void {
    const now = this.#options.elapsed();
    const { toldAt, untold } = this.#problem ?? { toldAt: -Infinity, untold: 0 };
    const isTold = now - toldAt >= TOLD_EVERY_MS;
    this.#problem = { why, of, toldAt: isTold ? now : toldAt, untold: isTold ? 0 : untold + 1 };
    if (isTold)
      this.#options.onProblem(
        untold === 0
          ? why
          : `${why} (${counted(untold, 'repeat since the last line was', 'repeats since the last line were')} not logged)`,
      );
  }

  #mended(): void {
    if (this.#problem !== null) this.#options.onProblem('webhook deliveries are stored again');
    this.#problem = null;
  }
}
