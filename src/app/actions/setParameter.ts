/**
 * Action that changes one key of the configuration file and has the running bot apply it. The bot's answer decides: if
 * the bot refuses, the earlier file is restored. A change that was interrupted by a kill is completed or undone later.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import {
  booksOf,
  changedYaml,
  configChanges,
  isKeyOfBook,
  PARAMETER_DIRECTIONS,
  parameterPlace,
  parameterRefusal,
  parameterText,
  typedParameter,
  type Config,
} from '../../config.ts';
import { textOfError, type Clock, type Millis } from '../../core/index.ts';
import { readRegularFile, replaceInPlace, replacementProblem, TEXT_FILE, writeDurably } from '../../guard/index.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import { Mailbox, ReloadBox } from '../../live/mailbox/mailbox.ts';
import { isThere } from '../../live/safety/heartbeat.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { configOfText, readConfigText } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { AbsentBot, UnansweredRequest } from '../inspect/askBot.ts';
import { askReload } from './askReload.ts';
import { lastConfigOf } from '../inspect/botOfFolder.ts';
import { changeText, digestOf, reloadDigestOf } from '../run/reloading.ts';
import { actionsIn, isAskedChange, noteAction } from './actionJournal.ts';
import { reloadedFile } from './reloadChanges.ts';
import { stateDirOf, type ActionEnd, type SetAsk } from './actions.ts';
import { strategyIdentityChanges } from './strategyPreview.ts';

/** Change of the configuration file that is checked but not written yet. */
export type PlannedChange = {
  readonly file: string;
  readonly before: { readonly text: string; readonly digest: string };
  readonly after: { readonly text: string; readonly digest: string; readonly config: Config };
  /** Digest of what a reload of the file applies, as `reloadDigestOf` returns it, before and after. */
  readonly reloads: { readonly before: string; readonly after: string };
  /** Value before and after as text; `null` if not set. */
  readonly from: string | null;
  readonly to: string | null;
  /** Books that the change changes, in their order. */
  readonly books: readonly string[];
  /** Text of the change, such as `strategy.halfSpreadBps: 11 -> 13`, one line for each book. */
  readonly lines: readonly string[];
};

/**
 * Result of a change. `undo`: change that restores the earlier value, if a page can make it; the value `null` removes
 * the key.
 */
export type SetEnd = ActionEnd & {
  readonly undo?: { readonly key: string; readonly value: string | null; readonly book?: string };
};

/**
 * Checks a change completely, and writes nothing.
 * @throws UsageError if the change is not permitted, has errors, or if the file cannot be replaced.
 */
