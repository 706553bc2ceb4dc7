/** Follower of another exchange's public book and trades, from its stream or by polls. Uses no account. */
import {
  L3Book,
  type Amount,
  type BookDiff,
  type BookSnapshot,
  type Clock,
  type Exchange,
  type Instrument,
  type MarketStream,
  type Millis,
  type Price,
  type Side,
  type Timer,
} from '../../core/index.ts';
import {
  levelsOf,
  MarketDataSupervisor,
  PublicTradeTail,
  type MarketDataUser,
  type UnreadBook,
} from '../../marketdata/index.ts';
import type { Log } from '../log.ts';
import { Executions, type TradeSink } from './executions.ts';
import { ExecutionsFirst } from './executionsFirst.ts';

/** Receiver of the followed market. An execution arrives before the levels that it changed. */
export interface MarketSink extends TradeSink {
  /** Removes all levels from the best price to `reach`. Levels beyond `reach` remain. */
  clear(reach?: Readonly<Record<Side, Price>>): void;
  set(side: Side, price: Price, amount: Amount): void;
  /** Publishes the changes since the last call. */
  flush(): void;
}

export type Queues = {
  /** Returns the arrival number of the newest order; `null` while the stream does not report single orders. */
  arrivals(): number | null;
  /** Returns the lots at a price from orders with an arrival number of at most `arrival`. */
  lotsUpTo(side: Side, price: Price, arrival: number): number;
};

export type FollowerOptions = {
  readonly exchange: Pick<Exchange, 'limits' | 'orderBook' | 'trades'>;
  /** Market data stream. If absent, books are only polled. */
  readonly stream?: MarketStream | undefined;
  readonly sink: MarketSink;
  readonly clock: Clock;
  readonly log: Log;
  readonly instrument: Instrument;
  /** Pause between two reads of the book; longer if `readsPerMinute` requires it. */
  readonly pollMs: Millis;
  readonly readsPerMinute: number;
  /** Called when the market data in `sink` becomes current or stale. */
  readonly onFresh: (isFresh: boolean) => void;
  /** Called with an error if an internal invariant is broken. */
  readonly onBroken: (error: unknown) => void;
};

