/**
 * Data for the console's page: only texts and numbers. Money and prices are exact decimal text, times are epoch
 * ms.
 */

export type ConsoleView = {
  /** `live`: view of the newest recorded state; `past`: view of the requested time. */
  readonly kind: 'live' | 'past';
  readonly at: number;
  readonly run: number;
  readonly book: string;
  /** All books of the bot, in order; absent with one book. */
  readonly books?: readonly string[];
  readonly strategy: string;
  readonly instance: string;
  readonly major: string;
  readonly minor: string;
  readonly bot: ShownBot;
  /** Share of the recording that was read, from 0 to 1; `null` once all is read. */
  readonly catchingUp: number | null;
  /** Start times of the recorded runs, oldest first. */
  readonly runs: readonly { readonly run: number; readonly from: number }[];
  readonly decision: ShownDecision;
  /** Prices and hedges on other exchanges; `null` if the configuration has neither. */
  readonly elsewhere: ShownElsewhere | null;
  readonly depth: { readonly bids: readonly DepthRow[]; readonly asks: readonly DepthRow[] };
  readonly orders: readonly ShownOrder[];
  readonly limits: readonly ShownLimit[];
  /** Reason why `profit`, `position`, the count of fills or the holdings are unknown; null if all are known. */
  readonly unknown: string | null;
  /** Profit since the opening of the ledger, and profit of the shown run; null if unknown. */
  readonly profit: ShownProfit | null;
  /** Time at which the ledger was opened, in ISO 8601, even while the profit is unknown; null if not stored. */
  readonly ledgerSince: string | null;
  /** Inventory: amount of base currency beyond the target; null if unknown. */
  readonly position: string | null;
  readonly fills: {
    readonly count: number | null;
    readonly last: readonly ShownFill[];
    readonly markouts: readonly SideMarkout[];
  };
  readonly uptime: { readonly bid: number; readonly ask: number };
  readonly counts: readonly { readonly side: 'bid' | 'ask'; readonly counts: Readonly<Record<string, number>> }[];
  readonly budgets: ShownBudgets | null;
  readonly ledger: ShownLedger | null;
  readonly hours: readonly ShownHour[];
  readonly days: readonly ShownHour[];
  readonly events: readonly ShownEvent[];
  /** Open proposals of agents, then the last decided or expired ones, each newest first; only in a live view. */
  readonly proposals?: readonly ShownProposal[];
  /** Current point for the charts. */
  readonly point: readonly number[];
};

/** Process state of the bot. `silent`: the bot did not stop, but sends no heartbeat. */
export type ShownBot = {
  readonly state: 'running' | 'stopped' | 'silent' | 'never ran';
  /** Time since the last heartbeat; null in a view of the past. */
  readonly beatAgoMs: number | null;
  /** Time since the recording last grew; null in a view of the past. */
  readonly writtenAgoMs: number | null;
  /** Active halts set by operators, the sentinel or the bot, most severe first. */
  readonly halts: readonly ShownHalt[];
};

export type ShownHalt = {
  /** Symbol of the stopped book; absent if the whole bot is stopped. */
  readonly book?: string | undefined;
  readonly what: 'halted' | 'paused' | 'held' | 'reduce only' | 'flatten';
  readonly reason: string;
  readonly at: number;
  readonly by: string;
  /** Expiry time of the halt; `null` if the halt does not expire. */
  readonly until: number | null;
};

export type ShownStep = { readonly name: string; readonly ticks: number };

export type ShownDecision = {
  readonly decidedAt: number | null;
  readonly tick: string;
  readonly regime: ShownRegime;
  readonly changes: readonly ShownRegime[];
  readonly refusal: string | null;
  /** One sentence for each exchange where orders have the smallest size. */
  readonly smallestSizes: readonly string[];
  readonly market: { readonly bid: string | null; readonly ask: string | null; readonly bookAgeMs: number | null };
  readonly fair: { readonly ticks: number; readonly steps: readonly ShownStep[] } | null;
  readonly inventory: {
    readonly currency: string;
    readonly fromTarget: string;
    readonly max: string;
    readonly holdings: Readonly<Record<string, string>>;
  };
  readonly figures: readonly { readonly name: string; readonly value: number; readonly unit: string }[];
  readonly levels: readonly ShownLevel[];
  readonly hedges: readonly ShownHedge[];
  readonly difference: string | null;
  readonly note: string | null;
};

