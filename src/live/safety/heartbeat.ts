/** Signs of life between the bot and its sentinel: small files with a counter, because the two may not agree on the time. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock, Millis } from '../../core/index.ts';
import { writeWhole } from '../files/durableFiles.ts';

/** What a process says of itself. */
export type HeartbeatRecord = {
  readonly counter: number;
  /** `kept out`: no private request may be sent for now. `stopped`: ended by itself with nothing left to watch. */
  readonly state: 'alive' | 'kept out' | 'stopped';
  /** Tells one process from the next: when its heart began, milliseconds since 1970. */
  readonly born: Millis;
  /** Whole reads of its own orders and trades so far. */
  readonly reads: number;
  /** Milliseconds since the last of them, or since `born`. */
  readonly unreadMs: Millis;
  /** Where it can be looked for; absent where nobody knows. */
  readonly process?: { readonly pid: number; readonly host: string };
  /** The process's own clock when this was written, where it runs faster than the machine's (`--speed`); absent otherwise. */
  readonly clock?: { readonly at: Millis; readonly speed: number };
};

export interface Heartbeat {
  /** One sign of life. Never throws: a disk that does not take it looks like death, which is what it should look like. */
  beat(state: HeartbeatRecord['state']): void;
  /** The same, after a whole read of its own orders and trades. */
  read(): void;
}

/** In a state directory. */
export const HEARTBEAT_FILES = { bot: 'heartbeat.json', sentinel: 'sentinel.json' } as const;
export type Whose = keyof typeof HEARTBEAT_FILES;

/** Beats into a state directory. */
export function heartbeatIn(dir: string, whose: Whose, clock: Pick<Clock, 'now' | 'elapsed'>, speed = 1): Heartbeat {
  const file = join(dir, HEARTBEAT_FILES[whose]);
  // A restart must not look like standing still.
  let counter = (readHeartbeat(dir, whose)?.counter ?? 0) + 1;
  const born = clock.now();
  let reads = 0;
  let readAt = clock.elapsed();
  const beat = (state: HeartbeatRecord['state']): void => {
    const unreadMs = Math.round(clock.elapsed() - readAt);
    const record: HeartbeatRecord = {
      ...{ counter: counter++, state, born, reads, unreadMs },
      process: { pid: process.pid, host: hostname() },
      ...(speed === 1 ? {} : { clock: { at: clock.now(), speed } }),
    };
    try {
      writeWhole(file, JSON.stringify(record));
    } catch {
      return;
    }
  };
  return {
    beat,
    read: () => {
      reads++;
      readAt = clock.elapsed();
      beat('alive');
    },
  };
}

/** The last sign of life, or null when there is none that can be read. */
export function readHeartbeat(dir: string, whose: Whose): HeartbeatRecord | null {
  try {
    const told = JSON.parse(readRegularFile(join(dir, HEARTBEAT_FILES[whose]), SMALL_FILE)) as Partial<HeartbeatRecord>;
    const { counter, state, process: where, clock } = told;
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
    };
  } catch {
    return null;
  }
}

/** Whether the process behind a heartbeat is still there; null where that cannot be seen: on another host, or nobody said which it is. */
export function isThere({ process: where }: HeartbeatRecord): boolean | null {
  if (where === undefined || where.host !== hostname()) return null;
  try {
    process.kill(where.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** The clock of a bot, as another process of the machine knows it. */
export type BotClock = {
  /** Times real time; 1 for the machine's own. */
  readonly speed: number;
  /** The bot's time at a time of the machine. */
  at(wall: Millis): Millis;
};

/** The clock of the bot that ran there last. */
export function botClockIn(dir: string): BotClock {
  const clock = readHeartbeat(dir, 'bot')?.clock;
  if (clock === undefined) return { speed: 1, at: wall => wall };
  const writtenAt = statSync(join(dir, HEARTBEAT_FILES.bot)).mtimeMs;
  return { speed: clock.speed, at: wall => Math.round(clock.at + (wall - writtenAt) * clock.speed) };
}

/** What is seen of a process that has begun, and not stopped by itself. */
export type Sight = {
  readonly record: HeartbeatRecord;
  /** Milliseconds since the last sign of life. */
  readonly stillMs: Millis;
  /** Milliseconds since its last whole read; while it has made none, since that of the process before it, unless that one had stopped. */
  readonly unreadMs: Millis;
};

/** Who has not looked for so long has stood still itself, and gives the other its time anew. */
const UNWATCHED_MAX_MS = 30_000;

/** Says how long a heartbeat has stood still, by the watcher's own clock. */
export class Watch {
  readonly #read: () => HeartbeatRecord | null;
  readonly #elapsed: () => Millis;
  #last: HeartbeatRecord | null = null;
  #movedAt: Millis;
  #lookedAt: Millis;
  /** How long nobody had read, when the heartbeat last moved. */
  #unreadMs: Millis = 0;

  /** Standing still is counted from now on. */
  constructor(read: () => HeartbeatRecord | null, elapsed: () => Millis) {
    this.#read = read;
    this.#elapsed = elapsed;
    this.#movedAt = elapsed();
    this.#lookedAt = elapsed();
  }

  /** The last heartbeat that could be read, also of one that stopped. */
  get last(): HeartbeatRecord | null {
    return this.#last;
  }

  /** Null when there is nothing to watch: it never beat, or it stopped by itself. */
  look(): Sight | null {
    const record = this.#read();
    const now = this.#elapsed();
    const hasMoved = record !== null && (record.counter !== this.#last?.counter || record.born !== this.#last.born);
    const wasAway = now - this.#lookedAt > UNWATCHED_MAX_MS;
    if (hasMoved) {
      // One that is started again and again, and reads nothing, looks after the orders as little as one that stands still.
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

  /** Milliseconds since the last sign of life; null when there is nothing to watch. */
  stillForMs(): Millis | null {
    return this.look()?.stillMs ?? null;
  }
}
