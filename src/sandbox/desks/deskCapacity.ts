/** Remaining capacity of the RFQ desk in each direction of a pair; used capacity recovers over time. */
import { money, moneyOfValue, type Clock, type Millis, type Money } from '../../core/index.ts';
import { midOf, type Cross } from './crossRates.ts';
import type { Switches } from '../switches/switches.ts';

const ONE = 10n ** 18n;

/**
 * Used share of a direction's capacity, in parts of 10^-18, at one time: `at` is its elapsed time of the clock, `since`
 * its epoch ms.
 */
type Load = { readonly used: bigint; readonly at: Millis; readonly since: Millis };

/** Used share of a direction's capacity, in parts of 10^-18, at the time `since` (epoch ms). */
export type DeskLoad = { readonly direction: string; readonly used: bigint; readonly since: Millis };

export class DeskCapacity {
  readonly #clock: Clock;
  /** Used share of the capacity by direction, in units of 10^-18. Bounded: one entry for each listed pair at most. */
  readonly #loads = new Map<string, Load>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the free capacity, in the source currency. */
  free(direction: string, cross: Cross, switches: Switches): Money {
    const free = ONE - this.#used(direction, switches);
    return money((wholeCapacity(cross, switches) * free) / ONE);
  }

  /** Reserves capacity. Returns false, without effect, if the sum exceeds the free capacity. */
  take(direction: string, cross: Cross, sum: Money, switches: Switches): boolean {
    if (!(sum <= this.free(direction, cross, switches))) return false;
    // The used part is rounded up, so that the free capacity is never too large.
    const part = (sum * ONE + wholeCapacity(cross, switches) - 1n) / wholeCapacity(cross, switches);
    const used = this.#used(direction, switches) + part;
    this.#loads.set(direction, { used, at: this.#clock.elapsed(), since: this.#clock.now() });
    return true;
  }

  /** Returns the used capacity of each direction, to store for a later process. */
  loads(): readonly DeskLoad[] {
    return [...this.#loads].map(([direction, { used, since }]) => ({ direction, used, since }));
  }

  /** Continues with the used capacity of an earlier process. A time in the future counts as now. */
  restore(loads: readonly DeskLoad[]): void {
    const [now, elapsed] = [this.#clock.now(), this.#clock.elapsed()];
    for (const { direction, used, since } of loads)
      this.#loads.set(direction, { used, since, at: elapsed - Math.max(0, now - since) });
  }

  #used(direction: string, { rfqRefillMs }: Switches): bigint {
    const load = this.#loads.get(direction);
    if (!load || rfqRefillMs === 0) return 0n;
    const rested = (BigInt(Math.floor(this.#clock.elapsed() - load.at)) * ONE) / BigInt(rfqRefillMs);
    return load.used > rested ? load.used - rested : 0n;
  }
}

/**
 * Returns the full capacity in the source currency: a share of the maximum order value of the first book on the path.
 */
function wholeCapacity({ path }: Cross, switches: Switches): bigint {
  const { book, selling } = path[0]!;
  const minor = (moneyOfValue(book.instrument, book.instrument.valueMax) * BigInt(switches.rfqCapacityPips)) / 10_000n;
  if (!selling) return minor;
  const mid = midOf(book);
  return mid === null ? 0n : (minor * mid.under) / mid.over;
}
