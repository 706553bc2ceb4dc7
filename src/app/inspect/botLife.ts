/** Process state of a bot, from its state directory: heartbeat, process, and active stops. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { textOfMoney, type Millis } from '../../core/index.ts';
import { botClockIn, HEARTBEAT_FILES, isThere, readHeartbeat } from '../../live/safety/heartbeat.ts';
import { diskProblem } from '../../live/files/diskRoom.ts';
import { flattenIn, type Flatten } from '../../live/safety/flatten.ts';
import { bookLatchIn, booksWithLatches, unreadBookLatches } from '../../live/safety/bookLatch.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { pauseAt } from '../../live/safety/pauseWatch.ts';
import { ownCommand, type WhichBook, type WhichBot } from '../../messages/ownCommand.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** Process state of a bot. `silent`: the bot has not stopped, but sends no heartbeat. */
export type BotLife = {
  readonly state: 'runs' | 'stopped' | 'silent' | 'never ran';
  /** Start time of the bot's process; `null` if no process was ever started. */
  readonly since: Millis | null;
  /** Time since the last heartbeat; `null` if there is none. */
  readonly beatAgoMs: Millis | null;
};

/** Stop in effect: a state that blocks or limits quoting. */
export type HeldBy = {
  readonly what: 'halt' | 'pause' | 'hold' | 'reduce' | 'flatten';
  /** Book that is stopped; absent if the whole bot is. */
  readonly book?: string;
  readonly reason: string;
  readonly at: Millis;
  /** Source of the stop: the bot itself, its sentinel, or the operator (`person`). */
  readonly by: string;
  /** Name of the operator; `null` if not given. */
  readonly who: string | null;
  /** Expiry time; `null` if the stop ends by a resume or with its cause. */
  readonly until: Millis | null;
};

/**
 * Time without a heartbeat after which the bot counts as silent, in ms. A running bot writes a heartbeat every two
 * seconds.
 */
const SILENT_MS = 15_000;

/** Returns the state of the bot's process, from the state directory only. `now` is wall-clock time. */
export function lifeOf(dir: string, now: Millis): BotLife {
  const record = readHeartbeat(dir, 'bot');
  // The file can be removed between the two reads.
  const file = statSync(join(dir, HEARTBEAT_FILES.bot), { throwIfNoEntry: false });
  if (record === null || file === undefined) return { state: 'never ran', since: null, beatAgoMs: null };
  const beatAgoMs = Math.max(0, Math.round(now - file.mtimeMs));
  const isSilent = isThere(record) === false || beatAgoMs > SILENT_MS;
  return {
    state: record.state === 'stopped' ? 'stopped' : isSilent ? 'silent' : 'runs',
    since: record.born,
    beatAgoMs,
  };
}

/** Whether the bot of a state directory may be running: it has started and was not stopped. */
export const mayRun = (dir: string, now: Millis): boolean => ['runs', 'silent'].includes(lifeOf(dir, now).state);

/** Returns the id of a silent bot's process if it is known whether it exists, and it is so; otherwise `null`. */
function silentProcess(dir: string, now: Millis, exists: boolean): number | null {
  const record = readHeartbeat(dir, 'bot');
  if (record?.process === undefined || lifeOf(dir, now).state !== 'silent') return null;
  return isThere(record) === exists ? record.process.pid : null;
}

/**
 * Returns the process of a silent bot that exists but does not react, as text with the command that ends it; `null` if
 * there is none, or if a disk problem may be the reason for the missing heartbeat. `strategyFile`: name of its strategy
 * file; `null` if it has none.
 */
export function frozenText(dir: string, now: Millis, strategyFile: string | null): string | null {
  const pid = silentProcess(dir, now, true);
  if (pid === null || diskProblem(dir) !== null) return null;
  const cause = strategyFile === null ? '' : `; look for a loop in the strategy file ${strategyFile}`;
  return `the bot's process ${pid} exists but does not react; signals may have no effect, so end it with kill -9 ${pid}${cause}`;
}

/** Returns a line about a silent bot whose process has ended; `null` if it has not, or if that is unknown. */
export function goneText(dir: string, now: Millis): string | null {
  const pid = silentProcess(dir, now, false);
  if (pid === null) return null;
  return `the bot's process ${pid} has ended without a stop; at its next start, the bot cancels the orders that it left`;
}

