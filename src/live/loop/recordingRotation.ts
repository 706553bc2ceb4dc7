/**
 * Rotation of runs in one process. A run stops when its recording reaches a maximum size or the configuration changes.
 * The next run starts as after a restart, with a new number, engine and recording. Every recording can therefore be
 * replayed from its start.
 */
import { sleep, textOfError, type BookEngine, type MarketStream, type Millis, type Order } from '../../core/index.ts';
import type { Journal } from '../state/journal.ts';
import type { Latch } from '../safety/latch.ts';
import type { ExchangeSide, StateSide, StopReport } from './loopOptions.ts';
import { CannotStart, readOnce, readRulesOfBooks, type RulesOfBooks } from './opening.ts';
import type { OtherBook } from './otherBooks.ts';
import { Run, symbolsOfRun, type RunOpening } from './run.ts';

/** Further book of the runs; `newStream` creates the stream of one run. */
export type RotatedBook = Omit<OtherBook, 'stream'> & { readonly newStream?: () => MarketStream | undefined };

export type RotationOptions = Omit<RunOpening, 'rules' | 'venue' | 'others'> & {
  /** Further books of the account, besides the first. Default: none. */
  readonly others?: readonly RotatedBook[];
  readonly venue: Omit<ExchangeSide, 'stream'> & {
    /** Creates the stream of one run. */
    readonly newStream?: () => MarketStream | undefined;
  };
  readonly roll: {
    readonly afterMs: Millis;
    /**
     * Size of a recording, in bytes, at which the run ends. At twice this size, the run ends even if the state of some
     * orders is unknown.
     */
    readonly bytes: number;
    /** Maximum size of the recordings of earlier runs, in bytes. Default: the limit of the open journal. */
    readonly recordings?: number;
    /** Called between two runs, with the ended run and the journal of the next run. */
    readonly onRolled?: (ended: Run, journal: Journal) => void;
  };
};

/** Options of a run that depend on its configuration; `setup` is the configuration as text. */
export type RunSetup = { readonly setup: string; readonly leaving: readonly string[] } & Pick<
  RotationOptions,
  'beside' | 'timing' | 'sharedReads' | 'watchers' | 'makeEngine' | 'roll' | 'others' | 'smallestUntil'
>;

/** Result of a request to change runs. `kept`: the old configuration stays in use, for the reason `why`. */
export type Reloaded =
  | {
      readonly kind: 'taken';
      readonly run: number;
      readonly ms: Millis;
      /** Origin ids of the previous run's orders whose end was not verified; the next run looks up these orders. */
      readonly left: readonly string[];
      /** Reason why the open orders could not be read; absent if they were read. */
      readonly unread?: string;
    }
  | {
      readonly kind: 'kept';
      readonly why: string;
      /** Remedy for the operator, as a clause; absent if none is known. */
      readonly remedy?: string;
    };

/**
 * Request to change runs. `next` is `null` if the configuration stays; the change is then immediate, even if the state
 * of some orders is unknown. `givesWay`: whether a later request replaces this one.
 */
type Asked = {
  readonly next: RunSetup | null;
  readonly givesWay: boolean;
  readonly since: Millis;
  tell(end: Reloaded): void;
};

const LOOK_EVERY_MS = 5_000;
/** Interval of checks while a change of runs waits until the state of every order is known. */
const ASKED_LOOK_EVERY_MS = 250;
/**
 * Maximum wait of a request to change runs. With the default timing, the state of every order becomes known earlier.
 */
const ASKED_WAIT_MAX_MS = 120_000;
const NOT_IN_TIME = `the next run could not start within ${ASKED_WAIT_MAX_MS / 1000} s, because`;
const NOT_KNOWN = `${NOT_IN_TIME} the outcome of a request stayed unknown or the exchange could not be read`;
const RELOAD_AGAIN = 'reload again when the order is settled';
const STOPPING = 'the bot is stopping';
const GAVE_WAY = 'another request replaced this one';
const OTHER = 'the bot is already changing to another run; retry when the new run has started';

export class RecordingRotation {
  /** Options of the current run. */
  #options: RotationOptions;
  readonly #stopping = new AbortController();
  #journal: Journal;
  #run: Run;
  #startedAt: Millis;
  #onFailure: () => void = () => undefined;
  #watching: Promise<void> = Promise.resolve();
  /** Report of the ended run; `null` while a run is open. */
  #ended: StopReport | null = null;
  /** Pending request to change runs. */
  #asked: Asked | null = null;
  /** Last logged reason why no next run can start. */
  #whyNotNext: string | null = null;
  /** Whether the last read of the rules failed. */
  #isUnread = false;
  /** Controller whose abort ends the pause before the next check. */
  #wake = new AbortController();
  #isOver = false;
  /** Configuration as text for the next recording; `null` if the current recording has the same configuration. */
  #setup: string | null = null;

