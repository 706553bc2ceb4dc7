/**
 * Engine: applies an event and returns approved commands. The engine is synchronous and deterministic, and uses no
 * clock, randomness, I/O or promises. It has one account and any number of books.
 */
import { counted } from '../text/counted.ts';
import { AccountState } from './accountState.ts';
import { BookEngine } from './bookEngine.ts';
import { bookStatesIn, continuedStates, withoutLots } from './bookStates.ts';
import type { BookOptions, EngineNews, EngineOptions, SharedOptions } from './engineTypes.ts';
import {
  isBookEvent,
  isReadEvent,
  type AccountEvent,
  type OneBookEvent,
  type EngineEvent,
  type RestoredLedger,
} from './event.ts';
import { CrossRateWatch } from '../risk/crossRateWatch.ts';
import { booksApartFrom, JointInventory } from '../risk/jointInventory.ts';
import type { FirstFills } from '../accounting/firstFills.ts';
import type { LedgerEntry } from '../accounting/ledger.ts';
import type { ElsewhereAccount } from '../accounting/elsewhereAccount.ts';
import type { AccountView } from '../accounting/tradingAccount.ts';
import type { Transit } from '../accounting/transit.ts';
import type { Approved, Command } from '../orders/commands.ts';
import type { Instrument } from '../model/instrument.ts';
import type { Order } from '../orders/orders.ts';
import type { Millis, Money } from '../model/units.ts';
import type { QuoteLog } from '../quoting/strategy.ts';

const NOTHING: readonly Approved<Command>[] = [];

export class Engine {
  /** Books, in the order in which they decide. */
  readonly books: readonly BookEngine[];
  /** Logs of the strategies whose quotes are recorded, in the order of the books. */
  readonly quoteLogs: readonly QuoteLog[];
  readonly #state: AccountState;
  readonly #instruments: readonly Instrument[];
  #shown: BookEngine | null = null;
  /** Covariance of an earlier run, kept for the next run if this run has no joint inventory. */
  #keptCovariance: RestoredLedger['covariance'];

