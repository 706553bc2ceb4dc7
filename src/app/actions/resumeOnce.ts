/**
 * Idempotent resume: a resume that is killed and repeated has the effect of one resume. If the killed resume had ended
 * a pause, its repetition must not also lift a halt.
 */
import { existsSync, rmSync } from 'node:fs';
import type { Millis } from '../../core/index.ts';
import { Mailbox } from '../../live/mailbox/mailbox.ts';
import { bookLatchFolder, bookLatchIn } from '../../live/safety/bookLatch.ts';
import { forgetEndedPause, latchIn } from '../../live/safety/latch.ts';
import { pauseInForce } from '../../live/safety/pauseWatch.ts';
import { resume } from './reduceAndResume.ts';
import type { WhichBook } from '../../messages/ownCommand.ts';

/**
 * Resumes a bot and returns a description of the result. A repetition after a kill ends at most the pause that was in
 * effect at the first attempt. Throws as `resume` does.
 */
export function resumeOnce(
  bot: WhichBook,
  { by, reason }: { readonly by: string; readonly reason: string },
  at: Millis,
): string {
  const { stateDir: dir, book } = bot;
  const box = new Mailbox(recordFolder(bot), 'resuming');
  const left = box.message();
  const latch = book === undefined ? latchIn(dir) : bookLatchIn(dir, book);
  const isPause = existsSync(dir) && pauseInForce(latch, dir, at) !== null;
  const isSame = left?.by === by && left.reason === reason && left.book === book;
  if (isSame && left.isPause && !isPause) {
    forgetEndedPause(book === undefined ? dir : bookLatchFolder(dir, book));
    return 'an interrupted run of this command has already ended the pause; any halt, hold or reduce-only stays in force';
  }
  if (existsSync(recordFolder(bot))) box.put({ by, reason, isPause, ...(book === undefined ? {} : { book }) });
  return resume(bot, reason, at, by);
}

/** Deletes the record of a started resume. Call it once the action is in the journal. */
export const resumed = (bot: WhichBook): void =>
  rmSync(new Mailbox(recordFolder(bot), 'resuming').path(), { force: true });

/** Returns the folder of the record of a started resume. Each book has its own, so that none replaces another. */
const recordFolder = ({ stateDir, book }: WhichBook): string =>
  book === undefined ? stateDir : bookLatchFolder(stateDir, book);
