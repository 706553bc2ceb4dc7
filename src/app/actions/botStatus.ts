/**
 * `puntas status`: process state, quotes, holdings, profit, use of limits, and active stops of a bot, from its state
 * directory only.
 */
import {
  pairOf,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Clock,
  type Instrument,
  type LimitUse,
  type Millis,
  type Money,
  type Order,
  type Side,
  type Snapshot,
} from '../../core/index.ts';
import type { ShownElsewhere } from '../../console/index.ts';
import { diskProblem } from '../../live/files/diskRoom.ts';
import type { DiskTrouble } from '../../live/files/diskTrouble.ts';
import { ordersSeenIn, type OrdersSeen } from '../../live/safety/ordersSeen.ts';
import { actionsIn, type ActionEntry } from './actionJournal.ts';
import { requireStateFolder, UsageError } from '../../wiring/usageError.ts';
import { frozenText, goneText, holdersOf, lifeOf, type BotLife, type HeldBy } from '../inspect/botLife.ts';
import { elsewhereNow, whyNotQuoted } from '../inspect/elsewhereNow.ts';
import type { ReplayedMoment } from '../inspect/explain.ts';
import { lastMoment, printedProfit, profitAt, profitsOfOthers } from '../inspect/profitNow.ts';
import { partsText, type PrintedProfit, type PrintedProfitParts } from '../../messages/shownProfit.ts';
import { ledgerFileIn, type LedgerFile } from '../../live/state/ledgerFile.ts';

/** Status as `--json` prints it (docs/json.md). Prices and sums are exact decimal text. */
export type BotStatus = {
  /** Time at which the status was requested. */
  readonly at: Millis;
  /** End of the latest recording; `null` without a recording. */
  readonly recordedTo: Millis | null;
  readonly bot: BotLife;
  /** Number of open orders, with its source and its time. */
  readonly openOrders: OpenOrders;
  /** Disk problem that prevents writes to the state; `null` if there is no problem, or if unknown. */
  readonly disk: DiskTrouble | null;
  /** Active stops (such as halt, pause, hold, reduce-only); empty if there are none. */
  readonly heldBy: readonly HeldBy[];
  /**
   * Profit since the opening of the ledger, and profit of the last run, as in `puntas report`, the console and the
   * metrics. `null` if no profit was stored, or if trades of the account could not be read.
   */
  readonly profit: PrintedProfit | null;
  /** Profit of each further book, also of books that the bot no longer quotes, as `profit`; absent with one book. */
  readonly otherProfits?: readonly { readonly book: string; readonly profit: PrintedProfit | null }[];
  readonly run: RunStatus | null;
  /** Status of each further book of the run, in order; absent if the run has one book. */
  readonly otherBooks?: readonly RunStatus[];
  /** Last entry of `actions.jsonl`; `null` if there is none. */
  readonly lastAction: ActionEntry | null;
  /** Note on why the figures may be unreliable; `null` if there is none. */
  readonly note: string | null;
};

/** Number of open orders; `null` if unknown. `by` is the source of the number; `bot` means the bot's own data. */
export type OpenOrders = {
  readonly count: number | null;
  readonly at: Millis | null;
  readonly by: 'bot' | OrdersSeen['by'] | null;
};

export type RunStatus = {
  readonly number: number;
  readonly since: Millis;
  readonly book: string;
  readonly instance: string;
  readonly regime: { readonly regime: string; readonly since: Millis | null; readonly why: string };
  /** Reason why at least one side has no quotes; `null` if both sides have quotes. */
  readonly whyNot: string | null;
  /** Live quotes, best first; `null` if unknown, because the bot sends no heartbeat. */
  readonly bids: readonly StatusQuote[] | null;
  readonly asks: readonly StatusQuote[] | null;
  /** State at the time when the recording ends. */
  readonly recorded: {
    readonly regime: string;
    readonly bids: readonly StatusQuote[];
    readonly asks: readonly StatusQuote[];
    /**
     * Inventory from the trades that the bot had read by the end of the recording. `holdings` and `fills` are from
     * these trades too.
     */
    readonly inventory: string;
    readonly holdings: Readonly<Record<string, string>>;
    readonly fills: number;
  };
  /** Reason for a `null` in `inventory.fromTarget`, `holdings`, `fills` or `profit`; `null` if all are known. */
  readonly unknown: string | null;
  /** Best bid and ask of other traders; `null` on an empty side. */
  readonly market: { readonly bid: string | null; readonly ask: string | null };
  readonly inventory: { readonly currency: string; readonly fromTarget: string | null };
  readonly holdings: Readonly<Record<string, string>> | null;
  readonly limits: readonly StatusLimit[];
  /** Prices and hedges on other exchanges at the end of the recording; `null` if the configuration has neither. */
  readonly elsewhere: ShownElsewhere | null;
  /** One sentence for each exchange where orders have the smallest size, at the end of the recording. */
  readonly smallestSizes: readonly string[];
  readonly fills: number | null;
  /** Profit since the start of the run, in the quote currency. */
  readonly profit: (PrintedProfitParts & { readonly currency: string }) | null;
};

