/**
 * Reads from the exchange. The result of each read is an engine event with the start time of the read. If a read can be
 * incomplete, its event states whether the read was complete.
 */
import {
  amountFloor,
  byTradeNumber,
  describeRow,
  nullIfOutOfRange,
  OrderBook,
  pairOrNull,
  priceFloor,
  type Amount,
  type Balance,
  type EngineEvent,
  type Exchange,
  type Instrument,
  type Millis,
  type OwnTrade,
  type Price,
  type UnreadableRow,
} from '../../core/index.ts';
import type { Failed } from '../failedRequest.ts';
import {
  failedBy,
  isAboutCurrency,
  isOwnOrder,
  strangeFee,
  unreadableOf,
  withoutContradictions,
  type RowJudgment,
} from '../unreadableRows.ts';
import { damagedBook, writeLevels } from '../../marketdata/index.ts';

const TRADES_PAGES_MAX = 50;

/** Judgment without data about the bot: every unreadable row of the book may concern the bot. */
const NO_JUDGMENT: RowJudgment = { instance: '', onLeftOut: () => undefined };

type EventOf<K extends EngineEvent['kind']> = Extract<EngineEvent, { kind: K }>;

export class Reads {
  #balancesAt: Millis = -Infinity;
  readonly #exchange: Exchange;
  readonly #time: () => Millis;
  readonly #book: string;
  /** All books of the bot; the first is `#book`. */
  readonly #books: readonly string[];
  readonly #overlapMs: Millis;
  /** Id of the newest trade up to which the ledger contains every trade. Reads start after this trade. */
  #marker: string | undefined;
  #newest: string | undefined;
  /** Trades in the ledger that are newer than the marker, oldest first, each with the time of its first read. */
  #recent: { readonly tid: string; readonly at: Millis }[] = [];
  #sequence = -1n;
  #tradesTurn: Promise<unknown> = Promise.resolve();
  readonly #judgment: RowJudgment;
  /** Currencies of the book; empty if its name does not contain them. */
  readonly #currencies: readonly string[];
  /** Currencies of other books with an unreadable trade; their balances cannot equal the ledger. */
  readonly #uncounted: Set<string>;

  /**
   * Creates the reads of one book and of the account's trades newer than `lastTid`. The trades in `tids` (in order) are
   * newer than `lastTid` and already in the ledger. `time` returns the engine's time. Trades of the last `overlapMs`
   * are read repeatedly, because an older trade may be recorded after a newer one. The receiver detects repeats by
   * trade id. `others` are further books of the bot, whose open orders and currencies are read too.
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
    others: readonly string[] = [],
  ) {
    this.#uncounted = new Set(uncounted);
    this.#judgment = judgment;
    this.#books = [book, ...others];
    this.#currencies = [...new Set(this.#books.flatMap(one => pairOrNull(one) ?? []))];
    this.#exchange = exchange;
    this.#book = book;
    this.#marker = lastTid;
    this.#newest = tids[tids.length - 1] ?? lastTid;
    this.#time = time;
    this.#overlapMs = overlapMs;
    this.#recent = tids.map(tid => ({ tid, at: time() }));
  }

  /** Returns the currencies of the book; empty if its name does not contain them. */
  get currencies(): readonly string[] {
    return this.#currencies;
  }

  /** Returns the id of the account's newest trade in the ledger. */
  get newest(): string | undefined {
    return this.#newest;
  }

