/** The halt latch: a file that says why trading stopped. A restart does not lift it; only `puntas resume` does. */
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
  /** Which person, where one said. */
  readonly who?: string;
};

/** A person lets nothing be quoted for now. */
export type Pause = Halt & {
  /** When it ends by itself; null: at a resume alone. */
  readonly until: Millis | null;
};

/** Quotes are held back by the sentinel, and nobody else: it lifts that itself when the bot that it knew reads the exchange again. */
export type Hold = Halt & {
  /** Of the bot's heart, as it was then: which process, and how many whole reads. */
  readonly born: Millis;
  readonly reads: number;
};

export interface Latch {
  /** Why trading is halted, or null. A file that cannot be read counts as a halt. */
  read(): Halt | null;
  /** Durable when it returns. The first reason stays. */
  set(halt: Halt): void;
  /** Why only inventory is closed until a person resumes, or null. */
  readReduce?(): Halt | null;
  /** As `set`: only inventory is closed from here on. */
  setReduce?(reduce: Halt): void;
  /** The bot lifts that alone, and why is kept. False when the disk does not take it: to be tried again. */
  liftReduce?(reason: string, at: Millis): boolean;
  /** The pause of a person, also one whose time is over, or null. A file that cannot be read counts, and ends at a resume alone. */
  readPause?(): Pause | null;
  /** Durable when it returns. It replaces the one before. */
  setPause?(pause: Pause): void;
  /** Ends that pause and nothing else; who, why and when are kept. False when another has taken its place, or the disk does not take that. */
  endPause?(pause: Pause, ended: Halt): boolean;
  /** Why the sentinel holds quotes back, or null. A file that cannot be read counts. */
  readHold(): Hold | null;
  /** As `set`. */
  setHold(hold: Hold): void;
  /** Lifts the hold alone; who, why and when are kept with what was lifted. Throws when the disk does not take that. */
  liftHold(lifted: { readonly reason: string; readonly at: Millis; readonly by: 'sentinel' }): void;
  /** A person lifts the halt, the hold, and what keeps inventory only being closed, no pause; the reason is kept beside it with what was lifted. */
  lift(reason: string, at?: Millis, who?: string): void;
  /** True once after a halt was lifted: whoever trades takes it up, also when it was not running then. */
  takeLifted?(): boolean;
  /** Takes the room now that a halt needs when the disk is full. Throws when there is none. */
  reserve?(): void;
}

const LATCH_FILE = 'HALTED';
/** As the latch, while only inventory is closed. */
const REDUCE_FILE = 'REDUCE';
/** As the latch, while a person has paused it. */
export const PAUSE_FILE = 'PAUSED';
/** As the latch, while the sentinel holds quotes back. */
const HOLD_FILE = 'HELD';
/** One line for each halt that was lifted. */
const LIFTED_FILE = 'resumed.jsonl';
/** Becomes the latch when the disk has no room for a new file: a rename needs none. */
const RESERVE_FILE = 'HALTED.reserve';
const RESERVED = 'the disk was full when trading was halted: the log has the reason';
/** Room for any reason: what is written over it later needs none. */
const RESERVE_BYTES = 4_096;
/** There from the lifting of a halt until a bot has taken it up. */
const TAKE_UP_FILE = 'RESUMED';

/** A halt as it stands in the reserve: always of one length. A reason beyond it is cut. */
function textFor(halt: Halt): string {
  const fits = (reason: string) => JSON.stringify({ ...halt, reason });
  let { reason } = halt;
  while (Buffer.byteLength(fits(reason)) > RESERVE_BYTES) reason = reason.slice(0, reason.length >> 1);
  const text = fits(reason);
  return text + ' '.repeat(RESERVE_BYTES - Buffer.byteLength(text));
}

/** What a file of the latch says; one that cannot be read counts. `name`: where it lay. */
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
  // Of one that cannot be read nobody knows which bot it was for: only a person lifts it.
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

/** Takes a pause away if it is that one: another process may have left a later one meanwhile, which stays. */
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

/** The latch of a state directory. */
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
        // Where even this fails the halt is what matters, and the log has its reason.
        try {
          overwrite(reserve, textFor(halt));
        } catch {
          // What was reserved says that the disk was full.
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
      // First what a halt outlives: a bot that looks in between must not find it again after it has taken up the lifting.
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
          'halt could not be written to disk; do not restart this bot before you have investigated',
        );
      unwritten = halt;
    }
  };
  return {
    ...latch,
    // It is tried again at every look.
    setReduce: reduce => {
      try {
        latch.setReduce?.(reduce);
      } catch (error) {
        log.debug({ error: String(error) }, 'reduce-only state could not be written to disk');
      }
    },
    read: () => {
      if (unwritten !== null) write(unwritten);
      return latch.read() ?? unwritten;
    },
    set: write,
  };
}
