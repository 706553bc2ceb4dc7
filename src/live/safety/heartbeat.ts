/**
 * Heartbeats between the bot and its sentinel: small files with a counter. A process counts as running while its
 * counter changes. Times are not compared, because the two clocks may differ.
 */
import { readRegularFile, SMALL_FILE, writeWhole } from '../../guard/index.ts';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock, Millis } from '../../core/index.ts';

/** Content of a heartbeat. */
export type HeartbeatRecord = {
  readonly counter: number;
  /**
   * State of the process. `kept out`: the process must not send private requests at present. `stopped`: the process
   * ended normally, so the orders of the bot need no watching.
   */
  readonly state: 'alive' | 'kept out' | 'stopped';
  /** Start time of the process, in ms since 1970; identifies the process. */
  readonly born: Millis;
  /** Number of complete reads of the bot's orders and trades. */
  readonly reads: number;
  /** Time since the last complete read, in ms. Before the first complete read, time since `born`. */
  readonly unreadMs: Millis;
  /** Process id and host; absent if unknown. */
  readonly process?: { readonly pid: number; readonly host: string };
  /** Clock of the process at the time of writing, if accelerated (`--speed`); otherwise absent. */
  readonly clock?: { readonly at: Millis; readonly speed: number };
  /** Port on which the process serves its metrics; absent if the process serves no metrics yet. */
  readonly metricsPort?: number;
};

export interface Heartbeat {
  /** Writes a heartbeat. Never throws: if the disk accepts no write, the process must look dead. */
  beat(state: HeartbeatRecord['state']): void;
  /** Writes a heartbeat after a complete read of the bot's orders and trades. */
  read(): void;
}

/** Heartbeat that writes to a state directory. */
export interface FileHeartbeat extends Heartbeat {
  /** Adds the port of the metrics server to every later heartbeat. */
  setMetricsPort(port: number): void;
}

/** Names of the heartbeat files in a state directory, by the process that writes them. */
export const HEARTBEAT_FILES = { bot: 'heartbeat.json', sentinel: 'sentinel.json' } as const;
export type HeartbeatRole = keyof typeof HEARTBEAT_FILES;

/** Returns a heartbeat that writes to a state directory. */
export function heartbeatIn(
  dir: string,
  whose: HeartbeatRole,
  clock: Pick<Clock, 'now' | 'elapsed'>,
  speed = 1,
): FileHeartbeat {
  const file = join(dir, HEARTBEAT_FILES[whose]);
  // The counter continues after a restart, so that the first heartbeat of the new process also changes it.
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

/** Returns the last heartbeat; `null` if there is no heartbeat or it is unreadable. */
export function readHeartbeat(dir: string, whose: HeartbeatRole): HeartbeatRecord | null {
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
 * Whether the process of a heartbeat exists; `null` if unknown, because the process runs on another host or the
 * heartbeat does not identify it.
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

/** Clock of a bot, as another process on the machine can compute it. */
export type BotClock = {
  /** Speed as a multiple of real time; 1 for the machine's clock. */
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

/** State of a process that started and did not stop normally, as observed by the watching process. */
export type Sight = {
  readonly record: HeartbeatRecord;
  /** Time in ms since the last heartbeat. */
  readonly stillMs: Millis;
  /**
   * Time since the last complete read in ms. Before the first read of a process, counts from the last read of the
   * previous process, unless that process had stopped.
   */
  readonly unreadMs: Millis;
};

/**
 * Maximum time between two checks. If it is exceeded, the watcher itself counts as suspended, and the time without a
 * heartbeat counts from the second check.
 */
const UNWATCHED_MAX_MS = 30_000;

/** Watcher of a heartbeat: measures, by its own clock, how long the heartbeat has not changed. */
export class Watch {
  readonly #read: () => HeartbeatRecord | null;
  readonly #elapsed: () => Millis;
  #last: HeartbeatRecord | null = null;
  #movedAt: Millis;
  #lookedAt: Millis;
  /** Time since the last complete read in ms, as of the last change of the heartbeat. */
  #unreadMs: Millis = 0;

  /** Creates the watcher. The time without a change of the heartbeat counts from the creation. */
  constructor(read: () => HeartbeatRecord | null, elapsed: () => Millis) {
    this.#read = read;
    this.#elapsed = elapsed;
    this.#movedAt = elapsed();
    this.#lookedAt = elapsed();
  }

  /** Returns the last readable heartbeat, even of a process that stopped. */
  get last(): HeartbeatRecord | null {
    return this.#last;
  }

  /** Checks the heartbeat. Returns `null` if there is no heartbeat yet, or the process stopped normally. */
  look(): Sight | null {
    const record = this.#read();
    const now = this.#elapsed();
    const hasMoved = record !== null && (record.counter !== this.#last?.counter || record.born !== this.#last.born);
    const wasAway = now - this.#lookedAt > UNWATCHED_MAX_MS;
    if (hasMoved) {
      // A process that restarts repeatedly without reads is as dangerous as a frozen one, so a restart does not reset
      // the time without reads.
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

  /** Returns the ms since the last heartbeat; `null` if there is no heartbeat, or the process stopped normally. */
  stillForMs(): Millis | null {
    return this.look()?.stillMs ?? null;
  }
}
