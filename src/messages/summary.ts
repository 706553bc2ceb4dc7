/** Final summary of a run, as one JSON object. */
import { counted, money, pairOf, textOfMoney, type Instrument, type Snapshot } from '../core/index.ts';
import { partsText, profitSentenceOf, shownProfit, type PrintedProfit } from './shownProfit.ts';
import type { StopReport } from '../live/loop/loopOptions.ts';

/** Figures of one book. */
type BookSummary = {
  readonly book: string;
  /** Number of orders by outcome. `filled` is `null` if `fills` is `null`. */
  readonly orders: Readonly<Record<'placed' | 'canceled' | 'refused' | 'unknown', number>> & {
    readonly filled: number | null;
    /** Number of `unknown` orders whose outcome is not known at the end; absent if every outcome is known. */
    readonly unresolved?: number;
  };
  /** Number of fills; `null` if trades of the account could not be read. */
  readonly fills: number | null;
  /**
   * Holdings at the end by currency, as decimal text; `null` if they were not compared with the exchange's balances.
   */
  readonly position: Readonly<Record<string, string>> | null;
  /**
   * Profit since the opening and profit of the last run, as in `puntas report` and `puntas status`. `null` if trades of
   * the account could not be read.
   */
  readonly profit: PrintedProfit | null;
  /**
   * Profit since the start of the process, in the quote currency, as decimal text; fees paid are negative, and the
   * parts add up to the total. `null` if trades of the account could not be read.
   */
  readonly pnl: Readonly<Record<'spread' | 'inventory' | 'fees' | 'hedging' | 'total', string>> | null;
  /** Reason why figures are `null`; absent if no figure is `null`. */
  readonly figuresUnknown?: string;
  /** Account on the other exchange at the end; absent if the bot does not hedge there. Amounts as decimal text. */
  readonly elsewhere?: {
    readonly place: string;
    /** Funds on the other exchange that no open order may spend, in the base and the quote currency. */
    readonly funds: { readonly base: string; readonly quote: string };
    /**
     * Hedge debt in the base currency: inventory outside the hedge band, as if every debt-increasing open order on the
     * other exchange had filled.
     */
    readonly debt: string;
    /** Number of orders on the other exchange whose end is not known. */
    readonly openOrders: number;
  };
  /** Share of time with at least one live quote on the side, since quoting was first possible. */
  readonly uptime: Readonly<Record<'bid' | 'ask', number>>;
  /** First error or invalid quote of the book's strategy file in the last run; absent if there was none. */
  readonly strategyFault?: string;
};

export type Summary = BookSummary & {
  /** Wall time from the first read to the verified stop, in seconds. */
  readonly seconds: number;
  /** Figures of the further books; absent if the bot has one book. */
  readonly others?: readonly BookSummary[];
  readonly requests: number;
  /**
   * Number of the bot's orders that may still be open; `null` if the open orders could not be read and the bot knows of
   * no open order.
   */
  readonly openOrdersLeft: number | null;
  /** Whether the ledger equals the exchange's balances; `null` if the balances could not be read. */
  readonly ledgerMatches: boolean | null;
  /** Reason for the halt; absent if trading is not halted. */
  readonly halted?: string;
  /** REST URL of the exchange whose market the run follows, and the fill model; present only in paper trading. */
  readonly paper?: { readonly follows: string; readonly fills: string };
};

/**
 * Returns the summary. `run.seconds` is wall time, rounded to the millisecond; shares of time have four decimals. If
 * the account holds none of a currency, its position is '0'.
 */
export function summaryOf(
  instrument: Instrument,
  snapshot: Snapshot,
  stop: StopReport,
  run: {
    readonly seconds: number;
    readonly requests: number;
    readonly halted: string | null;
    /** First error of the strategy file of each book, in the order of the books; `null` if there was none. */
    readonly faults: readonly (string | null)[];
    /** Further books. */
    readonly others?: readonly (readonly [Instrument, Snapshot])[];
    readonly paper?: Summary['paper'];
  },
): Summary {
  const { others = [], faults } = run;
  return {
    seconds: Number(run.seconds.toFixed(3)),
    ...bookSummary(instrument, snapshot, faults[0] ?? null),
    ...(others.length === 0
      ? {}
      : { others: others.map(([other, shown], i) => bookSummary(other, shown, faults[i + 1] ?? null)) }),
    requests: run.requests,
    openOrdersLeft: stop.left.length === 0 && stop.unread !== undefined ? null : stop.left.length,
    ledgerMatches: stop.ledgerMatches,
    ...(run.halted === null ? {} : { halted: run.halted }),
    ...(run.paper === undefined ? {} : { paper: { follows: run.paper.follows, fills: run.paper.fills } }),
  };
}

