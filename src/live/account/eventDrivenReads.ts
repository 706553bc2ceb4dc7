/** Reads of the account at once when the stream or a webhook shows something of ours: coalesced, a few a second at most, and never with the last of the budget. */
import { CANCEL_CHUNK, sleep } from '../../core/index.ts';
import type { Clock, Engine, Exchange, Millis } from '../../core/index.ts';
import type { Reads } from './reads.ts';

/** What the stream showed of an order of ours: unconfirmed; the account is read for it. */
export type OwnSeen =
  | { readonly kind: 'traded'; readonly tid: string | null }
  | { readonly kind: 'gone'; readonly oid: string }
  /** Money came or went: told by a webhook. */
  | { readonly kind: 'moved' };

export type EventDrivenReadsOptions = {
  readonly clock: Clock;
  /** Reads own trades into the engine. */
  readonly readTrades: () => Promise<unknown>;
  /** Reads the balances on a quiet cut into the engine. */
  readonly readBalances: () => Promise<unknown>;
  /** Knows the newest own trade that was read. */
  readonly reads: Pick<Reads, 'newest'>;
  /** Looks up orders of ours by origin id, into the engine. */
  readonly look: (ids: readonly string[]) => Promise<unknown>;
  readonly engine: Engine;
  readonly exchange: Pick<Exchange, 'budget'>;
  /** Something of our own broke. */
  readonly onBroken: (error: unknown) => void;
};

/** Reads in a burst, as a sweep through a ladder takes them, and how fast they come back: at most 60 a minute for long. */
const BURST = 30;
const REFILL_MS: Millis = 1_000;
/** What is kept for placements and for the reads that must happen. */
const BUDGET_RESERVE = 60;
/** The stream may be ahead of the records: a trade that it named is looked for so often, after pauses that double. */
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
  /** Newest trade of ours that the stream named. */
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
      // Whoever floods us with news of money gets a read every few seconds; the poll tells the rest.
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

  /** Starts nothing more, and resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, look, readBalances, readTrades } = this.#options;
    // What was seen in the same moment is read together.
    await sleep(clock, 0);
    while (!this.#stopped && (this.#tradesWanted || this.#gone.size > 0 || this.#balancesWanted)) {
      const ids = this.#tradesWanted ? [] : this.#goneIds();
      if (!this.#tradesWanted && ids.length === 0 && !(this.#gone.size === 0 && this.#balancesWanted)) continue;
      if (!this.#take()) {
        // The next poll tells.
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

  /** Takes a request's worth of those that left the book; what the engine knows to be over needs no look. */
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
