/** Halt latch: a file with the reason why trading stopped. A restart does not lift it; only `puntas resume` does. */
import { readRegularFile, SMALL_FILE, TailedLines } from '../../guard/index.ts';
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { appendLine, overwrite, syncFolder, writeDurably, writeDurablyAlone } from '../files/durableFiles.ts';
import type { Log } from '../log.ts';
import { heedStateDir } from '../files/stateDir.ts';
import { FLATTEN_FILE } from './flatten.ts';

export type Halt = {
  readonly reason: string;
  readonly at: Millis;
  readonly by: 'bot' | 'sentinel' | 'person';
  /** Name of the operator, if given. */
  readonly who?: string;
};

/** Pause of all quotes by the operator. */
export type Pause = Halt & {
  /** Expiry time; `null` if only `resume` ends the pause. */
  readonly until: Millis | null;
};

/** Hold of the quotes by the sentinel. The sentinel lifts it when the same bot process reads the exchange again. */
export type Hold = Halt & {
  /** Heartbeat of the bot at that time: start of its process, and number of complete reads. */
  readonly born: Millis;
  readonly reads: number;
};

export interface Latch {
  /** Returns why trading is halted, or `null`. An unreadable file counts as a halt. */
  read(): Halt | null;
  /** Sets the halt, durable on return. The first reason stays. */
  set(halt: Halt): void;
  /** Returns why the bot is reduce-only until the operator resumes, or `null`. */
  readReduce?(): Halt | null;
  /** Sets reduce-only, like `set`. */
  setReduce?(reduce: Halt): void;
  /**
   * Lifts only reduce-only, on the bot's behalf, and logs the reason. Returns `false` if the disk does not accept it;
   * the caller must retry.
   */
  liftReduce?(reason: string, at: Millis): boolean;
  /**
   * Returns the operator's pause, even if expired, or `null`. An unreadable file counts as a pause that only `resume`
   * ends.
   */
  readPause?(): Pause | null;
  /** Sets the pause, durable on return; replaces an earlier one. */
  setPause?(pause: Pause): void;
  /**
   * Ends only that pause and logs operator, reason and time. Returns `false` if another pause has replaced it, or if
   * the disk does not accept the change.
   */
  endPause?(pause: Pause, ended: Halt): boolean;
  /** Returns why the sentinel holds quotes, or `null`. An unreadable file counts. */
  readHold(): Hold | null;
  /** Sets the hold, like `set`. */
  setHold(hold: Hold): void;
  /**
   * Lifts only the hold and logs operator, reason and time with what was lifted. Throws if the disk does not accept it.
   */
  liftHold(lifted: { readonly reason: string; readonly at: Millis; readonly by: 'sentinel' }): void;
  /**
   * Lifts the halt, the hold and reduce-only for the operator, but not the pause; logs the reason with what was lifted.
   */
  lift(reason: string, at?: Millis, who?: string): void;
  /** Returns `true` once after a halt was lifted, also if the bot was not running then. */
  takeLifted?(): boolean;
  /** Reserves the disk space that a halt needs if the disk is full. Throws if there is none. */
  reserve?(): void;
}

const LATCH_FILE = 'HALTED';
/** Latch file of reduce-only. */
const REDUCE_FILE = 'REDUCE';
/** Latch file of the operator's pause. */
export const PAUSE_FILE = 'PAUSED';
/** Latch file of the sentinel's hold. */
const HOLD_FILE = 'HELD';
/** Log with one line for each lifted halt. */
const LIFTED_FILE = 'resumed.jsonl';
/** Becomes the latch if the disk has no space for a new file: a rename needs none. */
const RESERVE_FILE = 'HALTED.reserve';
const RESERVED = 'the disk was full when trading was halted: the log has the reason';
/** Size of the reserve file; a halt written over it needs no further space. */
const RESERVE_BYTES = 4_096;
/** Exists from the lifting of a halt until a bot has applied it. */
const TAKE_UP_FILE = 'RESUMED';

/** Returns a halt as text for the reserve, always of the same length; a longer reason is cut. */
function textFor(halt: Halt): string {
  const fits = (reason: string) => JSON.stringify({ ...halt, reason });
  let { reason } = halt;
  while (Buffer.byteLength(fits(reason)) > RESERVE_BYTES) reason = reason.slice(0, reason.length >> 1);
  const text = fits(reason);
  return text + ' '.repeat(RESERVE_BYTES - Buffer.byteLength(text));
}

