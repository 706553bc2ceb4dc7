/**
 * Account of the bot on another exchange: its balances, its ledger, the comparison of both, and the order that may
 * still execute there. Names of its currencies end with the exchange, like `usdt@other` (`place.ts`).
 */
import type { AccountLedger, BalancesEvent, ElsewhereEvent, TransferEvent } from './accountEvents.ts';
import type { Booked, BookedTransfer } from './bookings.ts';
import type { ElsewhereCheck } from './reconciliation.ts';
import { changesIn, type LedgerEntry } from './ledger.ts';
import { atPlace, isAtPlace, splitRows, withRows, type PlacedRows } from './placeNames.ts';
import { TradingAccount, type AccountDelays, type AccountView } from './tradingAccount.ts';
import type { LedgerHalt } from '../model/halts.ts';
import type { Instrument } from '../model/instrument.ts';
import { textInSeconds } from '../text/textInSeconds.ts';
import { money, multiplyMoneyFloor, textOfMoney, type Millis, type Money, type Side } from '../model/units.ts';

/**
 * Change booked on the other exchange, by its effect on the position of the bot's book. `cash` is in the quote currency
 * of the bot's book. `currency`: base currency of the change; absent if it is that of the book with hedges there.
 */
export type ElsewhereChange =
  | { readonly kind: 'trade'; readonly major: Money; readonly cash: Money }
  | {
      readonly kind: 'opening' | 'transfer';
      readonly major: Money;
      readonly currency?: string;
      readonly transfer?: BookedTransfer | undefined;
    };

/** Book on the other exchange: its venue, its currencies, and the base currency of the bot's book. */
export type ElsewhereBook = { readonly place: string; readonly major: string; readonly minor: string };

export type ElsewhereLimits = {
  /**
   * Limit on the drift, the amount of the other book's quote currency beyond its target; absent if there is no limit.
   */
  readonly drift?: {
    /** Maximum value, in the quote currency of the bot's book. */
    readonly max: Money;
    /**
     * Amount of the other book's quote currency at which the drift is zero; if absent, the amount at the opening of the
     * ledger.
     */
    readonly target?: Money;
  };
  /** Maximum age of the other exchange's balances; absent for no maximum. The bot does not quote if they are older. */
  readonly balancesMaxAgeMs?: Millis;
};

export class ElsewhereAccount {
  readonly #book: ElsewhereBook;
  readonly #account: TradingAccount;
  readonly #onChange: (change: ElsewhereChange) => void;
  readonly #limits: ElsewhereLimits;
  /** Value of one unit of the other book's quote currency, for the trades that are being booked. */
  #rate = money(0n);
  /** Latest value of one unit of the other book's quote currency; `null` if unknown. */
  #value: Money | null = null;
  #readAt: Millis = -Infinity;

  /** `onChange` receives the effect of each booking on the position, except restored bookings. */
  constructor(
    book: ElsewhereBook,
    limits: ElsewhereLimits,
    delays: AccountDelays,
    onChange: (change: ElsewhereChange) => void,
  ) {
    this.#book = book;
    this.#limits = limits;
    this.#onChange = onChange;
    this.#account = new TradingAccount(delays, booked => this.#booked(booked), undefined, undefined, book.place);
  }

  get view(): AccountView {
    return this.#account;
  }

