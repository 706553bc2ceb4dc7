/** `puntas run`: makes a market until it is told to stop, then leaves nothing behind and says what came of it. */
import { createHash } from 'node:crypto';
import { describeTier } from '../../core/index.ts';
import type { Clock } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { isAboutNonce, isAboutRules, meaningOf } from '../../exchange/index.ts';
import { adjustmentsIn } from '../../live/state/adjustments.ts';
import { settlementsIn } from '../../live/state/settlements.ts';
import { DamagedState, openJournal } from '../../live/state/journal.ts';
import type { Journal, Leftovers } from '../../live/state/journal.ts';
import { heartbeatIn, readPulse, Watch } from '../../live/safety/heartbeat.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { OtherKey } from '../../live/state/owner.ts';
import type { Owner } from '../../live/state/owner.ts';
import { claimState } from '../../live/state/paperMark.ts';
import { openRolling } from '../../live/loop/rolling.ts';
import type { Session } from '../../live/loop/session.ts';
import { metrics, serveMonitor, showProcess } from '../../monitor/index.ts';
import type { Metrics } from '../../monitor/index.ts';
import { clientOf, engineOf, hedgeOf, referenceOf, marketStreamOf, witnessOf } from '../wiring/bot.ts';
import type { VenueAccess } from '../wiring/bot.ts';
import { UsageError } from '../wiring/configFile.ts';
import { startInbox } from '../wiring/inbox.ts';
import { sentenceOf } from '../terminal/exits.ts';
import { LastScrape } from '../wiring/lastScrape.ts';
import { besideOf, monitored, notReady, volumeOf } from '../wiring/monitored.ts';
import type { InboxSide } from '../wiring/inbox.ts';
import { lineRoom } from '../terminal/logger.ts';
import { logEvent } from '../terminal/eventLog.ts';
import { giveUp, giveUpOn } from './startupCleanup.ts';
import { ownCommand } from '../terminal/ownCommand.ts';
import { PAPER_PREFIX } from '../wiring/paper.ts';
import { remedyOf } from '../terminal/remedy.ts';
import { verifiedAccountOf } from '../wiring/sameAccount.ts';
import { status } from '../terminal/status.ts';
import { summaryOf } from '../terminal/summary.ts';
import type { Summary } from '../terminal/summary.ts';
import type { RunOptions } from './runOptions.ts';
import { RunTotals } from './runTotals.ts';

export type RunResult = {
  readonly summary: Summary;
  readonly left: readonly string[];
  readonly failure: string | null;
};

