/** Run of the bot in real time, from its first read to its verified end: engine, reads, commands and recording. */
import { setMaxListeners } from 'node:events';
import {
  approveByIds,
  balancesEveryMs,
  bookStatesIn,
  counted,
  isBookEvent,
  sleep,
  textOfError,
  type Approved,
  type Command,
  type Engine,
  type EngineEvent,
  type EngineNews,
  type Millis,
  type PlaceCommand,
} from '../../core/index.ts';
import { ElsewhereReads, elsewhereSetupOf, stateElsewhere, type Hedger } from '../../hedge/index.ts';
import { BalanceReads } from '../account/balanceReads.ts';
import { judgmentBy, unreadableOf } from '../unreadableRows.ts';
import { cancelAll } from '../safety/cancelAllAndVerify.ts';
import { decisionTimer } from './decisionTimer.ts';
import { EventQueue } from './eventQueue.ts';
import { BookBudgets, type BookBudgetUse } from './bookBudgets.ts';
import { hedgerOf } from './runHedger.ts';
import { addedText, heldLeftElsewhere, hedgesToContinue, openHedgeElsewhere } from './elsewhereHedging.ts';
import { ElsewhereTransfers } from './elsewhereTransfers.ts';
import { LedgerKeeper } from '../account/ledgerKeeper.ts';
import { MarketData, type MarketDataStatus } from '../market/marketData.ts';
import type { LoopOptions, RunParts, StopReport } from './loopOptions.ts';
import { contextOfBook, type OtherBook } from './otherBooks.ts';
import {
  absentBooksText,
  journalInUnits,
  readRulesOfBooks,
  resolveOpening,
  type ListedBooks,
  type RulesOfBooks,
} from './opening.ts';
import type { BookLatch } from '../safety/bookLatch.ts';
import { retryingLatch, type Halt } from '../safety/latch.ts';
import type { Rules } from '../rules.ts';
import type { RunContext } from '../runContext.ts';
import { blockedReason } from '../safety/blockedReason.ts';
import { LineWriter } from '../recording/recording.ts';
import { missingBalance, Reads } from '../account/reads.ts';
import { isFailed, type Failed } from '../failedRequest.ts';
import { ConnectivityLog } from '../connectivityLog.ts';
import { Refusals } from '../safety/refusals.ts';
import { historiesOf } from './history.ts';
import { repeat } from './repeat.ts';
import { RulesReads } from './rulesReads.ts';
import { applyPendingSettlements } from '../state/settlements.ts';
import { LatchWatch } from '../safety/latchWatch.ts';
import { SentinelWatch } from '../safety/sentinelWatch.ts';
import { send } from './sends.ts';
import { rfqReferenceReadsOf } from '../market/rfqReferenceReads.ts';
import { LOOK_EVERY_MS, SleepWatch } from '../safety/sleepWatch.ts';

const RULES_LOOK_EVERY_MS = 500;
/** Interval of balance reads until the balances first equal the ledger. The bot does not quote until then. */
const FIRST_BALANCES_EVERY_MS = 2_000;
const FLUSH_EVERY_MS = 1_000;
const PLACE_LOOK_EVERY_MS = 500;
const LATCH_EVERY_MS = 2_000;
const STOPPING_READ_EVERY_MS = 500;
const EMPTY_READS_TO_STOP = 2;

/** Options of a run without its engine, which needs the rules of the book. */
export type RunOpening = RunParts & {
  /** Creates the engine. @throws Error with a one-line message if the run must not start. */
  readonly makeEngine: (rules: Rules, onNews: OnNews, run: number, others: readonly Rules[]) => Engine;
  /** Aborts when the bot stops while the run is opened. Default: never. */
  readonly stopping?: AbortSignal;
  /** Rules of the books. If absent, `open` reads them from the exchange. */
  readonly rules?: RulesOfBooks;
  /** Further books of the account, besides that of `bot`. Default: none. */
  readonly others?: readonly OtherBook[];
  /**
   * Called with news of the engine and the rules of the book that it concerns, during the step that causes the news.
   * `books`: number of books of the run.
   */
  readonly onNews?: (news: EngineNews, rules: Rules, books: number) => void;
  /** Currencies whose balance is zero according to the operator, so that the exchange need not list them. */
  readonly openingZero?: readonly string[];
  /** Time between the two equal reads of the balances that open a ledger. Default: 0. */
  readonly openingApartMs?: Millis;
  /**
   * Whether this run follows another run of the process, so that heartbeats continue while it opens. Default: false.
   */
  readonly isNext?: boolean;
};

/** Returns the symbols of the books of a run with these options, that of the first book first. */
export const symbolsOfRun = ({
  bot,
  others = [],
}: Pick<RunOpening, 'bot' | 'others'>): readonly [string, ...string[]] => [bot.book, ...others.map(({ book }) => book)];

type OnNews = (news: EngineNews, symbol?: string) => void;

const symbolsOf = (rules: Iterable<RulesReads>): ReadonlySet<string> =>
  new Set(Array.from(rules, ({ known }) => known.instrument.symbol));