  /** Returns which data is missing for the bot to quote, as text; `null` if complete. */
  missing(at: Millis): string | null {
    const { place } = this.#book;
    const { missing } = this.#account;
    if (missing !== null) return `${place}: ${missing}`;
    const [age, maxAge] = [at - this.#readAt, this.#limits.balancesMaxAgeMs ?? Infinity];
    if (age <= maxAge) return null;
    return `${place}: the last read of the balances is ${Math.ceil(age / 1_000)} s old, and the maximum age is ${textInSeconds(maxAge)}`;
  }

  /** Lasting difference between balances and ledger, as text with the name of the exchange; `null` if there is none. */
  get difference(): string | null {
    const { unexplained } = this.#account;
    return unexplained && `${this.#book.place}: ${unexplained.difference} (balance on the exchange minus ledger)`;
  }

  /**
   * Value of one unit of the other book's quote currency, in the quote currency of the bot's book; `null` if unknown.
   */
  get rate(): Money | null {
    return this.#value;
  }

  /** Whether the opening balances are known. Until then, amounts count without the opening balances. */
  get isOpen(): boolean {
    return this.#account.isOpen;
  }

  /** Latest balances of the other book's currencies minus the ledger; 0 if they are equal or unknown. */
  get moved(): { readonly base: Money; readonly quote: Money } {
    const differences = new Map(this.#account.differences().map(({ currency, difference }) => [currency, difference]));
    const of = (currency: string) => differences.get(atPlace(currency, this.#book.place)) ?? money(0n);
    return { base: of(this.#book.major), quote: of(this.#book.minor) };
  }

  /** Number of orders on the other exchange whose end is not proven. */
  get openOrders(): number {
    return this.#account.inFlight;
  }

  /** Amount of the other book's quote currency beyond its target; negative below the target. */
  get drift(): Money {
    const minor = atPlace(this.#book.minor, this.#book.place);
    return money(this.#account.total(minor) - (this.#limits.drift?.target ?? this.#account.opening(minor)));
  }

  /** Value of the drift, in the quote currency of the bot's book, rounded down; `null` if the rate is unknown. */
  get driftValue(): Money | null {
    return this.#value && multiplyMoneyFloor(this.drift, this.#value);
  }

  /**
   * Returns why no hedge may send an order of this side, because it would add to a drift at or beyond its limit; `null`
   * if the limit allows it. Without a rate, an order that would add to a drift is not allowed.
   */
  closedBecause(side: Side): string | null {
    const { drift: limit } = this.#limits;
    const { drift, driftValue } = this;
    if (limit === undefined || (side === 'sell' ? drift <= 0n : drift >= 0n)) return null;
    const { minor } = this.#book;
    const from = limit.target === undefined ? '' : ` from hedge.elsewhere.quoteTarget (${textOfMoney(limit.target)})`;
    const what = `the drift of ${textOfMoney(drift)} ${minor}${from}`;
    if (driftValue === null)
      return `${what} has no known value, because no source in reference.sources has a rate for ${minor}`;
    const size = side === 'sell' ? driftValue : -driftValue;
    if (size < limit.max) return null;
    return `${what} is worth ${textOfMoney(driftValue)} in the bot's quote currency, and hedge.elsewhere.driftMax is ${textOfMoney(limit.max)}`;
  }

  /**
   * Funds in the base and quote currency of the other book that hedges can use from now on. Includes the amount that an
   * open order may spend, because that order is a hedge, too.
   */
  get reserves(): { readonly major: Money; readonly minor: Money } {
    const of = (currency: string) => this.#account.fundsWithPending(atPlace(currency, this.#book.place));
    return { major: of(this.#book.major), minor: of(this.#book.minor) };
  }

  /**
   * Latest comparison of the other exchange's balances with the ledger; `null` before the first comparison of this run.
   */
  get checked(): ElsewhereCheck | null {
    const { checked } = this.#account;
    return checked && { ...checked, place: this.#book.place };
  }

  get differs(): boolean {
    return this.#account.differs;
  }

  get version(): number {
    return this.#account.version;
  }

  /** Amount of the base currency held on the other exchange. */
  get held(): Money {
    return this.#account.total(atPlace(this.#book.major, this.#book.place));
  }

  /** Amount of the other book's quote currency held on the other exchange. */
  get quoteHeld(): Money {
    return this.#account.total(atPlace(this.#book.minor, this.#book.place));
  }

  /** Whether the name is that of a currency on the other exchange, like `usdt@other`. */
  has(currency: string): boolean {
    return isAtPlace(currency, this.#book.place);
  }

  /** Applies a balance read of the other exchange. Returns the halt reason, or `null`. */
  read(event: BalancesEvent): LedgerHalt | null {
    const { place } = this.#book;
    this.#readAt = event.startedAt;
    this.#value = event.rate === undefined ? null : aboveZero(event.rate, place);
    const balances = event.balances.map(row => ({ ...row, currency: atPlace(row.currency, place) }));
    return this.#account.read({ ...event, balances }, this.#lockedByHedge(balances));
  }

  /** Applies a state change of the bot's order on the other exchange. */
  apply(event: ElsewhereEvent): void {
    const { place } = this.#book;
    const { give, get, ...rest } = event.conversion;
    const placed = {
      ...rest,
      give: { ...give, currency: atPlace(give.currency, place) },
      get: { ...get, currency: atPlace(get.currency, place) },
    };
    if (event.phase === 'ended') {
      this.#rate = aboveZero(event.rate, place);
      this.#value = this.#rate;
      for (const trade of event.trades) this.#account.trade(trade);
    }
    // The trades have already been booked one by one. So the ended order is passed on as `failed`, a phase that books
    // no amount.
    const phase = event.phase === 'ended' ? 'failed' : event.phase;
    this.#account.orderElsewhere({ kind: 'conversion', at: event.at, phase, conversion: placed });
  }

  /**
   * Books a transfer with a known cause. The currency of the event has the place in its name. Before the opening it
   * books nothing, because the opening balances will include the amount.
   */
  transfer(event: TransferEvent): void {
    if (!this.#account.isOpen) return;
    this.#account.transfer({ ...event, source: atPlace(event.source, this.#book.place) });
  }

  resumed(at: Millis): void {
    this.#account.resumed(at);
  }

  /** Returns the base currency that the open order may still add and remove, in lots of the bot's book. */
  converting(instrument: Instrument): Readonly<Record<Side, number>> {
    return this.#account.converting({ ...instrument, major: atPlace(this.#book.major, this.#book.place) });
  }

  /** Returns the other exchange's funds in a currency, minus the amount that an open order may spend. */
  funds(currency: string): Money {
    return this.#account.funds(atPlace(currency, this.#book.place));
  }

  onEntry(call: (entry: LedgerEntry) => void): void {
    const named = (source: string) =>
      isAtPlace(source, this.#book.place) ? source : atPlace(source, this.#book.place);
    this.#account.onEntry(entry => call({ ...entry, source: named(entry.source) }));
  }

  /** Returns `ledger` with the sums and sources of this account added. */
  addTo<L extends AccountLedger>(ledger: L): L {
    if (!this.#account.isOpen) return ledger;
    return withRows(ledger, this.#account.stateToSave([]));
  }

  /**
   * Restores this account from the rows of all exchanges but the bot's own; returns the rows of the remaining
   * exchanges.
   */
  restore(placed: PlacedRows): PlacedRows {
    const [here, others] = splitRows(placed, name => isAtPlace(name, this.#book.place));
    if (here.causes.size > 0) this.#account.restore({ ...here, seen: new Map() });
    return others;
  }

  /** Returns the amounts that an open order of the bot may have locked; all other locked funds are unavailable. */
  #lockedByHedge(balances: BalancesEvent['balances']): ReadonlyMap<string, Money> {
    const pending = (currency: string) =>
      money(this.#account.fundsWithPending(currency) - this.#account.funds(currency));
    return new Map(balances.map(({ currency }) => [currency, pending(currency)]));
  }

  #booked(booked: Booked): void {
    const { place, major, minor } = this.#book;
    const base = changesIn(booked.changes, atPlace(major, place));
    if (booked.kind !== 'trade' && booked.kind !== 'rounding') {
      const transfer = booked.kind === 'transfer' ? booked.transfer : undefined;
      this.#onChange({ kind: booked.kind === 'opening' ? 'opening' : 'transfer', major: base, transfer });
      return;
    }
    // Rounded down also below 0, so that cash is never overstated.
    const rate = booked.kind === 'trade' ? this.#rate : (this.#value ?? money(0n));
    const cash = multiplyMoneyFloor(changesIn(booked.changes, atPlace(minor, place)), rate);
    this.#onChange({ kind: 'trade', major: base, cash });
  }
}

function aboveZero(rate: Money, place: string): Money {
  if (!(rate > 0n)) throw new RangeError(`expected a rate above 0 for the quote currency at ${place}, found ${rate}`);
  return rate;
}
