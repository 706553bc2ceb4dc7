/**
 * State that all books of an account share: accounts, order ids, stop, sentinel, and the limits and comparisons over
 * all books. Passes each booking to its book.
 */
import { withMovedTarget, type BookStates } from './bookStates.ts';
import { Accounts, type AccountElsewhere } from '../accounting/accounts.ts';
import type { Booked } from '../accounting/bookings.ts';
import { FirstFills, type FirstCount } from '../accounting/firstFills.ts';
import type { ElsewhereChange } from '../accounting/elsewhereAccount.ts';
import type { AccountDelays } from '../accounting/tradingAccount.ts';
import type { ExcessReason } from '../quoting/quoteReconciler.ts';
import { excessOrders, type LimitedOrder } from '../risk/excessOrders.ts';
import {
  highPrices,
  reachWith,
  worstValue,
  type ExactPrice,
  type DirectedExchange,
  type PricedReach,
  type QuotedBook,
  type Reach,
  type ValueLimit,
  type ValueRoom,
} from '../risk/valueLimit.ts';
import { currencyRooms, type CurrencyLimits, type CurrencyRoom, type ExposedBook } from '../risk/currencyLimits.ts';
import type { CrossRateWatch, CrossRead } from '../risk/crossRateWatch.ts';
import type { PriceDoubt } from '../quoting/priceDoubt.ts';
import type { LimitUse } from '../risk/limitUse.ts';
import type { JointBook, JointInventory } from '../risk/jointInventory.ts';
import type { HaltReason } from '../model/halts.ts';
import { money, type Millis, type Money, type Side } from '../model/units.ts';
import { OriginIds } from '../orders/originIds.ts';
import type { OwnTrade } from '../ports/port.ts';

/** The bot's order that a trade filled: its origin id and level; `null` if unknown. */
export type FilledOrder = { readonly id: string | null; readonly level: number | null };

/** A book, as the account sees it. */
export type AccountBook = JointBook & {
  readonly symbol: string;
  /** Base currency. */
  readonly major: string;
  /** Quote currency. */
  readonly minor: string;
  /** Base currency beyond the target that belongs to this book. */
  readonly position: Money;
  /** `position` as a float, rounded toward zero to whole lots. */
  readonly amount: number;
  /** The book, as the limits by currency need it. */
  readonly exposed: ExposedBook;
  /** Orders that are expected to fill further, as the limits over all books see them. */
  readonly limitedOrders: readonly LimitedOrder[];
  /** Returns the maximum amounts that its orders lock in a balance read that started at a time, by currency. */
  lockedSince(startedAt: Millis): ReadonlyMap<string, Money>;
  /** Returns the best prices of other traders; `null` if they are unknown or old. */
  quotedPrices(at: Millis): QuotedBook | null;
  /** Amounts of the base currency that pending conversions may still add (`buy`) and remove (`sell`). */
  readonly converting: Readonly<Record<Side, Money>>;
  /**
   * Best prices of other traders, for the comparison of books; `null` if the book cannot be quoted or has no fee yet.
   */
  readonly crossRead: CrossRead | null;
  /** Called after the doubt about the price of this book has started, ended or changed its effect. */
  doubtChanged(): void;
  halt(reason: HaltReason): void;
  fillOf(trade: OwnTrade): FilledOrder;
  /** Applies a trade in this book. */
  traded(trade: OwnTrade, at: Millis): void;
  /** Applies a booked change that is not a trade in this book. */
  moved(booked: Booked, at: Millis): void;
  /** Applies a booked change on another exchange. */
  placed(change: ElsewhereChange): void;
};

const NO_PRICES: ReadonlyMap<string, ExactPrice> = new Map();
const NO_EXCESS: ReadonlyMap<string, ExcessReason> = new Map();

/** Constants of the account. */
export type AccountTerms = {
  readonly instance: string;
  readonly run: number;
  readonly timing: AccountDelays;
  /** Base currency of the book that is hedged on another exchange; without hedges there, that of the first book. */
  readonly major: string;
  readonly elsewhere: AccountElsewhere | undefined;
  readonly joint: JointInventory | null;
  readonly crossRates: CrossRateWatch | null;
  readonly currencyLimits: CurrencyLimits;
  readonly valueLimit: ValueLimit | null;
};

