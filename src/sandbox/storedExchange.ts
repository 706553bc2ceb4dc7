/**
 * Embedded exchange with one account that continues after a restart or a kill: every change is stored before an answer
 * reports the change. See docs/adr/0053.
 */
import {
  haveSameGrid,
  instrumentOf,
  moneyOf,
  pairOf,
  randomOf,
  TransportFailure,
  type Clock,
  type Instrument,
  type Millis,
} from '../core/index.ts';
import type { DeskLoad } from './desks/deskCapacity.ts';
import { DESK_CONVERSIONS_MAX, type DeskConversion } from './desks/rfq.ts';
import { CONVERSIONS_MAX, type VenueConversion } from './desks/conversions.ts';
import { createVenue, type EmbeddedExchange, type ExchangeOptions, type ExchangeWatcher } from './exchange.ts';
import type { Respond } from './http/rest.ts';
import type { FollowedMarket } from './markets/followed.ts';
import { restored, rowKind, storedValue, UnrestorableAccount } from './restoredRows.ts';
import { StoredBook, wallOf, type Units } from './storedBook.ts';
import { Account, type AccountHoldings } from './venue/accounts.ts';
import { isActive, type VenueOrder } from './venue/order.ts';
import { OWN_TRADES_MAX, type OwnTradeRecord } from './venue/ownTrades.ts';
import { storedText, valueOfStored } from './venue/storedText.ts';
import { TRANSFERS_MAX, type Transfer } from './venue/transfers.ts';
import type { VenueNumbers } from './venue/venue.ts';
import type { BookNumbers } from './venue/venueBook.ts';

/** Change of one row: its new text, or `null` to delete the row. */
export type RowChange = { readonly key: string; readonly text: string | null };

/** Rows of text by key. */
export interface RowStore {
  /** Returns all rows in ascending order of the keys. */
  read(): readonly { readonly key: string; readonly text: string }[];
  /**
   * Writes all changes or none. With `isDurable`, the changes survive a power cut when the call returns; otherwise they
   * survive the end of the process. Throws if the disk does not accept the changes.
   */
  write(changes: readonly RowChange[], isDurable: boolean): void;
}

/** Market and bot for which an account was opened. `book`: first book of the bot, to which the account is bound. */
export type AccountPurpose = { readonly follows: string; readonly book: string; readonly instance: string };

export type StoredExchangeOptions = Omit<ExchangeOptions, 'watcher' | 'orderIds' | 'seed'> & {
  readonly seed: number;
  readonly store: RowStore;
  readonly purpose: AccountPurpose;
  /** Books of the bot after the first, whose markets are also followed; default: none. */
  readonly otherBooks?: readonly string[];
  /** Balances of a new account: decimal text by currency. */
  readonly balances: Readonly<Record<string, string>>;
  /** Volume that is added to the traded volume: decimal text by quote group. */
  readonly volume30d: Readonly<Record<string, string>>;
  /**
   * Last start of the account that the ledger of the bot knows: number (`opens`) and id (`start`) of this start. Older
   * ledgers lack the id. `null` or absent without a ledger.
   */
  readonly ledger?: { readonly opens: number; readonly start?: string } | null;
  /** Called when the store rejects changes for the first time since the last successful write. */
  readonly onUnwritten: (error: unknown) => void;
  /** Called when the store accepts changes again. */
  readonly onWritten: () => void;
};

/** Error for an account of another market or bot. */
export class OtherStoredAccount extends Error {}

/** Error for an account that a newer version of Puntas wrote. */
export class NewerStoredAccount extends Error {}

type Identity = AccountPurpose & {
  readonly version: number;
  readonly balances: Readonly<Record<string, string>>;
  readonly key: string;
  readonly secret: string;
  readonly id: string;
  readonly openedAt: Millis;
  /** Salt of the order ids. */
  readonly salt: number;
  /** Number of processes that have used the account. */
  readonly opens: number;
  /** Ids of the last starts, the newest last; absent in accounts of earlier versions. */
  readonly starts?: readonly string[];
  /** All books that the account has had, the first book first; absent if it has had only one. */
  readonly books?: readonly string[];
};