  /** Opens the first run. Rejects with `CannotStart` if the exchange does not allow the start. */
  static async open(options: RotationOptions): Promise<RecordingRotation> {
    let rotation: RecordingRotation | null = null;
    const watched: RotationOptions = {
      ...options,
      onNews: (news, rules, books) => {
        options.onNews?.(news, rules, books);
        if (news.kind === 'quoting' && news.reason === 'rules of the book changed') rotation?.stopWaiting();
      },
    };
    return (rotation = new RecordingRotation(watched, await openRun(watched)));
  }

  /** Called only by `RecordingRotation.open`. */
  private constructor(options: RotationOptions, run: Run) {
    this.#options = options;
    this.#journal = options.state.journal;
    this.#run = run;
    this.#startedAt = options.clock.elapsed();
  }

  /** Current run, which quotes or is being stopped. */
  get run(): Run {
    return this.#run;
  }

  /** Starts to quote. `onFailure` is called once, after an error that requires a stop. */
  start(onFailure: () => void): void {
    this.#onFailure = onFailure;
    this.#run.start(onFailure);
    this.#leave();
    this.#watching = this.#watch();
  }

  /** Ends the current run, or waits for its end. Call `stop` once. */
  async stop(): Promise<StopReport> {
    this.#stopping.abort();
    this.#wake.abort();
    await this.#watching;
    return this.#ended ?? this.#run.stop();
  }

  /**
   * Starts the next run with another configuration as soon as the state of every order is known. If the new engine
   * cannot be created, the current run continues. If the next run cannot start, a run with the old configuration
   * starts. Books that the next run does not have are paused until their orders have ended and are booked. Accepts only
   * one request at a time.
   */
  reload(next: RunSetup): Promise<Reloaded> {
    return this.#ask(next);
  }

  /** Reloads as `reload` does, for a change by the bot itself. Any request by the operator replaces this request. */
  reloadAfterOthers(next: RunSetup): Promise<Reloaded> {
    return this.#ask(next, true);
  }

  /**
   * Whether the state of every order is known, except of orders in the books that this run has only until they settle.
   */
  get isCalm(): boolean {
    const { account, books, elsewhere } = this.#run.engine;
    const { leaving = [] } = this.#options;
    const isConverting = account.isConverting || (elsewhere?.openOrders ?? 0) > 0;
    const staying = books.filter(({ symbol }) => !leaving.includes(symbol));
    return account.isReconciled && !isConverting && staying.every(({ unfinished }) => unfinished.every(isFound));
  }

  /** Returns those of the given books that have orders which may be live or may still be filled. */
  unsettledOf(symbols: readonly string[]): readonly string[] {
    const { books } = this.#run.engine;
    return symbols.filter(symbol => books.some(book => book.symbol === symbol && book.unfinished.length > 0));
  }

  /**
   * Ends the current run, which cancels and verifies its orders, and starts another run of the same configuration. The
   * new run looks up the orders whose state is unknown. If no run could start, resolves to `kept` and cancels nothing.
   */
  restartRun(): Promise<Reloaded> {
    return this.#ask(null);
  }

  /**
   * Stores the text of a configuration that took effect without a new run, for the next recording. Refuses a pending
   * request by the bot itself, which has an older configuration.
   */
  keepSetup(setup: string): void {
    this.#setup = setup;
    if (this.#asked?.givesWay === true) this.#answer({ kind: 'kept', why: GAVE_WAY });
  }

  /** Checks immediately whether a next run can start. Called when the current run cannot quote under changed rules. */
  stopWaiting(): void {
    this.#wake.abort();
  }

  #ask(next: RunSetup | null, givesWay = false): Promise<Reloaded> {
    if (this.#isOver) return Promise.resolve({ kind: 'kept', why: STOPPING });
    if (this.#asked !== null && (givesWay || !this.#asked.givesWay))
      return Promise.resolve({ kind: 'kept', why: OTHER });
    this.#answer({ kind: 'kept', why: GAVE_WAY });
    return new Promise(tell => {
      this.#asked = { next, givesWay, since: this.#options.clock.elapsed(), tell };
      this.#wake.abort();
    });
  }

  /**
   * Symbols of the books of the next run: those of the pending request, or those of the current run without a request.
   */
  get #nextSymbols(): readonly [string, ...string[]] {
    return symbolsOfRun({ ...this.#options, ...this.#asked?.next });
  }

  /** Whether the rules are those of exactly the books of the next run, in the same order. */
  #areOfNext({ rules, others }: RulesOfBooks): boolean {
    return [rules, ...others].map(({ instrument }) => instrument.symbol).join() === this.#nextSymbols.join();
  }

  /** Whether the run of the pending request has other books than the current run, or another order of them. */
  #changesBooks(): boolean {
    return this.#nextSymbols.join() !== symbolsOfRun(this.#options).join();
  }

  /** Returns the books of the current run that the run of the pending request does not have. */
  #leaving(): readonly BookEngine[] {
    const symbols = this.#nextSymbols;
    return this.#run.engine.books.filter(({ symbol }) => !symbols.includes(symbol));
  }

