/** Request budgets that the books of one bot share by value: reads of polled books, and placements while scarce. */
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

/** Time until a book that may not place now can probably place, in seconds. */
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
  /** Requests that are left in both budgets. */
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
  readonly #heldBack: number[];
  /** Mid price of each book when it last placed an order; `null` before. */
  readonly #placedAt: (number | null)[];
  /** Shared reads of the polled books; `null` if each book is read every `pollMs`. */
  readonly polls: BookPolls | null;

  constructor(options: BookBudgetOptions) {
    const { clock, engine, left, markets, pollMs, sharedReads } = options;
    this.#options = options;
    this.#symbols = engine.books.map(({ symbol }) => symbol);
    this.#risks = new StaleRisks(this.#symbols);
    this.#heldBack = this.#symbols.map(() => 0);
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

  /** Learns from an event after the engine has applied it. */
  onStep(event: EngineEvent): void {
    if (this.#symbols.length < 2 || !isBookEvent(event)) return;
    const i = this.#symbols.indexOf(event.symbol ?? '');
    if (i === -1) return;
    if (event.kind === 'book') this.#risks.read(i, event.at, this.#options.engine.books[i]!.mid(event.at));
    // Without the stream only the latest trade is read, which says nothing about their number.
    if (event.kind === 'public trade' && this.#options.markets[i]!.isOnStream) this.#risks.trade(i);
  }

  /**
   * Whether a book can place an order now. Counts the order, as placed or as held back: while the budget is scarce, a
   * book places up to its share.
   */
  place(book: string): boolean {
    const i = this.#symbols.indexOf(book);
    if (!this.#shares.mayPlace(book)) {
      this.#shares.refuse(book);
      this.#heldBack[i]!++;
      return false;
    }
    this.#shares.place(book);
    this.#placedAt[i] = this.#risks.mid(i);
    return true;
  }

  /** Use of the budgets by one book. */
  use(i: number): BookBudgetUse {
    return {
      bookReads: this.#options.markets[i]!.bookReads,
      readWaits: this.polls?.waits[i] ?? 0,
      placementWaits: this.#heldBack[i]!,
    };
  }

  /** Returns what a new quote of each of some books saves. */
  #placementValues(books: readonly string[], scarcity: number): readonly number[] {
    const risks = this.#currentRisks();
    return books.map(book => {
      const i = this.#symbols.indexOf(book);
      return this.#placementValue(i, risks[i]!, scarcity);
    });
  }

  /**
   * Returns what a new quote of a book saves, given how far the price has moved since its last order. It is 0 for a
   * small move, so that the budget is kept for the other books.
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
