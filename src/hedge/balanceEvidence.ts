/** Outcome of a conversion from balance evidence, when no look-up can determine it. */
import type { Conversion, Millis, Money } from '../core/index.ts';

/**
 * Returns the outcome that the balances show; `null` if they show none or contradict each other.
 *
 * `differences` is reported balances minus the ledger, which does not contain the conversion. The balances of its two
 * currencies are independent evidence: if another transfer hides the conversion in one balance, the other still counts.
 */
export function outcomeFromBalances(
  { give, get }: Conversion,
  differences: readonly { readonly currency: string; readonly difference: Money }[],
): 'completed' | 'failed' | null {
  const of = new Map<string, bigint>(differences.map(({ currency, difference }) => [currency, difference]));
  const tells = (currency: string, moved: bigint): 'completed' | 'failed' | null => {
    const difference = of.get(currency) ?? 0n;
    return difference === moved ? 'completed' : difference === 0n ? 'failed' : null;
  };
  const [given, got] = [tells(give.currency, -give.amount), tells(get.currency, get.amount)];
  return given === null || got === null || given === got ? (given ?? got) : null;
}

/** Time for which a verdict has been constant. A single read may see only half of an event; several reads do not. */
export class StableVerdict {
  #current: { readonly word: string; readonly since: Millis } | null = null;

  /** Returns for how long all verdicts up to a read at `at` have been equal to this one. */
  heldFor(word: string, at: Millis): Millis {
    if (this.#current?.word !== word) this.#current = { word, since: at };
    return at - this.#current.since;
  }
}