  /** Returns the leaving books that have orders which may be live or may still be filled. */
  #unsettled(): readonly string[] {
    return this.unsettledOf(this.#leaving().map(({ symbol }) => symbol));
  }

  /** Returns the leaving books in which an order of the ended run may still be open. */
  #lost(): readonly string[] {
    const { engine } = this.#run;
    const open = this.#ended?.left.map(id => engine.bookWith(id)?.symbol);
    return this.#leaving().flatMap(({ symbol }) => (open?.includes(symbol) === true ? [symbol] : []));
  }

  /**
   * Pauses the books that the options of this run or the pending request remove, so that their orders end before a
   * change of runs.
   */
  #leave(): void {
    this.#run.leave([...(this.#options.leaving ?? []), ...this.#leaving().map(({ symbol }) => symbol)]);
  }

  /** Refuses the pending request; the current run continues with its books. */
  #keep(why: string, remedy?: string): void {
    this.#answer({ kind: 'kept', why, ...(remedy === undefined ? {} : { remedy }) });
    this.#leave();
  }

  /** Answers the pending request. */
  #answer(end: Reloaded): void {
    const asked = this.#asked;
    this.#asked = null;
    asked?.tell(end);
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      if (this.#asked === null) this.#wake = new AbortController();
      const isSoon = this.#asked !== null || (this.#run.engine.isOutdated && this.#whyNotNext === null);
      const pause = !isSoon || this.#isUnread ? LOOK_EVERY_MS : ASKED_LOOK_EVERY_MS;
      await sleep(clock, pause, this.#asked === null ? this.#wake.signal : signal);
      if (signal.aborted) break;
      this.#leave();
      const rules = await this.#rulesToRollWith();
      if (signal.aborted) break;
      const hasOtherBooks = this.#changesBooks();
      if (this.#asked !== null && clock.elapsed() - this.#asked.since > ASKED_WAIT_MAX_MS) {
        const open = this.#unsettled();
        const unread = this.#isUnread ? this.#run.unreadBook : null;
        if (open.length === 0)
          this.#keep(unread === null ? NOT_KNOWN : `${NOT_IN_TIME} the rules of ${unread} could not be read`);
        else
          this.#keep(
            `${open.join(', ')}: the outcome of an order stayed unknown for ${ASKED_WAIT_MAX_MS / 1000} s, so the book was not removed`,
            RELOAD_AGAIN,
          );
        if (hasOtherBooks) continue;
      }
      // A request that adds or removes books may have arrived while the rules were read.
      if (rules === null || !this.#areOfNext(rules) || this.#unsettled().length > 0) continue;
      const isDue = this.#isDue();
      const refusal = this.#asked === null ? null : this.#refusalOf(this.#asked.next ?? this.#options, rules);
      if (refusal !== null) {
        this.#keep(refusal);
        if (hasOtherBooks) continue;
      }
      if (this.#asked === null && (!isDue || this.#mustStay(rules))) continue;
      await this.#roll(rules);
      if (this.#ended !== null) break;
    }
    this.#isOver = true;
    this.#answer({ kind: 'kept', why: STOPPING });
  }

  /** Returns why the engine of a next run cannot be created; `null` if it can be created. */
  #refusalOf({ makeEngine }: Pick<RunSetup, 'makeEngine'>, { rules, others }: RulesOfBooks): string | null {
    try {
      makeEngine(rules, () => undefined, this.#journal.run + 1, others);
      return null;
    } catch (error) {
      return textOfError(error);
    }
  }

  /** Whether the current run must continue, because no run of the same configuration could start. */
  #mustStay(rules: RulesOfBooks): boolean {
    const { log, roll } = this.#options;
    const why = this.#refusalOf(this.#options, rules);
    const isTold = why === this.#whyNotNext;
    this.#whyNotNext = why;
    // A run that can quote no book, or whose recording has twice the size limit, always ends.
    const isIdle = this.#run.engine.books.every(({ isOutdated }) => isOutdated);
    if (why === null || isIdle || this.#journal.recordedBytes() >= 2 * roll.bytes) return false;
    if (!isTold)
      log.error({ run: this.#journal.run }, `the next run could not start, so the current run continues: ${why}`);
    return true;
  }

  #isDue(): boolean {
    const { clock, roll } = this.#options;
    return (
      this.#run.engine.isOutdated ||
      clock.elapsed() - this.#startedAt >= roll.afterMs ||
      this.#journal.recordedBytes() >= roll.bytes
    );
  }

  /**
   * Returns the rules of the books for the next run; `null` if no next run is due, or if it cannot start. Orders whose
   * state is unknown delay the next run, unless the change is urgent.
   */
  async #rulesToRollWith(): Promise<RulesOfBooks | null> {
    const { roll, state } = this.#options;
    const { engine } = this.#run;
    this.#isUnread = false;
    const bytes = this.#journal.recordedBytes();
    if (this.#asked === null && !this.#isDue()) return null;
    // The next run needs a ledger, and would lose a halt or reduce-only that is not on disk.
    const losesHalt = () => engine.books.some(book => isUnlatched(book, state));
    if (engine.ledger([]) === null || losesHalt()) return null;
    const isCalm = this.#unsettled().length === 0 && this.isCalm;
    const isAtOnce = this.#asked?.next === null;
    if (!isCalm && !isAtOnce && bytes < 2 * roll.bytes) return null;
    // A recent read of the rules found the changed tick or lot, so no further read is needed.
    const nextRules = this.#run.nextRules();
    if (engine.isOutdated && nextRules !== null) return this.#ofNextBooks(nextRules);
    // If the rules of a book cannot be read, the next run could not read them either, and starts only if the recording
    // has become too long. The rules that were read also apply to the current run, which continues if the next one
    // cannot start.
    const read = await this.#run.readRules(this.#nextSymbols);
    this.#isUnread = read === null;
    const isTooLong = this.#asked === null && bytes >= 2 * roll.bytes;
    const rules = read ?? (isTooLong ? this.#run.lastRules : null);
    const ofNext = rules === null ? null : await this.#ofNextBooks(rules);
    // The run may have halted meanwhile.
    return losesHalt() ? null : ofNext;
  }

  /**
   * Returns the rules of the books of the next run. Reads the rules of books that the current run does not have.
   * Returns `null` if some cannot be read. Refuses the pending request if a later read cannot succeed either.
   */
  async #ofNextBooks(known: RulesOfBooks): Promise<RulesOfBooks | null> {
    if (!this.#changesBooks()) return known;
    try {
      return await readRulesOfBooks(this.#options.venue.exchange, this.#nextSymbols, known, readOnce);
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error;
      if (error.mayPass) this.#isUnread = true;
      else this.#keep(error.message);
      return null;
    }
  }

  async #roll(known: RulesOfBooks): Promise<void> {
    const { clock, log } = this.#options;
    const ended = this.#run;
    const from = clock.elapsed();
    const last = this.#journal.run;
    const rolledFor = this.#asked;
    const why = ended.engine.isOutdated
      ? 'uses a tick or lot size that the exchange has changed'
      : this.#asked === null
        ? 'has reached its maximum duration or recording size'
        : this.#asked.next === null
          ? 'ends because the operator canceled every order'
          : 'ends because a new configuration applies';
    log.info({ run: last, bytes: this.#journal.recordedBytes() }, `run ${last} ${why}; the next run takes over`);
    // With an outdated tick, the ended run does not compare its ledger with the balances. The next run does so before
    // it quotes.
    this.#ended = await ended.stop(ended.engine.isOutdated);
    const { failure, left, unread } = this.#ended;
    if (failure !== null) return;
    const lost = this.#lost();
    // The next run keeps the books of the current run, and looks up the order.
    if (lost.length > 0)
      this.#answer({
        kind: 'kept',
        why: `${lost.join(', ')}: an order may still be open (${left.join(', ')}), so the book cannot be removed`,
        remedy: RELOAD_AGAIN,
      });
    const taken = await this.#openNext(known, rolledFor);
    if (this.#run === ended) return;
    this.#options.roll.onRolled?.(ended, this.#journal);
    this.#ended = null;
    this.#startedAt = clock.elapsed();
    this.#run.start(this.#onFailure);
    const ms = clock.elapsed() - from;
    log.info({ run: this.#journal.run, ms }, `run ${this.#journal.run} took over`);
    // A request that arrived while the run was opened waits for the next change of runs.
    if (taken !== null)
      this.#answer({ kind: 'taken', run: this.#journal.run, ms, left, ...(unread === undefined ? {} : { unread }) });
  }

  /**
   * Tries until the next run is open or the process stops. If the first try with a new configuration fails, the next
   * tries use the old configuration. `rolledFor`: request for which the run was ended. Returns the request whose
   * configuration the new run has; `null` if none does.
   */
  async #openNext(known: RulesOfBooks, rolledFor: Asked | null): Promise<Asked | null> {
    const before = { options: this.#options, setup: this.#journal.setup };
    const { engine, lastRules: last } = this.#run;
    const failures = engine.quoteLogs.map(({ failure }) => failure);
    const { clock, log, venue } = before.options;
    let rules: RulesOfBooks | null = known;
    while (!this.#stopping.signal.aborted) {
      // Another request may arrive while this attempt waits for the exchange, so the attempt keeps its own request. A
      // new request that removes books waits until their orders are settled.
      const asked =
        this.#asked === rolledFor || [...this.#unsettled(), ...this.#lost()].length === 0 ? this.#asked : null;
      const keptSetup = this.#setup;
      const { setup = keptSetup ?? before.setup, ...parts } = asked?.next ?? {};
      const options = { ...before.options, ...parts };
      try {
        this.#journal = this.#journal.next(clock.now(), setup, options.roll.recordings);
        // A failed strategy stays failed in the next run, unless a reload creates it again.
        const makeEngine = asked?.next ? options.makeEngine : withFailures(options.makeEngine, failures);
        const next = await readRulesOfBooks(venue.exchange, symbolsOfRun(options), rules, readOnce, last);
        this.#run = await openRun({
          ...options,
          ...{ makeEngine, rules: next, isNext: true, stopping: this.#stopping.signal },
          state: { ...options.state, journal: this.#journal },
        });
        this.#options = options;
        if (this.#setup === keptSetup) this.#setup = null;
        return asked;
      } catch (error) {
        const why = textOfError(error);
        // The rules may be the cause of the failure, so the next try reads them again.
        rules = null;
        if (asked !== null && asked.next !== null) {
          log.error(
            { error: String(error) },
            `the next run cannot start with the new configuration; the previous configuration applies again: ${why}`,
          );
          this.#answer({ kind: 'kept', why });
          continue;
        }
        log.error(
          { error: String(error) },
          `the next run cannot start yet, and nothing is quoted until it starts: ${why}`,
        );
        await sleep(clock, LOOK_EVERY_MS, this.#stopping.signal);
      }
      if (this.#asked !== null && clock.elapsed() - this.#asked.since > ASKED_WAIT_MAX_MS)
        this.#answer({ kind: 'kept', why: NOT_KNOWN });
    }
    return null;
  }
}

/** Returns `makeEngine`, but with strategies that have already failed with these errors; `null` for no error. */
const withFailures =
  (makeEngine: RunSetup['makeEngine'], failures: readonly (string | null)[]): RunSetup['makeEngine'] =>
  (...args) => {
    const engine = makeEngine(...args);
    for (const [i, failure] of failures.entries()) if (failure !== null) engine.quoteLogs[i]?.fail(failure);
    return engine;
  };

/** Whether the next run can learn the state of the order from the exchange without waiting. */
const isFound = ({ state, ending }: Order): boolean =>
  state !== 'unknown' && !(state === 'closed-unsettled' && ending !== 'canceled' && ending !== 'filled');

function openRun(options: RotationOptions & Pick<RunOpening, 'rules' | 'stopping'>): Promise<Run> {
  const { newStream, ...venue } = options.venue;
  const others = options.others?.map(({ newStream: newOne, ...book }) => ({ ...book, stream: newOne?.() }));
  return Run.open({ ...options, venue: { ...venue, stream: newStream?.() }, ...(others && { others }) });
}

/** Whether a book is halted or reduce-only and no latch has it. */
function isUnlatched(
  { symbol, haltedBecause, reducingBecause }: Pick<BookEngine, 'symbol' | 'haltedBecause' | 'reducingBecause'>,
  { latch, latchOf }: Pick<StateSide, 'latch' | 'latchOf'>,
): boolean {
  if (haltedBecause === null && reducingBecause === null) return false;
  const latches = [latch, ...(latchOf === undefined ? [] : [latchOf(symbol)])];
  const isIn = (read: (of: Pick<Latch, 'read' | 'readReduce'>) => unknown) => latches.some(of => read(of) !== null);
  return (
    (haltedBecause !== null && !isIn(of => of.read())) || (reducingBecause !== null && !isIn(of => of.readReduce()))
  );
}
