/** Results of a replay per UTC hour. */
import { HOUR_MS, money, type Millis, type Money, type Profit } from '../../src/core/index.ts';

/** Results of one hour, from `from` up to `to`. The profits of all hours add up exactly to the profit of the run. */
export type Hour = {
  readonly from: Millis;
  readonly to: Millis;
  readonly profit: Profit;
  readonly fills: number;
  /** Traded value, in the quote currency. */
  readonly value: Money;
  /** Number of samples of the quotes in the hour. */
  readonly looks: number;
  /** Number of samples in which both sides were quoted. */
  readonly bothLooks: number;
};

const PARTS = ['spread', 'inventory', 'fees', 'hedging', 'total'] as const;

/** Collector of the results per hour. Times must not decrease. `profit` is called only at the end of an hour. */
export class Hours {
  readonly #to: Millis;
  readonly #past: Hour[] = [];
  #from: Millis;
  /** End of the hour that contains `#from`. */
  #ends: Millis;
  #before: Profit = { spread: money(0n), inventory: money(0n), fees: money(0n), hedging: money(0n), total: money(0n) };
  #fills = 0;
  #value = 0n;
  #looks = 0;
  #bothLooks = 0;

  constructor(from: Millis, to: Millis) {
    this.#to = to;
    this.#from = from;
    this.#ends = (Math.floor(from / HOUR_MS) + 1) * HOUR_MS;
  }

  /**
   * Ends every hour whose end is at or before `at`; must be called before an event at `at` is added. Events after the
   * run count in its last hour.
   */
  reach(at: Millis, profit: () => Profit): void {
    while (this.#ends <= at && this.#ends < this.#to) this.#close(this.#ends, profit());
  }

  look(both: boolean): void {
    this.#looks++;
    if (both) this.#bothLooks++;
  }

  filled(value: Money): void {
    this.#fills++;
    this.#value += value;
  }

  end(profit: Profit): readonly Hour[] {
    this.#close(this.#to, profit);
    return this.#past;
  }

  #close(to: Millis, profit: Profit): void {
    const before = this.#before;
    const [spread, inventory, fees, hedging, total] = PARTS.map(part => money(profit[part] - before[part])) as [
      Money,
      Money,
      Money,
      Money,
      Money,
    ];
    this.#past.push({
      from: this.#from,
      to,
      profit: { spread, inventory, fees, hedging, total },
      fills: this.#fills,
      value: money(this.#value),
      looks: this.#looks,
      bothLooks: this.#bothLooks,
    });
    this.#before = profit;
    this.#from = to;
    this.#ends += HOUR_MS;
    this.#fills = this.#looks = this.#bothLooks = 0;
    this.#value = 0n;
  }
}
