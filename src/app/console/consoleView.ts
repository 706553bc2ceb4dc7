/**
 * Console view of a run at one point in time: the data of `puntas explain`, the book with the bot's orders, and data
 * outside the recording.
 */
import {
  amount,
  approximately,
  bidOrAsk,
  moneyOfAmount,
  price,
  remaining,
  sumOfCauses,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type LimitUse,
  type Millis,
  type Money,
  type Order,
  type Side,
  type Snapshot,
} from '../../core/index.ts';
import type {
  ConsoleView,
  DepthRow,
  ShownBot,
  ShownBudgets,
  ShownEvent,
  ShownLedger,
  ShownLimit,
  ShownOrder,
} from '../../console/index.ts';
import type { LedgerFile } from '../../live/state/ledgerFile.ts';
import { shownProfit } from '../../messages/shownProfit.ts';
import { timeText } from '../../messages/timeText.ts';
import { elsewhereNow } from '../inspect/elsewhereNow.ts';
import { explanationOf } from '../inspect/explain.ts';
import { profitByTime } from './history/journalProfit.ts';
import { replayedBook, type BookOfReplay, type RunReplay } from './runReplay.ts';

/** Maximum number of other traders' prices per side; the bot's own prices are always included. */
const DEPTH_ROWS = 14;
const FILLS = 40;
const EVENTS = 80;
const HOURS = 48;

/** Data from outside the recording of the run. */
export type OutsideRun = Pick<ConsoleView, 'kind' | 'bot' | 'runs' | 'catchingUp'> & {
  readonly budgets: ShownBudgets | null;
  readonly ledger: LedgerFile | null;
  /** Events outside the recording, oldest first. */
  readonly events: readonly ShownEvent[];
  readonly note: string | null;
};

/**
 * Returns the console view of one book of a run; without a symbol of the first. `null` before the run has read the
 * rules of its books, and if it does not have the book.
 */
export function consoleView(replay: RunReplay, beside: OutsideRun, symbol?: string): ConsoleView | null {
  const { ended } = replay;
  const now = replay.now && replayedBook(replay.now, symbol);
  const at = now?.seen.at ?? null;
  if (replay.now === null || now === null || at === null) return null;
  const { book, setup, seen, history } = now;
  const { instrument } = history;
  const snapshot = history.across(book.snapshot(at));
  const { trades, unknown } = snapshot.known;
  const { since: openedAt } = snapshot.booked.sinceOpening;
  const told = explanationOf(now, seen, instrument, setup);
  const since = (of: number): number | null => (Number.isFinite(of) ? of : null);
  const { kind, bot, runs, catchingUp, budgets, ledger } = beside;
  const names = { book: setup.book, major: instrument.major, minor: instrument.minor };
  const { hours, days } = profitByTime(ledger?.entries ?? [], names, at, [
    ...(ledger === null ? [] : ledgerOfBook(ledger, setup.book).hours),
    ...history.hourEnds,
    snapshot.booked.sinceOpening,
  ]);
  const symbols = replay.now.books.map(each => each.book.symbol);
  return {
    ...names,
    ...(symbols.length === 1 ? {} : { books: symbols }),
    ...{ kind, at, run: replay.run, bot, runs, catchingUp, budgets },
    strategy: setup.strategy.name,
    instance: setup.instance,
    decision: {
      ...told,
      regime: { ...told.regime, since: since(told.regime.since) },
      changes: told.changes.slice(-8).map(change => ({ ...change, since: since(change.since) })),
      difference: ended?.difference ?? null,
      note: noteOf(replay, beside),
    },
    elsewhere: elsewhereNow(snapshot, seen.elsewhere, seen.hedges, instrument),
    depth: depthRowsOf(now, at),
    orders: ordersOf(now, snapshot, at),
    limits: book.limitUses(at).map(shownLimit),
    unknown,
    profit: trades && shownProfit(trades.sinceOpening, trades.runProfit, instrument.minor),
    ledgerSince: openedAt === null ? null : timeText(openedAt),
    position: trades && textOfMoney(trades.inventory),
    fills: { count: trades && trades.fills, last: history.fills(FILLS), markouts: history.markouts },
    uptime: snapshot.uptime,
    counts: (['buy', 'sell'] as const).map(side => ({ side: bidOrAsk(side), counts: snapshot.counts[side] })),
    ledger: ledger === null || kind === 'past' ? null : ledgerOf(ledger),
    hours: hours.slice(-HOURS),
    days: days.slice(-HOURS),
    events: eventsOf(now, beside, at),
    point: history.point(at),
  };
}

/** Returns a note on why the shown figures may be unreliable; `null` if there is none. */
export function noteOf({ ended }: RunReplay, { note }: Pick<OutsideRun, 'note'>): string | null {
  if (ended?.gap) return 'the recording ends early because the disk was full; the page shows the last recorded state';
  if (ended?.broke) return `the engine failed in this run: ${ended.broke}`;
  return note;
}

