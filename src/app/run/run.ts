/** `puntas run`: makes a market until it is stopped, then leaves no order and reports the result. */
import { DamagedState } from '../../live/state/journal.ts';
import type { Leftovers } from '../../live/state/journal.ts';
import { realClock } from '../../live/realClock.ts';
import { keepBeside } from './besideProcess.ts';
import { giveUp, giveUpOn } from './startupCleanup.ts';
import { openOwnState } from './ownState.ts';
import { Running } from './running.ts';
import type { Ends, RunResult } from './running.ts';
import type { RunOptions } from './runOptions.ts';

export type { RunResult };

/** Runs the bot from start to clean end. Rejects with one line for the operator if it cannot start. */
export async function run(options: RunOptions): Promise<RunResult> {
  const ends: Ends = [];
  /** Orders of an earlier run that may live, until this run handles them. */
  let leftovers: Leftovers['orders'] = [];
  try {
    const journal = await openOwnState(options);
    options.onOpened?.();
    ends.push(consoleBeside(options));
    if (journal instanceof DamagedState) return await giveUpOn(journal, options);
    leftovers = journal.leftovers.orders;
    const running = new Running(options, journal, ends);
    const rolling = await running.open();
    const scrapes = await running.serve(rolling);
    return await running.trade(rolling, scrapes, () => (leftovers = []));
  } catch (error) {
    if (leftovers.length === 0) throw error;
    return await giveUp(error, leftovers, options);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Starts the console, if configured. Returns the function that ends it. */
function consoleBeside({ config, consoleArgs: args, log }: RunOptions): () => Promise<void> {
  if (config.console?.besideRun !== true || args === undefined) return async () => undefined;
  const beside = keepBeside({ name: 'console', args, environment: process.env, clock: realClock(), log });
  return () => beside.stop();
}
