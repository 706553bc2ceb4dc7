/** The account at the exchange, whatever books trade in it: its ledger against its balances, conversions under way, what others have locked. */
import type { AccountLedger, BalancesEvent, ConversionEvent, TransferEvent } from './accountEvents.ts';
import { lockedByOthers } from './foreignLocks.ts';
import { Holdings } from './holdings.ts';
import type { Booked, FillOf } from './holdings.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Instrument } from '../model/instrument.ts';
import { PendingConversions } from './pendingConversions.ts';
import { Reconciliation } from './reconciliation.ts';
import type { BalanceCheck, Unexplained } from './reconciliation.ts';
import type { OwnTrade } from '../ports/port.ts';
import type { HaltReason } from '../model/halts.ts';
import { money } from '../model/units.ts';
import type { Millis, Money, Side } from '../model/units.ts';

/** `listWaitMs`: how long the exchange's lists may take to show what moved a balance; absent: a difference that stays halts at once. */
export type AccountPatience = { readonly tradeReportDelayMaxMs: Millis; readonly listWaitMs?: Millis };

/** What is shown of it to those who decide nothing on orders: drivers, the journal, the hedger. */
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

  /** `told`: called with everything that is booked, for the books that trade here. `fillOf`: as of `Holdings`. */
  constructor(
    { tradeReportDelayMaxMs, listWaitMs = 0 }: AccountPatience,
    told: (booked: Booked) => void,
    fillOf?: FillOf,
  ) {
    this.#holdings = new Holdings(told, fillOf);
    this.#reconciliation = new Reconciliation(this.#holdings, tradeReportDelayMaxMs, listWaitMs);
  }

  /** Goes on with the ledger of an earlier run. */
  restore(ledger: AccountLedger): void {
    this.#holdings.restore(ledger);
  }

  /** Balances were read. `own`: what orders of ours lock, by currency. Returns why to halt, or null. */
  read({ balances, startedAt, quiet }: BalancesEvent, own: ReadonlyMap<string, Money>): HaltReason | null {
    this.#holdings.read(balances, startedAt);
    this.#lockedByOthers = lockedByOthers(own, balances);
    if (!quiet) return null;
    if (this.#pending.isEmpty) return this.#reconciliation.read(startedAt);
    // A later run need not wait for the end of a conversion: the ledger is right with it or without it.
    if (this.#pending.explain(this.#holdings.differences())) this.#reconciliation.equalledButForConversions();
    return null;
  }

  /** A trade of the account, in whatever book; a repeat changes nothing. */
  trade(trade: OwnTrade): void {
    this.#holdings.trade(trade);
  }

  /** A conversion of ours is planned, under way or over. */
  convert(event: ConversionEvent): void {
    this.#pending.hear(event);
    if (event.phase === 'done') this.#holdings.convert(event.conversion, event.at);
    this.#reconciliation.again();
  }

  /** Money came or went, and it is known why. */
  transfer(event: TransferEvent): void {
    this.#holdings.transfer(event);
    this.#reconciliation.explained();
  }

  /** A person has looked: what the exchange reports is taken for the ledger. */
  resumed(at: Millis): void {
    this.#reconciliation.resumed(at);
  }

  /** What must still become known before anything is quoted from it, in words; null when nothing is missing. */
  get missing(): string | null {
    if (!this.#holdings.isOpen) return 'balances are not read yet';
    return this.isReconciled ? null : 'balances and ledger are not compared yet';
  }

  /** Its balances are known. */
  get isOpen(): boolean {
    return this.#holdings.isOpen;
  }

  /** The exchange's balances differ from the ledger for longer than a late record explains. */
  get differs(): boolean {
    return this.#reconciliation.differs;
  }

  /** Ours by the ledger, less what others have locked and what conversions may still take; orders of ours are not counted. */
  funds(currency: string): Money {
    const total = this.#holdings.total(currency);
    const locked = this.#lockedByOthers.get(currency) ?? 0n;
    const taken = this.#pending.taken(currency);
    return locked === 0n && taken === 0n ? total : money(total - locked - taken);
  }

  /** What conversions may still bring (buy) and take (sell) of a book's major currency, in its lots, rounded up. */
  converting(instrument: Instrument): Readonly<Record<Side, number>> {
    return this.#pending.lots(instrument);
  }

  /** By our own ledger. */
  total(currency: string): Money {
    return this.#holdings.total(currency);
  }

  /** The same of every currency. */
  get totals(): ReadonlyMap<string, Money> {
    return this.#holdings.totals;
  }

  /** Grows with every entry of the ledger. */
  get version(): number {
    return this.#holdings.version;
  }

  /** What a later run goes on with; `recent` are the ids of the trades that it may be told again. */
  kept(recent: readonly string[]): AccountLedger {
    return this.#holdings.kept(recent);
  }

  /** Tells every entry of the ledger from now on, as it is booked. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#holdings.onEntry(call);
  }

  /** The last comparison of the exchange's balances with the ledger; null before the first. */
  get checked(): BalanceCheck | null {
    return this.#reconciliation.checked;
  }

  /** A difference that waits for the exchange's lists to explain it, while nothing is quoted; null when there is none. */
  get unexplained(): Unexplained | null {
    return this.#reconciliation.unexplained;
  }

  /** Currencies in which the exchange's last balances differ from our ledger: reported minus ours. */
  differences(): readonly { readonly currency: string; readonly difference: Money }[] {
    return this.#holdings.differences();
  }

  /** The balances equalled the ledger since the start, and since a person last resumed. */
  get isReconciled(): boolean {
    return this.#reconciliation.hasEqualled;
  }

  /** A conversion may be carried out at any moment, or has been. */
  get isConverting(): boolean {
    return !this.#pending.isEmpty;
  }
}
