/** Settlement of hedges by the operator, for outcomes that the exchange does not report. */
import type { Hedger } from '../../hedge/index.ts';
import type { Log } from '../log.ts';
import type { NumberedMailbox } from '../mailbox/mailbox.ts';

/**
 * Ends the hedges that the operator has settled. Call `applyPendingSettlements` periodically: a hedge that is being
 * looked up is ended only by a later call.
 */
export function applyPendingSettlements(
  box: NumberedMailbox<'settle'> | undefined,
  hedger: Hedger | null,
  persist: () => boolean,
  log: Log,
): void {
  for (const { id, as, by, reason } of box?.waiting() ?? []) {
    const taken = hedger === null ? 'not open' : hedger.settleAs(id, as, `settled as ${as} by ${by}: ${reason}`);
    if (taken === 'busy') continue;
    if (taken === 'not open') log.warn({ id }, `hedge ${id} is no longer open; the settlement by ${by} was ignored`);
    // A settlement that is not durable stays in its file and is read again; its hedge has then already ended.
    if (!persist()) return;
    try {
      box?.done(id);
    } catch (error) {
      log.warn(
        { id, error: String(error) },
        `the settlement of hedge ${id} is in the ledger, but its request file could not be deleted`,
      );
    }
  }
}