/** Returns the last known rules of books, with changed ticks and lots. */
function lastRulesOf(reads: readonly RulesReads[]): RulesOfBooks {
  const [rules, ...others] = reads.map(({ known, next }) => next ?? known);
  const removed = reads.filter(({ isRemoved }) => isRemoved).map(({ known }) => known.instrument.symbol);
  return { rules: rules!, others, removed };
}

export class Run {
  readonly #options: LoopOptions;
  readonly #run: RunContext;
  readonly #reads: Reads;
  /** Market data of all books, that of the first book first. */
  readonly #markets: readonly (readonly [symbol: string, market: MarketData])[];
  readonly #stopping = new AbortController();
  readonly #tasks: Promise<void>[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #origin: Millis;
  readonly #writer = new LineWriter();
  readonly #balances: BalanceReads;
  readonly #keeper: LedgerKeeper;
  readonly #connectivity: ConnectivityLog;
  readonly #refusals: Refusals;
  readonly #sleep: SleepWatch;
  readonly #hedger: Hedger | null;
  /** Reads of the balances on the other exchange; `null` if the bot does not hedge there. */
  readonly #elsewhereReads: ElsewhereReads | null;
  readonly #elsewhereTransfers: ElsewhereTransfers | null;
  /** Rules of all books, those of the first book first. */
  readonly #rules: readonly [RulesReads, ...RulesReads[]];
  /** Rules that the last `readRules` could not read; `null` if it read those of all books. */
  #unread: RulesReads | null = null;
  readonly #budgets: BookBudgets;
  readonly #latch: LatchWatch;
  /** Latches of single books, by symbol; empty if they have none of their own. */
  readonly #latches: ReadonlyMap<string, BookLatch>;
  readonly #queue = new EventQueue({
    prepare: event => this.#prepare(event),
    step: event => this.#takeStep(event),
    onEndless: () => this.#fail(new Error('one event caused an endless chain of further events')),
  });
  #isStepping = false;
  /** Whether the stop has returned. The next run may write to the state from then on. */
  #isOver = false;
  #failure: string | null = null;
  /** Orders of earlier runs that the engine may not have, because it failed while it restored them. */
  #unrestored: readonly string[] = [];
  readonly #sentinel: SentinelWatch;
  #onFailure: (() => void) | null = null;

  /**
   * Opens a run: reads everything that its start needs. Rejects with `CannotStart` if the exchange does not allow the
   * start.
   */
  static async open(options: RunOpening): Promise<Run> {
    const { log, venue } = options;
    const latch = retryingLatch(options.state.latch, log);
    const { latchOf } = options.state;
    const {
      rules,
      others,
      removed = [],
    } = options.rules ?? (await readRulesOfBooks(venue.exchange, symbolsOfRun(options), null));
    const books = [rules.instrument, ...others.map(({ instrument }) => instrument)] as const;
    const left = journalInUnits(options.state.journal, books);
    const place = options.beside?.place;
    const settlements = options.state.settlements?.waiting() ?? [];
    const { hedges, settled } = hedgesToContinue(left.leftovers, place, settlements, options.clock.now());
    const journal = { ...left, leftovers: { ...left.leftovers, hedges } };
    const places = heldLeftElsewhere(journal.leftovers, place?.name ?? null);
    if (places !== null) log.warn({}, places);
    const added = addedText(journal.leftovers);
    if (added !== null) log.warn({}, added);
    await place?.rules.open();
    const engine = options.makeEngine(rules, onNews, journal.run, others);
    const { ledger } = journal.leftovers;
    const states = ledger && bookStatesIn(ledger, rules.instrument.symbol);
    const unproven = engine.books.flatMap(book => book.unprovenBases(states?.get(book.symbol) ?? {}));
    if (unproven.length > 0)
      log.warn(
        { sources: unproven },
        `the stored basis of ${unproven.join(', ')} is from an older version of Puntas, which did not record from which books a basis was measured; the bot discards the stored basis and measures a new one. Until the new basis is known, reference.basis.unknown decides whether the source is used`,
      );
    const absent = absentBooksText(ledger, books);
    if (absent !== null) log.warn({}, absent);
    // Reading a history can take seconds, so the account is read after the history.
    const onBeat = options.isNext === true ? () => options.watchers?.onTurn?.(false) : undefined;
    const all = [rules, ...others];
    const histories = await historiesOf({ ...options, onBeat }, engine, all, options.others ?? [], journal.run);
    const opening = await resolveOpening(journal.leftovers, books, options);
    const state = { ...options.state, journal, latch };
    const run: Run = new Run({
      ...options,
      state,
      engine,
      start: { rules, others, removed, opening, settled, histories },
    });
    return run;

    function onNews(news: EngineNews, symbol?: string): void {
      if (news.kind === 'order' && news.news.kind === 'ended') journal.ended(news.news.order.id, news.news.ending);
      // A halt in the latch of one book stays that of this book.
      if (news.kind === 'halted' && latchOf?.(symbol ?? rules.instrument.symbol).read()?.reason !== news.reason)
        latch.set({ reason: news.reason, at: run.time(), by: 'bot' });
      run.#hedger?.onNews(news);
      // The hedger acts after the step, because its own events are steps, and a step must end before the next begins.
      if (news.kind === 'fill') run.#track(Promise.resolve().then(() => run.#hedgeFill()));
      try {
        const concerned = others.find(({ instrument }) => instrument.symbol === symbol) ?? rules;
        options.onNews?.(news, concerned, others.length + 1);
      } catch (error) {
        // An error of the listener must not interrupt the step. The engine completes the step and its commands are
        // recorded; then the run fails.
        void Promise.resolve().then(() => run.reportFailure(error));
      }
    }
  }

  /** Called only by `Run.open`. */
  private constructor(options: LoopOptions) {
    this.#options = options;
    // Each book adds a fixed number of listeners, so many listeners are not a leak.
    setMaxListeners(0, this.#stopping.signal);
    this.#origin = options.clock.now() - options.clock.elapsed();
    const { bot, clock, engine, log, start, state, timing, venue, beside = {} } = options;
    const [{ opening }, { exchange }] = [start, venue];
    const run = { clock, log, time: this.time, step: this.#queue.put };
    this.#run = run;
    const tids = opening.kind === 'restored' ? opening.tids : [];
    const uncounted = opening.kind === 'restored' ? state.journal.leftovers.uncounted : [];
    const [overlapMs, judgment] = [timing.tradeReportDelayMaxMs, judgmentBy(bot.instance, engine, log, exchange)];
    const { others = [] } = options;
    const otherBooks = others.map(({ book }) => book);
    this.#reads = new Reads(
      exchange,
      bot.book,
      opening.lastTid,
      this.time,
      overlapMs,
      tids,
      judgment,
      uncounted,
      otherBooks,
    );
    // A run without a hedger keeps the stored hedges, because one may be open and because daily costs include all
    // hedges.
    const hedges = () => this.#hedger?.rows ?? state.journal.leftovers.hedges;
    this.#connectivity = new ConnectivityLog(log, clock);
    this.#refusals = new Refusals(clock, this.#connectivity);
    const { latchOf } = state;
    this.#latches = new Map(
      latchOf && engine.books.map(({ symbol }) => [symbol, retryingLatch(latchOf(symbol), log)] as const),
    );
    this.#latch = new LatchWatch(run, engine, state.latch, latchOf && (symbol => this.#latches.get(symbol)!));
    this.#sentinel = new SentinelWatch(run, state.latch, bot.resumeCommand, options.watchers?.sentinelAlive);
    const contextOf = (book: string) => (others.length === 0 ? run : contextOfBook(run, book));
    const rulesOf = (book: string, first: Rules) =>
      new RulesReads(
        contextOf(book),
        { exchange, book, first, isOfSeveral: others.length > 0, onList: books => this.#listed(book, books) },
        others.length === 0 ? this.#connectivity : this.#connectivity.ofBook(book),
      );
    this.#rules = [rulesOf(bot.book, start.rules), ...otherBooks.map((book, i) => rulesOf(book, start.others[i]!))];
    const note = (what: string, failed: Failed) => this.#note(what, failed);
    const [readTrades, persist] = [() => this.#readTrades(), () => this.#flush()];
    this.#balances = new BalanceReads({
      ...{ run, engine, readTrades, note, persist },
      connectivity: this.#connectivity,
      reads: this.#reads,
      explained: {
        lists: venue.transferLists,
        adjustments: state.adjustments,
        known: opening.kind === 'restored' ? state.journal.leftovers.transfers : null,
        listAheadMaxMs: timing.transferListDelayMaxMs,
        isBetween: transfer => this.#elsewhereTransfers?.isBetween(transfer) === true,
        isTransferable: currency => this.#elsewhereTransfers?.isTransferable(currency) === true,
        isUnread: currency => this.#elsewhereTransfers?.isUnread(currency) === true,
      },
    });
    const known = () => this.#balances.known;
    const instruments = [start.rules, ...start.others].map(({ instrument }) => instrument);
    this.#keeper = new LedgerKeeper(engine, state.journal, this.#reads, clock, instruments, hedges, known);
    this.#sleep = new SleepWatch(clock);
    const { place } = beside;
    const placed = place
      ? elsewhereSetupOf(place, engine, run, {
          unread: () => this.#elsewhereReads?.unread ?? null,
          readMoved: () => this.#elsewhereReads?.readMoved() ?? Promise.resolve(null),
        })
      : null;
    const currencies = place ? [place.rules.known.instrument.major, place.rules.known.instrument.minor] : [];
    const hasLists = venue.transferLists !== undefined;
    this.#elsewhereTransfers = place
      ? new ElsewhereTransfers({ run, engine, place: place.name, hasLists, currencies })
      : null;
    this.#elsewhereReads =
      place && placed
        ? new ElsewhereReads({
            ...{ run, engine, place, currencies, rate: placed.rate },
            unusable: (outcome, needed) => missingBalance(outcome.value, unreadableOf(outcome), needed),
            onUnread: (why, text) => this.#connectivity.say(`balances ${place.name}`, { place: place.name, why }, text),
            onQuiet: () => this.#elsewhereTransfers?.explain(),
            hedgeState: () => stateElsewhere(this.#hedger?.rows ?? []),
            firstHedges: () => this.#hedger?.firstHedges,
            onCompared: agrees => this.#hedger?.compared(agrees),
          })
        : null;
    this.#hedger = hedgerOf(options, run, {
      place: placed,
      balancesAt: () => this.#reads.balancesAt,
      rules: () => this.rules,
      persist,
      mayAct: () => this.#blockedReason(this.#rules) === null,
    });
    const account = {
      reads: this.#reads,
      readTrades,
      readBalances: () => this.#balances.read(),
      look: (ids: readonly string[]) => this.#lookUp(ids),
    };
    const host = {
      onTurn: () => this.#checkSleep(),
      isWaking: () => this.#sleep.isWaking,
      onBroken: (error: unknown) => this.#fail(error),
    };
    const first = { ...beside, book: bot.book, stream: venue.stream };
    this.#markets = [first, ...others].map(({ book, stream, reference, newLivePrices, pastTrades }, i) => {
      const { tradeReportDelayMaxMs } = timing;
      const canReadLatest = pastTrades?.lists === undefined;
      const { historyMs } = engine.books[i]!;
      const history = start.histories.get(book);
      const market = new MarketData({
        ...{ run: contextOf(book), bot: { ...bot, book }, venue: { exchange, stream }, account, host },
        note: (what, failed) => this.#note(others.length === 0 ? what : `${book} ${what}`, failed, [this.#rules[i]!]),
        ...{ engine: engine.books[i]!, reference, newLivePrices, bookPollMs: timing.bookPollMs },
        instrument: () => this.#rules[i]!.known.instrument,
        history: history && { history, historyMs, tradeReportDelayMaxMs, canReadLatest },
      });
      return [book, market] as const;
    });
    this.#budgets = new BookBudgets({
      ...{ clock, time: this.time, engine, left: () => exchange.budget(), pollMs: timing.bookPollMs },
      markets: this.#markets.map(([, market]) => market),
      instruments: () => this.#rules.map(({ known }) => known.instrument),
      sharedReads: options.sharedReads,
    });
  }

  get engine(): Engine {
    return this.#options.engine;
  }

  /** Last known rules and fees of the book, with the tick and lot of this run. */
  get rules(): Rules {
    return this.#rules[0].known;
  }

  /** Last known rules of each book, with the tick and lot of this run. */
  get rulesOfBooks(): readonly Rules[] {
    return this.#rules.map(({ known }) => known);
  }

  /** State of the market data of each book. */
  get marketStatuses(): readonly MarketDataStatus[] {
    return this.#markets.map(([, { status }]) => status);
  }

  /** Use of the shared request budgets by each book; empty if there is only one book. */
  get budgetUses(): readonly BookBudgetUse[] {
    return this.#markets.length < 2 ? [] : this.#markets.map((_, i) => this.#budgets.use(i));
  }

  /** Market data of the first book. */
  get market(): MarketData {
    return this.#markets[0]![1];
  }

  /** Pauses exactly these books, which the next run will not have, so that their orders end. */
  leave(symbols: readonly string[]): void {
    this.#latch.leave(symbols);
  }

  /** Last known rules of the books, with changed ticks and lots, which only the next run can have. */
  get lastRules(): RulesOfBooks {
    return lastRulesOf(this.#rules);
  }

  /** Returns the rules of the books for the next run; `null` if tick and lot of every book are unchanged. */
  readonly nextRules = (): RulesOfBooks | null =>
    this.#rules.every(({ next }) => next === null) ? null : this.lastRules;

  /**
   * Reads the rules of every book in `symbols` (default: all) and applies them to this run. Books that the exchange no
   * longer lists have their last known rules. Returns `null` if the rules of another book cannot be read.
   */
  readonly readRules = async (symbols?: readonly string[]): Promise<RulesOfBooks | null> => {
    const isRead = ({ known }: RulesReads) => symbols === undefined || symbols.includes(known.instrument.symbol);
    const canRead = async (reads: RulesReads) => (await reads.read()) !== null || reads.isRemoved;
    // A book that could not be read is read alone, so that repeated attempts do not use the budget of the other books.
    const unread = this.#unread !== null && isRead(this.#unread) ? this.#unread : null;
    if (this.#rules.length > 1 && unread !== null && !(await canRead(unread))) return null;
    this.#unread = null;
    const wanted = this.#rules.filter(isRead);
    for (const reads of wanted) {
      if (await canRead(reads)) continue;
      this.#unread = reads;
      return null;
    }
    return lastRulesOf(wanted);
  };

  /** Symbol of the book whose rules the last `readRules` could not read; `null` if it read those of all books. */
  get unreadBook(): string | null {
    return this.#unread?.known.instrument.symbol ?? null;
  }

  /** Returns the engine's time: wall time that never goes back. */
  readonly time = (): Millis => this.#origin + this.#options.clock.elapsed();

  /** Starts to read and quote. `onFailure` is called once, after an error that requires a stop. */
  start(onFailure: () => void): void {
    const { clock, state, timing, beside, engine, log } = this.#options;
    const { opening } = this.#options.start;
    this.#onFailure = onFailure;
    const { orders, ledger: left } = state.journal.leftovers;
    const ledger = opening.kind === 'restored' ? left : null;
    const { smallestUntil = 0 } = this.#options;
    this.#queue.put({ kind: 'restore', at: this.time(), orders, ledger, ...(smallestUntil > 0 && { smallestUntil }) });
    if (this.#failure !== null) this.#unrestored = orders.map(({ id }) => id);
    const { isSmallest, state: first } = engine.firstFills;
    if (isSmallest)
      log.info(
        { ...first },
        `orders have the smallest size until ${counted(smallestUntil, 'fill')} have reconciled with the balances; so far ${first?.reconciled ?? 0} have`,
      );
    this.#latch.begin();
    this.#latch.leave(this.#options.leaving ?? []);
    for (const { known } of this.#rules) {
      const { symbol } = known.instrument;
      this.#queue.put({ kind: 'rules', ...(this.#rules.length > 1 && { symbol }), at: this.time(), ...known });
    }
    for (const rules of this.#rules)
      if (this.#options.start.removed.includes(rules.known.instrument.symbol)) rules.removed();
    for (const history of this.#options.start.histories.values()) this.#queue.put({ ...history, at: this.time() });
    if (opening.kind === 'fresh') {
      const { startedAt, balances } = opening;
      this.#queue.put({ kind: 'balances', at: this.time(), startedAt, quiet: true, balances });
    }
    for (const row of this.#options.start.settled) {
      const [{ known }, ...further] = this.#rules;
      const { symbol } = known.instrument;
      this.#queue.put({ kind: 'hedge', ...(further.length > 0 && { symbol }), at: this.time(), row });
      log.warn({ id: row.id, why: row.why }, `hedge ${row.id}: ${row.why}`);
    }
    this.#hedger?.restore();
    this.#watchLatch();
    this.#repeat(timing.privatePollMs, () => this.#readPrivate());
    const { polls } = this.#budgets;
    for (const [, market] of this.#markets) {
      market.start();
      if (polls === null) this.#repeat(timing.bookPollMs, () => market.poll());
    }
    if (polls !== null)
      // A slow answer must not delay the reads of the other books.
      this.#repeat(
        () => polls.pauseMs,
        async () => {
          const read = polls.turn();
          if (read !== null) this.#track(read);
        },
      );
    this.#tasks.push(this.#decide(this.#stopping.signal));
    this.#repeat(LOOK_EVERY_MS, async () => this.#checkSleep(), LOOK_EVERY_MS);
    this.#repeat(this.#balancesEveryMs, () => this.#balances.read());
    if (this.#hedger) this.#repeat(this.#hedger.everyMs, async () => this.#hedger?.turn());
    const [elsewhereReads, elsewhereRules] = [this.#elsewhereReads, beside?.place?.rules];
    if (elsewhereReads)
      this.#repeat(PLACE_LOOK_EVERY_MS, async () => {
        await elsewhereReads.readWhenDue();
        await elsewhereRules?.refreshWhenDue(clock, log);
      });
    const rfqReference = rfqReferenceReadsOf(beside?.rfqReference, this.#run, engine, () => this.rules.instrument);
    if (rfqReference) this.#repeat(rfqReference.everyMs, () => rfqReference.read());
    this.#repeat(FLUSH_EVERY_MS, async () => this.#flush(), FLUSH_EVERY_MS);
    this.#repeat(LATCH_EVERY_MS, async () => this.#watchLatch(), LATCH_EVERY_MS);
    for (const rules of this.#rules) this.#repeat(RULES_LOOK_EVERY_MS, () => rules.readWhenDue());
  }

  /**
   * Stops placing orders, cancels the bot's orders, and verifies with complete reads that none is open. Starts no such
   * read after `shutdownMs`, then completes the requests in flight. A failed run cancels every order that it knows,
   * regardless of its reads. `isFollowed`: whether a next run compares the balances with the ledger, so that this run
   * need not. Call `stop` once.
   */
  async stop(isFollowed = false): Promise<StopReport> {
    const { clock, engine, timing, venue } = this.#options;
    this.#queue.put({ kind: 'stop', at: this.time() });
    this.#stopping.abort();
    let seen: ReadonlySet<string> = new Set(this.#unrestored);
    const mayLive = () => [...new Set([...engine.liveOrders.map(order => order.id), ...seen])];
    // A failed engine may send no cancels, so the run itself cancels all orders that may be live.
    const cancel = async () => {
      if (this.#failure !== null) await cancelAll({ ...venue, connectivity: this.#connectivity }, mayLive());
    };
    this.#track(cancel());
    await Promise.all([...this.#tasks, ...this.#markets.map(([, market]) => market.stop())]);
    const verified = new AbortController();
    // The engine continues to decide while a read waits for its answer.
    const deciding = this.#decide(verified.signal);
    const deadline = clock.elapsed() + timing.shutdownMs;
    let left = mayLive();
    let unread: string | null = 'open orders were never read';
    for (let empty = 0; empty < EMPTY_READS_TO_STOP && clock.elapsed() < deadline;) {
      this.#beat();
      const read = await this.#readPrivate();
      seen = new Set([...(read.isWhole ? [] : seen), ...read.ids]);
      this.#queue.put({ kind: 'timer', at: this.time() });
      left = mayLive();
      unread = read.isWhole ? null : 'open orders could not be read';
      empty = left.length === 0 && unread === null ? empty + 1 : 0;
      await cancel();
      if (empty < EMPTY_READS_TO_STOP) await sleep(clock, STOPPING_READ_EVERY_MS);
    }
    verified.abort();
    await Promise.all([deciding, ...this.#underWay]);
    await this.#hedger?.settle(deadline, () => Promise.all([this.#readPrivate(), this.#balances.read()]));
    const ledgerMatches = isFollowed ? null : await this.#match();
    await Promise.all(this.#underWay);
    this.#flush(true);
    this.#isOver = true;
    const openHedge = openHedgeElsewhere(this.#hedger?.rows ?? []);
    const { haltedAlone } = this.#latch;
    return {
      left,
      ...(unread === null ? {} : { unread }),
      ...(openHedge === undefined ? {} : { openHedge }),
      ledgerMatches,
      failure: this.#failure,
      ...(haltedAlone.length === 0 ? {} : { haltedAlone }),
    };
  }

  /**
   * Whether the balances of both exchanges equal the ledger; `null` if some could not be read and the others equal it.
   */
  async #match(): Promise<boolean | null> {
    const found = [await this.#balances.match(), await this.#elsewhereReads?.match()];
    if (found.includes(false)) return false;
    return found.includes(null) ? null : true;
  }

  /**
   * Returns the interval until the next read of the balances. The interval is short until the balances first equal the
   * ledger. It is also short after a first difference, because the exchange may record a missing trade late.
   */
  readonly #balancesEveryMs = (): Millis => {
    const { engine, timing } = this.#options;
    const { account } = engine;
    const differedOnce = account.unexplained === null && account.differences().length > 0;
    const isCompared = account.isReconciled && account.checked !== null;
    return isCompared && !differedOnce ? balancesEveryMs(timing.privatePollMs) : FIRST_BALANCES_EVERY_MS;
  };

  #decide(signal: AbortSignal): Promise<void> {
    const { engine, timing } = this.#options;
    return decisionTimer(this.#run, engine, timing.decideEveryMs, signal);
  }

  #repeat(everyMs: Millis | (() => Millis), task: () => Promise<unknown>, delayMs: Millis = 0): void {
    const onBroken = (error: unknown) => this.#fail(error);
    this.#tasks.push(repeat(this.#run.clock, this.#stopping.signal, { everyMs, delayMs, task, onBroken }));
  }

  /**
   * Reads open orders, then trades: the later read has the last trades of an order that the earlier one no longer has.
   * Returns the origin ids of the bot's orders on the list of open orders, and whether the list was complete.
   */
  async #readPrivate(): Promise<{ readonly ids: readonly string[]; readonly isWhole: boolean }> {
    const event = await this.#reads.openOrders();
    const isWhole = await this.#readTrades();
    if (isFailed(event)) {
      this.#note('open_orders', event);
      return { ids: [], isWhole: false };
    }
    this.#refusals.accepted();
    this.#queue.put(event);
    if (isWhole && (event.complete || event.current === true)) this.#options.watchers?.onReconciled?.();
    const prefix = `${this.#options.bot.instance}-`;
    const ids = event.orders.flatMap(({ originId }) => (originId?.startsWith(prefix) ? [originId] : []));
    return { ids, isWhole: event.complete };
  }

  /** Reads the account's trades. Returns whether the read was complete. */
  async #readTrades(): Promise<boolean> {
    const event = await this.#reads.trades();
    if (isFailed(event)) {
      this.#note('user_trades', event);
      return false;
    }
    this.#refusals.accepted();
    this.#queue.put(event);
    return event.complete;
  }

  /**
   * Cancels the quotes after a suspension of the process. The bot quotes again once book and account have been read.
   */
  #checkSleep(): void {
    const ms = this.#sleep.look();
    if (ms === 0) return;
    this.#options.log.warn({ ms }, `process was suspended for ${Math.round(ms / 1000)} s; resynchronizing`);
    for (const [, market] of this.#markets) market.distrust();
    this.#queue.put({ kind: 'slept', at: this.time() });
  }

  /**
   * Detects a suspension before the event, so that the engine does not decide with data from before it. Updates the
   * market data from an event about the bot's orders, so that the engine decides with the newest book.
   */
  #prepare(event: EngineEvent): void {
    this.#checkSleep();
    try {
      for (const [book, market] of this.#markets)
        if (!isBookEvent(event) || event.symbol === undefined || event.symbol === book) market.learn(event);
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Executes one step: records the event, applies it to the engine, and records and executes the commands. Only the
   * queue may call `#takeStep`.
   */
  #takeStep(given: EngineEvent): void {
    if (this.#isStepping)
      throw new Error(`the processing of event ${given.kind} started before that of the previous event had ended`);
    this.#isStepping = true;
    try {
      const { clock, watchers } = this.#options;
      // An event that waited in the queue gets the present time; otherwise the engine would treat old data as recent.
      const now = this.time();
      const event = given.at < now ? { ...given, at: now } : given;
      const started = clock.elapsed();
      const { firstFills } = this.#options.engine;
      const wasSmallest = event.kind === 'balances' && firstFills.isSmallest;
      let commands: readonly Approved<Command>[];
      try {
        commands = this.#stepEngine(event);
      } catch (error) {
        this.#fail(error);
        return;
      }
      this.#budgets.onStep(event);
      // The reads record the trades before any write, because the marker in the ledger must include the trades of the
      // event.
      if (event.kind === 'trades') for (const taker of [this.#reads, ...this.#rules]) taker.take(event);
      if (wasSmallest && !firstFills.isSmallest)
        this.#options.log.info(
          { ...firstFills.state },
          `${counted(firstFills.until, 'fill')} have reconciled, so orders no longer have the smallest size`,
        );
      if (event.kind === 'hedge') watchers?.onHedge?.(event.row);
      if (event.kind === 'transfer') this.#elsewhereTransfers?.onTransfer(event);
      watchers?.onStep?.(clock.elapsed() - started);
      this.#execute(commands);
    } finally {
      this.#isStepping = false;
    }
  }

  /**
   * Steps the engine, and records the event and the commands. If the engine fails, records its error, which a replay
   * must reproduce. The quotes of a strategy file precede the event of their decision.
   */
  #stepEngine(event: EngineEvent): readonly Approved<Command>[] {
    const { engine, state } = this.#options;
    const { quoteLogs } = engine;
    const line = this.#writer.input(event);
    if (quoteLogs.length === 0) state.journal.record(line);
    // Quotes of previews are no part of the step.
    for (const log of quoteLogs) log.take();
    const recordInput = (): void => {
      if (quoteLogs.length === 0) return;
      const quotes = quoteLogs.map(log => log.take());
      if (quotes.some(({ length }) => length > 0)) state.journal.record(this.#writer.quotes(quotes));
      state.journal.record(line);
    };
    try {
      const commands = engine.step(event);
      recordInput();
      if (commands.length > 0) state.journal.record(this.#writer.commands(commands));
      return commands;
    } catch (error) {
      recordInput();
      state.journal.record(this.#writer.broke(error));
      throw error;
    }
  }

  /**
   * Makes ledger and recording durable together. Returns `false` after a disk error, a failure or the stop of the run.
   */
  #flush(isLast = false): boolean {
    const { journal } = this.#options.state;
    if (this.#isOver) return false;
    try {
      if (this.#failure === null) this.#keeper.keep(isLast);
      journal.flush();
      return this.#failure === null;
    } catch (error) {
      this.#connectivity.say('journal', { error: String(error) }, 'the journal cannot be written to disk', 'error');
      return false;
    }
  }

  /**
   * Applies requests in the state directory from the operator and the sentinel: halts, reduce-only, pauses, resumes,
   * holds, bookings and settlements.
   */
  #watchLatch(): void {
    const { log, state } = this.#options;
    this.#beat();
    this.#balances.bookAdjustments();
    applyPendingSettlements(state.settlements, {
      ...{ hedger: this.#hedger, kept: state.journal.leftovers.hedges, persist: () => this.#flush(), log },
      connectivity: this.#connectivity,
    });
    this.#sentinel.look();
    this.#latch.look(this.#failure !== null);
  }

  #beat(): void {
    const { venue, watchers } = this.#options;
    watchers?.onTurn?.(!(venue.exchange.budget().private > 0));
  }

  /**
   * Executes the commands of one step. Intents are on disk before any order is sent. If they cannot be written, only
   * cancels and look-ups are sent.
   */
  #execute(commands: readonly Approved<Command>[]): void {
    const places = commands.filter((command): command is Approved<PlaceCommand> => command.kind === 'place');
    const placing = new Set(places.map(command => this.#rulesFor(command)));
    const latched = places.length > 0 ? this.#latch.beforePlacing(symbolsOf(placing)) : null;
    const blocked = new Map([...placing].map(rules => [rules, this.#placementRefusal(rules, latched)] as const));
    const allowed = places.filter(command => blocked.get(this.#rulesFor(command)) === null);
    const unwritten = allowed.length === 0 ? null : this.#intend(allowed);
    for (const command of commands) {
      const why = command.kind === 'place' ? (blocked.get(this.#rulesFor(command)) ?? unwritten) : null;
      const share = command.kind === 'place' && why === null ? this.#shareRefusal(command.id) : null;
      const message = why ?? share;
      if (command.kind === 'place' && message !== null) {
        const outcome = { kind: 'refused', code: share === null ? 'not-sent' : 'share', message } as const;
        this.#queue.put({ kind: 'placed', at: this.time(), id: command.id, outcome });
        continue;
      }
      this.#track(this.#send(command));
    }
  }

  /**
   * Returns why an order must not be sent, because its book has used its share of a scarce budget. Otherwise counts the
   * order and returns `null`.
   */
  #shareRefusal(id: string): string | null {
    if (this.#budgets.place(this.#options.engine.bookWith(id)!.symbol)) return null;
    return 'the request budget is scarce, and this book has used its share';
  }

  /** Makes the stop wait for `work`. If `work` fails, its error ends the run. */
  #track(work: Promise<unknown>): void {
    const done: Promise<void> = work
      .then(() => undefined)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /** Applies a list of books that was read for the book `symbol` to all other books. */
  #listed(symbol: string, books: ListedBooks): void {
    for (const rules of this.#rules) if (rules.known.instrument.symbol !== symbol) rules.listed(books);
  }

  /** Returns why an order that the engine has just decided must not be sent; `null` if nothing blocks it. */
  #placementRefusal(rules: RulesReads, latched: Halt | null): string | null {
    const blocked = this.#blockedReason([rules], latched);
    if (blocked !== null) return blocked;
    return this.#latch.isNewlyReducing(rules.known.instrument.symbol) ? 'reduce-only was set after the decision' : null;
  }

  /** Returns why an order in the books with the given rules must not be sent; `null` if nothing blocks it. */
  #blockedReason(of: readonly RulesReads[], latched = this.#options.state.latch.read()): string | null {
    const { clock, engine, state } = this.#options;
    const symbols = symbolsOf(of);
    const books = engine.books.filter(({ symbol }) => symbols.has(symbol));
    const latches = books.flatMap(({ symbol }) => this.#latches.get(symbol) ?? []);
    const halt = latches.reduce<Halt | null>((found, latch) => found ?? latch.read(), latched);
    const areInDoubt = books.some(book => book.isOutdated) || of.some(rules => rules.areInDoubt);
    const now = { halt, latches: [state.latch, ...latches] } as const;
    return blockedReason(this.#stopping.signal.aborted, books, now, areInDoubt, clock);
  }

  /** Writes the intents to disk. Returns `null` if they are durable, otherwise the reason. */
  #intend(places: readonly Approved<PlaceCommand>[]): string | null {
    const { engine, state } = this.#options;
    const { journal } = state;
    const [first] = engine.books;
    try {
      if (this.#failure === null) this.#keeper.keep();
      const inBooks = places.map(command => {
        const book = engine.bookWith(command.id);
        return book === undefined || book === first ? command : { ...command, symbol: book.symbol };
      });
      journal.intend(inBooks, this.time());
      return null;
    } catch (error) {
      const text = 'orders cannot be written to disk before they are sent; no order is placed';
      this.#connectivity.say('intents', { error: String(error) }, text, 'error');
      return 'the order cannot be written to disk before it is sent';
    }
  }

  async #lookUp(ids: readonly string[]): Promise<void> {
    for (const command of approveByIds('look', ids)) await this.#send(command);
  }

  async #send(command: Approved<Command>): Promise<void> {
    const { engine, venue } = this.#options;
    const rules = this.#rulesFor(command);
    const mayPlace = () => this.#blockedReason([rules]) === null;
    const { instrument } = rules.known;
    const at = { ...venue, engine, book: instrument.symbol, instrument, time: this.time, mayPlace };
    const { event, what, failed } = await send(command, at);
    if (failed === null) this.#refusals.accepted();
    else this.#note(what, failed, command.kind === 'place' ? [rules] : this.#rules);
    this.#queue.put(event);
  }

  /**
   * Returns the rules of the book in which a command places an order; those of the first book for any other command.
   */
  #rulesFor(command: Command): RulesReads {
    const book = command.kind === 'place' ? this.#options.engine.bookWith(command.id)?.symbol : undefined;
    return this.#rules.find(({ known }) => known.instrument.symbol === book) ?? this.#rules[0];
  }

  /**
   * Logs a failed request, and halts on a rejection that only the operator can resolve. `concerned` are the rules of
   * the books that the request was about, which a rejection may show to be outdated. Default: those of all books.
   */
  #note(what: string, failed: Failed, concerned: readonly RulesReads[] = this.#rules): void {
    if (failed.kind === 'refused' && failed.meaning === 'rules') for (const rules of concerned) rules.doubt();
    const final = this.#refusals.failed(what, failed);
    if (final !== null) this.#fail(new Error(final));
  }

  async #hedgeFill(): Promise<void> {
    if (!this.#stopping.signal.aborted) await this.#hedger?.turnAfterFill();
  }

  /** Polls open conversions after a webhook reported a change; the report itself is no evidence. */
  checkConversions(): void {
    if (this.#hedger && !this.#stopping.signal.aborted) this.#track(this.#hedger.pollSoon());
  }

  /** Reports an error that no other code handled: halts trading and stops the run. */
  readonly reportFailure = (error: unknown): void => this.#fail(error);

  /** Halts the run and calls `onFailure`, so that the caller stops the run. Ignores later errors. */
  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = textOfError(error);
    const stack = error instanceof Error ? error.stack : undefined;
    this.#options.log.error({ stack }, `stopping after an internal error: ${this.#failure}`);
    this.#queue.put({ kind: 'halt', at: this.time(), reason: this.#failure });
    this.#onFailure?.();
  }
}
