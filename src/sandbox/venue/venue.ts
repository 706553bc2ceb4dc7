/** State of the embedded exchange: books, accounts, keys and orders, and the balance changes of executions. */
import {
  money,
  moneyOf,
  moneyOfAmount,
  moneyOfValue,
  randomOf,
  valueOf,
  type BookRules,
  type Clock,
  type FeeTier,
  type Millis,
  type Money,
  type Random,
} from '../../core/index.ts';
import type { Transfer } from './transfers.ts';
import { Account, PERMISSIONS, tierOf, type ApiKey, type Permission, type Tier } from './accounts.ts';
import { BOOKS, feesOf, NO_BOUND, type BookSetup } from './books.ts';
import { resolved, type Modification } from './modification.ts';
import { derivedOid, randomOid } from '../wire/oid.ts';
import { isActive, limitLock, payingCurrency, unfilled, type Draft, type VenueOrder } from './order.ts';
import { feeOn, floor8 } from '../wire/rounding.ts';
import { switchesOf, type Switches } from '../switches/switches.ts';
import { VenueBook, type BookEvent, type BookHost, type Execution } from './venueBook.ts';

export type VenueOptions = {
  readonly clock: Clock;
  readonly seed?: number;
  /** Listed books. Default: the ten books of BOOKS. */
  readonly books?: readonly BookSetup[];
  readonly switches?: Partial<Switches>;
  /**
   * Order ids: random text (default), growing whole numbers as text, or text derived from a salt and the number of the
   * order. Derived text does not repeat after a restart.
   */
  readonly orderIds?: 'random' | 'growing' | { readonly salt: number };
  /** Receiver of the changes that must be stored. Default: none. */
  readonly watcher?: VenueWatcher;
  /**
   * Returns the fee to take from another currency than the received one; `null` if the fee is taken from the received
   * currency. The account must have the sum available.
   */
  readonly payFee?: FeePayment;
};

/** Receiver of the changes that must be stored. No call may change the venue. */
export interface VenueWatcher {
  /** Reports an order that was created or has ended. */
  ordered(order: VenueOrder): void;
  /** Reports an ended order that lookup no longer shows. */
  forgotten(order: VenueOrder): void;
  /** Called after each command of an account to a book. */
  executed(): void;
}

/** Counters of the venue that continue after a restart: next trade id and number of orders. */
export type VenueNumbers = { readonly tid: number; readonly orders: number };

/** Account of an earlier process, with its key and its orders, the oldest first. */
export type RestoredAccount = {
  readonly key: string;
  readonly secret: string;
  readonly account: Account;
  readonly active: readonly VenueOrder[];
  /** Ended orders in the order of their ends. */
  readonly finished: readonly VenueOrder[];
};

/** Fee that an account pays in another currency. `rate` is in parts of 10^-8. */
export type FeePayment = (
  account: Account,
  received: { readonly currency: string; readonly sum: Money },
  rate: bigint,
) => { readonly currency: string; readonly sum: Money } | null;

export type AccountOptions = {
  /** Initial balances: decimal text by currency. */
  readonly balances?: Readonly<Record<string, string>>;
  /** Amounts added to the account's traded volume: decimal text by quote group (mxn, usd, brl). */
  readonly volume30d?: Readonly<Record<string, string>>;
  /** Permissions of the key. Default: all. */
  readonly permissions?: readonly Permission[];
  readonly addresses?: readonly string[];
  /** Country of residence, two letters. Default: MX. */
  readonly country?: string;
};

/**
 * Maximum number of stored finished orders per account. Beyond this number, the oldest orders are dropped even if they
 * have not expired.
 */
export const FINISHED_MAX = 10_000;
export const ACCOUNTS_MAX = 10_000;
export const KEYS_MAX = 10_000;

const FIRST_TID = 100_000_001;
const FIRST_ORDER = 1_000_001;
/**
 * First sequence number of a book. The exchange's sequence numbers are near 4.5 billion, above 32 bits (public-facts
 * 4.3).
 */
const FIRST_SEQUENCE = 4_500_000_000;

