/** Execution of the operator's actions, with their result and journal entry. */
import { existsSync } from 'node:fs';
import { counted, type Clock, type Millis, textOfError } from '../../core/index.ts';
import { botClockIn } from '../../live/safety/heartbeat.ts';
import { bookLatchIn } from '../../live/safety/bookLatch.ts';
import { latchIn, type Halt } from '../../live/safety/latch.ts';
import { pauseInForce } from '../../live/safety/pauseWatch.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import { RequestBox } from '../../live/mailbox/mailbox.ts';
import { askReload } from './askReload.ts';
import { lifeOf, silenceText } from '../inspect/botLife.ts';
import { notRunningText } from '../inspect/botOfFolder.ts';
import { latchHalt } from '../inspect/halt.ts';
import { reduce } from './reduceAndResume.ts';
import { ownCommand, type WhichBook, type WhichBot } from '../../messages/ownCommand.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { assertBookKnown, bookOfAsk } from './actionBook.ts';
import { noteAction, type NotedAsk } from './actionJournal.ts';
import {
  checkedAsk,
  stateDirOf,
  type ActionAsk,
  type ActionEnd,
  type PauseAsk,
  type ReloadActionAsk,
} from './actions.ts';
import { askBot } from '../inspect/askBot.ts';
import { flatten } from './flatten.ts';
import { fileOf } from './previewAction.ts';
import { executeSet, type SetEnd } from './setParameter.ts';
import { resumed, resumeOnce } from './resumeOnce.ts';

/**
 * Executes an action: writes the request, waits for the bot's answer to a cancel or reload, and writes the journal.
 * Rejects with `UsageError`, without a journal entry, if the request is invalid.
 */
export async function executeAction(bot: WhichBot, ask: ActionAsk, clock: Clock): Promise<SetEnd> {
  if (ask.action === 'reload') {
    const { end, lines } = await executeReload(bot, ask, clock);
    return { end: end === 'kept' ? 'refused' : 'done', lines };
  }
  if (ask.action === 'set') return executeSet(bot, checkedAsk(ask, clock.now()), clock);
  const checked = checkedAsk(ask, clock.now());
  if (checked.action !== 'halt' || bot.configFile === undefined) stateDirOf(bot);
  const book = bookOfAsk(checked);
  const notes = assertBookKnown(bot, checked);
  const end = await done({ ...bot, book }, checked, clock).catch((error: unknown): ActionEnd => {
    if (error instanceof UsageError) return { end: 'refused', lines: error.message.split('\n') };
    throw error;
  });
  const told = journalResult(bot, checked, clock.now(), { ...end, lines: [...end.lines, ...notes] });
  if (checked.action === 'resume') resumed({ ...bot, book });
  return told;
}

/**
 * Executes a reload as `executeAction` does, but returns the bot's own answer. Rejects with `UsageError` if the bot
 * does not answer; the journal gets an entry even then.
 */
export async function executeReload(
  bot: WhichBot,
  ask: ReloadActionAsk,
  clock: Clock,
): Promise<Omit<MailMessage<'reloadAnswer'>, 'id'> & { readonly digest: string }> {
  const checked = checkedAsk(ask, clock.now());
  const { by, id, reason, digest } = checked;
  const file = { config: fileOf(bot), state: stateDirOf(bot), digest };
  const asked = { ...file, paper: false, preview: false, by, id, reason };
  try {
    const { end, lines, digest: taken } = await askReload(asked, clock);
    const kept = journalResult(bot, checked, clock.now(), { end: end === 'kept' ? 'refused' : 'done', lines });
    return { end, lines: kept.lines, digest: taken };
  } catch (error) {
    if (error instanceof UsageError)
      journalResult(bot, checked, clock.now(), { end: 'refused', lines: error.message.split('\n') });
    throw error;
  }
}

/**
 * Writes the result to the journal and returns the result. If the write fails, an executed action still counts as
 * executed.
 */
export function journalResult({ stateDir }: WhichBot, ask: NotedAsk, at: Millis, end: ActionEnd): ActionEnd {
  try {
    if (existsSync(stateDir)) noteAction(stateDir, at, ask, end);
    return end;
  } catch (error) {
    const why = textOfError(error);
    return { ...end, lines: [...end.lines, `this action could not be recorded in actions.jsonl: ${why}`] };
  }
}

async function done(
  bot: WhichBook,
  ask: Exclude<ActionAsk, { action: 'reload' | 'set' }>,
  clock: Clock,
): Promise<ActionEnd> {
  const { reason, by } = ask;
  switch (ask.action) {
    case 'pause':
      return { end: 'done', lines: [...pause(bot, ask, clock.now()), ...silence(bot, clock)] };
    case 'reduce':
      return { end: 'done', lines: [reduce(bot, reason, clock.now(), by), ...unheard(bot, clock)] };
    case 'resume':
      return { end: 'done', lines: [resumeOnce(bot, ask, clock.now()), ...notRunning(bot, clock)] };
    case 'halt': {
      const { text, isLatched } = latchHalt(bot, reason, clock.now(), by);
      return { end: isLatched ? 'done' : 'refused', lines: [text, ...unheard(bot, clock)] };
    }
    case 'flatten':
      return { end: 'done', lines: flatten(bot, ask, clock.now()) };
    case 'cancel':
      return cancel(bot, ask, clock);
  }
}

