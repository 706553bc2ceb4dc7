/**
 * Halt latch: a file with the reason why trading stopped. Only `puntas resume` removes the file; a restart does not.
 */
import {
  TEXT_FILE,
  TailedLines,
  appendLine,
  overwrite,
  readRegularFile,
  syncFolder,
  writeDurably,
} from '../../guard/index.ts';
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { assertStateDirTrusted } from '../files/stateDir.ts';
import type { Log } from '../log.ts';
import type { MailMessage } from '../mailbox/kinds.ts';
import { Mailbox, type FoundMessage } from '../mailbox/mailbox.ts';

export type Halt = MailMessage<'halt'>;
export type Pause = MailMessage<'pause'>;
export type Hold = MailMessage<'hold'>;

export interface Latch {
  /** Returns the halt with its reason, or `null`. An unreadable file counts as a halt. */
  read(): Halt | null;
  /** Sets the halt, durable on return. Keeps an existing halt unchanged. */
  set(halt: Halt): void;
  /** Returns the latched reduce-only state with its reason, or `null`. */
  readReduce(): Halt | null;
  /** Sets reduce-only, durable on return. Keeps an existing reduce-only state unchanged. */
  setReduce(reduce: Halt): void;
  /**
   * Ends reduce-only on behalf of the bot, and logs the reason; halt, hold and pause stay. Returns `false` if the disk
   * does not accept the change; the caller must retry.
   */
  liftReduce(reason: string, at: Millis): boolean;
  /**
   * Returns the operator's pause, even if expired, or `null`. An unreadable file counts as a pause that only `resume`
   * ends.
   */
  readPause(): Pause | null;
  /** Sets the pause, durable on return; replaces an earlier pause. */
  setPause(pause: Pause): void;
  /**
   * Ends the given pause, and logs operator, reason and time. Returns `false` if another pause has replaced it, or if
   * the disk does not accept the change.
   */
  endPause(pause: Pause, ended: Halt): boolean;
  /** Returns the sentinel's hold with its reason, or `null`. An unreadable file counts as a hold. */
  readHold(): Hold | null;
  /** Sets the hold, durable on return. Keeps an existing hold unchanged. */
  setHold(hold: Hold): void;
  /**
   * Ends the hold on behalf of the sentinel, and logs the reason and the time together with the ended hold. Throws if
   * the disk does not accept the change.
   */
  liftHold(lifted: { readonly reason: string; readonly at: Millis; readonly by: 'sentinel' }): void;
  /**
   * Ends the halt, the hold and reduce-only on behalf of the operator; a pause stays. Logs the reason with the ended
   * state.
   */
  lift(reason: string, at?: Millis, who?: string): void;
  /**
   * Returns `true` at the first call after the operator ended a halt or reduce-only, even if the bot was not running
   * when the operator ended it. Returns `false` while `isLifting`.
   */
  takeLifted(): boolean;
  /**
   * Whether an operator is resuming: the resume is on disk, but a halt or reduce-only state that it ends is still set.
   */
  isLifting(): boolean;
  /** Reserves disk space for a halt, in case the disk is full later. Throws if there is no space. */
  reserve(): void;
}

/** File name of the log with one line for each ended halt, hold, pause, reduce-only state and flatten request. */
export const LIFTED_FILE = 'resumed.jsonl';
/** File that becomes the latch if the disk is full, because a rename needs no space. */
const RESERVE_FILE = 'HALTED.reserve';
const RESERVED = 'the reason could not be stored, because the disk was full; see the log';
/** Size of the reserve file; a halt written over it needs no further space. */
const RESERVE_BYTES = 4_096;
/** File that exists from a resume until a bot has applied the resume; it names the states that the resume ends. */
const RESUMED_FILE = 'RESUMED';

/** Returns a halt as text for the reserve file. The text always has the same length; a longer reason is cut. */
function reservedText(box: Mailbox<'halt'>, halt: Halt): string {
  const fits = (reason: string) => box.textOf({ ...halt, reason });
  let { reason } = halt;
  while (Buffer.byteLength(fits(reason)) > RESERVE_BYTES) reason = reason.slice(0, reason.length >> 1);
  const text = fits(reason);
  return text + ' '.repeat(RESERVE_BYTES - Buffer.byteLength(text));
}

