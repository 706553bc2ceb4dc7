/** Thread that reads past trades from the disk, so that the bot's event loop continues meanwhile. */
import { parentPort, workerData } from 'node:worker_threads';
import { foundPastTrades, type PastTradesRead } from './pastTradesRead.ts';

parentPort?.postMessage(foundPastTrades(workerData as PastTradesRead));
