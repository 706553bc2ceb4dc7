/** Even shares of an account, for runs of each book alone. */
import { booksOf, type Config } from '../../../src/config.ts';
import { money, moneyOf, pairOf, textOfMoney } from '../../../src/core/index.ts';

/** Account of one book alone. */
export type EvenShare = {
  readonly config: Config;
  readonly balances: Readonly<Record<string, string>>;
  readonly privatePerMinute: number;
};

/**
 * Divides balances, targets and the request budget evenly: each currency among the books that use it, the requests
 * among all. Fractions are rounded down.
 */
export function evenShares(config: Config, balances: EvenShare['balances']): readonly EvenShare[] {
  const books = booksOf(config);
  const pairs = books.map(({ book }) => pairOf(book));
  const part = (text: string, count: number): string => textOfMoney(money(moneyOf(text) / BigInt(count)));
  const targets = new Map(
    books.flatMap(({ inventory }, i) =>
      inventory.target === undefined ? [] : [[pairs[i]![0], inventory.target] as const],
    ),
  );
  return books.map((one, i) => {
    const [major] = pairs[i]!;
    const { target: _, ...inventory } = one.inventory;
    const target = targets.get(major);
    const bases = pairs.filter(([base]) => base === major).length;
    const { jointInventory: __, accountLimits: ___, ...rest } = one;
    return {
      config: {
        ...rest,
        inventory: { ...inventory, ...(target !== undefined && { target: part(target, bases) }) },
      },
      balances: Object.fromEntries(
        pairs[i]!.map(currency => [
          currency,
          part(balances[currency] ?? '0', pairs.filter(pair => pair.includes(currency)).length),
        ]),
      ),
      privatePerMinute: Math.max(1, Math.floor(config.exchange.budgets.privatePerMinute / books.length)),
    };
  });
}
