/**
 * Request budgets that the books of one bot share by value: reads of polled books, and placements in a scarce budget.
 */
import {
  FairShares,
  isBookEvent,
  mayLive,
  requoteFrom,
  requoteValue,
  StaleRisks,
  type Clock,
  type Engine,
  type EngineEvent,
  type Instrument,
  type Millis,
  type OwnQuote,
  type StaleRisk,
} from '../../core/index.ts';
import type { MarketData } from '../market/marketData.ts';
import { BookPolls, type SharedReads } from './bookPolls.ts';

/** Assumed time until a book that cannot place an order now can place one, in seconds. */
const NEXT_CHANCE_S = 10;

/** Use of the shared budgets by one book, in requests. */
export type BookBudgetUse = {
  /** Book reads that were started. */
  readonly bookReads: number;
  /** Slots in which a read of the book was due, and another book was read. */
  readonly readWaits: number;
  /** Orders that were not placed because the book had used its share. */
  readonly placementWaits: number;
};

export type BookBudgetOptions = {
  readonly clock: Clock;
  /** Returns the engine's time. */
  readonly time: () => Millis;
  readonly engine: Engine;
  /** Market data of each book, in the order of the engine's books. */
  readonly markets: readonly Pick<MarketData, 'bookReads' | 'isOnStream' | 'poll' | 'pollState'>[];
  /** Rules of each book. */
  readonly instruments: () => readonly Instrument[];
  /** Returns the requests that are left in the public and in the private budget. */
  readonly left: () => { readonly public: number; readonly private: number };
  /** Minimum time between two reads of one book. */
  readonly pollMs: Millis;
  /** Reads that the books share; absent if each book is read every `pollMs`. */
  readonly sharedReads?: SharedReads | undefined;
};

export class BookBudgets {
  readonly #options: BookBudgetOptions;
  readonly #symbols: readonly string[];
  readonly #risks: StaleRisks;
  readonly #shares: FairShares;
  /** For each book: number of orders that were not placed because the book had used its share. */
  readonly #placementWaits: number[];
  /** Mid price of each book when it last placed an order; `null` before. */
  readonly #placedAt: (number | null)[];
  /** Shared reads of the polled books; `null` if each book is read every `pollMs`. */
  readonly polls: BookPolls | null;

  constructor(options: BookBudgetOptions) {
    const { clock, engine, left, markets, pollMs, sharedReads } = options;
    this.#options = options;
    this.#symbols = engine.books.map(({ symbol }) => symbol);
    this.#risks = new StaleRisks(this.#symbols);
    this.#placementWaits = this.#symbols.map(() => 0);
    this.#placedAt = this.#symbols.map(() => null);
    this.#shares = new FairShares(
      clock,
      () => left().private,
      this.#symbols,
      (books, scarcity) => this.#placementValues(books, scarcity),
    );
    const from = { left: () => left().public, risks: () => this.#currentRisks() };
    this.polls =
      sharedReads === undefined || markets.length < 2
        ? null
        : new BookPolls(clock, markets, { ...sharedReads, pollMs }, from);
  }

  /** Updates the estimates of the books after the engine has applied an event. */
  onStep(event: EngineEvent): void {
    if (this.#symbols.length < 2 || !isBookEvent(event)) return;
    const i = this.#symbols.indexOf(event.symbol ?? '');
    if (i === -1) return;
    if (event.kind === 'book') this.#risks.read(i, event.at, this.#options.engine.books[i]!.mid(event.at));
    // Without the stream, the bot reads only the latest trade of the book, so the number of trades is unknown.
    if (event.kind === 'public trade' && this.#options.markets[i]!.isOnStream) this.#risks.trade(i);
  }

  /**
   * Whether a book can place an order now: while the budget is scarce, only if the book has not used its share. Counts
   * the order, either as placed or as waiting.
   */
  place(book: string): boolean {
    const i = this.#symbols.indexOf(book);
    if (!this.#shares.mayPlace(book)) {
      this.#shares.refuse(book);
      this.#placementWaits[i]!++;
      return false;
    }
    this.#shares.place(book);
    this.#placedAt[i] = this.#risks.mid(i);
    return true;
  }

  /** Returns the use of the budgets by one book. */
  use(i: number): BookBudgetUse {
    return {
      bookReads: this.#options.markets[i]!.bookReads,
      readWaits: this.polls?.waits[i] ?? 0,
      placementWaits: this.#placementWaits[i]!,
    };
  }

  /** Returns the expected loss that a new quote saves, for each of the given books. */
  #placementValues(books: readonly string[], scarcity: number): readonly number[] {
    const risks = this.#currentRisks();
    return books.map(book => {
      const i = this.#symbols.indexOf(book);
      return this.#placementValue(i, risks[i]!, scarcity);
    });
  }

  /**
   * Returns the expected loss that a new quote of a book saves after the price move since its last order. Returns 0 for
   * a small move, so that the other books can use the budget.
   */
  #placementValue(i: number, risk: StaleRisk, scarcity: number): number {
    const [mid, before] = [this.#risks.mid(i), this.#placedAt[i]!];
    if (mid === null || !Number.isFinite(risk.distance)) return 0;
    const moved = before === null ? risk.distance : Math.abs(mid / before - 1);
    return moved < requoteFrom(risk.distance, scarcity) ? 0 : requoteValue(risk, moved, NEXT_CHANCE_S);
  }

  #currentRisks(): readonly StaleRisk[] {
    const { engine, instruments, markets, time } = this.#options;
    this.#risks.advanceTo(
      time(),
      markets.map(({ isOnStream }) => isOnStream),
    );
    const rules = instruments();
    return this.#risks.of(engine.books.map(({ liveOrders }, i) => liveOrders.filter(mayLive).map(quoteIn(rules[i]!))));
  }
}

/** Returns a function that converts an order to its price and remaining amount. */
const quoteIn =
  ({ tick, lot }: Instrument) =>
  ({ price, amount, filled }: Readonly<Record<'price' | 'amount' | 'filled', number>>): OwnQuote => ({
    price: price * Number(tick),
    amount: (amount - filled) * Number(lot),
  });
