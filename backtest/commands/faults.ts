/** Exit code of a command whose strategies did not all quote as they should. */
import { EXIT } from '../../src/messages/exits.ts';

/** Ends the command with code 1 if the strategy of a run threw or returned an invalid quote: the results are not its. */
export function endByFaults(models: readonly { readonly strategyFault?: string }[]): void {
  if (models.some(({ strategyFault }) => strategyFault !== undefined)) process.exitCode = EXIT.broken;
}
