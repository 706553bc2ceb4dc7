/**
 * Detection of another process that trades under this bot's name. Its new orders keep appearing, unlike orders whose
 * state was lost.
 */
import type { Millis } from '../model/units.ts';

/**
 * Number of reads within one minute that must each show new orphan orders. A single delayed request appears in only
 * one.
 */
const READS_MIN = 3;
const WITHIN_MS: Millis = 60_000;
/**
 * Time without new orphan orders, after more than one, that rules out another process: it would place again within
 * seconds.
 */
const QUIET_MS: Millis = 10_000;

export class DuplicateInstance {
  /** Reads of the last minute that showed new orphan orders. */
  #reads: { readonly at: Millis; readonly orders: number }[] = [];
  #isCertain = false;

  /**
   * Records a read with `orders` new orphan orders. Returns true once another process is certain, and in all later
   * calls.
   */
  recordRead(orders: number, at: Millis): boolean {
    if (this.#reads.length > 0) this.#reads = this.#reads.filter(read => at - read.at < WITHIN_MS);
    if (orders > 0) this.#reads.push({ at, orders });
    if (this.#reads.length >= READS_MIN) this.#isCertain = true;
    return this.#isCertain;
  }

  get isSure(): boolean {
    return this.#isCertain;
  }

  /** Whether another process may be running and has only not placed again yet. */
  mightBeRunning(at: Millis): boolean {
    if (this.#reads.length === 0) return this.#isCertain;
    const recent = this.#reads.filter(read => at - read.at < WITHIN_MS);
    const orders = recent.reduce((sum, read) => sum + read.orders, 0);
    const last = recent[recent.length - 1];
    return this.#isCertain || (orders > 1 && last !== undefined && at - last.at < QUIET_MS);
  }
}
