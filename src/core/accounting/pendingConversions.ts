/**
 * Conversions without a known outcome: the exchange may execute them or may have executed them. Limits count both
 * possible outcomes.
 */
import type { Conversion, ConversionEvent } from './accountEvents.ts';
import type { Instrument } from '../model/instrument.ts';
import { money, type Money, type Side } from '../model/units.ts';

const NO_LOTS: Readonly<Record<Side, number>> = { buy: 0, sell: 0 };

export class PendingConversions {
  readonly #conversions = new Map<string, { readonly conversion: Conversion; readonly isInFlight: boolean }>();

  apply({ phase, conversion }: ConversionEvent): void {
    if (phase === 'in flight' || phase === 'planned')
      this.#conversions.set(conversion.id, { conversion, isInFlight: phase === 'in flight' });
    else this.#conversions.delete(conversion.id);
  }

  /** Number of conversions in flight. If 0, the balances contain no unbooked conversion. */
  get inFlight(): number {
    let count = 0;
    for (const { isInFlight } of this.#conversions.values()) if (isInFlight) count++;
    return count;
  }

  /**
   * Whether the balances equal the ledger, or the only conversion in flight explains all differences exactly. A
   * difference is the reported balance minus the ledger balance.
   */
  explainDifferences(differences: readonly { readonly currency: string; readonly difference: Money }[]): boolean {
    if (differences.length === 0) return true;
    const left = [...this.#conversions.values()].filter(({ isInFlight }) => isInFlight);
    if (left.length !== 1) return false;
    const { give, get } = left[0]!.conversion;
    return (
      differences.length === 2 &&
      differences.some(({ currency, difference }) => currency === give.currency && difference === -give.amount) &&
      differences.some(({ currency, difference }) => currency === get.currency && difference === get.amount)
    );
  }

  /** Returns the amount of a currency that pending conversions may still spend. */
  amountPending(currency: string): Money {
    return this.#sum('give', currency);
  }

  /**
   * Returns the base currency that pending conversions may still add (`buy`) and remove (`sell`), in lots, rounded up.
   */
  lots({ major, lotMoney }: Instrument): Readonly<Record<Side, number>> {
    if (this.#conversions.size === 0) return NO_LOTS;
    const up = (sum: bigint) => Number((sum + lotMoney - 1n) / lotMoney);
    return { buy: up(this.#sum('get', major)), sell: up(this.#sum('give', major)) };
  }

  #sum(leg: 'give' | 'get', currency: string): Money {
    let sum = 0n;
    for (const { conversion } of this.#conversions.values())
      if (conversion[leg].currency === currency) sum += conversion[leg].amount;
    return money(sum);
  }
}
