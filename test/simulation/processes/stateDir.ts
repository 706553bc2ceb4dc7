/** The state directory as files, where the commands of persons and the bot meet: the same latch, flatten and cancel files that ship, behind the dangers of a simulated process. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flattenIn, type Flatten, type FlattenFile } from '../../../src/live/safety/flatten.ts';
import { bookLatchIn, type BookLatch } from '../../../src/live/safety/bookLatch.ts';
import { latchIn, type Halt, type Hold, type Latch, type Pause } from '../../../src/live/safety/latch.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { RequestBox, type Requests } from '../../../src/live/mailbox/mailbox.ts';
import { Dead, type Life } from './life.ts';

/** All that holds a bot back, as it lies there. */
export type Holding = {
  readonly halt: Halt | null;
  readonly pause: Pause | null;
  readonly hold: Hold | null;
  readonly reduce: Halt | null;
  readonly flatten: Flatten | null;
};

/** Where files cost no disk. */
const IN_MEMORY = '/dev/shm';

export class StateDir {
  readonly dir = mkdtempSync(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), 'puntas-sim-'));
  readonly #latch = latchIn(this.dir);
  readonly #flatten = flattenIn(this.dir);
  readonly #write: (life: Life, what: string) => void;

  /** `write`: throws where the process is dead or dies just then, or the disk is full. */
  constructor(write: (life: Life, what: string) => void) {
    this.#write = write;
  }

  read(): Holding {
    const [latch, flatten] = [this.#latch, this.#flatten.read()];
    return {
      ...{ halt: latch.read(), hold: latch.readHold(), flatten },
      ...{ pause: latch.readPause(), reduce: latch.readReduce() },
    };
  }

  /** What the commands read of the last run: how it was configured. */
  record(run: number, setup: string): void {
    recorderIn(this.dir, { run, startedAt: 0, setup }).close();
  }

  /** As one process has it; a halt that it leaves is told to `halted`. */
  latch(life: Life, halted: () => void): Latch {
    return this.#behindLife(life, this.#latch, halted);
  }

  /** The latch of one book, as one process has it. */
  bookLatch(life: Life, symbol: string): BookLatch {
    return this.#behindLife(life, bookLatchIn(this.dir, symbol), () => undefined);
  }

  #behindLife<T extends BookLatch>(life: Life, files: T, halted: () => void): T {
    const tries = (what: string, call: () => boolean | undefined): boolean => {
      try {
        this.#write(life, what);
      } catch (error) {
        if (error instanceof Dead) throw error;
        return false;
      }
      const isDone = call() === true;
      life.step(`after ${what}`);
      return isDone;
    };
    return {
      ...files,
      set: halt => {
        // A full disk takes a latch too: the one that was reserved is renamed.
        life.step('before latch');
        const isFirst = files.read() === null;
        files.set(halt);
        if (isFirst) halted();
        life.step('after latch');
      },
      setReduce: reduce => {
        this.#write(life, 'a reduce');
        files.setReduce(reduce);
        life.step('after a reduce');
      },
      liftReduce: (reason, at) => tries('the lifting of a reduce', () => files.liftReduce(reason, at)),
      endPause: (pause, ended) => tries('the end of a pause', () => files.endPause(pause, ended)),
      takeLifted: () => life.isAlive && files.takeLifted() === true,
    };
  }

  flatten(life: Life): FlattenFile {
    const file = this.#flatten;
    return {
      ...file,
      end: (why, at) => {
        try {
          this.#write(life, 'the end of a flatten');
        } catch (error) {
          if (error instanceof Dead) throw error;
          return false;
        }
        return file.end(why, at);
      },
    };
  }

  cancels(life: Life): Requests<'cancel', 'cancelAnswer'> {
    const box = new RequestBox(this.dir, 'cancel', 'cancelAnswer');
    return {
      waiting: onRefused => box.waiting(onRefused),
      put: request => box.put(request),
      answered: () => box.answered(),
      take: () => {
        if (life.isAlive) box.take();
      },
      answer: told => {
        this.#write(life, 'the answer to a cancel');
        box.answer(told);
      },
    };
  }

  close(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
