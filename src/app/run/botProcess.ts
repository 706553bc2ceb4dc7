/** Process of `puntas run`: opens the state, trades until stopped, cancels all orders and returns the result. */
import { booksOf, isTrialOrder, leavesTransfers, sharedReadsOf, symbolsOf, type Config } from '../../config.ts';
import { isOver } from '../../hedge/index.ts';
import {
  describeTier,
  textInSeconds,
  sleep,
  type Clock,
  type EngineNews,
  type Millis,
  type Snapshot,
  type VenueClient,
} from '../../core/index.ts';
import { NumberedMailbox, ReloadBox, RequestBox } from '../../live/mailbox/mailbox.ts';
import { DamagedState, type Journal, type Leftovers } from '../../live/state/journal.ts';
import { heartbeatIn, readHeartbeat, Watch } from '../../live/safety/heartbeat.ts';
import { remoteCountsIn } from '../../live/safety/remoteCounts.ts';
import { flattenIn } from '../../live/safety/flatten.ts';
import { bookLatchIn } from '../../live/safety/bookLatch.ts';
import { latchIn, type Latch } from '../../live/safety/latch.ts';
import { RecordingRotation, type Reloaded, type RunSetup } from '../../live/loop/recordingRotation.ts';
import type { Run } from '../../live/loop/run.ts';
import { recordingLimits } from '../../live/recording/recordings.ts';
import {
  cachedPage,
  LastScrape,
  metrics,
  serveMonitor,
  showProcess,
  watchEventLoop,
  type CachedPage,
  type Metrics,
} from '../../monitor/index.ts';
import { startAlerts, type Alerts } from '../../alerts/alerts.ts';
import type { OwnStop } from '../../alerts/conditions.ts';
import { OwnStops } from '../../alerts/ownStops.ts';
import { DayTextsOfBooks, stopSummary } from '../../alerts/sentences.ts';
import { realClock } from '../../live/realClock.ts';
import { isAllGone, type StopReport } from '../../live/loop/loopOptions.ts';
import { livePricesOf, sourceAccessOf } from '../../wiring/feeds.ts';
import {
  clientOf,
  engineOf,
  hedgeOf,
  marketStreamOf,
  pastTradesOf,
  referenceOf,
  rfqReferenceOf,
} from '../../wiring/bot.ts';
import {
  assertRunFits,
  assertTwoAccounts,
  assertVenuesFit,
  elsewhereHedgingOf,
  oneAccountProblem,
  elsewhereSideOf,
  venuesOfOrders,
  type ElsewhereSide,
} from '../../wiring/elsewhereHedging.ts';
import { ClockGap, SET_CLOCK } from '../../messages/clockGap.ts';
import { assertTried, refuseUntried, smallestUntilOf } from '../untried/untried.ts';
import { startInbox, type InboxSide } from '../../wiring/inbox.ts';
import { besideOf, monitored, notReady, volumeOf } from '../../wiring/monitoredState.ts';
import { logOfBook, type Log } from '../../live/log.ts';
import { fillText, logEvent } from '../../messages/eventLog.ts';
import { ownCommand, trialCommand } from '../../messages/ownCommand.ts';
import { PAPER_PREFIX } from '../../wiring/paper.ts';
import { status } from '../../messages/status.ts';
import { stopText } from '../../messages/stopText.ts';
import { summaryOf, type Summary } from '../../messages/summary.ts';
import { limitedCall } from '../../../strategies/index.ts';
import { superviseChild } from './childProcess.ts';
import { startCanceling } from './cancelRequests.ts';
import { Reloading } from './reloading.ts';
import { storeApprovedStrategies } from './approvedStrategy.ts';
import { assertNotFrozen, assertStrategyApproved } from './strategyApproval.ts';
import { recordingsSource } from '../../wiring/history/pastTradesSources.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { throwAsUsageError, openOwnState, ownerOf } from './ownState.ts';
import type { RunOptions } from './runOptions.ts';
import { RunTotals } from './runTotals.ts';
import { changesSinceLastRun } from './earlierConfig.ts';
import { leftBooks, withLeftBooks } from './leftBooks.ts';
import { cleanUpFailedStart, cleanUpDamagedState } from './startupCleanup.ts';

export type RunResult = Omit<StopReport, 'ledgerMatches'> & { readonly summary: Summary };

/** Maximum time of the read of a run's own trades for the quotes that a reload shows, in ms. */
const TRADES_OF_RUN_MAX_MS = 10_000;

/** Calls that release resources of the process. The last call in the list is executed first. */
type Ends = (() => unknown)[];

/**
 * Time between the two readings of the balances that open a ledger, in ms. The readings must be equal: a lagging or
 * empty reading differs from the following reading.
 */
