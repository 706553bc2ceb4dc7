/**
 * Latches of single books: halt, pause and reduce-only of one book, in addition to those of the whole bot. Each book
 * has a folder of its own in the state directory.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BOOK_NAME, textOfError } from '../../core/index.ts';
import { orNull, syncFolder, makeFolder } from '../../guard/index.ts';
import { assertStateDirTrusted, BOOK_LATCHES_FOLDER } from '../files/stateDir.ts';
import { latchIn, LIFTED_FILE, type Halt, type Latch } from './latch.ts';

/** Maximum number of folders that are read. */
const BOOKS_MAX = 1_000;

/** Part of a latch that a single book has: no hold, and no reserve of disk space. */
export type BookLatch = Omit<Latch, 'readHold' | 'setHold' | 'liftHold' | 'reserve'>;

/**
 * Returns the folder of a book's latch.
 * @throws RangeError if the symbol is not one of a book.
 */
export function bookLatchFolder(stateDir: string, symbol: string): string {
  if (!BOOK_NAME.test(symbol)) throw new RangeError(`${JSON.stringify(symbol)} is not the symbol of a book`);
  return join(stateDir, BOOK_LATCHES_FOLDER, symbol);
}

/**
 * Returns the latch of one book. A folder that cannot be read counts as a halt of the book. Writes throw if the disk
 * accepts no change; only the halt of the whole bot has a reserve of disk space. Throws as
 * `bookLatchFolder` does.
 */
export function bookLatchIn(stateDir: string, symbol: string): BookLatch {
  const dir = bookLatchFolder(stateDir, symbol);
  const latch = latchIn(dir, { file: join(stateDir, LIFTED_FILE), book: symbol });
  const write = <T>(change: () => T): T => {
    makeFolder(dir, 0o700);
    // An existing folder is synced too, because a command that was killed may have made the folder without a sync.
    for (const folder of [dirname(dir), stateDir, dirname(stateDir)]) syncFolder(folder);
    return change();
  };
  const unread = (error: unknown): Halt => ({
    reason: `the latches of ${symbol} in ${dir} cannot be read: ${textOfError(error)}`,
    at: 0,
    by: 'bot',
  });
  return {
    ...latch,
    read: () => {
      try {
        return latch.read();
      } catch (error) {
        return unread(error);
      }
    },
    readReduce: () => orNull(() => latch.readReduce()),
    readPause: () => orNull(() => latch.readPause()),
    set: halt => write(() => latch.set(halt)),
    setReduce: reduce => write(() => latch.setReduce(reduce)),
    setPause: pause =>
      write(() => {
        // Another user can replace the folder of the book if the folders above it cannot be trusted.
        assertStateDirTrusted(stateDir);
        latch.setPause(pause);
      }),
    lift: (reason, at, who) => {
      assertStateDirTrusted(stateDir);
      latch.lift(reason, at, who);
    },
  };
}

/** Returns the halt or, without one, the reduce-only state of each book that has one. */
export const bookStopsIn = (stateDir: string): readonly { readonly book: string; readonly halt: Halt }[] =>
  booksWithLatches(stateDir).flatMap(book => {
    const latch = bookLatchIn(stateDir, book);
    const halt = latch.read() ?? latch.readReduce();
    return halt === null ? [] : [{ book, halt }];
  });

/**
 * Returns the books that have a folder of latches in a state directory, including books that the bot no longer quotes.
 * If the folder of all books cannot be read, returns none; `unreadBookLatches` reports this.
 */
export function booksWithLatches(stateDir: string): readonly string[] {
  const found = foldersOfBooks(stateDir);
  return typeof found === 'string' ? [] : found;
}

/**
 * Returns the halt that applies to each book while the folder of all books cannot be read; `null` if it is readable.
 */
export function unreadBookLatches(stateDir: string): Halt | null {
  const found = foldersOfBooks(stateDir);
  if (typeof found !== 'string') return null;
  return { reason: `the stops of single books cannot be read: ${found}`, at: 0, by: 'bot' };
}

/** Returns the names of the folders of books, or the reason why the folder of all books cannot be read, as text. */
function foldersOfBooks(stateDir: string): readonly string[] | string {
  const all = join(stateDir, BOOK_LATCHES_FOLDER);
  try {
    const seen = lstatSync(all, { throwIfNoEntry: false });
    if (seen === undefined) return [];
    if (!seen.isDirectory()) return `${all} is not a folder`;
    return readdirSync(all)
      .filter(name => BOOK_NAME.test(name))
      .toSorted()
      .slice(0, BOOKS_MAX);
  } catch (error) {
    return textOfError(error);
  }
}
