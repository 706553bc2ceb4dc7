/**
 * Heartbeats between the bot and its sentinel: small files with a counter, because the clocks of the two may differ.
 */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock, Millis } from '../../core/index.ts';
import { writeWhole } from '../files/durableFiles.ts';

/** Content of a heartbeat. */
export type HeartbeatRecord = {
  readonly counter: number;
  /**
   * `kept out`: the process may not send private requests for now. `stopped`: it ended normally and left nothing to
   * watch.
   */
  readonly state: 'alive' | 'kept out' | 'stopped';
  /** Start time of the heartbeat, in ms since 1970; identifies the process. */
  readonly born: Millis;
  /** Number of complete reads of own orders and trades. */
  readonly reads: number;
  /** Time in ms since the last complete read, or since `born`. */
  readonly unreadMs: Millis;
  /** Process id and host; absent if unknown. */
  readonly process?: { readonly pid: number; readonly host: string };
  /** Clock of the process at the time of writing, if it is accelerated (`--speed`); otherwise absent. */
  readonly clock?: { readonly at: Millis; readonly speed: number };
  /** Port on which the process serves its metrics; absent if it serves none yet. */
  readonly metricsPort?: number;
};

export interface Heartbeat {
  /** Writes a heartbeat. Never throws: if the disk does not accept it, the process must look dead. */
  beat(state: HeartbeatRecord['state']): void;
  /** Writes a heartbeat after a complete read of own orders and trades. */
  read(): void;
}

/** Heartbeat that writes to a state directory. */
export interface FileHeartbeat extends Heartbeat {
  /** Names the port of the metrics in each later heartbeat. */
  setMetricsPort(port: number): void;
}

/** File names in a state directory. */
export const HEARTBEAT_FILES = { bot: 'heartbeat.json', sentinel: 'sentinel.json' } as const;
export type Whose = keyof typeof HEARTBEAT_FILES;

/** Returns a heartbeat that writes to a state directory. */
export function heartbeatIn(
  dir: string,
  whose: Whose,
  clock: Pick<Clock, 'now' | 'elapsed'>,
  speed = 1,
): FileHeartbeat {
  const file = join(dir, HEARTBEAT_FILES[whose]);
  // The counter must change across a restart.
  let counter = (readHeartbeat(dir, whose)?.counter ?? 0) + 1;
  const born = clock.now();
  let reads = 0;
  let readAt = clock.elapsed();
  let metricsPort: number | null = null;
  const beat = (state: HeartbeatRecord['state']): void => {
    const unreadMs = Math.round(clock.elapsed() - readAt);
    const record: HeartbeatRecord = {
      ...{ counter: counter++, state, born, reads, unreadMs },
      process: { pid: process.pid, host: hostname() },
      ...(speed === 1 ? {} : { clock: { at: clock.now(), speed } }),
      ...(metricsPort === null ? {} : { metricsPort }),
    };
    try {
      writeWhole(file, JSON.stringify(record));
    } catch {
      return;
    }
  };
  return {
    beat,
    setMetricsPort: port => {
      metricsPort = port;
    },
    read: () => {
      reads++;
      readAt = clock.elapsed();
      beat('alive');
    },
  };
}

/** Returns the last heartbeat; `null` if there is none or it is unreadable. */
export function readHeartbeat(dir: string, whose: Whose): HeartbeatRecord | null {
  try {
    const told = JSON.parse(readRegularFile(join(dir, HEARTBEAT_FILES[whose]), SMALL_FILE)) as Partial<HeartbeatRecord>;
    const { counter, state, process: where, clock, metricsPort: port } = told;
    if (!Number.isSafeInteger(counter)) return null;
    const number = (x: number | undefined): number => (Number.isFinite(x) ? x! : 0);
    return {
      counter: counter!,
      state: state === 'stopped' || state === 'kept out' ? state : 'alive',
      born: number(told.born),
      reads: number(told.reads),
      unreadMs: number(told.unreadMs),
      ...(where && Number.isSafeInteger(where.pid) ? { process: { pid: where.pid, host: String(where.host) } } : {}),
      ...(clock && clock.speed > 0 && Number.isFinite(clock.at) ? { clock: { at: clock.at, speed: clock.speed } } : {}),
      ...(Number.isInteger(port) && port! > 0 && port! <= 65_535 ? { metricsPort: port! } : {}),
    };
  } catch {
    return null;
  }
}