/** State of prices and hedges on other exchanges. */
export type ShownElsewhere = {
  /** Best prices of the bot's book, then of each book elsewhere in its own currencies. */
  readonly books: readonly ShownBookPrices[];
  /** Sources of the reference price. */
  readonly sources: readonly ShownElsewhereSource[];
  /** State of the hedges; `null` if the bot does not hedge elsewhere. */
  readonly hedging: ShownHedging | null;
};

/** Best prices of a book; `problem` is the reason why there are none. */
export type ShownBookPrices = {
  readonly name: string;
  readonly isHere: boolean;
  readonly bid: string | null;
  readonly ask: string | null;
  readonly spreadBps: number | null;
  readonly ageMs: number | null;
  readonly problem: string | null;
};

/** Source of the reference price; `notUsed` is the reason why it is not used. */
export type ShownElsewhereSource = {
  readonly name: string;
  readonly notUsed: string | null;
  readonly price: string | null;
  readonly ageMs: number | null;
  readonly lagMs: number | null;
  readonly basisBps: number | null;
  readonly basisErrorBps: number | null;
  /** Distance of the source's price from the mid price of the bot's book, not corrected for the basis. */
  readonly fromMidBps: number | null;
  /**
   * Time by which the price leads the bot's book as the bot sees both, with the 95% interval; negative if the bot's
   * book leads. If `null`, `noLead` is the reason.
   */
  readonly lead: {
    readonly ms: number;
    readonly lowMs: number;
    readonly highMs: number;
    readonly correlation: number;
  } | null;
  readonly noLead: string | null;
};

/** State of the hedges on another exchange. Sums without a currency are in the base currency. */
export type ShownHedging = {
  readonly place: string;
  readonly currency: string;
  readonly quoteCurrency: string;
  readonly debt: string;
  readonly debtMax: string;
  readonly debtShare: number;
  readonly band: string;
  /** Number of consecutive failed hedges. */
  readonly failures: number;
  /**
   * Hedge that is not proven to have ended, with the time since which it may execute; `amount` is negative for a
   * purchase.
   */
  readonly open: {
    readonly id: string;
    readonly since: number;
    readonly isUnknown: boolean;
    readonly amount: string | null;
    readonly why: string | null;
  } | null;
  /** Reason why at least one side has no quotes, or why this is unknown; `null` if both sides have quotes. */
  readonly whyNotQuoted: string | null;
  readonly inventory: readonly {
    readonly exchange: string;
    /** Held amounts; `null` if unknown. */
    readonly base: string | null;
    readonly quote: string | null;
    readonly quoteCurrency: string;
  }[];
  /**
   * Amount of the quote currency on the other exchange beyond its target, and its value in the quote currency of the
   * bot's book. `null` if unknown.
   */
  readonly drift: string | null;
  readonly driftValue: string | null;
  /** Last hedges, newest first. */
  readonly last: readonly ShownElsewhereHedge[];
};

/** Hedge with its expected and its paid cost against the mid price at the decision. Fees in `otherFees` are extra. */
export type ShownElsewhereHedge = {
  readonly id: string;
  readonly at: number;
  readonly state: string;
  /** Amount of the order; negative for a purchase. */
  readonly amount: string;
  /** Sum of its trades, negative for a purchase; `null` if it has none, or if they are not known. */
  readonly traded: string | null;
  readonly why: string | null;
  /**
   * Cost by which the route was chosen: includes the price risk and the cost of conversion back, which `paidBps` lacks.
   */
  readonly expectedBps: number | null;
  readonly paidBps: number | null;
  /** Paid cost in the quote currency of the bot's book. */
  readonly paid: string | null;
  readonly otherFees: string | null;
};

/** Regime with its reason; `since` is `null` for the first regime. */
export type ShownRegime = {
  readonly regime: string;
  readonly since: number | null;
  readonly why: string;
  /** Error of the strategy file, with the remedy; absent without an error. */
  readonly failure?: string | undefined;
};

export type ShownLevel = {
  readonly side: 'bid' | 'ask';
  readonly level: number | null;
  readonly decision: string;
  readonly reason: string;
  readonly detail: string | null;
  readonly price: string | null;
  readonly amount: string | null;
  readonly steps: readonly ShownStep[];
  readonly order: {
    readonly id: string;
    readonly price: string;
    readonly remaining: string;
    readonly then: string;
    readonly now: string;
  } | null;
};

