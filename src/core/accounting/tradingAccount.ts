/**
 * Account at the exchange, shared by all books: comparison of balances with the ledger, pending conversions, and funds
 * locked by other programs' orders.
 */
import type { AccountLedger, BalancesEvent, ConversionEvent, TransferEvent } from './accountEvents.ts';
import { lockedByOthers } from './foreignLocks.ts';
import { Bookings, type Booked, type BookingMemory, type FillOf } from './bookings.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Instrument } from '../model/instrument.ts';
import { PendingConversions } from './pendingConversions.ts';
import { Reconciliation, type BalanceCheck, type Unexplained } from './reconciliation.ts';
import type { OwnTrade } from '../ports/port.ts';
import type { LedgerHalt } from '../model/halts.ts';
import { money, type Millis, type Money, type Side } from '../model/units.ts';

/**
 * Delays of the exchange. `listWaitMs` is the maximum delay until the exchange's transfer lists show a balance change.
 * Without `listWaitMs`, a lasting difference halts the bot immediately.
 */
export type AccountDelays = { readonly tradeReportDelayMaxMs: Millis; readonly listWaitMs?: Millis };

/** Account interface for code that makes no order decisions: drivers, the journal, the hedger. */
export type AccountView = Pick<
  TradingAccount,
  'checked' | 'unexplained' | 'differences' | 'isReconciled' | 'isConverting' | 'total' | 'isOpen' | 'totals' | 'funds'
>;

export class TradingAccount {
  readonly #bookings: Bookings;
  readonly #reconciliation: Reconciliation;
  readonly #pending = new PendingConversions();
  #lockedByOthers: ReadonlyMap<string, Money> = new Map();

  /**
   * `onBooked` receives every booking, for the books of the account. `fillOf` finds the order that a trade filled.
   * `place` is the name of the exchange, for an account on another exchange.
   */
  constructor(
    { tradeReportDelayMaxMs, listWaitMs = 0 }: AccountDelays,
    onBooked: (booked: Booked) => void,
    fillOf?: FillOf,
    memory?: BookingMemory,
    place?: string,
  ) {
    this.#bookings = new Bookings(onBooked, fillOf, memory, place);
    this.#reconciliation = new Reconciliation(this.#bookings, tradeReportDelayMaxMs, listWaitMs);
  }

  /** Restores the ledger of an earlier run. */
  restore(ledger: AccountLedger): void {
    this.#bookings.restore(ledger);
  }

  /**
   * Applies a balance read. `own` is the maximum amount locked by the bot's orders in the read, by currency. Returns the
   * halt reason, or `null`.
   */
  read({ balances, startedAt, quiet }: BalancesEvent, own: ReadonlyMap<string, Money>): LedgerHalt | null {
    this.#bookings.read(balances, startedAt, quiet && this.#pending.inFlight === 0);
    this.#lockedByOthers = lockedByOthers(own, balances);
    if (!quiet) return null;
    if (this.#pending.inFlight === 0) return this.#reconciliation.read(startedAt);
    // If the balances equal the ledger with or without the conversion in flight, a later run need not wait for the
    // outcome of the conversion.
    if (this.#pending.explainDifferences(this.#bookings.differences())) this.#reconciliation.recordEqualBalances();
    return null;
  }

  /** Adds a trade of the account to the ledger, whichever order book it is in; ignores repeats. */
  trade(trade: OwnTrade): void {
    this.#bookings.trade(trade);
  }

  /**
   * Applies a state change of the bot's order on another exchange, whose trades are booked one by one. No such change
   * happens during a quiet balance read, so the order explains no difference, and the count of mismatches continues.
   */
  orderElsewhere(event: ConversionEvent): void {
    this.#pending.apply(event);
  }

  /** Applies a state change of the bot's conversion. */
  convert(event: ConversionEvent): void {
    this.#pending.apply(event);
    if (event.phase === 'done') this.#bookings.convert(event.conversion, event.at);
    this.#reconciliation.restartCount();
  }

  /** Books a transfer whose cause is known. */
  transfer(event: TransferEvent): void {
    this.#bookings.transfer(event);
    this.#reconciliation.restartWait();
  }

  /** Applies the operator's resume: the bot books the remaining difference between reported balances and ledger. */
  resumed(at: Millis): void {
    this.#reconciliation.resumed(at);
  }

  /** Data that is missing before the bot can quote, as text; `null` if complete. */
  get missing(): string | null {
    if (!this.#bookings.isOpen) return 'the balances have not been read yet';
    return this.isReconciled ? null : 'the balances have not been compared with the ledger yet';
  }

  /** Whether the opening balances are known. */
  get isOpen(): boolean {
    return this.#bookings.isOpen;
  }

  /** Whether balances have differed from the ledger for so long that a late trade record cannot be the cause. */
  get differs(): boolean {
    return this.#reconciliation.differs;
  }

  /**
   * Returns the ledger balance minus the funds locked by other programs' orders and minus the amount that conversions
   * may still spend. Funds locked by the bot's own orders are not subtracted.
   */
  funds(currency: string): Money {
    return money(this.fundsWithPending(currency) - this.#pending.amountPending(currency));
  }

  /** Returns `funds` plus the amount that conversions may still spend. */
  fundsWithPending(currency: string): Money {
    return money(this.#bookings.total(currency) - (this.#lockedByOthers.get(currency) ?? 0n));
  }

  /** Number of conversions in flight. */
  get inFlight(): number {
    return this.#pending.inFlight;
  }

  /** Returns the amount of a currency at the opening of the ledger. */
  opening(currency: string): Money {
    return this.#bookings.opening(currency);
  }

  /**
   * Returns the base currency that pending conversions may still add (`buy`) and remove (`sell`), in lots of the book,
   * rounded up.
   */
  converting(instrument: Instrument): Readonly<Record<Side, number>> {
    return this.#pending.lots(instrument);
  }

  /** Returns the ledger balance of a currency. */
  total(currency: string): Money {
    return this.#bookings.total(currency);
  }

  /** Balances of the bot's ledger, by currency. */
  get totals(): ReadonlyMap<string, Money> {
    return this.#bookings.totals;
  }

  /** Number that increases with every ledger entry. */
  get version(): number {
    return this.#bookings.version;
  }

  /** Returns the state for the next run. `recent` holds ids of trades that the exchange may report again. */
  stateToSave(recent: readonly string[]): AccountLedger {
    return this.#bookings.stateToSave(recent);
  }

  /** Calls `call` with every later ledger entry. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#bookings.onEntry(call);
  }

  /** Latest comparison of balances with the ledger; `null` before the first comparison. */
  get checked(): BalanceCheck | null {
    return this.#reconciliation.checked;
  }

  /**
   * Difference that the exchange's transfer lists may still explain; `null` if none. The bot does not quote until the
   * difference is explained.
   */
  get unexplained(): Unexplained | null {
    return this.#reconciliation.unexplained;
  }

  /**
   * Returns the currencies whose reported total differs from the ledger total. `difference` is reported total minus
   * ledger total.
   */
  differences(): readonly { readonly currency: string; readonly difference: Money }[] {
    return this.#bookings.differences();
  }

  /** Whether balances have equaled the ledger at least once since the start or, if later, the last resume. */
  get isReconciled(): boolean {
    return this.#reconciliation.hasEqualled;
  }

  /** Whether a conversion is in flight, so that the exchange may execute it or may have executed it. */
  get isConverting(): boolean {
    return this.#pending.inFlight > 0;
  }
}
