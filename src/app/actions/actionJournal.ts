/** The journal of actions of a state directory: who did what and why, what came of it; a line each, kept for ever. */
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { TailedLines } from '../../guard/index.ts';
import { appendLineDurably } from '../../live/files/durableFiles.ts';
import { ACTION_NAMES } from './actions.ts';
import type { ActionAsk, ActionEnd, ActionName, ActionVia } from './actions.ts';

export type ActionEntry = ActionEnd & {
  readonly id: string;
  readonly at: Millis;
  readonly by: string;
  readonly via: ActionVia;
  readonly action: ActionName;
  readonly reason: string;
  /** Of a pause: when it was to end by itself. */
  readonly untilMs?: Millis;
  /** Of a flatten: the most that it may cost, in the minor currency. */
  readonly costMax?: string;
};

const FILE = 'actions.jsonl';

/** Durable when it returns. Throws when the disk does not take it. */
export function noteAction(stateDir: string, at: Millis, ask: ActionAsk, { end, lines }: ActionEnd): void {
  const { id, by, via, action, reason } = ask;
  const until = ask.action === 'pause' && ask.untilMs !== undefined ? { untilMs: ask.untilMs } : {};
  const cost = ask.action === 'flatten' ? { costMax: ask.costMax } : {};
  const entry: ActionEntry = { id, at, by, via, action, reason, ...until, ...cost, end, lines };
  appendLineDurably(join(stateDir, FILE), JSON.stringify(entry));
}

/** Entries that are shown: an entry has about 300 bytes. */
const SHOWN = { bytes: 1_048_576, lines: 2_000 };

/** The last entries, oldest first; empty where nothing was ever done. A line that cannot be read is left out. */
export const actionsIn = (stateDir: string): readonly ActionEntry[] => actionTail(stateDir)();

/** The same again and again: each call reads only what is new. */
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
  const { id, at, by, via, reason, end, lines, untilMs, costMax } = found;
  const action = ACTION_NAMES.find(each => each === found.action);
  if (action === undefined || typeof id !== 'string' || typeof at !== 'number' || !Array.isArray(lines)) return null;
  return {
    ...{ id, at, action, by: String(by), reason: String(reason), lines: lines.map(String) },
    via: via === 'console' ? 'console' : 'command',
    end: end === 'done' ? 'done' : 'refused',
    ...(typeof untilMs === 'number' ? { untilMs } : {}),
    ...(typeof costMax === 'string' ? { costMax } : {}),
  };
}
