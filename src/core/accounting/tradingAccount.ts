/** Account at the exchange, shared by all books: ledger against balances, pending conversions, foreign locks. */
import type { AccountLedger, BalancesEvent, ConversionEvent, TransferEvent } from './accountEvents.ts';
import { lockedByOthers } from './foreignLocks.ts';
import { Holdings, type Booked, type FillOf } from './holdings.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Instrument } from '../model/instrument.ts';
import { PendingConversions } from './pendingConversions.ts';
import { Reconciliation, type BalanceCheck, type Unexplained } from './reconciliation.ts';
import type { OwnTrade } from '../ports/port.ts';
import type { HaltReason } from '../model/halts.ts';
import { money, type Millis, type Money, type Side } from '../model/units.ts';

/**
 * Delays of the exchange. `listWaitMs` is the maximum delay until its lists show a balance change; if absent, a lasting
 * difference halts immediately.
 */
export type AccountPatience = { readonly tradeReportDelayMaxMs: Millis; readonly listWaitMs?: Millis };

/** Account interface for code that makes no order decisions: drivers, the journal, the hedger. */
export type AccountView = Pick<
  TradingAccount,
  | 'checked'
  | 'unexplained'
  | 'differences'
  | 'isReconciled'
  | 'isConverting'
  | 'onEntry'
  | 'total'
  | 'isOpen'
  | 'totals'
>;

export class TradingAccount {
  readonly #holdings: Holdings;
  readonly #reconciliation: Reconciliation;
  readonly #pending = new PendingConversions();
  #lockedByOthers: ReadonlyMap<string, Money> = new Map();

  /** `told` is called with every booking, for the books of the account. `fillOf` is as in `Holdings`. */
  constructor(
    { tradeReportDelayMaxMs, listWaitMs = 0 }: AccountPatience,
    told: (booked: Booked) => void,
    fillOf?: FillOf,
  ) {
    this.#holdings = new Holdings(told, fillOf);
    this.#reconciliation = new Reconciliation(this.#holdings, tradeReportDelayMaxMs, listWaitMs);
  }

  /** Continues the ledger of an earlier run. */
  restore(ledger: AccountLedger): void {
    this.#holdings.restore(ledger);
  }

  /** Applies a balance read. `own` is what the bot's orders lock, by currency. Returns the halt reason, or null. */
  read({ balances, startedAt, quiet }: BalancesEvent, own: ReadonlyMap<string, Money>): HaltReason | null {
    this.#holdings.read(balances, startedAt);
    this.#lockedByOthers = lockedByOthers(own, balances);
    if (!quiet) return null;
    if (this.#pending.isEmpty) return this.#reconciliation.read(startedAt);
    // A later run need not wait for a conversion's end: the ledger is right with or without it.
    if (this.#pending.explainDifferences(this.#holdings.differences()))
      this.#reconciliation.equalledButForConversions();
    return null;
  }

  /** Books a trade of the account in any book; ignores repeats. */
  trade(trade: OwnTrade): void {
    this.#holdings.trade(trade);
  }

  /** Applies a state change of the bot's conversion. */
  convert(event: ConversionEvent): void {
    this.#pending.apply(event);
    if (event.phase === 'done') this.#holdings.convert(event.conversion, event.at);
    this.#reconciliation.restartCount();
  }

  /** Books an explained transfer. */
  transfer(event: TransferEvent): void {
    this.#holdings.transfer(event);
    this.#reconciliation.restartWait();
  }

  /** Applies the operator's resume: reported balances are accepted into the ledger. */
  resumed(at: Millis): void {
    this.#reconciliation.resumed(at);
  }

  /** Missing data before anything can be quoted, in words; null if complete. */
  get missing(): string | null {
    if (!this.#holdings.isOpen) return 'balances are not read yet';
    return this.isReconciled ? null : 'balances and ledger are not compared yet';
  }

  /** Whether its balances are known. */
  get isOpen(): boolean {
    return this.#holdings.isOpen;
  }

  /** Whether balances differ from the ledger for longer than a late record explains. */
  get differs(): boolean {
    return this.#reconciliation.differs;
  }

  /** Returns the ledger balance minus foreign locks and what conversions may still take. The bot's own orders are not subtracted. */
  funds(currency: string): Money {
    const total = this.#holdings.total(currency);
    const locked = this.#lockedByOthers.get(currency) ?? 0n;
    const taken = this.#pending.amountPending(currency);
    return locked === 0n && taken === 0n ? total : money(total - locked - taken);
  }

  /** Returns the amounts of a book's base currency that conversions may still bring (buy) or take (sell), in lots, rounded up. */
  converting(instrument: Instrument): Readonly<Record<Side, number>> {
    return this.#pending.lots(instrument);
  }

  /** Returns the balance of the bot's ledger. */
  total(currency: string): Money {
    return this.#holdings.total(currency);
  }

  /** Balances of the bot's ledger, by currency. */
  get totals(): ReadonlyMap<string, Money> {
    return this.#holdings.totals;
  }

  /** Increases with every ledger entry. */
  get version(): number {
    return this.#holdings.version;
  }

  /** Returns the state for a later run. `recent` holds ids of trades that may be reported again. */
  kept(recent: readonly string[]): AccountLedger {
    return this.#holdings.stateToSave(recent);
  }

  /** Calls `call` with every ledger entry from now on. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#holdings.onEntry(call);
  }

  /** The last comparison of balances with the ledger; null before the first. */
  get checked(): BalanceCheck | null {
    return this.#reconciliation.checked;
  }

  /** Difference that waits for an explanation by the exchange's lists, without quoting; null if there is none. */
  get unexplained(): Unexplained | null {
    return this.#reconciliation.unexplained;
  }

  /** Returns currencies with a difference between reported total and ledger: reported minus ledger. */
  differences(): readonly { readonly currency: string; readonly difference: Money }[] {
    return this.#holdings.differences();
  }

  /** Whether balances equaled the ledger since the start and since the last resume. */
  get isReconciled(): boolean {
    return this.#reconciliation.hasEqualled;
  }

  /** Whether a conversion may be, or may have been, executed. */
  get isConverting(): boolean {
    return !this.#pending.isEmpty;
  }
}
