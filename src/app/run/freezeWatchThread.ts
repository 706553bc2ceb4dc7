/** Thread that watches the turns of the main thread's event loop, and ends the process if the event loop is frozen. */
import { parentPort, workerData } from 'node:worker_threads';
import { endFrozen, FrozenTurns, haltFrozen, TICK_MS, type FrozenBot } from './frozenProcess.ts';
import type { FreezeWatched } from './freezeWatch.ts';

const { turns, bot: first, command } = workerData as FreezeWatched;
let bot = first;
parentPort?.on('message', (next: FrozenBot) => (bot = next));

const count = new FrozenTurns();
const view = new Int32Array(turns);
const checks = setInterval(() => {
  const { user, system } = process.cpuUsage();
  if (!count.tick(Atomics.load(view, 0), (user + system) / 1_000)) return;
  clearInterval(checks);
  // The line is written past the output that names the command as the user types it.
  endFrozen(haltFrozen(bot, Date.now()).replaceAll(': puntas ', `: ${command} `));
}, TICK_MS);
