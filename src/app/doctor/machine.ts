/** Doctor checks of the machine, without the exchange: environment, state and disk, sentinel, ports. */
import { existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { counted, sleep, type Clock, textOfError } from '../../core/index.ts';
import { symbolsOf, unreadVariables, type Config } from '../../config.ts';
import { diskRoom } from '../../live/files/diskRoom.ts';
import { diskAdvice, diskTroubleOf, syncTimes } from '../../live/files/diskTrouble.ts';
import { assertStateDirTrusted, nearestFolder } from '../../live/files/stateDir.ts';
import { isThere, readHeartbeat, type HeartbeatRecord, type HeartbeatRole } from '../../live/safety/heartbeat.ts';
import { bookStopsIn } from '../../live/safety/bookLatch.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { ownerText } from '../../live/state/owner.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { lookInto } from '../../live/state/stateSummary.ts';
import { callbackOf, webhookTokens } from '../../wiring/inbox.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';
import { ownCommand, type WhichBot } from '../../messages/ownCommand.ts';
import { sourceOfStop } from '../inspect/botLife.ts';
import { checkAborted, finding, type Finding } from './finding.ts';

const { pass, warn, fail } = finding;

/**
 * Returns findings about variables of the environment that are set but not read; none if there are no such variables.
 */
export const environmentFindings = (config: Config, names: readonly string[]): readonly Finding[] =>
  unreadVariables(config, names).map(line =>
    warn(
      'environment',
      line,
      'correct the name of the variable, add the missing part of the configuration, or remove the variable',
    ),
  );

/**
 * Returns findings about the state directory: whether another bot uses it, other users can write to it, or stops in the
 * directory limit quoting.
 */
export async function stateFindings(config: Config, which: WhichBot, clock: Clock): Promise<readonly Finding[]> {
  const { dir } = config.state;
  const check = 'state';
  if (!existsSync(dir))
    return [
      pass(check, `${dir} does not exist yet; the first start creates it, accessible only to this user (mode 700)`),
    ];
  try {
    assertStateDirTrusted(dir);
  } catch (error) {
    return [checkAborted(check, error)];
  }
  if (isPaperState(dir)) return [fail(check, `${dir} belongs to paper trading`, 'set another state.dir for this bot')];
  const found = await lookInto(dir, clock).catch((error: unknown) => checkAborted(check, error));
  if (found !== null && 'check' in found) return [found];
  const owner = found?.owner ?? null;
  if (owner !== null && owner.venue !== null && config.exchange.kind === 'remote') {
    const ours = { ...config, key: '', venue: venueOf(config).restUrl(config.exchange.restUrl) };
    if (ownerText(owner) !== ownerText(ours))
      return [
        fail(check, `${dir} belongs to ${ownerText(owner)}`, `set another state.dir for ${config.instance}`),
        ...stops(config, which),
      ];
  }
  const bot = alive(dir, 'bot');
  const left = config.exchange.kind === 'remote' && bot === null ? (found?.orders ?? []) : [];
  return [
    secrecyFinding(dir, bot === null ? '' : `; a bot is running with this directory${processOf(bot)}`),
    ...(left.length === 0
      ? []
      : [
          warn(
            'left orders',
            `according to the state, ${counted(left.length, 'order')} of an earlier run may still be open: ${left.map(({ id }) => id).join(', ')}`,
            `the next start cancels these orders; to cancel them now: ${ownCommand('halt --cancel', which)}`,
          ),
        ]),
    ...stops(config, which),
  ];
}

/** Checks whether other users can read the state; write permissions were checked before. */
function secrecyFinding(dir: string, more: string): Finding {
  const mode = statSync(dir).mode & 0o777;
  return (mode & 0o077) === 0 || process.geteuid === undefined
    ? pass('state', `${dir} is accessible only to this user${more}`)
    : warn('state', `other users can access ${dir} (mode ${mode.toString(8)})${more}`, `chmod 700 ${dir}`);
}

/**
 * Returns findings about stops that would prevent a started bot from quoting, or limit its quotes to reducing
 * inventory. The stop of a book that the configuration does not have is a warning.
 */
function stops(config: Config, which: WhichBot): readonly Finding[] {
  const { dir } = config.state;
  const latch = latchIn(dir);
  const quoted = symbolsOf(config);
  const found = [
    { stop: latch.read() ?? latch.readHold() ?? latch.readReduce(), book: undefined },
    ...bookStopsIn(dir).map(({ book, halt }) => ({ stop: halt, book })),
  ];
  return found.flatMap(({ stop, book }) => {
    if (stop === null) return [];
    const what = `quoting${book === undefined ? '' : ` of ${book}`} is stopped or limited by ${sourceOfStop(stop)}: ${stop.reason}`;
    const lift = `investigate, then resume with: ${ownCommand('resume', { ...which, book })}`;
    return book === undefined || quoted.includes(book)
      ? [fail('halt', what, lift)]
      : [warn('halt', `${what}; this configuration does not quote ${book}`, lift)];
  });
}

const processOf = ({ process: where }: HeartbeatRecord): string =>
  where === undefined ? '' : ` (process ${where.pid} on ${where.host})`;

/** Returns the heartbeat of a process that may be running; `null` if the process stopped or no longer exists. */
export function alive(dir: string, whose: HeartbeatRole): HeartbeatRecord | null {
  const record = readHeartbeat(dir, whose);
  return record === null || record.state === 'stopped' || isThere(record) === false ? null : record;
}

/**
 * Number of disk measurements, enough for a median. All measurements together take less than a second on a slow disk.
 */
const SYNCS = 21;
/** Duration of a sync at which a disk counts as slow, in ms. Every order waits for a sync; cancels do not. */
const SYNC_SLOW_MS = 20;
/** Duration of a sync at which the check fails, in ms. */
const SYNC_HOPELESS_MS = 500;
const MB = 1_000_000;
/** Required disk space for state file, ledger and deliveries, in addition to the recordings, in MB. */
const ROOM_MB = 200;

/** Checks the disk space, and how long an order waits for the disk. */
export function diskFindings({ state, journal, webhooks }: Config, clock: Pick<Clock, 'elapsed'>): readonly Finding[] {
  const dir = nearestFolder(resolve(state.dir));
  let times: readonly number[];
  try {
    times = [...syncTimes(dir, SYNCS, () => clock.elapsed())].sort((a, b) => a - b);
  } catch (error) {
    const trouble = diskTroubleOf(error);
    const advice =
      trouble === null
        ? `give this user write access to ${dir}; to see its owner and mode, run ls -ld ${dir}`
        : diskAdvice(trouble, dir);
    return [fail('disk', textOfError(error), advice)];
  }
  const free = diskRoom(dir, () => clock.elapsed())();
  const needed = (journal.keepMb + (webhooks?.keepMb ?? 0) + ROOM_MB) * MB;
  const room = free === null ? null : `${Math.floor(free / MB)} MB are free at ${dir}`;
  const most = `the bot uses up to ${Math.ceil(needed / MB)} MB (journal.keepMb ${journal.keepMb})`;
  const [median, worst] = [times[times.length >> 1] ?? 0, times.at(-1) ?? 0];
  const speed = `${SYNCS} test writes reached the disk after ${ms(median)} in the median and ${ms(worst)} at most; every order waits for one such write`;
  return [
    room === null || free === null
      ? warn(
          'disk',
          'the system does not report free disk space',
          `make sure that ${Math.ceil(needed / MB)} MB are free (journal.keepMb ${journal.keepMb})`,
        )
      : free < needed
        ? (free < (ROOM_MB / 2) * MB ? fail : warn)(
            'disk',
            `${room}, and ${most}`,
            'free disk space, or lower journal.keepMb',
          )
        : pass('disk', `${room}, ${most}`),
    median > SYNC_HOPELESS_MS
      ? fail('disk sync', speed, 'move state.dir to a local disk; on this disk, orders would wait too long')
      : median > SYNC_SLOW_MS
        ? warn('disk sync', speed, 'move state.dir to a faster, local disk')
        : pass('disk sync', speed),
  ];
}

const ms = (time: number): string => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;

/**
 * Time in which a running sentinel must write a heartbeat, in ms. A sentinel normally writes one heartbeat per second.
 */
const BEATS_WITHIN_MS = 3_000;

/** Checks whether a sentinel would cancel the orders of a bot that is down. */
export async function sentinelFinding(config: Config, clock: Clock): Promise<Finding> {
  const check = 'sentinel';
  const { required } = config.sentinel;
  if (config.exchange.kind === 'embedded')
    return required
      ? fail(
          check,
          'sentinel.required is set, but the embedded exchange stops when the bot stops, so no sentinel can run',
          'remove sentinel.required',
        )
      : pass(check, 'no sentinel is needed, because the embedded exchange stops when the bot stops');
  const { dir } = config.state;
  const start = `start puntas sentinel with a second key, not the key of the bot (docs/sentinel.md)`;
  const seen = alive(dir, 'sentinel');
  if (seen !== null && (isThere(seen) === true || (await moves(dir, seen, clock))))
    return pass(check, `a sentinel watches ${dir}${processOf(seen)}`);
  if (required)
    return fail(
      check,
      'the bot would not quote, because sentinel.required is set and no sentinel sends a heartbeat',
      start,
    );
  return warn(
    check,
    'no sentinel sends a heartbeat, so the orders of this bot stay live if the bot goes down',
    `${start}, and set sentinel.required`,
  );
}

async function moves(dir: string, seen: HeartbeatRecord, clock: Clock): Promise<boolean> {
  await sleep(clock, BEATS_WITHIN_MS);
  return readHeartbeat(dir, 'sentinel')?.counter !== seen.counter;
}

/** Checks whether the ports of metrics and webhooks are available, and from where they are reachable. */
export async function portFindings({ metrics, webhooks, state }: Config): Promise<readonly Finding[]> {
  const running = alive(state.dir, 'bot');
  // A running bot may serve its metrics on another port, for example that of --metrics-port.
  const isOwn = running !== null && (running.metricsPort ?? metrics.port) === metrics.port;
  const found = [await portFinding('metrics', metrics, isOwn)];
  if (!webhooks) return found;
  found.push(await portFinding('webhooks', webhooks, running !== null));
  try {
    const [token] = webhookTokens();
    const at = webhooks.callbackUrl;
    if (at === undefined || token === undefined)
      found.push(
        warn(
          'callback',
          'webhooks.callbackUrl is not set',
          'set webhooks.callbackUrl to the address at which the exchange reaches the TLS proxy in front of the bot',
        ),
      );
    else if (new URL(callbackOf(at, token)).protocol !== 'https:')
      found.push(
        fail(
          'callback',
          `${at} does not use TLS`,
          'put a TLS proxy in front of the bot, and set webhooks.callbackUrl to its https:// address',
        ),
      );
    else found.push(pass('callback', `${at} uses TLS, and its secret path is long enough`));
  } catch (error) {
    found.push(checkAborted('callback', error));
  }
  return found;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

async function portFinding(
  name: 'metrics' | 'webhooks',
  { host, port }: { readonly host: string; readonly port: number },
  isOwn: boolean,
): Promise<Finding> {
  const at = `${host}:${port}`;
  const why = await listenProblem(host, port);
  if (why === 'EADDRINUSE' && isOwn) return pass(name, `${at} is in use, as expected while the bot is running`);
  if (why !== null) {
    const todo =
      why === 'EADDRINUSE'
        ? `choose another ${name}.port (0 for any free port), or stop the program that uses this port`
        : `choose another ${name}.host and ${name}.port`;
    return fail(name, `${at} is not available: ${why}`, todo);
  }
  if (LOOPBACK.test(host))
    return pass(name, port === 0 ? `the bot will use any free port of ${host}` : `${at} is free`);
  return warn(
    name,
    `${at} is free, but anyone who can reach this machine can use this port over plain HTTP, without a login`,
    name === 'metrics'
      ? 'unless the bot runs in a container, set metrics.host: 127.0.0.1'
      : 'allow only a proxy with TLS to reach this port (webhooks.sources)',
  );
}

/** Returns the system's error code; `null` if the port could be opened. The port is closed again. */
function listenProblem(host: string, port: number): Promise<string | null> {
  return new Promise(done => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => done(null)));
  });
}