  /**
   * Throws RangeError if there is no book, two have one symbol, or several are hedged on another exchange. Also throws
   * if a book has a target and is not the first with its base currency, or if a limited currency is the base of no book.
   * Throws if the books do not connect each base currency to the currency of the limit on the total value.
   */
  constructor(account: SharedOptions, books: readonly BookOptions[]) {
    const [first] = books;
    if (first === undefined) throw new RangeError('expected at least one book, found none');
    const symbols = books.map(({ instrument }) => instrument.symbol);
    if (new Set(symbols).size < symbols.length)
      throw new RangeError(`expected each book once, found ${symbols.join(', ')}`);
    const hedged = books.filter(({ elsewhere }) => elsewhere !== undefined);
    if (hedged.length > 1) throw new RangeError('expected at most one book with hedges on another exchange');
    const isHome = ({ instrument }: BookOptions): boolean =>
      books.find(book => book.instrument.major === instrument.major)?.instrument === instrument;
    const targeted = books.find(book => book.target !== null && !isHome(book));
    if (targeted !== undefined)
      throw new RangeError(
        `${targeted.instrument.symbol} has a target, but only the first book with a base currency can have one`,
      );
    this.#instruments = books.map(({ instrument }) => instrument);
    const {
      instance,
      run,
      timing,
      jointInventory,
      crossRates,
      currencyLimits = new Map<string, Money>(),
      valueLimit = null,
      onNews,
      isTraced = false,
    } = account;
    const unheld = [...currencyLimits.keys()].find(
      currency => !books.some(({ instrument: { major } }) => major === currency),
    );
    if (unheld !== undefined) throw new RangeError(`${unheld} has a limit, but is the base currency of no book`);
    const apart = valueLimit === null ? [] : booksApartFrom(valueLimit.currency, symbols);
    if (apart.length > 0)
      throw new RangeError(
        `no books connect ${apart.join(', ')} to ${valueLimit!.currency}, the currency of the limit on the total value`,
      );
    const { instrument, elsewhere } = hedged[0] ?? first;
    const joint = jointInventory && books.length > 1 ? new JointInventory(symbols, jointInventory) : null;
    const staleAfterMs = Math.max(...books.map(({ limits }) => limits?.staleAfterMs ?? 0));
    this.#state = new AccountState({
      instance,
      run,
      timing,
      major: instrument.major,
      elsewhere,
      joint,
      crossRates: crossRates && books.length > 1 ? new CrossRateWatch(symbols, crossRates, staleAfterMs) : null,
      currencyLimits,
      valueLimit,
    });
    this.books = books.map(book => {
      const told = onNews ? { onNews: (news: EngineNews) => onNews(news, book.instrument.symbol) } : {};
      const nameInReasons = books.length === 1 ? undefined : book.instrument.symbol;
      return new BookEngine({ ...book, timing, isTraced, nameInReasons, ...told }, this.#state);
    });
    this.quoteLogs = books.flatMap(({ strategy }) => strategy.quoteLog ?? []);
  }

  static ofOneBook(options: EngineOptions): Engine {
    return new Engine(options, [options]);
  }

  /** Errors of strategy files, by book. Such a book is silent until its strategy is made again; the others quote. */
  get strategyFailures(): readonly { readonly symbol: string; readonly failure: string }[] {
    return this.books.flatMap(({ symbol, strategyFailure: failure }) =>
      failure === null ? [] : [{ symbol, failure }],
    );
  }

  /** Book that `showBook` selected, or the only book. Throws if there are several books and none is selected. */
  get book(): BookEngine {
    const shown = this.#shown ?? (this.books.length === 1 ? this.books[0] : undefined);
    if (shown === undefined) throw new Error(`expected one book, found ${this.books.length}`);
    return shown;
  }

  /**
   * Selects the book that `book` returns, for code that reads one book at a time. @throws RangeError if there is no
   * such book.
   */
  showBook(symbol: string): void {
    const shown = this.books.find(book => book.symbol === symbol);
    if (shown === undefined)
      throw new RangeError(`expected one of ${this.books.map(book => book.symbol).join(', ')}, found ${symbol}`);
    this.#shown = shown;
  }

  /**
   * Applies one event and returns the commands to execute, in order. Throws only if this program has a defect, or if
   * reports of the exchange contradict each other.
   */
  step(event: EngineEvent): readonly Approved<Command>[] {
    this.#state.observe(event.at);
    for (const book of this.books) book.begin(event.at);
    if (isBookEvent(event)) return this.#bookOf(event).step(event);
    if (event.kind === 'restore') {
      this.#restore(event);
      return NOTHING;
    }
    this.#applyAccount(event);
    // If the event names a book, only that book decides: every other book has an event of its own at this time, which
    // must come before its decision.
    const isOfOneBook = isReadEvent(event) && event.symbol !== undefined;
    return this.#decide(event.at, isOfOneBook ? [this.#named(event.symbol, event.kind)] : this.books);
  }

  #applyAccount(event: AccountEvent): void {
    const { accounts } = this.#state;
    if (event.kind === 'trades') for (const trade of event.trades) accounts.trade(trade, event.at);
    if (event.kind === 'conversion') accounts.convert(event);
    if (event.kind === 'elsewhere') accounts.orderElsewhere(event);
    if (event.kind === 'transfer') accounts.transfer(event);
    if (event.kind === 'stop') this.#state.isStopping = true;
    if (event.kind === 'sentinel') this.#state.sentinel = event;
    const symbol = 'symbol' in event ? event.symbol : undefined;
    if (symbol !== undefined) {
      this.#named(symbol, event.kind).apply(event);
      return;
    }
    for (const book of this.books) this.#apply(book, event);
    if (event.kind === 'balances') this.#readBalances(event);
    if (event.kind === 'resume') accounts.resumed(event.at);
  }

  #readBalances(event: Extract<AccountEvent, { kind: 'balances' }>): void {
    const { accounts, firstFills } = this.#state;
    const { place, firstHedges } = event;
    if (place !== undefined) this.#state.firstHedges = firstHedges === undefined ? null : { place, ...firstHedges };
    const before = accounts.own.checked;
    this.#state.halt(accounts.read(event, this.#state.lockedSince(event.startedAt)));
    const { checked } = accounts.own;
    if (checked !== null && checked !== before) firstFills.compared(checked.differences.size === 0);
  }

  /** Applies an event to a book; of an event with orders, the book gets its own. */
  #apply(book: BookEngine, event: AccountEvent): void {
    if (this.books.length === 1) return book.apply(event);
    if (event.kind === 'placed') {
      if (book === this.#ownerOf(event.id)) book.apply(event);
    } else if (event.kind === 'canceled' || event.kind === 'looked up') {
      // A command has orders of one book. All its ids are passed on, because an empty answer proves nothing about
      // several.
      if (event.ids.some(id => book.order(id) !== undefined)) book.apply(event);
    } else if (event.kind === 'open orders') {
      book.apply({ ...event, orders: event.orders.filter(report => report.book === book.symbol) });
    } else book.apply(event);
  }

  #ownerOf(id: string): BookEngine {
    const book = this.books.find(each => each.order(id) !== undefined);
    if (book === undefined) throw new Error(`received an answer for order ${id}, which was never placed`);
    return book;
  }

  #decide(at: Millis, deciding: readonly BookEngine[]): readonly Approved<Command>[] {
    if (this.books.length === 1) return this.books[0]!.decide(at);
    const commands = deciding.flatMap(book => book.decide(at));
    // The loss of a halted book halts the others.
    if (this.books.some(book => book.haltedBecause === null)) for (const book of this.books) book.checkHalted(at);
    return commands;
  }

  #bookOf({ kind, symbol }: OneBookEvent): BookEngine {
    if (symbol === undefined && this.books.length > 1)
      throw new Error(
        `received a ${kind} event without a symbol, but the engine has ${counted(this.books.length, 'book')}`,
      );
    return symbol === undefined ? this.books[0]! : this.#named(symbol, kind);
  }

  #named(symbol: string, kind: EngineEvent['kind']): BookEngine {
    const book = this.books.find(each => each.symbol === symbol);
    if (book === undefined) throw new Error(`received a ${kind} event of ${symbol}, which is no book of this engine`);
    return book;
  }

  #restore({ orders, ledger, at, smallestUntil = 0 }: Extract<EngineEvent, { kind: 'restore' }>): void {
    this.#state.firstFills.restore(smallestUntil, ledger?.firstFills);
    for (const order of orders) {
      const symbol = order.symbol ?? this.books[0]!.symbol;
      const book = this.books.find(each => each.symbol === symbol);
      if (book === undefined) throw new Error(`order ${order.id} is in ${symbol}, which is not a book of this engine`);
      book.restoreOrder(order, at);
    }
    if (ledger === null) return;
    const { accounts } = this.#state;
    accounts.restore(ledger, at);
    this.#keptCovariance = ledger.covariance;
    if (ledger.covariance !== undefined) this.#state.joint?.restore(ledger.covariance, at);
    const stored = bookStatesIn(ledger, this.books[0]!.symbol);
    const { states, kept } = continuedStates(stored, this.#instruments, major => accounts.held(major));
    this.#state.kept = kept;
    // The home of a currency comes after the other books: what belongs to them does not belong to the home.
    for (const isHome of [false, true])
      for (const book of this.books)
        if (this.#state.isHome(book) === isHome) book.restore(states.get(book.symbol) ?? book.firstState, at);
  }

  /** Symbols of books that only earlier runs had; their stored states are kept. */
  get keptBooks(): readonly string[] {
    return [...this.#state.kept.keys()];
  }

  /** Orders of all books that may be live. */
  get liveOrders(): readonly Order[] {
    return this.#all(book => book.liveOrders);
  }

  /** Orders of all books that may be live or may still be filled. */
  get unfinished(): readonly Order[] {
    return this.#all(book => book.unfinished);
  }

  /** Returns an order of any book by origin id, including orders that ended recently. */
  order(id: string): Order | undefined {
    return this.bookWith(id)?.order(id);
  }

  /**
   * Returns the book that has an order; `undefined` if none has it. An engine with one book always returns that book.
   */
  bookWith(id: string): BookEngine | undefined {
    if (this.books.length === 1) return this.books[0]!;
    return this.books.find(book => book.order(id) !== undefined);
  }

  /** Reason for the halt of the first halted book; `null` if no book is halted. */
  get haltedBecause(): string | null {
    return this.#first(book => book.haltedBecause);
  }

  /** Reason for the operator's pause; `null` if not paused. */
  get pausedBecause(): string | null {
    return this.#first(book => book.pausedBecause);
  }

  /** Reason why the first reduce-only book only reduces its inventory; `null` if no book is reduce-only. */
  get reducingBecause(): string | null {
    return this.#first(book => book.reducingBecause);
  }

  /** Whether the inventory of all books is known and within its limit. */
  get isWithinLimit(): boolean {
    return this.books.every(book => book.isWithinLimit);
  }

  /** Whether the tick or lot of a book has changed since the start of this run. */
  get isOutdated(): boolean {
    return this.books.some(book => book.isOutdated);
  }

  #all<T>(of: (book: BookEngine) => readonly T[]): readonly T[] {
    return this.books.length === 1 ? of(this.books[0]!) : this.books.flatMap(of);
  }

  #first(of: (book: BookEngine) => string | null): string | null {
    for (const book of this.books) {
      const found = of(book);
      if (found !== null) return found;
    }
    return null;
  }

  /** Account on the bot's own exchange. */
  get account(): AccountView {
    return this.#state.accounts.own;
  }

  /** Fills on an untried exchange that have reconciled, and how many must until orders may have any size. */
  get firstFills(): Pick<FirstFills, 'until' | 'state' | 'isSmallest'> {
    return this.#state.firstFills;
  }

  /** Account on the other exchange where the bot hedges; `null` if there is none. */
  get elsewhere(): Pick<
    ElsewhereAccount,
    'view' | 'checked' | 'funds' | 'held' | 'moved' | 'openOrders' | 'closedBecause'
  > | null {
    return this.#state.accounts.elsewhere;
  }

  /** Amounts on their way between both exchanges. */
  get transit(): Pick<Transit, 'items' | 'expectedAt' | 'completes' | 'returns' | 'mayDepart' | 'held'> {
    return this.#state.accounts.transit;
  }

  /** Number that increases with every ledger entry and every change of an adverse-selection state. */
  get ledgerVersion(): number {
    return this.books.reduce((sum, { version }) => sum + version, this.#state.accounts.version);
  }

  /** Calls `call` with every later entry of the ledger, whichever account has it. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#state.accounts.onEntry(call);
  }

  /** Returns the ledger for the next run. `recent` holds ids of trades that the exchange may report again. */
  ledger(recent: readonly string[]): RestoredLedger | null {
    const { accounts } = this.#state;
    if (!accounts.own.isOpen) return null;
    const { state: firstFills } = this.#state.firstFills;
    const ofAccount = { ...accounts.stateToSave(recent), ...(firstFills && { firstFills }) };
    if (this.books.length === 1 && this.#state.kept.size === 0) return { ...ofAccount, ...this.books[0]!.stateToSave };
    const states = this.books.map((book, i) => withoutLots(book.stateToSave, this.#instruments[i]!));
    const named = new Map([...this.books.map((book, i) => [book.symbol, states[i]!] as const), ...this.#state.kept]);
    const { symbol } = this.books[0]!;
    named.delete(symbol);
    const covariance = this.#state.joint?.state ?? this.#keptCovariance ?? null;
    return {
      ...ofAccount,
      ...states[0]!,
      symbol,
      books: Object.fromEntries(named),
      ...(covariance === null ? {} : { covariance }),
    };
  }

  /** Time of the next decision if no event causes an earlier one. Drivers send a timer event at this time. */
  get decidesAt(): Millis {
    let at = Infinity;
    for (const book of this.books) at = Math.min(at, book.decidesAt);
    return at;
  }
}
