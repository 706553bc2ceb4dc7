/** The loop: feeds the engine from one exchange in real time, carries out what it approves, and stops cleanly. */
import { approveByIds, sleep } from '../../core/index.ts';
import type { Approved, Command, EngineEvent, EngineNews, Millis, PlaceCommand } from '../../core/index.ts';
import type { Hedger } from '../../hedge/index.ts';
import { BalanceReads } from '../account/balanceReads.ts';
import { judgmentBy } from '../unreadableRows.ts';
import { cancelAll } from '../safety/cancelAllAndVerify.ts';
import { decisionTimer } from './decisionTimer.ts';
import { hedgerOf } from './hedgerOf.ts';
import { LedgerKeeper } from '../account/ledgerKeeper.ts';
import { MarketData } from '../market/marketData.ts';
import type { LoopOptions, StopReport } from './loopOptions.ts';
import type { Rules } from '../rules.ts';
import type { RunContext } from '../runContext.ts';
import { obstacleTo } from '../safety/obstacle.ts';
import { recordedTurn } from './recordedTurn.ts';
import { LineWriter } from '../recording/recording.ts';
import { Reads } from '../account/reads.ts';
import { isFailed, type Failed } from '../failed.ts';
import { ConnectivityLog } from '../connectivityLog.ts';
import { Refusals } from '../safety/refusals.ts';
import { repeat } from './repeat.ts';
import { RulesReads } from './rulesReads.ts';
import { takeUpSettlements } from '../state/settlements.ts';
import { LatchWatch } from '../safety/latchWatch.ts';
import { SentinelWatch } from '../safety/sentinelWatch.ts';
import { send } from './sends.ts';
import { rfqReferenceReadsOf } from '../market/rfqReferenceReads.ts';
import { LOOK_EVERY_MS, SleepWatch } from '../safety/sleepWatch.ts';

const RULES_LOOK_EVERY_MS = 500;
const BALANCES_EVERY_MS = 10_000;
/** Until they have equalled the ledger once: nothing is quoted before. */
const FIRST_BALANCES_EVERY_MS = 2_000;
const FLUSH_EVERY_MS = 1_000;
const LATCH_EVERY_MS = 2_000;
const STOPPING_READ_EVERY_MS = 500;
const EMPTY_READS_TO_STOP = 2;

