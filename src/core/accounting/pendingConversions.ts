/** Conversions that may be carried out at any moment, or have been: they count both ways until their end is known. */
import type { Conversion, ConversionEvent } from './accountEvents.ts';
import type { Instrument } from '../model/instrument.ts';
import { money } from '../model/units.ts';
import type { Money, Side } from '../model/units.ts';

const NOTHING = money(0n);
const NO_LOTS: Readonly<Record<Side, number>> = { buy: 0, sell: 0 };

export class PendingConversions {
  readonly #conversions = new Map<string, { readonly conversion: Conversion; readonly hasLeft: boolean }>();

  hear({ phase, conversion }: ConversionEvent): void {
    if (phase === 'in flight' || phase === 'planned')
      this.#conversions.set(conversion.id, { conversion, hasLeft: phase === 'in flight' });
    else this.#conversions.delete(conversion.id);
  }

  /** Whether the balances may already have something of them, nobody can say. */
  get isEmpty(): boolean {
    for (const { hasLeft } of this.#conversions.values()) if (hasLeft) return false;
    return true;
  }

  /** Whether these differences (reported minus ours) are those of balances that have none of them, or that have the only one that has left. */
  explain(differences: readonly { readonly currency: string; readonly difference: Money }[]): boolean {
    if (differences.length === 0) return true;
    const left = [...this.#conversions.values()].filter(({ hasLeft }) => hasLeft);
    if (left.length !== 1) return false;
    const { give, get } = left[0]!.conversion;
    return (
      differences.length === 2 &&
      differences.some(({ currency, difference }) => currency === give.currency && difference === -give.amount) &&
      differences.some(({ currency, difference }) => currency === get.currency && difference === get.amount)
    );
  }

  /** What they may still take from a currency. */
  taken(currency: string): Money {
    return this.#sum('give', currency);
  }

  /** What they may still bring (buy) and take (sell) of the major currency, in lots, rounded up. */
  lots({ major, lotMoney }: Instrument): Readonly<Record<Side, number>> {
    if (this.#conversions.size === 0) return NO_LOTS;
    const up = (sum: bigint) => Number((sum + lotMoney - 1n) / lotMoney);
    return { buy: up(this.#sum('get', major)), sell: up(this.#sum('give', major)) };
  }

  #sum(leg: 'give' | 'get', currency: string): Money {
    if (this.#conversions.size === 0) return NOTHING;
    let sum = 0n;
    for (const { conversion } of this.#conversions.values())
      if (conversion[leg].currency === currency) sum += conversion[leg].amount;
    return money(sum);
  }
}
