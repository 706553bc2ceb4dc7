/** Signals that stop a command: the first signal stops cleanly, the second signal exits immediately. */
import { closeSync, constants, openSync } from 'node:fs';
import { EXIT } from '../../messages/exits.ts';
import { printError } from './output.ts';

/**
 * Handles signals. The first SIGINT, SIGTERM or SIGHUP stops cleanly. A second SIGINT or SIGTERM exits immediately and
 * prints the possible consequences. With `reloads`, a SIGHUP stops only if the terminal was closed; otherwise it
 * reloads. Stops and reloads requested during the start take effect when the start is complete. `stopping` aborts at the
 * first signal that stops, so that the start ends waits that a stop makes needless.
 */
export function signalsToStop(
  leaving = 'exiting before all cancels are verified; orders may still be open at the exchange',
  code: number = EXIT.leftOrders,
  reloads = false,
): { tell(stop: (why: string) => void): void; onReload(reload: () => void): void; readonly stopping: AbortSignal } {
  const hadTerminal = hasTerminal();
  const stopping = new AbortController();
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
      // A closed terminal may send SIGHUP twice, so the second SIGHUP is ignored.
      if (signal === 'SIGHUP' && asked !== null) return;
      if (asked !== null) {
        printError(`second ${signal}: ${leaving}`);
        process.exit(code);
      }
      asked = signal;
      stopping.abort();
      stop?.(signal);
    });
  }
  return {
    stopping: stopping.signal,
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

/**
 * Resolves when the command must stop. A command started by a run ends with the run, not on Ctrl-C: Ctrl-C reaches both
 * processes, and the operator wants to watch the cancels.
 */
export function untilStopped(signals: Pick<ReturnType<typeof signalsToStop>, 'tell'>): Promise<void> {
  return new Promise<void>(resolve => {
    process.once('disconnect', () => resolve());
    signals.tell(why => (process.connected && why === 'SIGINT' ? undefined : resolve()));
  });
}

/**
 * Ends this process when its parent ends. Has no effect without an IPC channel; the channel does not keep this process
 * running.
 */
export function endWithParent(): void {
  if (!process.connected) return;
  process.once('disconnect', () => process.exit(EXIT.misused));
  process.channel?.unref();
}

/** Whether this process still has an open terminal. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}