export function plannedChange(bot: WhichBot, { key, value, digest, book }: SetAsk): PlannedChange {
  const file = parameterFileOf(bot);
  const problem = replacementProblem(file);
  if (problem !== null) throw new UsageError(`${file}: ${problem}, so no change was made`);
  const { config, text } = readConfigText(file);
  const place = parameterPlace(config, text, key, book);
  if (typeof place === 'string') throw new UsageError(place);
  // Bytes that are not UTF-8 are read as this character, and would be lost.
  if (text.includes('\ufffd'))
    throw new UsageError(`${file}: has bytes that are not UTF-8, or the character U+FFFD, so no change was made`);
  const before = { text, digest: digestOf(text) };
  const reloaded = reloadDigestOf(text, config);
  if (digest !== undefined && digest !== reloaded)
    throw new UsageError(`${file} has changed since it was shown; preview the change again`);
  const shown = (of: Config): Config => booksOf(of).find(one => one.book === (book ?? config.book))!;
  const run = lastRunOf(bot, shown(config));
  const refusal = parameterRefusal(shown(config), key, value, run);
  if (refusal !== null) throw new UsageError(refusal);
  const typed = value === null ? null : typedParameter(shown(config), key, value, run);
  const from = parameterText(shown(config), key, run);
  const changed = changedYaml(text, place.path, typed);
  if (!changed.ok) throw new UsageError(`${file}: ${key} cannot be changed: ${changed.problem}`);
  const next = configOfText(file, changed.text);
  const changes = configChanges(config, next);
  if (changes.length === 0) throw new UsageError(`${key} already has this value`);
  if (changes.length !== place.keys.length || !changes.every(each => place.keys.includes(each.key)))
    throw new UsageError(
      `${key}: expected a change of this key only, but these keys would change: ${changes.map(each => each.key).join(', ')}`,
    );
  const late = changes.find(({ takesEffect }) => takesEffect !== 'reload' && takesEffect !== 'live');
  if (late !== undefined) throw new UsageError(`${changeText(late)}: takes effect only after a restart`);
  return {
    file,
    before,
    after: { text: changed.text, digest: digestOf(changed.text), config: next },
    reloads: { before: reloaded, after: reloadDigestOf(changed.text, next) },
    from,
    to: parameterText(shown(next), key),
    books: place.books,
    lines: [
      // The default of a strategy file is not in the configuration.
      ...changes.map(each => changeText({ ...each, from: each.from ?? from })),
      ...sharedText(key, place.books),
      ...(value !== null && (PARAMETER_DIRECTIONS[key] ?? 'free') !== 'free'
        ? [
            `${key} is a limit, which a page or the API can only tighten: only the YAML file and a reload loosen it again`,
          ]
        : []),
    ],
  };
}

/**
 * Returns the configuration of a book in the last run, which has the defaults of its strategy file; `null` if there is
 * none, or if the book has no strategy file.
 */
export function lastRunOf({ stateDir }: WhichBot, { book, strategy }: Config): Config | null {
  if (!('file' in strategy)) return null;
  try {
    return booksOf(lastConfigOf(stateDir)).find(one => one.book === book) ?? null;
  } catch {
    return null;
  }
}

/** Returns a line that names the books of a section that several books share; none if only one book changes. */
const sharedText = (key: string, books: readonly string[]): readonly string[] =>
  books.length < 2 || !isKeyOfBook(key)
    ? []
    : [
        `${books.join(', ')} share the section ${key.split('.')[0]!} of the file, so each of them changes; to change one book, write its own section into the file`,
      ];

/**
 * Returns the path of the configuration file.
 * @throws UsageError if only the state directory is known.
 */
export function parameterFileOf({ configFile, stateDir }: WhichBot): string {
  if (configFile === undefined)
    throw new UsageError(`${stateDir}: a change of a parameter needs the YAML file of the bot; pass it with -c FILE`);
  return resolve(configFile);
}

/**
 * Asks the bot whether it has applied the current file, because a reload applies every change in the file. Runs no
 * strategy file that the bot does not run.
 * @throws UsageError if the file has changes that the bot has not applied, or if no bot answers.
 */
export async function assertFileApplied(bot: WhichBot, ask: SetAsk, digest: string, clock: Clock): Promise<void> {
  const file = parameterFileOf(bot);
  const notApplied = (lines: readonly string[]) =>
    new UsageError([
      `${file}: the file, or its strategy file, has changes that the bot has not applied; reload or undo them first`,
      ...lines,
    ]);
  const identity = strategyIdentityChanges(readConfigText(file).config, stateDirOf(bot));
  if (identity.length > 0) throw notApplied(identity);
  const { end, lines } = await askReload(previewRequest(bot, ask, digest), clock);
  if (end !== 'nothing to do') throw notApplied(lines);
}

const previewRequest = (bot: WhichBot, { id, by, reason }: Pick<SetAsk, 'id' | 'by' | 'reason'>, digest: string) => ({
  ...{ config: parameterFileOf(bot), state: stateDirOf(bot), paper: false, preview: true },
  // This preview must not count as the last preview that the operator saw.
  ...{ id, by, reason, digest, isForAgent: true },
});