/** Reads a latch file; an unreadable one counts as a halt. `name`: original path of the file. */
function haltIn(file: string, name = file): Halt | null {
  let text: string;
  try {
    text = readRegularFile(file, SMALL_FILE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return { reason: `the latch ${name} cannot be read: ${String(error)}`, at: 0, by: 'bot' };
  }
  try {
    const { reason, at, by, ...more } = JSON.parse(text) as Partial<Halt>;
    return { ...more, reason: String(reason), at: Number(at), by: by === 'sentinel' || by === 'person' ? by : 'bot' };
  } catch {
    return { reason: `the latch ${name} is there but not readable`, at: 0, by: 'bot' };
  }
}

function holdIn(file: string): Hold | null {
  const hold = haltIn(file);
  if (hold === null) return null;
  // An unreadable hold does not identify its bot, so only the operator can lift it.
  const { born, reads } = hold as Partial<Hold>;
  return { ...hold, born: born ?? Number.NaN, reads: reads ?? Number.NaN };
}

function pauseIn(file: string, name = file): Pause | null {
  const pause = haltIn(file, name);
  if (pause === null) return null;
  const { until } = pause as Partial<Pause>;
  return { ...pause, until: typeof until === 'number' && Number.isFinite(until) ? until : null };
}

const isSame = (a: Pause | null, b: Pause): boolean =>
  a !== null && (['reason', 'at', 'by', 'who', 'until'] as const).every(field => a[field] === b[field]);

/** Deletes the file if it contains that pause. A later pause written by another process stays. */
function takePauseAway(file: string, pause: Pause, note: () => void): boolean {
  const over = `${file}.over`;
  try {
    renameSync(file, over);
  } catch {
    return false;
  }
  const isThat = isSame(pauseIn(over, file), pause);
  try {
    if (isThat) note();
    else linkSync(over, file);
    return isThat;
  } catch {
    if (isThat && !existsSync(file)) linkSync(over, file);
    return false;
  } finally {
    rmSync(over, { force: true });
    syncFolder(dirname(file));
  }
}

/** Returns the latch of a state directory. */
export function latchIn(dir: string): Latch {
  const halted = join(dir, LATCH_FILE);
  const reducing = join(dir, REDUCE_FILE);
  const held = join(dir, HOLD_FILE);
  const paused = join(dir, PAUSE_FILE);
  const note = (lifted: object) => appendLine(join(dir, LIFTED_FILE), JSON.stringify(lifted));
  const readHold = () => holdIn(held);
  return {
    read: () => haltIn(halted),
    set: halt => {
      if (haltIn(halted) !== null) return;
      try {
        writeDurably(halted, JSON.stringify(halt));
      } catch (error) {
        const reserve = join(dir, RESERVE_FILE);
        if (!existsSync(reserve)) throw error;
        // If this fails too, the halt still takes effect, and the log has its reason.
        try {
          overwrite(reserve, textFor(halt));
        } catch {
          // The reserve says that the disk was full.
        }
        renameSync(reserve, halted);
        syncFolder(dir);
      }
    },
    readReduce: () => haltIn(reducing),
    setReduce: reduce => {
      if (haltIn(reducing) === null) writeDurablyAlone(reducing, JSON.stringify(reduce));
    },
    reserve: () => {
      const reserve = join(dir, RESERVE_FILE);
      if (existsSync(reserve) && statSync(reserve).size >= RESERVE_BYTES) return;
      writeDurably(reserve, textFor({ reason: RESERVED, at: 0, by: 'bot' }));
    },
    liftReduce: (reason, at) => {
      try {
        note({ at, by: 'bot', lifted: haltIn(reducing), reason });
        rmSync(reducing, { force: true });
        syncFolder(dir);
        return true;
      } catch {
        return false;
      }
    },
    readPause: () => pauseIn(paused),
    setPause: pause => {
      heedStateDir(dir);
      writeDurablyAlone(paused, JSON.stringify(pause));
    },
    endPause: (pause, ended) => takePauseAway(paused, pause, () => note({ ...ended, lifted: pause })),
    readHold,
    setHold: hold => {
      if (readHold() === null) writeDurably(held, JSON.stringify(hold));
    },
    liftHold: ({ reason, at, by }) => {
      note({ at, by, lifted: readHold(), reason });
      rmSync(held, { force: true });
      syncFolder(dir);
    },
    lift: (reason, at, who) => {
      heedStateDir(dir);
      const lifted = haltIn(halted) ?? readHold() ?? haltIn(reducing);
      note({ at, by: 'person', ...(who === undefined ? {} : { who }), lifted, reason });
      writeDurably(join(dir, TAKE_UP_FILE), reason);
      rmSync(join(dir, FLATTEN_FILE), { force: true });
      // Deleted first, so that a bot that looks in between does not find them again after it has applied the lifting.
      rmSync(reducing, { force: true });
      rmSync(held, { force: true });
      rmSync(halted, { force: true });
      syncFolder(dir);
    },
    takeLifted: () => {
      if (!existsSync(join(dir, TAKE_UP_FILE))) return false;
      rmSync(join(dir, TAKE_UP_FILE), { force: true });
      return true;
    },
  };
}

/** Bounds on the last part of the log that is read. */
const LIFTED_SHOWN = { bytes: 1_048_576, lines: 2_000 };

/** Returns the last lifted halts, oldest first: when, by whom and why. An unreadable line is omitted. */
export function liftedIn(dir: string): readonly (Halt & { readonly lifted: Halt | null })[] {
  const file = join(dir, LIFTED_FILE);
  if (!existsSync(file)) return [];
  return new TailedLines(file, LIFTED_SHOWN, line => {
    try {
      return JSON.parse(line) as Halt & { readonly lifted: Halt | null };
    } catch {
      return null;
    }
  }).read();
}

/**
 * Returns the latch of a bot. A halt that the disk refuses holds for the life of this process and is written as soon as
 * possible.
 */
export function stubbornLatch(latch: Latch, log: Log): Latch {
  let unwritten: Halt | null = null;
  const write = (halt: Halt) => {
    try {
      latch.set(halt);
      unwritten = null;
    } catch (error) {
      if (unwritten === null)
        log.error(
          { error: String(error) },
          'the halt cannot be written to disk: do not start this bot again before you have looked',
        );
      unwritten = halt;
    }
  };
  return {
    ...latch,
    // Retried at every check.
    setReduce: reduce => {
      try {
        latch.setReduce?.(reduce);
      } catch (error) {
        log.debug({ error: String(error) }, 'that inventory is only closed cannot be written to disk');
      }
    },
    read: () => {
      if (unwritten !== null) write(unwritten);
      return latch.read() ?? unwritten;
    },
    set: write,
  };
}
