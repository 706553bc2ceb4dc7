/** Thread of the preview of a strategy file, because only a thread can be ended while its code loops. */
import { setImmediate } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';
import { strategyPreview, type FromStrategyPreview, type StrategyPreviewAsk } from './strategyPreview.ts';

const report = (news: FromStrategyPreview): void => parentPort?.postMessage(news);
const preview = strategyPreview(workerData as StrategyPreviewAsk, () => report({ kind: 'replayed' }));
// Promises of the file run before the next turn of the event loop: a loop in one of them would freeze the bot.
setImmediate(() => report({ kind: 'done', preview }));