/**
 * Returns the message in a latch file. For a rejected file, returns a halt, pause or hold in the bot's name, with the
 * fault as its reason and the fields of `unread`.
 */
function latchOf<M extends Halt, U extends object>(found: FoundMessage<M> | null, unread: U): M | (Halt & U) | null {
  if (found?.refused === undefined) return found?.message ?? null;
  const { path, why, fault } = found.refused;
  const is = fault === 'file' ? `cannot be read: ${why}` : 'is there but not readable';
  return { reason: `the latch ${path} ${is}`, at: 0, by: 'bot', ...unread };
}

/** Fields for an unreadable hold. They match no process of the bot, so that only the operator can end the hold. */
const UNREAD_HOLD = { born: Number.NaN, reads: Number.NaN };
const UNREAD_PAUSE = { until: null };

/** Returns the states that a resume ends. A file without them (of an earlier version, or damaged) ends nothing more. */
function endedBy(file: string): readonly Halt[] {
  try {
    const { ends } = JSON.parse(readRegularFile(file, TEXT_FILE)) as { readonly ends: readonly (Halt | null)[] };
    return ends.filter(each => each !== null);
  } catch {
    return [];
  }
}

const isSameHalt = (a: Halt | null, b: Halt): boolean =>
  a !== null && (['reason', 'at', 'by', 'who'] as const).every(field => a[field] === b[field]);

const isSamePause = (a: Pause | null, b: Pause): boolean =>
  a !== null && (['reason', 'at', 'by', 'who', 'until'] as const).every(field => a[field] === b[field]);