/** Ids of changes and recoveries that this process is executing. */
const underWay = new Set<string>();
/** Time after which a change counts as interrupted, in ms; longer than the longest wait for the bot's answer. */
const INTERRUPTED_MS = 300_000;

type Changing = MailMessage<'changing'>;

/**
 * Executes a change, and writes the journal. If the journal already has this request, returns the recorded result.
 * Rejects with `UsageError`, without a change, if the file differs from the previewed file, if the bot has not applied
 * the file, or if another change is under way.
 */
export async function executeSet(bot: WhichBot, ask: SetAsk, clock: Clock): Promise<SetEnd> {
  await recoverChange(bot, clock);
  const dir = stateDirOf(bot);
  const recorded = recordedEnd(bot, ask);
  if (recorded !== null) return recorded;
  const digest = plannedChange(bot, ask).reloads.before;
  await assertFileApplied(bot, { ...ask, id: randomUUID() }, digest, clock);
  // The file may have changed during the wait.
  const planned = plannedChange(bot, { ...ask, digest });
  const { file, before, after, from, to } = planned;
  const record: Changing = {
    ...{ id: ask.id, at: clock.now(), by: ask.by, reason: ask.reason, via: ask.via, file },
    ...{ key: ask.key, from, to, before: before.digest, after: after.digest },
    ...(ask.book !== undefined && { book: ask.book }),
    ...(ask.value === to ? {} : { asked: ask.value }),
    ...{ host: hostname(), pid: process.pid },
  };
  const box = new Mailbox(dir, 'changing');
  writeDurably(earlierFilePath(dir, record), before.text);
  underWay.add(record.id);
  try {
    if (!box.putNew(record)) {
      // Another process may be executing this request, and then needs the copy.
      if (box.message()?.id !== record.id) rmSync(earlierFilePath(dir, record), { force: true });
      throw new UsageError(
        `another change of a parameter is under way; preview the change again when it ends. If none is under way, remove ${box.path()}`,
        1,
      );
    }
    return await appliedOrRestored(bot, record, planned, clock);
  } finally {
    underWay.delete(record.id);
  }
}

/**
 * Returns the result that the journal has under the id of the request; `null` if it has none.
 * @throws UsageError if that result is of another request.
 */
function recordedEnd(bot: WhichBot, ask: SetAsk): SetEnd | null {
  const { id, by, key, book } = ask;
  const found = actionsIn(stateDirOf(bot)).find(each => each.id === id);
  if (found === undefined) return null;
  const { end, lines, change } = found;
  if (found.by !== by || found.book !== book || change === undefined || !isAskedChange(change, ask))
    throw new UsageError(`${id}: another action was executed under this id; use a new id`);
  return { end, lines, ...(end === 'done' ? undoOf(bot, key, change.from, book) : {}) };
}

/** Returns the change that restores the earlier value; nothing if a page cannot make it, as for a tightened limit. */
function undoOf(bot: WhichBot, key: string, value: string | null, book: string | undefined): Pick<SetEnd, 'undo'> {
  let config: Config;
  try {
    ({ config } = readConfigText(parameterFileOf(bot)));
  } catch {
    return {};
  }
  const shown = booksOf(config).find(one => one.book === (book ?? config.book));
  if (shown === undefined || !canUndo(shown, lastRunOf(bot, shown), key, value)) return {};
  return { undo: { key, value, ...(book !== undefined && { book }) } };
}

/**
 * Whether a page can restore the value that a key of a book had before a change; false if the key has that value again.
 * `run` as in `listedParameters`.
 */
export const canUndo = (shown: Config, run: Config | null, key: string, from: string | null): boolean =>
  parameterText(shown, key, run) !== from && parameterRefusal(shown, key, from, run) === null;

