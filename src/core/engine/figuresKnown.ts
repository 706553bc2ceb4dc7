/**
 * Whether the figures of the account are known: whether the trades and balances that they need were read, and if not,
 * the reason.
 */
import type { TradingAccount } from '../accounting/tradingAccount.ts';
import type { ReadTimes } from '../marketdata/readTimes.ts';
import type { Millis } from '../model/units.ts';
import { textInSeconds } from '../text/textInSeconds.ts';
import { mayLive, type Orders } from '../orders/orders.ts';
import type { RegimeState } from '../risk/regimes.ts';

/** Reasons why figures from trades and figures from holdings are unknown; `null` if they are exact. */
export type MissingEvidence = { readonly trades: string | null; readonly holdings: string | null };

export type EvidenceSources = {
  readonly account: Pick<TradingAccount, 'checked' | 'differences' | 'differs' | 'isOpen'>;
  readonly fresh: Pick<ReadTimes, 'trades'>;
  readonly orders: Pick<Orders, 'live' | 'areTradesMissing'>;
  readonly regime: Pick<RegimeState, 'unread'>;
  readonly staleAfterMs: Millis;
};

const NOT_OPEN = 'the balances have not been read yet';
const NEVER_READ = 'the trades of the account have not been read yet';
const MAY_FILL = 'orders may still be open and could fill';
const UNREAD = 'the trades of the account could not be read';
const UNLISTED = 'the exchange does not list all trades of ended orders yet';
const DIFFERENT = 'the balances differ from the ledger';
const NOT_COMPARED = 'the balances were not compared with the ledger';

export class FiguresKnown {
  #stoppedAt: Millis | null = null;
  /** Latest time after the stop at which an order of the bot may have been live. */
  #liveUntil: Millis = -Infinity;

  stopped(at: Millis): void {
    this.#stoppedAt ??= at;
  }

  /** Records the time of an event after the stop if an order may be live just before the event. */
  beforeEvent(at: Millis, { live }: Pick<Orders, 'live'>): void {
    if (this.#stoppedAt !== null && live.some(mayLive)) this.#liveUntil = at;
  }

  /**
   * Returns the reasons why figures are unknown at `at`. While the bot runs, figures from a recent trade read count as
   * exact.
   */
  missing(of: EvidenceSources, at: Millis): MissingEvidence {
    if (!of.account.isOpen) return all(NOT_OPEN);
    if (of.fresh.trades === -Infinity) return all(NEVER_READ);
    return this.#stoppedAt === null ? whileRunning(of, at) : this.#afterStop(of, this.#stoppedAt);
  }

  /** Returns the reasons after a stop. Only reads that started after the last order ended prove the final figures. */
  #afterStop({ account, fresh, orders }: EvidenceSources, stoppedAt: Millis): MissingEvidence {
    if (orders.live.some(mayLive)) return all(MAY_FILL);
    const from = Math.max(stoppedAt, this.#liveUntil);
    if (account.checked !== null && account.checked.at >= from)
      return account.differences().length === 0 ? NOTHING_MISSING : all(DIFFERENT);
    if (fresh.trades < from) return all(UNREAD);
    if (orders.live.length > 0) return all(UNLISTED);
    return { trades: null, holdings: NOT_COMPARED };
  }
}

function whileRunning({ account, fresh, orders, regime, staleAfterMs }: EvidenceSources, at: Millis): MissingEvidence {
  if (!(at - fresh.trades <= staleAfterMs)) return all(staleText(staleAfterMs));
  if (orders.areTradesMissing) return all(UNLISTED);
  if (account.differs) return all(DIFFERENT);
  return { trades: null, holdings: regime.unread };
}

/** Returns the text for old trades. After a start or a delay, the trades are old although no read has failed. */
const staleText = (ms: Millis): string => `the last read of the account's trades is more than ${textInSeconds(ms)} old`;

const all = (why: string): MissingEvidence => ({ trades: why, holdings: why });
const NOTHING_MISSING: MissingEvidence = { trades: null, holdings: null };
