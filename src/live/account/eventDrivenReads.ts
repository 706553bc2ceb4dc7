/**
 * Account reads triggered by the stream or a webhook: coalesced, rate-limited, and never with the last of the budget.
 */
import { CANCEL_CHUNK, sleep, type Clock, type Engine, type Exchange, type Millis } from '../../core/index.ts';
import type { Reads } from './reads.ts';

/** Unconfirmed news of the bot's order from the stream; it triggers a read of the account. */
export type OwnSeen =
  | { readonly kind: 'traded'; readonly tid: string | null }
  | { readonly kind: 'gone'; readonly oid: string }
  /** A webhook reported a transfer. */
  | { readonly kind: 'moved' };

export type EventDrivenReadsOptions = {
  readonly clock: Clock;
  /** Reads own trades into the engine. */
  readonly readTrades: () => Promise<unknown>;
  /** Reads the balances on a quiet cut into the engine. */
  readonly readBalances: () => Promise<unknown>;
  /** Source of the newest own trade that was read. */
  readonly reads: Pick<Reads, 'newest'>;
  /** Looks up the bot's orders by origin id, into the engine. */
  readonly look: (ids: readonly string[]) => Promise<unknown>;
  readonly engine: Engine;
  readonly exchange: Pick<Exchange, 'budget'>;
  /** Called on an internal error. */
  readonly onBroken: (error: unknown) => void;
};

/**
 * Reads per burst, as when a sweep executes a whole ladder, and their refill: at most 60 reads per minute over time.
 */
const BURST = 30;
const REFILL_MS: Millis = 1_000;
/** Requests reserved for placements and for mandatory reads. */
const BUDGET_RESERVE = 60;
/**
 * Number of attempts to read a trade that the stream named, with doubling pauses. The stream may be ahead of the
 * records.
 */
const TRIES = 5;
const RETRY_MS = 30;
const BALANCES_EVERY_MS = 5_000;
const GONE_MAX = 500;

export class EventDrivenReads {
  readonly #options: EventDrivenReadsOptions;
  readonly #gone = new Set<string>();
  #tradesWanted = false;
  #balancesWanted = false;
  #balancesAt: Millis = -Infinity;
  /** Newest own trade that the stream named. */
  #newest = -1n;
  #tries = 0;
  #tokens = BURST;
  #filledAt: Millis;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(options: EventDrivenReadsOptions) {
    this.#options = options;
    this.#filledAt = options.clock.elapsed();
  }

  seen(seen: OwnSeen): void {
    if (this.#stopped) return;
    if (seen.kind === 'gone') {
      if (this.#gone.size < GONE_MAX) this.#gone.add(seen.oid);
    } else if (seen.kind === 'moved') {
      // At most one read every few seconds, even in a flood of transfer news; the poll finds the rest.
      const now = this.#options.clock.elapsed();
      if (now - this.#balancesAt < BALANCES_EVERY_MS) return;
      this.#balancesAt = now;
      this.#balancesWanted = true;
    } else {
      this.#tradesWanted = true;
      if (seen.tid !== null && BigInt(seen.tid) > this.#newest) {
        this.#newest = BigInt(seen.tid);
        this.#tries = 0;
      }
    }
    this.#running ??= this.#run()
      .catch(this.#options.onBroken)
      .finally(() => (this.#running = null));
  }

  /** Starts no further read; resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, look, readBalances, readTrades } = this.#options;
    // News that arrives in the same turn is read together.
    await sleep(clock, 0);
    while (!this.#stopped && (this.#tradesWanted || this.#gone.size > 0 || this.#balancesWanted)) {
      const ids = this.#tradesWanted ? [] : this.#goneIds();
      if (!this.#tradesWanted && ids.length === 0 && !(this.#gone.size === 0 && this.#balancesWanted)) continue;
      if (!this.#take()) {
        // The next poll finds it.
        this.#tradesWanted = false;
        this.#gone.clear();
        this.#balancesWanted = false;
        return;
      }
      if (this.#tradesWanted) {
        this.#tradesWanted = false;
        await readTrades();
        if (this.#isBehind() && this.#tries < TRIES) {
          this.#tradesWanted = true;
          await sleep(clock, RETRY_MS * 2 ** this.#tries++);
        }
      } else if (ids.length > 0) await look(ids);
      else {
        this.#balancesWanted = false;
        await readBalances();
      }
    }
  }

  /** Takes one request's worth of orders that left the book. Orders that the engine knows as ended need no look-up. */
  #goneIds(): readonly string[] {
    const oids = [...this.#gone].slice(0, CANCEL_CHUNK);
    for (const oid of oids) this.#gone.delete(oid);
    return this.#options.engine.liveOrders.flatMap(({ id, oid }) => (oid !== null && oids.includes(oid) ? [id] : []));
  }

  #isBehind(): boolean {
    const { newest } = this.#options.reads;
    return this.#newest > (newest === undefined ? -1n : BigInt(newest));
  }

  #take(): boolean {
    const now = this.#options.clock.elapsed();
    const refill = Math.floor((now - this.#filledAt) / REFILL_MS);
    if (refill > 0) {
      this.#tokens = Math.min(BURST, this.#tokens + refill);
      this.#filledAt += refill * REFILL_MS;
    }
    if (!(this.#tokens > 0 && this.#options.exchange.budget().private > BUDGET_RESERVE)) return false;
    this.#tokens--;
    return true;
  }
}
