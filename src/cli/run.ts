/** `puntas run`: makes a market until it is told to stop, then leaves nothing behind and says what came of it. */
import { createHash } from 'node:crypto';
import { moneyOfAmount } from '../core/index.ts';
import type { Amount, Clock, Engine, Order, Side, Snapshot } from '../core/index.ts';
import type { Config } from '../config.ts';
import { meaningOf } from '../exchange/index.ts';
import { DamagedState, openJournal } from '../live/journal.ts';
import type { Journal } from '../live/journal.ts';
import { heartIn, readPulse, Watch } from '../live/heart.ts';
import { latchIn } from '../live/latch.ts';
import type { Log } from '../live/log.ts';
import type { Loop } from '../live/loop.ts';
import type { Rules } from '../live/opening.ts';
import { recoverAndCancel } from '../live/recoverAndCancel.ts';
import { CannotStart } from '../live/opening.ts';
import { openSession } from '../live/session.ts';
import { metrics, serveMonitor } from '../monitor/index.ts';
import type { Metrics, Monitored } from '../monitor/index.ts';
import { clientOf, engineOf, streamOf } from './bot.ts';
import type { Venue } from './bot.ts';
import { Wrong } from './configFile.ts';
import { narrate, status } from './narrator.ts';
import { remedyOf } from './remedy.ts';
import { summaryOf } from './summary.ts';
import type { Summary } from './summary.ts';

export type RunOptions = {
  readonly config: Config;
  readonly venue: Venue;
  readonly clock: Clock;
  readonly seed: number;
  readonly log: Log;
  readonly version: string;
  /** Called with a function that ends the run; its argument says why. */
  readonly onStarted: (stop: (why: string) => void, broke: (error: unknown) => void) => void;
};

export type RunResult = {
  readonly summary: Summary;
  readonly left: readonly string[];
  readonly failure: string | null;
};