/**
 * Returns events, newest first. Actions on a stopped bot are later than its recording, so only the live view shows
 * them.
 */
const eventsOf = ({ history }: BookOfReplay, { events, kind }: OutsideRun, at: Millis): readonly ShownEvent[] =>
  [...events.filter(event => kind === 'live' || event.at <= at), ...history.events]
    .sort((a, b) => b.at - a.at)
    .slice(0, EVENTS);

const mayShow = ({ state }: Order): boolean => state !== 'closed-unsettled' && state !== 'done';

/** Returns rows of the book, best first: the best prices of other traders, and all prices of the bot. */
function depthRowsOf({ book, history: { instrument } }: BookOfReplay, at: Millis): ConsoleView['depth'] {
  const { depth, orders } = book.riskContext(at);
  const rows = (side: Side): readonly DepthRow[] => {
    const [prices, amounts, count] =
      side === 'buy'
        ? [depth.bidPrices, depth.bidAmounts, depth.bids]
        : [depth.askPrices, depth.askAmounts, depth.asks];
    const others = new Map<number, number>();
    for (let i = 0; i < count; i++) others.set(prices[i]!, amounts[i]!);
    const ours = new Map<number, number>();
    for (const order of orders.filter(one => one.side === side && mayShow(one)))
      ours.set(order.price, (ours.get(order.price) ?? 0) + remaining(order));
    const best = [...others.keys()].slice(0, DEPTH_ROWS);
    const all = [...new Set([...best, ...ours.keys()])].sort((a, b) => (side === 'buy' ? b - a : a - b));
    const text = (lots: number) => textOfAmount(instrument, amount(lots));
    return all.map(ticks => {
      const own = ours.get(ticks);
      return {
        price: textOfPrice(instrument, price(ticks)),
        others: text(others.get(ticks) ?? 0),
        ours: own === undefined ? null : text(own),
      };
    });
  };
  return { bids: rows('buy'), asks: rows('sell') };
}

/**
 * Returns the bot's orders in the order of a book: asks from the highest price down, then bids from the best price
 * down.
 */
function ordersOf({ history }: BookOfReplay, { orders }: Snapshot, at: Millis): readonly ShownOrder[] {
  const { instrument } = history;
  const text = (lots: number) => textOfAmount(instrument, amount(lots));
  return orders
    .filter(mayShow)
    .sort((a, b) => b.price - a.price)
    .map(order => {
      const ahead = history.ahead(order);
      return {
        id: order.id,
        side: bidOrAsk(order.side),
        price: textOfPrice(instrument, order.price),
        amount: text(order.amount),
        filled: text(order.filled),
        state: order.state,
        ageMs: at - order.placedAt,
        ahead: ahead === null ? null : shortSum(moneyOfAmount(instrument, amount(ahead))),
      };
    });
}

/** Returns the use of a limit as text. */
export function shownLimit({ limit, currency, max, used }: LimitUse): ShownLimit {
  const number = (of: Money | number) => (typeof of === 'bigint' ? approximately(of) : of);
  const text = (of: Money | number) => (typeof of === 'bigint' ? textOfMoney(of) : String(Math.round(of * 100) / 100));
  return { limit, currency, max: text(max), used: text(used), share: number(max) > 0 ? number(used) / number(max) : 0 };
}

/** Returns the stored figures of one book of a ledger. The fields of the file itself are those of the first book. */
export function ledgerOfBook(ledger: LedgerFile, symbol: string): Pick<LedgerFile, 'profit' | 'hours'> {
  const { profit, hours } =
    ledger.book === null || ledger.book === symbol
      ? ledger
      : (ledger.otherBooks?.find(({ book }) => book === symbol) ?? { profit: null, hours: [] });
  return { profit, hours };
}

/** Returns the symbols of all books of a ledger. */
export const symbolsInLedger = ({ book, otherBooks = [] }: LedgerFile): readonly string[] => [
  ...(book === null ? [] : [book]),
  ...otherBooks.map(({ book }) => book),
];

const shortSum = (sum: Money): string => String(Number(approximately(sum).toPrecision(4)));

const ledgerOf = ({ causes, checked }: LedgerFile): ShownLedger => ({
  checkedAt: checked?.at ?? null,
  rows: [...causes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, row]) => {
      const sum = (of: ReadonlyMap<string, Money> | undefined) => of && textOfMoney(of.get(currency) ?? (0n as Money));
      return {
        currency,
        balance: textOfMoney(sumOfCauses(row)),
        exchange: sum(checked?.reported) ?? null,
        difference: sum(checked?.differences) ?? null,
        causes: Object.entries(row)
          .filter(([, of]) => of !== 0n)
          .map(([cause, of]) => ({ cause, sum: textOfMoney(of) })),
      };
    }),
});

/** Returns the bot's process state for a past view, without heartbeat times and stops. */
export const botOfPast = (state: ShownBot['state']): ShownBot => ({
  state,
  beatAgoMs: null,
  writtenAgoMs: null,
  halts: [],
});
