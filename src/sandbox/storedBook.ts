/**
 * Book of a stored exchange whose market is followed: its queue positions, its pending commands, and the time at which
 * its market was last current. See docs/adr/0053.
 */
import type { Clock, Millis, Timer } from '../core/index.ts';
import type { EmbeddedExchange } from './exchange.ts';
import type { FollowedMarket, StoredQueues } from './markets/followed.ts';
import { remainingDelay } from './matching/remainingDelay.ts';
import { restored, storedValue } from './restoredRows.ts';
import type { Modification } from './venue/modification.ts';
import { isActive, isWaiting, type VenueOrder } from './venue/order.ts';
import type { BookCommand, BookNumbers, VenueBook } from './venue/venueBook.ts';

export type Units = { readonly tick: string; readonly lot: string };

type StoredCommand = {
  readonly due: Millis;
  readonly kind: BookCommand['kind'];
  readonly oid: string;
  readonly old?: string;
  readonly change?: Modification;
  /** Whether the order would have traded on arrival in the last known book. */
  readonly isTaker?: true;
};

/** Interval at which the current time is stored while the market is visible. */
const SEEN_EVERY_MS = 500;
/** Time without a process after which orders that the market has passed count as filled. */
const UNSEEN_AFTER_MS = 2_000;

const EMPTY: StoredQueues = { levels: [], orders: { buy: [], sell: [] }, spent: [] };

/** Parts of the exchange that its followed books use. */
export type StoredBookHost = {
  readonly clock: Clock;
  readonly venue: EmbeddedExchange['venue'];
  /** Whether an earlier process has opened the account. */
  readonly isContinued: boolean;
  /** Oids of the orders that rested in the earlier process and are not in a book yet. */
  readonly waiting: Set<string>;
  /** Live orders of the account. */
  readonly active: () => ReadonlyMap<string, VenueOrder>;
  /** Stores all changes. */
  readonly store: () => void;
};

export class StoredBook {
  readonly book: VenueBook;
  /** End of the keys of the rows of this book; empty for the first book. */
  readonly suffix: string;
  readonly #host: StoredBookHost;
  readonly #restored: StoredQueues;
  /** Time at which the earlier process last had a current market; `null` if no process had. */
  readonly #lastSeen: Millis | null;
  /** Commands of the earlier process, until the market is visible. */
  #held: readonly StoredCommand[];
  #market: FollowedMarket | null = null;
  #seenTimer: Timer | null = null;
  /** Time at which the market was last current and that is not stored yet; `null` if it is stored. */
  #seenAt: Millis | null = null;
  /** Returns the elapsed time at which the followed market was last current. */
  #freshAt: () => Millis;
  /** Result of `#freshAt` at the last stored time. */
  #storedFreshAt: Millis = -Infinity;
  /** Due time of each pending command, in epoch ms. */
  readonly #dues = new WeakMap<BookCommand, Millis>();

  constructor(host: StoredBookHost, book: VenueBook, known: ReadonlyMap<string, string>, suffix: string) {
    this.suffix = suffix;
    this.#host = host;
    this.book = book;
    this.#freshAt = () => host.clock.elapsed();
    this.#held = restored(() => storedValue<readonly StoredCommand[]>(known, `commands${suffix}`)) ?? [];
    const queues = restored(() => storedValue<StoredQueues & Units>(known, `queues${suffix}`));
    const { tick, lot } = book.instrument;
    // Stored prices and lots are unusable if the tick or lot of the book has changed.
    this.#restored = queues !== null && queues.tick === tick && queues.lot === lot ? queues : EMPTY;
    this.#lastSeen = restored(() => storedValue<Millis>(known, `seen${suffix}`));
  }

  /** Time at which the market was last current, if it is not stored yet; otherwise `null`. */
  get seenAt(): Millis | null {
    return this.#seenAt;
  }

  /** Queue positions to store; `null` before the market is connected. */
  get queues(): (StoredQueues & Units) | null {
    const { tick, lot } = this.book.instrument;
    return this.#market && { ...this.#market.stored(), tick, lot };
  }

  /** Notes that all rows of the book are stored. */
  committed(): void {
    this.#seenAt = null;
  }

  /** Continues the numbers of an earlier process. */
  resume(numbers: BookNumbers, tick: string): void {
    // A last price in ticks that the book no longer has is unknown.
    const isInTicks = tick === this.book.instrument.tick;
    this.book.resume({ ...numbers, last: isInTicks ? numbers.last : 0 });
  }

  /** Connects the market, as `StoredExchange.follow` documents. */
  follow(market: FollowedMarket, freshAt: () => Millis): void {
    this.#market = market;
    this.#freshAt = freshAt;
    const { active, waiting } = this.#host;
    const name = this.book.rules.book;
    const resting = [...active().values()].filter(order => waiting.has(order.oid) && order.book === name);
    restored(() =>
      market.restore(
        this.#restored,
        resting.map(({ oid }) => oid),
        {
          enter: oid => {
            const order = active().get(oid);
            if (order === undefined || !waiting.delete(oid)) return false;
            this.book.restore(order);
            return true;
          },
          isUnseen: () => this.#isUnseen(),
          executeUnseen: () => this.#executeUnseen(),
          onShown: () => {
            this.#seen();
            this.#resumeCommands();
          },
        },
      ),
    );
  }

