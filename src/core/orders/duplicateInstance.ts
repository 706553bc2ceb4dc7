/**
 * Detection of another process that trades under this bot's name. New orders of such a process keep appearing, unlike
 * orders whose state was lost.
 */
import type { Millis } from '../model/units.ts';

/**
 * Number of reads within one minute that must show new orphan orders to prove another process. The orders of a single
 * delayed request appear as new in only one read.
 */
const READS_MIN = 3;
const WITHIN_MS: Millis = 60_000;
/**
 * Time without new orphan orders after which another process is ruled out, because it would place orders again within
 * seconds. A single orphan order is no sign of another process.
 */
const QUIET_MS: Millis = 10_000;

type Read = { readonly at: Millis; readonly orders: number };

export class DuplicateInstance {
  /** Reads of the last minute that showed new orphan orders. */
  #reads: Read[] = [];
  #isCertain = false;

  /**
   * Records a read of open orders with `orders` new orphan orders. Returns whether another process is certain to trade
   * under the bot's name. Once true, the result stays true.
   */
  recordRead(orders: number, at: Millis): boolean {
    this.#reads = this.#recent(at);
    if (orders > 0) this.#reads.push({ at, orders });
    if (this.#reads.length >= READS_MIN) this.#isCertain = true;
    return this.#isCertain;
  }

  get isSure(): boolean {
    return this.#isCertain;
  }

  /** Whether another process certainly runs under the bot's name, or cannot be ruled out yet. */
  mightBeRunning(at: Millis): boolean {
    const recent = this.#recent(at);
    const orders = recent.reduce((sum, read) => sum + read.orders, 0);
    return this.#isCertain || (orders > 1 && at - recent.at(-1)!.at < QUIET_MS);
  }

  #recent(at: Millis): Read[] {
    return this.#reads.filter(read => at - read.at < WITHIN_MS);
  }
}
