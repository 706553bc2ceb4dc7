/** Reads of the exchange as engine events: each says when it started, and whether it saw everything. */
import { amountFloor, describeRow, OrderBook, pairOrNull, priceFloor } from '../../core/index.ts';
import type {
  Amount,
  Balance,
  EngineEvent,
  Exchange,
  Instrument,
  Millis,
  OwnTrade,
  Price,
  UnreadableRow,
} from '../../core/index.ts';
import type { Failed } from '../failed.ts';
import {
  failedBy,
  isAboutCurrency,
  isOwnOrder,
  strangeFee,
  unreadableOf,
  withoutContradictions,
} from '../unreadableRows.ts';
import type { RowJudgment } from '../unreadableRows.ts';
import { damagedBook, writeLevels } from '../../marketdata/index.ts';

const TRADES_PAGES_MAX = 50;

/** Every unreadable row of the book is possibly of the bot. */
const NO_JUDGMENT: RowJudgment = { instance: '', onLeftOut: () => undefined };

type EventOf<K extends EngineEvent['kind']> = Extract<EngineEvent, { kind: K }>;

export class Reads {
  #balancesAt: Millis = -Infinity;
  readonly #exchange: Exchange;
  readonly #time: () => Millis;
  readonly #book: string;
  readonly #overlapMs: Millis;
  /** Own trades up to here are never read again. */
  #marker: string | undefined;
  #newest: string | undefined;
  /** Trades after the marker that were taken, oldest first, with when each was first seen. */
  #recent: { readonly tid: string; readonly at: Millis }[] = [];
  #sequence = -1n;
  #tradesTurn: Promise<unknown> = Promise.resolve();
  readonly #judgment: RowJudgment;
  /** Currencies of the book; empty if its name does not have them. */
  readonly #currencies: readonly string[];
  /** Other currencies of which a trade could not be read: their balances cannot equal the ledger. */
  readonly #uncounted: Set<string>;

  /**
   * Reads one book; own trades after `lastTid`, of which `tids`, in order, are taken already. `time` is the engine's. Trades of the last `overlapMs` are read again and again, because
   * the record of an older one may come after that of a newer one; who takes them tells repeats by their id.
   */
  constructor(
    exchange: Exchange,
    book: string,
    lastTid: string | undefined,
    time: () => Millis,
    overlapMs: Millis = 0,
    tids: readonly string[] = [],
    judgment: RowJudgment = NO_JUDGMENT,
    uncounted: readonly string[] = [],
  ) {
    this.#uncounted = new Set(uncounted);
    this.#judgment = judgment;
    this.#currencies = pairOrNull(book) ?? [];
    this.#exchange = exchange;
    this.#book = book;
    this.#marker = lastTid;
    this.#newest = tids[tids.length - 1] ?? lastTid;
    this.#time = time;
    this.#overlapMs = overlapMs;
    this.#recent = tids.map(tid => ({ tid, at: time() }));
  }

  /** Currencies of the book; empty if its name does not have them. */
  get currencies(): readonly string[] {
    return this.#currencies;
  }

  /** Newest own trade that was taken. */
  get newest(): string | undefined {
    return this.#newest;
  }

