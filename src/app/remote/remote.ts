/**
 * `puntas remote`: a separate process that takes commands from a Telegram chat. It has no API key and acts only through
 * the state directory of the bot, so a failure of Telegram or of this process does not affect trading.
 */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import { textInSeconds, sleep, textOfError, type Clock, type Millis, type Secret } from '../../core/index.ts';
import { bookLatchIn, booksWithLatches } from '../../live/safety/bookLatch.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { botClockIn } from '../../live/safety/heartbeat.ts';
import { pauseAt } from '../../live/safety/pauseWatch.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { writeRemoteCounts } from '../../live/safety/remoteCounts.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { cut } from '../../alerts/message.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { bookOfAsk, quotedBooks } from '../actions/actionBook.ts';
import type { ActionAsk } from '../actions/actions.ts';
import { consoleActions } from '../console/consoleActions.ts';
import { replaysOf } from '../console/replays.ts';
import { readChatUpdate } from './chatUpdate.ts';
import { RemoteControl, type RemoteOptions } from './remoteControl.ts';
import { SharedWork } from '../inspect/sharedWork.ts';
import { SendQueue } from './sendQueue.ts';
import { MESSAGE_MAX, TelegramApi, type ApiResult } from './telegramApi.ts';
import { UpdateOffset } from './updateOffset.ts';

export type RemoteAsk = {
  readonly config: Config;
  /** Bot that the commands apply to. */
  readonly bot: WhichBot;
  readonly token: Secret;
  readonly clock: Clock;
  /** Receives a line when the remote control starts and when it works again. */
  readonly onLine: (line: string) => void;
  /** Receives a line about each failure. */
  readonly onTrouble: (line: string) => void;
};

/** Minimum time between two requests for updates, in ms. It limits the load of a flood of updates. */
const POLL_GAP_MS = 500;
/** Wait after a failed request, in ms. It doubles from `first` to `most`. */
const RETRY_MS = { first: 1_000, most: 60_000 };
/** Minimum time between two reports of failed requests, in ms. */
const FAILURE_EVERY_MS = 60_000;
/** Interval at which changed counts are written, in ms. */
const COUNTS_EVERY_MS = 1_000;
/**
 * Maximum time that the preview of an action waits for the replay of the recording, in ms. A stop must not wait for a
 * replay; a resume without a preview is not offered.
 */
const PREVIEW_WITHIN_MS = { stop: 10_000, resume: 120_000 };

/**
 * Takes commands until the signal is aborted. Requests are retried forever: a failing Telegram is one line in the log.
 * @throws UsageError if the configuration has no remote control.
 */
export async function remoteControl(ask: RemoteAsk, signal: AbortSignal): Promise<void> {
  const { config, bot, token, clock, onLine, onTrouble } = ask;
  const { telegram } = config.alerts ?? {};
  if (telegram?.remote === undefined)
    throw new UsageError(
      'alerts.telegram.remote: the configuration has no remote control; add chats and users (docs/remote.md)',
    );
  const { chats, users, resume: canResume } = telegram.remote;
  const api = new TelegramApi(telegram.url, token);
  const { book, state, metrics, exchange } = config;
  const booksNow = (): readonly string[] => {
    const books = quotedBooks(bot, config);
    return books.length === 1 ? [] : books;
  };
  const nameOfBot = (): string => (booksNow().length === 0 ? `${config.instance} ${book}` : config.instance);
  const replays = replaysOf({ config: { book, state, metrics, exchange }, bot }, clock);
  const queue = new SendQueue(clock, onTrouble);
  const closing = () => void api.close();
  signal.addEventListener('abort', closing);
  try {
    const failures = new FailureLines(ask);
    const ownName = await retried(() => api.userName(), ask, failures, signal);
    if (ownName === null) return;
    onLine(
      `remote control: @${ownName} takes commands of the users ${users.join(', ')} in the chats ${chats.join(', ')}`,
    );
    const control = new RemoteControl({
      ...{ chats, users, canResume, ownName, clock },
      botName: () => (isPaperState(bot.stateDir) ? `${nameOfBot()} (paper)` : nameOfBot()),
      books: booksNow,
      newId: () => randomBytes(24).toString('base64url'),
      ...remoteBot(bot, clock, asked => replays.preview(asked, () => undefined)),
      read: what => replays.read({ what, as: 'text' }),
      send: (chat, text, button) => queue.add(() => api.send(chat, cut(text, MESSAGE_MAX), button)),
      acknowledge: (id, text) => queue.add(() => api.acknowledge(id, text)),
    });
    const counts = showCounts(control, config.state.dir, clock);
    await poll(api, control, ask, failures, signal);
    counts.stop();
  } finally {
    signal.removeEventListener('abort', closing);
    queue.close();
    replays.close();
    await api.close();
  }
}

