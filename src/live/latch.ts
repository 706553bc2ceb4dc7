/** The halt latch: a file that says why trading stopped. A restart does not lift it; only `puntas resume` does. */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '../core/index.ts';
import { syncFolder, writeDurably } from './durableFiles.ts';

export type Halt = { readonly reason: string; readonly at: Millis; readonly by: 'bot' | 'sentinel' | 'person' };

export interface Latch {
  /** Why trading is halted, or null. A file that cannot be read counts as a halt. */
  read(): Halt | null;
  /** Durable when it returns. The first reason stays. */
  set(halt: Halt): void;
  /** Lifts the halt; the reason is kept beside it with what was lifted. */
  lift(reason: string): void;
  /** True once after a halt was lifted: whoever trades takes it up, also when it was not running then. */
  takeLifted?(): boolean;
}

const LATCH_FILE = 'HALTED';
/** One line for each halt that a person lifted. */
const LIFTED_FILE = 'resumed.jsonl';
/** There from the lifting of a halt until a bot has taken it up. */
const TAKE_UP_FILE = 'RESUMED';

/** The latch of a state directory. */
export function latchIn(dir: string): Latch {
  const file = join(dir, LATCH_FILE);
  const read = (): Halt | null => {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      return { reason: `the latch ${file} cannot be read: ${String(error)}`, at: 0, by: 'bot' };
    }
    try {
      const { reason, at, by } = JSON.parse(text) as Partial<Halt>;
      return { reason: String(reason), at: Number(at), by: by === 'sentinel' || by === 'person' ? by : 'bot' };
    } catch {
      return { reason: `the latch ${file} is there but not readable`, at: 0, by: 'bot' };
    }
  };
  return {
    read,
    set: halt => {
      if (read() === null) writeDurably(file, JSON.stringify(halt));
    },
    lift: reason => {
      appendFileSync(join(dir, LIFTED_FILE), `${JSON.stringify({ lifted: read(), reason })}\n`, { mode: 0o600 });
      writeDurably(join(dir, TAKE_UP_FILE), reason);
      rmSync(file, { force: true });
      syncFolder(dir);
    },
    takeLifted: () => {
      if (!existsSync(join(dir, TAKE_UP_FILE))) return false;
      rmSync(join(dir, TAKE_UP_FILE), { force: true });
      return true;
    },
  };
}
