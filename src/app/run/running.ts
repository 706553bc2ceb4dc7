/** A run whose state is open: its parts, what they tell each other, and how it begins and ends. */
import type { Config } from '../../config.ts';
import { describeTier } from '../../core/index.ts';
import type { Clock, Millis, Snapshot, VenueClient } from '../../core/index.ts';
import { NumberedMailbox, ReloadBox, RequestBox } from '../../live/mailbox/mailbox.ts';
import type { Journal } from '../../live/state/journal.ts';
import { heartbeatIn, readHeartbeat, Watch } from '../../live/safety/heartbeat.ts';
import { flattenIn } from '../../live/safety/flatten.ts';
import { latchIn } from '../../live/safety/latch.ts';
import type { Latch } from '../../live/safety/latch.ts';
import { openRolling } from '../../live/loop/rolling.ts';
import type { Reloaded, Rolling, RunSetup } from '../../live/loop/rolling.ts';
import type { Session } from '../../live/loop/session.ts';
import { cachedPage, metrics, serveMonitor, showProcess, watchEventLoop } from '../../monitor/index.ts';
import type { CachedPage, Metrics } from '../../monitor/index.ts';
import { startAlerts } from '../../alerts/alerts.ts';
import type { Alerts } from '../../alerts/alerts.ts';
import { dayTexts, lastWordOf } from '../../alerts/sentences.ts';
import { realClock } from '../../live/realClock.ts';
import { isAllGone } from '../../live/loop/loopOptions.ts';
import { clientOf, engineOf, hedgeOf, referenceOf, marketStreamOf, rfqReferenceOf } from '../../wiring/bot.ts';
import { startInbox } from '../../wiring/inbox.ts';
import { LastScrape } from '../../wiring/lastScrape.ts';
import { besideOf, monitored, notReady, volumeOf } from '../../wiring/monitored.ts';
import type { InboxSide } from '../../wiring/inbox.ts';
import { fillText, logEvent } from '../../messages/eventLog.ts';
import { ownCommand } from '../../messages/ownCommand.ts';
import { PAPER_PREFIX } from '../../wiring/paper.ts';
import { status } from '../../messages/status.ts';
import { summaryOf } from '../../messages/summary.ts';
import type { Summary } from '../../messages/summary.ts';
import { startCanceling } from './canceling.ts';
import { Reloading } from './reloading.ts';
import { journalLimits, misplaced, ownerOf } from './ownState.ts';
import type { RunOptions } from './runOptions.ts';
import { RunTotals } from './runTotals.ts';

export type RunResult = {
  readonly summary: Summary;
  readonly left: readonly string[];
  readonly unread?: string;
  readonly failure: string | null;
};

/** What is to be ended, the last first. */
export type Ends = (() => unknown)[];

/** A reading that lags or is empty is another one seconds later. */
const OPENING_APART_MS = 2_000;
/** Few and fixed words, like the engine's. */
const DISK_FULL = 'the disk does not take the journal';

/** `ends` has whatever it has begun, also when it could not go on. */
export class Running {
  readonly #options: RunOptions;
  readonly #ends: Ends;
  readonly #resumeCommand: string;
  readonly #latch: Latch;
  readonly #heartbeat: ReturnType<typeof heartbeatIn>;
  readonly #client: VenueClient;
  readonly #runTotals = new RunTotals();
  /** Of the run that goes on: one follows the other in this process. */
  #journal: Journal;
  #runSince: Millis;
  #requests = 0;
  #metrics: Metrics | null = null;
  #page: CachedPage | null = null;
  #inbox: InboxSide | null = null;
  #alerts: Alerts | null = null;
  #isStoppedCleanly = false;
  /** What it runs with; a reload changes it. */
  #config: Config;
  #reference: ReturnType<typeof referenceOf>;

