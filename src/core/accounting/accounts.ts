/**
 * All accounts of a bot: on its own exchange, on the other exchange where it hedges, on exchanges where this run has no
 * access, and the amounts on their way between exchanges. Each has a ledger of its own; what all of them hold counts.
 */
import type { AccountLedger, BalancesEvent, ConversionEvent, ElsewhereEvent, TransferEvent } from './accountEvents.ts';
import type { Booked, FillOf } from './bookings.ts';
import type { LedgerEntry } from './ledger.ts';
import { LeftElsewhere } from './leftElsewhere.ts';
import { placeInName, splitPlaces, tickerInName, withRows } from './placeNames.ts';
import {
  ElsewhereAccount,
  type ElsewhereBook,
  type ElsewhereChange,
  type ElsewhereLimits,
} from './elsewhereAccount.ts';
import { TradingAccount, type AccountDelays, type AccountView } from './tradingAccount.ts';
import { Transit, type TransitLimits, type TransitState } from './transit.ts';
import type { Instrument } from '../model/instrument.ts';
import type { LedgerHalt } from '../model/halts.ts';
import type { OwnTrade } from '../ports/port.ts';
import { money, type Millis, type Money, type Side } from '../model/units.ts';

/** The book where the bot hedges on another exchange, and the limits of that account and of transfers to it. */
export type AccountElsewhere = ElsewhereBook & { readonly bounds: ElsewhereLimits; readonly transfers?: TransitLimits };

/** Receivers of every booking, except restored ones; `fillOf` finds the order that a trade filled. */
export type AccountsListeners = {
  readonly booked: (booked: Booked, at: Millis) => void;
  readonly placed: (change: ElsewhereChange) => void;
  readonly fillOf: FillOf;
};

export class Accounts {
  readonly #own: TradingAccount;
  /** Account on the other exchange where the bot hedges; `null` if there is none. */
  readonly #elsewhere: ElsewhereAccount | null;
  readonly #transit: Transit;
  readonly #leftElsewhere: LeftElsewhere;
  /** Base currency of the book that is hedged on the other exchange; without hedges there, that of the first book. */
  readonly #major: string;
  readonly #options: AccountElsewhere | null;
  readonly #listeners: AccountsListeners;
  /** Time of the event that is being booked. */
  #at: Millis = -Infinity;

  /** `major` is the base currency of the book that is hedged on the other exchange, or of the first book. */
  constructor(
    major: string,
    elsewhere: AccountElsewhere | undefined,
    delays: AccountDelays,
    listeners: AccountsListeners,
  ) {
    this.#options = elsewhere ?? null;
    this.#major = major;
    this.#listeners = listeners;
    this.#own = new TradingAccount(delays, booked => this.#booked(booked), listeners.fillOf);
    const onPlaced = (change: ElsewhereChange) => this.#placed(change);
    this.#elsewhere = elsewhere ? new ElsewhereAccount(elsewhere, elsewhere.bounds, delays, onPlaced) : null;
    this.#leftElsewhere = new LeftElsewhere(onPlaced);
    this.#transit = new Transit(elsewhere?.place ?? null, elsewhere?.transfers ?? null, listeners.placed);
  }

  /** Account on the bot's own exchange. */
  get own(): TradingAccount {
    return this.#own;
  }

  /** Account on the other exchange where the bot hedges; `null` if there is none. */
  get elsewhere(): ElsewhereAccount | null {
    return this.#elsewhere;
  }

  /** Amounts on their way between both exchanges. */
  get transit(): Transit {
    return this.#transit;
  }

  /** Number that increases with every ledger entry. */
  get version(): number {
    return this.#ledgers.reduce((sum, { version }) => sum + version, 0);
  }

  /** Calls `call` with every later entry of the ledger, whichever account has it. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    for (const each of this.#ledgers) each.onEntry(call);
  }

  get #ledgers() {
    const elsewhere = this.#elsewhere === null ? [] : [this.#elsewhere];
    return [this.#own, this.#transit, this.#leftElsewhere, ...elsewhere];
  }

  /** Restores the rows of all accounts from the ledger of an earlier run. */
  restore(ledger: AccountLedger & TransitState, at: Millis): void {
    const [placed, own] = splitPlaces(ledger);
    const others = this.#transit.restore(placed, ledger, at);
    this.#leftElsewhere.restore(this.#elsewhere?.restore(others) ?? others);
    this.#own.restore(own);
  }