type Sums = readonly (readonly [currency: string, sum: bigint])[];
type StoredAccount = AccountHoldings & { readonly fees: Sums; readonly gain: Sums; readonly deposited: Sums };
/** `tick`: unit of the last price. */
type StoredBookNumbers = { readonly book: BookNumbers; readonly tick: string };
type Numbers = VenueNumbers & StoredBookNumbers & { readonly ends: number };
type StoredOrder = Omit<VenueOrder, 'instrument' | 'account' | 'engineId'> &
  Units & { readonly isResting: boolean; readonly end: number };
type StoredTrade = Omit<OwnTradeRecord, 'order' | 'readableAt'> &
  Units & {
    readonly oid: string;
    /** Book of the trade; absent for the first book. */
    readonly book?: string;
    readonly originId?: string;
    readonly marginOrderType?: 'CROSS_MARGIN';
    readonly side: 'buy' | 'sell';
    readonly readable: Millis;
  };
type StoredTransfer = Omit<Transfer, 'listedAt'> & { readonly listed: Millis };
/** Format of an account that has had only one book, and of one that has had several. */
const VERSION = { oneBook: 1, severalBooks: 2 } as const;
/** Maximum number of stored ids of starts. */
const STARTS_MAX = 100;
const OWNER = 1;
/** Step of the seed from process to process, so that no process repeats the random ids of an earlier process. */
const SEED_STEP = 7_919;
/** Kinds of rows that a power cut may lose. An older queue position is then restored, which is further back. */
const VOLATILE: ReadonlySet<string> = new Set(['numbers', 'queues', 'seen']);
/** Maximum number of rows by the first part of their keys. The oldest rows are deleted first. */
const KEPT_MAX: ReadonlyMap<string, number> = new Map([
  ['trade', OWN_TRADES_MAX],
  ['transfer', TRANSFERS_MAX],
  ['conversion', CONVERSIONS_MAX],
  ['rfq', DESK_CONVERSIONS_MAX],
]);

export class StoredExchange {
  readonly box: EmbeddedExchange;
  readonly account: { readonly id: string; readonly key: string; readonly secret: string };
  /** Opening balances of the account: decimal text by currency. */
  readonly openedWith: Readonly<Record<string, string>>;
  readonly openedAt: Millis;
  /** Balances that this start has added to an earlier account, for currencies of new books: decimal text by currency. */
  readonly addedBalances: Readonly<Record<string, string>>;
  /** Whether an earlier process has opened the account. */
  readonly isContinued: boolean;
  /** Number of processes that have used the account, including this process. */
  readonly opens: number;
  /** Id of this start. The starts of two copies of the state have different ids. */
  readonly start: string;
  readonly #store: RowStore;
  readonly #clock: Clock;
  /** First book of the bot. */
  readonly #first: StoredBook;
  /** Followed books by symbol. */
  readonly #books: ReadonlyMap<string, StoredBook>;
  readonly #account: Account;
  readonly #onUnwritten: (error: unknown) => void;
  readonly #onWritten: () => void;
  /** Whether a request is being answered; its changes are stored together. */
  #isAnswering = false;
  #isUnwritten = false;
  /** Last written text of the rows that are compared before they are written again. */
  readonly #texts = new Map<string, string>();
  readonly #serials = new Map<string, number>();
  readonly #ends = new WeakMap<VenueOrder, number>();
  #ended = 0;
  /** Keys of the stored rows that `KEPT_MAX` limits, the oldest first. */
  readonly #kept = new Map([...KEPT_MAX.keys()].map(name => [name, new Set<string>()]));
  readonly #orders = new Set<VenueOrder>();
  readonly #forgotten = new Set<string>();
  readonly #conversions = new Set<VenueConversion>();
  readonly #traded = new Set<DeskConversion>();
  #lastTid = 0;
  #lastTransfer = '';
  /** Oids of the orders that rested in the earlier process and are not in the book yet. */
  readonly #waiting = new Set<string>();