async function appliedOrRestored(
  bot: WhichBot,
  record: Changing,
  { file, after, lines, reloads }: PlannedChange,
  clock: Clock,
): Promise<SetEnd> {
  const finished = (end: ActionEnd) => finish(bot, record, end, clock.now());
  const undone = (lines: readonly string[]) => undo(bot, record, lines, clock.now());
  try {
    // The file is compared again just before it is replaced.
    if (digestOf(readRegularFile(file, TEXT_FILE)) !== record.before)
      return finished({ end: 'refused', lines: [`${file} has changed since the preview; no change was made`] });
    replaceInPlace(file, after.text, record.id);
  } catch (error) {
    return undone([`${file}: cannot be written (${textOfError(error)})`]);
  }
  let answer: Awaited<ReturnType<typeof askReload>>;
  try {
    const { id, by, reason } = record;
    const request = { config: file, state: stateDirOf(bot), digest: reloads.after, paper: false, preview: false };
    answer = await askReload({ ...request, id, by, reason }, clock);
  } catch (error) {
    // The bot may still apply the change. The record stays, and the next change asks the bot again.
    if (error instanceof UnansweredRequest)
      return {
        end: 'refused',
        lines: [
          error.message,
          `${file} has the new value; whether the bot applied it is checked before the next change`,
        ],
      };
    return undone(textOfError(error).split('\n'));
  }
  return answer.end === 'kept'
    ? undone(answer.lines)
    : finished({ end: 'done', lines: joinedLines(lines, answer.lines) });
}

/** Joins the lines of a change with those of the bot's answer, which knows the default of a removed key. */
function joinedLines(planned: readonly string[], answered: readonly string[]): readonly string[] {
  const keyOf = (line: string): string => line.slice(0, line.indexOf(': ') + 1);
  const keys = new Set(answered.map(keyOf));
  const own = planned.filter(line => keyOf(line) === '' || !keys.has(keyOf(line)) || answered.includes(line));
  return [...own, ...answered.filter(line => !own.includes(line))];
}

/**
 * Completes or undoes a change that a kill interrupted. Returns its result; `null` if there is none.
 * @throws UsageError if a change is under way, or if the bot cannot say yet whether it applied the change.
 */
export async function recoverChange(bot: WhichBot, clock: Clock): Promise<ActionEnd | null> {
  const dir = stateDirOf(bot);
  const record = new Mailbox(dir, 'changing').message();
  if (record === null) return null;
  if (isUnderWay(record, clock.now()))
    throw new UsageError(`a change of ${record.key} by ${record.by} is under way; try again in a minute`, 1);
  underWay.add(record.id);
  try {
    const finished = (end: ActionEnd) => finish(bot, record, end, clock.now());
    if (record.file !== parameterFileOf(bot) || !existsSync(record.file))
      return finished({
        end: 'refused',
        lines: [
          `the change was interrupted; check ${record.key} in ${record.file}; its earlier value was ${record.from ?? 'not set'}`,
        ],
      });
    const digest = digestOf(readRegularFile(record.file, TEXT_FILE));
    if (digest === record.before)
      return finished({ end: 'refused', lines: ['the change was interrupted before the file was written'] });
    if (digest !== record.after)
      return finished({
        end: 'refused',
        lines: ['the change was interrupted, and the file was edited since; check the file and reload it'],
      });
    if (await isApplied(bot, record, clock))
      return finished({ end: 'done', lines: ['the bot applied the change, although the console was interrupted'] });
    return undo(bot, record, ['the change was interrupted before the bot applied it'], clock.now());
  } finally {
    underWay.delete(record.id);
  }
}

