/**
 * Replay of several books of one account on one clock: the recorded markets of all books, one engine, shared balances
 * and one request budget.
 */
import { moneyOf, type Millis } from '../../src/core/index.ts';
import { ReplayAccount, type ReplayAccountOptions, type NewEngine } from './replayAccount.ts';
import { JointShares, type SkewSizes } from './jointShares.ts';
import { ReplayMarket } from './replayMarket.ts';
import { TapeReplay, type ReplayOptions, type ReplayResult } from './replay.ts';

/** Inputs of one of the books. */
export type SeveralBooksReplayBook = Omit<
  ReplayOptions,
  keyof ReplayAccountOptions | 'engine' | 'hedge' | 'from' | 'to'
>;

/** Inputs of a replay of several books. `from` and `to`: start and end of trading in all books. */
export type SeveralBooksReplayOptions = ReplayAccountOptions & {
  readonly books: readonly SeveralBooksReplayBook[];
  readonly engine: NewEngine;
  readonly from: Millis;
  readonly to: Millis;
  /** Whether the decisions of a book use the prices of the other books. */
  readonly comparesPrices?: boolean;
  /** Called each time a book has acted, with the account and the largest `aheadMs` of the simulated exchanges. */
  readonly onTurn?: (account: ReplayAccount, aheadMs: number) => void;
};

/** Results and mean sizes of the inventories, in the order of the books. */
export type SeveralBooksResult = { readonly books: readonly ReplayResult[]; readonly skews: readonly SkewSizes[] };

type BookReplay = { readonly replay: TapeReplay; readonly market: ReplayMarket; isOver: boolean };

/**
 * Runs the replay. Events are in order of time; at equal times, the events of an earlier book come first. With one
 * book, the result equals that of `TapeReplay`.
 */
export function runSeveralBooks(options: SeveralBooksReplayOptions): SeveralBooksResult {
  const { books, engine, from, to, balances, privatePerMinute, exchangeLimits, onTurn } = options;
  const shared = { balances, privatePerMinute, ...(exchangeLimits && { exchangeLimits }), from, to };
  const account = new ReplayAccount(options, books, engine, from);
  const members = books.map((book): BookReplay => {
    const market = new ReplayMarket(book.rows);
    const replay = new TapeReplay({ ...book, ...shared, engine: () => account.engine }, market, account);
    return { replay, market, isOver: false };
  });
  const shares = new JointShares(account.engine.books, from, to);
  for (const member of members) member.isOver = !member.replay.aim();
  for (let next = readToNext(members); next !== null; next = readToNext(members)) {
    if (!next.replay.exchange.act()) continue;
    const now = next.replay.exchange.reached;
    if (options.comparesPrices === true && next.replay.decidesBy(now))
      for (const { replay } of members) if (replay !== next.replay) replay.showNewest(now);
    next.replay.turn(now);
    for (const member of members)
      if (member === next) member.isOver = !member.replay.aim();
      else if (!member.isOver) member.replay.wake();
    shares.advanceTo(account.now);
    onTurn?.(account, Math.max(...members.map(({ replay }) => replay.exchange.aheadMs)));
  }
  const results = members.map(({ replay }) => replay.result());
  assertBalances(options, account, members);
  return { books: results, skews: shares.end() };
}

/**
 * Reads the rows of all markets up to the next event, in order of time, and returns the member with this event.
 * An execution can cause an earlier event in any book, so no market is read beyond the next row of another market.
 */
function readToNext(members: readonly BookReplay[]): BookReplay | null {
  for (let next = nextOf(members); ;) {
    let first: ReplayMarket | null = null;
    let [firstAt, secondAt] = [Infinity, Infinity];
    for (const { market, isOver } of members) {
      if (isOver) continue;
      const at = market.there.nextAt;
      if (at < firstAt) [first, firstAt, secondAt] = [market, at, firstAt];
      else if (at < secondAt) secondAt = at;
    }
    const dueAt = next?.replay.exchange.dueAt ?? -Infinity;
    if (first === null || firstAt > dueAt) return next;
    if (first.there.readTo(Math.min(secondAt, dueAt))) next = nextOf(members);
  }
}

/** Returns the member with the earliest event; `null` if all are over. At equal times, the stop comes last. */
function nextOf(members: readonly BookReplay[]): BookReplay | null {
  let first: BookReplay | null = null;
  for (const member of members) {
    if (member.isOver) continue;
    const { exchange, isStopNext } = member.replay;
    const at = first?.replay.exchange.dueAt ?? Infinity;
    if (exchange.dueAt < at || (exchange.dueAt === at && !isStopNext && first?.replay.isStopNext === true))
      first = member;
  }
  return first;
}

/**
 * Throws unless the balances of exchange and bot, which are computed from the same fills, are equal in each currency.
 */
function assertBalances(
  { books, balances }: SeveralBooksReplayOptions,
  account: ReplayAccount,
  members: readonly BookReplay[],
): void {
  const gained = new Map<string, bigint>();
  const add = (currency: string, sum: bigint): void => void gained.set(currency, (gained.get(currency) ?? 0n) + sum);
  books.forEach(({ instrument }, i) => {
    const { major, minor } = members[i]!.replay.moved;
    add(instrument.major, major);
    add(instrument.minor, minor);
  });
  for (const [currency, sum] of gained) {
    const booked = account.gained(currency, moneyOf(balances[currency] ?? '0'));
    if (booked !== sum)
      throw new Error(
        `the accounts differ at the end of the replay: the exchange gained ${sum} ${currency}, the bot ${booked}`,
      );
  }
}
