/**
 * Data of the page that shows all books of a bot with several. Money and prices are exact decimal text,
 * times are epoch ms.
 */
import type { ShownBot, ShownBudgets, ShownEvent, ShownFill, ShownHalt, ShownLimit, ShownProposal } from './view.ts';

export type DeskView = {
  readonly kind: 'desk';
  readonly at: number;
  readonly run: number;
  readonly instance: string;
  readonly bot: ShownBot;
  /** Share of the recording that was read, from 0 to 1; `null` once all is read. */
  readonly catchingUp: number | null;
  /** Difference between the replay and the recording; `null` if there is none. */
  readonly difference: string | null;
  /** Reason why the figures may be unreliable; `null` if there is none. */
  readonly note: string | null;
  /** Books in the order of the configuration. */
  readonly books: readonly ShownDeskBook[];
  /** Profit by quote currency, in the order of the first book with each currency. */
  readonly profits: readonly DeskProfit[];
  /** Currencies that the account holds, in alphabetical order. */
  readonly currencies: readonly DeskCurrency[];
  readonly budgets: ShownBudgets | null;
  /** Last fills of all books, newest first. */
  readonly fills: readonly (ShownFill & { readonly book: string })[];
  readonly events: readonly ShownEvent[];
  /** Proposals of agents, as in the view of one book. */
  readonly proposals?: readonly ShownProposal[];
};

/** One book. Profit and position are `null` if unknown; `unknown` is then the reason. */
export type ShownDeskBook = {
  readonly book: string;
  readonly base: string;
  readonly quote: string;
  readonly strategy: string;
  readonly regime: string;
  readonly why: string;
  /** Reason why nothing is quoted; `null` while the bot quotes. */
  readonly refusal: string | null;
  /** Stops that apply only to this book. */
  readonly halts: readonly ShownHalt[];
  /** Best live quotes of the bot; `null` on a side without one. */
  readonly bid: string | null;
  readonly ask: string | null;
  /** Distance of the best live quotes from each other, in bps of the mid price; `null` without both. */
  readonly quotedBps: number | null;
  /** Best prices of other traders, and the age of the book. */
  readonly market: { readonly bid: string | null; readonly ask: string | null; readonly bookAgeMs: number | null };
  /** Mid price of other traders' best prices, rounded down to 18 decimals; `null` without both prices. */
  readonly mid: string | null;
  readonly spreadBps: number | null;
  /** Number of live orders of the bot, by side. */
  readonly orders: { readonly bid: number; readonly ask: number };
  /** Distance of the inventory from its target, and the maximum distance, in the base currency. */
  readonly position: string | null;
  readonly positionMax: string;
  /** Inventory by which the book skews its quotes; `null` without joint inventory. */
  readonly joint: number | null;
  readonly profit: string | null;
  readonly runProfit: string | null;
  readonly unknown: string | null;
  readonly fills: number | null;
  readonly uptime: { readonly bid: number; readonly ask: number };
  /** Most used limit; `null` if there is none. */
  readonly limit: ShownLimit | null;
};

/** Sums of the profit of all books with one quote currency. A sum is `null` if it is unknown for one of the books. */
export type DeskProfit = {
  readonly currency: string;
  readonly books: number;
  readonly total: string | null;
  readonly run: string | null;
};

/** Currency of the account. */
export type DeskCurrency = {
  readonly currency: string;
  /** Held amount according to the ledger; `null` if unknown. */
  readonly held: string | null;
  /**
   * Sum of the distances from the targets, over all books with this base currency; `null` if the distance of a book is
   * unknown, or if no book has this base currency.
   */
  readonly fromTarget: string | null;
  /** Books with this base currency. */
  readonly books: readonly string[];
};
