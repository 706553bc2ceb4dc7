/** Reduce-only and resume, of a bot or of one of its books: the stops in its state directory are set and lifted. */
import { isPositionLimitReason, type Millis } from '../../core/index.ts';
import { bookLatchIn } from '../../live/safety/bookLatch.ts';
import { latchIn, type Latch } from '../../live/safety/latch.ts';
import { pauseInForce } from '../../live/safety/pauseWatch.ts';
import { checkedReason } from '../../messages/reason.ts';
import { ownCommand, type WhichBook, type WhichBot } from '../../messages/ownCommand.ts';
import { requireStateFolder, UsageError } from '../../wiring/usageError.ts';
import {
  assertBookStopsRead,
  holdersOf,
  holderText,
  mayRun,
  otherStopsText,
  sourceOfStop,
} from '../inspect/botLife.ts';

/** Sets reduce-only until a resume, of one book or of all. Returns a text about the stops in effect. */
export function reduce(which: WhichBook, said: string, at: Millis, who?: string): string {
  const { stateDir: dir, book } = which;
  const reason = checkedReason(said);
  requireStateFolder(dir);
  const whole = latchIn(dir);
  const latch = book === undefined ? whole : bookLatchIn(dir, book);
  const before = latch.readReduce();
  const lift = ownCommand('resume', which);
  if (before !== null)
    throw new UsageError(
      `${dir}: ${book ?? 'the bot'} is already reduce-only (${before.reason}), so nothing was changed; resume with: ${lift}`,
    );
  latch.setReduce({ reason, at, by: 'person', ...(who === undefined ? {} : { who }) });
  const also = otherStopsText(which, 'reduce', at);
  const [what, quotes] =
    book === undefined
      ? ['reduce-only', 'quotes only to reduce inventory']
      : [`reduce-only for ${book}`, `quotes ${book} only to reduce inventory, while its other books continue`];
  const when = mayRun(dir, at) ? 'within seconds, a running bot' : 'after its next start, the bot';
  return `${what}: ${when} ${quotes}, until you resume with: ${lift}${also}`;
}

/**
 * Ends a pause; if there is no pause, lifts a halt, a hold and reduce-only. With a book, ends the stops of this book
 * alone; without one, those of the whole bot. Returns a text about the lifted stops and about the stops still in
 * effect.
 * @throws UsageError if there is nothing to lift.
 */
export function resume(which: WhichBook, said: string, at: Millis, who?: string): string {
  const { stateDir: dir, book } = which;
  const reason = checkedReason(said, { what: 'what you found' });
  assertBookStopsRead(dir);
  const told = book === undefined ? resumeBot(which, reason, at, who) : resumeBook(which, book, reason, at, who);
  const others = holdersOf(dir, at).filter(held =>
    book === undefined ? held.book !== undefined : held.book === undefined,
  );
  if (others.length === 0) return told;
  const lift = book === undefined ? '--book' : ownCommand('resume', { ...which, book: undefined });
  return `${told}; still in force: ${others.map(held => `${holderText(held)} (${held.reason})`).join(', ')}; to resume, use ${lift}`;
}

function resumeBook(which: WhichBook, book: string, reason: string, at: Millis, who: string | undefined): string {
  const { stateDir: dir } = which;
  const latch = bookLatchIn(dir, book);
  const over = endPause(which, latch, reason, at, who);
  const [halt, reducing] = [latch.read(), latch.readReduce()];
  const lifted = halt ?? reducing;
  if (over !== null) {
    if (lifted === null) return `${over}${quotesAgain(which, book, at)}`;
    return `${over}, but ${book} is still ${halt ? 'halted' : 'reduce-only'} by ${sourceOfStop(lifted)} (${lifted.reason}); investigate, then resume with: ${ownCommand('resume', which)}`;
  }
  if (lifted === null) {
    const whole = holdersOf(dir, at).filter(held => held.book === undefined);
    const more = whole.length === 0 ? '' : `; the whole bot is held by: ${whole.map(holderText).join(', ')}`;
    throw new UsageError(`${dir}: nothing to resume for ${book} alone${more}`);
  }
  latch.lift(reason, at, who);
  const texts = [
    ...(halt === null ? [] : [`halt of ${book} by ${sourceOfStop(halt)} (${halt.reason})`]),
    ...(reducing === null ? [] : [`reduce-only of ${book} by ${sourceOfStop(reducing)} (${reducing.reason})`]),
  ];
  return `lifted: ${texts.join(' and ')}${quotesAgain(which, book, at)}`;
}

