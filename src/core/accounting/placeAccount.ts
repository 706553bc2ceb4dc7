/**
 * Account of the bot on another exchange: balances, ledger and comparison of their own, and the order there that may
 * still execute. Every currency has the place in its name.
 */
import type { AccountLedger, BalancesEvent, ElsewhereEvent, TransferEvent } from './accountEvents.ts';
import type { Booked } from './bookings.ts';
import { changesIn, type LedgerEntry } from './ledger.ts';
import { atPlace, isAtPlace } from './place.ts';
import { TradingAccount, type AccountDelays, type AccountView } from './tradingAccount.ts';
import type { HaltReason } from '../model/halts.ts';
import type { Instrument } from '../model/instrument.ts';
import { money, multiplyMoneyFloor, type Millis, type Money, type Side } from '../model/units.ts';

/** Effect of a booked change there on the position of the bot's book. `cash` is in the quote currency of that book. */
export type PlacedChange =
  | { readonly kind: 'trade'; readonly major: Money; readonly cash: Money }
  | { readonly kind: 'opening' | 'transfer'; readonly major: Money };

/** Book there: its venue, its currencies, and the base currency of the bot's book. */
export type PlacedBook = { readonly place: string; readonly major: string; readonly minor: string };

export class PlaceAccount {
  readonly #book: PlacedBook;
  readonly #account: TradingAccount;
  readonly #onChange: (change: PlacedChange) => void;
  /** Rate of the trades that are being booked. */
  #rate = money(0n);

  /** `onChange` receives the effect of each booking on the position, except restored bookings. */
  constructor(book: PlacedBook, delays: AccountDelays, onChange: (change: PlacedChange) => void) {
    this.#book = book;
    this.#onChange = onChange;
    this.#account = new TradingAccount(delays, booked => this.#booked(booked), undefined, undefined, book.place);
  }

  get view(): AccountView {
    return this.#account;
  }

  /** Data that is missing before the bot can quote, as text; `null` if complete. */
  get missing(): string | null {
    const { missing } = this.#account;
    return missing === null ? null : `${this.#book.place}: ${missing}`;
  }

  get differs(): boolean {
    return this.#account.differs;
  }

  get version(): number {
    return this.#account.version;
  }

  /** Held amount of the base currency of the book. */
  get held(): Money {
    return this.#account.total(atPlace(this.#book.major, this.#book.place));
  }

  /** Whether the currency is of this place. */
  has(currency: string): boolean {
    return isAtPlace(currency, this.#book.place);
  }

  /** Applies a balance read of this place. Returns the halt reason, or `null`. */
  read(event: BalancesEvent): HaltReason | null {
    const { place } = this.#book;
    const balances = event.balances.map(row => ({ ...row, currency: atPlace(row.currency, place) }));
    return this.#account.read({ ...event, balances }, NO_LOCKS);
  }

  /** Applies a state change of the bot's order there. */
  apply(event: ElsewhereEvent): void {
    const { place } = this.#book;
    const { give, get, ...rest } = event.conversion;
    const placed = {
      ...rest,
      give: { ...give, currency: atPlace(give.currency, place) },
      get: { ...get, currency: atPlace(get.currency, place) },
    };
    if (event.phase === 'ended') {
      if (!(event.rate > 0n)) throw new RangeError(`expected a rate above 0 for the trades at ${place}`);
      this.#rate = event.rate;
      for (const trade of event.trades) this.#account.trade(trade);
    }
    // The trades are booked one by one, so the end of the order books no amount.
    const phase = event.phase === 'ended' ? 'failed' : event.phase;
    this.#account.convert({ kind: 'conversion', at: event.at, phase, conversion: placed });
  }

  /** Books a transfer with a known cause. The currency of the event has the place in its name. */
  transfer(event: TransferEvent): void {
    this.#account.transfer({ ...event, source: atPlace(event.source, this.#book.place) });
  }

  resumed(at: Millis): void {
    this.#account.resumed(at);
  }

  /** Returns what the order there may still add and remove of the base currency, in lots of the bot's book. */
  converting(instrument: Instrument): Readonly<Record<Side, number>> {
    return this.#account.converting({ ...instrument, major: atPlace(this.#book.major, this.#book.place) });
  }

  /** Returns the funds there in a currency, without what an open order may spend. */
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
    const { causes, sources } = this.#account.stateToSave([]);
    return { ...ledger, causes: new Map([...ledger.causes, ...causes]), sources: [...ledger.sources, ...sources] };
  }

  /** Restores this account from the ledger of both; returns the ledger without it. */
  restore<L extends AccountLedger>(ledger: L): L {
    const { place } = this.#book;
    const isHere = (name: string) => isAtPlace(name, place);
    const causes = [...ledger.causes].filter(([currency]) => isHere(currency));
    if (causes.length > 0)
      this.#account.restore({ causes: new Map(causes), sources: ledger.sources.filter(isHere), seen: new Map() });
    return {
      ...ledger,
      causes: new Map([...ledger.causes].filter(([currency]) => !isHere(currency))),
      sources: ledger.sources.filter(source => !isHere(source)),
    };
  }

  #booked(booked: Booked): void {
    const { place, major, minor } = this.#book;
    const base = changesIn(booked.changes, atPlace(major, place));
    if (booked.kind !== 'trade') {
      this.#onChange({ kind: booked.kind === 'opening' ? 'opening' : 'transfer', major: base });
      return;
    }
    // Rounded down also below 0, so that cash is never overstated.
    const cash = multiplyMoneyFloor(changesIn(booked.changes, atPlace(minor, place)), this.#rate);
    this.#onChange({ kind: 'trade', major: base, cash });
  }
}

const NO_LOCKS: ReadonlyMap<string, Money> = new Map();