  /**
   * Returns the ledger of all accounts for the next run. `recent` holds ids of trades that the exchange may report
   * again.
   */
  stateToSave(recent: readonly string[]): AccountLedger & TransitState {
    const own = withRows(withRows(this.#own.stateToSave(recent), this.#transit.rows), this.#leftElsewhere.rows);
    return { ...(this.#elsewhere?.addTo(own) ?? own), ...this.#transit.state };
  }

  /**
   * Applies a balance read of either exchange. `locked` is the maximum amount that the bot's orders lock on its own
   * exchange in the read, by currency. Returns the halt reason, or `null`.
   */
  read(event: BalancesEvent, locked: ReadonlyMap<string, Money>): LedgerHalt | null {
    this.#at = event.at;
    if (event.place !== undefined) return this.#elsewhere && this.#readElsewhere(this.#elsewhere, event);
    const halt = this.#ledgerHalt(this.#own.read(event, locked), this.#own);
    if (this.#own.checked?.at === event.startedAt) this.#transit.compared(this.#own.checked);
    return halt;
  }

  /** The first read may already include amounts that were in transit. */
  #readElsewhere(elsewhere: ElsewhereAccount, event: BalancesEvent): LedgerHalt | null {
    const wasOpen = elsewhere.isOpen;
    const halt = this.#ledgerHalt(elsewhere.read(event), elsewhere.view);
    if (!wasOpen && elsewhere.isOpen) this.#transit.opened([...elsewhere.view.totals.keys()], event.at);
    return halt;
  }

  /** Adds a trade on the bot's own exchange to the ledger, whichever order book it is in; ignores repeats. */
  trade(trade: OwnTrade, at: Millis): void {
    this.#at = at;
    this.#own.trade(trade);
  }

  /** Applies a state change of a conversion on the bot's own exchange. */
  convert(event: ConversionEvent): void {
    this.#at = event.at;
    this.#own.convert(event);
  }

  /** Applies a state change of the bot's order on the other exchange. */
  orderElsewhere(event: ElsewhereEvent): void {
    if (this.#elsewhere === null)
      throw new Error('an order of another exchange was reported, but the engine has no account on another exchange');
    this.#at = event.at;
    this.#elsewhere.apply(event);
  }

  /**
   * Books a transfer in the account of its currency; one side of a transfer between both exchanges is also in transit.
   */
  transfer(event: TransferEvent): void {
    this.#at = event.at;
    if (this.#transit.has(event.currency)) return this.#transit.transfer(event);
    const account = this.#accountOf(event.currency);
    const before = account.version;
    account.transfer(event);
    // A transfer that the account did not book, such as one with a repeated `source`, is not in transit.
    if (event.inTransit === true && account.version !== before) this.#transit.move(event);
  }

  /** Books the remaining differences between balances and ledgers, after the operator's resume. */
  resumed(at: Millis): void {
    this.#at = at;
    this.#own.resumed(at);
    this.#elsewhere?.resumed(at);
  }

  /** Whether the opening balances of the other exchange are known; true if the bot has no account there. */
  get isElsewhereOpen(): boolean {
    return this.#elsewhere === null || this.#elsewhere.isOpen;
  }

  /** Whether balances have differed from a ledger for so long that a late trade record cannot be the cause. */
  get differs(): boolean {
    return this.#own.differs || this.#elsewhere?.differs === true;
  }

  /** Returns the balances that are missing before the bot can quote, as text; `null` if complete. */
  missing(at: Millis): string | null {
    return this.#own.missing ?? this.#elsewhere?.missing(at) ?? this.#transit.overdue(at);
  }

  /** Returns the held amount of a currency on all exchanges together, also where this run has no account. */
  held(currency: string): Money {
    const there = this.#hedged(currency)?.held ?? 0n;
    const elsewhere = there + this.#transit.held(currency) + this.#leftElsewhere.held(currency);
    return money(this.#own.total(currency) + elsewhere);
  }

  /** Returns the base currency that conversions and orders elsewhere may still add and remove, in lots of the book. */
  converting(instrument: Instrument): Readonly<Record<Side, number>> {
    const own = this.#own.converting(instrument);
    const there = this.#hedged(instrument.major)?.converting(instrument);
    return there === undefined ? own : { buy: own.buy + there.buy, sell: own.sell + there.sell };
  }

  /** Returns the account on the other exchange if it hedges this base currency; `null` if it does not. */
  #hedged(currency: string): ElsewhereAccount | null {
    return currency === this.#major ? this.#elsewhere : null;
  }

  /**
   * Returns the account that has the currency. One common account has the currencies of all exchanges where this run
   * has no account.
   */
  #accountOf(currency: string): TradingAccount | ElsewhereAccount | LeftElsewhere {
    if (placeInName(currency) === null) return this.#own;
    return this.#elsewhere?.has(currency) === true ? this.#elsewhere : this.#leftElsewhere;
  }

  /** Reports a booked change of another exchange, and applies it to the amounts in transit. */
  #placed(change: ElsewhereChange): void {
    this.#listeners.placed(change);
    if (change.kind === 'transfer' && change.transfer) this.#transit.explain(change.transfer, this.#at);
  }

  #booked(booked: Booked): void {
    this.#listeners.booked(booked, this.#at);
    if (booked.kind === 'transfer' && booked.transfer) this.#transit.explain(booked.transfer, this.#at);
  }

  /**
   * Adds to a halt reason the command that books a transfer to the other exchange, if a fall of a balance may be a
   * transfer. If the fall were booked as a loss, the bot would hedge it.
   */
  #ledgerHalt(halt: LedgerHalt | null, account: Pick<AccountView, 'differences'>): LedgerHalt | null {
    if (halt === null || this.#options?.transfers === undefined) return halt;
    const { major, minor } = this.#options;
    const mayBeSent = account
      .differences()
      .some(({ currency, difference }) => difference < 0n && [major, minor].includes(tickerInName(currency)));
    if (!mayBeSent) return halt;
    return `${halt}; book what you sent to the other exchange with puntas ledger adjust --in-transit before you resume`;
  }
}
