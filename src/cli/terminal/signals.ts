/** How a person stops a command: with a signal, once for a clean end, twice to leave at once. */
import { EXIT } from '../../app/messages/exits.ts';

/**
 * The first SIGINT, SIGTERM or SIGHUP (a terminal that is closed) stops cleanly, at the end of the start when it came during the start; a second one leaves at once and says
 * what that may mean.
 */
export function signalsToStop(
  leaving = 'leaving without verifying; orders may be left on the exchange',
  code: number = EXIT.leftOrders,
): { tell(stop: (why: string) => void): void } {
  let asked: string | null = null;
  let stop: ((why: string) => void) | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (asked !== null) {
        console.error(`second ${signal}: ${leaving}`);
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
  };
}
