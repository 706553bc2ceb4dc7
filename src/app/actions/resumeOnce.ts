/** A resume that is killed and repeated lifts what one resume lifts: after a pause it must not lift the halt behind it. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { writeDurably } from '../../live/files/durableFiles.ts';
import { isTrusted } from '../../live/files/stateDir.ts';
import { botClockIn } from '../../live/safety/heartbeat.ts';
import { latchIn, PAUSE_FILE } from '../../live/safety/latch.ts';
import { pauseAt } from '../../live/safety/pauseWatch.ts';
import { resume } from '../inspect/stateCommands.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';

type Started = { readonly by: string; readonly reason: string; readonly isPause: boolean };

const FILE = 'resuming.json';

/** Lifts what `resume` lifts, and says it. The same command repeated after it was killed ends no more than the pause that it had found. Throws as `resume` does. */
export function resumeOnce(
  bot: WhichBot,
  { by, reason }: { readonly by: string; readonly reason: string },
  at: Millis,
): string {
  const { stateDir: dir } = bot;
  const left = startedIn(dir);
  const isPause = existsSync(dir) && pauseAt(latchIn(dir), botClockIn(dir).at(at)) !== null;
  if (left?.isPause === true && left.by === by && left.reason === reason && !isPause) {
    rmSync(join(dir, `${PAUSE_FILE}.over`), { force: true });
    return 'the pause is over: an interrupted run of the same command had ended it; nothing else is lifted';
  }
  if (existsSync(dir)) writeDurably(join(dir, FILE), JSON.stringify({ by, reason, isPause }));
  return resume(bot, reason, at, by);
}

/** To be called once the journal of actions has it. */
export const resumed = ({ stateDir }: WhichBot): void => rmSync(join(stateDir, FILE), { force: true });

function startedIn(dir: string): Started | null {
  const file = join(dir, FILE);
  if (!isTrusted(file)) return null;
  try {
    const { by, reason, isPause } = (JSON.parse(readRegularFile(file, SMALL_FILE)) ?? {}) as Partial<Started>;
    return typeof by === 'string' && typeof reason === 'string' ? { by, reason, isPause: isPause === true } : null;
  } catch {
    return null;
  }
}
