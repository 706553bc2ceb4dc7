/** Settlement of hedges by the operator, for outcomes that the exchange does not report. */
import type { HedgeRow } from '../../core/index.ts';
import { isOver, mayStillExecute, type Hedger } from '../../hedge/index.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';
import type { Log } from '../log.ts';
import type { MailMessage } from '../mailbox/kinds.ts';
import type { NumberedMailbox } from '../mailbox/mailbox.ts';

/** Returns the reason that is stored with a hedge that the operator has settled. */
export const settledWhy = ({ as, by, reason }: Pick<MailMessage<'settle'>, 'as' | 'by' | 'reason'>): string =>
  `settled as ${as} by ${by}: ${reason}`;

/** Parts of a run that `applyPendingSettlements` uses. */
export type SettlingRun = {
  /** `null` if the run has no hedger. */
  readonly hedger: Hedger | null;
  /**
   * Hedges that a run without a hedger passes on unchanged to the next run, including hedges that were settled at the
   * start of the run.
   */
  readonly kept: readonly HedgeRow[];
  /** Makes ledger and recording durable; returns whether it succeeded. */
  readonly persist: () => boolean;
  readonly log: Log;
  readonly connectivity: ConnectivityLog;
};

/**
 * Ends the hedges that the operator has settled. Call `applyPendingSettlements` periodically: a hedge that is being
 * looked up is ended only by a later call. Without a hedger, settlements of open hedges wait for a run that has one.
 */
export function applyPendingSettlements(
  box: NumberedMailbox<'settle'> | undefined,
  { hedger, kept, persist, log, connectivity }: SettlingRun,
): void {
  for (const message of box?.waiting() ?? []) {
    const { id, as, by, base, quote, fee, feeCurrency } = message;
    if (hedger === null && kept.some(row => row.id === id && mayStillExecute(row))) {
      const text = `the settlement of hedge ${id} by ${by} waits, because the configuration has no section hedge; restore this section until the hedge has ended`;
      connectivity.say(`settlement ${id}`, { id }, text);
      continue;
    }
    const isWhole = base !== undefined && quote !== undefined && fee !== undefined && feeCurrency !== undefined;
    const amounts = isWhole ? { base, quote, fee, feeCurrency } : null;
    const why = settledWhy(message);
    const isEnded = kept.some(row => row.id === id && row.why === why && isOver(row));
    const taken = hedger?.settleAs(id, as, why, amounts) ?? (isEnded ? 'settled' : 'not open');
    if (taken === 'busy') continue;
    if (taken === 'incomplete')
      log.warn(
        { id },
        `the settlement of hedge ${id} by ${by} lacks amounts and was ignored; settle the hedge again with all amounts`,
      );
    if (taken === 'not open') log.warn({ id }, `hedge ${id} is no longer open; the settlement by ${by} was ignored`);
    // A settlement that is not durable stays in its file. The next call reads it again, when its hedge has already
    // ended.
    if (!persist()) return;
    try {
      box?.done(id);
    } catch (error) {
      log.warn(
        { id, error: String(error) },
        `the settlement of hedge ${id} was processed, but its request file could not be deleted`,
      );
    }
  }
}