/** Everything between start and clean end. Rejects with one line for a person when it cannot start. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { config, venue, clock, seed, log } = options;
  const ends: (() => unknown)[] = [];
  /** Orders of an earlier run that may live, until this one takes care of them. */
  let leftovers: readonly { readonly id: string }[] = [];
  try {
    const account = accountName(venue);
    const setup = JSON.stringify(config);
    const opened = openState(() => openJournal(config.state.dir, { account, at: clock.now(), setup }));
    if (opened instanceof DamagedState) return await giveUp(opened, options);
    const journal = opened;
    leftovers = journal.leftovers.orders;
    ends.push(() => journal.close());
    const heart = heartIn(config.state.dir, 'bot');
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
    const stream = streamOf(config, venue, clock, seed);
    ends.push(() => stream?.close());
    const session = await openSession({
      exchange: client,
      ...(stream ? { stream } : {}),
      clock,
      journal,
      latch: latchIn(config.state.dir),
      log,
      book: config.book,
      instance: config.instance,
      timing: config.timing,
      isFatal: code => meaningOf(code)?.advice === 'halt',
      makeEngine: (rules, onNews) => engineOf(config, rules, journal.run, onNews),
      onNews: (news, { instrument }) => {
        narrate(log, instrument, news);
        if (news.kind === 'count') page?.order(news.side, news.event);
        if (news.kind === 'fill') page?.fill(news.fill.side);
      },
      onStep: ms => page?.loop(ms),
      onReconciled: () => heart.beat('alive'),
      ...(config.sentinel.required ? { sentinelAlive: sentinelIn(config.state.dir, clock) } : {}),
    });
    const { engine, loop, rules } = session;
    page = metrics(config.book, options.version, () => ({
      ...monitored(engine, loop.time()),
      ...monitoredMarket(rules, loop),
      budget: client.budget(),
    }));
    const monitor = await serveMonitor({
      metrics: page,
      host: config.metrics.host,
      port: config.metrics.port,
      allowedHosts: config.metrics.allowedHosts,
      notReady: () => notReady(engine.snapshot(loop.time())),
    }).catch(misplaced);
    ends.push(() => monitor.close());
    log.info({ url: monitor.url }, `metrics at ${monitor.url}/metrics`);
    const { fenceMs, settleMs } = config.timing;
    log.info(
      { fenceMs, settleMs },
      `assuming that no request is held on its way longer than ${fenceMs / 1000} s (timing.fenceMs) and that no trade is listed later than ${settleMs / 1000} s (timing.settleMs)`,
    );

    const started = clock.elapsed();
    const line = status(log, rules.instrument, engine, clock, venue.speed, () => loop.market.status.queueAhead);
    ends.push(() => line.stop());
    let stop: (why: string) => void = () => undefined;
    const stopped = new Promise<string>(resolve => (stop = resolve));
    session.start(() => stop('something broke'));
    leftovers = [];
    options.onStarted(stop, error => loop.broke(error));
    const why = await stopped;
    log.info({ why }, `stopping (${why}): canceling our orders and verifying that none is left`);
    const report = await session.stop();
    if (report.left.length === 0) heart.beat('stopped');
    const seconds = (clock.elapsed() - started) / 1000 / venue.speed;
    const summary = summaryOf(rules.instrument, engine.snapshot(loop.time()), report, {
      seconds,
      requests,
      halted: engine.haltedBecause,
    });
    return { summary, left: report.left, failure: report.failure };
  } catch (error) {
    throw leftovers.length === 0 ? error : abandoned(error, leftovers);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** A start that ends before it can look after what an earlier run left. */
function abandoned(error: unknown, leftovers: readonly { readonly id: string }[]): Wrong {
  const sentence = error instanceof Error ? error.message : String(error);
  const remedy = error instanceof CannotStart ? remedyOf(error.code) : null;
  return new Wrong(
    [
      remedy === null ? sentence : `${sentence}; ${remedy}`,
      ...leftovers.map(({ id }) => `not verified to be gone: ${id}`),
      'orders of the last run may be left on the exchange: start again, or cancel them there',
    ],
    3,
  );
}

/** What a folder or a port does not let us do is a person's to mend in the configuration; a damaged state is not. */
function openState(open: () => Journal): Journal | DamagedState {
  try {
    return open();
  } catch (error) {
    return error instanceof DamagedState ? error : misplaced(error);
  }
}

/** Without a state that can be trusted nothing is placed: our orders are taken out, and a person is told what to do. Always rejects. */
async function giveUp(damaged: DamagedState, { config, venue, clock, seed, log }: RunOptions): Promise<never> {
  log.error({}, damaged.message);
  const client = clientOf(config, venue, clock, seed);
  const { left } = await recoverAndCancel({
    exchange: client,
    clock,
    log,
    book: config.book,
    instance: config.instance,
    // An embedded exchange ended with the run before.
    fenceMs: config.exchange.kind === 'embedded' ? 0 : config.timing.fenceMs,
    withinMs: config.timing.shutdownMs,
  }).finally(() => client.close());
  const advice = `look at the account, move ${config.state.dir} away and keep it, then start again: the balances of that moment become the new ledger`;
  if (left?.length === 0)
    throw new Wrong(
      `${damaged.message}; nothing was placed, and two reads show no open order of ${config.instance}; ${advice}`,
      1,
    );
  const which = left === null ? 'open orders could not be read' : `not verified to be gone: ${left.join(', ')}`;
  throw new Wrong(
    `${damaged.message}; nothing was placed, but orders of ${config.instance} may be left (${which}): cancel them at the exchange; ${advice}`,
    3,
  );
}

function misplaced(error: unknown): never {
  throw new Wrong(error instanceof Error ? error.message : String(error));
}

/** Names an account at its venue without naming its key: what was left there is only taken up again there. */
const accountName = ({ restUrl, key, born = 0 }: Venue): string =>
  createHash('sha256').update(`${restUrl}\n${key}\n${born}`).digest('hex').slice(0, 32);

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

function monitoredMarket({ instrument }: Rules, loop: Loop): Pick<Monitored, 'streamUp' | 'queueAhead'> {
  const { streamUp, queueAhead } = loop.market.status;
  const sum = (lots: Amount | null) => (lots === null ? null : moneyOfAmount(instrument, lots));
  return { streamUp, queueAhead: { buy: sum(queueAhead.buy), sell: sum(queueAhead.sell) } };
}

function monitored(engine: Engine, at: number): Omit<Monitored, 'budget' | 'streamUp' | 'queueAhead'> {
  const snapshot = engine.snapshot(at);
  const own = { bid: best(snapshot.orders, 'buy'), ask: best(snapshot.orders, 'sell') };
  const count = (side: Side) => snapshot.orders.filter(order => order.side === side && isLive(order)).length;
  return {
    book: snapshot.symbol,
    quotesLive: { buy: count('buy'), sell: count('sell') },
    position: snapshot.holdings,
    pnl: snapshot.profit,
    spreadBps: spreadBps(own.bid, own.ask),
    marketSpreadBps: spreadBps(snapshot.bid, snapshot.ask),
    bookAgeMs: Number.isFinite(snapshot.bookAge) ? snapshot.bookAge : null,
    notQuoting: notReady(snapshot).concat(snapshot.silent),
  };
}

/** Why nothing can be quoted at all; empty when quoting is possible. */
const notReady = ({ quoting }: Snapshot): string[] => (quoting === null ? [] : [quoting]);

const isLive = (order: Order): boolean => order.state === 'open' || order.state === 'partially filled';

function best(orders: readonly Order[], side: Side): number {
  const prices = orders.filter(order => order.side === side && isLive(order)).map(order => order.price);
  if (prices.length === 0) return 0;
  return side === 'buy' ? Math.max(...prices) : Math.min(...prices);
}

const spreadBps = (bid: number, ask: number): number | null =>
  bid > 0 && ask > 0 ? ((ask - bid) * 20_000) / (ask + bid) : null;