/** Whether the bot runs, or last ran, with the new value. */
async function isApplied(bot: WhichBot, record: Changing, clock: Clock): Promise<boolean> {
  const dir = stateDirOf(bot);
  const waiting = new ReloadBox(dir);
  if (waiting.waiting()?.id === record.id) waiting.take();
  try {
    // The bot handles requests in order, so its answer comes after any reload that it still executes.
    const request = previewRequest(bot, { ...record, id: randomUUID() }, reloadedFile(bot).digest);
    return (await askReload(request, clock)).end === 'nothing to do';
  } catch (error) {
    // A bot that runs and has not answered may still apply the change.
    if (!(error instanceof AbsentBot)) throw error;
  }
  try {
    const books = booksOf(lastConfigOf(dir));
    const changed = books.find(({ book }) => book === (record.book ?? books[0]!.book));
    return changed !== undefined && parameterText(changed, record.key) === record.to;
  } catch {
    return false;
  }
}

function isUnderWay({ id, at, host, pid }: Changing, now: Millis): boolean {
  if (underWay.has(id)) return true;
  if (host === hostname() && pid === process.pid) return false;
  const process_ = { process: { host, pid } } as Parameters<typeof isThere>[0];
  return isThere(process_) !== false && Math.abs(now - at) < INTERRUPTED_MS;
}

/**
 * Restores the earlier file, and ends the change as refused. If the file cannot be restored, the record and the copy
 * stay, and the next change tries again.
 */
function undo(bot: WhichBot, record: Changing, lines: readonly string[], at: Millis): SetEnd {
  const { line, isSettled } = restoreFile(bot, record);
  const end: ActionEnd = { end: 'refused', lines: [...lines, line] };
  return isSettled ? finish(bot, record, end, at) : end;
}

/**
 * Restores the earlier file, unless someone has edited the file. Returns a line for the operator. `isSettled`: whether
 * no further attempt is needed.
 */
function restoreFile(bot: WhichBot, record: Changing): { readonly line: string; readonly isSettled: boolean } {
  const settled = (line: string) => ({ line, isSettled: true });
  const unsettled = (line: string) => ({ line, isSettled: false });
  const { file, before, after, id } = record;
  try {
    const digest = digestOf(readRegularFile(file, TEXT_FILE));
    if (digest === before) return settled(`${file} has its earlier content`);
    if (digest !== after) return settled(`${file} was edited by someone else, and was not restored; check the file`);
    const text = readRegularFile(earlierFilePath(stateDirOf(bot), record), TEXT_FILE);
    if (digestOf(text) !== before)
      return unsettled(`${file} was not restored, because its copy is damaged; restore the file`);
    replaceInPlace(file, text, id);
    return settled(`${file} was restored to its earlier content`);
  } catch (error) {
    const why = textOfError(error);
    return unsettled(
      `${file} COULD NOT BE RESTORED (${why}); set ${record.key} to ${record.from ?? 'not set'} in the file`,
    );
  }
}

/** Writes the journal, then removes the record, so that no action is repeated after a kill between the two steps. */
function finish(bot: WhichBot, record: Changing, end: ActionEnd, at: Millis): SetEnd {
  const dir = stateDirOf(bot);
  const { id, by, reason, via, key, from, to, book, asked: value = to } = record;
  const lines = [...end.lines];
  try {
    const change = { key, value, from, to, ...(book !== undefined && { book }) };
    const set = { ...{ id, by, reason, via }, action: 'set', ...change } as const;
    if (!actionsIn(dir).some(each => each.id === id)) noteAction(dir, at, set, end);
  } catch (error) {
    lines.push(`this action could not be recorded in actions.jsonl: ${textOfError(error)}`);
  }
  const box = new Mailbox(dir, 'changing');
  const now = box.message();
  // Another process may have settled this change, and begun another.
  if (now === null || now.id === id) box.remove();
  rmSync(earlierFilePath(dir, record), { force: true });
  return { end: end.end, lines, ...(end.end === 'done' ? undoOf(bot, key, from, book) : {}) };
}

/** Returns the path of the copy of the earlier file, which exists during a change. */
const earlierFilePath = (dir: string, { id }: Pick<Changing, 'id'>): string => join(dir, `config-before-${id}.yaml`);