/** Deletes the file if it contains the given pause. Keeps a later pause from another process. */
function takePauseAway(box: Mailbox<'pause'>, pause: Pause, note: () => void): boolean {
  const file = box.path();
  const over = overPauseFile(box);
  try {
    renameSync(file, over);
  } catch {
    return false;
  }
  const isThat = isSamePause(latchOf(box.readAt(over, file), UNREAD_PAUSE), pause);
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

const overPauseFile = (box: Mailbox<'pause'>): string => `${box.path()}.over`;

/** Removes the renamed pause file that remains if a process is killed while it ends a pause. */
export const forgetEndedPause = (dir: string): void =>
  rmSync(overPauseFile(new Mailbox(dir, 'pause')), { force: true });

/** Log of ended stops, and the book that its lines name. */
type LiftedLog = { readonly file: string; readonly book?: string };

/** Returns the latch of a state directory. `log`: log of ended stops, by default that of the directory. */
export function latchIn(dir: string, log: LiftedLog = { file: join(dir, LIFTED_FILE) }): Latch {
  const [halted, reducing] = [new Mailbox(dir, 'halt'), new Mailbox(dir, 'reduce')];
  const [held, paused] = [new Mailbox(dir, 'hold'), new Mailbox(dir, 'pause')];
  const { file, ...named } = log;
  const note = (lifted: object) => appendLine(file, JSON.stringify({ ...named, ...lifted }));
  const readHalt = () => latchOf(halted.read(), {});
  const readReduce = () => latchOf(reducing.read(), {});
  const readHold = () => latchOf(held.read(), UNREAD_HOLD);
  const resumed = join(dir, RESUMED_FILE);
  const isLifting = () => endedBy(resumed).some(each => isSameHalt(readHalt(), each) || isSameHalt(readReduce(), each));
  return {
    read: readHalt,
    set: halt => {
      if (readHalt() !== null) return;
      try {
        halted.put(halt);
      } catch (error) {
        const reserve = join(dir, RESERVE_FILE);
        if (!existsSync(reserve)) throw error;
        // If this write also fails, the halt still takes effect, and the log has its reason.
        try {
          overwrite(reserve, reservedText(halted, halt));
        } catch {
          // The unchanged text of the reserve file says that the disk was full.
        }
        renameSync(reserve, halted.path());
        syncFolder(dir);
      }
    },
    readReduce,
    setReduce: reduce => {
      if (readReduce() === null) reducing.put(reduce);
    },
    reserve: () => {
      const reserve = join(dir, RESERVE_FILE);
      if (existsSync(reserve) && statSync(reserve).size >= RESERVE_BYTES) return;
      writeDurably(reserve, reservedText(halted, { reason: RESERVED, at: 0, by: 'bot' }));
    },
    liftReduce: (reason, at) => {
      try {
        note({ at, by: 'bot', lifted: readReduce(), reason });
        reducing.remove();
        return true;
      } catch {
        return false;
      }
    },
    readPause: () => latchOf(paused.read(), UNREAD_PAUSE),
    setPause: pause => paused.put(pause),
    endPause: (pause, ended) => takePauseAway(paused, pause, () => note({ ...ended, lifted: pause })),
    readHold,
    setHold: hold => {
      if (readHold() === null) held.put(hold);
    },
    liftHold: ({ reason, at, by }) => {
      note({ at, by, lifted: readHold(), reason });
      held.remove();
    },
    lift: (reason, at, who) => {
      assertStateDirTrusted(dir);
      const [halt, reduce] = [readHalt(), readReduce()];
      const lifted = halt ?? readHold() ?? reduce;
      note({ at, by: 'person', ...(who === undefined ? {} : { who }), lifted, reason });
      // At a resume, the engine resets losses and books balance differences. The end of a hold must do neither, so the
      // engine does not receive it as a resume.
      if (halt !== null || reduce !== null) writeDurably(resumed, JSON.stringify({ reason, ends: [halt, reduce] }));
      new Mailbox(dir, 'flatten').remove();
      // The files are removed only after RESUMED is written, so that the operator can repeat an interrupted resume.
      for (const box of [reducing, held, halted]) box.remove();
    },
    takeLifted: () => {
      if (!existsSync(resumed) || isLifting()) return false;
      rmSync(resumed, { force: true });
      return true;
    },
    isLifting,
  };
}

/** Maximum numbers of bytes and lines that are read from the end of the log. */
const LIFTED_SHOWN = { bytes: 1_048_576, lines: 2_000 };

/**
 * End of a stop: its time, actor and reason, and the stop that ended (`lifted`). `book` is the symbol of the stopped
 * book, absent if the whole bot was stopped.
 */
type LiftedStop = Halt & { readonly lifted: Halt | null; readonly book?: string };

/**
 * Returns the newest lines of the log of ended stops (halts, holds, pauses, reduce-only states, flatten requests),
 * oldest first, each with the time, actor and reason of its end. Omits unreadable lines.
 */
export function liftedIn(dir: string): readonly LiftedStop[] {
  const file = join(dir, LIFTED_FILE);
  if (!existsSync(file)) return [];
  return new TailedLines(file, LIFTED_SHOWN, line => {
    try {
      return JSON.parse(line) as LiftedStop;
    } catch {
      return null;
    }
  }).read();
}

type RetriedLatch = Pick<Latch, 'read' | 'set' | 'readReduce' | 'setReduce' | 'liftReduce' | 'takeLifted'>;

/**
 * Returns the latch of a bot. If the disk does not accept a halt or reduce-only, this process still obeys it, and
 * retries the write at each read.
 */
export function retryingLatch<L extends RetriedLatch>(latch: L, log: Log): L {
  let unwritten: Halt | null = null;
  let unwrittenReduce: Halt | null = null;
  const write = (halt: Halt) => {
    try {
      latch.set(halt);
      unwritten = null;
    } catch (error) {
      if (unwritten === null)
        log.error(
          { error: String(error) },
          'halt could not be written to disk; do not restart this bot before you have investigated',
        );
      unwritten = halt;
    }
  };
  const writeReduce = (reduce: Halt) => {
    try {
      latch.setReduce(reduce);
      unwrittenReduce = null;
    } catch (error) {
      log.debug({ error: String(error) }, 'reduce-only state could not be written to disk');
      unwrittenReduce = reduce;
    }
  };
  return {
    ...latch,
    setReduce: writeReduce,
    readReduce: () => {
      if (unwrittenReduce !== null) writeReduce(unwrittenReduce);
      return latch.readReduce() ?? unwrittenReduce;
    },
    liftReduce: (reason, at) => {
      const isLifted = latch.liftReduce(reason, at);
      if (isLifted) unwrittenReduce = null;
      return isLifted;
    },
    // A resume ends what was set before it.
    takeLifted: () => {
      const isLifted = latch.takeLifted();
      if (isLifted) unwrittenReduce = null;
      return isLifted;
    },
    read: () => {
      if (unwritten !== null) write(unwritten);
      return latch.read() ?? unwritten;
    },
    set: write,
  };
}