export class Venue implements BookHost {
  readonly clock: Clock;
  /** Random numbers for market simulators. */
  readonly marketRandom: Random;
  readonly books = new Map<string, VenueBook>();
  readonly accounts = new Map<string, Account>();
  readonly keys = new Map<string, ApiKey>();
  /** Fees that the exchange collected, by currency. */
  readonly feesTaken = new Map<string, bigint>();
  /** Net gain of the market simulators against the accounts, by currency. */
  readonly simulatorNetGain = new Map<string, bigint>();
  /** Total deposits less withdrawals, by currency. */
  readonly deposited = new Map<string, bigint>();
  #switches: Switches;
  readonly #ids: Random;
  readonly #orderId: () => string;
  readonly #payFee: FeePayment;
  readonly #delays: Random;
  readonly #orders = new Map<string, VenueOrder>();
  readonly #tiers = new Map<string, readonly Tier[]>();
  readonly #listeners = new Set<(event: BookEvent) => void>();
  #tid = FIRST_TID;
  #ordersSoFar = 0;
  readonly #watcher: VenueWatcher | null;

  constructor(options: VenueOptions) {
    const seed = options.seed ?? 1;
    this.clock = options.clock;
    this.#switches = switchesOf(options.switches);
    this.#ids = randomOf(seed ^ 0x1d);
    this.#watcher = options.watcher ?? null;
    const { orderIds = 'random' } = options;
    this.#orderId =
      orderIds === 'random'
        ? () => randomOid(this.#ids)
        : orderIds === 'growing'
          ? () => String(FIRST_ORDER + this.#ordersSoFar)
          : () => derivedOid(orderIds.salt, this.#ordersSoFar);
    this.#payFee = options.payFee ?? (() => null);
    this.#delays = randomOf(seed ^ 0xde1a);
    this.marketRandom = randomOf(seed ^ 0xf10a);
    for (const setup of options.books ?? BOOKS) this.openBook(setup);
  }

  get switches(): Switches {
    return this.#switches;
  }

  /** Changes switches, effective immediately. */
  set(overrides: Partial<Switches>): void {
    this.#switches = switchesOf(overrides, this.#switches);
  }

  /** Lists a book. Throws a RangeError if a book of that name is already listed. */
  openBook(setup: BookSetup): VenueBook {
    if (this.books.has(setup.book)) throw new RangeError(`book ${setup.book} is already listed`);
    const { lot, ...rules } = setup;
    const fees = setup.fees ?? feesOf(setup.book.split('_')[1] ?? '');
    const salt = this.#ids.integer(0, 2 ** 31 - 1);
    const book = new VenueBook(this, rules, fees, salt, FIRST_SEQUENCE + this.#ids.integer(0, 100_000_000), lot);
    this.books.set(setup.book, book);
    this.#tiers.set(setup.book, tiersOf(setup.book, fees.tiers));
    return book;
  }

  /**
   * Changes the rules of a book, effective immediately. `rates` replaces the book's fee tiers by one pair of fees for
   * all accounts. Throws a RangeError with the expected value.
   */
  changeBook(name: string, rules: Partial<Omit<BookRules, 'book'>>, rates?: Omit<FeeTier, 'volume'>): VenueBook {
    const book = this.books.get(name);
    if (!book) throw new RangeError(`book ${name} is not listed; expected one of ${[...this.books.keys()].join(', ')}`);
    const fees = rates === undefined ? book.fees : { ...book.fees, tiers: [{ ...rates, volume: NO_BOUND }] };
    const tiers = tiersOf(name, fees.tiers);
    book.change({ ...book.rules, ...rules }, fees);
    this.#tiers.set(name, tiers);
    return book;
  }

  /** Delists a book: cancels its orders and removes it from every list (public-facts 4.1). */
  closeBook(name: string): void {
    const book = this.books.get(name);
    if (!book) return;
    book.queue.close();
    for (const order of this.#orders.values()) if (order.book === name && isActive(order)) book.remove(order);
    this.books.delete(name);
  }

  /**
   * Registers a listener for the events of all books, in order of sequence. The listener runs during the event and must
   * not place orders. Returns the unsubscribe function.
   */
  onBookEvent(call: (event: BookEvent) => void): () => void {
    this.#listeners.add(call);
    return () => void this.#listeners.delete(call);
  }

  openAccount(options: AccountOptions = {}): { key: string; secret: string; id: string } {
    if (this.accounts.size >= ACCOUNTS_MAX)
      throw new RangeError(`the embedded exchange can have at most ${ACCOUNTS_MAX} accounts`);
    const owner = this.accounts.size + 1;
    const id = String(10_000 + owner);
    const volume = new Map(Object.entries(options.volume30d ?? {}).map(([group, text]) => [group, moneyOf(text)]));
    const account = new Account(id, owner, this.clock.now(), volume);
    if (options.country !== undefined) account.country = options.country;
    this.accounts.set(id, account);
    // The lists of transfers show the initial balances immediately.
    for (const [currency, text] of Object.entries(options.balances ?? {}))
      this.deposit(account, currency, moneyOf(text), 'funding', 0);
    return { id, ...this.addKey(id, options) };
  }

  /** Adds another key to an account. */
  addKey(
    accountId: string,
    options: Pick<AccountOptions, 'permissions' | 'addresses'> = {},
  ): { key: string; secret: string } {
    if (this.keys.size >= KEYS_MAX) throw new RangeError(`the embedded exchange can have at most ${KEYS_MAX} API keys`);
    const account = this.accounts.get(accountId);
    if (!account) throw new RangeError(`no account ${accountId}`);
    const key = randomOid(this.#ids);
    const secret = randomOid(this.#ids) + randomOid(this.#ids);
    this.keys.set(key, {
      key,
      secret,
      account,
      permissions: new Set(options.permissions ?? PERMISSIONS),
      ...(options.addresses && { addresses: new Set(options.addresses) }),
      active: true,
    });
    return { key, secret };
  }

  /**
   * Credits an account. `listed` is the kind of transfer under which lists show the credit after `delayMs`; `null` if
   * lists never show it.
   */
  deposit(
    account: Account,
    currency: string,
    sum: Money,
    listed: Transfer['kind'] | null = 'funding',
    delayMs: Millis = this.#switches.transferListDelayMs,
  ): void {
    account.credit(currency, sum);
    if (listed !== null) this.#list(account, listed, [{ currency, sum }], delayMs);
    add(this.deposited, currency, sum);
  }

  /** Debits an account; `listed` as in `deposit`. Returns false if the available balance is too small. */
  withdraw(account: Account, currency: string, sum: Money, listed: Transfer['kind'] | null = 'withdrawal'): boolean {
    if (!(sum >= 0n && sum <= account.available(currency))) return false;
    account.debit(currency, sum);
    if (listed !== null) this.#list(account, listed, [{ currency, sum: money(-sum) }]);
    add(this.deposited, currency, money(-sum));
    return true;
  }

  /**
   * Executes a conversion: debits one sum and credits another sum. Returns false if the available balance is too small.
   */
  swap(account: Account, pay: { currency: string; sum: Money }, receive: { currency: string; sum: Money }): boolean {
    if (!(pay.sum >= 0n && pay.sum <= account.available(pay.currency))) return false;
    account.debit(pay.currency, pay.sum);
    account.credit(receive.currency, receive.sum);
    this.#list(account, 'conversion', [{ currency: pay.currency, sum: money(-pay.sum) }, receive]);
    add(this.simulatorNetGain, pay.currency, pay.sum);
    add(this.simulatorNetGain, receive.currency, money(-receive.sum));
    return true;
  }

  /** Accepts a checked order: locks funds, assigns an order id and queues the order. `lock` must be available. */
  accept(account: Account, book: VenueBook, draft: Draft, lock: Money): VenueOrder {
    const order = this.#create(account, book, draft, lock);
    book.submit({ kind: 'enter', order });
    return order;
  }

  /**
   * Replaces an order (v3). The new order enters after the old order is removed, even if the old order has finished in
   * the meantime (public-facts 6).
   */
  replace(old: VenueOrder, book: VenueBook, draft: Draft, lock: Money): VenueOrder {
    const order = this.#create(this.#accountOf(old), book, draft, lock);
    book.submit({ kind: 'replace', order, old });
    return order;
  }

  /** Modifies an order (v4) and locks the funds that the change needs. Returns false if they are not available. */
  modify(order: VenueOrder, book: VenueBook, change: Modification): boolean {
    const target = resolved(order, change, this.#switches);
    const extra = target === null ? 0n : target.lock - order.locked;
    if (extra > 0n) {
      const currency = payingCurrency(order);
      if (extra > order.account.available(currency)) return false;
      order.account.lock(currency, money(extra));
      order.reserved = money(order.reserved + extra);
    }
    book.submit({ kind: 'modify', order, change });
    return true;
  }

  /** Cancels a live order. Returns false if the order is finished or already being canceled. */
  cancel(order: VenueOrder): boolean {
    const book = this.books.get(order.book);
    if (!book || !isActive(order) || order.cancelling) return false;
    order.cancelling = true;
    if (this.#switches.cancelTiming === 'at once') book.remove(order);
    else book.submit({ kind: 'remove', order });
    return true;
  }

  /** Returns a live order, or a finished order that lookup still shows. */
  find(oid: string): VenueOrder | undefined {
    return this.#orders.get(oid);
  }

  /** Number of orders of all accounts that are live or that lookup still shows. */
  get ordersKept(): number {
    return this.#orders.size;
  }

  /** Drops an account's finished orders that have expired. */
  forget(account: Account): void {
    const oldest = this.clock.now() - this.#switches.finishedVisibleMs;
    for (let order = account.finished.oldest(); order; order = account.finished.oldest()) {
      if (order.finishedAt! > oldest && account.finished.size <= FINISHED_MAX) break;
      account.finished.shift();
      this.#orders.delete(order.oid);
      this.#watcher?.forgotten(order);
      const shared = order.originId === undefined ? undefined : account.finishedOrigins.get(order.originId);
      shared?.shift();
      if (shared?.length === 0) account.finishedOrigins.delete(order.originId!);
    }
  }

  /** Returns the fee tiers of a book, the account's current tier and its volume. */
  tierFor(
    account: Account,
    book: VenueBook,
  ): { readonly tiers: readonly Tier[]; readonly index: number; readonly volume: Money } {
    const tiers = this.#tiers.get(book.rules.book)!;
    const volume = account.volume(book.fees.group, this.clock.now());
    return { tiers, index: tierOf(tiers, volume), volume };
  }

  /** Numbers to store, so that `resume` can continue them. */
  get numbers(): VenueNumbers {
    return { tid: this.#tid, orders: this.#ordersSoFar };
  }

  /** Continues the numbers of an earlier process. */
  resume({ tid, orders }: VenueNumbers): void {
    [this.#tid, this.#ordersSoFar] = [tid, orders];
  }

  /**
   * Adds an account of an earlier process with its orders. The account already has its balances and the locks of its
   * orders. Resting orders are not yet in their books.
   */
  restore({ key, secret, account, active, finished }: RestoredAccount): void {
    this.accounts.set(account.id, account);
    this.keys.set(key, { key, secret, account, permissions: new Set(PERMISSIONS), active: true });
    for (const order of [...active, ...finished]) this.#orders.set(order.oid, order);
    for (const order of active) {
      account.active.set(order.oid, order);
      if (order.originId !== undefined) account.activeOrigins.set(order.originId, order);
    }
    for (const order of finished) account.addFinished(order);
  }

  /** Stops all timers. */
  close(): void {
    for (const book of this.books.values()) book.queue.close();
  }

  // The following members implement BookHost.

  get listening(): boolean {
    return this.#listeners.size > 0;
  }

  nextTid(): number {
    return this.#tid++;
  }

  engineDelay(): Millis {
    const { engineDelayMinMs, engineDelayMaxMs } = this.#switches;
    return engineDelayMaxMs === 0 ? 0 : this.#delays.integer(engineDelayMinMs, engineDelayMaxMs);
  }

  settle(book: VenueBook, execution: Execution): void {
    const { instrument } = book;
    const major = moneyOfAmount(instrument, execution.amount);
    const exact = moneyOfValue(instrument, valueOf(execution.price, execution.amount));
    // Buyer and seller use the truncated value: a buy never pays more than its lock releases, and no money is lost or
    // created.
    const minor = floor8(exact);
    for (const order of [execution.maker, execution.taker]) {
      if (order) this.#settleSide(book, order, order === execution.maker, execution, major, minor);
    }
    // The gain of a simulator on one side is the loss of the account on the other side.
    const alone = execution.maker === null ? execution.taker : execution.taker === null ? execution.maker : null;
    if (!alone) return;
    const gains = alone.side === 'sell' ? major : money(-major);
    add(this.simulatorNetGain, instrument.major, gains);
    add(this.simulatorNetGain, instrument.minor, alone.side === 'sell' ? money(-minor) : minor);
  }

  finish(order: VenueOrder, status: 'completed' | 'cancelled'): void {
    const account = this.#accountOf(order);
    this.relock(order, money(0n));
    this.releaseReserve(order);
    order.status = status;
    order.finishedAt = this.clock.now();
    order.updatedAt = order.finishedAt;
    order.engineId = 0;
    account.active.delete(order.oid);
    if (order.originId !== undefined) account.activeOrigins.delete(order.originId);
    account.addFinished(order);
    this.#watcher?.ordered(order);
    if (account.finished.size > FINISHED_MAX) this.forget(account);
  }

  relock(order: VenueOrder, lock: Money): boolean {
    const change = lock - order.locked;
    const currency = payingCurrency(order);
    if (change > order.account.available(currency)) return false;
    order.account.lock(currency, money(change));
    order.locked = lock;
    return true;
  }

  releaseReserve(order: VenueOrder): void {
    if (order.reserved === 0n) return;
    order.account.lock(payingCurrency(order), money(-order.reserved));
    order.reserved = money(0n);
  }

  executed(): void {
    this.#watcher?.executed();
  }

  emit(event: BookEvent): void {
    for (const call of this.#listeners) call(event);
  }

  #list(
    account: Account,
    kind: Transfer['kind'],
    updates: Transfer['updates'],
    delayMs: Millis = this.#switches.transferListDelayMs,
  ): void {
    account.transfers.add(kind, this.clock.now(), updates, this.clock.elapsed() + delayMs);
  }

  #create(account: Account, book: VenueBook, draft: Draft, lock: Money): VenueOrder {
    const last = book.history.last;
    const { stop } = draft;
    const order: VenueOrder = {
      oid: this.#orderId(),
      book: book.rules.book,
      instrument: book.instrument,
      account,
      originId: draft.originId,
      marginOrderType: draft.marginOrderType,
      side: draft.side,
      type: draft.type,
      timeInForce: draft.timeInForce,
      slippage: draft.slippage,
      createdAt: this.clock.now(),
      price: draft.price,
      original: draft.amount,
      minor: draft.minor,
      filled: 0 as VenueOrder['filled'],
      traded: money(0n),
      status: 'queued',
      updatedAt: null,
      stop,
      stopUp: this.#switches.stopDirection === 'by side' ? draft.side === 'buy' : stop !== undefined && stop >= last,
      triggeredAt: undefined,
      locked: money(0n),
      reserved: money(0n),
      engineId: 0,
      cancelling: false,
      finishedAt: null,
      ...(draft.fillMax !== undefined && { fillMax: draft.fillMax }),
    };
    if (!this.relock(order, lock))
      throw new RangeError(
        `account ${account.id}: an order that passed its checks needs more than the available balance`,
      );
    this.forget(account);
    this.#orders.set(order.oid, order);
    account.active.set(order.oid, order);
    if (order.originId !== undefined) account.activeOrigins.set(order.originId, order);
    this.#ordersSoFar++;
    this.#watcher?.ordered(order);
    return order;
  }

  #accountOf({ account }: VenueOrder): Account {
    return this.accounts.get(account.id)!;
  }

  #settleSide(
    book: VenueBook,
    order: VenueOrder,
    maker: boolean,
    execution: Execution,
    major: Money,
    minor: Money,
  ): void {
    const { instrument, side } = order;
    const account = this.#accountOf(order);
    const { tiers, index } = this.tierFor(account, book);
    const received = side === 'buy' ? major : minor;
    const paid = side === 'buy' ? minor : major;
    const rate = maker ? tiers[index]!.makerRate : tiers[index]!.takerRate;
    const currency = side === 'buy' ? instrument.major : instrument.minor;
    const elsewhere = this.#payFee(account, { currency, sum: received }, rate);
    const fee = elsewhere?.sum ?? feeOn(received, rate, this.#switches.feeRounding);
    const feeCurrency = elsewhere?.currency ?? currency;
    order.filled = (order.filled + execution.amount) as VenueOrder['filled'];
    order.traded = money(order.traded + minor);
    order.updatedAt = execution.at;
    // The lock of a market order falls by the value paid; beyond the lock, the order pays from the available balance.
    const lock =
      order.type === 'limit'
        ? limitLock(instrument, side, order.price, unfilled(order))
        : money(order.locked > paid ? order.locked - paid : 0n);
    this.relock(order, lock);
    account.debit(payingCurrency(order), paid);
    account.credit(currency, elsewhere ? received : money(received - fee));
    if (elsewhere) account.debit(feeCurrency, fee);
    add(this.feesTaken, feeCurrency, fee);
    account.addVolume(book.fees.group, minor, execution.at);
    account.trades.add({
      tid: execution.tid,
      ordinal: execution.ordinal,
      order,
      at: execution.at,
      price: execution.price,
      amount: execution.amount,
      minor,
      fee,
      feeCurrency,
      makerSide: execution.makerSide,
      readableAt: this.clock.elapsed() + this.#switches.tradeRecordDelayMs,
    });
  }
}

function add(sums: Map<string, bigint>, currency: string, sum: Money): void {
  sums.set(currency, (sums.get(currency) ?? 0n) + sum);
}

function tiersOf(book: string, tiers: readonly FeeTier[]): Tier[] {
  if (tiers.length === 0) throw new RangeError(`book ${book}: expected at least one fee tier, found none`);
  return tiers.map(tier => ({
    ...tier,
    bound: moneyOf(tier.volume),
    makerRate: moneyOf(tier.maker) / 10n ** 10n,
    takerRate: moneyOf(tier.taker) / 10n ** 10n,
  }));
}
