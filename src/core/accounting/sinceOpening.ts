/** Profit since the ledger was opened: the one number that every surface shows, across runs and the time between them. */
import { sumOfProfits } from './position.ts';
import type { Position, Profit } from './position.ts';
import { money } from '../model/units.ts';
import type { Millis, Money } from '../model/units.ts';

const NOTHING = money(0n);
/** Profit before anything was earned. */
export const NO_PROFIT: Profit = {
  spread: NOTHING,
  inventory: NOTHING,
  fees: NOTHING,
  hedging: NOTHING,
  total: NOTHING,
};

/** Profit since the opening, as it was at a time. */
export type ProfitSinceOpening = {
  /** When the ledger was opened; `null` if an older Puntas did not keep it. */
  readonly since: Millis | null;
  /** Time of the last event that is in it; `null` if an older Puntas did not keep it. */
  readonly at: Millis | null;
  /** Twice the mid at which inventory is marked, so that it is exact; `null` before the first mid. */
  readonly twiceMid: Money | null;
  readonly profit: Profit;
};

/**
 * Computes profit since the opening from the profit up to the end of the earlier run, the gain of the inventory while no run marked it, and
 * the profit of this run. An earlier run that crashed counts up to its last checkpoint: the gain covers the time after it.
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

const HOUR_MS = 3_600_000;
/** Start of the UTC hour of a time. */
export const hourOf = (at: Millis): Millis => Math.floor(at / HOUR_MS) * HOUR_MS;

/** Watches for the end of each UTC hour: profit as it was at the last event of the hour. */
export class HourEnds {
  #nextHour = Infinity;
  #onEnd: ((ended: ProfitSinceOpening) => void) | null = null;

  /** Calls with each hour that ends from now on. */
  listen(onEnd: (ended: ProfitSinceOpening) => void): void {
    this.#onEnd = onEnd;
  }

  /** Whether the hour has ended at `at`. Every event asks. */
  isOver(at: Millis): boolean {
    return at >= this.#nextHour;
  }

  /** The hour has ended with this profit, and the hour of `at` begins. */
  end(ended: ProfitSinceOpening, at: Millis): void {
    this.#onEnd?.(ended);
    this.begin(at);
  }

  /** Starts with the hour of a time. */
  begin(at: Millis): void {
    this.#nextHour = hourOf(at) + HOUR_MS;
  }
}
