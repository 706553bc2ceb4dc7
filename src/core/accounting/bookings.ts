/**
 * Bookings of the account by currency: opening balances plus every later change, each booked once; and the exchange's
 * reported balances.
 */
import { isRounding, type AccountLedger, type Conversion, type Rounding, type TransferEvent } from './accountEvents.ts';
import { pairOrNull } from '../model/bookName.ts';
import { atPlace } from './placeNames.ts';
import { Ledger, SOURCES_MAX, type Change, type LedgerEntry } from './ledger.ts';
import type { Balance, OwnTrade } from '../ports/port.ts';
import { money, moneyOf, type Millis, type Money } from '../model/units.ts';

/**
 * Maximum numbers of trades (`tradesMax`) and other entries (`sourcesMax`) that are remembered to recognize repeats.
 */
export type BookingMemory = { readonly tradesMax: number; readonly sourcesMax: number };
/** Default memory. Consecutive reads of the trade list overlap by far fewer than 20,000 trades. */
const MEMORY: BookingMemory = { tradesMax: 20_000, sourcesMax: SOURCES_MAX };
/** Maximum rounding of a conversion leg: one unit of the eighth decimal, in 10^-18. */
const RESIDUE_MAX = 10n ** 10n;

/** Booked change of the account. Each book of the account updates its position from the change. */
export type Booked = { readonly changes: readonly Change[] } & (
  | { readonly kind: 'opening' }
  /** `transfer` is absent for an amount that was held before the first trade in its currency. */
  | { readonly kind: 'transfer'; readonly transfer?: BookedTransfer }
  | { readonly kind: 'trade'; readonly trade: OwnTrade }
  /**
   * `worth`: for a leg of a route through a third currency, the value of the third-currency amount in the quote
   * currency.
   */
  | { readonly kind: 'conversion'; readonly worth?: Money | undefined }
  /** Amounts by which the exchange rounded trades and fees; they count as fees. */
  | { readonly kind: 'rounding' }
);

/**
 * Returns the origin id and the level (from 1) of the order that a trade filled. Both values are `null` if the order is
 * unknown or not the bot's.
 */
export type FillOf = (trade: OwnTrade) => { readonly id: string | null; readonly level: number | null };

type Difference = { readonly currency: string; readonly difference: Money };

export class Bookings {
  readonly #onBooked: (booked: Booked) => void;
  readonly #fillOf: FillOf;
  readonly #tradesMax: number;
  readonly #place: string | null;
  readonly #ledger: Ledger;
  readonly #reported = new Map<string, Money>();
  /**
   * Currencies that were not in the opening balances, from their first trade until a balance read opens them. An
   * exchange may list only currencies with a balance, or list a currency later.
   */
  readonly #unopened = new Set<string>();
  /** Currencies whose changes the exchange rounds. */
  readonly #roundings = new Map<string, Rounding>();
  readonly #seen = new Map<string, string>();
  #isOpen = false;
  /** Executed conversions whose rounding differences are not yet settled, such as the two legs of a route. */
  #unsettled: readonly Conversion[] = [];

  /**
   * `onBooked` receives each booking, except restored bookings. `fillOf` finds the order that a trade filled, for the
   * text of the ledger entry. `place` is the name of the account's exchange, which is appended to its currencies, like
   * `usdt@other`; `null` for the bot's own exchange.
   */
  constructor(
    onBooked: (booked: Booked) => void,
    fillOf: FillOf = () => ({ id: null, level: null }),
    memory: BookingMemory = MEMORY,
    place: string | null = null,
  ) {
    this.#onBooked = onBooked;
    this.#fillOf = fillOf;
    this.#tradesMax = memory.tradesMax;
    this.#place = place;
    this.#ledger = new Ledger(memory.sourcesMax);
  }

  /** Number that increases with every ledger entry. */
  get version(): number {
    return this.#ledger.version;
  }

  /** Whether the ledger has its opening balances. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Balances of the bot's ledger, by currency. */
  get totals(): ReadonlyMap<string, Money> {
    return this.#ledger.balances;
  }

  /** Latest total balance of each currency, as the exchange reported it. */
  get reported(): ReadonlyMap<string, Money> {
    return this.#reported;
  }

  total(currency: string): Money {
    return this.#ledger.balance(currency);
  }

  /** Returns the opening amount of a currency. */
  opening(currency: string): Money {
    return this.#ledger.causes.get(currency)?.opening ?? money(0n);
  }

