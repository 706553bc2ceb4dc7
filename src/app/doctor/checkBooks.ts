/**
 * `puntas check` for an account with one book or several: the quotes of each book, the capital that they need together,
 * and the requests per minute.
 */
import { stringify } from 'yaml';
import {
  counted,
  money,
  moneyOf,
  moneyOfAmount,
  textOfMoney,
  valueOf,
  type Clock,
  type Money,
} from '../../core/index.ts';
import { booksOf, publicPerMinute, sharedReadsOf, withFileIn, withoutStrategyText, type Config } from '../../config.ts';
import type { VenueAccess } from '../../wiring/bot.ts';
import { pollShareOf } from '../../wiring/venueRegistry.ts';
import { check, type CheckedQuotes, type CheckResult } from './check.ts';

/** Checks the configuration of each book. Rejects as `check` does. */
export async function checkBooks(
  config: Config,
  venue: VenueAccess,
  clock: Clock,
  seed: number,
  configFile: string | undefined,
): Promise<CheckResult> {
  const books = booksOf(config);
  if (books.length === 1) return check(config, venue, clock, seed, configFile);
  const texts: string[] = [
    '# configuration, including all defaults',
    ...withFileIn(config).map(({ book, strategy }) => `# strategy file of ${book}: ${strategy.name}`),
    stringify(withoutStrategyText(config)).trimEnd(),
  ];
  const quotes: CheckedQuotes[] = [];
  const problems: string[] = [];
  for (const book of books) {
    const found = await check(book, venue, clock, seed, configFile);
    quotes.push(found.quotes);
    texts.push('', `# ${book.book}`, found.quotesText);
    if (found.problem !== null) problems.push(`${book.book}: ${found.problem}`);
  }
  const capital = capitalNeeded(quotes);
  texts.push('', '# capital that the quotes of all books need together', ...capital.lines);
  texts.push('', '# requests per minute', ...requestLines(books));
  problems.push(...capital.missing);
  return { text: texts.join('\n'), problem: problems.length === 0 ? null : problems.join('; ') };
}

type Capital = {
  readonly lines: readonly string[];
  /** One sentence for each currency of which the account has less than the quotes need. */
  readonly missing: readonly string[];
};

/** Returns, by currency, the amount that all quotes would lock and the amount in the account. */
export function capitalNeeded(quotes: readonly CheckedQuotes[]): Capital {
  const needed = new Map<string, Money>();
  const held = new Map<string, Money>();
  const add = (currency: string, amount: bigint): void =>
    void needed.set(currency, money((needed.get(currency) ?? 0n) + amount));
  for (const { instrument, levels, balances } of quotes) {
    for (const { side, price, amount } of levels) {
      if (side === 'buy') add(instrument.minor, valueOf(price, amount) * instrument.tickLotMoney);
      else add(instrument.major, moneyOfAmount(instrument, amount));
    }
    for (const { currency, total } of balances) held.set(currency, moneyOf(total));
  }
  const lines: string[] = [];
  const missing: string[] = [];
  for (const [currency, amount] of [...needed].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const has = held.get(currency) ?? money(0n);
    lines.push(`${currency}: ${textOfMoney(amount)} of ${textOfMoney(has)}`);
    if (amount > has)
      missing.push(`the quotes need ${textOfMoney(amount)} ${currency}, but the account has ${textOfMoney(has)}`);
  }
  return { lines, missing };
}

function requestLines(books: readonly Config[]): readonly string[] {
  const [{ exchange, timing }] = books as readonly [Config, ...Config[]];
  const publicMax = exchange.budgets.publicPerMinute;
  const { texts, left } = pollShareOf({ exchange, timing });
  const shared = sharedReadsOf(books);
  const remain =
    left === null
      ? ''
      : `; ${left} remain for placements and cancels, shared by ${counted(books.length, 'book')} by the value of their orders while the request budget is scarce`;
  return [
    shared === undefined
      ? `public, without a stream: ${Math.ceil(publicPerMinute(books))} of ${publicMax} (${counted(books.length, 'book')})`
      : `public, without a stream: ${publicMax} of ${publicMax}; ${shared.perMinute} of them are book reads, shared by ${counted(books.length, 'book')} by their value`,
    `private: ${texts.join(' and ')} for reads of the account${remain}`,
  ];
}
