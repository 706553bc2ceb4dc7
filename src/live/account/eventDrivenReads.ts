/**
 * Account reads that the stream or a webhook triggers. Triggered reads are combined and rate-limited, and leave a
 * reserve of the request budget.
 */
import { CANCEL_CHUNK, sleep, type Clock, type Engine, type Exchange, type Millis } from '../../core/index.ts';
import type { Reads } from './reads.ts';

/**
 * News about the bot's orders from the stream, or about transactions from a webhook. The news is unconfirmed and only
 * triggers a read of the account.
 */
export type OwnSeen =
  | { readonly kind: 'traded'; readonly tid: string | null }
  | { readonly kind: 'gone'; readonly oid: string }
  /** A webhook reported a transaction, which may have moved money. */
  | { readonly kind: 'moved' };

export type EventDrivenReadsOptions = {
  readonly clock: Clock;
  /** Reads the account's trades and passes the trades to the engine. */
  readonly readTrades: () => Promise<unknown>;
  /** Reads the balances between two reads of the trades and passes the balances to the engine. */
  readonly readBalances: () => Promise<unknown>;
  /** Object whose `newest` is the id of the newest trade in the ledger. */
  readonly reads: Pick<Reads, 'newest'>;
  /** Looks up the bot's orders by origin id and passes the result to the engine. */
  readonly look: (ids: readonly string[]) => Promise<unknown>;
  /** Engine with the orders of the stream's book. */
  readonly engine: Pick<Engine, 'liveOrders'>;
  readonly exchange: Pick<Exchange, 'budget'>;
  /** Called on an internal error. */
  readonly onBroken: (error: unknown) => void;
};

/**
 * Maximum number of reads in a burst, such as when a large trade fills all levels. After a burst, one further read is
 * allowed per second.
 */
const BURST = 30;
const REFILL_MS: Millis = 1_000;
/** Reserve of private requests in the rate budget, for placements and periodic reads; triggered reads do not use it. */
const BUDGET_RESERVE = 60;
/**
 * Maximum number of attempts to read a trade that the stream reported. The pauses between them double, because the
 * exchange may record the trade late.
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
  /** Id of the newest trade of the account that the stream reported. */
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
      // One read per `BALANCES_EVERY_MS` suffices, because the periodic read of the balances also finds transfers.
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

  /** Starts no further read. Resolves when the current read has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, look, readBalances, readTrades } = this.#options;
    // All news in one turn of the event loop shares one read.
    await sleep(clock, 0);
    while (!this.#stopped && (this.#tradesWanted || this.#gone.size > 0 || this.#balancesWanted)) {
      const ids = this.#tradesWanted ? [] : this.#goneIds();
      if (!this.#tradesWanted && ids.length === 0 && !(this.#gone.size === 0 && this.#balancesWanted)) continue;
      if (!this.#take()) {
        // The next periodic read finds the changes that the dropped news reported.
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

  /**
   * Returns ids of orders that left the book, as many as fit one request. Omits orders that the engine already knows to
   * have ended.
   */
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