export type StatusQuote = { readonly price: string; readonly amount: string };
/** Use of a limit. `share` is the used amount divided by the maximum; at 1 or more, the limit is reached. */
export type StatusLimit = {
  readonly limit: string;
  readonly currency: string | null;
  readonly max: string;
  readonly used: string;
  readonly share: number;
};

/**
 * Reads the status of a bot; `onInput` receives the time of each replayed input.
 * @throws UsageError if there is no state.
 */
export async function botStatus(dir: string, clock: Clock, onInput?: (at: Millis) => void): Promise<BotStatus> {
  requireStateFolder(dir);
  const at = clock.now();
  const moment = lastMoment(dir, onInput);
  const file = await ledgerFileIn(dir, clock).catch(() => null);
  const others = profitsOfOthers(moment, file).map(({ book, profit }) => ({
    book,
    profit: printedProfit(profit, pairOf(book)[1]),
  }));
  return {
    ...statusAt(dir, at, moment, profitOf(file, moment)),
    ...(others.length === 0 ? {} : { otherProfits: others }),
  };
}

/** Returns the profit of a book of the status; `null` if it is unknown. */
export const profitOfBook = ({ run, profit, otherProfits = [] }: BotStatus, book: string): BotStatus['profit'] =>
  run === null || run.book === book ? profit : (otherProfits.find(each => each.book === book)?.profit ?? null);

/** Replayed state from which a status is made. */
export type StatusMoment = Omit<ReplayedMoment, 'rules' | 'books'> & {
  readonly rules: Pick<ReplayedMoment['rules'], 'instrument'>;
  readonly books: readonly Pick<StatusMoment, 'rules' | 'setup'>[];
};

/** Returns the status at a time, given the replayed state at the end of the recording and the latest known profit. */
export function statusAt(
  dir: string,
  at: Millis,
  moment: StatusMoment | UsageError | null,
  profit: PrintedProfit | null,
): BotStatus {
  const replayed = moment instanceof UsageError ? null : moment;
  const bot = lifeOf(dir, at);
  const recorded = replayed?.books.map((_, i) => runOf(replayed, i)) ?? [];
  const openOrders = openOrdersOf(dir, bot, at, recorded, replayed?.seen.at ?? null);
  const [run = null, ...otherBooks] = recorded.map(one =>
    bot.state === 'silent' ? whileSilent(one, openOrders) : one,
  );
  return {
    at,
    recordedTo: replayed?.seen.at ?? null,
    bot,
    openOrders,
    disk: diskProblem(dir),
    heldBy: holdersOf(dir, at),
    profit,
    run,
    ...(otherBooks.length === 0 ? {} : { otherBooks }),
    lastAction: actionsIn(dir).at(-1) ?? null,
    note:
      moment instanceof UsageError
        ? moment.message
        : (replayed?.difference ?? replayed?.note ?? frozenText(dir, at, ranFileOf(replayed)) ?? goneText(dir, at)),
  };
}

/** Returns the names of the strategy files that ran, each once; `null` if none did. */
function ranFileOf(moment: StatusMoment | null): string | null {
  const files = (moment?.books ?? []).flatMap(({ setup: { strategy } }) => ('file' in strategy ? [strategy.name] : []));
  return files.length === 0 ? null : [...new Set(files)].join(' or ');
}

/**
 * Returns the newest evidence of open orders. While the bot runs and after a normal stop, the evidence is the bot's own
 * data. Otherwise, the evidence is a read by another process after the bot's last heartbeat, if there was such a read.
 */
function openOrdersOf(
  dir: string,
  { state, beatAgoMs }: BotLife,
  now: Millis,
  books: readonly RunStatus[],
  recordedTo: Millis | null,
): OpenOrders {
  const beatAt = beatAgoMs === null ? null : now - beatAgoMs;
  const seen = ordersSeenIn(dir);
  if (state === 'runs' && books.length > 0) {
    const count = books.reduce((sum, { recorded: { bids, asks } }) => sum + bids.length + asks.length, 0);
    return { count, at: recordedTo, by: 'bot' };
  }
  if (state === 'stopped') return { count: 0, at: beatAt, by: 'bot' };
  // An observation before the last heartbeat is outdated, because the bot may have sent orders after that observation.
  if (state === 'silent' && seen !== null && beatAt !== null && seen.at >= beatAt)
    return { count: seen.count, at: seen.at, by: seen.by };
  return { count: null, at: null, by: null };
}

