/** Which of the transfers that the exchange lists explain what differs: a list may be ahead of the balances, or behind them. */
import { money } from '../../core/index.ts';
import type { Money } from '../../core/index.ts';
import type { ListedTransfer } from './transferReads.ts';

/** Of how many transfers in one currency every choice is tried; of more, only all of them. */
const CHOICES_MAX = 10;

/**
 * The transfers to book, of those that are in no ledger yet. `differences`: reported minus ours, by currency. `isEarly` marks what was listed
 * while nothing differed: it may be in the balances already, or not yet, so it is booked only where it closes the difference of its currency
 * to the last digit. The others are booked in any case where their currency differs: then the rest of the difference is what is not listed yet.
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
    // A currency that does not differ has them already, or will yet.
    for (const each of exact ?? (difference === 0n ? [] : late)) chosen.add(each);
  }
  return transfers.filter(each => chosen.has(each));
}

const transferred = (transfers: readonly ListedTransfer[]): bigint =>
  transfers.reduce((sum, { amount }) => sum + amount, 0n);

/** Every choice of some of them, few before many. */
function choicesOf(all: readonly ListedTransfer[]): readonly (readonly ListedTransfer[])[] {
  if (all.length > CHOICES_MAX) return [];
  const choices = Array.from({ length: 2 ** all.length - 1 }, (_, bits) =>
    all.filter((_each, i) => ((bits + 1) >> i) % 2 === 1),
  );
  return choices.sort((a, b) => a.length - b.length);
}