/** Everything between start and clean end. Rejects with one line for a person when it cannot start. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { config, venue, clock, seed, log } = options;
  const resumeCommand = ownCommand('resume', { configFile: options.configFile, stateDir: config.state.dir });
  const ends: (() => unknown)[] = [];
  /** Orders of an earlier run that may live, until this one takes care of them. */
  let leftovers: Leftovers['orders'] = [];
  try {
    const account = accountName(venue);
    const setup = JSON.stringify(config);
    const { recordings } = journalLimits(config);
    const owner = ownerOf(config, venue);
    const open = (told: { readonly client?: string }) =>
      openState(() => {
        claimState(config.state.dir, venue.paper !== undefined);
        const earlierBytesMax = recordings;
        return openJournal(config.state.dir, { account, owner, ...told, at: clock.now(), setup, earlierBytesMax });
      });
    let opened = open({});
    if (opened instanceof OtherKey) {
      const asked = clientOf(config, venue, clock, seed);
      const client = await verifiedAccountOf(asked, opened, config.book).finally(() => asked.close());
      opened = open({ client });
    }
    if (opened instanceof OtherKey) throw opened;
    options.onOpened?.();
    if (opened instanceof DamagedState) return await giveUpOn(opened, options);
    let journal = opened;
    leftovers = journal.leftovers.orders;
    ends.push(() => journal.close());
    const latch = latchIn(config.state.dir);
    latch.reserve?.();
    const heart = heartbeatIn(config.state.dir, 'bot', clock);
    let inbox: InboxSide | null = null;
    let requests = 0;
    let page: Metrics | null = null;
    const client = clientOf(config, venue, clock, seed, {
      journal,
      onRequest: ({ endpoint, outcome, ms }) => {
        requests++;
        page?.request(endpoint, outcome, ms);
      },
    });
    ends.push(() => client.close());
    const tally = new RunTotals();
    let runSince = clock.elapsed();
    const snapshotOf = ({ engine, loop }: Session) =>
      tally.with(engine.snapshot(loop.time()), clock.elapsed() - runSince);
    const reference = referenceOf(config);
    if (reference) ends.push(() => reference.close());
    const rolling = await openRolling({
      exchange: client,
      newStream: () => marketStreamOf(config, venue, clock, seed),
      roll: journalLimits(config),
      onRolled: ({ engine, loop }, next) => {
        journal = next;
        tally.add(engine.snapshot(loop.time()), clock.elapsed() - runSince);
        runSince = clock.elapsed();
      },
      clock,
      journal,
      latch,
      log,
      book: config.book,
      instance: config.instance,
      timing: config.timing,
      isFatal: code => meaningOf(code)?.advice === 'halt',
      mayPass: isAboutNonce,
      isAboutRules,
      remedyOf,
      reference,
      makeEngine: (rules, onNews, run) => engineOf(config, rules, run, onNews),
      onNews: (news, { instrument }) => {
        logEvent(log, instrument, news, resumeCommand);
        if (news.kind === 'count') page?.order(news.side, news.event);
        if (news.kind === 'fill') page?.fill(news.fill.side, volumeOf(news.fill, instrument));
      },
      hedge: hedgeOf(config, client),
      witness: witnessOf(config, client),
      moneyLists: client,
      adjustments: adjustmentsIn(config.state.dir),
      settlements: settlementsIn(config.state.dir),
      onStep: ms => page?.loop(ms),
      onReconciled: () => heart.read(),
      onTurn: isKeptOut => heart.beat(isKeptOut ? 'kept out' : 'alive'),
      resumeCommand,
      ...(config.sentinel.required ? { sentinelAlive: sentinelIn(config.state.dir, clock) } : {}),
    });
    if (journal.client === null && owner.venue !== null) {
      const status = await client.accountStatus();
      if (status.kind === 'done') journal.ownedBy(status.value.clientId);
    }
    const { instrument } = rolling.session.rules;
    const snapshot = () => snapshotOf(rolling.session);
    const beside = besideOf(config, clock);
    const scrapes = new LastScrape(clock, venue.speed);
    let isStoppedCleanly = false;
    page = metrics(config.book, options.version, () => ({
      ...monitored(snapshot(), rolling.session, beside),
      budget: client.budget(),
      isPaper: venue.paper !== undefined,
      isStoppedCleanly,
      disk: { journalWritable: journal.isWritable(), inbox: inbox?.state() ?? null },
    }));
    showProcess(page);
    const monitor = await serveMonitor({
      metrics: page,
      host: config.metrics.host,
      port: config.metrics.port,
      allowedHosts: config.metrics.allowedHosts,
      onScrape: asker => scrapes.happened(asker),
      notReady: () => notReady(snapshot()).concat(journal.isWritable() ? [] : [DISK_FULL]),
      warnings: () => [inbox?.state()?.problem ?? []].flat(),
    }).catch(misplaced);
    ends.push(() => monitor.close());
    log.info({ url: monitor.url }, `metrics at ${monitor.url}/metrics`);
    const { fenceMs, settleMs } = config.timing;
    log.info(
      { fenceMs, settleMs },
      `assuming that no request is held on its way longer than ${fenceMs / 1000} s (timing.fenceMs) and that no trade is listed later than ${settleMs / 1000} s (timing.settleMs)`,
    );

    const { tier } = rolling.session.rules;
    if (tier) log.info({}, describeTier(tier));
    const started = clock.elapsed();
    const line = status({
      log,
      // A change of the tick begins a run on another grid.
      instrument: () => rolling.session.rules.instrument,
      now: snapshot,
      clock,
      speed: venue.speed,
      queueAhead: () => rolling.session.loop.market.status.queueAhead,
      room: () => lineRoom() - (venue.paper === undefined ? 0 : PAPER_PREFIX.length),
    });
    ends.push(() => line.stop());
    if (config.webhooks) {
      inbox = await startInbox(config, config.webhooks, client, log, {
        moved: () => rolling.session.loop.market.moved(),
        converted: () => rolling.session.loop.converted(),
      });
      ends.push(() => inbox?.close());
    }
    let stop: (why: string) => void = () => undefined;
    const stopped = new Promise<string>(resolve => (stop = resolve));
    rolling.start(() => stop('something broke'));
    leftovers = [];
    options.onStarted(stop, error => rolling.session.loop.broke(error));
    const why = await stopped;
    log.info({ why }, `stopping (${why}): canceling our orders and verifying that none is left`);
    const report = await rolling.stop();
    if (report.left.length === 0) {
      heart.beat('stopped');
      // A run that broke ends without anybody having asked for it.
      isStoppedCleanly = report.failure === null;
      // Otherwise Prometheus would only see that nobody answers, as after a crash.
      await scrapes.next();
    }
    const seconds = (clock.elapsed() - started) / 1000 / venue.speed;
    const halted = rolling.session.engine.haltedBecause;
    const summary = summaryOf(instrument, snapshot(), report, { seconds, requests, halted, paper: venue.paper });
    return { summary, left: report.left, failure: report.failure };
  } catch (error) {
    if (leftovers.length === 0) throw error;
    return await giveUp(error, leftovers, options);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Few and fixed words, like the engine's. */
const DISK_FULL = 'the disk does not take the journal';

const HOUR_MS = 3_600_000;
const MB = 1_000_000;

/** A recording may become a quarter of all, the last eighth only at no good moment: together they never take more than `keepMb`. */
function journalLimits({ journal: { rollHours, keepMb } }: Config) {
  const bytes = (keepMb * MB) / 8;
  return { afterMs: rollHours * HOUR_MS, bytes, recordings: 6 * bytes };
}

/** What a folder or a port does not let us do is a person's to mend in the configuration; a damaged state is not. */
function openState(open: () => Journal): Journal | DamagedState | OtherKey {
  try {
    return open();
  } catch (error) {
    return error instanceof DamagedState || error instanceof OtherKey
      ? error
      : misplaced(new Error(sentenceOf(error)), error);
  }
}

function misplaced(error: unknown, cause: unknown = error): never {
  const wrong = new UsageError(error instanceof Error ? error.message : String(error));
  wrong.cause = cause;
  throw wrong;
}

/** Names an account at its venue without naming its first key: what was left there is only taken up again there. */
const accountName = ({ restUrl, key, born = 0 }: VenueAccess): string => digest(`${restUrl}\n${key}\n${born}`);

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const ownerOf = ({ exchange, book, instance }: Config, venue: VenueAccess): Owner => ({
  venue: exchange.kind === 'embedded' ? null : venue.restUrl,
  key: exchange.kind === 'embedded' ? '' : digest(venue.key),
  book,
  instance,
});

/** Whether the sentinel of a state directory has shown life within the last minute; it has a minute to begin with. */
function sentinelIn(dir: string, clock: Clock): () => boolean {
  const watch = new Watch(
    () => readPulse(dir, 'sentinel'),
    () => clock.elapsed(),
  );
  return () => {
    const still = watch.stillForMs();
    return still !== null && still <= SENTINEL_STILL_MAX_MS;
  };
}

const SENTINEL_STILL_MAX_MS = 60_000;
