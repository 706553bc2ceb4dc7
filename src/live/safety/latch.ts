/** The halt latch: a file that says why trading stopped. A restart does not lift it; only `puntas resume` does. */
import { TailedLines } from '../../guard/index.ts';
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { appendLine, overwrite, syncFolder, writeDurably } from '../files/durableFiles.ts';
import { assertStateDirTrusted } from '../files/stateDir.ts';
import type { Log } from '../log.ts';
import type { MailMessage } from '../mailbox/kinds.ts';
import { Mailbox } from '../mailbox/mailbox.ts';
import type { FoundMessage } from '../mailbox/mailbox.ts';

export type Halt = MailMessage<'halt'>;
export type Pause = MailMessage<'pause'>;
export type Hold = MailMessage<'hold'>;

export interface Latch {
  /** Why trading is halted, or null. A file that cannot be read counts as a halt. */
  read(): Halt | null;
  /** Durable when it returns. The first reason stays. */
  set(halt: Halt): void;
  /** Why only inventory is closed until a person resumes, or null. */
  readReduce(): Halt | null;
  /** As `set`: only inventory is closed from here on. */
  setReduce(reduce: Halt): void;
  /** The bot lifts that alone, and why is kept. False when the disk does not take it: to be tried again. */
  liftReduce(reason: string, at: Millis): boolean;
  /** The pause of a person, also one whose time is over, or null. A file that cannot be read counts, and ends at a resume alone. */
  readPause(): Pause | null;
  /** Durable when it returns. It replaces the one before. */
  setPause(pause: Pause): void;
  /** Ends that pause and nothing else; who, why and when are kept. False when another has taken its place, or the disk does not take that. */
  endPause(pause: Pause, ended: Halt): boolean;
  /** Why the sentinel holds quotes back, or null. A file that cannot be read counts. */
  readHold(): Hold | null;
  /** As `set`. */
  setHold(hold: Hold): void;
  /** Lifts the hold alone; who, why and when are kept with what was lifted. Throws when the disk does not take that. */
  liftHold(lifted: { readonly reason: string; readonly at: Millis; readonly by: 'sentinel' }): void;
  /** A person lifts the halt, the hold, and what keeps inventory only being closed, no pause; the reason is kept beside it with what was lifted. */
  lift(reason: string, at?: Millis, who?: string): void;
  /** True once after a halt was lifted: whoever trades takes it up, also when it was not running then. */
  takeLifted(): boolean;
  /** Takes the room now that a halt needs when the disk is full. Throws when there is none. */
  reserve(): void;
}

/** One line for each halt that was lifted. */
export const LIFTED_FILE = 'resumed.jsonl';
/** Becomes the latch when the disk has no room for a new file: a rename needs none. */
const RESERVE_FILE = 'HALTED.reserve';
const RESERVED = 'the disk was full when trading was halted: the log has the reason';
/** Room for any reason: what is written over it later needs none. */
const RESERVE_BYTES = 4_096;
/** There from the lifting of a halt until a bot has taken it up. */
const TAKE_UP_FILE = 'RESUMED';

/** A halt as it stands in the reserve: always of one length. A reason beyond it is cut. */
function reservedText(box: Mailbox<'halt'>, halt: Halt): string {
  const fits = (reason: string) => box.textOf({ ...halt, reason });
  let { reason } = halt;
  while (Buffer.byteLength(fits(reason)) > RESERVE_BYTES) reason = reason.slice(0, reason.length >> 1);
  const text = fits(reason);
  return text + ' '.repeat(RESERVE_BYTES - Buffer.byteLength(text));
}

/** Message of a latch. A file that is refused counts too: as a halt, pause or hold of the bot with `unread` for the rest of it. */
function latchOf<M extends Halt, U extends object>(found: FoundMessage<M> | null, unread: U): M | (Halt & U) | null {
  if (found?.refused === undefined) return found?.message ?? null;
  const { path, why, fault } = found.refused;
  const is = fault === 'file' ? `cannot be read: ${why}` : 'is there but not readable';
  return { reason: `the latch ${path} ${is}`, at: 0, by: 'bot', ...unread };
}

/** Nobody knows for which bot a hold was that cannot be read: only a person lifts it. */
const UNREAD_HOLD = { born: Number.NaN, reads: Number.NaN };
const UNREAD_PAUSE = { until: null };

const isSamePause = (a: Pause | null, b: Pause): boolean =>
  a !== null && (['reason', 'at', 'by', 'who', 'until'] as const).every(field => a[field] === b[field]);

/** Takes a pause away if it is that one: another process may have left a later one meanwhile, which stays. */
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

/** Removes what a kill left of a pause that was being ended. */
export const forgetEndedPause = (dir: string): void =>
  rmSync(overPauseFile(new Mailbox(dir, 'pause')), { force: true });

/** The latch of a state directory. */
export function latchIn(dir: string): Latch {
  const [halted, reducing] = [new Mailbox(dir, 'halt'), new Mailbox(dir, 'reduce')];
  const [held, paused] = [new Mailbox(dir, 'hold'), new Mailbox(dir, 'pause')];
  const note = (lifted: object) => appendLine(join(dir, LIFTED_FILE), JSON.stringify(lifted));
  const readHalt = () => latchOf(halted.read(), {});
  const readReduce = () => latchOf(reducing.read(), {});
  const readHold = () => latchOf(held.read(), UNREAD_HOLD);
  return {
    read: readHalt,
    set: halt => {
      if (readHalt() !== null) return;
      try {
        halted.put(halt);
      } catch (error) {
        const reserve = join(dir, RESERVE_FILE);
        if (!existsSync(reserve)) throw error;
        // Where even this fails the halt is what matters, and the log has its reason.
        try {
          overwrite(reserve, reservedText(halted, halt));
        } catch {
          // What was reserved says that the disk was full.
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
      const lifted = readHalt() ?? readHold() ?? readReduce();
      note({ at, by: 'person', ...(who === undefined ? {} : { who }), lifted, reason });
      writeDurably(join(dir, TAKE_UP_FILE), reason);
      new Mailbox(dir, 'flatten').remove();
      // First what a halt outlives: a bot that looks in between must not find it again after it has taken up the lifting.
      for (const box of [reducing, held, halted]) box.remove();
    },
    takeLifted: () => {
      if (!existsSync(join(dir, TAKE_UP_FILE))) return false;
      rmSync(join(dir, TAKE_UP_FILE), { force: true });
      return true;
    },
  };
}

/** Of the file of lifted halts the last ones. */
const LIFTED_SHOWN = { bytes: 1_048_576, lines: 2_000 };

/** The last halts and the like that were lifted, oldest first: when, by whom and why. A line that cannot be read is left out. */
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

/** The latch of a bot: a halt that the disk does not take holds for as long as this process lives, and is written as soon as it can be. */
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
    // It is tried again at every look.
    setReduce: reduce => {
      try {
        latch.setReduce(reduce);
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
