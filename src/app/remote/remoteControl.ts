/**
 * Remote control of one bot from a chat: which updates are accepted, what they do, and what is answered. Commands read
 * or preview; only the button of a preview acts.
 */
import {
  APPROVAL_MS,
  Approvals,
  isReasonTooShort,
  PAUSE_MINUTES_MAX,
  type ActionOver,
  type ActionRequest,
  type ConsoleActions,
} from '../../console/index.ts';
import { MINUTE_MS, counted, BOOK_NAME, sleep, textOfError, type Clock, type Millis } from '../../core/index.ts';
import { REMOTE_OUTCOMES, type RemoteCounts, type RemoteOutcome } from '../../live/safety/remoteCounts.ts';
import type { ChatContent, ChatSender, ChatUpdate } from './chatUpdate.ts';
import { SharedWork } from '../inspect/sharedWork.ts';
import type { ChatButton } from './telegramApi.ts';

export type RemoteOptions = {
  /** Ids of the chats and users whose commands are accepted; both must match. */
  readonly chats: readonly string[];
  readonly users: readonly string[];
  /** Whether `/resume` is accepted. */
  readonly canResume: boolean;
  /** Name of the bot in previews and results; names paper trading. */
  readonly botName: () => string;
  /** Returns the symbols of the books, if the bot has several now; otherwise none. */
  readonly books: () => readonly string[];
  /** Returns the symbols of the books with stops of their own, also of books that the bot no longer has. */
  readonly stoppedBooks: () => readonly string[];
  /** Returns the operator's pause of a book, or of the whole bot, that is in force, or `null`. `until` is a wall time. */
  readonly pauseNow: (book?: string) => { readonly until: Millis | null } | null;
  /** User name of the Telegram bot. Commands to another bot in the same chat are ignored. */
  readonly ownName: string;
  readonly clock: Clock;
  /** Returns an unguessable random text of at most 50 characters. */
  readonly newId: () => string;
  readonly actions: Pick<ConsoleActions, 'prepare' | 'names' | 'cost'>;
  readonly read: (read: RemoteRead) => Promise<string>;
  /** Sends an answer. Must not reject. */
  readonly send: (chat: string, text: string, button?: ChatButton) => void;
  /** Answers the press of a button with a short notice. Must not reject. */
  readonly acknowledge: (callbackId: string, text: string) => void;
};

/** Maximum age of a command, in ms. Older commands are not executed, because the market has changed since. */
const COMMAND_AGE_MAX_MS = 60_000;
/** Maximum number of accepted updates per user and minute. */
const UPDATES_PER_MINUTE = 20;
/** Number of update numbers that are remembered, so that a repeated update has no effect. */
const SEEN_MAX = 2_000;
/** Maximum time that an answer waits for a read, in ms. */
const READ_WITHIN_MS = 120_000;
/** Prefix of a button's data, before the id of the preview. */
const CONFIRM = 'confirm:';

export type RemoteRead = 'status' | 'profit';
type RemoteAction = 'pause' | 'reduce' | 'halt' | 'resume';
type Spending = { at: Millis[]; isTold: boolean };

export class RemoteControl {
  readonly #options: RemoteOptions;
  readonly #actions: readonly RemoteAction[];
  readonly #approvals: Approvals<string>;
  readonly #startedAt: Millis;
  readonly #seen = new Set<number>();
  readonly #spent = new Map<string, Spending>();
  readonly #reads = new SharedWork<string>();
  readonly #counts = Object.fromEntries(REMOTE_OUTCOMES.map(outcome => [outcome, 0])) as Record<RemoteOutcome, number>;

  constructor(options: RemoteOptions) {
    this.#options = options;
    this.#actions = ['pause', 'reduce', 'halt', ...(options.canResume ? (['resume'] as const) : [])];
    this.#startedAt = options.clock.now();
    this.#approvals = new Approvals<string>(options.actions, expiryTime(options.clock), options.newId);
  }