  /** Calls `call` with every later ledger entry. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#ledger.listen(call);
  }

  /** Returns the state for the next run. `recent` holds ids of trades that the exchange may report again. */
  stateToSave(recent: readonly string[]): AccountLedger {
    const { causes, sources } = this.#ledger;
    const unopened = this.#unopened.size === 0 ? undefined : [...this.#unopened];
    const roundings = this.#roundings.size === 0 ? undefined : new Map(this.#roundings);
    return { causes, sources, seen: this.#seenOf(recent), unopened, roundings };
  }

  /** Continues the ledger of an earlier run, including the trades that the earlier run booked. */
  restore({ causes, sources, seen, unopened = [], roundings = new Map() }: AccountLedger): void {
    if (this.#isOpen) throw new Error('cannot restore the ledger, because its opening balances are already booked');
    this.#ledger.restore(causes, sources);
    for (const currency of unopened) this.#unopened.add(currency);
    for (const [currency, rounding] of roundings) this.#roundings.set(currency, rounding);
    for (const [tid, content] of seen) this.#seen.set(tid, content);
    this.#isOpen = true;
  }

  /**
   * Books the difference between the latest reported totals and the ledger. The difference came from outside the bot
   * and is never profit.
   */
  adjust(at: Millis): void {
    for (const { currency, difference } of this.differences()) {
      const source = `resume ${at} ${currency}`;
      const why = 'reported by the exchange when the operator resumed';
      this.transfer({ source, cause: 'adjustments', currency, amount: difference, occurredAt: at, why });
    }
  }

  /**
   * Opens the ledger with the first balance read. Keeps the balances of the latest read for comparison with the ledger.
   * `isSettled`: whether the balances contain no trade that is not booked yet.
   */
  read(balances: readonly Balance[], at: Millis, isSettled = false): void {
    // A currency missing in this read is unknown, even if an earlier read had it.
    this.#reported.clear();
    // A currency that appears only in later reads is not compared with the ledger until something is booked in it.
    const isCompared = (currency: string) => this.totals.has(currency) && !this.#unopened.has(currency);
    for (const { currency, total, decimals } of balances) {
      if (!this.#isOpen || isCompared(currency)) this.#reported.set(currency, moneyOf(total));
      if (decimals !== undefined)
        this.#roundings.set(currency, { decimals, amounts: this.#roundings.get(currency)?.amounts ?? 0 });
    }
    if (this.#isOpen) {
      // A trade that is not reported yet would also differ in the currencies of its book.
      if (isSettled && this.#unopened.size > 0 && this.differences().length === 0) this.#openLate(balances, at);
      return;
    }
    const changes = [...this.#reported].map(([currency, amount]): Change => ({ cause: 'opening', currency, amount }));
    this.#ledger.post({ source: 'opening', at, why: null, changes });
    this.#isOpen = true;
    this.#onBooked({ kind: 'opening', changes });
  }

  /**
   * Returns the currencies whose reported total differs from the ledger total by more than the exchange's rounding.
   * `difference` is reported total minus ledger total.
   */
  differences(): readonly Difference[] {
    return this.#unequal().filter(({ currency, difference }) => !isRounding(this.#roundings.get(currency), difference));
  }

  /**
   * After a quiet balance read, books the amounts by which the exchange rounded. Books nothing if a currency differs by
   * more.
   */
  settleRounding(at: Millis): void {
    if (this.#roundings.size === 0 || this.differences().length > 0) return;
    const changes = this.#unequal().map(({ currency, difference }): Change => ({
      cause: 'fees',
      currency,
      amount: difference,
    }));
    for (const [currency, { decimals }] of this.#roundings)
      if (this.#reported.has(currency)) this.#roundings.set(currency, { decimals, amounts: 0 });
    if (changes.length === 0) return;
    const why = 'rounding of trades and fees by the exchange';
    this.#ledger.post({ source: this.#placed(`rounding ${at} ${this.version}`), at, why, changes });
    this.#onBooked({ kind: 'rounding', changes });
  }

  #unequal(): readonly Difference[] {
    const result: Difference[] = [];
    for (const [currency, reported] of this.#reported) {
      const difference = money(reported - this.total(currency));
      if (difference !== 0n) result.push({ currency, difference });
    }
    return result;
  }

  /**
   * Counts the amounts of a trade, which the exchange may have rounded. A listed amount of whole units counts too,
   * because the list itself may have rounded it, in another direction.
   */
  #countRounded(changes: readonly Change[]): void {
    for (const { currency, amount } of changes) {
      const rounding = this.#roundings.get(currency);
      if (rounding === undefined || amount === 0n) continue;
      this.#roundings.set(currency, { ...rounding, amounts: rounding.amounts + 1 });
    }
  }

  /**
   * Adds a trade of the account to the ledger, whichever order book it is in; ignores repeats.
   *
   * If the book's name does not reveal its currencies, only the fee is booked; the operator sees the unbooked amounts
   * as a balance difference. Throws Error if the trade was reported differently before.
   */
  trade(trade: OwnTrade): void {
    if (!this.#isNew(trade)) return;
    const { tid, oid, book, side, createdAt: at } = trade;
    const pair = pairOrNull(book);
    const sign = side === 'buy' ? 1n : -1n;
    const legs = (amounts: readonly bigint[]) =>
      (pair ?? []).map((currency, leg): Change => ({
        cause: 'trades',
        currency: this.#placed(currency),
        amount: money(amounts[leg]!),
      }));
    const changes: readonly Change[] = [
      ...legs([sign * moneyOf(trade.major), -sign * moneyOf(trade.minor)]),
      { cause: 'fees', currency: this.#placed(trade.feeCurrency), amount: money(-moneyOf(trade.feeAmount)) },
    ];
    if (this.#isOpen) for (const { currency } of changes) if (!this.totals.has(currency)) this.#unopened.add(currency);
    this.#countRounded(changes);
    this.#ledger.post({ source: this.#placed(`trade ${tid} ${oid}`), at, why: this.#whyOf(trade), changes });
    this.#onBooked({ kind: 'trade', trade, changes });
  }

  /** Books an executed conversion of the bot. */
  convert(conversion: Conversion, at: Millis): void {
    const { id, give, get, worth, why } = conversion;
    const changes: readonly Change[] = [
      { cause: 'conversions', currency: give.currency, amount: money(-give.amount) },
      { cause: 'conversions', currency: get.currency, amount: get.amount },
    ];
    if (!this.#ledger.book({ source: `conversion ${id}`, at, why: why ?? null, changes })) return;
    this.#unsettled = [...this.#unsettled, conversion];
    this.#onBooked({ kind: 'conversion', changes, worth });
  }

  /**
   * After a quiet balance read, books the rounding differences of the executed conversions that are not yet settled.
   * Books nothing if a difference exceeds one unit of the eighth decimal per leg in its currency. Each conversion is
   * settled once.
   */
  settleResidue(at: Millis): void {
    const conversion = this.#unsettled.at(-1);
    if (conversion === undefined) return;
    const differences = this.differences();
    const legs = this.#unsettled.flatMap(({ give, get }) => [give.currency, get.currency]);
    const isResidue = differences.every(({ currency, difference }) => {
      const residueMax = RESIDUE_MAX * BigInt(legs.filter(leg => leg === currency).length);
      return difference <= residueMax && difference >= -residueMax;
    });
    if (!isResidue) return;
    this.#unsettled = [];
    if (differences.length === 0) return;
    const changes = differences.map(({ currency, difference }): Change => ({
      cause: 'conversions',
      currency,
      amount: difference,
    }));
    if (this.#ledger.book({ source: `residue ${conversion.id}`, at, why: 'rounding', changes }))
      this.#onBooked({ kind: 'conversion', changes });
  }

  /** Books a transfer whose cause is known. A transfer with a repeated `source` changes nothing. */
  transfer(transfer: BookedTransfer): void {
    const { source, cause, currency, amount, occurredAt, why } = transfer;
    const changes = [{ cause, currency, amount }];
    if (this.#ledger.book({ source, at: occurredAt, why, changes }))
      this.#onBooked({ kind: 'transfer', changes, transfer });
  }

  /**
   * Books what the account held of the unopened currencies before their first trade: the balance minus everything that
   * is booked. It is not profit.
   */
  #openLate(balances: readonly Balance[], at: Millis): void {
    for (const { currency, total } of balances) {
      if (!this.#unopened.delete(currency)) continue;
      const reported = moneyOf(total);
      const amount = money(reported - this.total(currency));
      const changes: readonly Change[] = [{ cause: 'opening', currency, amount }];
      this.#ledger.post({
        source: `opening ${currency}`,
        at,
        why: 'held before the first trade in this currency',
        changes,
      });
      this.#reported.set(currency, reported);
      this.#onBooked({ kind: 'transfer', changes });
    }
  }

  #placed(text: string): string {
    return this.#place === null ? text : atPlace(text, this.#place);
  }

  /** Returns text such as `btc_mxn at 1500000.00 as maker of demo-1-7 level 2`. Exports split the text into columns. */
  #whyOf(trade: OwnTrade): string {
    const { id, level } = this.#fillOf(trade);
    const order = id === null ? '' : ` of ${id}${level === null ? '' : ` level ${level}`}`;
    return `${trade.book} at ${trade.price} as ${trade.maker ? 'maker' : 'taker'}${order}`;
  }

  /** Returns, for each given trade that is in the ledger, its content as the exchange reported it. */
  #seenOf(tids: readonly string[]): ReadonlyMap<string, string> {
    return new Map(
      tids.flatMap(tid => {
        const content = this.#seen.get(tid);
        return content === undefined ? [] : [[tid, content] as const];
      }),
    );
  }

  /**
   * Returns whether the trade is new. Throws Error if an earlier report of the trade had other content. If the account
   * trades with itself through another program, one trade id has two records, one per order.
   */
  #isNew({ tid, oid, side, price, major, minor, feeAmount, feeCurrency }: OwnTrade): boolean {
    const content = [oid, side, price, major, minor, feeAmount, feeCurrency].join(' ');
    const records = this.#seen.get(tid)?.split('\n') ?? [];
    const before = records.find(record => record.startsWith(`${oid} `));
    if (before !== undefined) {
      if (before !== content) throw new Error(`trade ${tid} was first reported as ${before}, and now as ${content}`);
      return false;
    }
    this.#seen.set(tid, [...records, content].join('\n'));
    if (this.#seen.size > this.#tradesMax) this.#seen.delete(this.#seen.keys().next().value!);
    return true;
  }
}

export type BookedTransfer = Omit<TransferEvent, 'kind' | 'at'>;