export class AccountState {
  readonly accounts: Accounts;
  readonly ids: OriginIds;
  sentinel: { readonly alive: boolean; readonly holds?: boolean } = { alive: true };
  /** Whether the bot stops for good and places no more orders. */
  isStopping = false;
  /** Fills of the bot on its own exchange, if that exchange is untried. */
  readonly firstFills = new FirstFills();
  /** Count of hedges on the other exchange while they have the smallest size there; `null` if they may have any size. */
  firstHedges: (FirstCount & { readonly place: string }) | null = null;
  /** States of books that only earlier runs had. */
  kept: BookStates = new Map();
  readonly #books: AccountBook[] = [];
  readonly #major: string;
  readonly #currencyLimits: CurrencyLimits;
  readonly #valueLimit: ValueLimit | null;
  /** Joint inventory of all books; `null` if each book uses its own. */
  readonly joint: JointInventory | null;
  /** Comparison of the prices of all books; `null` if they are not compared. */
  readonly #crossRates: CrossRateWatch | null;

  constructor({
    instance,
    run,
    timing,
    major,
    elsewhere,
    joint,
    crossRates,
    currencyLimits,
    valueLimit,
  }: AccountTerms) {
    this.#valueLimit = valueLimit;
    this.#crossRates = crossRates;
    this.#currencyLimits = currencyLimits;
    this.joint = joint;
    this.#major = major;
    this.ids = new OriginIds(instance, run);
    this.accounts = new Accounts(major, elsewhere, timing, {
      booked: (booked, at) => this.#booked(booked, at),
      placed: change => this.#placed(change),
      fillOf: trade => this.#fillOf(trade),
    });
  }

  /**
   * Adds a book. Of several books with one base currency, the first is its home: what no order of the bot has traded
   * belongs to the home. So each unit of a currency belongs to exactly one book.
   */
  add(book: AccountBook): void {
    this.#books.push(book);
  }