  /** Number of updates by outcome, since the start. */
  get counts(): RemoteCounts {
    return { ...this.#counts };
  }

  /** Handles an update. Never throws; answers are sent later. */
  take({ id, sender, content }: ChatUpdate): void {
    this.#counts[this.#taken(id, sender, content)]++;
  }

  #taken(id: number, sender: ChatSender | null, content: ChatContent): RemoteOutcome {
    if (this.#seen.has(id)) return 'repeated';
    this.#remember(id);
    const { chats, users, ownName } = this.#options;
    if (sender === null || !chats.includes(sender.chat) || !users.includes(sender.user)) return 'foreign';
    if (content.kind === 'other') return 'ignored';
    if (content.kind === 'command' && content.addressee !== null && !isSameName(content.addressee, ownName))
      return 'ignored';
    if (!this.#mayAsk(sender)) return 'too many';
    if (content.kind === 'button') {
      this.#press(sender, content.callbackId, content.data);
      return 'accepted';
    }
    const age = this.#options.clock.now() - content.at;
    if (content.at < this.#startedAt || !(Math.abs(age) <= COMMAND_AGE_MAX_MS)) {
      this.#options.send(sender.chat, this.#oldText(content.command, content.at, age));
      return 'old';
    }
    void this.#answer(sender, content.command, content.words);
    return 'accepted';
  }

  #remember(id: number): void {
    this.#seen.add(id);
    const [oldest] = this.#seen;
    if (this.#seen.size > SEEN_MAX && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** Whether the user is below the limit of updates. Says once per minute that the limit is reached. */
  #mayAsk(sender: ChatSender): boolean {
    const { clock, send } = this.#options;
    const now = clock.elapsed();
    const spent = this.#spent.get(ownerOf(sender)) ?? { at: [], isTold: false };
    this.#spent.set(ownerOf(sender), spent);
    spent.at = spent.at.filter(at => now - at < MINUTE_MS);
    if (spent.at.length < UPDATES_PER_MINUTE) {
      spent.at.push(now);
      spent.isTold = false;
      return true;
    }
    if (!spent.isTold) send(sender.chat, `too many commands: at most ${UPDATES_PER_MINUTE} per minute; wait a minute`);
    spent.isTold = true;
    return false;
  }

  #oldText(command: string, at: Millis, age: Millis): string {
    const isSkewed = age < -COMMAND_AGE_MAX_MS;
    const why = isSkewed
      ? `its time is ${roundedSeconds(-age)} ahead of the clock of the bot's machine; set that clock`
      : at < this.#startedAt
        ? 'it was sent before the remote control started'
        : `it was sent ${roundedSeconds(age)} ago (maximum ${roundedSeconds(COMMAND_AGE_MAX_MS)})`;
    return `/${command} was ignored, because ${why}; send it again if it still applies`;
  }

  async #answer(sender: ChatSender, command: string, words: string): Promise<void> {
    const { send } = this.#options;
    try {
      const action = this.#actions.find(each => each === command);
      if (action !== undefined) return await this.#preview(sender, action, words);
      if (command === 'status' || command === 'profit') return send(sender.chat, await this.#read(command));
      const unknown = command === 'help' || command === 'start' ? '' : `unknown command /${command}\n`;
      send(sender.chat, `${unknown}${this.#help()}`);
    } catch (error) {
      send(sender.chat, `/${command} failed: ${textOfError(error)}`);
    }
  }

  /** Returns the text of a read. Rejects if the read fails or takes too long. */
  async #read(read: RemoteRead): Promise<string> {
    const { clock } = this.#options;
    const running = this.#reads.of(read, () => this.#options.read(read));
    const over = new AbortController();
    const late = sleep(clock, READ_WITHIN_MS, over.signal).then(() => null);
    const text = await Promise.race([running, late]).finally(() => over.abort());
    if (text === null)
      throw new Error(`not ready within ${roundedSeconds(READ_WITHIN_MS)}; use puntas ${read} on the machine`);
    return text;
  }

