/**
 * Manually advanced clock for replay, simulation and tests. Timers with equal due times run in the order in which they
 * were set.
 */
import type { Clock, Timer } from './port.ts';
import type { Millis } from '../model/units.ts';

type Entry = { readonly due: Millis; readonly order: number; readonly call: () => void; live: boolean };

export class VirtualClock implements Clock {
  #elapsed = 0;
  #epoch: Millis;
  #order = 0;
  /** Binary heap of timers, by due time and then by the order in which they were set. */
  readonly #heap: Entry[] = [];

  constructor(epoch: Millis = 1_767_225_600_000) {
    this.#epoch = epoch;
  }

  now(): Millis {
    return this.#epoch + this.#elapsed;
  }

  elapsed(): Millis {
    return this.#elapsed;
  }

  after(ms: Millis, call: () => void): Timer {
    const entry: Entry = { due: this.#elapsed + (ms > 0 ? ms : 0), order: this.#order++, call, live: true };
    this.#push(entry);
    return { stop: () => void (entry.live = false) };
  }

  /** Moves the wall clock forward or back by `ms`; elapsed time does not change. */
  step(ms: Millis): void {
    this.#epoch += ms;
  }

  /** Due time of the next timer, on the scale of `elapsed`; undefined if no timer is set. */
  nextDue(): Millis | undefined {
    this.#dropDead();
    return this.#heap[0]?.due;
  }

  /** Advances to the next timer and calls the timer. Returns false if no timer is set. */
  runNext(): boolean {
    this.#dropDead();
    const entry = this.#pop();
    if (!entry) return false;
    this.#elapsed = Math.max(this.#elapsed, entry.due);
    entry.live = false;
    entry.call();
    return true;
  }

  /** Advances by `ms`, calls due timers, and lets promises settle after each timer. */
  async advance(ms: Millis): Promise<void> {
    const until = this.#elapsed + ms;
    await settle();
    for (let due = this.nextDue(); due !== undefined && due <= until; due = this.nextDue()) {
      this.runNext();
      await settle();
    }
    this.#elapsed = until;
  }

  #dropDead(): void {
    while (this.#heap[0] && !this.#heap[0].live) this.#pop();
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let i = heap.push(entry) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top;
    let i = 0;
    for (;;) {
      const left = 2 * i + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && before(heap[right]!, heap[left]!) ? right : left;
      if (!before(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return top;
  }
}

const before = (a: Entry, b: Entry): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

/** Waits for one turn of the event loop. During this turn, all promises that do not depend on a timer settle. */
export const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
