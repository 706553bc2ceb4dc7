/** Outcome of a conversion, derived from the account's balances when no look-up at the exchange can determine it. */
import type { Conversion, Millis, Money } from '../core/index.ts';

/**
 * Returns the outcome that the balances show; `null` if they show no outcome or contradict each other.
 *
 * `differences` are the reported balances minus the ledger's balances, which do not contain the conversion. The
 * balances of the two converted currencies are independent evidence: if another transfer hides the conversion in one
 * balance, the other balance still counts.
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
 * Measures how long a verdict has been constant, because a single balance read may show only one of a conversion's two
 * legs. Later reads show both legs.
 */
export class StableVerdict {
  #current: { readonly word: string; readonly since: Millis } | null = null;

  /** Returns for how long, in ms up to the balance read at `at`, the verdict has been `word` without a change. */
  heldFor(word: string, at: Millis): Millis {
    if (this.#current?.word !== word) this.#current = { word, since: at };
    return at - this.#current.since;
  }
}