export type ShownHedge = {
  readonly id: string;
  readonly at: number;
  readonly state: string;
  readonly amount: string;
  readonly why: string | null;
  readonly weighed: readonly { readonly way: string; readonly cost: string | null; readonly not: string | null }[];
};

/** Price level of the book: amounts of other traders and of the bot. */
export type DepthRow = { readonly price: string; readonly others: string; readonly ours: string | null };

export type ShownOrder = {
  readonly id: string;
  readonly side: 'bid' | 'ask';
  readonly price: string;
  readonly amount: string;
  readonly filled: string;
  readonly state: string;
  readonly ageMs: number;
  /** Maximum amount of other traders' orders that fills before this order; `null` if unknown. */
  readonly ahead: string | null;
};

export type ShownLimit = {
  readonly limit: string;
  readonly currency: string | null;
  readonly max: string;
  readonly used: string;
  readonly share: number;
};

export type ProfitParts = {
  readonly spread: string;
  readonly inventory: string;
  readonly fees: string;
  readonly hedging: string;
  readonly total: string;
};

/** Profit as printed by `puntas status`: times are ISO 8601 in UTC; `null` if an older Puntas did not record them. */
export type ShownProfit = ProfitParts & {
  readonly currency: string;
  readonly since: string | null;
  readonly at: string | null;
  readonly mid: string | null;
  readonly run: ProfitParts | null;
};

export type ShownFill = {
  readonly at: number;
  readonly side: 'bid' | 'ask';
  readonly price: string;
  readonly amount: string;
  readonly fee: string;
  readonly role: 'maker' | 'taker';
  readonly id: string | null;
  /** Gain against the mid price 60 s after the fill, in bps of the price, before fees; `null` until then. */
  readonly markoutBps: number | null;
};

/** Mean 60-second markout of the fills of this run, weighted by their value. */
export type SideMarkout = {
  readonly side: 'bid' | 'ask' | 'both';
  readonly fills: number;
  readonly bps: number | null;
};

/**
 * Remaining requests per minute, amounts ahead of the bot's orders, and event loop delay, from the bot's metrics page.
 */
export type ShownBudgets = {
  readonly public: number | null;
  readonly private: number | null;
  readonly publicMax: number;
  readonly privateMax: number;
  readonly streamUp: boolean | null;
  /** Exact amount of other traders' orders ahead of the bot's best order on each side, in the base currency. */
  readonly queueAhead: { readonly bid: number | null; readonly ask: number | null };
  readonly eventLoopP99Ms: number | null;
};

export type ShownLedger = {
  readonly checkedAt: number | null;
  readonly rows: readonly {
    readonly currency: string;
    readonly balance: string;
    readonly exchange: string | null;
    readonly difference: string | null;
    readonly causes: readonly { readonly cause: string; readonly sum: string }[];
  }[];
};

/**
 * Profit of an hour or day UTC, in the quote currency, valued at the mid price at its end. `spread` and `inventory` are
 * `null` if an older Puntas recorded no mid price.
 */
export type ShownHour = {
  readonly from: number;
  readonly fills: number;
  readonly volume: string;
  readonly trading: string;
  readonly fees: string;
  readonly hedging: string;
  readonly net: string;
  readonly spread: string | null;
  readonly inventory: string | null;
};

export type ShownEvent = {
  /** Book of the event; absent with one book, and for events of the whole bot. */
  readonly book?: string;
  readonly at: number;
  readonly who: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
};

/** Proposal of an agent. `by` is the person who decided; `null` if open or expired. */
export type ShownProposal = {
  readonly id: string;
  readonly digest: string;
  readonly at: number;
  readonly expiresAt: number;
  readonly agent: string;
  readonly action: string;
  /** Symbol of the book of the action; absent if it is on the whole bot. */
  readonly book?: string;
  readonly reason: string;
  readonly minutes: number | null;
  readonly state: 'open' | 'expired' | 'rejected' | 'approved' | 'done' | 'refused';
  readonly by: string | null;
  /** Preview that the agent saw. */
  readonly lines: readonly string[];
};

/** Fields of a chart point, in order. A price of zero means no price. */
export const POINT = [
  'at',
  'bid',
  'ask',
  'ourBid',
  'ourAsk',
  'inventory',
  'profit',
  'spread',
  'holding',
  'fees',
  'hedging',
] as const;

/**
 * Points and fills of the charts. `recent`: one point per second; `whole`: all replayed runs, at larger intervals.
 * `fills`: time, side (1 bought, -1 sold), price.
 */
