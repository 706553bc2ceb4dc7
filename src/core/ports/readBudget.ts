/** Requests that the polls of a bot take of a request budget of its exchange. */
import type { Millis } from '../model/units.ts';

/** A request budget, and how much of it one read takes. */
export type ReadBudget = {
  /** Unit in plural, for messages. */
  readonly unit: string;
  readonly perMinute: number;
  readonly openOrders: number;
  readonly trades: number;
  readonly balances: number;
  /** 0 if order books are read from another budget. */
  readonly book: number;
};

/** Returns a budget from which each private read takes one request. */
export const requestBudget = (perMinute: number): ReadBudget => ({
  ...{ unit: 'private requests', perMinute },
  ...{ openOrders: 1, trades: 1, balances: 1, book: 0 },
});

export type PollIntervals = { readonly privatePollMs: Millis; readonly bookPollMs: Millis };

const BALANCES_MIN_MS = 10_000;
const BALANCES_MAX_MS = 60_000;
const POLLS_PER_BALANCES = 5;
const POLL_MAX_MS = 60_000;

/** Returns the interval of reads of the balances. A budget that allows few polls allows few of these reads too. */
export const balancesEveryMs = (privatePollMs: Millis): Millis =>
  Math.min(BALANCES_MAX_MS, Math.max(BALANCES_MIN_MS, POLLS_PER_BALANCES * privatePollMs));

/** Returns the most that polls take of a budget in any minute. The trades are read before and after the balances. */
export function pollsPerMinute(cost: ReadBudget, { privatePollMs, bookPollMs }: PollIntervals): number {
  const times = (everyMs: Millis) => Math.ceil(60_000 / everyMs);
  return (
    times(privatePollMs) * (cost.openOrders + cost.trades) +
    times(balancesEveryMs(privatePollMs)) * (cost.balances + 2 * cost.trades) +
    times(bookPollMs) * cost.book
  );
}

/**
 * Returns the smallest interval of private polls, in whole ms, with which all polls fit into the budget; `null` if none
 * up to a minute does.
 */
export function privatePollMsMin(budget: ReadBudget, bookPollMs: Millis): Millis | null {
  const fits = (privatePollMs: Millis) => pollsPerMinute(budget, { privatePollMs, bookPollMs }) <= budget.perMinute;
  if (!fits(POLL_MAX_MS)) return null;
  let [tooShort, enough] = [0, POLL_MAX_MS];
  while (enough - tooShort > 1) {
    const between = Math.floor((tooShort + enough) / 2);
    if (fits(between)) enough = between;
    else tooShort = between;
  }
  return enough;
}