/**
 * Whether the process behind a heartbeat exists; `null` if unknown, because it runs on another host or is not
 * identified.
 */
export function isThere({ process: where }: HeartbeatRecord): boolean | null {
  if (where === undefined || where.host !== hostname()) return null;
  try {
    process.kill(where.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Clock of a bot, as seen by another process on the machine. */
export type BotClock = {
  /** Multiple of real time; 1 for the machine's clock. */
  readonly speed: number;
  /** Returns the bot's time at a wall time of the machine. */
  at(wall: Millis): Millis;
};

/** Returns the clock of the bot that last ran in a state directory. */
export function botClockIn(dir: string): BotClock {
  const clock = readHeartbeat(dir, 'bot')?.clock;
  if (clock === undefined) return { speed: 1, at: wall => wall };
  const writtenAt = statSync(join(dir, HEARTBEAT_FILES.bot)).mtimeMs;
  return { speed: clock.speed, at: wall => Math.round(clock.at + (wall - writtenAt) * clock.speed) };
}

/** Observation of a process that started and did not stop normally. */
export type Sight = {
  readonly record: HeartbeatRecord;
  /** Time in ms since the last heartbeat. */
  readonly stillMs: Millis;
  /**
   * Time in ms since its last complete read. Without one, since that of the previous process, unless that one had
   * stopped.
   */
  readonly unreadMs: Millis;
};

/** If the watcher itself did not look for this long, it was suspended and restarts its count. */
const UNWATCHED_MAX_MS = 30_000;

/** Watcher that measures, by its own clock, how long a heartbeat has not changed. */
export class Watch {
  readonly #read: () => HeartbeatRecord | null;
  readonly #elapsed: () => Millis;
  #last: HeartbeatRecord | null = null;
  #movedAt: Millis;
  #lookedAt: Millis;
  /** Time without a complete read when the heartbeat last changed. */
  #unreadMs: Millis = 0;

  /** The time without change counts from here. */
  constructor(read: () => HeartbeatRecord | null, elapsed: () => Millis) {
    this.#read = read;
    this.#elapsed = elapsed;
    this.#movedAt = elapsed();
    this.#lookedAt = elapsed();
  }

  /** Returns the last readable heartbeat, also of a process that stopped. */
  get last(): HeartbeatRecord | null {
    return this.#last;
  }

  /**
   * Checks the heartbeat. Returns `null` if there is nothing to watch: no heartbeat yet, or the process stopped
   * normally.
   */
  look(): Sight | null {
    const record = this.#read();
    const now = this.#elapsed();
    const hasMoved = record !== null && (record.counter !== this.#last?.counter || record.born !== this.#last.born);
    const wasAway = now - this.#lookedAt > UNWATCHED_MAX_MS;
    if (hasMoved) {
      // A process that restarts repeatedly and reads nothing neglects its orders as much as a frozen one.
      const goesOn = record.reads === 0 && !wasAway && this.#last !== null && this.#last.state !== 'stopped';
      this.#unreadMs = Math.max(record.unreadMs, goesOn ? this.#unreadMs + now - this.#movedAt : 0);
      this.#last = record;
    }
    if (hasMoved || wasAway) this.#movedAt = now;
    this.#lookedAt = now;
    if (this.#last === null || record?.state === 'stopped') return null;
    const stillMs = now - this.#movedAt;
    return { record: this.#last, stillMs, unreadMs: this.#unreadMs + stillMs };
  }

  /** Returns the ms since the last heartbeat; `null` if there is nothing to watch. */
  stillForMs(): Millis | null {
    return this.look()?.stillMs ?? null;
  }
}