export class Loop {
  readonly #options: LoopOptions;
  readonly #run: RunContext;
  readonly #reads: Reads;
  readonly market: MarketData;
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
  readonly #rules: RulesReads;
  readonly #latch: LatchWatch;
  #failure: string | null = null;
  readonly #sentinel: SentinelWatch;
  #onFailure: (() => void) | null = null;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#origin = options.clock.now() - options.clock.elapsed();
    const { bot, clock, engine, log, start, state, timing, venue, beside = {} } = options;
    const [{ opening }, { exchange }] = [start, venue];
    const run = { clock, log, time: this.time, step: (event: EngineEvent) => this.#step(event) };
    this.#run = run;
    const tids = opening.kind === 'restored' ? opening.tids : [];
    const uncounted = opening.kind === 'restored' ? state.journal.leftovers.uncounted : [];
    const [overlapMs, judgment] = [timing.tradeReportDelayMaxMs, judgmentBy(bot.instance, engine, log)];
    this.#reads = new Reads(exchange, bot.book, opening.lastTid, this.time, overlapMs, tids, judgment, uncounted);
    // A run without a hedger hands them on: one may be open, and those of a day count together.
    const hedges = () => this.#hedger?.rows ?? state.journal.leftovers.hedges;
    this.#connectivity = new ConnectivityLog(log, clock);
    this.#refusals = new Refusals(clock, this.#connectivity);
    this.#latch = new LatchWatch(run, engine, state.latch);
    this.#sentinel = new SentinelWatch(run, state.latch, bot.resumeCommand, options.watchers?.sentinelAlive);
    this.#rules = new RulesReads(run, { exchange, book: bot.book, first: start.rules }, this.#connectivity);
    const note = (what: string, failed: Failed) => this.#note(what, failed);
    const [readTrades, persist] = [() => this.#readTrades(), () => this.#flush()];
    this.#balances = new BalanceReads({
      ...{ run, engine, readTrades, note, persist },
      connectivity: this.#connectivity,
      reads: this.#reads,
      explained: {
        lists: venue.moneyLists,
        adjustments: state.adjustments,
        known: opening.kind === 'restored' ? state.journal.leftovers.transfers : null,
        listAheadMaxMs: timing.transferListDelayMaxMs,
      },
    });
    const known = () => this.#balances.known;
    this.#keeper = new LedgerKeeper(engine, state.journal, this.#reads, clock, start.rules.instrument, hedges, known);
    this.#sleep = new SleepWatch(clock);
    this.#hedger = hedgerOf(options, run, {
      balancesAt: () => this.#reads.balancesAt,
      rules: () => this.rules,
      persist,
      mayAct: () => this.#obstacle() === null,
    });
    this.market = new MarketData({
      ...{ run, bot, venue, engine, note },
      account: {
        reads: this.#reads,
        readTrades,
        readBalances: () => this.#balances.read(),
        look: ids => this.#lookUp(ids),
      },
      instrument: () => this.rules.instrument,
      reference: beside.reference,
      bookPollMs: timing.bookPollMs,
      host: {
        onTurn: () => this.#look(),
        isWaking: () => this.#sleep.isWaking,
        onBroken: error => this.#fail(error),
      },
    });
  }

  /** Rules and fees of the book, as they were read last. */
  get rules(): Rules {
    return this.#rules.known;
  }

  /** Rules on another grid, for the next run; null while they are this run's. */
  readonly nextRules = (): Rules | null => this.#rules.next;

  /** Time for the engine: wall time that never steps back. */
  readonly time = (): Millis => this.#origin + this.#options.clock.elapsed();

  /** Starts reading and quoting. `onFailure` is called once if something breaks that only a stop can answer. */
  start(onFailure: () => void): void {
    const { state, timing, beside, engine } = this.#options;
    const { opening } = this.#options.start;
    this.#onFailure = onFailure;
    const { orders, ledger: left } = state.journal.leftovers;
    this.#step({ kind: 'restore', at: this.time(), orders, ledger: opening.kind === 'restored' ? left : null });
    this.#latch.begin();
    this.#step({ kind: 'rules', at: this.time(), ...this.rules });
    if (opening.kind === 'fresh') {
      const { startedAt, balances } = opening;
      this.#step({ kind: 'balances', at: this.time(), startedAt, quiet: true, balances });
    }
    this.#hedger?.restore();
    this.#watchLatch();
    this.#repeat(timing.privatePollMs, () => this.#readPrivate());
    this.market.start();
    this.#repeat(timing.bookPollMs, () => this.market.poll());
    this.#tasks.push(this.#decide(this.#stopping.signal));
    this.#repeat(LOOK_EVERY_MS, async () => this.#look(), LOOK_EVERY_MS);
    this.#repeat(this.#balancesEveryMs, () => this.#balances.read());
    if (this.#hedger) this.#repeat(this.#hedger.everyMs, async () => this.#hedger?.turn());
    const rfqReference = rfqReferenceReadsOf(beside?.rfqReference, this.#run, engine, () => this.rules.instrument);
    if (rfqReference) this.#repeat(rfqReference.everyMs, () => rfqReference.read());
    this.#repeat(FLUSH_EVERY_MS, async () => this.#flush(), FLUSH_EVERY_MS);
    this.#repeat(LATCH_EVERY_MS, async () => this.#watchLatch(), LATCH_EVERY_MS);
    this.#repeat(RULES_LOOK_EVERY_MS, () => this.#rules.readWhenDue());
  }

  /**
   * Closes the gate for new orders, cancels ours, and verifies with complete reads that none is left. Takes at most `shutdownMs` of the
   * clock and the requests then under way. To be called once.
   */
  async stop(isFollowed = false): Promise<StopReport> {
    const { clock, engine, timing, venue } = this.#options;
    this.#step({ kind: 'stop', at: this.time() });
    this.#stopping.abort();
    await Promise.all([...this.#tasks, this.market.stop()]);
    const verified = new AbortController();
    // A read may hang: what becomes known meanwhile is acted on all the same.
    const deciding = this.#decide(verified.signal);
    const deadline = clock.elapsed() + timing.shutdownMs;
    let left: readonly string[] = engine.liveOrders.map(order => order.id);
    let unread: string | null = 'open orders were never read';
    for (let empty = 0; empty < EMPTY_READS_TO_STOP && clock.elapsed() < deadline;) {
      this.#showLife();
      const seen = await this.#readPrivate();
      this.#step({ kind: 'timer', at: this.time() });
      left = [...new Set([...engine.liveOrders.map(order => order.id), ...(seen ?? [])])];
      unread = seen === null ? 'open orders could not be read' : null;
      empty = left.length === 0 && unread === null ? empty + 1 : 0;
      // A broken engine may no longer ask for cancels: then what was seen is canceled directly.
      if (this.#failure !== null && seen !== null)
        await cancelAll({ ...venue, connectivity: this.#connectivity }, seen);
      if (empty < EMPTY_READS_TO_STOP) await sleep(clock, STOPPING_READ_EVERY_MS);
    }
    verified.abort();
    await Promise.all([deciding, ...this.#underWay]);
    await this.#hedger?.settle(deadline, () => Promise.all([this.#readPrivate(), this.#balances.read()]));
    const ledgerMatches = isFollowed ? null : await this.#balances.match();
    this.#flush(true);
    return { left, ...(unread === null ? {} : { unread }), ledgerMatches, failure: this.#failure };
  }

  /** What differed once is compared again soon: it may only have been a trade whose record is late. */
  readonly #balancesEveryMs = (): Millis => {
    const { account } = this.#options.engine;
    const differedOnce = account.unexplained === null && account.differences().length > 0;
    const isCompared = account.isReconciled && account.checked !== null;
    return isCompared && !differedOnce ? BALANCES_EVERY_MS : FIRST_BALANCES_EVERY_MS;
  };

  #decide(signal: AbortSignal): Promise<void> {
    const { engine, timing } = this.#options;
    return decisionTimer(this.#run, engine, timing.decideEveryMs, signal);
  }

  #repeat(everyMs: Millis | (() => Millis), task: () => Promise<unknown>, delayMs: Millis = 0): void {
    const onBroken = (error: unknown) => this.#fail(error);
    this.#tasks.push(repeat(this.#run.clock, this.#stopping.signal, { everyMs, delayMs, task, onBroken }));
  }

  /** Open orders and trades; the origin ids of ours that are open, or null when they could not be read whole. */
  async #readPrivate(): Promise<readonly string[] | null> {
    const event = await this.#reads.openOrders();
    const isWhole = await this.#readTrades();
    if (isFailed(event)) {
      this.#note('open_orders', event);
      return null;
    }
    this.#refusals.accepted();
    this.#step(event);
    if (isWhole && (event.complete || event.current === true)) this.#options.watchers?.onReconciled?.();
    if (!event.complete) return null;
    const prefix = `${this.#options.bot.instance}-`;
    return event.orders.flatMap(({ originId }) => (originId?.startsWith(prefix) ? [originId] : []));
  }

  /** True when everything up to now was read. */
  async #readTrades(): Promise<boolean> {
    const event = await this.#reads.trades();
    if (isFailed(event)) {
      this.#note('user_trades', event);
      return false;
    }
    this.#refusals.accepted();
    this.#step(event);
    return event.complete;
  }

  /** A process that stood still goes on with nothing that it knew: quotes are withdrawn until book and account have been read again. */
  #look(): void {
    const ms = this.#sleep.look();
    if (ms === 0) return;
    this.#options.log.warn({ ms }, `this process stood still for ${Math.round(ms / 1000)} s: everything is read again`);
    this.market.distrust();
    this.#step({ kind: 'slept', at: this.time() });
  }

  #step(told: EngineEvent): void {
    const { clock, engine, state, watchers } = this.#options;
    // What waited for another answer is told late: the engine decides on the time of now, or old data would look young.
    const now = this.time();
    const event = told.at < now ? { ...told, at: now } : told;
    const started = clock.elapsed();
    let commands: readonly Approved<Command>[];
    try {
      this.market.learn(event);
      commands = recordedTurn(event, engine, state.journal, this.#writer);
    } catch (error) {
      this.#fail(error);
      return;
    }
    // Before anything is written: what the ledger has, the marker must have too.
    if (event.kind === 'trades') for (const taker of [this.#reads, this.#rules]) taker.take(event);
    watchers?.onStep?.(clock.elapsed() - started);
    this.#carryOut(commands);
  }

  /** The ledger and the recording become durable together; a disk that takes neither is told by the next intent. */
  #flush(isLast = false): boolean {
    const { journal } = this.#options.state;
    try {
      if (this.#failure === null) this.#keeper.keep(isLast);
      journal.flush();
      return this.#failure === null;
    } catch (error) {
      this.#connectivity.say('journal', { error: String(error) }, 'the journal cannot be written to disk', 'error');
      return false;
    }
  }

  /** A halt or a pause that somebody else left holds here too; one that a person lifted is lifted here. */
  #watchLatch(): void {
    const { log, state } = this.#options;
    this.#showLife();
    this.#balances.takeUp();
    takeUpSettlements(state.settlements, this.#hedger, () => this.#flush(), log);
    this.#sentinel.look();
    this.#latch.look(this.#failure !== null);
  }

  #showLife(): void {
    const { venue, watchers } = this.#options;
    watchers?.onTurn?.(!(venue.exchange.budget().private > 0));
  }

  /** Intents are on disk before the first byte leaves; when they cannot be written, only cancels and look-ups leave. */
  #carryOut(commands: readonly Approved<Command>[]): void {
    const places = commands.filter((command): command is Approved<PlaceCommand> => command.kind === 'place');
    const latched = places.length > 0 ? this.#latch.beforePlacing() : null;
    const obstacle = places.length === 0 ? null : (this.#obstacle(latched) ?? this.#intend(places));
    for (const command of commands) {
      if (command.kind === 'place' && obstacle !== null) {
        const outcome = { kind: 'refused', code: 'not-sent', message: obstacle } as const;
        this.#step({ kind: 'placed', at: this.time(), id: command.id, outcome });
        continue;
      }
      const done: Promise<void> = this.#send(command)
        .catch((error: unknown) => this.#fail(error))
        .finally(() => this.#underWay.delete(done));
      this.#underWay.add(done);
    }
  }

  #obstacle(latched = this.#options.state.latch.read()): string | null {
    const { engine, state } = this.#options;
    const { areInDoubt } = this.#rules;
    return obstacleTo(this.#stopping.signal.aborted, engine, latched, state.latch, areInDoubt, this.time());
  }

  /** Null when they are on disk. */
  #intend(places: readonly Approved<PlaceCommand>[]): string | null {
    const { journal } = this.#options.state;
    try {
      if (this.#failure === null) this.#keeper.keep();
      journal.intend(places, this.time());
      return null;
    } catch (error) {
      const text = 'intents cannot be written to disk: nothing is placed';
      this.#connectivity.say('intents', { error: String(error) }, text, 'error');
      return 'its intent cannot be written to disk';
    }
  }

  async #lookUp(ids: readonly string[]): Promise<void> {
    for (const command of approveByIds('look', ids)) await this.#send(command);
  }

  async #send(command: Approved<Command>): Promise<void> {
    const { bot, engine, venue } = this.#options;
    const mayPlace = () => this.#obstacle() === null;
    const at = { ...venue, engine, book: bot.book, instrument: this.rules.instrument, time: this.time, mayPlace };
    const { event, what, failed } = await send(command, at);
    if (failed === null) this.#refusals.accepted();
    else this.#note(what, failed);
    this.#step(event);
  }

  /** Says what a request ended in; a refusal that only a person can mend halts. */
  #note(what: string, failed: Failed): void {
    if (failed.kind === 'refused' && failed.meaning === 'rules') this.#rules.doubt();
    const final = this.#refusals.failed(what, failed);
    if (final !== null) this.#fail(new Error(final));
  }

  /** The engine's news, for those of the loop that go by them. */
  heard(news: EngineNews): void {
    this.#hedger?.onNews(news);
  }

  /** Somebody says that a conversion has moved: the hedger looks, and believes the exchange alone. */
  converted(): void {
    void this.#hedger?.pollSoon().catch((error: unknown) => this.#fail(error));
  }

  /** Something broke that nobody caught: nothing is placed any more, and that is latched. */
  readonly broke = (error: unknown): void => this.#fail(error);

  /** After this nothing is placed any more; whoever started the loop stops it. */
  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error ? error.stack : undefined;
    this.#options.log.error({ stack }, `stopping: something broke: ${this.#failure}`);
    this.#step({ kind: 'halt', at: this.time(), reason: this.#failure });
    this.#onFailure?.();
  }
}
