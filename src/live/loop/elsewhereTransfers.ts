/**
 * Transfers that the operator makes between the bot's own exchange and the other exchange. An amount that leaves one
 * account is in transit until it arrives in the other. The engine remembers the amount, also across runs. Differences
 * from other causes remain for the comparison of balances with the ledger.
 */
import {
  atPlace,
  FALL_SOURCE,
  placeInName,
  tickerInName,
  TRANSIT,
  textOfMoney,
  type Engine,
  type Millis,
  type Money,
  type TransferEvent,
} from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';

export type ElsewhereTransferOptions = {
  readonly run: RunContext;
  readonly engine: Engine;
  readonly place: string;
  /** Whether the bot's own exchange lists its transfers, which are then booked from its lists. */
  readonly hasLists: boolean;
  /** Currencies that a transfer can have: those of the book on the other exchange. */
  readonly currencies: readonly string[];
};

/** Account, with the name of its exchange; `null` for the bot's own exchange. */
type Side = { readonly place: string | null; readonly view: Engine['account'] };
type Difference = { readonly currency: string; readonly difference: Money };

const BETWEEN = 'transfer between the two exchanges';
const SOURCES = { deposits: 'arrival', withdrawals: FALL_SOURCE, refunds: 'return' } as const;
/**
 * Age from which a listed deposit counts as coming from outside, if the balances on the other exchange equal the
 * ledger. An amount from the other exchange would have left the balances there before its arrival.
 */
const OUTSIDE_AFTER_MS: Millis = 60_000;

export class ElsewhereTransfers {
  readonly #o: ElsewhereTransferOptions;

  constructor(options: ElsewhereTransferOptions) {
    this.#o = options;
  }

  /**
   * Whether a listed transfer of the bot's own exchange may be one side of a transfer to or from the other exchange.
   */
  isBetween({ cause, currency, amount }: Pick<TransferEvent, 'cause' | 'currency' | 'amount'>): boolean {
    const { engine } = this.#o;
    if (!this.isTransferable(currency)) return false;
    if (cause === 'deposits' || cause === 'withdrawals') return true;
    // A returned withdrawal or a reversed deposit ends the transfer that it had started.
    return cause === 'refunds' && engine.transit.returns({ place: null, currency, amount }, true);
  }

  /**
   * Whether a transfer between the bot's two exchanges can have the currency. `name` may belong to any account, even at
   * an exchange that the bot no longer reads.
   */
  isTransferable(name: string): boolean {
    return this.#o.currencies.includes(tickerInName(name)) && placeInName(name) !== TRANSIT;
  }

  /** Whether the currency is at the other exchange and the opening balances there have not been read yet. */
  isUnread(name: string): boolean {
    const { engine, place } = this.#o;
    return placeInName(name) === place && engine.elsewhere?.view.isOpen !== true;
  }

  /** Logs what is in transit after a transfer between the bot's two exchanges. */
  onTransfer({ source, currency: name, amount, inTransit }: TransferEvent): void {
    if (inTransit !== true && !name.endsWith(atPlace('', TRANSIT))) return;
    const { engine, run } = this.#o;
    const currency = tickerInName(name);
    const held = `${textOfMoney(engine.transit.held(currency))} ${currency}`;
    const level = amount < 0n ? 'warn' : 'info';
    run.log[level]({ source }, `${BETWEEN}: ${textOfMoney(amount)} ${name}; in transit now: ${held}`);
  }

  /**
   * Books the transfers that explain lasting differences. Call this after a read of the other exchange's balances
   * during which no hedge started or ended.
   */
  explain(): void {
    this.#endOutside();
    this.#bookArrivals();
    this.#bookDepartures();
    this.#bookArrivals();
  }

  /**
   * Books every increase that completes a transfer, without waiting until the difference has lasted. For a preview,
   * which shows what a run does after it has waited.
   */
  bookCompleted(): void {
    for (const { place, view } of this.#sides) if (!view.isConverting) this.#bookComplete(place, differencesOf(view));
  }

  /** Accounts without transfer lists. */
  get #sides(): readonly Side[] {
    const { engine, place, hasLists } = this.#o;
    const there = engine.elsewhere === null ? [] : [{ place, view: engine.elsewhere.view }];
    return hasLists ? there : [...there, { place: null, view: engine.account }];
  }

