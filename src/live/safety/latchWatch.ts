/**
 * Synchronization of halt, reduce-only and pause between the latches and the engine: at the start, before orders, and
 * periodically. The latch of the account applies to all books, the latch of a book to this book.
 */
import { RESUMED_BEYOND_LIMIT, type BookEngine, type Engine, type EngineEvent } from '../../core/index.ts';
import { logOfBook, type Log } from '../log.ts';
import type { RunContext } from '../runContext.ts';
import type { BookLatch } from './bookLatch.ts';
import { applyPendingHalt, watchHalt } from './haltWatch.ts';
import type { Halt, Latch } from './latch.ts';
import { watchPause } from './pauseWatch.ts';
import { applyPendingReduce, watchReduce } from './reduceWatch.ts';

/** Event of a latch, which can be of one book. */
type LatchEvent = Extract<EngineEvent, { kind: 'halt' | 'pause' | 'pause over' | 'reduce' | 'reduced' | 'resume' }>;

/** Book with its own latch, and the reasons that the engine got from this latch. */
type LatchedBook = {
  readonly book: BookEngine;
  readonly latch: BookLatch;
  readonly log: Log;
  readonly step: (event: EngineEvent) => void;
  halt: string | null;
  reduce: string | null;
  /** Reason of the pause in the latch, whether or not a pause of the account hides it. */
  pause: string | null;
  /** Whether the bot will no longer have this book. The book is then paused, whatever its latches are. */
  isLeaving: boolean;
};

/** Reason of the pause of a book that the bot will no longer have. */
const LEAVING = 'the configuration no longer has this book';

export class LatchWatch {
  readonly #run: RunContext;
  readonly #engine: Engine;
  readonly #latch: Latch;
  readonly #books: readonly LatchedBook[];
  /** Reason of the account's pause that the engine got; `null` if none. */
  #pause: string | null = null;

  /** Creates the watch. `latchOf` returns the latch of a book; if absent, books have none of their own. */
  constructor(run: RunContext, engine: Engine, latch: Latch, latchOf?: (symbol: string) => BookLatch) {
    this.#run = run;
    this.#engine = engine;
    this.#latch = latch;
    this.#books = latchOf === undefined ? [] : engine.books.map(book => this.#latchedBook(book, latchOf(book.symbol)));
  }