  /**
   * Returns the position from which a later run continues. The ledger contains all trades up to `marker`, and the newer
   * trades in `tids`.
   */
  get taken(): { readonly marker: string | undefined; readonly tids: readonly string[] } {
    return { marker: this.#marker, tids: this.#recent.map(({ tid }) => tid) };
  }

  /** Returns the currencies whose balances a later run must not compare with the ledger. */
  get uncounted(): readonly string[] {
    return [...this.#uncounted];
  }

  /**
   * Records that the ledger contains the trades of an event. Must be called in the synchronous step that adds these
   * trades to the ledger.
   */
  take({ trades, complete, startedAt }: EventOf<'trades'>): void {
    const now = this.#time();
    const known = new Set(this.#recent.map(({ tid }) => tid));
    for (const { tid } of trades) if (!known.has(tid)) this.#recent.push({ tid, at: now });
    this.#recent.sort(byTradeNumber);
    this.#newest = this.#recent[this.#recent.length - 1]?.tid ?? this.#newest;
    // After an incomplete read, the marker stays before the last trade that was read. Records of this trade or of older
    // trades may still arrive.
    const end = complete ? null : BigInt(trades[trades.length - 1]?.tid ?? 0);
    // The age counts from the start of the read, because a late record may belong on a page that was read before it
    // appeared.
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
    // One request for the account serves all books.
    const hasOneBook = this.#books.length === 1;
    const of = hasOneBook ? { book: this.#book, limit: ordersPage } : { limit: ordersPage };
    const outcome = await this.#exchange.openOrders(of);
    if (outcome.kind !== 'done') return outcome;
    const { value: listed, unreadable } = withoutContradictions(outcome, this.#judgment);
    const isPageWhole = listed.length + unreadable.length < ordersPage;
    const orders = hasOneBook ? listed : listed.filter(({ book }) => this.#books.includes(book));
    let isWhole = isPageWhole;
    for (const row of unreadable) {
      const concern = isOwnOrder(row, { book: this.#book, others: this.#books, ...this.#judgment });
      if (concern === 'yes') return failedBy('open_orders', row);
      if (concern === 'possibly') isWhole = false;
      const then =
        concern === 'no'
          ? 'the row is treated as an order of another program'
          : 'the row may be an order of the bot, so no order is considered ended';
      this.#leaveOut('open_orders', row, then);
    }
    const current = isPageWhole && !isWhole ? { current: true } : {};
    return { kind: 'open orders', at: this.#time(), startedAt, complete: isWhole, ...current, orders };
  }

  #leaveOut(list: string, row: UnreadableRow, then: string): void {
    this.#judgment.onLeftOut(`${list}: ${describeRow(row)}; ${then}`);
  }

  /**
   * Reads every trade of the account newer than the marker, page by page, and sorts them oldest first. Only one read
   * runs at a time, because each continues where the previous one ended.
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
      const sorted = [...value].sort(byTradeNumber);
      trades.push(...sorted);
      complete = sorted.length + unreadable.length < tradesPage;
      const last = sorted[sorted.length - 1]?.tid;
      // A full page may end between the two records of a self-trade, so its last trade is read again.
      const before = complete ? undefined : sorted.findLast(({ tid }) => tid !== last)?.tid;
      cursor = before ?? last ?? cursor;
    }
    return { kind: 'trades', at: this.#time(), startedAt, complete, trades };
  }

  #countNot(row: UnreadableRow): void {
    for (const currency of row.currencies ?? pairOrNull(row.book ?? '') ?? []) this.#uncounted.add(currency);
    this.#leaveOut(
      'user_trades',
      row,
      'the balances of the currencies of this trade are no longer compared with the ledger',
    );
  }

  /** Returns the start time of the last answered read of the balances. */
  get balancesAt(): Millis {
    return this.#balancesAt;
  }

  /**
   * Reads the balances. `also` holds the currencies of the ledger, which need a row even if nothing is left of them. The
   * caller adds `quiet` to the event.
   */
  async balances(also: readonly string[] = []): Promise<Omit<EventOf<'balances'>, 'quiet'> | Failed> {
    const startedAt = this.#time();
    const outcome = await this.#exchange.balances({ also });
    if (outcome.kind !== 'done') return outcome;
    const balances = outcome.value.filter(({ currency }) => !this.#uncounted.has(currency));
    const held = this.#currencies.filter(currency => this.#judgment.isZero?.(currency) !== true);
    const failed = missingBalance(outcome.value, unreadableOf(outcome), held);
    if (failed) return failed;
    for (const row of unreadableOf(outcome))
      this.#leaveOut('balance', row, 'the row is ignored, because its currency is not in the book');
    this.#balancesAt = startedAt;
    return { kind: 'balances', at: this.#time(), startedAt, balances };
  }

  /**
   * Reads the book of `instrument`. Resolves to `null` if the reply is older than an earlier reply, and to a failure if the reply
   * contains an unusable price.
   */
  async book(instrument: Instrument): Promise<EventOf<'book'> | Failed | null> {
    const startedAt = this.#time();
    const outcome = await this.#exchange.orderBook(instrument.symbol, true);
    if (outcome.kind !== 'done') return outcome;
    const snapshot = outcome.value;
    if (snapshot.sequence < this.#sequence) return null;
    const book = new OrderBook();
    const unfit = writeLevels(snapshot, instrument, book);
    if (unfit !== null) return damagedBook(unfit);
    this.#sequence = snapshot.sequence;
    return { kind: 'book', at: this.#time(), startedAt, book };
  }

  /** Reads the last public trade of the book of `instrument`; `null` if there is none with a usable price. */
  async publicTrade(instrument: Instrument): Promise<EventOf<'public trade'> | Failed | null> {
    const outcome = await this.#exchange.trades(instrument.symbol, { limit: 1 });
    if (outcome.kind !== 'done') return outcome;
    const trade = outcome.value[0];
    const price = trade && priceOrNull(instrument, trade.price);
    return price ? { kind: 'public trade', at: this.#time(), price } : null;
  }
}

/** Returns a failure if the row of a currency of the book is missing or unreadable; otherwise `null`. */
export function missingBalance(
  balances: readonly Balance[],
  unreadable: readonly UnreadableRow[],
  currencies: readonly string[],
): Failed | null {
  for (const currency of currencies) {
    if (balances.some(one => one.currency === currency)) continue;
    const row = unreadable.find(one => isAboutCurrency(one, [currency]) !== 'no');
    if (row) return failedBy('balance', row);
    return { kind: 'unknown', reason: `balance: expected a row for ${currency}, found none` };
  }
  return null;
}

/**
 * Returns the price in ticks, rounded down; `null` if the text is not decimal or exceeds the largest countable tick.
 */
export const priceOrNull = (instrument: Instrument, text: string): Price | null =>
  nullIfOutOfRange(() => priceFloor(instrument, text));
/**
 * Returns the amount in lots, rounded down; `null` if the text is not decimal or exceeds the largest countable number
 * of lots.
 */
export const amountOrNull = (instrument: Instrument, text: string): Amount | null =>
  nullIfOutOfRange(() => amountFloor(instrument, text));