  #bookArrivals(): void {
    for (const { place, view } of this.#sides) this.#bookComplete(place, this.#differences(view));
    for (const { place, view } of this.#sides)
      for (const { currency, difference } of this.#lasting(view, amount => amount > 0n))
        if (this.#o.engine.transit.expectedAt(place, currency) >= difference)
          this.#book('deposits', place, currency, difference);
        // A withdrawal that the exchange refused comes back in full.
        else if (this.#o.engine.transit.returns({ place, currency, amount: difference }))
          this.#book('refunds', place, currency, difference);
  }

  /** Books each increase that completes a transfer. It is the arrival, even if other balances also differ. */
  #bookComplete(place: string | null, differences: readonly Difference[]): void {
    for (const { currency, difference: amount } of differences)
      if (amount > 0n && this.#o.engine.transit.completes({ place, currency, amount }))
        this.#book('deposits', place, currency, amount);
  }

  #bookDepartures(): void {
    for (const { place, view } of this.#sides)
      for (const { currency, difference } of this.#lasting(view, amount => amount < 0n))
        if (this.#mayDepart(place, currency, difference)) this.#book('withdrawals', place, currency, difference);
  }

  /**
   * Returns the lasting differences of an account, with plain currency names. Empty unless all differences have the
   * wanted sign and a currency that a transfer can have: an increase together with a decrease looks like an unknown
   * trade.
   */
  #lasting(view: Side['view'], isWanted: (amount: Money) => boolean): readonly Difference[] {
    const all = this.#differences(view);
    const areLikely = all.every(
      ({ currency, difference }) => isWanted(difference) && this.#o.currencies.includes(currency),
    );
    return areLikely ? all : [];
  }

  #differences(view: Side['view']): readonly Difference[] {
    if (view.unexplained === null || view.isConverting) return [];
    return differencesOf(view);
  }

  /**
   * Whether a decrease may be a transfer to the other account. A decrease above the engine's maximum may be a loss, so
   * it is left to the comparison of balances with the ledger.
   */
  #mayDepart(place: string | null, currency: string, amount: Money): boolean {
    const places = this.#sides.map(side => side.place);
    return this.#mayArrive(place, currency) && this.#o.engine.transit.mayDepart({ place, currency, amount }, places);
  }

  /** Whether the ledger of the other account has the currency. */
  #mayArrive(from: string | null, currency: string): boolean {
    const { engine, place } = this.#o;
    if (from !== null) return engine.account.totals.has(currency);
    return engine.elsewhere?.view.totals.has(atPlace(currency, place)) === true;
  }

  #book(cause: 'deposits' | 'withdrawals' | 'refunds', place: string | null, currency: string, amount: Money): void {
    const { run } = this.#o;
    const at = run.time();
    const name = place === null ? currency : atPlace(currency, place);
    const source = `${SOURCES[cause]} ${name} ${at}`;
    run.step({
      kind: 'transfer',
      at,
      source,
      cause,
      currency: name,
      amount,
      occurredAt: at,
      why: BETWEEN,
      inTransit: true,
    });
  }

  /** Ends the transit of listed deposits that cannot have come from the other exchange. */
  #endOutside(): void {
    const { engine, run } = this.#o;
    const view = engine.elsewhere?.view;
    if (view === undefined || !view.isReconciled || view.isConverting || view.differences().length > 0) return;
    const at = run.time();
    for (const item of engine.transit.items) {
      const { source, currency, place, amount, since } = item;
      const isListed = place === null && amount < 0n && at - since >= OUTSIDE_AFTER_MS;
      // A withdrawal may have come back as this deposit.
      const mayBeReturned = engine.transit.items.some(
        each => each.place === null && each.currency === currency && each.amount > 0n,
      );
      if (mayBeReturned) continue;
      // The expected amount is net of this deposit. If it is not below 0, the deposit may be a part of what left the
      // other exchange.
      if (!isListed || engine.transit.expectedAt(null, currency) >= 0n) continue;
      const why = 'deposit from outside the two exchanges';
      const of = { currency: atPlace(currency, TRANSIT), amount: -amount as Money, occurredAt: at, why };
      run.step({ kind: 'transfer', at, source: `outside ${source}`, cause: 'deposits', ...of });
    }
  }
}

/** Differences of an account, with plain currency names. */
const differencesOf = (view: Side['view']): readonly Difference[] =>
  view.differences().map(({ currency, difference }) => ({ currency: tickerInName(currency), difference }));