  /** Samples the prices of all books for their joint inventory, if a sample is due. */
  observe(at: Millis): void {
    this.joint?.observe(at, this.#books);
  }

  /**
   * Returns the joint inventory by which a book skews its quotes, in its base currency; `null` if the book skews by its
   * own inventory.
   */
  jointInventoryOf(of: AccountBook): number | null {
    if (this.joint === null) return null;
    const positions = this.#books.map(({ amount }) => amount);
    const i = this.#books.indexOf(of);
    const joint = this.joint.inventoryOf(i, positions);
    return joint === positions[i] ? null : joint;
  }

  /** Compares the price of a book that was just read with the prices of the other books. */
  bookRead(of: AccountBook, at: Millis): void {
    if (this.#crossRates === null) return;
    for (const i of this.#crossRates.read(this.#books.indexOf(of), at, of.crossRead)) this.#books[i]!.doubtChanged();
  }

  /** Whether the prices of the books are compared. */
  get isComparing(): boolean {
    return this.#crossRates !== null;
  }

  /** Returns the distance from the mid price of a book to the fair value that the other books imply; 0 if none. */
  crossCorrection(of: AccountBook, mid: number, at: Millis, maxAgeMs: Millis): number {
    return this.#crossRates?.correction(this.#books.indexOf(of), mid, at, maxAgeMs) ?? 0;
  }

  /** Returns the doubt about the price of a book; `null` if there is none. */
  priceDoubt(of: AccountBook): PriceDoubt | null {
    return this.#crossRates?.doubt(this.#books.indexOf(of)) ?? null;
  }

  /** Restores the doubt about the price of a book in which an earlier run ended. */
  restoreDoubt(of: AccountBook, doubt: PriceDoubt): void {
    this.#crossRates?.restore(this.#books.indexOf(of), doubt);
  }

  /** Returns the room of each side of a book under the limits by currency; `null` if neither currency has a limit. */
  currencyRooms(of: AccountBook): Readonly<Record<Side, CurrencyRoom>> | null {
    if (this.#currencyLimits.size === 0) return null;
    const isLimited = (currency: string): boolean => this.#currencyLimits.has(currency);
    if (!isLimited(of.major) && !isLimited(of.minor)) return null;
    const others = this.#books
      .filter(book => book !== of && (isLimited(book.major) || isLimited(book.minor)))
      .map(({ exposed }) => exposed);
    return currencyRooms(this.#currencyLimits, [of.major, of.minor], others, (currency, isRaised) => {
      const pending = this.#home(currency)?.converting[isRaised ? 'buy' : 'sell'] ?? 0n;
      return money(this.#exposure(currency) + (isRaised ? pending : -pending));
    });
  }

  /** Returns the room of a book under the limit on the value of all currencies; `null` without such a limit. */
  valueRoom(of: AccountBook, at: Millis): ValueRoom | null {
    if (this.#valueLimit === null) return null;
    const others = this.#exchanges(this.#books.filter(book => book !== of));
    return { ...this.#valueLimit, held: this.#pricedHeld(this.#prices(at)), others, pair: [of.major, of.minor] };
  }

  /**
   * Returns the origin ids of the orders that the limits over all books no longer allow, each with the kind of limit.
   */
  excess(at: Millis): ReadonlyMap<string, ExcessReason> {
    if (this.#currencyLimits.size === 0 && this.#valueLimit === null) return NO_EXCESS;
    const prices = this.#valueLimit === null ? null : this.#prices(at);
    const value = this.#valueLimit === null || prices === null ? null : { ...this.#valueLimit, prices };
    const reaches = this.#pricedHeld(prices ?? NO_PRICES);
    const exchanges = this.#exchanges(this.#books);
    const isExceeded =
      (value !== null && worstValue(reaches, exchanges).value > value.max) ||
      reaches.some(one => {
        const max = this.#currencyLimits.get(one.currency);
        const { up, down } = reachWith(one, exchanges);
        return max !== undefined && (up > max || down > max);
      });
    if (!isExceeded) return NO_EXCESS;
    const held = new Map(reaches.map(one => [one.currency, one]));
    const orders = this.#books.flatMap(({ limitedOrders }) => limitedOrders);
    return excessOrders({ currencies: this.#currencyLimits, value, held }, orders);
  }

  /** Base currencies of the books, each once. */
  get #bases(): readonly string[] {
    return [...new Set(this.#books.map(({ major }) => major))];
  }

  #prices(at: Millis): ReadonlyMap<string, ExactPrice> {
    const books = this.#books.flatMap(book => {
      const prices = book.quotedPrices(at);
      return prices === null ? [] : [{ ...prices, isPulled: this.priceDoubt(book)?.isPulled === true }];
    });
    return highPrices(this.#valueLimit!.currency, books);
  }

  /** Returns the distances of a base currency from its target, each with the pending conversions that increase it. */
  #heldReach(currency: string): Reach {
    const held = this.#exposure(currency);
    const { buy, sell } = this.#home(currency)!.converting;
    return { up: held + buy, down: sell - held };
  }

  /** Returns the base currencies with their prices and their distances from the targets, without orders. */
  #pricedHeld(prices: ReadonlyMap<string, ExactPrice>): readonly PricedReach[] {
    return this.#bases.map(currency => ({
      currency,
      price: prices.get(currency) ?? null,
      ...this.#heldReach(currency),
    }));
  }

  /** Returns the amounts that the live orders on each side of each book exchange if they fill. */
  #exchanges(books: readonly AccountBook[]): readonly DirectedExchange[] {
    return books.flatMap(({ exposed: { base, quote, orders } }) =>
      (['buy', 'sell'] as const).map(side => ({ ...orders[side], side, pair: [base, quote] as const })),
    );
  }

  /**
   * Returns the use of the limit on the value of all books, without orders. Empty if there is no such limit, or if a
   * currency that is away from its target has no price.
   */
  valueUses(at: Millis): readonly LimitUse[] {
    if (this.#valueLimit === null) return [];
    const { currency, max } = this.#valueLimit;
    const { value: used, unpriced } = worstValue(this.#pricedHeld(this.#prices(at)), []);
    return unpriced === null ? [{ limit: 'accountLimits.value', currency, max, used }] : [];
  }

  /** Returns the use of the limits by currency, for the currencies of a book. */
  currencyUses(of: AccountBook): readonly LimitUse[] {
    return [of.major, of.minor].flatMap(currency => {
      const max = this.#currencyLimits.get(currency);
      if (max === undefined) return [];
      const held = this.#exposure(currency);
      return [{ limit: 'accountLimits', currency, max, used: money(held < 0n ? -held : held) }];
    });
  }

  /** Returns the sum of the positions of all books with this base currency. */
  #exposure(currency: string): Money {
    let sum = 0n;
    for (const { major, position } of this.#books) if (major === currency) sum += position;
    return money(sum);
  }

  /** Halts all books. */
  halt(reason: HaltReason | null): void {
    if (reason !== null) for (const book of this.#books) book.halt(reason);
  }

  /** Returns the maximum amounts that orders of all books lock in a balance read that started at a time, by currency. */
  lockedSince(startedAt: Millis): ReadonlyMap<string, Money> {
    if (this.#books.length === 1) return this.#books[0]!.lockedSince(startedAt);
    const sums = new Map<string, Money>();
    for (const book of this.#books)
      for (const [currency, amount] of book.lockedSince(startedAt))
        sums.set(currency, money((sums.get(currency) ?? 0n) + amount));
    return sums;
  }

  /** Returns the funds that a book may use: without what orders of the other books may still spend. */
  funds(currency: string, of: AccountBook): Money {
    const funds = this.accounts.own.funds(currency);
    if (this.#books.length === 1) return funds;
    let others = 0n;
    // An order that has left its book may have fills that no list shows yet, so its locked amount is not enough.
    for (const { symbol, exposed } of this.#books) {
      if (symbol === of.symbol) continue;
      const { base, quote, orders } = exposed;
      if (quote === currency) others += orders.buy.quote;
      if (base === currency) others += orders.sell.base;
    }
    return money(funds - others);
  }

  /** Returns the base currency that belongs to a book, its target included. */
  held(of: AccountBook): Money {
    if (!this.isHome(of)) return of.position;
    let others = 0n;
    for (const book of this.#books) if (book !== of && book.major === of.major) others += book.position;
    return money(this.accounts.held(of.major) - others);
  }

  /** Whether a book is the home of its base currency. */
  isHome(book: AccountBook): boolean {
    return this.#home(book.major) === book;
  }

  #home(major: string): AccountBook | undefined {
    return this.#books.find(book => book.major === major);
  }

  #fillOf(trade: OwnTrade): FilledOrder {
    return (this.#tradedIn(trade) ?? this.#books[0]!).fillOf(trade);
  }

  #tradedIn(trade: OwnTrade): AccountBook | undefined {
    return this.#books.find(({ symbol }) => symbol === trade.book);
  }

  #booked(booked: Booked, at: Millis): void {
    if (booked.kind === 'trade' && this.#fillOf(booked.trade).id !== null) this.firstFills.filled();
    const traded = booked.kind === 'trade' ? this.#bookOf(booked.trade) : undefined;
    if (traded !== undefined && booked.kind === 'trade') traded.traded(booked.trade, at);
    if (booked.kind === 'transfer')
      for (const { cause, currency, amount } of booked.changes)
        if (cause !== 'fees') this.kept = withMovedTarget(this.kept, currency, amount);
    for (const book of this.#books) {
      if (book === traded) continue;
      const isSpread = booked.kind === 'transfer' || booked.kind === 'rounding';
      if (isSpread && this.#books.length > 1) this.#transferred(book, booked, at);
      else if (!this.isHome(book)) {
        if (booked.kind === 'opening') book.moved({ ...booked, changes: [] }, at);
      } else if (book.major !== traded?.major) book.moved(booked, at);
    }
  }

  /** Passes a change on another exchange to the home of its currency; one of no base currency changes no book. */
  #placed(change: ElsewhereChange): void {
    const currency = (change.kind === 'trade' ? undefined : change.currency) ?? this.#major;
    this.#home(currency)?.placed(change);
    if (change.kind !== 'trade') this.kept = withMovedTarget(this.kept, currency, change.major);
  }

  /** Passes a transfer or a rounding to a book: fees if they count in this book, other changes if the book is a home. */
  #transferred(book: AccountBook, booked: Booked, at: Millis): void {
    const changes = booked.changes.filter(({ cause, currency }) =>
      cause === 'fees' ? this.#refundedTo(currency) === book : this.isHome(book),
    );
    if (changes.length > 0) book.moved({ ...booked, changes }, at);
  }

  /**
   * Returns the only book in whose profit refunded or rounded fees in a currency count: the first with this base
   * currency or, if there is none, the first with this quote currency.
   */
  #refundedTo(currency: string): AccountBook | undefined {
    return this.#home(currency) ?? this.#books.find(book => book.minor === currency);
  }

  /** Returns the book to whose inventory a trade belongs; `undefined` if only the balances change. */
  #bookOf(trade: OwnTrade): AccountBook | undefined {
    const book = this.#tradedIn(trade);
    if (book === undefined || this.isHome(book) || book.fillOf(trade).id !== null) return book;
    return undefined;
  }
}
