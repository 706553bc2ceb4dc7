/** Whether a bot runs, as its state directory tells: its heartbeat, the process behind it, and what holds it. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { textOfMoney } from '../../core/index.ts';
import type { Millis } from '../../core/index.ts';
import { botClockIn, HEARTBEAT_FILES, isThere, readHeartbeat } from '../../live/safety/heartbeat.ts';
import { flattenIn } from '../../live/safety/flatten.ts';
import type { Flatten } from '../../live/safety/flatten.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { pauseAt } from '../../live/safety/pauseWatch.ts';

/** `silent`: it has not stopped, and shows no life. */
export type BotLife = {
  readonly state: 'runs' | 'stopped' | 'silent' | 'never ran';
  /** When its process began; null where none did. */
  readonly since: Millis | null;
  /** Since its last sign of life; null where there is none. */
  readonly beatAgo: Millis | null;
};

/** What keeps it from quoting as it would. */
export type HeldBy = {
  readonly what: 'halt' | 'pause' | 'hold' | 'reduce' | 'flatten';
  readonly reason: string;
  readonly at: Millis;
  /** Which kind: the bot itself, its sentinel, a person. */
  readonly by: string;
  /** The person's name, where one was given. */
  readonly who: string | null;
  /** When it ends by itself; null: at a resume, or when its cause is over. */
  readonly until: Millis | null;
};

/** A bot that runs beats every two seconds. */
const SILENT_MS = 15_000;

/** Reads the state directory alone. `now` is the wall's. */
export function lifeOf(dir: string, now: Millis): BotLife {
  const record = readHeartbeat(dir, 'bot');
  if (record === null) return { state: 'never ran', since: null, beatAgo: null };
  const beatAgo = Math.max(0, Math.round(now - statSync(join(dir, HEARTBEAT_FILES.bot)).mtimeMs));
  const isSilent = isThere(record) === false || beatAgo > SILENT_MS;
  return { state: record.state === 'stopped' ? 'stopped' : isSilent ? 'silent' : 'runs', since: record.born, beatAgo };
}

/** The hardest first. */
export function holdersOf(dir: string, now: Millis): readonly HeldBy[] {
  const latch = latchIn(dir);
  const found = [
    ['halt', latch.read()],
    ['pause', pauseAt(latch, botClockIn(dir).at(now))],
    ['hold', latch.readHold()],
    ['reduce', latch.readReduce()],
    ['flatten', personOf(flattenIn(dir).read())],
  ] as const;
  return found.flatMap(([what, held]) => {
    if (held === null) return [];
    const { reason, at, by, who = null } = held;
    const until = 'until' in held && typeof held.until === 'number' ? held.until : null;
    return [{ what, reason, at, by, who, until }];
  });
}

const personOf = (flatten: Flatten | null) =>
  flatten && {
    ...flatten,
    by: 'person',
    who: flatten.by,
    reason: `${flatten.reason} (for at most ${textOfMoney(flatten.costMax)} in all)`,
  };

/** In words, such as `pause by ann`. */
export const holderText = ({ what, by, who }: HeldBy): string =>
  `${what} by ${who ?? (by === 'person' ? 'a person' : `the ${by}`)}`;
