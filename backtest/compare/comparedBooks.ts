/** Results of a configuration with all its books together, as one entry of a comparison. */
import { money, moneyOf, textOfMoney } from '../../src/core/index.ts';
import { short } from '../../src/pages/index.ts';
import type { SeveralBooksModel, SeveralBooksReport, SeveralBooksTotal } from '../severalBooks/severalBooksReport.ts';
import { intervalOf, type Interval } from '../report/interval.ts';
import { mainOf } from '../report/mainModel.ts';
import type { ReplayReport } from '../report/report.ts';
import { crossedText, isCrossed } from '../report/summary.ts';

/**
 * Sums over the books with one quote currency, as in a backtest. `netInterval`: 95% interval of the profit, from the
 * sums of equal time blocks (`stretches`).
 */
export type ComparedTotal = SeveralBooksTotal & {
  readonly netInterval: Interval | null;
  readonly stretches: readonly number[];
};

/** Run of all books under one fill model. `requests` are those of the account. */
export type ComparedBooksModel = Pick<SeveralBooksModel, 'model' | 'jointInventory' | 'hash'> & {
  readonly together: readonly ComparedTotal[];
  readonly requests: ReplayReport['requests'];
};

/**
 * Profit minus the profit of the first configuration in one quote currency, as exact decimal text, with a 95% interval
 * from equal time blocks. Without a book in this currency, the profit is 0.
 */
export type BooksDifference = { readonly minor: string; readonly value: string; readonly interval: Interval | null };

export type ComparedBooks = {
  readonly name: string;
  readonly books: readonly string[];
  /** Reason why the profit is not scored; `null` if it is scored. */
  readonly unscored: string | null;
  /** Differences under the main model; `null` for the first configuration, and if one of both is not scored. */
  readonly againstFirst: readonly BooksDifference[] | null;
  readonly models: readonly ComparedBooksModel[];
  /** Hash of the backtest of this configuration. */
  readonly hash: string;
};

/** Extracts the data of a backtest for a comparison, without `againstFirst`. */
export function comparedBooks(name: string, { books, together, hash }: SeveralBooksReport): ComparedBooks {
  const unscored = books.flatMap(({ book, models: [run] }) =>
    run !== undefined && isCrossed(run) ? [`${book}: ${crossedText(run).join(' ')}`] : [],
  );
  return {
    name,
    books: books.map(({ book }) => book),
    unscored: unscored[0] ?? null,
    againstFirst: null,
    models: together.map(({ model, together: totals, jointInventory, hash: of }, m) => {
      const reports = books.map(({ models }) => models[m]!);
      return {
        model,
        together: totals.map(total => {
          const parts = reports.filter((_, i) => total.books.includes(books[i]!.book));
          const stretches = addedBlocks(parts.map(({ stretches: { net } }) => net));
          return { ...total, netInterval: total.fills === 0 ? null : intervalOf(stretches), stretches };
        }),
        ...(jointInventory !== undefined && { jointInventory }),
        requests: addedRequests(reports.map(({ requests }) => requests)),
        hash: of,
      };
    }),
    hash,
  };
}

/** Adds values block by block. Books of one run have the same time blocks. */
const addedBlocks = ([first = [], ...others]: readonly (readonly number[])[]): readonly number[] =>
  first.map((value, i) => short(others.reduce((sum, blocks) => sum + blocks[i]!, value)));

/** Adds the requests of the books. Each book's report has the largest number per minute of the whole account. */
function addedRequests(all: readonly ReplayReport['requests'][]): ReplayReport['requests'] {
  const sum = (key: 'placed' | 'canceled' | 'overBudget' | 'lockedOut'): number =>
    all.reduce((total, requests) => total + requests[key], 0);
  return {
    ...{ placed: sum('placed'), canceled: sum('canceled') },
    ...{ overBudget: sum('overBudget'), lockedOut: sum('lockedOut') },
    mostPerMinute: Math.max(...all.map(({ mostPerMinute }) => mostPerMinute)),
    allowedPerMinute: all[0]!.allowedPerMinute,
  };
}

/** Adds the differences from the first configuration. All must have traded in the same hours. */
export function booksAgainstFirst(all: readonly ComparedBooks[]): readonly ComparedBooks[] {
  return all.map((one, i) => (i === 0 ? one : { ...one, againstFirst: differencesFrom(all[0]!, one) }));
}

function differencesFrom(first: ComparedBooks, one: ComparedBooks): ComparedBooks['againstFirst'] {
  const [own, other] = [mainOf(one.models), mainOf(first.models)];
  if (own === null || other === null || one.unscored !== null || first.unscored !== null) return null;
  const currencies = new Set([...other.together, ...own.together].map(({ minor }) => minor));
  return [...currencies].map(minor => {
    const [ours, theirs] = [own, other].map(({ together }) => together.find(total => total.minor === minor));
    const { length } = ours?.stretches ?? theirs!.stretches;
    const gains = Array.from({ length }, (_, i) => (ours?.stretches[i] ?? 0) - (theirs?.stretches[i] ?? 0));
    const value = moneyOf(ours?.pnl.total ?? '0') - moneyOf(theirs?.pnl.total ?? '0');
    return { minor, value: textOfMoney(money(value)), interval: intervalOf(gains) };
  });
}
