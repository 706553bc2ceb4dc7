/**
 * Profit since the opening of the ledger, across all runs and the time between them. Every display shows this profit.
 */
import { HOUR_MS } from '../model/durations.ts';
import { sumOfProfits, type Position, type Profit } from './position.ts';
import { money, type Millis, type Money } from '../model/units.ts';

const NOTHING = money(0n);
/** Zero profit. */
export const NO_PROFIT: Profit = {
  spread: NOTHING,
  inventory: NOTHING,
  fees: NOTHING,
  hedging: NOTHING,
  total: NOTHING,
};

/** Profit from the opening of the ledger to the event at `at`. */
export type ProfitSinceOpening = {
  /** Time at which the ledger was opened; `null` if an older version of Puntas did not store it. */
  readonly since: Millis | null;
  /** Time of the last included event; `null` if an older version of Puntas did not store it. */
  readonly at: Millis | null;
  /**
   * Mid price at which inventory is valued, times two, so that half ticks stay exact; `null` before the first mid
   * price.
   */
  readonly twiceMid: Money | null;
  readonly profit: Profit;
};

/**
 * Adds three profits: of earlier runs, of inventory between the runs, and of this run. A crashed earlier run counts up
 * to its last checkpoint; the gain between the runs covers the time after that checkpoint.
 */
export function profitSinceOpening(
  earlier: ProfitSinceOpening | null,
  position: Position | null,
  openedAt: Millis | null,
  at: Millis,
): ProfitSinceOpening {
  const profit = earlier?.profit ?? NO_PROFIT;
  const since = earlier === null ? openedAt : earlier.since;
  if (position === null) return { since, at, twiceMid: earlier?.twiceMid ?? null, profit };
  const gain = position.gainBeforeStart;
  const before = { ...profit, inventory: money(profit.inventory + gain), total: money(profit.total + gain) };
  return {
    ...{ since, at, twiceMid: position.twiceMid ?? earlier?.twiceMid ?? null },
    profit: sumOfProfits(before, position.profit()),
  };
}

/** Returns the start of the UTC hour that contains `at`. */
export const hourOf = (at: Millis): Millis => Math.floor(at / HOUR_MS) * HOUR_MS;

/** Detector of ended UTC hours. Reports each ended hour with the profit at its last event. */
export class HourEnds {
  #nextHour = Infinity;
  #onEnd: ((ended: ProfitSinceOpening) => void) | null = null;

  /** Calls `onEnd` for each hour that ends from now on. */
  listen(onEnd: (ended: ProfitSinceOpening) => void): void {
    this.#onEnd = onEnd;
  }

  /** Whether the current hour has ended at `at`; checked for every event. */
  isOver(at: Millis): boolean {
    return at >= this.#nextHour;
  }

  /** Reports the profit at the end of the hour, and starts the hour that contains `at`. */
  end(ended: ProfitSinceOpening, at: Millis): void {
    this.#onEnd?.(ended);
    this.begin(at);
  }

  /** Starts the hour that contains `at`. */
  begin(at: Millis): void {
    this.#nextHour = hourOf(at) + HOUR_MS;
  }
}
