/**
 * Embedded exchange with one account that continues after a restart or a kill: every change is stored before an answer
 * reports the change. See docs/adr/0053.
 */
import {
  instrumentOf,
  moneyOf,
  randomOf,
  textOfError,
  TransportFailure,
  type Clock,
  type Instrument,
  type Millis,
  type Timer,
} from '../core/index.ts';
import type { DeskLoad } from './desks/deskCapacity.ts';
import { DESK_CONVERSIONS_MAX, type DeskConversion } from './desks/rfq.ts';
import { CONVERSIONS_MAX, type VenueConversion } from './desks/conversions.ts';
import { createVenue, type EmbeddedExchange, type ExchangeOptions, type ExchangeWatcher } from './exchange.ts';
import type { Respond } from './http/rest.ts';
import type { FollowedMarket, StoredQueues } from './markets/followed.ts';
import { remainingDelay } from './matching/remainingDelay.ts';
import { Account, type AccountHoldings } from './venue/accounts.ts';
import type { Modification } from './venue/modification.ts';
import { isActive, isWaiting, type VenueOrder } from './venue/order.ts';
import { OWN_TRADES_MAX, type OwnTradeRecord } from './venue/ownTrades.ts';
import { storedText, valueOfStored } from './venue/storedText.ts';
import { TRANSFERS_MAX, type Transfer } from './venue/transfers.ts';
import type { VenueNumbers } from './venue/venue.ts';
import type { BookCommand, BookNumbers, VenueBook } from './venue/venueBook.ts';

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

/** Market and bot for which an account was opened. */
export type AccountPurpose = { readonly follows: string; readonly book: string; readonly instance: string };

export type StoredExchangeOptions = Omit<ExchangeOptions, 'watcher' | 'orderIds' | 'seed'> & {
  readonly seed: number;
  readonly store: RowStore;
  readonly purpose: AccountPurpose;
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

/** Error for rows from which no account can be restored. */
export class UnrestorableAccount extends Error {}

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
};

type Sums = readonly (readonly [currency: string, sum: bigint])[];
type StoredAccount = AccountHoldings & { readonly fees: Sums; readonly gain: Sums; readonly deposited: Sums };
/** `tick`: unit of the last price. */
type Numbers = VenueNumbers & { readonly book: BookNumbers; readonly ends: number; readonly tick: string };
type Units = { readonly tick: string; readonly lot: string };
type StoredOrder = Omit<VenueOrder, 'instrument' | 'account' | 'engineId'> &
  Units & { readonly isResting: boolean; readonly end: number };
type StoredTrade = Omit<OwnTradeRecord, 'order' | 'readableAt'> &
  Units & {
    readonly oid: string;
    readonly originId?: string;
    readonly marginOrderType?: 'CROSS_MARGIN';
    readonly side: 'buy' | 'sell';
    readonly readable: Millis;
  };
type StoredTransfer = Omit<Transfer, 'listedAt'> & { readonly listed: Millis };
type StoredCommand = {
  readonly due: Millis;
  readonly kind: BookCommand['kind'];
  readonly oid: string;
  readonly old?: string;
  readonly change?: Modification;
  /** Whether the order would have traded on arrival in the last known book. */
  readonly isTaker?: true;
};

const VERSION = 1;
/** Maximum number of ids of starts that an account stores. */
const STARTS_MAX = 100;
const OWNER = 1;
/** Step of the seed from process to process, so that no process repeats the random ids of an earlier process. */
const SEED_STEP = 7_919;
/** Keys of rows that a power cut may lose. An older queue position is then restored, which is further back. */
const VOLATILE: ReadonlySet<string> = new Set(['numbers', 'queues', 'seen']);
/** Interval at which the current time is stored while the market is visible. */
const SEEN_EVERY_MS = 500;
/** Time without a process after which orders that the market has passed count as filled. */
const UNSEEN_AFTER_MS = 2_000;

/** Maximum number of rows by the first part of their keys. The oldest rows are deleted first. */
const KEPT_MAX: ReadonlyMap<string, number> = new Map([
  ['trade', OWN_TRADES_MAX],
  ['transfer', TRANSFERS_MAX],
  ['conversion', CONVERSIONS_MAX],
  ['rfq', DESK_CONVERSIONS_MAX],
]);

const EMPTY: StoredQueues = { levels: [], orders: { buy: [], sell: [] }, spent: [] };

