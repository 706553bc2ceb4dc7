/**
 * Selection of the listed transfers that explain a difference between the balances and the ledger. A list may show a
 * transfer before or after the balances include it.
 */
import { money, type Money } from '../../core/index.ts';
import type { ListedTransfer } from './transferReads.ts';

/**
 * Maximum number of transfers per currency for which every combination is tried. If there are more transfers, only the
 * complete set is tried.
 */
const CHOICES_MAX = 10;

/**
 * Returns the transfers to book. `differences`: reported balances minus ledger, by currency. `isEarly`: whether a
 * transfer was listed while balances equaled the ledger. The balances may already include early transfers, so these are
 * booked only if they close the difference of their currency exactly. Other transfers are booked if their currency has
 * any difference, because a further transfer may not be listed yet. Without a difference, they are booked only if they
 * cancel each other out.
 */
export function explaining(
  transfers: readonly ListedTransfer[],
  differences: ReadonlyMap<string, Money>,
  isEarly: (transfer: ListedTransfer) => boolean,
): readonly ListedTransfer[] {
  const chosen = new Set<ListedTransfer>();
  for (const currency of new Set(transfers.map(each => each.currency))) {
    const all = transfers.filter(each => each.currency === currency);
    const late = all.filter(each => !isEarly(each));
    const difference = differences.get(currency) ?? money(0n);
    const choices = [late, ...(difference === 0n ? [] : [all, ...choicesOf(all)])];
    const exact = choices.find(choice => transferred(choice) === difference);
    // Without a difference, the transfers are left for later, because the balance may or may not include them already.
    for (const each of exact ?? (difference === 0n ? [] : late)) chosen.add(each);
  }
  return transfers.filter(each => chosen.has(each));
}

const transferred = (transfers: readonly ListedTransfer[]): bigint =>
  transfers.reduce((sum, { amount }) => sum + amount, 0n);

/** Returns every non-empty combination, smaller combinations first. */
function choicesOf(all: readonly ListedTransfer[]): readonly (readonly ListedTransfer[])[] {
  if (all.length > CHOICES_MAX) return [];
  const choices = Array.from({ length: 2 ** all.length - 1 }, (_, bits) =>
    all.filter((_each, i) => ((bits + 1) >> i) % 2 === 1),
  );
  return choices.sort((a, b) => a.length - b.length);
}
