/** Tells another process that trades under this bot's name, somewhere else, from what a lost state left: the one goes on placing. */
import type { Millis } from '../model/units.ts';

/** Orders of our name that nobody here placed, in so many different reads of one minute: a request that was held on its way comes once. */
const READS_TO_BE_SURE = 3;
const WITHIN_MS: Millis = 60_000;
/** After more than one of them nothing is quoted for this long: whoever lives places again within seconds. */
const QUIET_MS: Millis = 10_000;

export class DuplicateInstance {
  /** Reads that showed new ones, in the last minute. */
  #reads: { readonly at: Millis; readonly orders: number }[] = [];
  #sure = false;

  /** A read showed `orders` strangers that no read had shown before. True from the moment on when somebody else must live. */
  saw(orders: number, at: Millis): boolean {
    if (this.#reads.length > 0) this.#reads = this.#reads.filter(read => at - read.at < WITHIN_MS);
    if (orders > 0) this.#reads.push({ at, orders });
    if (this.#reads.length >= READS_TO_BE_SURE) this.#sure = true;
    return this.#sure;
  }

  get isSure(): boolean {
    return this.#sure;
  }

  /** Whether somebody may live who has not placed again yet. */
  mayLive(at: Millis): boolean {
    if (this.#reads.length === 0) return this.#sure;
    const recent = this.#reads.filter(read => at - read.at < WITHIN_MS);
    const orders = recent.reduce((sum, read) => sum + read.orders, 0);
    const last = recent[recent.length - 1];
    return this.#sure || (orders > 1 && last !== undefined && at - last.at < QUIET_MS);
  }
}
