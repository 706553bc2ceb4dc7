/** Permanent action journal of a state directory: operator, action, reason and result, one line each. */
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { TailedLines, appendLineDurably } from '../../guard/index.ts';
import {
  ACTION_NAMES,
  ACTION_VIAS,
  type ActionAsk,
  type ActionEnd,
  type ActionName,
  type ActionVia,
  type SetAsk,
} from './actions.ts';

export type ActionEntry = ActionEnd & {
  readonly id: string;
  readonly at: Millis;
  readonly by: string;
  readonly via: ActionVia;
  readonly action: ActionName;
  readonly reason: string;
  /** Book of the action; absent if it was on the whole bot. */
  readonly book?: string;
  /** Expiry time of a pause, in epoch ms. */
  readonly untilMs?: Millis;
  /** Maximum cost of a flatten action, in the quote currency. */
  readonly costMax?: string;
  /**
   * Name that the proposing agent gave itself; absent if no agent proposed the action. If present, `id` is the id of
   * the proposal, and `by` is the person who approved it.
   */
  readonly agent?: string;
  /** Change by the action `set`. */
  readonly change?: JournaledChange;
};

/** Change of a key, with its value before and after; a value is `null` if not set. */
export type JournaledChange = {
  readonly key: string;
  readonly from: string | null;
  readonly to: string | null;
  /** Requested value, if its text differs from `to`: `13.0` becomes `13`, and a removed key has its default. */
  readonly asked?: string | null;
};

/** Action as the journal records it; the action `set` also has the earlier value. */
export type NotedAsk = Exclude<ActionAsk, SetAsk> | NotedSet;

type NotedSet = SetAsk & {
  readonly from?: string | null;
  /** Value in the changed file; if absent, the requested value. */
  readonly to?: string | null;
};

const notedChange = ({ key, value, from = null, to = value }: NotedSet): JournaledChange => ({
  ...{ key, from, to },
  ...(to === value ? {} : { asked: value }),
});

/** Whether a change was requested with this key and value. */
export const isAskedChange = (
  change: JournaledChange | undefined,
  { key, value }: Pick<SetAsk, 'key' | 'value'>,
): boolean => change?.key === key && (change.asked === undefined ? change.to : change.asked) === value;

const FILE = 'actions.jsonl';

/** Writes an entry, which is on disk when the function returns. Throws if the entry cannot be written to disk. */
export function noteAction(stateDir: string, at: Millis, ask: NotedAsk, { end, lines }: ActionEnd): void {
  const { id, by, via, action, reason } = ask;
  const until = ask.action === 'pause' && ask.untilMs !== undefined ? { untilMs: ask.untilMs } : {};
  const cost = ask.action === 'flatten' ? { costMax: ask.costMax } : {};
  const proposed = ask.agent === undefined ? {} : { agent: ask.agent };
  const change = ask.action === 'set' ? { change: notedChange(ask) } : {};
  const book = 'book' in ask && ask.book !== undefined ? { book: ask.book } : {};
  const what = { ...proposed, action, ...book, reason, ...until, ...cost, ...change };
  const entry: ActionEntry = { id, at, by, via, ...what, end, lines };
  appendLineDurably(join(stateDir, FILE), JSON.stringify(entry));
}

/** Maximum number of bytes and lines read for display; an entry has about 300 bytes. */
const SHOWN = { bytes: 1_048_576, lines: 2_000 };

/** Returns the last entries, oldest first; empty if there are none. Unreadable lines are omitted. */
export const actionsIn = (stateDir: string): readonly ActionEntry[] => actionTail(stateDir)();

/** Returns a function that returns the last entries, as `actionsIn` does. Each call reads only new lines. */
export function actionTail(stateDir: string): () => readonly ActionEntry[] {
  const tail = new TailedLines(join(stateDir, FILE), SHOWN, entryOf);
  return () => tail.read();
}

function entryOf(line: string): ActionEntry | null {
  let found: Partial<Record<keyof ActionEntry, unknown>>;
  try {
    found = (JSON.parse(line) ?? {}) as typeof found;
  } catch {
    return null;
  }
  const { id, at, by, via, reason, end, lines, book, untilMs, costMax, agent, change } = found;
  const action = ACTION_NAMES.find(each => each === found.action);
  if (action === undefined || typeof id !== 'string' || typeof at !== 'number' || !Array.isArray(lines)) return null;
  return {
    ...{ id, at, action, by: String(by), reason: String(reason), lines: lines.map(String) },
    via: ACTION_VIAS.find(each => each === via) ?? 'command',
    end: end === 'done' ? 'done' : 'refused',
    ...(typeof book === 'string' ? { book } : {}),
    ...(typeof untilMs === 'number' ? { untilMs } : {}),
    ...(typeof costMax === 'string' ? { costMax } : {}),
    ...(typeof agent === 'string' ? { agent } : {}),
    ...(isChange(change) ? { change: changeIn(change) } : {}),
  };
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';

const isChange = (value: unknown): value is JournaledChange => {
  const { key, from, to } = (value ?? {}) as Partial<Record<'key' | 'from' | 'to', unknown>>;
  return typeof key === 'string' && isTextOrNull(from) && isTextOrNull(to);
};

const changeIn = ({ key, from, to, asked }: JournaledChange): JournaledChange => ({
  ...{ key, from, to },
  ...(isTextOrNull(asked) ? { asked } : {}),
});
