/** `puntas sentinel`: a second process, on the bot's host or on another host that shares the bot's state directory. */
import type { Clock } from '../../core/index.ts';
import { booksText, liveOrdersMax, otherBooksWith, symbolsOf, type Config } from '../../config.ts';
import { heartbeatIn, readHeartbeat, Watch } from '../../live/safety/heartbeat.ts';
import { diskProblem } from '../../live/files/diskRoom.ts';
import { noteOrdersSeen } from '../../live/safety/ordersSeen.ts';
import { latchIn } from '../../live/safety/latch.ts';
import type { Log } from '../../live/log.ts';
import { lookInto, type LiveOrder } from '../../live/state/stateSummary.ts';
import { watchOver, type OrderBounds, type SentinelSight } from '../../live/safety/sentinel.ts';
import { realClock } from '../../live/realClock.ts';
import { startAlerts, type Alerts } from '../../alerts/alerts.ts';
import { clientOf, type VenueAccess } from '../../wiring/bot.ts';
import { ownCommand } from '../../messages/ownCommand.ts';
import { lastConfigOf } from '../inspect/botOfFolder.ts';

/** Watches the bot until the signal is aborted. */
export async function sentinel(
  config: Config,
  venue: VenueAccess,
  clock: Clock,
  seed: number,
  log: Log,
  signal: AbortSignal,
  configFile?: string,
): Promise<void> {
  const { dir } = config.state;
  const alerts = startAlerts({ config, clock: realClock(), log, hidden: [venue.secret.reveal(), venue.key] });
  const client = clientOf(config, venue, clock, seed);
  const bounds = await orderBounds(config, clock).catch(() => boundsOf(config, config, []));
  log.info(
    { state: dir },
    `sentinel: watching ${config.instance} on ${booksText(config)}, with the state directory ${dir}`,
  );
  try {
    await watchOver(
      {
        exchange: client,
        clock,
        log,
        latch: latchIn(dir),
        heartbeat: heartbeatIn(dir, 'sentinel', clock),
        watch: new Watch(
          () => readHeartbeat(dir, 'bot'),
          () => clock.elapsed(),
        ),
        book: config.book,
        ...bounds,
        readBounds: () => orderBounds(config, clock),
        instance: config.instance,
        ttlMs: config.sentinel.ttlMs,
        resumeCommand: ownCommand('resume', { configFile, stateDir: dir }),
        diskProblem: () => diskProblem(dir),
        onOrders: count => noteOrdersSeen(dir, { at: clock.now(), by: 'sentinel', count }),
        ...(alerts && { onSight: sightAlerts(alerts) }),
      },
      signal,
    );
  } finally {
    await client.close();
    await alerts?.close();
  }
}

/**
 * Reads the books, the limit and the orders of the bot's last run, which may have changed since this configuration was
 * read. Orders are on disk before they are sent, so the state has every book of a live order.
 */
async function orderBounds(config: Config, clock: Clock): Promise<OrderBounds> {
  const { dir } = config.state;
  const { orders } = (await lookInto(dir, clock)) ?? { orders: [] };
  let running = config;
  try {
    running = lastConfigOf(dir);
  } catch {
    // The bot has not run yet.
  }
  return boundsOf(config, running, orders);
}

/** Orders of earlier runs may be in books that the configuration no longer has. */
const boundsOf = (
  config: Config,
  running: Config,
  orders: readonly Pick<LiveOrder, 'id' | 'symbol'>[],
): OrderBounds => ({
  others: otherBooksWith(config, [...orders, ...symbolsOf(running).map(symbol => ({ symbol }))]),
  ordersMax: liveOrdersMax(running, orders),
  known: orders.map(({ id }) => id).filter(id => id.startsWith(`${config.instance}-`)),
});

/**
 * Returns a function that alerts when the bot is down, and when the sentinel has verified its cancels. The bot itself
 * reports all other events while it can.
 */
function sightAlerts(alerts: Alerts): (seen: SentinelSight) => void {
  let isGone = false;
  return seen => {
    // The alert makes a sound only if the bot is down and cannot report.
    if (seen.kind === 'verified') return alerts.raise(seen.isHalt ? 'halted' : 'notQuoting', seen.sentence, !isGone);
    const { gone, isLatched } = seen;
    if (gone !== null && !isGone)
      alerts.raise('down', `${gone}; orders of the bot may be live until the sentinel has verified their cancellation`);
    if (gone === null) alerts.end('down');
    isGone = gone !== null;
    if (!isLatched) for (const event of ['halted', 'notQuoting'] as const) alerts.end(event);
  };
}