/** Returns a line if no bot shows that it can execute the action, although none was stopped; otherwise no line. */
const silence = (bot: WhichBot, clock: Clock): readonly string[] => [silenceText(bot, clock.now()) ?? []].flat();
/** Returns a line if no bot is running; otherwise no line. */
const notRunning = ({ stateDir }: WhichBot, clock: Clock): readonly string[] =>
  [notRunningText(stateDir, clock.now()) ?? []].flat();
/** Returns a line if the bot is silent or not running; otherwise no line. */
const unheard = (bot: WhichBot, clock: Clock): readonly string[] => [...silence(bot, clock), ...notRunning(bot, clock)];

/**
 * Pauses quoting until a resume or the expiry time, and replaces an earlier pause. Returns lines about the pause, a
 * replaced pause, and a halt or reduce-only state that outlasts the pause.
 */
function pause(bot: WhichBook, { reason, by, untilMs }: PauseAsk, at: Millis): readonly string[] {
  const { stateDir, book } = bot;
  const whole = latchIn(stateDir);
  const latch = book === undefined ? whole : bookLatchIn(stateDir, book);
  const before = latch.readPause();
  const end = untilMs === undefined ? null : endOfPause(bot, untilMs, at);
  latch.setPause({ reason, at, by: 'person', who: by, until: end?.at ?? null });
  const until = end === null ? '' : `until ${end.text}, or `;
  const [paused, there] = book === undefined ? ['paused', ''] : [`paused ${book}`, ` ${book}`];
  const { state } = lifeOf(stateDir, at);
  const held =
    state === 'runs' || state === 'silent'
      ? `${paused}; within seconds ${state === 'runs' ? 'the' : 'a running'} bot cancels its orders${book === undefined ? '' : ` in ${book}`} and stops quoting${there}`
      : `${paused}; the bot is not running, and after its next start it will not quote${there}`;
  const levels = [['the bot', whole] as const, ...(book === undefined ? [] : [[book, latch] as const])];
  const botPause = book === undefined ? null : pauseInForce(whole, stateDir, at);
  const also = (of: string, what: string, stop: Halt | null): readonly string[] =>
    stop === null ? [] : [`${of} is also ${what} (${stop.reason}), and stays ${what} after the pause`];
  return [
    `${held}, ${until}until you resume with: ${ownCommand('resume', bot)}`,
    ...(before === null ? [] : [`this pause replaces the earlier pause (${before.reason})`]),
    ...also('the bot', 'paused', botPause),
    ...levels.flatMap(([of, each]) => also(of, 'halted', each.read())),
    ...levels.flatMap(([of, each]) => also(of, 'reduce-only', each.readReduce())),
  ];
}

/**
 * Returns the expiry time of a pause on the bot's clock.
 * @throws UsageError if the last run was accelerated and no bot is running, because the clock of the next run is
 * unknown.
 */
function endOfPause(bot: WhichBot, untilMs: Millis, now: Millis): { readonly at: Millis; readonly text: string } {
  const { stateDir } = bot;
  const clock = botClockIn(stateDir);
  const wall = new Date(untilMs).toISOString();
  if (clock.speed === 1) return { at: untilMs, text: wall };
  if (lifeOf(stateDir, now).state !== 'runs')
    throw new UsageError(
      `--for: no bot is running, and the last run ran at ${counted(clock.speed, 'time')} real time, so the end of the pause is unknown; pause the bot without --for, and end the pause with: ${ownCommand('resume', bot)}`,
    );
  const at = clock.at(untilMs);
  return {
    at,
    text: `${wall} (${new Date(at).toISOString()} by the clock of the bot, which runs at ${counted(clock.speed, 'time')} real time)`,
  };
}

async function cancel(bot: WhichBot, { id, by, reason }: ActionAsk, clock: Clock): Promise<ActionEnd> {
  const dir = bot.stateDir;
  const request = { id, at: clock.now(), by, reason };
  const unheard = `to cancel its remaining orders, run: ${ownCommand('halt --cancel', bot)}`;
  const { end, lines } = await askBot(dir, new RequestBox(dir, 'cancel', 'cancelAnswer'), request, clock, unheard);
  const more = `to halt trading and cancel the bot's orders directly at the exchange (needs the bot's key), run: ${ownCommand('halt --cancel', bot)}`;
  return end === 'gone' ? { end: 'done', lines } : { end: 'refused', lines: [...lines, more] };
}
