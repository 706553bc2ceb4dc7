/**
 * Data for the fleet page and for `puntas fleet --json`. Money and prices are exact decimal text, times are epoch ms.
 */

export type FleetView = {
  /** Time of the view, by the clock of the fleet process. */
  readonly at: number;
  readonly version: string;
  /** Currency of the sums of profit. */
  readonly currency: string;
  /** Sums for each kind of money; empty until a bot has answered. */
  readonly sums: readonly FleetSums[];
  readonly bots: readonly FleetRow[];
};

/** Sums over the bots with one kind of money. */
export type FleetSums = {
  /** `real`, `paper` (simulated fills on a real market) or `play` (simulated exchange or testnet). */
  readonly money: 'real' | 'paper' | 'play';
  readonly bots: number;
  /** Exact sum of the values of `FleetRow.profit`; null if no value is known. */
  readonly profit: string | null;
  /** Sum of the profits of the last runs; null if no value is known. */
  readonly runProfit: string | null;
  /** Profits that the sum lacks, because there is no rate; each is exact in its own currency. */
  readonly unconverted: readonly { readonly currency: string; readonly profit: string; readonly bots: number }[];
  readonly rates: readonly FleetRate[];
  /** Inventory beyond the targets, by base currency. */
  readonly inventory: readonly { readonly currency: string; readonly amount: string; readonly bots: number }[];
  /** Bots with old figures in the sums: console or bot is silent, or the recording of a running bot does not grow. */
  readonly stale: readonly { readonly name: string; readonly figuresAgoMs: number }[];
  /** Figures that the sums lack: name of the bot, kind of figure, and reason. */
  readonly missing: readonly { readonly name: string; readonly what: string; readonly why: string }[];
};

/** Rate of the sums, from the mid prices of the bots' books. `rate` is rounded for display. */
export type FleetRate = {
  readonly from: string;
  readonly to: string;
  readonly rate: string;
  readonly ageMs: number;
  readonly books: readonly string[];
};

/** Row of one bot. A bot with several books has one row per book, with the book after the bot's name. */
export type FleetRow = {
  readonly name: string;
  /** Address of the bot's console, where its operators act. */
  readonly link: string;
  /** State of the bot's console: `waiting` before the first answer. */
  readonly state: 'waiting' | 'heard' | 'silent';
  /** Time since the last new summary. */
  readonly heardAgoMs: number;
  /**
   * Age of the figures; null if there are none. The age grows while the bot is silent, or while its recording does not
   * grow.
   */
  readonly figuresAgoMs: number | null;
  /** Reason why the console is silent; null if the console answers. */
  readonly problem: string | null;
  /** Sentence about a problem of the console or bot, such as a missing heartbeat; null if there is none. */
  readonly trouble: string | null;
  /** Name of another row that shows this bot and counts its figures; null if there is none. */
  readonly sameAs: string | null;
  readonly version: string | null;
  readonly bot: 'running' | 'stopped' | 'silent' | 'never ran' | null;
  readonly money: FleetSums['money'] | null;
  readonly book: string | null;
  readonly base: string | null;
  readonly quote: string | null;
  readonly instance: string | null;
  readonly strategy: string | null;
  readonly regime: string | null;
  /** Reason for the regime or for not quoting; null if unknown. */
  readonly why: string | null;
  /** Profit since the opening of the ledger, in the quote currency; null if unknown. */
  readonly ownProfit: string | null;
  /**
   * Profit in the currency of the sums; a converted profit is rounded down to 8 decimals. Null if unknown or without a
   * rate.
   */
  readonly profit: string | null;
  readonly runProfit: string | null;
  readonly inventory: string | null;
  /** Share of the time with a live quote, from 0 to 1: the lower of bid and ask; null if unknown. */
  readonly uptime: number | null;
  readonly fillCount: number | null;
  readonly lastFill: {
    readonly side: 'bid' | 'ask';
    readonly price: string;
    readonly amount: string;
    /** Real time since the fill; it also grows while the bot is stopped or silent. */
    readonly agoMs: number;
  } | null;
  /** Stops, a limit near its maximum, and warnings of the last hour; most severe first. */
  readonly alerts: readonly { readonly level: 'warn' | 'error'; readonly text: string }[];
};