/** Returns the end of a text about a resumed book; nothing if a stop of the whole bot keeps it from quoting. */
const quotesAgain = ({ stateDir }: WhichBook, book: string, at: Millis): string =>
  holdersOf(stateDir, at).some(held => held.book === undefined) ? '' : `; a running bot quotes ${book} within seconds`;

/** Ends the pause in a latch. Returns a text about it; `null` if there is no pause in effect. */
function endPause(
  { stateDir: dir, book }: WhichBook,
  latch: Pick<Latch, 'readPause' | 'endPause'>,
  reason: string,
  at: Millis,
  who: string | undefined,
): string | null {
  const pause = latch.readPause();
  if (pause === null) return null;
  const named = who === undefined ? {} : { who };
  const isPaused = pauseInForce(latch, dir, at) !== null;
  const isEnded = latch.endPause(pause, { reason, at, by: 'person', ...named });
  if (!isPaused) return null;
  if (isEnded !== true)
    throw new UsageError(
      `${dir}: the pause could not be ended, because another command changed the pause or the disk is full; try again`,
      1,
    );
  return `the pause${book === undefined ? '' : ` of ${book}`} has ended (its reason was: ${pause.reason})`;
}

function resumeBot(which: WhichBot, reason: string, at: Millis, who: string | undefined): string {
  const { configFile, stateDir: dir } = which;
  const latch = latchIn(dir);
  const over = endPause(which, latch, reason, at, who);
  const [halt, hold, reducing] = [latch.read(), latch.readHold(), latch.readReduce()];
  const lifted = halt ?? hold ?? reducing;
  if (over !== null) {
    if (lifted === null) return `${over}; a running bot quotes within seconds`;
    return `${over}, but the bot is still ${halt ? 'halted' : hold ? 'blocked from quoting' : 'reduce-only'} by ${sourceOfStop(lifted)} (${lifted.reason}); investigate, then resume with: ${ownCommand('resume', which)}`;
  }
  if (lifted === null) {
    const ofBooks = holdersOf(dir, at).filter(held => held.book !== undefined);
    if (ofBooks.length > 0)
      throw new UsageError(
        `${dir}: nothing to resume for the whole bot, but single books are stopped: ${ofBooks.map(held => `${holderText(held)} (${held.reason})`).join(', ')}; resume a book with --book`,
      );
    throw new UsageError(
      `${dir}: nothing to resume; check that this is the state directory of the bot, as named in its log`,
    );
  }
  latch.lift(reason, at, who);
  const since = new Date(lifted.at).toISOString();
  if (halt === null && hold === null)
    return `lifted: reduce-only since ${since} (${lifted.reason}); a running bot quotes both sides within seconds`;
  const what = `lifted: ${halt === null ? 'hold' : 'halt'} by ${sourceOfStop(lifted)} since ${since} (${lifted.reason})`;
  const both = reducing === null ? '' : `; reduce-only was lifted too (${reducing.reason})`;
  if (!isPositionLimitReason(lifted.reason)) return `${what}${both}; a running bot resumes within seconds`;
  return `${what}${both}. While inventory is beyond its limit, the bot quotes only to reduce inventory, and then quotes both sides again. To keep this inventory, set limits.positionMax or inventory.target in ${configFile ?? "the bot's YAML file"}, and restart the bot`;
}