const OPENING_APART_MS = 2_000;
/** Interval of checks whether books that the configuration no longer has are settled, in ms. */
const LEFT_LOOK_EVERY_MS = 1_000;
/** Reason for not being ready while the journal cannot be written. The text is constant, like the engine's reasons. */
const DISK_FULL = 'the disk does not take the journal';

export class BotProcess {
  readonly #options: RunOptions;
  readonly #ends: Ends;
  readonly #resumeCommand: string;
  readonly #latch: Latch;
  readonly #heartbeat: ReturnType<typeof heartbeatIn>;
  readonly #client: VenueClient;
  /** Other exchange; `undefined` if the bot has no access to it. */
  readonly #elsewhere: ElsewhereSide | undefined;
  /** Differences between the clocks of this machine and of both exchanges, from the answers to the first requests. */
  readonly #gaps = { here: new ClockGap(), there: new ClockGap() };
  /** Totals of each book that this process has quoted, by symbol. */
  readonly #runTotals = new Map<string, RunTotals>();
  /** Journal of the current run. One process can have several runs in sequence. */
  #journal: Journal;
  /** Number and configuration of the run that this process opened. */
  readonly #opened: Pick<Journal, 'run' | 'setup'>;
  #runSince: Millis;
  #requests = 0;
  #metrics: Metrics | null = null;
  #page: CachedPage | null = null;
  #inbox: InboxSide | null = null;
  #alerts: Alerts | null = null;
  #isStoppedCleanly = false;
  /** Configuration in force, without `#left`; a reload replaces it. */
  #config: Config;
  /** Books that only an earlier run had. Every run has them, paused, until their orders are settled. */
  #left: readonly Config[] = [];
  /** Reference prices of the current configuration that must be closed. */
  #references: readonly Reference[] = [];
  readonly #stopping = new AbortController();
  /** Called when a run has taken over. */
  #onOtherRun: () => void = () => undefined;
  /** Problem to report if both exchanges are one account, or may be; `null` if they are two accounts. */
  #oneAccount: Awaited<ReturnType<typeof oneAccountProblem>> = null;

  /** Runs a bot from start to clean end. Rejects with one line for the operator if the bot cannot start. */
  static async run(options: RunOptions): Promise<RunResult> {
    const ends: Ends = [];
    /** Orders of an earlier run that may be live, until this run handles them. */
    let leftovers: Leftovers['orders'] = [];
    let own: Journal | undefined;
    try {
      const { refusal } = options;
      const journal = await openOwnState(options);
      options.onOpened?.();
      if (refusal === undefined) {
        ends.push(startConsole(options));
        ends.push(startRemote(options));
      }
      if (journal instanceof DamagedState) return await cleanUpDamagedState(journal, options);
      leftovers = journal.leftovers.orders;
      own = journal;
      if (refusal !== undefined) {
        ends.push(() => journal.close());
        throw refusal;
      }
      const bot = new BotProcess(options, journal, ends);
      const rotation = await bot.#open();
      const scrapes = await bot.#serve(rotation);
      return await bot.#trade(rotation, scrapes, () => (leftovers = []));
    } catch (error) {
      if (leftovers.length === 0) throw error;
      return await cleanUpFailedStart(error, leftovers, options, own);
    } finally {
      for (const end of ends.reverse()) await end();
    }
  }

