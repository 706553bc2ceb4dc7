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
    if (message.kind === 'past')
      tell({ id, kind: 'done', told: await replayer.past(message.ask, leaving.signal, onProgress) });
    else tell({ id, kind: 'done', told: await replayer.preview(message.ask, onProgress) });
  } catch (error) {
    tell({ id, kind: 'failed', why: textOfError(error) });
  } finally {
    waiting.delete(id);
  }
}

parentPort?.on('message', (message: ToReplays) => {
  if (message.kind === 'leave') waiting.get(message.id)?.abort();
  else void answer(message);
});
