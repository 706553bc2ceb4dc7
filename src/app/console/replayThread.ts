/**
 * Thread for the console's replays. It handles requests one after another, reports progress, and drops aborted
 * requests.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { textOfError } from '../../core/index.ts';
import { realClock } from '../../live/realClock.ts';
import { ConsoleReplayer, type ReplayedBot } from './consoleReplayer.ts';
import type { FromReplays, ToReplays } from './replays.ts';

const replayer = new ConsoleReplayer(workerData as ReplayedBot, realClock());
/** Unfinished requests, by id. */
const waiting = new Map<number, AbortController>();
const tell = (news: FromReplays): void => parentPort?.postMessage(news);

async function answer(message: Exclude<ToReplays, { kind: 'leave' }>): Promise<void> {
  const { id } = message;
  const onProgress = (share: number): void => tell({ id, kind: 'share', share });
  const leaving = new AbortController();
  waiting.set(id, leaving);
  try {
    tell({ id, kind: 'done', told: await replayResult(message, leaving.signal, onProgress) });
  } catch (error) {
    tell({ id, kind: 'failed', why: textOfError(error) });
  } finally {
    waiting.delete(id);
  }
}

function replayResult(
  message: Exclude<ToReplays, { kind: 'leave' }>,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<string | readonly string[]> {
  switch (message.kind) {
    case 'past':
      return replayer.past(message.ask, signal, onProgress);
    case 'preview':
      return replayer.preview(message.ask, onProgress);
    case 'read':
      return replayer.read(message.ask);
  }
}

parentPort?.on('message', (message: ToReplays) => {
  if (message.kind === 'leave') waiting.get(message.id)?.abort();
  else void answer(message);
});