/** Returns a line about a bot without a heartbeat, for an action that such a bot may not execute; otherwise `null`. */
export function silenceText(which: WhichBot, now: Millis): string | null {
  const { state, beatAgoMs } = lifeOf(which.stateDir, now);
  if (state !== 'silent') return null;
  const frozen = frozenText(which.stateDir, now, null);
  const seconds = Math.round((beatAgoMs ?? 0) / 1_000);
  return `NO HEARTBEAT for ${seconds} s, and the bot was not stopped: it may execute nothing, and its orders may still be open; ${frozen === null ? '' : `${frozen}; `}cancel all orders with: ${ownCommand('halt --cancel', which)}`;
}

/** Stop in a latch or file; `null` if there is none. */
type Found = { readonly reason: string; readonly at: Millis; readonly by: string; readonly who?: string | undefined };

/** Returns the stops in effect, most severe first: those of the whole bot, then those of single books. */
export function holdersOf(dir: string, now: Millis): readonly HeldBy[] {
  const latch = latchIn(dir);
  const at = botClockIn(dir).at(now);
  return [
    ...heldBy('halt', latch.read()),
    ...heldBy('halt', unreadBookLatches(dir)),
    ...heldBy('pause', pauseAt(latch, at)),
    ...heldBy('hold', latch.readHold()),
    ...heldBy('reduce', latch.readReduce()),
    ...heldBy('flatten', personOf(flattenIn(dir).read())),
    ...booksWithLatches(dir).flatMap(book => holdersOfBook(dir, book, at)),
  ];
}

/**
 * Checks that the stops of single books can be read: a resume cannot end those that cannot.
 * @throws UsageError if they cannot be read.
 */
export function assertBookStopsRead(dir: string): void {
  const unread = unreadBookLatches(dir);
  if (unread !== null)
    throw new UsageError(
      `${dir}: ${unread.reason}; find out who changed it, remove it, then resume each book again`,
      1,
    );
}

/**
 * Returns the end of the text about a new stop `what`, which lists the other stops that also apply: of a book, those of
 * the book and of the whole bot; otherwise all. Empty if there is none.
 */
export function otherStopsText({ stateDir, book }: WhichBook, what: HeldBy['what'], now: Millis): string {
  const others = holdersOf(stateDir, now).filter(
    held => !(held.what === what && held.book === book) && (book === undefined || (held.book ?? book) === book),
  );
  if (others.length === 0) return '';
  return `; also in force: ${others.map(held => `${holderText(held)} (${held.reason})`).join(', ')}`;
}

/** Returns the stops of one book alone; `at` is a time of the bot's clock. */
function holdersOfBook(dir: string, book: string, at: Millis): readonly HeldBy[] {
  const latch = bookLatchIn(dir, book);
  return [
    ...heldBy('halt', latch.read(), book),
    ...heldBy('pause', pauseAt(latch, at), book),
    ...heldBy('reduce', latch.readReduce(), book),
  ];
}

function heldBy(what: HeldBy['what'], held: Found | null, book?: string): readonly HeldBy[] {
  if (held === null) return [];
  const { reason, at, by, who = null } = held;
  const until = 'until' in held && typeof held.until === 'number' ? held.until : null;
  return [{ what, ...(book === undefined ? {} : { book }), reason, at, by, who, until }];
}

const personOf = (flatten: Flatten | null) =>
  flatten && {
    ...flatten,
    by: 'person',
    who: flatten.by,
    reason: `${flatten.reason} (total cost at most ${textOfMoney(flatten.costMax)})`,
  };

/** Returns a stop as text, such as `pause by ann` or `pause of btc_mxn by ann`. */
export const holderText = ({ what, book, by, who }: HeldBy): string =>
  `${what}${book === undefined ? '' : ` of ${book}`} by ${sourceOfStop({ by, who })}`;

/** Returns the source of a stop as text: the name of the operator, or for example `the bot`. */
export const sourceOfStop = ({
  by,
  who = null,
}: {
  readonly by: string;
  readonly who?: string | null | undefined;
}): string => who ?? (by === 'person' ? 'a person' : `the ${by}`);
