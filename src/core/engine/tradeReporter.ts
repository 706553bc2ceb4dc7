/**
 * Public trades of a run whose strategy needs a history of trades, as events: each trade with its time at the exchange,
 * and the times in which trades may be missing. The live bot and the backtest both report their trades in this way.
 */
import type { EngineEvent, PastTrade } from './event.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';

/** Trade that was not reported yet. `tradedAt` is the time at the exchange, by the clock of the exchange. */
export type UnreportedTrade = {
  readonly tradedAt: Millis;
  readonly price: Price;
  readonly amount: Amount;
  readonly side: Side;
  /** Number of the trade at the exchange; absent if unknown. */
  readonly tid?: string;
};

/** Maximum number of trades of a history. A longer history loses its oldest trades. */
export const PAST_TRADES_MAX = 20_000;

type HistoryEvent = Extract<EngineEvent, { kind: 'history' }>;

export class TradeReporter {
  readonly #step: (event: EngineEvent) => void;
  #isGapOpen = false;
  /** Latest time of a trade that was reported. */
  #tradedAt: Millis = -Infinity;

  constructor(step: (event: EngineEvent) => void) {
    this.#step = step;
  }

  /** Continues after a history that was already reported: later trades are never reported with an earlier time. */
  continue({ trades }: Pick<HistoryEvent, 'trades'>): void {
    this.#tradedAt = Math.max(this.#tradedAt, trades.at(-1)?.[0] ?? -Infinity);
  }

  /** Reports a history, which has every trade since its `since`. Ends an open gap. */
  report(history: HistoryEvent): void {
    this.#isGapOpen = false;
    this.continue(history);
    this.#step(history);
  }

  /** Reports that trades may be missing from now on. Does nothing if a gap is already open. */
  openGap(at: Millis): void {
    if (this.#isGapOpen) return;
    this.#isGapOpen = true;
    this.#step({ kind: 'history gap', at, isOpen: true });
  }

  /** Reports the end of the gap, whose missed trades have been reported. Does nothing if no gap is open. */
  closeGap(at: Millis): void {
    if (!this.#isGapOpen) return;
    this.#isGapOpen = false;
    this.#step({ kind: 'history gap', at, isOpen: false });
  }

  /**
   * Reports a trade that the driver has known since `at`. The reported time is that of the exchange, but never later
   * than `at` and never earlier than that of the previous trade, because the clock of the exchange may differ.
   */
  trade(at: Millis, { tradedAt, ...trade }: UnreportedTrade): void {
    this.#tradedAt = Math.max(this.#tradedAt, Math.min(tradedAt, at));
    this.#step({ kind: 'public trade', at, ...trade, tradedAt: this.#tradedAt });
  }
}

/**
 * Returns the trades of the `ms` before `now` as they are recorded, and the time since which they are complete.
 * `since`: time since which the given trades are complete. `trades` must be in the order of their numbers. Their times
 * may come from two clocks, so a time before that of an earlier trade is raised.
 */
export function pastTradesUpTo(
  { now, ms, since }: { readonly now: Millis; readonly ms: Millis; readonly since: Millis },
  trades: readonly (Omit<UnreportedTrade, 'tradedAt' | 'tid'> & { readonly at: Millis })[],
): Pick<HistoryEvent, 'since' | 'trades'> {
  let before = -Infinity;
  const all = trades.flatMap(({ at, price, amount, side }): readonly PastTrade[] => {
    before = Math.max(before, Math.min(at, now));
    return at < now - ms ? [] : [[before, price, amount, side === 'buy' ? 0 : 1]];
  });
  const newest = all.slice(-PAST_TRADES_MAX);
  return {
    since: newest.length < all.length ? newest[0]![0] : Math.min(Math.max(since, now - ms), now),
    trades: newest,
  };
}
