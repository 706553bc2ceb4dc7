/** What the console's page is sent: texts and numbers alone. Money and prices are exact decimal text, times are ms since 1970, `ago` are ms. */

export type ConsoleView = {
  /** `live`: as the recording stands now; `past`: as it stood at the moment that was asked for. */
  readonly kind: 'live' | 'past';
  readonly at: number;
  readonly run: number;
  readonly book: string;
  readonly strategy: string;
  readonly instance: string;
  readonly major: string;
  readonly minor: string;
  readonly bot: ShownBot;
  /** Null once the recording was read up to its end; else how much of it was, from 0 to 1. */
  readonly catchingUp: number | null;
  /** When the runs began whose recordings are kept, oldest first. */
  readonly runs: readonly { readonly run: number; readonly from: number }[];
  readonly decision: ShownDecision;
  readonly depth: { readonly bids: readonly DepthRow[]; readonly asks: readonly DepthRow[] };
  readonly orders: readonly ShownOrder[];
  readonly limits: readonly ShownLimit[];
  /** Profit since the opening, with the part of the run that is shown. */
  readonly profit: ShownProfit;
  readonly fills: {
    readonly count: number;
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
  /** For the charts: where things stand now. */
  readonly point: readonly number[];
};

/** `silent`: it did not stop, and shows no life. */
export type ShownBot = {
  readonly state: 'running' | 'stopped' | 'silent' | 'never ran';
  /** Since the last sign of life, and since the recording last grew; null in the past. */
  readonly beatAgo: number | null;
  readonly writtenAgo: number | null;
  /** What persons, the sentinel and the bot itself have set, and nobody lifted yet; the hardest first. */
  readonly halts: readonly ShownHalt[];
};

export type ShownHalt = {
  readonly what: 'halted' | 'paused' | 'held' | 'reduce only' | 'flatten';
  readonly reason: string;
  readonly at: number;
  readonly by: string;
  /** When it ends by itself; null: it does not. */
  readonly until: number | null;
};

export type ShownStep = { readonly name: string; readonly ticks: number };

export type ShownDecision = {
  readonly decidedAt: number | null;
  readonly tick: string;
  readonly regime: ShownRegime;
  readonly changes: readonly ShownRegime[];
  readonly refusal: string | null;
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

/** `since` is null for the first. */
export type ShownRegime = { readonly regime: string; readonly since: number | null; readonly why: string };

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

/** A price of the book: what others have there, and what we do. */
export type DepthRow = { readonly price: string; readonly others: string; readonly ours: string | null };

export type ShownOrder = {
  readonly id: string;
  readonly side: 'bid' | 'ask';
  readonly price: string;
  readonly amount: string;
  readonly filled: string;
  readonly state: string;
  readonly ageMs: number;
  /** At most this much of others is filled before it; null while that is not known. */
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

/** As `puntas status` prints it: times are ISO 8601 in UTC; `null` where an older Puntas did not keep it. */
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
  /** Gain against the middle 60 s later, in bps of the price, before fees; null until then. */
  readonly markoutBps: number | null;
};

/** Mean of the 60-s markouts of this run, weighted by value. */
export type SideMarkout = {
  readonly side: 'bid' | 'ask' | 'both';
  readonly fills: number;
  readonly bps: number | null;
};

/** From the bot's own page of metrics. */
export type ShownBudgets = {
  readonly public: number | null;
  readonly private: number | null;
  readonly publicMax: number;
  readonly privateMax: number;
  readonly streamUp: boolean | null;
  /** Exact, of the best order of each side. */
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

/** Of one hour or day UTC, in the minor currency, marked at the mid of its end. `spread` and `inventory` are null where an older Puntas kept no mid. */
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
  readonly at: number;
  readonly who: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
};

/** What a point of a series says, in this order. Zero prices mean none. */
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

/** `recent`: a point a second; `whole`: every run that was replayed, in larger steps. `fills`: at, side (1 bought, -1 sold), price. */
export type ConsoleHistory = {
  readonly run: number;
  readonly recent: readonly (readonly number[])[];
  readonly whole: readonly (readonly number[])[];
  readonly fills: readonly (readonly number[])[];
};

/** Who looks at the page, and what may be done from it. */
export type ShownSession = {
  /** There is a token to log in with. */
  readonly hasLogin: boolean;
  /** Nothing is read without. */
  readonly mustLogIn: boolean;
  readonly role: 'viewer' | 'operator' | null;
  readonly name: string;
  readonly actions: readonly string[];
  /** Why nobody can log in or act by this connection; null where one can. */
  readonly whyNot: string | null;
};