  /** Where a later run goes on: everything up to here was taken, and of what came after, exactly `tids`. */
  get taken(): { readonly marker: string | undefined; readonly tids: readonly string[] } {
    return { marker: this.#marker, tids: this.#recent.map(({ tid }) => tid) };
  }

  /** Currencies whose balances a later run must not compare either. */
  get uncounted(): readonly string[] {
    return [...this.#uncounted];
  }

  /** To be called once the trades of an event are in the ledger, in the same breath. */
  take({ trades, complete, startedAt }: EventOf<'trades'>): void {
    const now = this.#time();
    const known = new Set(this.#recent.map(({ tid }) => tid));
    for (const { tid } of trades) if (!known.has(tid)) this.#recent.push({ tid, at: now });
    this.#recent.sort((a, b) => (BigInt(a.tid) < BigInt(b.tid) ? -1 : 1));
    this.#newest = this.#recent[this.#recent.length - 1]?.tid ?? this.#newest;
    // A read that did not come to the end tells of late records only up to its last trade, and of that perhaps one of two records.
    const end = complete ? null : BigInt(trades[trades.length - 1]?.tid ?? 0);
    // Counted from the start of the read: a late record may have been written behind a page that it had passed.
    const isOpen = ({ tid, at }: { readonly tid: string; readonly at: Millis }): boolean =>
      startedAt - at < this.#overlapMs || (end !== null && BigInt(tid) >= end);
    const open = this.#recent.findIndex(isOpen);
    const settled = open < 0 ? this.#recent.length : open;
    if (settled === 0) return;
    this.#marker = this.#recent[settled - 1]!.tid;
    this.#recent = this.#recent.slice(settled);
  }

  async openOrders(): Promise<EventOf<'open orders'> | Failed> {
    const startedAt = this.#time();
    const { ordersPage } = this.#exchange.limits;
    const outcome = await this.#exchange.openOrders({ book: this.#book, limit: ordersPage });
    if (outcome.kind !== 'done') return outcome;
    const { value: orders, unreadable } = withoutContradictions(outcome, this.#judgment);
    const isPageWhole = orders.length + unreadable.length < ordersPage;
    let isWhole = isPageWhole;
    for (const row of unreadable) {
      const concern = isOwnOrder(row, { book: this.#book, ...this.#judgment });
      if (concern === 'yes') return failedBy('open_orders', row);
      if (concern === 'possibly') isWhole = false;
      const then =
        concern === 'no'
          ? 'counted as an order of another program'
          : 'it may be an order of the bot, so no order counts as gone';
      this.#leaveOut('open_orders', row, then);
    }
    const current = isPageWhole && !isWhole ? { current: true } : {};
    return { kind: 'open orders', at: this.#time(), startedAt, complete: isWhole, ...current, orders };
  }

  #leaveOut(list: string, row: UnreadableRow, then: string): void {
    this.#judgment.onLeftOut(`${list}: ${describeRow(row)}; ${then}`);
  }

  /**
   * Every trade of the account after the marker, page after page, oldest first whatever the order of the pages. One read at a time:
   * each goes on where the one before it ended.
   */
  trades(): Promise<EventOf<'trades'> | Failed> {
    const turn = this.#tradesTurn.then(() => this.#tradesNow());
    this.#tradesTurn = turn.catch(() => undefined);
    return turn;
  }

  async #tradesNow(): Promise<EventOf<'trades'> | Failed> {
    const startedAt = this.#time();
    const { tradesPage } = this.#exchange.limits;
    const trades: OwnTrade[] = [];
    let cursor = this.#marker;
    let complete = false;
    for (let page = 0; page < TRADES_PAGES_MAX && !complete; page++) {
      const outcome = await this.#exchange.userTrades({
        sort: 'asc',
        limit: tradesPage,
        ...(cursor === undefined ? {} : { marker: cursor }),
      });
      if (outcome.kind !== 'done') {
        if (page === 0) return outcome;
        break;
      }
      const found = withoutContradictions(outcome, this.#judgment);
      const strange = found.value.map(trade => strangeFee(trade, this.#judgment));
      const value = found.value.filter((_, n) => strange[n] === null);
      const unreadable = [...found.unreadable, ...strange.filter(row => row !== null)];
      const own = unreadable.find(
        row => isAboutCurrency(row, this.#currencies) !== 'no' || this.#currencies.length === 0,
      );
      if (own) {
        if (page === 0) return failedBy('user_trades', own);
        break;
      }
      for (const row of unreadable) this.#countNot(row);
      const sorted = [...value].sort((a, b) => (BigInt(a.tid) < BigInt(b.tid) ? -1 : 1));
      trades.push(...sorted);
      complete = sorted.length + unreadable.length < tradesPage;
      const last = sorted[sorted.length - 1]?.tid;
      // A full page may end between the two records of a trade of the account with itself: its last trade is read again.
      const before = complete ? undefined : sorted.findLast(({ tid }) => tid !== last)?.tid;
      cursor = before ?? last ?? cursor;
    }
    return { kind: 'trades', at: this.#time(), startedAt, complete, trades };
  }

  #countNot(row: UnreadableRow): void {
    for (const currency of row.currencies ?? pairOrNull(row.book ?? '') ?? []) this.#uncounted.add(currency);
    this.#leaveOut('user_trades', row, 'the balances of its currencies are no longer compared with the ledger');
  }

  /** When the last read of the balances that was answered began. */
  get balancesAt(): Millis {
    return this.#balancesAt;
  }

  /** The answer of a balance read; `quiet` is for the caller to say. */
  async balances(): Promise<Omit<EventOf<'balances'>, 'quiet'> | Failed> {
    const startedAt = this.#time();
    const outcome = await this.#exchange.balances();
    if (outcome.kind !== 'done') return outcome;
    const balances = outcome.value.filter(({ currency }) => !this.#uncounted.has(currency));
    const held = this.#currencies.filter(currency => this.#judgment.isZero?.(currency) !== true);
    const failed = missingBalance(outcome.value, unreadableOf(outcome), held);
    if (failed) return failed;
    for (const row of unreadableOf(outcome)) this.#leaveOut('balance', row, 'not a currency of the book');
    this.#balancesAt = startedAt;
    return { kind: 'balances', at: this.#time(), startedAt, balances };
  }

  /** Null when the reply is older than what was read before; refused when a price in it cannot be used. */
  async book(instrument: Instrument): Promise<EventOf<'book'> | Failed | null> {
    const startedAt = this.#time();
    const outcome = await this.#exchange.orderBook(this.#book, true);
    if (outcome.kind !== 'done') return outcome;
    const snapshot = outcome.value;
    if (snapshot.sequence < this.#sequence) return null;
    const book = new OrderBook();
    const unfit = writeLevels(snapshot, instrument, book);
    if (unfit !== null) return damagedBook(unfit);
    this.#sequence = snapshot.sequence;
    return { kind: 'book', at: this.#time(), startedAt, book };
  }

  async publicTrade(instrument: Instrument): Promise<EventOf<'public trade'> | Failed | null> {
    const outcome = await this.#exchange.trades(this.#book, { limit: 1 });
    if (outcome.kind !== 'done') return outcome;
    const trade = outcome.value[0];
    const price = trade && priceOrNull(instrument, trade.price);
    return price ? { kind: 'public trade', at: this.#time(), price } : null;
  }
}

/** Why a reading of the balances is none: a currency of the book is missing in it, or cannot be read. `null` if all are there. */
export function missingBalance(
  balances: readonly Balance[],
  unreadable: readonly UnreadableRow[],
  currencies: readonly string[],
): Failed | null {
  for (const currency of currencies) {
    if (balances.some(one => one.currency === currency)) continue;
    const row = unreadable.find(one => isAboutCurrency(one, [currency]) !== 'no');
    if (row) return failedBy('balance', row);
    return { kind: 'unknown', reason: `balance: expected a row of ${currency}, found none` };
  }
  return null;
}

/** Ticks, rounded down; null for a price past every tick that can be counted, and for text that is not decimal. */
export const priceOrNull = (instrument: Instrument, text: string): Price | null =>
  countable(() => priceFloor(instrument, text));
/** Lots, rounded down; null for an amount past every lot that can be counted, and for text that is not decimal. */
export const amountOrNull = (instrument: Instrument, text: string): Amount | null =>
  countable(() => amountFloor(instrument, text));

function countable<T>(count: () => T): T | null {
  try {
    return count();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
