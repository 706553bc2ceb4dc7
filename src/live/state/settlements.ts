/** Settlement of hedges by the operator, for outcomes that the exchange does not report. */
import type { Hedger } from '../../hedge/index.ts';
import type { Log } from '../log.ts';
import type { MailMessage } from '../mailbox/kinds.ts';
import type { NumberedMailbox } from '../mailbox/mailbox.ts';

/** Returns the reason of a hedge's end that the operator has stated. */
export const settledWhy = ({ as, by, reason }: Pick<MailMessage<'settle'>, 'as' | 'by' | 'reason'>): string =>
  `settled as ${as} by ${by}: ${reason}`;

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
  for (const message of box?.waiting() ?? []) {
    const { id, as, by, base, quote, fee, feeCurrency } = message;
    const isWhole = base !== undefined && quote !== undefined && fee !== undefined && feeCurrency !== undefined;
    const amounts = isWhole ? { base, quote, fee, feeCurrency } : null;
    const taken = hedger?.settleAs(id, as, settledWhy(message), amounts) ?? 'not open';
    if (taken === 'busy') continue;
    if (taken === 'incomplete')
      log.warn({ id }, `the settlement of hedge ${id} by ${by} has no amounts, and was ignored; settle it again`);
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
