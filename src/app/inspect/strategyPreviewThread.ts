/** Thread of the preview of a strategy file, because only a thread can be ended while its code loops. */
import { parentPort, workerData } from 'node:worker_threads';
import { strategyPreview, type FromStrategyPreview, type StrategyPreviewAsk } from './strategyPreview.ts';

const tell = (news: FromStrategyPreview): void => parentPort?.postMessage(news);
const preview = strategyPreview(workerData as StrategyPreviewAsk, () => tell({ kind: 'replayed' }));
tell({ kind: 'done', preview });
