/** Final summary of a run, as one JSON object. */
import { money, textOfMoney, type Instrument, type Snapshot } from '../core/index.ts';
import { partsText, profitSentenceOf, shownProfit, type PrintedProfit } from './shownProfit.ts';
import type { StopReport } from '../live/loop/loopOptions.ts';

export type Summary = {
  /** Wall time from the first read to the verified stop, in seconds. */
  readonly seconds: number;
  readonly book: string;
  readonly orders: Readonly<Record<'placed' | 'canceled' | 'filled' | 'refused' | 'unknown', number>>;
  readonly fills: number;
  /** Holdings at the end by currency, as decimal text. */
  readonly position: Readonly<Record<string, string>>;
  /** Profit since the opening, and the part of the last run; as in `puntas report` and `puntas status`. */
  readonly profit: PrintedProfit;
  /**
   * Profit since the start of the process, in the quote currency, as decimal text. Paid fees are negative, and the
   * parts add up to the total.
   */
  readonly pnl: Readonly<Record<'spread' | 'inventory' | 'fees' | 'hedging' | 'total', string>>;
  /** Share of time with at least one live quote per side, since the bot could first quote. */
  readonly uptime: Readonly<Record<'bid' | 'ask', number>>;
  readonly requests: number;
  /** Number of orders that may be open; `null` if none is known and the open orders could not be read. */
  readonly openOrdersLeft: number | null;
  /** Whether the ledger equals the exchange's balances; `null` if these could not be read. */
  readonly ledgerMatches: boolean | null;
  /** Reason for the halt; absent if trading is not halted. */
  readonly halted?: string;
  /** Followed exchange and simulated fills; present only in paper trading. */
  readonly paper?: { readonly follows: string; readonly fills: string };
};

/**
 * Returns the summary. `run.seconds` is wall time, to the millisecond; shares of time have four decimals. A currency of
 * the book that is not held is '0'.
 */
export function summaryOf(
  instrument: Instrument,
  snapshot: Snapshot,
  stop: StopReport,
  run: {
    readonly seconds: number;
    readonly requests: number;
    readonly halted: string | null;
    readonly paper?: Summary['paper'];
  },
): Summary {
  const { buy, sell } = snapshot.counts;
  const both = (key: keyof typeof buy) => buy[key] + sell[key];
  const { profit } = snapshot;
  return {
    seconds: Number(run.seconds.toFixed(3)),
    book: instrument.symbol,
    orders: {
      placed: both('placed'),
      canceled: both('canceled'),
      filled: both('filled'),
      refused: both('refused'),
      unknown: both('unknown'),
    },
    fills: snapshot.fills,
    position: Object.fromEntries(
      [instrument.major, instrument.minor].map(c => [c, textOfMoney(snapshot.holdings.get(c) ?? money(0n))]),
    ),
    profit: shownProfit(snapshot.sinceOpening, snapshot.runProfit, instrument.minor),
    pnl: partsText(profit),
    uptime: { bid: round(snapshot.uptime.bid), ask: round(snapshot.uptime.ask) },
    requests: run.requests,
    openOrdersLeft: stop.left.length === 0 && stop.unread !== undefined ? null : stop.left.length,
    ledgerMatches: stop.ledgerMatches,
    ...(run.halted === null ? {} : { halted: run.halted }),
    ...(run.paper === undefined ? {} : { paper: { follows: run.paper.follows, fills: run.paper.fills } }),
  };
}

/** Returns the summary as a few lines of text; `resumeCommand` ends a halt of this bot. */
export function describe(summary: Summary, resumeCommand: string): string {
  const { orders, uptime, pnl } = summary;
  const percent = (x: number) => `${(x * 100).toFixed(1)} %`;
  return [
    ...(summary.paper === undefined
      ? []
      : [`PAPER TRADING, no real money: ${summary.paper.fills} fills on the market of ${summary.paper.follows}`]),
    `${summary.book}: ${summary.fills} ${summary.fills === 1 ? 'fill' : 'fills'} in ${summary.seconds} s; orders: ${orders.placed} placed, ${orders.canceled} canceled, ${orders.refused} rejected, ${orders.unknown} unknown`,
    `quotes live: bid ${percent(uptime.bid)}, ask ${percent(uptime.ask)} of the time`,
    `profit ${profitSentenceOf(summary.profit)}`,
    `since the start: ${pnl.total} = spread ${pnl.spread} + inventory ${pnl.inventory} + fees ${pnl.fees}${Number(pnl.hedging) === 0 ? '' : ` + hedging ${pnl.hedging}`}`,
    ...(summary.halted === undefined
      ? []
      : [`HALTED: ${summary.halted} (investigate, then resume with: ${resumeCommand})`]),
    leftText(summary.openOrdersLeft),
    ledgerText(summary.ledgerMatches),
  ].join('\n');
}

function leftText(count: number | null): string {
  if (count === null) return 'open orders could not be read; orders may still be open';
  return count === 0 ? 'verified: no open orders left' : `${count} orders may still be open (not verified)`;
}

function ledgerText(matches: boolean | null): string {
  if (matches === null) return 'the balances could not be read, so they were not compared with the ledger';
  return matches ? 'the ledger equals the balances to the last digit' : 'THE LEDGER DIFFERS FROM THE BALANCES';
}

const round = (share: number): number => Number(share.toFixed(4));
