/** Even shares of an account, for runs of each book alone. */
import { READ_REQUESTS } from '../../index.ts';
import { booksOf, type Config } from '../../../src/config.ts';
import { MINUTE_MS, money, moneyOf, pairOf, textOfMoney } from '../../../src/core/index.ts';

/** Account with which one book runs alone. */
export type EvenShare = {
  readonly config: Config;
  readonly balances: Readonly<Record<string, string>>;
  readonly privatePerMinute: number;
};

/**
 * Divides each balance and each target evenly among the books that use its currency. Divides the requests evenly among
 * all books, without those for reads of the account. Fractions are rounded down.
 */
export function evenShares(config: Config, balances: EvenShare['balances']): readonly EvenShare[] {
  const books = booksOf(config);
  const pairs = books.map(({ book }) => pairOf(book));
  const part = (text: string, count: number): string => textOfMoney(money(moneyOf(text) / BigInt(count)));
  const usersOf = (currency: string): number => pairs.filter(pair => pair.includes(currency)).length;
  const targets = new Map(
    books.flatMap(({ inventory }, i) =>
      inventory.target === undefined ? [] : [[pairs[i]![0], inventory.target] as const],
    ),
  );
  const { privatePerMinute } = config.exchange.budgets;
  const reads = Math.ceil((READ_REQUESTS * MINUTE_MS) / config.timing.privatePollMs);
  return books.map((one, i) => {
    const [major] = pairs[i]!;
    const { target: _, ...inventory } = one.inventory;
    const target = targets.get(major);
    const { jointInventory: __, accountLimits: ___, ...rest } = one;
    return {
      config: {
        ...rest,
        inventory: { ...inventory, ...(target !== undefined && { target: part(target, usersOf(major)) }) },
      },
      balances: Object.fromEntries(
        pairs[i]!.map(currency => [currency, part(balances[currency] ?? '0', usersOf(currency))]),
      ),
      // A book alone reads the account as often as all books together do.
      privatePerMinute: Math.max(1, reads + Math.floor((privatePerMinute - reads) / books.length)),
    };
  });
}
