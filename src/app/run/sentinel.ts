/** `puntas sentinel`: the second process, beside the bot or on another host that shares its state directory. */
import type { Clock } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { heartbeatIn, readHeartbeat, Watch } from '../../live/safety/heartbeat.ts';
import { latchIn } from '../../live/safety/latch.ts';
import type { Log } from '../../live/log.ts';
import { watchOver } from '../../live/safety/sentinel.ts';
import { clientOf } from '../wiring/bot.ts';
import type { VenueAccess } from '../wiring/bot.ts';
import { ownCommand } from '../messages/ownCommand.ts';

/** Watches until the signal aborts. */
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
  const client = clientOf(config, venue, clock, seed);
  log.info({ state: dir }, `sentinel: watching ${config.instance} on ${config.book} through ${dir}`);
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
        instance: config.instance,
        ttlMs: config.sentinel.ttlMs,
        ordersMax: config.limits.ordersMax,
        resumeCommand: ownCommand('resume', { configFile, stateDir: dir }),
      },
      signal,
    );
  } finally {
    await client.close();
  }
}
