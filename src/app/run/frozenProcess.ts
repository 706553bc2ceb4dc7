/**
 * End of a process that its strategy file has frozen: when the process counts as frozen, and what its watch then does.
 * No signal handler runs in a frozen process, so only its end lets a supervisor start it again.
 */
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { textOfError, type Millis } from '../../core/index.ts';
import { makeFolder } from '../../guard/index.ts';
import { latchIn, type Halt } from '../../live/safety/latch.ts';
import { EXIT } from '../../messages/exits.ts';
import { ownCommand, type WhichBot } from '../../messages/ownCommand.ts';

/** Interval of the checks of the watch, in ms. */
export const TICK_MS = 500;
/**
 * Number of checks in a row without a turn of the event loop after which the process counts as frozen. The number and
 * `CPU_MIN_MS` are far more than a full collection of garbage needs.
 */
const TICKS_MAX = 20;
/**
 * Minimum processor time that the process must have used in these checks, in ms. A suspended machine, a stopped process,
 * a debugger and a slow disk use none.
 */
const CPU_MIN_MS = 5_000;

/** Counts the checks without a turn of the event loop. */
export class FrozenTurns {
  #turns = Number.NaN;
  #ticks = 0;
  #cpuMs: Millis = 0;

  /**
   * Counts one check. `turns`: a number that changes at each turn of the event loop; `cpuMs`: processor time that the
   * process has used. Returns whether the process counts as frozen.
   */
  tick(turns: number, cpuMs: Millis): boolean {
    if (turns !== this.#turns) {
      [this.#turns, this.#ticks, this.#cpuMs] = [turns, 0, cpuMs];
      return false;
    }
    this.#ticks++;
    return this.#ticks >= TICKS_MAX && cpuMs - this.#cpuMs >= CPU_MIN_MS;
  }
}

/** Bot with a strategy file. */
export type FrozenBot = WhichBot & {
  /** Names of the strategy files that may have frozen it, each with its hash. */
  readonly strategies: readonly string[];
};

const REASON = { before: 'the strategy file ', after: ' froze the bot with a loop in a timer or promise' } as const;

/** Returns the reason of the halt of a bot that one of these strategy files froze. */
export const frozenReason = (strategies: readonly string[]): string =>
  `${REASON.before}${strategies.join(' or ')}${REASON.after}`;

/** Whether a halt says that this strategy file may have frozen the bot. */
export const isFrozenBy = (strategy: string, { reason }: Halt): boolean =>
  reason.startsWith(REASON.before) && reason.endsWith(REASON.after) && reason.includes(strategy);

/**
 * Halts a frozen bot, so that a restart does not run the file again, and returns the text for the operator. Works in a
 * thread, while the main thread loops.
 */
export function haltFrozen(bot: FrozenBot, at: Millis): string {
  const reason = frozenReason(bot.strategies);
  let halted = 'trading is halted';
  try {
    // The file may freeze the bot before its first start has made the folder.
    makeFolder(bot.stateDir, 0o700);
    latchIn(bot.stateDir).set({ reason, at, by: 'bot' });
  } catch (error) {
    halted = `THE HALT COULD NOT BE WRITTEN TO DISK (${textOfError(error)})`;
  }
  return `${reason}; ${halted}, and this process ends itself; its orders may be open until the next start, or: ${ownCommand('halt --cancel', bot)}; correct the file and start the bot, which names the key that approves the corrected file, then: ${ownCommand('resume', bot)}`;
}

/**
 * Expression that ends the main thread. Standard error is closed, because Node would write that it waits for a debugger.
 */
const EXIT_NOW = `process.getBuiltinModule('node:fs').closeSync(2); process.reallyExit(${EXIT.leftOrders})`;
/** Time for the main thread to end, in ms. */
const EXIT_MAX_MS = 2_000;

/**
 * Ends this process from a thread, while the main thread loops, after a line on standard error. The inspector interrupts
 * the loop: the first process of a container ignores a SIGKILL from within.
 */
export function endFrozen(line: string): void {
  try {
    // The streams of a thread need the main thread.
    writeSync(2, `${line}\n`);
  } catch {
    // A full pipe must not keep the process.
  }
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), EXIT_MAX_MS);
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression: EXIT_NOW });
}
