/** How a person stops a command: with a signal, once for a clean end, twice to leave at once. */
import { closeSync, constants, openSync } from 'node:fs';
import { EXIT } from '../../messages/exits.ts';
import { printError } from './output.ts';

/**
 * The first SIGINT, SIGTERM or SIGHUP stops cleanly, at the end of the start when it came during the start; a second SIGINT or SIGTERM leaves at once
 * and says what that may mean. With `reloads` a SIGHUP stops only when the terminal is closed; otherwise it is handed to `onReload`, at the end of the start too.
 */
export function signalsToStop(
  leaving = 'exiting without verification; orders may still be open at the exchange',
  code: number = EXIT.leftOrders,
  reloads = false,
): { tell(stop: (why: string) => void): void; onReload(reload: () => void): void } {
  const hadTerminal = hasTerminal();
  let reload: (() => void) | null = null;
  let isReloadAsked = false;
  let asked: string | null = null;
  let stop: ((why: string) => void) | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (signal === 'SIGHUP' && reloads && (hasTerminal() || !hadTerminal)) {
        if (reload === null) isReloadAsked = true;
        else reload();
        return;
      }
      // One closed terminal may bring two, and nobody insists by them.
      if (signal === 'SIGHUP' && asked !== null) return;
      if (asked !== null) {
        printError(`second ${signal}: ${leaving}`);
        process.exit(code);
      }
      asked = signal;
      stop?.(signal);
    });
  }
  return {
    tell: call => {
      stop = call;
      if (asked !== null) call(asked);
    },
    onReload: call => {
      reload = call;
      if (isReloadAsked) call();
    },
  };
}

/** Whether this process has a terminal that somebody may sit at; it has none any more once that was closed. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}
