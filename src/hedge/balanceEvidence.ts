/** What the balances say of a conversion whose outcome nobody can look up. */
import type { Conversion, Millis, Money } from '../core/index.ts';

/**
 * `differences` are reported balances minus the ledger, which has nothing of the conversion. Its two currencies are two witnesses: money that
 * somebody else moved silences the one, and the other still tells. Null when neither does, or when they contradict each other.
 */
export function balancesSay(
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

/** Since when the same is said: one read may fall between two halves of something, several do not. */
export class LastingWord {
  #said: { readonly word: string; readonly since: Millis } | null = null;

  /** For how long this word has been the only one, up to a read at `at`. */
  heldFor(word: string, at: Millis): Millis {
    if (this.#said?.word !== word) this.#said = { word, since: at };
    return at - this.#said.since;
  }
}