function bookSummary(instrument: Instrument, snapshot: Snapshot, fault: string | null): BookSummary {
  const { buy, sell } = snapshot.counts;
  const both = (key: keyof typeof buy) => buy[key] + sell[key];
  const { trades, holdings, unknown } = snapshot.known;
  const { elsewhere: there } = snapshot;
  const unresolved = snapshot.orders.filter(({ state }) => state === 'unknown').length;
  return {
    book: instrument.symbol,
    orders: {
      placed: both('placed'),
      canceled: both('canceled'),
      filled: trades && both('filled'),
      refused: both('refused'),
      unknown: both('unknown'),
      ...(unresolved === 0 ? {} : { unresolved }),
    },
    fills: trades && trades.fills,
    position:
      holdings &&
      Object.fromEntries([instrument.major, instrument.minor].map(c => [c, textOfMoney(holdings.get(c) ?? money(0n))])),
    profit: trades && shownProfit(trades.sinceOpening, trades.runProfit, instrument.minor),
    pnl: trades && partsText(trades.profit),
    ...(unknown === null ? {} : { figuresUnknown: unknown }),
    ...(there === null
      ? {}
      : {
          elsewhere: {
            ...{ place: there.place, debt: textOfMoney(there.debt), openOrders: there.openOrders },
            funds: { base: textOfMoney(there.funds.base), quote: textOfMoney(there.funds.quote) },
          },
        }),
    uptime: { bid: round(snapshot.uptime.bid), ask: round(snapshot.uptime.ask) },
    ...(fault === null ? {} : { strategyFault: fault }),
  };
}

/** Returns the summary as a few lines of text; `resumeCommand` ends a halt of this bot. */
export function describe(summary: Summary, resumeCommand: string): string {
  return [
    ...(summary.paper === undefined
      ? []
      : [`PAPER TRADING, no real money: fill model ${summary.paper.fills}, live market of ${summary.paper.follows}`]),
    ...[summary, ...(summary.others ?? [])].flatMap(book => bookLines(book, summary.seconds)),
    ...(summary.halted === undefined
      ? []
      : [`HALTED: ${summary.halted} (investigate, then resume with: ${resumeCommand})`]),
    leftText(summary.openOrdersLeft),
    ledgerText(summary.ledgerMatches),
  ].join('\n');
}

function bookLines(of: BookSummary, seconds: number): readonly string[] {
  const { orders, uptime } = of;
  const percent = (x: number) => `${(x * 100).toFixed(1)}%`;
  return [
    `${of.book}: ${fillsText(of.fills)} in ${seconds} s; orders: ${orders.placed} placed, ${orders.canceled} canceled, ${orders.refused} rejected, ${unknownText(orders)}`,
    `quotes live: bid ${percent(uptime.bid)}, ask ${percent(uptime.ask)} of the time`,
    ...(of.strategyFault === undefined ? [] : [`the strategy did not quote as it should: ${of.strategyFault}`]),
    ...profitLines(of),
    ...unknownLines(of),
    ...elsewhereLines(of),
  ];
}

/** Describes the orders without a known outcome: those of now, and those that the run has resolved. */
function unknownText({ unknown, unresolved = 0 }: BookSummary['orders']): string {
  const resolved = Math.max(0, unknown - unresolved);
  if (resolved === 0) return `${unresolved} unknown`;
  return unresolved === 0
    ? `${resolved} ${resolved === 1 ? 'was' : 'were'} unknown, all resolved`
    : `${unresolved} unknown, ${resolved} resolved`;
}

const fillsText = (fills: number | null): string => (fills === null ? 'fills unknown' : counted(fills, 'fill'));

function profitLines({ profit, pnl }: BookSummary): readonly string[] {
  if (profit === null || pnl === null) return [];
  const hedging = Number(pnl.hedging) === 0 ? '' : ` + hedging ${pnl.hedging}`;
  return [
    `profit ${profitSentenceOf(profit)}`,
    `since the start of the bot: profit ${pnl.total} = spread ${pnl.spread} + inventory ${pnl.inventory} + fees ${pnl.fees}${hedging}`,
  ];
}

function elsewhereLines({ elsewhere, book }: BookSummary): readonly string[] {
  if (elsewhere === undefined) return [];
  const { place, funds, debt, openOrders } = elsewhere;
  const open = openOrders === 0 ? 'no open orders' : `${counted(openOrders, 'order')} may still be open`;
  const [base] = pairOf(book);
  return [
    `at ${place}: free ${funds.base} ${base} and ${funds.quote} of the quote currency there, hedge debt ${debt} ${base}, ${open}`,
  ];
}

function unknownLines({ fills, position, figuresUnknown }: BookSummary): readonly string[] {
  if (figuresUnknown === undefined) return [];
  const names = [...(fills === null ? ['fills', 'profit'] : []), ...(position === null ? ['position'] : [])];
  return [
    `unknown: ${names.join(', ')} (${figuresUnknown}). At its next start, the bot compares the balances with the ledger again; to see the booked amounts, run puntas ledger`,
  ];
}

function leftText(count: number | null): string {
  if (count === null) return 'open orders could not be read; orders may still be open';
  return count === 0 ? 'verified: no open orders left' : `${counted(count, 'order')} may still be open (not verified)`;
}

function ledgerText(matches: boolean | null): string {
  if (matches === null) return 'the balances were not compared with the ledger';
  return matches ? 'the ledger equals the balances to the last digit' : 'THE LEDGER DIFFERS FROM THE BALANCES';
}

const round = (share: number): number => Number(share.toFixed(4));