  constructor(options: RunOptions, journal: Journal, ends: Ends) {
    const { config, venue, clock, seed } = options;
    this.#options = options;
    this.#config = config;
    this.#ends = ends;
    this.#resumeCommand = ownCommand('resume', { configFile: options.configFile, stateDir: config.state.dir });
    this.#journal = journal;
    ends.push(() => this.#journal.close());
    this.#latch = latchIn(config.state.dir);
    this.#latch.reserve();
    this.#heartbeat = heartbeatIn(config.state.dir, 'bot', clock, venue.speed);
    this.#client = clientOf(config, venue, clock, seed, {
      journal,
      onRequest: ({ endpoint, outcome, ms }) => {
        this.#requests++;
        this.#metrics?.request(endpoint, outcome, ms);
        this.#alerts?.request(ms, outcome === 'done');
      },
    });
    ends.push(() => this.#client.close());
    this.#runSince = clock.elapsed();
  }

  /** Reads the exchange and takes up what an earlier run left; nothing is quoted before `trade`. */
  async open(): Promise<Rolling> {
    const { config, venue, clock, seed, log } = this.#options;
    const client = this.#client;
    this.#startAlerts();
    const first = this.#setupOf(config);
    this.#reference = first.beside?.reference;
    this.#ends.push(() => this.#reference?.close());
    const rolling = await openRolling({
      bot: { book: config.book, instance: config.instance, resumeCommand: this.#resumeCommand },
      clock,
      log,
      venue: {
        exchange: client,
        newStream: () => marketStreamOf(config, venue, clock, seed),
        moneyLists: client.moneyLists,
      },
      ...first,
      openingApartMs: this.#options.openingApartMs ?? OPENING_APART_MS,
      ...(this.#options.openingZero === undefined ? {} : { openingZero: this.#options.openingZero }),
      state: {
        journal: this.#journal,
        latch: this.#latch,
        adjustments: new NumberedMailbox(config.state.dir, 'adjust'),
        settlements: new NumberedMailbox(config.state.dir, 'settle'),
        flatten: flattenIn(config.state.dir),
      },
      onNews: (news, { instrument }) => {
        logEvent(log, instrument, news, this.#resumeCommand);
        if (news.kind === 'count') this.#metrics?.order(news.side, news.event);
        if (news.kind === 'fill') this.#metrics?.fill(news.fill.side, volumeOf(news.fill, instrument));
        if (news.kind === 'fill') this.#alerts?.raise('fill', fillText(news, instrument));
        this.#options.onNews?.(news, instrument);
      },
    });
    if (this.#journal.client === null && ownerOf(config, venue).venue !== null) {
      const id = await client.account?.id();
      if (id?.kind === 'done') this.#journal.ownedBy(id.value);
    }
    return rolling;
  }

  /** What of a run its configuration makes. Throws `UsageError` where it asks for what is not there. */
  #setupOf(config: Config) {
    const { clock } = this.#options;
    const client = this.#client;
    const [hedge, rfqReference] = [hedgeOf(config, client), rfqReferenceOf(config, client)];
    return {
      setup: JSON.stringify(config),
      beside: { reference: referenceOf(config), hedge, rfqReference },
      timing: config.timing,
      roll: {
        ...journalLimits(config),
        onRolled: (ended: Session, next: Journal) => this.#rolled(ended, next),
      },
      makeEngine: (rules, onNews, run) => engineOf(config, rules, run, onNews),
      watchers: {
        onStep: ms => {
          this.#metrics?.loop(ms);
          this.#alerts?.decision(ms);
        },
        onReconciled: () => this.#heartbeat.read(),
        onTurn: isKeptOut => this.#heartbeat.beat(isKeptOut ? 'kept out' : 'alive'),
        ...(config.sentinel.required ? { sentinelAlive: sentinelIn(config.state.dir, clock) } : {}),
      },
    } satisfies RunSetup;
  }

  /** Takes requests for another configuration from here on; nothing without a file to read it from. */
  #reloads(rolling: Rolling): Reloading | null {
    const { clock, log, source, venue } = this.#options;
    if (source === undefined) return null;
    const reloading = new Reloading({
      ...{ clock, log, source },
      client: this.#client,
      box: new ReloadBox(this.#config.state.dir),
      // On paper the followed market is polled as the start had it.
      onlyAtStart: venue.paper === undefined ? [] : ['timing.bookPollMs'],
      engine: () => rolling.session.engine,
      time: () => rolling.session.loop.time(),
      config: () => this.#config,
      take: async (config, hasRun) => {
        const end = hasRun
          ? await this.#rollTo(rolling, config)
          : ({ kind: 'taken', run: this.#journal.run, ms: 0, left: [] } as const);
        if (end.kind === 'taken') {
          this.#config = config;
          log.setLevel?.(config.log.level);
        }
        return end;
      },
    });
    const looking = reloading.start();
    this.#ends.push(() => looking.stop());
    return reloading;
  }

  /** Takes requests to cancel every order and begin anew from here on. */
  #cancels(rolling: Rolling): void {
    const { clock, log } = this.#options;
    const { book, instance, state } = this.#config;
    const box = new RequestBox(state.dir, 'cancel', 'cancelAnswer');
    const canceling = startCanceling({ clock, log, box, book, instance, rolling });
    this.#ends.push(() => canceling.stop());
  }

  async #rollTo(rolling: Rolling, config: Config): Promise<Reloaded> {
    const next = this.#setupOf(config);
    const end = await rolling.reload(next);
    const { reference } = next.beside;
    await (end.kind === 'taken' ? this.#reference : reference)?.close();
    if (end.kind === 'taken') this.#reference = reference;
    return end;
  }

  /** Serves metrics and probes from here on. */
  async serve(rolling: Rolling): Promise<LastScrape> {
    const { config, venue, clock, log } = this.#options;
    const beside = besideOf(() => this.#config, clock);
    const scrapes = new LastScrape(clock, venue.speed);
    const wall = () => clock.elapsed() / venue.speed;
    const eventLoop = watchEventLoop(wall);
    this.#ends.push(() => eventLoop.close());
    const shown = metrics(config.book, this.#options.version, () => ({
      ...monitored(this.#snapshot(rolling.session), rolling.session, beside),
      budget: this.#client.budget(),
      isPaper: venue.paper !== undefined,
      isStoppedCleanly: this.#isStoppedCleanly,
      disk: { journalWritable: this.#journal.isWritable(), inbox: this.#inbox?.state() ?? null },
      eventLoop: eventLoop.read(),
    }));
    showProcess(shown);
    this.#metrics = shown;
    this.#page = cachedPage(shown.text, wall);
    const monitor = await serveMonitor({
      page: this.#page,
      host: config.metrics.host,
      port: config.metrics.port,
      allowedHosts: config.metrics.allowedHosts,
      onScrape: asker => scrapes.happened(asker),
      notReady: () => notReady(this.#snapshot(rolling.session)).concat(this.#journal.isWritable() ? [] : [DISK_FULL]),
      warnings: () => [this.#inbox?.state()?.problem ?? []].flat(),
    }).catch(misplaced);
    this.#ends.push(() => monitor.close());
    log.info({ url: monitor.url }, `metrics at ${monitor.url}/metrics`);
    return scrapes;
  }

  /** Quotes until it is told to stop, then cancels and verifies. `onStarted`: what an earlier run left is taken care of from then on. */
  async trade(rolling: Rolling, scrapes: LastScrape, onStarted: () => void): Promise<RunResult> {
    const { venue, clock, log } = this.#options;
    const { instrument, tier } = rolling.session.rules;
    this.#sayAssumptions();
    if (tier) log.info({}, describeTier(tier));
    const started = clock.elapsed();
    this.#showStatus(rolling);
    await this.#takeDeliveries(rolling);
    let stop: (why: string) => void = () => undefined;
    const stopped = new Promise<string>(resolve => (stop = resolve));
    rolling.start(() => stop('something broke'));
    onStarted();
    this.#watchForAlerts(rolling);
    const reloading = this.#reloads(rolling);
    this.#cancels(rolling);
    const hangup = { id: 'SIGHUP', by: 'SIGHUP', reason: '', digest: null, isPreview: false };
    this.#options.onStarted(
      stop,
      error => rolling.session.loop.broke(error),
      () => reloading?.ask(hangup),
    );
    const why = await stopped;
    log.info({ why }, `stopping (${why}): canceling our orders and verifying that none is left`);
    const report = await rolling.stop();
    if (isAllGone(report)) {
      this.#heartbeat.beat('stopped');
      // A run that broke ends without anybody having asked for it.
      this.#isStoppedCleanly = report.failure === null;
      this.#page?.forget();
    }
    await this.#alerts?.close(lastWordOf(why, report));
    // Otherwise Prometheus would only see that nobody answers, as after a crash.
    if (isAllGone(report)) await scrapes.next();
    const seconds = (clock.elapsed() - started) / 1000 / venue.speed;
    const summary = summaryOf(instrument, this.#snapshot(rolling.session), report, {
      seconds,
      requests: this.#requests,
      halted: rolling.session.engine.haltedBecause,
      paper: venue.paper,
    });
    const { left, unread, failure } = report;
    return { summary, left, ...(unread === undefined ? {} : { unread }), failure };
  }

  #rolled({ engine, loop }: Session, next: Journal): void {
    const { clock } = this.#options;
    this.#journal = next;
    this.#runTotals.add(engine.snapshot(loop.time()), clock.elapsed() - this.#runSince);
    this.#runSince = clock.elapsed();
  }

  #snapshot({ engine, loop }: Session): Snapshot {
    return this.#runTotals.with(engine.snapshot(loop.time()), this.#options.clock.elapsed() - this.#runSince);
  }

  #sayAssumptions(): void {
    const { config, log } = this.#options;
    const { requestDelayMaxMs, tradeReportDelayMaxMs } = config.timing;
    log.info(
      { requestDelayMaxMs, tradeReportDelayMaxMs },
      `assuming that no request is held on its way longer than ${requestDelayMaxMs / 1000} s (timing.requestDelayMaxMs) and that no trade is listed later than ${tradeReportDelayMaxMs / 1000} s (timing.tradeReportDelayMaxMs)`,
    );
  }

  /** Before anything else: a secret that is missing is told at once. */
  #startAlerts(): void {
    const { config, venue, log } = this.#options;
    const hidden = [venue.secret.reveal(), venue.key];
    this.#alerts = startAlerts({ config, clock: realClock(), log, hidden, isPaper: venue.paper !== undefined });
    this.#ends.push(() => this.#alerts?.close('it could not go on: the log says why'));
  }