  #latchedBook(book: BookEngine, latch: BookLatch): LatchedBook {
    const { symbol } = book;
    const log = this.#engine.books.length === 1 ? this.#run.log : logOfBook(this.#run.log, symbol);
    const of: LatchedBook = {
      ...{ book, latch, log, halt: null, reduce: null, pause: null, isLeaving: false },
      step: told => {
        const event = told as LatchEvent;
        if (event.kind === 'halt') of.halt = event.reason;
        if (event.kind === 'reduce') of.reduce = event.reason;
        if (event.kind === 'resume') of.halt = null;
        if (event.kind === 'resume' || event.kind === 'reduced') of.reduce = null;
        this.#run.step({ ...event, symbol });
      },
    };
    return of;
  }

  /** Applies, before the first decision, a resume, reduce-only and a pause from before the run. */
  begin(): void {
    const { step, time } = this.#run;
    applyPendingReduce(this.#latch, time(), step);
    for (const { latch, step: stepBook } of this.#books) applyPendingReduce(latch, time(), stepBook);
    this.#watchPauses(this.#books);
  }

  /**
   * Applies the latches before orders in the given books are sent, so that a halt by another process is reported before
   * the orders that it blocks. Returns the halt of the account, or `null`.
   */
  beforePlacing(symbols: ReadonlySet<string> = new Set()): Halt | null {
    const { step, time } = this.#run;
    const placing = this.#books.filter(({ book }) => symbols.has(book.symbol));
    for (const { book, latch, step: stepBook } of placing) {
      applyPendingHalt(book, latch, time(), stepBook);
      const reduce = latch.readReduce();
      if (reduce !== null && book.reducingBecause === null)
        stepBook({ kind: 'reduce', at: time(), reason: reduce.reason });
    }
    if (this.#engine.books.length > 1) watchReduce(this.#ofAccount, this.#latch, time(), step);
    this.#spread();
    const halt = applyPendingHalt(this.#ofAccount, this.#latch, time(), step);
    this.#watchPauses(placing);
    return halt;
  }

  /**
   * Whether a latch sets a book reduce-only of which its engine does not know yet, so that its order may add inventory.
   */
  isNewlyReducing(symbol: string): boolean {
    const book = this.#engine.books.find(each => each.symbol === symbol);
    if (book?.reducingBecause !== null) return false;
    const own = this.#books.find(each => each.book === book)?.latch.readReduce() ?? null;
    return own !== null || (this.#engine.books.length > 1 && this.#latch.readReduce() !== null);
  }

  /**
   * Applies changes of the latches; call periodically. `isBroken` means that the engine has failed; then only a new
   * process can end the halt.
   */
  look(isBroken: boolean): void {
    const { step, time } = this.#run;
    const engine = this.#engine;
    // A resume is applied before the states that are set now, because they are later than the resume. The resume may
    // end no state of this engine; its marker is removed nevertheless, so that it does not end a later state.
    const isResumed = !isBroken && this.#latch.takeLifted();
    if (isResumed && (engine.haltedBecause ?? engine.reducingBecause) !== null) step({ kind: 'resume', at: time() });
    if (!isBroken) this.#latchLoss();
    for (const each of this.#books) this.#lookAtBook(each, isBroken);
    watchHalt(this.#ofAccount, this.#latch, time(), isBroken, step);
    watchReduce(this.#ofAccount, this.#latch, time(), step);
    this.#spread();
    this.#watchPauses(this.#books);
  }

  /**
   * Latches reduce-only for the account because of a loss. Called before a resume of a book is applied, because the
   * resume restarts the measurement of the book's losses.
   */
  #latchLoss(): void {
    const reason = this.#ofAccount.reducingBecause;
    const isLoss = reason !== null && this.#engine.books.some(book => book.reducingLoss === reason);
    if (isLoss && this.#latch.readReduce() === null && !this.#latch.isLifting())
      this.#latch.setReduce({ reason, at: this.#run.time(), by: 'bot' });
  }

  #lookAtBook(of: LatchedBook, isBroken: boolean): void {
    const { book, latch, step } = of;
    const at = this.#run.time();
    if (book.haltedBecause === null) of.halt = null;
    if (book.reducingBecause === null) of.reduce = null;
    const isResumed = !isBroken && latch.takeLifted();
    const isAccountHalted = this.#latch.read() !== null;
    const reduce = this.#latch.readReduce();
    // Halt and reduce-only of the account stay; their resume comes later.
    const ends = book.haltedBecause ?? (reduce === null ? book.reducingBecause : null);
    if (isResumed && !isAccountHalted && ends !== null) {
      step({ kind: 'resume', at });
      if (reduce !== null) this.#run.step({ kind: 'reduce', symbol: book.symbol, at, reason: reduce.reason });
    }
    if (isResumed && isAccountHalted && this.#isOwnReduce(of) && reduce === null) step({ kind: 'reduced', at });
    // The remaining stops are of the account, and are not latched for the book again.
    if (isResumed) [of.halt, of.reduce] = [null, null];
    if (book.haltedBecause === null || (this.#isOwnHalt(of) && !isAccountHalted))
      watchHalt(book, latch, at, isBroken, step);
    const isBeyondLimit = book.reducingBecause === RESUMED_BEYOND_LIMIT && this.#isOfOneBook;
    if (book.reducingBecause === null || this.#isOwnReduce(of) || isBeyondLimit) {
      watchReduce(book, latch, at, step);
      if (isBeyondLimit) of.reduce = book.reducingBecause;
    }
  }

  /** Whether inventory beyond its limit after a resume sets only its own book reduce-only. */
  get #isOfOneBook(): boolean {
    return this.#engine.books.length > 1 && this.#books.length > 0 && this.#latch.readReduce() === null;
  }

  #isOwnHalt({ book, halt }: LatchedBook): boolean {
    return book.haltedBecause !== null && book.haltedBecause === halt;
  }

  #isOwnReduce({ book, reduce }: LatchedBook): boolean {
    return book.reducingBecause !== null && book.reducingBecause === reduce;
  }

  /**
   * Symbols of the books that only a stop of their own has halted. Empty if the whole bot is halted, even by a halt
   * that could not be written to disk.
   */
  get haltedAlone(): readonly string[] {
    if ((this.#ofAccount.haltedBecause ?? this.#latch.read()) !== null) return [];
    return this.#books.filter(of => this.#isOwnHalt(of)).map(({ book }) => book.symbol);
  }

  /** State of the engine without what only the latch of a book sets. */
  get #ofAccount(): Pick<Engine, 'haltedBecause' | 'reducingBecause' | 'isWithinLimit'> {
    const { isWithinLimit } = this.#engine;
    const halts = this.#books.filter(of => this.#isOwnHalt(of)).map(({ book }) => book);
    const isOfOneBook = this.#isOfOneBook;
    const reduces = this.#books
      .filter(of => this.#isOwnReduce(of) || (isOfOneBook && of.book.reducingBecause === RESUMED_BEYOND_LIMIT))
      .map(({ book }) => book);
    return {
      haltedBecause: this.#first(halts, 'haltedBecause', () => this.#latch.read()),
      reducingBecause:
        this.#first(reduces, 'reducingBecause', () => this.#latch.readReduce()) ??
        // A loss makes the whole account reduce-only, even if its book was already reduce-only for another reason.
        reduces.find(book => book.reducingLoss !== null)?.reducingLoss ??
        null,
      isWithinLimit,
    };
  }

  /**
   * Returns the first reason among the books that are not in `own`. If all are, a latch of the account needs no further
   * event, so the first reason of any book is returned.
   */
  #first(
    own: readonly BookEngine[],
    what: 'haltedBecause' | 'reducingBecause',
    latched: () => Halt | null,
  ): string | null {
    if (own.length === 0) return this.#engine[what];
    const others = this.#engine.books.filter(book => !own.includes(book));
    if (others.length === 0) return latched() === null ? null : this.#engine[what];
    return others.find(book => book[what] !== null)?.[what] ?? null;
  }

  /**
   * Applies a halt or reduce-only state of one book to the other books, because the latch is for the whole account. A
   * state that is no longer latched is not applied, because this would undo the resume that is about to end it.
   */
  #spread(): void {
    const { step, time } = this.#run;
    const { books } = this.#engine;
    const { haltedBecause: halt, reducingBecause: reduce } = this.#ofAccount;
    if (books.length === 1 || (halt === null && reduce === null) || this.#latch.isLifting()) return;
    if (halt !== null && this.#latch.read() !== null && books.some(book => book.haltedBecause === null))
      step({ kind: 'halt', at: time(), reason: halt });
    if (reduce !== null && this.#latch.readReduce() !== null && books.some(book => book.reducingBecause === null))
      step({ kind: 'reduce', at: time(), reason: reduce });
  }

  /**
   * Pauses exactly these books, so that their orders end and no new order is placed. In the other books, only the
   * pauses of the latches continue.
   */
  leave(symbols: readonly string[]): void {
    for (const of of this.#books) {
      const isLeaving = symbols.includes(of.book.symbol);
      if (of.isLeaving === isLeaving) continue;
      of.isLeaving = isLeaving;
      const [at, reason] = [this.#run.time(), isLeaving ? LEAVING : (this.#pause ?? of.pause)];
      of.step(reason === null ? { kind: 'pause over', at } : { kind: 'pause', at, reason });
    }
  }

  #watchPauses(books: readonly LatchedBook[]): void {
    watchPause({ pausedBecause: this.#pause }, this.#latch, this.#run, event => this.#stepPause(event));
    for (const of of books) {
      const stepOwn = (event: EngineEvent) => {
        of.pause = event.kind === 'pause' ? event.reason : null;
        if (this.#pause === null && !of.isLeaving) of.step(event);
      };
      watchPause({ pausedBecause: of.pause }, of.latch, { ...this.#run, log: of.log }, stepOwn);
    }
  }

  /**
   * Applies a pause of the account, or its end, after which the pauses of single books continue. A book that the bot
   * will no longer have stays paused for that reason.
   */
  #stepPause(event: EngineEvent): void {
    const isPause = event.kind === 'pause';
    this.#pause = isPause ? event.reason : null;
    const ofAll = this.#books.every(({ pause, isLeaving }) => !isLeaving && (isPause || pause === null));
    if (ofAll) return this.#run.step(event);
    for (const { pause, step, isLeaving } of this.#books)
      if (!isLeaving) step(isPause || pause === null ? event : { kind: 'pause', at: event.at, reason: pause });
  }
}