  /** Creates a bot process. `ends` receives all calls that must run at the end, even if the start fails. */
  private constructor(options: RunOptions, journal: Journal, ends: Ends) {
    const { config, venue, clock, seed } = options;
    this.#options = options;
    this.#config = config;
    this.#ends = ends;
    this.#resumeCommand = ownCommand('resume', { configFile: options.configFile, stateDir: config.state.dir });
    this.#journal = journal;
    this.#opened = { run: journal.run, setup: journal.setup };
    ends.push(() => this.#journal.close());
    this.#latch = latchIn(config.state.dir);
    this.#latch.reserve();
    this.#heartbeat = heartbeatIn(config.state.dir, 'bot', clock, venue.speed);
    this.#client = clientOf(config, venue, clock, seed, {
      journal,
      onRequest: seen => {
        const { endpoint, outcome, ms } = seen;
        this.#gaps.here.hear(seen, clock.now());
        this.#requests++;
        this.#metrics?.request(endpoint, outcome, ms);
        this.#alerts?.request(ms, outcome === 'done');
      },
    });
    ends.push(() => this.#client.close());
    this.#elsewhere = elsewhereSideOf(config, venue, clock, seed, journal, seen => {
      const { endpoint, outcome, ms } = seen;
      this.#gaps.there.hear(seen, clock.now());
      this.#requests++;
      this.#metrics?.request(`elsewhere ${endpoint}`, outcome, ms);
    });
    ends.push(() => this.#elsewhere?.close());
    this.#runSince = clock.elapsed();
  }

  /** Reads the exchange and restores the state of an earlier run. No quotes are sent before `#trade`. */
  async #open(): Promise<RecordingRotation> {
    const { config, venue, clock, seed, log } = this.#options;
    const client = this.#client;
    assertVenuesFit(config);
    this.#assertTried(config);
    this.#oneAccount = await oneAccountProblem(config, venue, client, this.#elsewhere?.client);
    assertTwoAccounts(config, this.#oneAccount);
    this.#startAlerts();
    const isLeaving = leavesTransfers(config);
    this.#takeLeftBooks();
    const first = this.#setupOf(config, this.#left);
    this.#references = referencesIn(first);
    this.#ends.push(() => closeAll(this.#references, this.#options.log));
    const rotation = await RecordingRotation.open({
      bot: { book: config.book, instance: config.instance, resumeCommand: this.#resumeCommand },
      clock,
      log,
      venue: {
        exchange: client,
        newStream: () => marketStreamOf(config, venue, clock, seed, client),
        ...(isLeaving ? {} : { transferLists: client.transferLists }),
      },
      ...first,
      openingApartMs: this.#options.openingApartMs ?? OPENING_APART_MS,
      ...(this.#options.openingZero === undefined ? {} : { openingZero: this.#options.openingZero }),
      ...(this.#options.stopping === undefined ? {} : { stopping: this.#options.stopping }),
      state: {
        journal: this.#journal,
        latch: this.#latch,
        latchOf: symbol => bookLatchIn(config.state.dir, symbol),
        ...(isLeaving ? {} : { adjustments: new NumberedMailbox(config.state.dir, 'adjust') }),
        settlements: new NumberedMailbox(config.state.dir, 'settle'),
        flatten: flattenIn(config.state.dir),
      },
      onNews: (news, { instrument }, books) => {
        const ownLog = books === 1 ? log : logOfBook(log, instrument.symbol);
        logEvent(ownLog, instrument, news, this.#resumeCommandFor(instrument.symbol, news));
        const counted = instrument.symbol === config.book ? this.#metrics : this.#metrics?.ofBook(instrument.symbol);
        if (news.kind === 'count') counted?.order(news.side, news.event);
        if (news.kind === 'fill') counted?.fill(news.fill.side, volumeOf(news.fill, instrument));
        if (news.kind === 'fill') {
          const of = books === 1 ? undefined : instrument.symbol;
          this.#alerts?.raise('fill', fillText(news, instrument), false, of);
        }
        this.#options.onNews?.(news, instrument);
      },
    });
    this.#warnAboutClock();
    if (this.#journal.client === null && ownerOf(config, venue).venue !== null) {
      const id = await client.account?.id();
      if (id?.kind === 'done') this.#journal.ownedBy(id.value);
    }
    return rotation;
  }

  /** Asserts that a configuration sends real orders only to accounts with a trial order, unless it is that order. */
  #assertTried(config: Config): void {
    const { venue, configFile } = this.#options;
    if (!isTrialOrder(config)) {
      const command = trialCommand({ configFile, stateDir: config.state.dir });
      assertTried(config, venue, this.#journal.leftovers, command);
    }
  }

  /**
   * Takes over the books that only an earlier run had, if their orders may be open or unbooked. An example is a run that
   * was killed during a reload that removed a book.
   */
  #takeLeftBooks(): void {
    const { config, clock, log } = this.#options;
    this.#left = leftBooks(config, this.#journal.leftovers.orders, config.state.dir);
    if (this.#left.length === 0) return;
    this.#journal = this.#journal.next(clock.now(), setupText(config, this.#left));
    const books = symbolsIn(this.#left);
    log.warn(
      { books },
      `orders of an earlier run in ${books.join(', ')} may be open, but the configuration no longer has this book; it is not quoted, and is removed when its orders are settled`,
    );
  }

  /**
   * Removes the books that only an earlier run had, when all their orders are settled: at a change of runs, an unsettled
   * order would delay the quotes of all books. A reload removes those that are settled by then.
   */
  #removeLeftBooks(rotation: RecordingRotation): void {
    if (this.#left.length === 0) return;
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    const remove = async (): Promise<void> => {
      let told = '';
      while (this.#left.length > 0) {
        await sleep(clock, LEFT_LOOK_EVERY_MS, signal);
        if (signal.aborted) return;
        if (this.#unsettledLeft(rotation).length > 0 || !rotation.isCalm) continue;
        const books = symbolsIn(this.#left).join(', ');
        const end = await this.#rollTo(rotation, this.#config, [], true);
        if (end.kind === 'taken')
          log.info(
            { run: end.run },
            `run ${end.run} resumed without ${books}; no order of an earlier run is left there`,
          );
        else if (end.why !== told && !signal.aborted)
          log.info({}, `${books}: not removed yet: ${end.why}; the bot tries again`);
        told = end.kind === 'taken' ? '' : end.why;
      }
    };
    const removing = remove().catch((error: unknown) => rotation.run.reportFailure(error));
    this.#ends.push(() => {
      // After an error, no stop has ended the pauses of this task.
      this.#stopping.abort();
      return removing;
    });
  }

  /** Returns the books that only an earlier run had and whose orders are not settled yet. */
  #unsettledLeft(rotation: RecordingRotation): readonly Config[] {
    const unsettled = rotation.unsettledOf(symbolsIn(this.#left));
    return this.#left.filter(({ book }) => unsettled.includes(book));
  }

  /**
   * Logs by how much this machine's clock differs from those of the exchanges. The clients do not rely on this clock:
   * their timestamps and deadlines follow the time of the exchange, and their nonces only increase.
   */
  #warnAboutClock(): void {
    const { config, log } = this.#options;
    const { exchange, elsewhere } = venuesOfOrders(config);
    for (const [venue, gap] of [
      [exchange, this.#gaps.here],
      [elsewhere, this.#gaps.there],
    ] as const) {
      const difference = venue && gap.difference(`the clock of ${venue.name}`);
      if (difference)
        log.warn(
          { venue: venue.name },
          `${difference}; the bot's requests there stay valid, but times in logs and in the ledger, days of loss limits and the age of records are wrong, and other programs with the same key may be rejected; ${SET_CLOCK}`,
        );
    }
  }

  /**
   * Returns the parts of a run that depend on its configuration. The run also has the books in `left`, paused.
   * @throws UsageError if a part is unavailable.
   */
  #setupOf(given: Config, left: readonly Config[]) {
    const opened: Reference[] = [];
    try {
      return this.#setupWith(given, left, config => {
        const reference = referenceOf(config);
        opened.push(reference);
        return reference;
      });
    } catch (error) {
      void closeAll(opened, this.#options.log);
      throw error;
    }
  }

  #setupWith(given: Config, left: readonly Config[], newReference: (config: Config) => Reference) {
    const { config, left: leaving } = withLeftBooks(given, left);
    const { clock, seed, venue } = this.#options;
    const client = this.#client;
    // In paper trading, the only stream is that of the followed book.
    const streamOf = (book: string) =>
      venue.paper === undefined ? marketStreamOf({ ...config, book }, venue, clock, seed ^ 0x11fe, client) : undefined;
    const [hedge, rfqReference] = [hedgeOf(config, client), rfqReferenceOf(config, client)];
    const others = booksOf(config).slice(1);
    return {
      setup: JSON.stringify(config),
      leaving: symbolsIn(leaving),
      smallestUntil: smallestUntilOf(config, venue),
      others: others.map(other => ({
        book: other.book,
        newStream: () => marketStreamOf(other, venue, clock, seed, client),
        reference: newReference(other),
        newLivePrices: livePricesOf(other, { ...sourceAccessOf(venue, client), streamOf }, clock, seed),
        pastTrades: pastTradesOf(other, venue),
      })),
      beside: {
        reference: newReference(config),
        newLivePrices: livePricesOf(config, { ...sourceAccessOf(venue, client), streamOf }, clock, seed),
        pastTrades: pastTradesOf(config, venue),
        ...{ hedge, rfqReference, place: elsewhereHedgingOf(config, this.#elsewhere) },
      },
      timing: config.timing,
      sharedReads: sharedReadsOf(booksOf(config)),
      roll: {
        ...recordingLimits(config.journal),
        onRolled: (ended: Run, next: Journal) => this.#rolled(ended, next),
      },
      makeEngine: (rules, onNews, run, rulesOfOthers) => {
        assertRunFits(config, run);
        return engineOf(config, rules, run, onNews, false, rulesOfOthers, this.#options.ownCall ?? limitedCall);
      },
      watchers: {
        onStep: ms => {
          this.#metrics?.loop(ms);
          this.#alerts?.decision(ms);
        },
        onHedge: row => {
          if (isOver(row) && row.offer !== null) this.#metrics?.hedge(row.offer.way, row.state);
        },
        onReconciled: () => this.#heartbeat.read(),
        onTurn: isKeptOut => this.#heartbeat.beat(isKeptOut ? 'kept out' : 'alive'),
        ...(config.sentinel.required ? { sentinelAlive: sentinelIn(config.state.dir, clock) } : {}),
      },
    } satisfies RunSetup;
  }

  /** Starts handling reload requests; `null` if there is no configuration file. */
  #reloads(rotation: RecordingRotation): Reloading | null {
    const { clock, log, source, venue } = this.#options;
    if (source === undefined) return null;
    const reloading = new Reloading({
      ...{ clock, log, source },
      client: this.#client,
      box: new ReloadBox(this.#config.state.dir),
      // In paper trading, the followed market reads its poll interval only at startup.
      onlyAtStart: venue.paper === undefined ? [] : ['timing.bookPollMs'],
      engine: () => rotation.run.engine,
      time: () => rotation.run.time(),
      config: () => this.#config,
      run: () => this.#journal.run,
      lastRules: () => rotation.run.lastRules,
      tradesOfRun: ({ symbol, tick, lot }) => {
        const wanted = { instrument: { symbol, tick, lot }, since: -Infinity, run: this.#journal.run + 1, runsMax: 1 };
        const recordings = recordingsSource(this.#config.state.dir);
        // The quotes are shown only for information.
        return recordings.read(wanted, AbortSignal.timeout(TRADES_OF_RUN_MAX_MS)).catch(() => null);
      },
      assertUsable: next => {
        if (venue.paper === undefined) refuseUntried(next);
        else assertSameBooks(this.#config, next);
        this.#assertTried(next);
        assertVenuesFit(next);
        assertTwoAccounts(next, this.#oneAccount);
      },
      assertKnown: found => {
        assertNotFrozen(found, this.#config.state.dir);
        assertStrategyApproved(
          found,
          {
            stateDir: this.#config.state.dir,
            isReal: this.#config.exchange.kind === 'remote' && venue.paper === undefined,
            warn: line => log.warn({}, line),
          },
          'apply it with puntas reload, or with the key strategy.sha256',
        );
      },
      take: async (config, hasRun) => {
        const end = hasRun
          ? await this.#rollTo(rotation, config)
          : ({ kind: 'taken', run: this.#journal.run, ms: 0, left: [] } as const);
        if (end.kind === 'taken') {
          this.#config = config;
          log.setLevel?.(config.log.level);
          this.#storeApproval();
          if (!hasRun) rotation.keepSetup(setupText(config, this.#left));
        }
        return end;
      },
    });
    const { run, setup } = this.#opened;
    reloading.noteStart(changesSinceLastRun(this.#config.state.dir, run, setup));
    const looking = reloading.start();
    this.#ends.push(() => looking.stop());
    return reloading;
  }

  /** Stores the strategy file of a reload. A failed write is only logged, because the new configuration applies. */
  #storeApproval(): void {
    try {
      storeApprovedStrategies(this.#config.state.dir, this.#config);
    } catch (error) {
      this.#options.log.error(
        { error: String(error) },
        'the approval of the strategy file could not be stored; before the next start, set the key strategy.sha256',
      );
    }
  }

  /** Starts handling requests to cancel every order and then quote again. */
  #cancels(rotation: RecordingRotation): void {
    const { clock, log } = this.#options;
    const { instance, state } = this.#config;
    const box = new RequestBox(state.dir, 'cancel', 'cancelAnswer');
    const canceling = startCanceling({ clock, log, box, instance, rotation });
    this.#ends.push(() => canceling.stop());
  }

  /**
   * Changes to a run with another configuration. The run keeps those of the books in `left` that the configuration does
   * not have. `givesWay`: whether a request by the operator comes first.
   */
  async #rollTo(
    rotation: RecordingRotation,
    config: Config,
    left = this.#unsettledLeft(rotation),
    givesWay = false,
  ): Promise<Reloaded> {
    const next = this.#setupOf(config, left);
    const end = await (givesWay ? rotation.reloadAfterOthers(next) : rotation.reload(next));
    let unused: readonly Reference[] = referencesIn(next);
    if (end.kind === 'taken') {
      [unused, this.#references] = [this.#references, unused];
      this.#left = left.filter(({ book }) => next.leaving.includes(book));
    }
    await closeAll(unused, this.#options.log);
    return end;
  }

  /** Starts serving metrics and probes. */
  async #serve(rotation: RecordingRotation): Promise<LastScrape> {
    const { config, venue, clock, log } = this.#options;
    const beside = besideOf(() => this.#config, clock);
    const scrapes = new LastScrape(clock, venue.speed);
    const wall = () => clock.elapsed() / venue.speed;
    const eventLoop = watchEventLoop(wall);
    this.#ends.push(() => eventLoop.close());
    const shownBook = (i: number) => ({
      ...monitored(this.#snapshot(rotation.run, i), rotation.run, beside(), i),
      budget: this.#client.budget(),
      isPaper: venue.paper !== undefined,
      isStoppedCleanly: this.#isStoppedCleanly,
      disk: { journalWritable: this.#journal.isWritable(), inbox: this.#inbox?.state() ?? null },
      eventLoop: eventLoop.read(),
      remote: config.alerts?.telegram?.remote === undefined ? null : remoteCountsIn(config.state.dir),
    });
    const { version } = this.#options;
    const shown = metrics(
      config.book,
      version,
      () => shownBook(0),
      () => this.#ofOthers(rotation.run, shownBook),
    );
    showProcess(shown);
    this.#metrics = shown;
    this.#page = cachedPage(shown.text, wall);
    const monitor = await serveMonitor({
      page: this.#page,
      host: config.metrics.host,
      port: config.metrics.port,
      allowedHosts: config.metrics.allowedHosts,
      onScrape: asker => scrapes.happened(asker),
      notReady: () =>
        [
          ...notReady(this.#snapshot(rotation.run)),
          ...this.#ofOthers(rotation.run, i => {
            const { symbol } = rotation.run.engine.books[i]!;
            return notReady(this.#snapshot(rotation.run, i)).map(reason => `${symbol}: ${reason}`);
          }).flat(),
        ].concat(this.#journal.isWritable() ? [] : [DISK_FULL]),
      warnings: () => [this.#inbox?.state()?.problem ?? []].flat(),
    }).catch(throwAsUsageError);
    this.#ends.push(() => monitor.close());
    // The heartbeat needs the actual port, because the configured port may be 0.
    this.#heartbeat.setMetricsPort(Number(new URL(monitor.url).port));
    log.info({ url: monitor.url }, `metrics at ${monitor.url}/metrics`);
    return scrapes;
  }

  /**
   * Quotes until stopped, then cancels all orders and verifies that none is open. `onStarted` is called when this run
   * takes over the orders of an earlier run.
   */
  async #trade(rotation: RecordingRotation, scrapes: LastScrape, onStarted: () => void): Promise<RunResult> {
    const { venue, clock, log } = this.#options;
    const { instrument, tier } = rotation.run.rules;
    this.#sayAssumptions();
    if (tier) log.info({}, describeTier(tier));
    const started = clock.elapsed();
    this.#showStatus(rotation);
    await this.#takeDeliveries(rotation);
    let stop: (why: string) => void = () => undefined;
    const stopped = new Promise<string>(resolve => (stop = resolve));
    // If the process is killed from now on, the next start knows that this file was accepted.
    storeApprovedStrategies(this.#config.state.dir, this.#config);
    rotation.start(() => stop('something broke'));
    this.#removeLeftBooks(rotation);
    onStarted();
    this.#watchForAlerts(rotation);
    const reloading = this.#reloads(rotation);
    this.#cancels(rotation);
    const hangup = { id: 'SIGHUP', by: 'SIGHUP', reason: '', digest: null, isPreview: false };
    this.#options.onStarted(
      stop,
      error => rotation.run.reportFailure(error),
      () => reloading?.ask(hangup),
    );
    const why = await stopped;
    log.info({ why }, `stopping (${why}): canceling all orders and verifying that none is left`);
    this.#stopping.abort();
    const report = await rotation.stop();
    const { left, unread, openHedge, failure, haltedAlone } = report;
    // An open hedge does not prevent the heartbeat `stopped`, because the sentinel can cancel only orders on the bot's
    // own exchange.
    if (left.length === 0 && unread === undefined) this.#heartbeat.beat('stopped');
    if (isAllGone(report)) {
      // The stop is clean only if the run has not failed.
      this.#isStoppedCleanly = failure === null;
      this.#page?.forget();
    }
    await this.#alerts?.close(stopSummary(why, report));
    // Waits for the next scrape. Otherwise Prometheus would see only a failed scrape, as after a crash.
    if (isAllGone(report)) await scrapes.next();
    const seconds = (clock.elapsed() - started) / 1000 / venue.speed;
    const summary = summaryOf(instrument, this.#snapshot(rotation.run), report, {
      others: this.#ofOthers(rotation.run, i => [
        rotation.run.rulesOfBooks[i]!.instrument,
        this.#snapshot(rotation.run, i),
      ]),
      seconds,
      requests: this.#requests,
      halted: stopText(rotation.run.engine, 'haltedBecause'),
      faults: rotation.run.engine.books.map(({ strategyFault }) => strategyFault),
      paper: venue.paper,
    });
    return {
      ...{ summary, left, failure },
      ...(unread === undefined ? {} : { unread }),
      ...(openHedge === undefined ? {} : { openHedge }),
      ...(haltedAlone === undefined ? {} : { haltedAlone }),
    };
  }

  /** Returns the command that ends the halt in a piece of news: that of one book, or that of the whole bot. */
  #resumeCommandFor(book: string, news: EngineNews): string {
    const { dir } = this.#options.config.state;
    if (news.kind !== 'halted' || bookLatchIn(dir, book).read()?.reason !== news.reason) return this.#resumeCommand;
    return this.#resumeCommandOf(book);
  }

  /** Returns the command that ends the halt of one book. */
  #resumeCommandOf(book: string): string {
    const { config, configFile } = this.#options;
    return ownCommand('resume', { configFile, stateDir: config.state.dir, book });
  }

  #rolled(run: Run, next: Journal): void {
    const { clock } = this.#options;
    this.#journal = next;
    for (const book of run.engine.books)
      this.#totalsOf(book.symbol).add(book.snapshot(run.time()), clock.elapsed() - this.#runSince);
    this.#runSince = clock.elapsed();
    this.#onOtherRun();
  }

  #totalsOf(symbol: string): RunTotals {
    const totals = this.#runTotals.get(symbol) ?? new RunTotals();
    this.#runTotals.set(symbol, totals);
    return totals;
  }

  /** Returns the snapshot of a book, by default of the first. */
  #snapshot(run: Run, i = 0): Snapshot {
    const ms = this.#options.clock.elapsed() - this.#runSince;
    const book = run.engine.books[i]!;
    return this.#totalsOf(book.symbol).with(book.snapshot(run.time()), ms);
  }

  /** Returns the result of `of` for each book of a run after the first. */
  #ofOthers<T>(run: Run, of: (i: number) => T): readonly T[] {
    return run.engine.books.slice(1).map((_, i) => of(i + 1));
  }

  #sayAssumptions(): void {
    const { config, log } = this.#options;
    const { requestDelayMaxMs, tradeReportDelayMaxMs } = config.timing;
    log.info(
      { requestDelayMaxMs, tradeReportDelayMaxMs },
      `the bot assumes that every request reaches the exchange within ${textInSeconds(requestDelayMaxMs)} (timing.requestDelayMaxMs), and that the exchange lists every trade within ${textInSeconds(tradeReportDelayMaxMs)} (timing.tradeReportDelayMaxMs)`,
    );
  }

  /** Starts the alerts before all other parts, so that a missing secret is reported immediately. */
  #startAlerts(): void {
    const { config, venue, log } = this.#options;
    const { elsewhere } = venue;
    const other = elsewhere ? [elsewhere.secret.reveal(), elsewhere.key] : [];
    const hidden = [venue.secret.reveal(), venue.key, ...other];
    this.#alerts = startAlerts({ config, clock: realClock(), log, hidden, isPaper: venue.paper !== undefined });
    this.#ends.push(() => this.#alerts?.close('the bot could not continue; see the log'));
  }

  #watchForAlerts(rotation: RecordingRotation): void {
    const { clock, version } = this.#options;
    if (this.#alerts === null) return;
    this.#alerts.raise('started', `Puntas ${version} started`);
    const beside = besideOf(() => this.#config, clock);
    const ownStops = new OwnStops();
    // A reload can add and remove books.
    const books = () => rotation.run.engine.books.map(({ symbol }) => symbol);
    const named = (symbol: string) => (books().length === 1 ? {} : { book: symbol });
    const days = new DayTextsOfBooks();
    this.#alerts.watch(
      () => {
        const outside = beside();
        return books().map((symbol, i) => {
          const snapshot = this.#snapshot(rotation.run, i);
          days.see(snapshot);
          const { quotesLive, limits } = monitored(snapshot, rotation.run, outside, i);
          const isOwnNow = (stop: OwnStop, reason: string) => this.#isOwnStop(symbol, stop, reason);
          const stops = books().length === 1 ? [] : ownStops.of(symbol, snapshot.regime, isOwnNow);
          return {
            ...{ symbol, ...named(symbol), snapshot, quotesLive, ...limits, ownStops: stops },
            journalWritable: this.#journal.isWritable(),
            resumeCommand: stops.includes('halt') ? this.#resumeCommandOf(symbol) : this.#resumeCommand,
            budget: this.#client.budget(),
          };
        });
      },
      () =>
        books().map((symbol, i) => ({
          ...named(symbol),
          text: days.of(this.#snapshot(rotation.run, i), rotation.run.rulesOfBooks[i]!.instrument),
        })),
    );
  }

  /** Returns whether a book has a stop of its own with this reason, and the whole bot has none of this kind. */
  #isOwnStop(book: string, stop: OwnStop, reason: string): boolean {
    const own = bookLatchIn(this.#config.state.dir, book);
    if (stop === 'halt') return own.read()?.reason === reason;
    if (stop === 'reduce') return own.readReduce()?.reason === reason;
    return own.readPause() !== null && this.#latch.readPause() === null;
  }

  /** Starts the status line of each book, and starts them again after a change of the books. */
  #showStatus(rotation: RecordingRotation): void {
    let lines: readonly { stop(): void }[] = [];
    let shown = '';
    const show = () => {
      const symbols = rotation.run.engine.books.map(({ symbol }) => symbol);
      if (symbols.join() === shown) return;
      shown = symbols.join();
      for (const line of lines) line.stop();
      lines = symbols.map((_, i) => this.#statusLine(rotation, i, symbols.length > 1));
    };
    show();
    this.#onOtherRun = show;
    this.#ends.push(() => lines.forEach(line => line.stop()));
  }

  #statusLine(rotation: RecordingRotation, i: number, isNamed: boolean): { stop(): void } {
    const { venue, clock, log, rowRoom = () => Infinity } = this.#options;
    return status({
      log,
      // The instrument is read from the current run, because a change of the tick size starts a new run with other
      // price units.
      instrument: () => rotation.run.rulesOfBooks[i]!.instrument,
      now: () => this.#snapshot(rotation.run, i),
      clock,
      speed: venue.speed,
      queueAhead: () => rotation.run.marketStatuses[i]!.queueAhead,
      room: () => rowRoom() - (venue.paper === undefined ? 0 : PAPER_PREFIX.length),
      isNamed,
    });
  }

  /** Starts the webhook inbox, if configured. */
  async #takeDeliveries(rotation: RecordingRotation): Promise<void> {
    const { config, log } = this.#options;
    if (!config.webhooks) return;
    this.#inbox = await startInbox(config, config.webhooks, this.#client, log, {
      moved: () => rotation.run.market.moved(),
      converted: () => rotation.run.checkConversions(),
    });
    this.#ends.push(() => this.#inbox?.close());
  }
}

/**
 * Returns a function that checks for a sentinel's heartbeat within the last minute. A sentinel has a minute to start.
 */
function sentinelIn(dir: string, clock: Clock): () => boolean {
  const watch = new Watch(
    () => readHeartbeat(dir, 'sentinel'),
    () => clock.elapsed(),
  );
  return () => {
    const still = watch.stillForMs();
    return still !== null && still <= SENTINEL_STILL_MAX_MS;
  };
}

const SENTINEL_STILL_MAX_MS = 60_000;

type Reference = ReturnType<typeof referenceOf>;

/** Returns the reference prices of all books of a setup. */
const referencesIn = (setup: {
  readonly beside: { readonly reference: ReturnType<typeof referenceOf> };
  readonly others: readonly { readonly reference: ReturnType<typeof referenceOf> }[];
}) => [setup.beside, ...setup.others].map(({ reference }) => reference);

/** Closes all references. A failed close is only logged, so that it prevents no other. */
async function closeAll(references: readonly Reference[], log: Log): Promise<void> {
  const ends = await Promise.allSettled(references.map(async reference => reference?.close()));
  for (const end of ends)
    if (end.status === 'rejected')
      log.warn({ error: String(end.reason) }, 'a source of the reference price could not be closed');
}

const symbolsIn = (configs: readonly Config[]): readonly string[] => configs.map(({ book }) => book);

/**
 * Asserts that a configuration has the books of the running bot. Paper trading connects followed markets only at a
 * start.
 * @throws UsageError otherwise.
 */
function assertSameBooks(config: Config, next: Config): void {
  const textOf = (of: Config): string => symbolsOf(of).toSorted().join(', ');
  if (textOf(config) !== textOf(next))
    throw new UsageError(
      `books: expected ${textOf(config)}, found ${textOf(next)}; paper trading changes its books only at a start, so stop the bot and start it again`,
    );
}

/** Returns the text of the configuration that a run records: that of its books and of the left books. */
const setupText = (config: Config, left: readonly Config[]): string =>
  JSON.stringify(withLeftBooks(config, left).config);

/** Starts the console if configured. Returns the function that stops the console. */
function startConsole({ config, consoleArgs: args, log }: RunOptions): () => Promise<void> {
  if (config.console?.besideRun !== true || args === undefined) return async () => undefined;
  const beside = superviseChild({ name: 'console', args, environment: process.env, clock: realClock(), log });
  return () => beside.stop();
}

/**
 * Starts the remote control if configured, as a process without keys. Returns the function that stops it. The token is
 * read now, because the alerts remove it from the environment.
 */
function startRemote({ config, remoteArgs: args, log }: RunOptions): () => Promise<void> {
  if (config.alerts?.telegram?.remote?.besideRun !== true || args === undefined) return async () => undefined;
  const names = ['PUNTAS_TELEGRAM_TOKEN', 'PUNTAS_TELEGRAM_TOKEN_FILE'];
  const secrets = Object.fromEntries(names.flatMap(name => [[name, process.env[name]]]));
  const beside = superviseChild({
    ...{ name: 'remote control', args, environment: process.env, secrets, clock: realClock(), log },
  });
  return () => beside.stop();
}