  /**
   * Opens the stored account, or a new account if the store is empty.
   * @throws OtherStoredAccount, NewerStoredAccount or UnrestorableAccount, with one line; errors of the store
   * unchanged.
   */
  constructor(options: StoredExchangeOptions) {
    const { store, clock, seed, purpose, otherBooks = [], balances, volume30d } = options;
    this.#store = store;
    this.#clock = clock;
    this.#onUnwritten = options.onUnwritten;
    this.#onWritten = options.onWritten;
    const rows = store.read();
    const known = new Map(rows.map(({ key, text }) => [key, text]));
    const identity = restored(() => identityIn(known));
    if (identity) assertFits(identity, purpose);
    // The check comes before the number of this process is stored, so that the next start is refused too.
    if (identity) assertFitsLedger(identity, options.ledger ?? null);
    const opens = (identity?.opens ?? 0) + 1;
    this.opens = opens;
    // The id has the time, because two starts can have the same seed.
    this.start = `${clock.now()}-${randomOf(seed ^ 0x5a).integer(0, 2 ** 31 - 1)}`;
    const salt = identity?.salt ?? randomOf(seed ^ 0x0d).integer(0, 2 ** 31 - 1);
    this.box = createVenue({
      ...options,
      seed: seed + SEED_STEP * opens,
      orderIds: { salt },
      watcher: this.#watcher(),
    });
    const { venue } = this.box;
    this.isContinued = identity !== null;
    this.openedAt = identity?.openedAt ?? clock.now();
    if (identity) {
      const volume = new Map(Object.entries(volume30d).map(([group, text]) => [group, moneyOf(text)]));
      this.#account = new Account(identity.id, OWNER, identity.openedAt, volume);
      this.account = { id: identity.id, key: identity.key, secret: identity.secret };
    } else {
      this.account = this.box.openAccount({ balances, volume30d });
      this.#account = venue.accounts.get(this.account.id)!;
    }
    const followed = [purpose.book, ...otherBooks];
    const added = identity === null ? {} : newBalances(identity.balances, balances, followed);
    this.openedWith = identity === null ? balances : { ...identity.balances, ...added };
    this.addedBalances = added;
    const host = {
      ...{ clock, venue, isContinued: this.isContinued, waiting: this.#waiting },
      active: () => this.#account.active,
      store: () => void this.#stored(),
    };
    this.#books = new Map(
      followed.map((symbol, i) => [
        symbol,
        new StoredBook(host, venue.books.get(symbol)!, known, i === 0 ? '' : `/${symbol}`),
      ]),
    );
    this.#first = this.#books.get(purpose.book)!;
    if (identity) restored(() => this.#restore(rows, known));
    for (const [currency, text] of Object.entries(added))
      venue.deposit(this.#account, currency, moneyOf(text), 'funding', 0);
    const { openedAt } = this;
    const books = [...new Set([...(identity?.books ?? [purpose.book]), ...followed])];
    const version = books.length === 1 ? VERSION.oneBook : VERSION.severalBooks;
    const now: Identity = {
      ...{ version, ...purpose, balances: this.openedWith, ...this.account, openedAt, salt, opens },
      starts: [...(identity?.starts ?? []), this.start].slice(-STARTS_MAX),
      ...(books.length === 1 ? {} : { books }),
    };
    this.#commit([{ key: 'identity', text: storedText(now) }, ...this.#unfollowedRows(known)]);
  }

  /** Number of orders that are live or on their way to the matching engine. */
  get liveOrders(): number {
    return this.#account.active.size;
  }

  /** Answers a request after its changes are stored. Throws a TransportFailure if they cannot be stored. */
  readonly respond: Respond = (request, peer) => {
    this.#isAnswering = true;
    let reply;
    try {
      reply = this.box.respond(request, peer);
    } finally {
      this.#isAnswering = false;
    }
    if (!this.#stored()) throw new TransportFailure('the paper account cannot be written to disk', true);
    return reply;
  };

  /**
   * Connects the market of a followed book, by default of the first; it then continues with the stored orders and queue
   * positions. Returns a receiver for the followed market data, which also stores the resulting changes. `freshAt`
   * returns the elapsed time at which the followed market was last current, or `-Infinity` before its first book; by
   * default it is always current.
   * @throws UnrestorableAccount if the stored orders cannot be entered in the book.
   */
  follow(market: FollowedMarket, freshAt: () => Millis = () => this.#clock.elapsed(), symbol?: string) {
    const followed = symbol === undefined ? this.#first : this.#books.get(symbol)!;
    followed.follow(market, freshAt);
    return {
      mark: () => market.mark(),
      trade: (...[taker, price, lots, context]: Parameters<FollowedMarket['trade']>) => {
        market.trade(taker, price, lots, context);
        this.#stored();
      },
      clear: (reach?: Parameters<FollowedMarket['clear']>[0]) => market.clear(reach),
      set: (...level: Parameters<FollowedMarket['set']>) => market.set(...level),
      flush: () => {
        market.flush();
        this.#stored();
      },
    };
  }

  /** Stops all timers. The store stays as the last change left it. */
  close(): void {
    for (const book of this.#books.values()) book.close();
    this.box.close();
  }

  #watcher(): ExchangeWatcher {
    return {
      ordered: order => {
        if (!this.#serials.has(order.oid)) this.#serials.set(order.oid, this.box.venue.numbers.orders);
        if (order.finishedAt !== null) this.#ends.set(order, ++this.#ended);
        this.#orders.add(order);
      },
      forgotten: order => {
        this.#orders.delete(order);
        this.#forgotten.add(this.#orderKey(order));
        this.#serials.delete(order.oid);
      },
      converted: conversion => void this.#conversions.add(conversion),
      traded: conversion => void this.#traded.add(conversion),
      executed: () => void this.#stored(),
    };
  }

  /** Stores all changes. Returns false if the store does not accept them; the next call tries again. */
  #stored(): boolean {
    if (this.#isAnswering) return true;
    try {
      this.#commit([]);
      if (this.#isUnwritten) this.#onWritten();
      this.#isUnwritten = false;
      return true;
    } catch (error) {
      if (!this.#isUnwritten) this.#onUnwritten(error);
      this.#isUnwritten = true;
      return false;
    }
  }

  #commit(first: readonly RowChange[]): void {
    const { venue } = this.box;
    const now: [key: string, text: string][] = [];
    const put = (key: string, value: unknown) => {
      const text = storedText(value);
      if (this.#texts.get(key) !== text) now.push([key, text]);
    };
    put('account', {
      ...this.#account.holdings,
      fees: [...venue.feesTaken],
      gain: [...venue.simulatorNetGain],
      deposited: [...venue.deposited],
    } satisfies StoredAccount);
    for (const book of this.#books.values()) {
      put(`commands${book.suffix}`, book.commands());
      if (book.seenAt !== null) put(`seen${book.suffix}`, book.seenAt);
    }
    put('capacity', this.box.rfq.loads());
    for (const { book, queues, suffix } of this.#books.values()) {
      const numbers: StoredBookNumbers = { book: book.numbers, tick: book.instrument.tick };
      if (suffix !== '') put(`numbers${suffix}`, numbers);
      else
        put('numbers', {
          ...venue.numbers,
          book: numbers.book,
          ends: this.#ended,
          tick: numbers.tick,
        } satisfies Numbers);
      if (queues !== null) put(`queues${suffix}`, queues);
    }
    const orders = new Set([...this.#orders, ...this.#account.active.values()]);
    for (const order of orders) put(this.#orderKey(order), this.#storedOrder(order));
    const [tid, transfer] = [this.#lastTid, this.#lastTransfer];
    this.#account.trades.each('asc', tid, trade => {
      // In a trade of the account with itself, the maker's side is first.
      const rank = trade.order.side === trade.makerSide ? 0 : 1;
      now.push([`trade/${padded(trade.tid)}/${rank}`, storedText(this.#storedTrade(trade))]);
      return true;
    });
    for (const { listedAt, ...of } of this.#account.transfers.list())
      if (of.id > transfer) now.push([`transfer/${of.id}`, storedText({ ...of, listed: this.#wall(listedAt) })]);
    for (const { quote, ...of } of this.#conversions) {
      const { account: _, ...terms } = quote;
      now.push([`conversion/${padded(Number(of.id))}`, storedText({ ...of, quote: terms })]);
    }
    for (const { account: _own, quote, ...of } of this.#traded) {
      const { account: _, pair, ...terms } = quote;
      // A conversion never uses the path of its rate again.
      const { cross: _path, ...ends } = pair;
      now.push([`rfq/${padded(of.number)}`, storedText({ ...of, quote: { ...terms, pair: ends } })]);
    }
    for (const [key] of now) this.#kept.get(rowKind(key))?.add(key);
    const gone = [...this.#forgotten, ...this.#excess()];
    const changes = [...first, ...now.map(([key, text]) => ({ key, text })), ...gone.map(key => ({ key, text: null }))];
    if (changes.length === 0) return;
    this.#store.write(
      changes,
      changes.some(({ key }) => !VOLATILE.has(rowKind(key))),
    );
    for (const [key, text] of now) if (!WRITTEN_ONCE.test(key)) this.#texts.set(key, text);
    for (const order of orders) if (!isActive(order)) this.#texts.delete(this.#orderKey(order));
    for (const key of gone) this.#kept.get(rowKind(key))?.delete(key);
    for (const book of this.#books.values()) book.committed();
    this.#lastTid = this.#account.trades.newest()?.tid ?? tid;
    this.#lastTransfer = this.#account.transfers.list().at(-1)?.id ?? transfer;
    for (const done of [this.#orders, this.#forgotten, this.#conversions, this.#traded]) done.clear();
  }

  /** Returns the keys of the oldest rows beyond the numbers in `KEPT_MAX`. */
  #excess(): readonly string[] {
    return [...this.#kept].flatMap(([name, keys]) => {
      const excess: string[] = [];
      for (const key of keys) {
        if (keys.size - excess.length <= KEPT_MAX.get(name)!) break;
        excess.push(key);
      }
      return excess;
    });
  }

  #restore(rows: ReturnType<RowStore['read']>, known: ReadonlyMap<string, string>): void {
    const { venue, conversions, rfq } = this.box;
    const account = this.#account;
    for (const { key } of rows) this.#kept.get(rowKind(key))?.add(key);
    const { fees, gain, deposited, ...holdings } = storedValue<StoredAccount>(known, 'account')!;
    account.hold(holdings);
    for (const [kept, sums] of [
      [venue.feesTaken, fees],
      [venue.simulatorNetGain, gain],
      [venue.deposited, deposited],
    ] as const)
      for (const [currency, sum] of sums) kept.set(currency, sum);
    const orders = valuesUnder<StoredOrder>(rows, 'order/').map(([key, stored]) => this.#orderOf(key, stored));
    const ended = orders.filter(order => !isActive(order));
    venue.restore({
      ...{ ...this.account, account },
      active: orders.filter(isActive),
      finished: ended.sort((a, b) => (this.#ends.get(a) ?? 0) - (this.#ends.get(b) ?? 0)),
    });
    this.#restoreTrades(valuesUnder<StoredTrade>(rows, 'trade/'));
    this.#restoreTransfers(valuesUnder<StoredTransfer>(rows, 'transfer/'));
    conversions.restore(
      valuesUnder<VenueConversion>(rows, 'conversion/').map(([, of]) => ({ ...of, quote: { ...of.quote, account } })),
    );
    rfq.restore(
      valuesUnder<DeskConversion>(rows, 'rfq/').map(([, of]) => ({ ...of, account, quote: { ...of.quote, account } })),
    );
    rfq.restoreLoads(storedValue<readonly DeskLoad[]>(known, 'capacity') ?? []);
    const numbers = storedValue<Numbers>(known, 'numbers')!;
    this.#ended = Math.max(numbers.ends, ...orders.map(order => this.#ends.get(order) ?? 0));
    // The numbers may be older than the orders and trades, which are written durably.
    venue.resume({
      tid: Math.max(numbers.tid, this.#lastTid + 1),
      orders: Math.max(numbers.orders, ...this.#serials.values()),
    });
    this.#first.resume(numbers.book, numbers.tick);
    for (const book of this.#books.values()) {
      const own = book === this.#first ? null : storedValue<StoredBookNumbers>(known, `numbers${book.suffix}`);
      if (own !== null) book.resume(own.book, own.tick);
    }
    this.#cancelUnkept();
    venue.forget(account);
  }

  #restoreTrades(trades: readonly (readonly [string, StoredTrade])[]): void {
    const kept = trades.slice(-OWN_TRADES_MAX);
    const { tradeRecordDelayMs } = this.box.venue.switches;
    for (const [, { oid, book, originId, marginOrderType, side, readable, tick, lot, ...of }] of kept) {
      const instrument = this.#instrumentIn(book ?? this.#first.book.rules.book, { tick, lot });
      const order = { oid, originId, marginOrderType, side, instrument, book: instrument.symbol };
      this.#account.trades.add({ ...of, order, readableAt: this.#elapsedAt(readable, tradeRecordDelayMs) });
    }
    this.#lastTid = kept.at(-1)?.[1].tid ?? 0;
  }

  #restoreTransfers(transfers: readonly (readonly [string, StoredTransfer])[]): void {
    const { transferListDelayMs } = this.box.venue.switches;
    const kept = transfers
      .slice(-TRANSFERS_MAX)
      .map(([, { listed, ...of }]) => ({ ...of, listedAt: this.#elapsedAt(listed, transferListDelayMs) }));
    this.#account.transfers.restore(kept);
    this.#lastTransfer = kept.at(-1)?.id ?? '';
  }

  /**
   * Cancels live orders in books that the bot no longer has, and in units that their book no longer has; a real exchange
   * would not keep their prices.
   */
  #cancelUnkept(): void {
    for (const order of [...this.#account.active.values()]) {
      const kept = this.#books.get(order.book)?.book.instrument;
      if (kept !== undefined && haveSameGrid(order.instrument, kept)) continue;
      this.#waiting.delete(order.oid);
      this.box.venue.finish(order, 'cancelled');
    }
  }

  /**
   * Returns the deletions of stored queue positions, commands and times of books that are not followed: a later process
   * that follows such a book again must not continue with them.
   */
  #unfollowedRows(known: ReadonlyMap<string, string>): readonly RowChange[] {
    return [...known.keys()]
      .filter(key => OF_FOLLOWED.test(key) && !this.#books.has(key.slice(key.indexOf('/') + 1)))
      .map(key => ({ key, text: null }));
  }

  #orderKey({ oid }: Pick<VenueOrder, 'oid'>): string {
    return `order/${padded(this.#serials.get(oid)!)}`;
  }

  #storedOrder(order: VenueOrder): StoredOrder {
    const { instrument, account: _, engineId, ...of } = order;
    const { tick, lot } = instrument;
    const isStop = this.#books.get(order.book)?.book.stops.includes(order) === true;
    const isResting = engineId > 0 || this.#waiting.has(order.oid) || isStop;
    return { ...of, tick, lot, isResting, end: this.#ends.get(order) ?? 0 };
  }

  #orderOf(key: string, stored: StoredOrder): VenueOrder {
    const { tick, lot, isResting, end, ...of } = stored;
    const order: VenueOrder = {
      ...of,
      instrument: this.#instrumentIn(of.book, { tick, lot }),
      account: this.#account,
      engineId: 0,
    };
    this.#serials.set(order.oid, Number(key.slice('order/'.length)));
    if (isActive(order) && isResting) this.#waiting.add(order.oid);
    if (!isActive(order)) this.#ends.set(order, end);
    return order;
  }

  #storedTrade({ order, readableAt, ...of }: OwnTradeRecord): StoredTrade {
    const { oid, originId, marginOrderType, side, instrument } = order;
    return {
      ...{ ...of, oid, side, tick: instrument.tick, lot: instrument.lot, readable: this.#wall(readableAt) },
      ...(instrument.symbol === this.#first.book.rules.book ? {} : { book: instrument.symbol }),
      ...(originId === undefined ? {} : { originId }),
      ...(marginOrderType === undefined ? {} : { marginOrderType }),
    };
  }

  /**
   * Returns the instrument of a book in the units of an earlier process, which may differ from the current units. Also
   * of a book that the exchange no longer lists.
   */
  #instrumentIn(symbol: string, units: Units): Instrument {
    const { tick, lot } = units;
    const book = this.box.venue.books.get(symbol);
    if (book === undefined)
      return instrumentOf({ ...this.#first.book.rules, book: symbol, ...UNLISTED, tickSize: tick }, lot);
    const { instrument, rules } = book;
    if (haveSameGrid(instrument, units)) return instrument;
    return instrumentOf({ ...rules, tickSize: tick }, lot);
  }

  #wall(elapsed: Millis): Millis {
    return wallOf(this.#clock, elapsed);
  }

  /** Converts wall-clock time into elapsed time of this process, at most `delayMax` from now. */
  #elapsedAt(wall: Millis, delayMax: Millis): Millis {
    return this.#clock.elapsed() + Math.min(delayMax, wall - this.#clock.now());
  }
}

/**
 * Matches the keys of rows that are written only if they are new or changed, so that their texts need not be compared.
 */
const WRITTEN_ONCE = /^(?:trade|transfer|conversion|rfq)\//;

/** Matches the keys of rows of a book after the first that only a followed book has. */
const OF_FOLLOWED = /^(?:commands|seen|queues)\//;

/** Limits of a book that the exchange no longer lists, in which no order is accepted. */
const UNLISTED = {
  ...{ minimumAmount: '0', maximumAmount: '0', minimumPrice: '0', maximumPrice: '0' },
  ...{ minimumValue: '0', maximumValue: '0' },
} as const;

const padded = (n: number): string => String(n).padStart(16, '0');

/** Returns the identity of a stored account; `null` if the store is empty. */
function identityIn(rows: ReadonlyMap<string, string>): Identity | null {
  if (rows.size === 0) return null;
  const identity = storedValue<Identity>(rows, 'identity');
  if (identity === null) throw new Error('the row identity is missing');
  return identity;
}

/** Returns all books that a stored account has had; empty if there is no account, or if it cannot be read. */
export function booksOfRows(rows: readonly { readonly key: string; readonly text: string }[]): readonly string[] {
  try {
    const identity = identityIn(new Map(rows.map(({ key, text }) => [key, text])));
    return identity === null ? [] : (identity.books ?? [identity.book]);
  } catch {
    return [];
  }
}

/** Returns the market and bot of stored rows; `null` if there are none, or if they cannot be read. */
export function purposeOfRows(rows: readonly { readonly key: string; readonly text: string }[]): AccountPurpose | null {
  try {
    const identity = identityIn(new Map(rows.map(({ key, text }) => [key, text])));
    return identity && { follows: identity.follows, book: identity.book, instance: identity.instance };
  } catch {
    return null;
  }
}

/** Returns the values of all rows whose keys start with `prefix`, in the order of the keys. */
const valuesUnder = <T>(rows: ReturnType<RowStore['read']>, prefix: string): (readonly [key: string, value: T])[] =>
  rows.flatMap(({ key, text }) => (key.startsWith(prefix) ? [[key, valueOfStored(text) as T] as const] : []));

function assertFits(known: Identity, purpose: AccountPurpose): void {
  if (known.version > VERSION.severalBooks)
    throw new NewerStoredAccount(
      `a newer version of Puntas wrote it (format ${known.version}, expected ${VERSION.severalBooks}); update Puntas`,
    );
  const difference = otherPurpose(known, purpose);
  if (difference !== null) throw new OtherStoredAccount(difference);
}

/** Throws if the ledger of the bot knows a later start of the account, or a start in another copy of the state. */
function assertFitsLedger({ opens, starts = [] }: Identity, ledger: StoredExchangeOptions['ledger']): void {
  if (!ledger) return;
  if (opens < ledger.opens)
    throw new UnrestorableAccount(
      'the file of the account is older than the ledger of its bot, or is that of another account',
    );
  const start = starts[starts.length - 1 - (opens - ledger.opens)];
  if (start !== undefined && ledger.start !== undefined && start !== ledger.start)
    throw new UnrestorableAccount(
      'the file of the account and the ledger of its bot come from two copies of the state directory',
    );
}

/** Returns the opening balances for currencies of the given books that an earlier account was opened without. */
function newBalances(
  known: Readonly<Record<string, string>>,
  balances: Readonly<Record<string, string>>,
  books: readonly string[],
): Readonly<Record<string, string>> {
  const currencies = [...new Set(books.flatMap(pairOf))];
  return Object.fromEntries(
    currencies.flatMap(currency => {
      const text = balances[currency];
      return text === undefined || known[currency] !== undefined ? [] : [[currency, text] as const];
    }),
  );
}

/** Returns why an account does not belong to this bot on this market; otherwise `null`. */
export const otherPurpose = (known: AccountPurpose, purpose: AccountPurpose): string | null =>
  known.follows === purpose.follows && known.book === purpose.book && known.instance === purpose.instance
    ? null
    : `it belongs to ${purposeText(known)}, but this bot is ${purposeText(purpose)}`;

const purposeText = ({ follows, book, instance }: AccountPurpose): string => `${instance} on ${book} of ${follows}`;