  #watchForAlerts(rolling: Rolling): void {
    const { clock, version } = this.#options;
    if (this.#alerts === null) return;
    this.#alerts.raise('started', `Puntas ${version} was started`);
    const beside = besideOf(() => this.#config, clock);
    const dayText = dayTexts(this.#snapshot(rolling.session));
    this.#alerts.watch(
      () => {
        const snapshot = this.#snapshot(rolling.session);
        const { quotesLive, limits } = monitored(snapshot, rolling.session, beside);
        const journalWritable = this.#journal.isWritable();
        const resumeCommand = this.#resumeCommand;
        return { snapshot, quotesLive, ...limits, journalWritable, resumeCommand, budget: this.#client.budget() };
      },
      () => dayText(this.#snapshot(rolling.session), rolling.session.rules.instrument),
    );
  }

  /** The line of a terminal. */
  #showStatus(rolling: Rolling): void {
    const { venue, clock, log, rowRoom = () => Infinity } = this.#options;
    const line = status({
      log,
      // A change of the tick begins a run on another grid.
      instrument: () => rolling.session.rules.instrument,
      now: () => this.#snapshot(rolling.session),
      clock,
      speed: venue.speed,
      queueAhead: () => rolling.session.loop.market.status.queueAhead,
      room: () => rowRoom() - (venue.paper === undefined ? 0 : PAPER_PREFIX.length),
    });
    this.#ends.push(() => line.stop());
  }

  /** Of webhooks, where they are configured. */
  async #takeDeliveries(rolling: Rolling): Promise<void> {
    const { config, log } = this.#options;
    if (!config.webhooks) return;
    this.#inbox = await startInbox(config, config.webhooks, this.#client, log, {
      moved: () => rolling.session.loop.market.moved(),
      converted: () => rolling.session.loop.converted(),
    });
    this.#ends.push(() => this.#inbox?.close());
  }
}

/** Whether the sentinel of a state directory has shown life within the last minute; it has a minute to begin with. */
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
