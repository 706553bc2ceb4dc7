/** Profit since the opening of the ledger and profit of the last run, in the form that every display prints. */
import {
  money,
  moneyOf,
  textOfMoney,
  type Millis,
  type Money,
  type Profit,
  type ProfitSinceOpening,
} from '../core/index.ts';

/**
 * Profit and its parts, as exact decimal text in the quote currency. Paid fees are negative, and the parts add up to
 * the total.
 */
export type PrintedProfitParts = Readonly<Record<'total' | 'spread' | 'inventory' | 'fees' | 'hedging', string>>;

export type PrintedProfit = PrintedProfitParts & {
  readonly currency: string;
  /**
   * Time at which the ledger was opened; `null` if an older Puntas did not store it. `at` is the time of the last
   * event. Both times are ISO 8601 in UTC.
   */
  readonly since: string | null;
  readonly at: string | null;
  /** Mid price at which inventory is valued; `null` before the first mid price. */
  readonly mid: string | null;
  /** Profit of the last run; `null` if its recording cannot be read. */
  readonly run: PrintedProfitParts | null;
};

/**
 * Returns the profit in the form that displays print. `run` is the profit of the last run, which `of` already includes.
 */
export const shownProfit = (of: ProfitSinceOpening, run: Profit | null, minor: string): PrintedProfit => ({
  ...{ currency: minor, since: timeText(of.since), at: timeText(of.at) },
  mid: of.twiceMid === null ? null : textOfMoney(midPriceOf(of.twiceMid)),
  ...partsText(of.profit),
  run: run && partsText(run),
});

/** Returns the mid price, given twice the mid price; rounds down by less than 10^-18. */
export const midPriceOf = (twiceMid: Money): Money => money(twiceMid / 2n);

/** Returns the parts of a profit and their total as decimal text. */
export const partsText = ({ total, spread, inventory, fees, hedging }: Profit): PrintedProfitParts => ({
  spread: textOfMoney(spread),
  inventory: textOfMoney(inventory),
  fees: textOfMoney(fees),
  hedging: textOfMoney(hedging),
  total: textOfMoney(total),
});

/**
 * Returns a sentence such as `+12.50 mxn since the opening of the ledger (2026-11-20 14:05 UTC), this run +1.20`, for
 * all displays. `parts`: text of the parts of the profit since the opening.
 */
export const profitSentence = (of: ProfitSinceOpening, run: Profit | null, minor: string, parts?: string): string =>
  profitSentenceOf(shownProfit(of, run, minor), parts);

/**
 * Returns the profit since the opening of the ledger and the profit of the last run as one sentence. The sums are
 * already text. `parts` as in `profitSentence`; they stand before the profit of the run, of which they are not the parts.
 */
export function profitSentenceOf({ since, currency, total, run }: PrintedProfit, parts?: string): string {
  const from =
    since === null
      ? 'the opening of the ledger'
      : `the opening of the ledger (${since.slice(0, 16).replace('T', ' ')} UTC)`;
  const part = run === null ? '' : `, this run ${signedCents(moneyOf(run.total))}`;
  const ofTotal = parts === undefined ? '' : ` (${parts})`;
  return `${signedCents(moneyOf(total))} ${currency} since ${from}${ofTotal}${part}`;
}

/** Returns all parts of a profit as one text, in the words that report, console and ledger use. */
export const profitPartsText = (of: PrintedProfitParts): string =>
  (['spread', 'inventory', 'fees', 'hedging'] as const)
    .map(part => `${part} ${signedCents(moneyOf(of[part]))}`)
    .join(', ');

/** Returns a sum with a sign and two decimals; a half cent is rounded away from zero. */
export function signedCents(sum: Money): string {
  const size = ((sum < 0n ? -sum : sum) + CENT / 2n) / CENT;
  const isNegative = sum < 0n && size > 0n;
  return `${isNegative ? '-' : '+'}${textOfMoney(money(size * CENT), 2)}`;
}

const CENT = 10n ** 16n;
const timeText = (at: Millis | null): string | null => (at === null ? null : new Date(at).toISOString());