/** Returns what the remote control reads and does in the state directory of a bot. `replayed` previews an action. */
export function remoteBot(
  bot: WhichBot,
  clock: Clock,
  replayed: (asked: ActionAsk) => Promise<readonly string[]>,
): Pick<RemoteOptions, 'stoppedBooks' | 'pauseNow' | 'actions'> {
  const { stateDir } = bot;
  const previews = new SharedWork<readonly string[]>();
  const preview = (asked: ActionAsk) => {
    const made = () => replayed(asked);
    // A resume is bound to the stops of its own preview, so it has no part in an earlier one.
    return previewWithin(asked, clock, asked.action === 'resume' ? made() : previews.of(previewKey(asked), made));
  };
  return {
    stoppedBooks: () => booksWithLatches(stateDir),
    pauseNow: of => {
      const now = clock.now();
      const botClock = botClockIn(stateDir);
      const at = botClock.at(now);
      const pause = pauseAt(of === undefined ? latchIn(stateDir) : bookLatchIn(stateDir, of), at);
      if (pause === null || pause.until === null) return pause;
      return { until: now + (pause.until - at) / botClock.speed };
    },
    actions: consoleActions(bot, clock, () => false, preview, 'telegram'),
  };
}

/** Returns the key of a preview: requests with equal keys have the same preview. */
export const previewKey = (asked: ActionAsk): string => `${asked.action} ${bookOfAsk(asked) ?? ''}`;

/** Requests updates and hands them to the control, until the signal is aborted. */
async function poll(
  api: TelegramApi,
  control: RemoteControl,
  ask: RemoteAsk,
  failures: FailureLines,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = ask;
  const offset = new UpdateOffset(clock);
  while (!signal.aborted) {
    const began = clock.elapsed();
    const asked = offset.next();
    const updates = await retried(() => api.updates(asked), ask, failures, signal);
    if (updates === null) return;
    for (const raw of updates) {
      const update = readChatUpdate(raw);
      if (update === null) continue;
      offset.heard(update.id);
      control.take(update);
    }
    await sleep(clock, Math.max(0, began + POLL_GAP_MS - clock.elapsed()), signal);
  }
}

/** Repeats a call until it succeeds; `null` if the signal is aborted. */
async function retried<T>(
  call: () => Promise<ApiResult<T>>,
  { clock }: RemoteAsk,
  failures: FailureLines,
  signal: AbortSignal,
): Promise<T | null> {
  let wait: Millis = RETRY_MS.first;
  while (!signal.aborted) {
    const result = await call();
    if (signal.aborted) return null;
    if (result.kind === 'done') {
      failures.answered();
      return result.value;
    }
    failures.failed(result.why);
    await sleep(clock, Math.max(wait, result.afterMs), signal);
    wait = Math.min(RETRY_MS.most, wait * 2);
  }
  return null;
}

/**
 * Reports of failed requests: at most one per `FAILURE_EVERY_MS`, none that repeats the last reason, and one at the
 * first success after a reported failure.
 */
class FailureLines {
  readonly #ask: RemoteAsk;
  #reportedAt = -Infinity;
  /** Last reason that was reported since the last success; empty if there is none. */
  #reported = '';

  constructor(ask: RemoteAsk) {
    this.#ask = ask;
  }

  failed(why: string): void {
    const now = this.#ask.clock.elapsed();
    if (why === this.#reported || now - this.#reportedAt < FAILURE_EVERY_MS) return;
    [this.#reported, this.#reportedAt] = [why, now];
    this.#ask.onTrouble(`${why}${remedyFor(why)}; retrying; trading continues`);
  }

  answered(): void {
    if (this.#reported !== '') this.#ask.onLine('remote control: Telegram answers again');
    this.#reported = '';
  }
}

function remedyFor(why: string): string {
  if (/answered 409/.test(why))
    return ' (another program reads the updates of this token; give each bot its own token)';
  if (/answered 40[14]/.test(why)) return ' (Telegram does not know the token in PUNTAS_TELEGRAM_TOKEN)';
  return '';
}

/**
 * Returns the lines of a preview. If they take too long or fail, returns a line that says so, and the action can still
 * be confirmed. Rejects for a resume.
 */
export async function previewWithin(
  { action }: ActionAsk,
  clock: Clock,
  lines: Promise<readonly string[]>,
): Promise<readonly string[]> {
  const over = new AbortController();
  const ms = action === 'resume' ? PREVIEW_WITHIN_MS.resume : PREVIEW_WITHIN_MS.stop;
  const late = sleep(clock, ms, over.signal).then(() => null);
  const failed = lines.catch((error: unknown) => `the replay of the recording failed (${textOfError(error)})`);
  const found = await Promise.race([failed, late]).finally(() => over.abort());
  if (found !== null && typeof found !== 'string') return found;
  const why = found ?? `the replay of the recording takes longer than ${textInSeconds(ms)}`;
  if (action === 'resume') throw new Error(`no preview, because ${why}; use puntas resume on the machine`);
  return [`the effect on the quotes is unknown, because ${why}; the action does not depend on it`];
}

/** Writes changed counts once per second, and at the end. */
function showCounts(control: RemoteControl, stateDir: string, clock: Clock): { readonly stop: () => void } {
  let written = '';
  const write = (): void => {
    const { counts } = control;
    const text = JSON.stringify(counts);
    if (text !== written && writeRemoteCounts(stateDir, counts)) written = text;
  };
  let timer = clock.after(0, function turn() {
    write();
    timer = clock.after(COUNTS_EVERY_MS, turn);
  });
  return {
    stop: () => {
      timer.stop();
      write();
    },
  };
}