  async #preview(sender: ChatSender, action: RemoteAction, words: string): Promise<void> {
    const { books, stoppedBooks } = this.#options;
    // A book that the bot no longer has can still have a stop; without its name, the resume would be one of all books.
    const stopped = action === 'resume' ? stoppedBooks() : [];
    const request = actionRequest(action, words, sender, books(), stopped);
    this.#assertNotShorter(request);
    const { id, lines } = await this.#approvals.open(ownerOf(sender), request, () => undefined);
    const time = request.minutes === null ? '' : ` for ${counted(request.minutes, 'minute')}`;
    const text = [
      `${this.#options.botName()}: preview of ${action}${this.#targetText(request)}${time}. Reason: ${request.reason}`,
      ...lines.map(line => `- ${line}`),
      `Nothing has happened yet. Confirm within ${roundedSeconds(APPROVAL_MS)}.`,
    ].join('\n');
    const of = request.book === undefined ? '' : ` ${request.book}`;
    this.#options.send(sender.chat, text, { text: `Confirm ${action}${of}`, data: `${CONFIRM}${id}` });
  }

  /** Returns the book of a request, or the number of all books; empty if the bot has only one. */
  #targetText({ book }: ActionRequest): string {
    const books = this.#options.books();
    return books.length === 0 && book === undefined ? '' : ` of ${book ?? `all ${counted(books.length, 'book')}`}`;
  }

  /**
   * Throws if the request would replace the pause in force by one that ends sooner, which acts like a later resume. Where
   * `/resume` is accepted, any pause is.
   */
  #assertNotShorter({ action, minutes, book }: ActionRequest): void {
    const { canResume, clock, pauseNow } = this.#options;
    if (action !== 'pause' || canResume) return;
    const pause = pauseNow(book);
    const until = minutes === null ? null : clock.now() + minutes * MINUTE_MS;
    if (pause === null || until === null || (pause.until !== null && pause.until <= until)) return;
    const ends = pause.until === null ? 'has no end' : `lasts until ${new Date(pause.until).toISOString()}`;
    throw new Error(
      `a pause is in force that ${ends}; a shorter one would let the bot quote sooner, and resume is off here`,
    );
  }

  #press(sender: ChatSender, callbackId: string, data: string): void {
    const { botName, send, acknowledge } = this.#options;
    const id = data.startsWith(CONFIRM) ? data.slice(CONFIRM.length) : '';
    const isStarted = this.#approvals.confirm(ownerOf(sender), id, over =>
      send(sender.chat, `${botName()}: ${overText(over)}`),
    );
    acknowledge(callbackId, isStarted ? 'Started; the result follows.' : NO_EFFECT);
    if (!isStarted) send(sender.chat, NO_EFFECT);
  }

  #help(): string {
    const [first] = this.#options.books();
    return [
      '/status: process, quotes, inventory, limits, profit',
      '/profit: profit in total and by day',
      '/pause [30m] [reason]: cancel all orders and pause quoting',
      '/reduce [reason]: quote only to reduce inventory',
      '/halt [reason]: cancel all orders and stop quoting until resume',
      this.#options.canResume
        ? '/resume [reason]: end a pause, a halt or reduce-only'
        : 'Resume is off here (alerts.telegram.remote.resume); use puntas resume on the machine or the console.',
      ...(first === undefined
        ? []
        : [`An action on one book names it first, like /halt ${first}; without a name, all books.`]),
      'An action shows its preview first and needs your confirmation.',
    ].join('\n');
  }
}

const NO_EFFECT =
  'This button had no effect: its preview has expired, was confirmed before, or belongs to another user. Send the command again.';

const overText = ({ end, lines }: ActionOver): string =>
  [end === 'done' ? 'Done.' : 'REFUSED.', ...lines.map(line => `- ${line}`)].join('\n');

/** Returns the identification of a user in a chat, to which previews are bound. */
const ownerOf = ({ chat, user }: ChatSender): string => `${chat} ${user}`;

/**
 * Returns the request for an action: a book, if the bot has several; a duration like `30m` or `2h` (only for a pause);
 * then the reason. The recorded operator is the id of the user, because the name is chosen by the user. A first word in
 * the form of a book that the bot does not have is an error, because a stop of all books was probably not meant.
 */
function actionRequest(
  action: RemoteAction,
  given: string,
  { user, name }: ChatSender,
  books: readonly string[],
  stopped: readonly string[],
): ActionRequest {
  // A command has its words on one line, with single blanks.
  const [first = '', ...others] = given.split(' ');
  const book = [...books, ...stopped].find(each => each === first.toLowerCase());
  if (book === undefined && books.length > 0 && BOOK_NAME.test(first.toLowerCase()))
    throw new Error(`${first}: expected a book of this bot (${books.join(', ')})`);
  const words = book === undefined ? given : others.join(' ');
  const [, count, unit, rest = ''] = (action === 'pause' ? DURATION.exec(words) : null) ?? [];
  const reason = count === undefined ? words : rest;
  const minutes = count === undefined ? null : Number(count) * (unit?.toLowerCase() === 'h' ? 60 : 1);
  if (minutes !== null && !(minutes >= 1 && minutes <= PAUSE_MINUTES_MAX))
    throw new Error(`expected a duration from 1m to ${PAUSE_MINUTES_MAX / 60}h`);
  return {
    action,
    ...(book === undefined ? {} : { book }),
    // A stop must not fail for its reason.
    reason: reason === '' ? 'no reason given' : isReasonTooShort(reason) ? `${reason} (no further reason)` : reason,
    by: `Telegram ${user}${name === '' ? '' : ` (${name})`}`,
    minutes,
    costMax: null,
  };
}

const DURATION = /^(\d{1,5})([mh])(?: (.*))?$/i;

const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const roundedSeconds = (ms: Millis): string => `${Math.round(ms / 1000)} s`;

/**
 * Returns a time that passes at least as fast as the monotonic clock and as the wall clock. The monotonic clock stands
 * still while a machine is suspended, but a preview must expire then too.
 */
function expiryTime(clock: Clock): () => Millis {
  let [elapsed, wall, time] = [clock.elapsed(), clock.now(), 0];
  return () => {
    const [nextElapsed, nextWall] = [clock.elapsed(), clock.now()];
    time += Math.max(0, nextElapsed - elapsed, nextWall - wall);
    [elapsed, wall] = [nextElapsed, nextWall];
    return time;
  };
}