/**
 * Returns the run status without current quotes. Without a heartbeat, the quotes are unknown unless another process has
 * checked them. Inventory, fills and profit are unknown too, because trades after the last record were not read.
 */
function whileSilent(run: RunStatus, { count }: OpenOrders): RunStatus {
  const quotes = count === 0 ? [] : null;
  const why = `the bot sends no heartbeat; its last recorded regime is ${run.recorded.regime}`;
  return {
    ...run,
    ...{ regime: { regime: 'unknown', since: null, why }, whyNot: why, bids: quotes, asks: quotes },
    ...{ inventory: { ...run.inventory, fromTarget: null }, holdings: null, fills: null, profit: null },
    // Prices and hedges are shown as of the end of the recording, but values that describe the present are unknown.
    elsewhere: run.elsewhere && {
      ...run.elsewhere,
      hedging: run.elsewhere.hedging && {
        ...run.elsewhere.hedging,
        ...{ whyNotQuoted: why, drift: null, driftValue: null },
        inventory: run.elsewhere.hedging.inventory.map(each => ({ ...each, base: null, quote: null })),
      },
    },
    unknown: run.unknown ?? 'the bot sends no heartbeat, and trades after the end of its recording were not read',
  };
}

/**
 * Returns the latest known profit. `file`: `null` if the state file is unreadable, because the other parts of the
 * status must still be shown.
 */
function profitOf(file: LedgerFile | null, moment: ReturnType<typeof lastMoment>): PrintedProfit | null {
  const profit = profitAt(moment, file);
  const book = file?.book ?? (moment === null || moment instanceof UsageError ? null : moment.setup.book);
  return printedProfit(profit, book === null ? '' : pairOf(book)[1]);
}

/** Returns the status of one book of the run. `i`: index of the book in the run. */
function runOf({ engine, seen, books, run, startedAt }: StatusMoment, i: number): RunStatus {
  const { setup, rules } = books[i]!;
  const { instrument } = rules;
  const book = engine.books[i]!;
  const at = seen.at ?? startedAt;
  const shown = book.snapshot(at);
  const { regime, since, why } = shown.regime;
  const price = (of: Snapshot['bid']) => (of > 0 ? textOfPrice(instrument, of) : null);
  const { trades, holdings, unknown } = shown.known;
  const [bids, asks] = [quotesOf('buy', shown.orders, instrument), quotesOf('sell', shown.orders, instrument)];
  return {
    ...{ number: run, since: startedAt, book: instrument.symbol, instance: setup.instance },
    regime: { regime, since: Number.isFinite(since) ? since : null, why },
    whyNot: whyNotQuoted(shown),
    ...{ bids, asks },
    recorded: {
      ...{ regime, bids, asks },
      inventory: textOfMoney(shown.booked.inventory),
      holdings: sumsText(shown.booked.holdings),
      fills: shown.booked.fills,
    },
    unknown,
    market: { bid: price(shown.bid), ask: price(shown.ask) },
    inventory: { currency: instrument.major, fromTarget: trades && textOfMoney(trades.inventory) },
    holdings: holdings && sumsText(holdings),
    limits: book.limitUses(at).map(limitOf),
    // A run with `elsewhere` has only one book.
    elsewhere: i === 0 ? elsewhereNow(shown, seen.elsewhere, seen.hedges, instrument) : null,
    smallestSizes: i === 0 ? shown.smallestSizes : [],
    fills: trades && trades.fills,
    profit: trades && { currency: instrument.minor, ...partsText(trades.profit) },
  };
}

const sumsText = (sums: ReadonlyMap<string, Money>): Readonly<Record<string, string>> =>
  Object.fromEntries([...sums].map(([name, sum]) => [name, textOfMoney(sum)]));

const quotesOf = (side: Side, orders: readonly Order[], instrument: Instrument): readonly StatusQuote[] =>
  orders
    .filter(order => order.side === side && (order.state === 'open' || order.state === 'partially filled'))
    .toSorted((a, b) => (side === 'buy' ? b.price - a.price : a.price - b.price))
    .map(({ price, amount, filled }) => ({
      price: textOfPrice(instrument, price),
      amount: textOfAmount(instrument, (amount - filled) as typeof amount),
    }));

function limitOf(use: LimitUse): StatusLimit {
  const { limit } = use;
  if (use.currency === null) {
    const { used, max } = use;
    return { limit, currency: null, max: String(max), used: String(Number(used.toFixed(2))), share: used / max };
  }
  const { currency, used, max } = use;
  // The share is displayed with a precision of 1/10,000.
  const share = max > 0n ? Number((used * 10_000n) / max) / 10_000 : used > 0n ? Infinity : 0;
  return { limit, currency, max: textOfMoney(max), used: textOfMoney(used), share };
}
