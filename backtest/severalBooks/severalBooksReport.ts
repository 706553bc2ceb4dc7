/** Result of a backtest of several books as numbers and text for JSON: by book, and summed by quote currency. */
import { createHash } from 'node:crypto';
import { moneyOf, textOfMoney, money } from '../../src/core/index.ts';
import { short } from '../../src/pages/index.ts';
import type { BacktestReport, ReplayReport } from '../report/report.ts';
import type { Parts } from '../report/periods.ts';
import type { SkewSizes } from '../replay/jointShares.ts';

/** Sums over the books with one quote currency. Money is exact decimal text in that currency. */
export type SeveralBooksTotal = {
  readonly minor: string;
  readonly books: readonly string[];
  readonly pnl: Parts;
  readonly fills: number;
  readonly volume: string;
};

/**
 * Mean absolute inventories of one book, in its base currency: its own (`own`), and the part of other books' inventory
 * by which it also skewed its quotes (`fromOthers`). `share`: `fromOthers` as a share of both; `null` if both are 0.
 */
export type SeveralBooksSkew = {
  readonly book: string;
  readonly own: number;
  readonly fromOthers: number;
  readonly share: number | null;
};

/** Run of all books under one fill model. */
export type SeveralBooksModel = {
  readonly model: string;
  readonly together: readonly SeveralBooksTotal[];
  /** Inventories by which the books skewed their quotes; absent without joint inventory. */
  readonly jointInventory?: readonly SeveralBooksSkew[];
  /** Sums over runs of each book alone, with an even share of funds and requests; absent without --alone. */
  readonly alone?: readonly SeveralBooksTotal[];
  /** Hash over the hashes of all books. */
  readonly hash: string;
};

/** Report of a backtest of several books. Equal tapes, configurations and seeds give equal reports, except `made`. */
export type SeveralBooksReport = {
  /** Trading time of all books. */
  readonly from: string;
  readonly to: string;
  readonly together: readonly SeveralBooksModel[];
  /** Report of each book. Balances and requests are those of the whole account. */
  readonly books: readonly BacktestReport[];
  /** Hash over the hashes of all models. */
  readonly hash: string;
};

/** Results of a run of all books under one fill model, in the order of the books. */
export type SeveralBooksRun = { readonly reports: readonly ReplayReport[]; readonly skews: readonly SkewSizes[] };

/** Symbol and quote currency of a book. */
export type SeveralBooksName = { readonly book: string; readonly minor: string };

/** Returns the sums of the books' reports by quote currency, in the order of the first book with each currency. */
export function totalsOf(
  books: readonly SeveralBooksName[],
  reports: readonly ReplayReport[],
): readonly SeveralBooksTotal[] {
  return [...new Set(books.map(({ minor }) => minor))].map(minor => {
    const of = books.flatMap((book, i) => (book.minor === minor ? [{ book, report: reports[i]! }] : []));
    const sum = (text: (report: ReplayReport) => string): string =>
      textOfMoney(money(of.reduce((total, { report }) => total + moneyOf(text(report)), 0n)));
    const part = (key: keyof Parts): string => sum(({ pnl }) => pnl[key]);
    return {
      minor,
      books: of.map(({ book }) => book.book),
      pnl: {
        spread: part('spread'),
        inventory: part('inventory'),
        fees: part('fees'),
        hedging: part('hedging'),
        total: part('total'),
      },
      fills: of.reduce((total, { report }) => total + report.fills, 0),
      volume: sum(({ volume }) => volume.minor),
    };
  });
}

/** Returns the inventories by which each book skewed its quotes. */
export const skewsOf = (books: readonly SeveralBooksName[], skews: readonly SkewSizes[]): readonly SeveralBooksSkew[] =>
  books.map(({ book }, i) => {
    const { own, fromOthers } = skews[i]!;
    const all = own + fromOthers;
    return { book, own: short(own), fromOthers: short(fromOthers), share: all > 0 ? short(fromOthers / all) : null };
  });

/** Returns a hash over several hashes, in order. */
export const hashOver = (hashes: readonly string[]): string =>
  createHash('sha256').update(hashes.join(' ')).digest('hex');