export type ConsoleHistory = {
  readonly run: number;
  readonly recent: readonly (readonly number[])[];
  readonly whole: readonly (readonly number[])[];
  readonly fills: readonly (readonly number[])[];
  /** Changes of the configuration between the replayed runs, oldest first. */
  readonly changes: readonly ShownChange[];
};

/**
 * Change of the configuration: start time (`at`) and number (`run`) of the first run with the new configuration, and
 * the changed keys (`text`), with old and new values if pages may show them.
 */
export type ShownChange = {
  readonly at: number;
  readonly text: string;
  /** Number of the first run with the new configuration; null if unknown. */
  readonly run: number | null;
  /**
   * First digits of the digest that `puntas reload` shows: SHA-256 (hex) of the configuration file and, if there is
   * one, of the strategy file; null if not stored.
   */
  readonly digest: string | null;
  /** Operator, or `start` for a change by a restart; null if not stored. */
  readonly by: string | null;
  readonly reason: string | null;
};

/**
 * Points at equal intervals. Fields 0 to 2 of a point: its end, price, held base currency. Fields 3 to 7: profit since
 * the opening (net, spread, inventory, fees, hedging). Fields 8 and 9: number and mean price of the purchases in the
 * interval; fields 10 and 11: those of the sales. An unknown or missing value is null.
 */
export type LongRange = {
  readonly stepMs: number;
  readonly points: readonly (readonly (number | null)[])[];
};

/** Charts of a week and of the time since the opening of the ledger, and the results of each configuration. */
export type LongHistory = {
  readonly run: number | null;
  readonly at: number;
  /** Whether the time of the opening is known. Otherwise, the history starts at the first stored figure. */
  readonly isOpeningKnown: boolean;
  readonly week: LongRange;
  readonly opening: LongRange;
  /** Changes of the configuration, oldest first. */
  readonly changes: readonly ShownChange[];
  /** Results of each configuration, oldest first. */
  readonly results: readonly ConfigResult[];
  /** Sentences about missing data, with the reasons. */
  readonly missing: readonly string[];
};

/**
 * Results of one configuration, in the quote currency: from its change, or from the opening (`change` is null), to the
 * next change. Sums are exact; rates and intervals are estimates.
 */
export type ConfigResult = {
  readonly change: ShownChange | null;
  readonly from: number;
  /** Time of the next change; null for the current configuration. */
  readonly to: number | null;
  /** Measured time in hours, without stops of the bot; null if no profit was stored in this period. */
  readonly hours: number | null;
  readonly net: string | null;
  /** Part of `net` from price moves during stops of more than an hour. Rates do not include this part. */
  readonly stopped: string | null;
  /** Number and total value of the fills in the measured time; null if unknown. */
  readonly fills: number | null;
  readonly volume: string | null;
  readonly perHour: number | null;
  /** 95% interval of `perHour`; null with too few hours. */
  readonly interval: { readonly low: number; readonly high: number } | null;
  readonly perVolumeBps: number | null;
  /** Difference of `perHour` from the previous configuration, with its 95% interval; null if either is unknown. */
  readonly difference: { readonly value: number; readonly low: number; readonly high: number } | null;
};

/** Session of the page's user, and the available actions. */
export type ShownSession = {
  /** Whether login with a token is possible. */
  readonly hasLogin: boolean;
  /** Whether reading requires a login. */
  readonly mustLogIn: boolean;
  readonly role: 'viewer' | 'operator' | null;
  readonly name: string;
  readonly actions: readonly string[];
  /** Reason why login and actions are off on this connection; `null` if both are allowed. */
  readonly whyNot: string | null;
};

/** Parameters of the configuration file, as the page and the API show them. */
export type ShownParameters = {
  readonly digest: string;
  readonly parameters: readonly {
    readonly key: string;
    readonly value: string | null;
    readonly unit: string;
    readonly help: string;
    readonly direction: 'free' | 'lower' | 'higher';
    /** Books that a change changes, of a bot with several. */
    readonly books?: readonly string[];
  }[];
  /** Last changes from a page or the API, newest first. */
  readonly changes: readonly {
    readonly at: number;
    readonly by: string;
    readonly reason: string;
    /** Book of the change; absent if it was not of one book. */
    readonly book?: string;
    /** Whether a page can restore the value before this change; a tightened limit only the file can. */
    readonly canUndo: boolean;
    readonly key: string;
    readonly from: string | null;
    readonly to: string | null;
  }[];
};
