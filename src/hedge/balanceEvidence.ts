/** Outcome of a conversion, judged by the balances, for cases in which no look-up can determine the outcome. */
import type { Conversion, Millis, Money } from '../core/index.ts';

/**
 * Returns the outcome that the balances show; `null` if they show no outcome or contradict each other.
 *
 * `differences` are the reported balances minus the ledger's balances, which do not contain the conversion. The
 * balances of its two currencies are independent evidence: if another transfer hides the conversion in one balance, the
 * other balance still counts.
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

/**
 * Measures how long a verdict has been constant. A single balance read may show only half of an event; several reads
 * show all of it.
 */
export class StableVerdict {
  #current: { readonly word: string; readonly since: Millis } | null = null;

  /** Returns the time for which every verdict has been `word`, up to a read at `at`; 0 after a change. */
  heldFor(word: string, at: Millis): Millis {
    if (this.#current?.word !== word) this.#current = { word, since: at };
    return at - this.#current.since;
  }
}