/** Maximum number of read cycles since the book was last confirmed; after them, the followed market counts as stale. */
const ROUNDS_FRESH = 1.5;
const LOOK_EVERY_MS = 100;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #feed: L3Book;
  readonly #executions: Executions;
  readonly #trades: PublicTradeTail;
  readonly #supervisor: MarketDataSupervisor;
  #stopped = false;
  #freshAt: Millis = -Infinity;
  #wasFresh = false;
  #looking: Timer | null = null;
  #unread: UnreadBook | null = null;

  constructor(options: FollowerOptions) {
    this.#options = options;
    const { clock, exchange, instrument, onBroken, sink, stream } = options;
    const feed = new L3Book({ instrument, book: sink, pending: () => [] });
    this.#feed = feed;
    this.#executions = new Executions({ instrument, sink, bornOf: oid => feed.arrivalOf(oid) });
    this.#trades = new PublicTradeTail({ exchange, book: instrument.symbol, listener: this.#executions });
    this.#supervisor = new MarketDataSupervisor({
      exchange,
      stream: stream && new ExecutionsFirst({ stream, clock, isToldOf: diff => this.#isToldOf(diff), onBroken }),
      clock,
      book: instrument.symbol,
      stepped: feed,
      pollMs: () => this.#everyMs,
      polls: 'levels',
      ahead: 'wait',
      time: () => clock.elapsed(),
      trades: this.#trades,
      user: this.#user(),
      onBroken,
    });
  }

  start(): void {
    this.#supervisor.start();
    this.#supervisor.keepPolling();
    this.#look();
  }

  /** Stops following. Resolves when the current work has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#looking?.stop();
    await this.#supervisor.stop();
  }

  /** Outcome of the last read of a book that failed; `null` if none did. */
  get unread(): UnreadBook | null {
    return this.#unread;
  }

  /** Returns whether the sink has the current market of the followed exchange. */
  get isFresh(): boolean {
    return this.#options.clock.elapsed() - this.#freshAt < ROUNDS_FRESH * this.#everyMs + LOOK_EVERY_MS;
  }

  /**
   * Returns the time, by the steady clock, at which the sink last had the current market; `-Infinity` before its first
   * book. Unlike `isFresh`, this time shows an outage before a whole read cycle is missed.
   */
  get freshAt(): Millis {
    return this.#freshAt;
  }

  /** Returns the length of a read cycle. A cycle reads one book, and also a page of trades while the stream is down. */
  get #everyMs(): Millis {
    const { pollMs, readsPerMinute } = this.#options;
    return Math.max(pollMs, ((this.#trades.needsPages ? 2 : 1) * 60_000) / readsPerMinute);
  }

  /**
   * Returns access to the queues of the stream's book, from which the queue positions of simulated orders are computed.
   */
  get queues(): Queues {
    const isKnown = () => this.#supervisor.source === 'stream' && this.#feed.sequence !== null;
    return {
      arrivals: () => (isKnown() ? this.#feed.arrivals : null),
      lotsUpTo: (side, price, arrival) => this.#feed.lotsUpTo(side, price, arrival),
    };
  }

  #look(): void {
    const { clock, log, onBroken, onFresh } = this.#options;
    if (this.#stopped) return;
    try {
      if (this.isFresh !== this.#wasFresh) {
        this.#wasFresh = this.isFresh;
        if (this.#wasFresh) log.info({}, 'the live market is available');
        else
          log.warn(
            {},
            'the live market sends no data, lags behind or is unreachable; paper trading has no market data until the live data is current again',
          );
        onFresh(this.#wasFresh);
      }
    } catch (error) {
      onBroken(error);
    }
    this.#looking = clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  /**
   * Whether every execution that may have caused a book change is already known. A smaller amount of an order may come
   * from an execution that is not known yet.
   */
  #isToldOf({ changes }: BookDiff): boolean {
    if (this.#feed.sequence === null) return true;
    return changes.every(
      change =>
        this.#trades.hasReportedFill(change.oid) ||
        (change.kind === 'gone' ? !change.filled : !this.#feed.has(change.oid)),
    );
  }

  #user(): MarketDataUser {
    const { clock, log, sink } = this.#options;
    return {
      onStep: () => sink.flush(),
      onCurrent: (was, polledAt) => {
        if (this.#feed.show()) sink.flush();
        this.#freshAt = Math.max(this.#freshAt, polledAt ?? clock.elapsed());
        // After a poll, trades that happened since the poll's answer may be missing. The stream reports all trades in
        // order.
        if (polledAt === null && !this.#trades.needsPages) this.#executions.confirm();
        const sequence = String(this.#feed.sequence);
        if (was !== 'stream') log.info({ sequence }, 'the live market is read from the stream');
      },
      takeBook: (book, whole) => this.#show(book, whole),
      onBook: (startedAt, source) => {
        if (this.#freshAt === -Infinity)
          log.info(
            {},
            `the live market is read ${source === 'stream' ? 'as complete books from the stream' : 'by polling'}`,
          );
        this.#freshAt = Math.max(this.#freshAt, startedAt);
      },
      onLost: (reason, was) => {
        if (was === 'stream') log.warn({ reason }, `the live market is read by polling: ${reason}`);
      },
      onCountedAnew: sequence =>
        log.warn({ sequence: String(sequence) }, 'the exchange of the live market restarted its sequence numbers'),
      onUnread: why => {
        this.#unread = why;
        log.debug({ why }, 'a book of the live market could not be read, or was skipped');
      },
    };
  }

  /** Publishes a book. Returns why the book was rejected; `null` if it was published. */
  #show(snapshot: BookSnapshot, isWhole: boolean): string | null {
    const { exchange, instrument, sink } = this.#options;
    const levels = levelsOf(snapshot, instrument);
    if (typeof levels === 'string') return levels;
    const reach = (side: Side, all: number): Price => {
      const prices = levels.filter(([of]) => of === side).map(([, price]) => price);
      if (isWhole || prices.length < exchange.limits.depth) return all as Price;
      return (side === 'buy' ? Math.min(...prices) : Math.max(...prices)) as Price;
    };
    sink.clear({ buy: reach('buy', 0), sell: reach('sell', Infinity) });
    for (const [side, price, lots] of levels) sink.set(side, price, lots);
    sink.flush();
    return null;
  }
}