  /** Stops all timers. */
  close(): void {
    this.#seenTimer?.stop();
  }

  /** Returns the pending commands to store. */
  commands(): readonly StoredCommand[] {
    const pending = this.book.queue.pending().map(({ due, command }) => {
      // The due time of a command is converted only once, because clocks drift and a changed row would be written
      // again.
      if (!this.#dues.has(command)) this.#dues.set(command, wallOf(this.#host.clock, due));
      return {
        ...{ due: this.#dues.get(command)!, kind: command.kind, oid: command.order.oid },
        ...(command.kind === 'replace' ? { old: command.old.oid } : {}),
        ...(command.kind === 'modify' ? { change: command.change } : {}),
        ...(this.#isTaker(command) ? { isTaker: true as const } : {}),
      };
    });
    return [...pending, ...this.#held];
  }

  /**
   * Regularly stores the time at which the market was last current. From this time, the next process knows for how long
   * the market was not followed. Fills by an unseen market are stored no later than the time: after a crash between
   * both, the next process would not repeat these fills.
   */
  #seen(): void {
    const freshAt = this.#freshAt();
    if (freshAt > this.#storedFreshAt)
      [this.#seenAt, this.#storedFreshAt] = [wallOf(this.#host.clock, freshAt), freshAt];
    this.#host.store();
    this.#seenTimer = this.#host.clock.after(SEEN_EVERY_MS, () => this.#seen());
  }

  /**
   * Whether the market was not followed for a time. A stored time in the future is not used, because the clock was set
   * back. Without a stored time, the earlier process had no current market, or ended before it stored the time.
   */
  #isUnseen(): boolean {
    if (this.#lastSeen === null) return this.#host.isContinued;
    const away = this.#host.clock.now() - this.#lastSeen;
    return !(away >= 0 && away <= UNSEEN_AFTER_MS);
  }

  /**
   * Executes commands of the earlier process before the current market fills the orders that it has passed: new orders,
   * which are then filled too, and cancels and changes that were due while the market was still known. A limit order
   * that crossed the last known book did not rest: it takes from the current book, unless it is post-only.
   */
  #executeUnseen(): void {
    const knownTo = (this.#lastSeen ?? -Infinity) + UNSEEN_AFTER_MS;
    const isFirst = ({ kind, due }: StoredCommand) => kind === 'enter' || due <= knownTo;
    const takes = (of: StoredCommand) => of.isTaker === true && this.#isLimit(of.oid);
    const [first, later] = [this.#held.filter(isFirst), this.#held.filter(of => !isFirst(of))];
    this.#held = [...first.filter(takes).map(({ old: _, ...of }) => ({ ...of, kind: 'enter' as const })), ...later];
    for (const one of first) {
      // The order of a replacement that takes is entered later, so only its old order is removed now.
      const command = this.#commandOf(takes(one) ? { ...one, kind: 'remove', oid: one.old ?? '' } : one);
      if (command) this.book.executeUnseen(command, one.isTaker === true);
    }
  }

  /** Whether an order is a limit order that first takes liquidity and then rests. */
  #isLimit(oid: string): boolean {
    const order = this.#host.venue.find(oid);
    return order?.type === 'limit' && order.timeInForce === 'goodtillcancelled';
  }

  /** Whether a command enters a limit order that would trade immediately in the current book. */
  #isTaker({ kind, order }: BookCommand): boolean {
    if (kind !== 'enter' && kind !== 'replace') return false;
    return order.type === 'limit' && !isWaiting(order) && this.book.engine.crosses(order.side, order.price);
  }

  #resumeCommands(): void {
    // A command that is due is executed and stored here, so the others stay held until they are submitted.
    for (let first = this.#held[0]; first; first = this.#held[0]) {
      this.#held = this.#held.slice(1);
      const command = this.#commandOf(first);
      const longest = this.#host.venue.switches.engineDelayMaxMs;
      if (command) this.book.queue.submit(remainingDelay(first.due, this.#host.clock.now(), longest), command);
    }
  }

  /** Returns the command; `null` if its order has ended, as after a change of the book's units. */
  #commandOf({ kind, oid, old, change }: StoredCommand): BookCommand | null {
    const { venue } = this.#host;
    const order = venue.find(oid);
    if (order === undefined || !isActive(order)) return null;
    switch (kind) {
      case 'enter':
      case 'remove':
        return { kind, order };
      case 'replace': {
        const replaced = old === undefined ? undefined : venue.find(old);
        return replaced ? { kind, order, old: replaced } : { kind: 'enter', order };
      }
      case 'modify':
        return change ? { kind, order, change } : null;
    }
  }
}

/** Converts elapsed time of this process into wall-clock time. */
export const wallOf = (clock: Clock, elapsed: Millis): Millis => clock.now() + (elapsed - clock.elapsed());