export class StoredExchange {
  readonly box: EmbeddedExchange;
  readonly account: { readonly id: string; readonly key: string; readonly secret: string };
  /** Opening balances of the account: decimal text by currency. */
  readonly openedWith: Readonly<Record<string, string>>;
  readonly openedAt: Millis;
  /** Whether an earlier process has opened the account. */
  readonly isContinued: boolean;
  /** Number of processes that have used the account, including this process. */
  readonly opens: number;
  /** Id of this start. The starts of two copies of the state have different ids. */
  readonly start: string;
  readonly #store: RowStore;
  readonly #clock: Clock;
  readonly #book: VenueBook;
  readonly #account: Account;
  readonly #onUnwritten: (error: unknown) => void;
  readonly #onWritten: () => void;
  readonly #restored: StoredQueues;
  /** Time at which the earlier process last had a current market; `null` for a new account. */
  readonly #lastSeen: Millis | null;
  /** Commands of the earlier process, until the market is visible. */
  #held: readonly StoredCommand[];
  #market: FollowedMarket | null = null;
  #seenTimer: Timer | null = null;
  /** Whether a request is being answered; its changes are stored together. */
  #isAnswering = false;
  #isUnwritten = false;
  /** Time at which the market was last current and that is not stored yet; `null` if it is stored. */
  #seenAt: Millis | null = null;
  /** Returns the elapsed time at which the followed market was last current. */
  #freshAt: () => Millis;
  /** Result of `#freshAt` at the last stored time. */
  #storedFreshAt: Millis = -Infinity;
  /** Last written text of the rows that are compared before they are written again. */
  readonly #texts = new Map<string, string>();
  readonly #serials = new Map<string, number>();
  readonly #ends = new WeakMap<VenueOrder, number>();
  /** Due time of each pending command, in epoch ms. */
  readonly #dues = new WeakMap<BookCommand, Millis>();
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
    const { store, clock, seed, purpose, balances, volume30d } = options;
    this.#store = store;
    this.#clock = clock;
    this.#freshAt = () => clock.elapsed();
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
    this.#book = venue.books.get(purpose.book)!;
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
    this.openedWith = identity?.balances ?? balances;
    this.#held = restored(() => storedValue<readonly StoredCommand[]>(known, 'commands')) ?? [];
    const queues = restored(() => storedValue<StoredQueues & Units>(known, 'queues'));
    const { tick, lot } = this.#book.instrument;
    // Stored prices and lots are unusable if the tick or lot of the book has changed.
    this.#restored = queues !== null && queues.tick === tick && queues.lot === lot ? queues : EMPTY;
    this.#lastSeen = restored(() => storedValue<Millis>(known, 'seen'));
    if (identity) restored(() => this.#restore(rows, known));
    const { openedAt } = this;
    const now: Identity = {
      ...{ version: VERSION, ...purpose, balances: this.openedWith, ...this.account, openedAt, salt, opens },
      starts: [...(identity?.starts ?? []), this.start].slice(-STARTS_MAX),
    };
    this.#commit([{ key: 'identity', text: storedText(now) }]);
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
   * Connects the market, which then continues with the stored orders and queue positions. Returns a receiver for the
   * followed market data, which also stores the resulting changes. `freshAt` returns the elapsed time at which the
   * followed market was last current, or `-Infinity` before its first book. By default, the market is always current.
   * @throws UnrestorableAccount if the stored orders cannot be entered in the book.
   */
  follow(market: FollowedMarket, freshAt: () => Millis = () => this.#clock.elapsed()) {
    this.#market = market;
    this.#freshAt = freshAt;
    const { active } = this.#account;
    const resting = [...active.values()].filter(order => this.#waiting.has(order.oid));
    restored(() =>
      market.restore(
        this.#restored,
        resting.map(({ oid }) => oid),
        {
          enter: oid => {
            const order = active.get(oid);
            if (order === undefined || !this.#waiting.delete(oid)) return false;
            this.#book.restore(order);
            return true;
          },
          isUnseen: () => this.#isUnseen(),
          executeUnseen: () => this.#executeUnseen(),
          onShown: () => {
            this.#seen();
            this.#resumeCommands();
          },
        },
      ),
    );
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
    this.#seenTimer?.stop();
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
    put('commands', this.#commands());
    if (this.#seenAt !== null) put('seen', this.#seenAt);
    put('capacity', this.box.rfq.loads());
    const { tick, lot } = this.#book.instrument;
    put('numbers', { ...venue.numbers, book: this.#book.numbers, ends: this.#ended, tick } satisfies Numbers);
    if (this.#market) put('queues', { ...this.#market.stored(), tick, lot } satisfies StoredQueues & Units);
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
    for (const [key] of now) this.#kept.get(key.slice(0, key.indexOf('/')))?.add(key);
    const gone = [...this.#forgotten, ...this.#excess()];
    const changes = [...first, ...now.map(([key, text]) => ({ key, text })), ...gone.map(key => ({ key, text: null }))];
    if (changes.length === 0) return;
    this.#store.write(
      changes,
      changes.some(({ key }) => !VOLATILE.has(key)),
    );
    for (const [key, text] of now) if (!WRITTEN_ONCE.test(key)) this.#texts.set(key, text);
    for (const order of orders) if (!isActive(order)) this.#texts.delete(this.#orderKey(order));
    for (const key of gone) this.#kept.get(key.slice(0, key.indexOf('/')))?.delete(key);
    this.#seenAt = null;
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

  /**
   * Regularly stores the time at which the market was last current. From this time, the next process knows for how long
   * the market was not followed. Fills by an unseen market are stored no later than the time: after a crash between
   * both, the next process would not repeat these fills.
   */
  #seen(): void {
    const freshAt = this.#freshAt();
    if (freshAt > this.#storedFreshAt) [this.#seenAt, this.#storedFreshAt] = [this.#wall(freshAt), freshAt];
    this.#stored();
    this.#seenTimer = this.#clock.after(SEEN_EVERY_MS, () => this.#seen());
  }

  /**
   * Whether the market was not followed for a time. A stored time in the future is not used, because the clock was set
   * back. Without a stored time, the earlier process had no current market, or ended before it stored the time.
   */
  #isUnseen(): boolean {
    if (this.#lastSeen === null) return this.isContinued;
    const away = this.#clock.now() - this.#lastSeen;
    return !(away >= 0 && away <= UNSEEN_AFTER_MS);
  }

  /**
   * Executes commands of the earlier process before the current market fills the orders that it has passed: new orders,
   * which are then filled too, and cancels and changes that were due while the market was still known. A limit order
   * that crossed the last known book did not rest: it takes from the current book, unless it is post-only.
   */
  #executeUnseen(): void {
    const knownTo = (this.#lastSeen ?? -Infinity) + UNSEEN_AFTER_MS;
    const isFirst = ({ kind, due }: StoredCommand) => kind === 'enter' || due <= knownTo;
    const takes = (of: StoredCommand) => of.isTaker === true && this.#isLimit(of.oid);
    const [first, later] = [this.#held.filter(isFirst), this.#held.filter(of => !isFirst(of))];
    this.#held = [...first.filter(takes).map(({ old: _, ...of }) => ({ ...of, kind: 'enter' as const })), ...later];
    for (const one of first) {
      // The order of a replacement that takes is entered later, so only its old order is removed now.
      const command = this.#commandOf(takes(one) ? { ...one, kind: 'remove', oid: one.old ?? '' } : one);
      if (command) this.#book.executeUnseen(command, one.isTaker === true);
    }
  }

  /** Whether an order is a limit order that first takes liquidity and then rests. */
  #isLimit(oid: string): boolean {
    const order = this.box.venue.find(oid);
    return order?.type === 'limit' && order.timeInForce === 'goodtillcancelled';
  }

  #commands(): readonly StoredCommand[] {
    const pending = this.#book.queue.pending().map(({ due, command }) => {
      // The due time of a command is converted only once, because clocks drift and a changed row would be written
      // again.
      if (!this.#dues.has(command)) this.#dues.set(command, this.#wall(due));
      return {
        ...{ due: this.#dues.get(command)!, kind: command.kind, oid: command.order.oid },
        ...(command.kind === 'replace' ? { old: command.old.oid } : {}),
        ...(command.kind === 'modify' ? { change: command.change } : {}),
        ...(this.#isTaker(command) ? { isTaker: true as const } : {}),
      };
    });
    return [...pending, ...this.#held];
  }

  /** Whether a command enters a limit order that would trade immediately in the current book. */
  #isTaker({ kind, order }: BookCommand): boolean {
    if (kind !== 'enter' && kind !== 'replace') return false;
    return order.type === 'limit' && !isWaiting(order) && this.#book.engine.crosses(order.side, order.price);
  }

  #resumeCommands(): void {
    // A command that is due is executed and stored here, so the others stay held until they are submitted.
    for (let first = this.#held[0]; first; first = this.#held[0]) {
      this.#held = this.#held.slice(1);
      const command = this.#commandOf(first);
      const longest = this.box.venue.switches.engineDelayMaxMs;
      if (command) this.#book.queue.submit(remainingDelay(first.due, this.#clock.now(), longest), command);
    }
  }

  /** Returns the command; `null` if its order has ended, as after a change of the book's units. */
  #commandOf({ kind, oid, old, change }: StoredCommand): BookCommand | null {
    const { venue } = this.box;
    const order = venue.find(oid);
    if (order === undefined || !isActive(order)) return null;
    switch (kind) {
      case 'enter':
      case 'remove':
        return { kind, order };
      case 'replace': {
        const replaced = old === undefined ? undefined : venue.find(old);
        return replaced ? { kind, order, old: replaced } : { kind: 'enter', order };
      }
      case 'modify':
        return change ? { kind, order, change } : null;
    }
  }

  #restore(rows: ReturnType<RowStore['read']>, known: ReadonlyMap<string, string>): void {
    const { venue, conversions, rfq } = this.box;
    const account = this.#account;
    for (const { key } of rows) this.#kept.get(key.slice(0, key.indexOf('/')))?.add(key);
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
    // A last price in ticks that the book no longer has is unknown.
    const isInTicks = numbers.tick === this.#book.instrument.tick;
    this.#book.resume({ ...numbers.book, last: isInTicks ? numbers.book.last : 0 });
    this.#cancelOldUnits();
    venue.forget(account);
  }

  #restoreTrades(trades: readonly (readonly [string, StoredTrade])[]): void {
    const kept = trades.slice(-OWN_TRADES_MAX);
    const { tradeRecordDelayMs } = this.box.venue.switches;
    for (const [, { oid, originId, marginOrderType, side, readable, tick, lot, ...of }] of kept) {
      const instrument = this.#instrumentIn({ tick, lot });
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

  /** Cancels live orders in units that the book no longer has; a real exchange would not keep their prices. */
  #cancelOldUnits(): void {
    const { tick, lot } = this.#book.instrument;
    for (const order of [...this.#account.active.values()]) {
      if (order.instrument.tick === tick && order.instrument.lot === lot) continue;
      this.#waiting.delete(order.oid);
      this.box.venue.finish(order, 'cancelled');
    }
  }

  #orderKey({ oid }: Pick<VenueOrder, 'oid'>): string {
    return `order/${padded(this.#serials.get(oid)!)}`;
  }

  #storedOrder(order: VenueOrder): StoredOrder {
    const { instrument, account: _, engineId, ...of } = order;
    const { tick, lot } = instrument;
    const isResting = engineId > 0 || this.#waiting.has(order.oid) || this.#book.stops.includes(order);
    return { ...of, tick, lot, isResting, end: this.#ends.get(order) ?? 0 };
  }

  #orderOf(key: string, stored: StoredOrder): VenueOrder {
    const { tick, lot, isResting, end, ...of } = stored;
    const order: VenueOrder = {
      ...of,
      instrument: this.#instrumentIn({ tick, lot }),
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
      ...(originId === undefined ? {} : { originId }),
      ...(marginOrderType === undefined ? {} : { marginOrderType }),
    };
  }

  /** Returns the instrument of the book in the units of an earlier process, which may differ from the current units. */
  #instrumentIn({ tick, lot }: Units): Instrument {
    const { instrument, rules } = this.#book;
    if (instrument.tick === tick && instrument.lot === lot) return instrument;
    return instrumentOf({ ...rules, tickSize: tick }, lot);
  }

  /** Converts elapsed time of this process into wall-clock time. */
  #wall(elapsed: Millis): Millis {
    return this.#clock.now() + (elapsed - this.#clock.elapsed());
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

const padded = (n: number): string => String(n).padStart(16, '0');

/** Returns the value of a row; `null` if there is no such row. */
function storedValue<T>(rows: ReadonlyMap<string, string>, key: string): T | null {
  const text = rows.get(key);
  return text === undefined ? null : (valueOfStored(text) as T);
}

/** Returns the identity of a stored account; `null` if the store is empty. */
function identityIn(rows: ReadonlyMap<string, string>): Identity | null {
  if (rows.size === 0) return null;
  const identity = storedValue<Identity>(rows, 'identity');
  if (identity === null) throw new Error('the row identity is missing');
  return identity;
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

/** Calls a step that restores an account from its rows. */
function restored<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new UnrestorableAccount(textOfError(error), { cause: error });
  }
}

/** Returns the values of all rows whose keys start with `prefix`, in the order of the keys. */
const valuesUnder = <T>(rows: ReturnType<RowStore['read']>, prefix: string): (readonly [key: string, value: T])[] =>
  rows.flatMap(({ key, text }) => (key.startsWith(prefix) ? [[key, valueOfStored(text) as T] as const] : []));

function assertFits(known: Identity, purpose: AccountPurpose): void {
  if (known.version > VERSION)
    throw new NewerStoredAccount(
      `a newer version of Puntas wrote it (format ${known.version}, expected ${VERSION}); update Puntas`,
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

/** Returns why an account does not belong to this bot on this market; otherwise `null`. */
export const otherPurpose = (known: AccountPurpose, purpose: AccountPurpose): string | null =>
  known.follows === purpose.follows && known.book === purpose.book && known.instance === purpose.instance
    ? null
    : `it belongs to ${purposeText(known)}, but this bot is ${purposeText(purpose)}`;

const purposeText = ({ follows, book, instance }: AccountPurpose): string => `${instance} on ${book} of ${follows}`;
