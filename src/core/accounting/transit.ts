/**
 * Money on its way between the bot's own exchange and another one. It has left one account and has not arrived in the
 * other, so it is in a ledger of its own, and still counts as held. Its currencies are like `btc@transit`.
 */
import type { TransferEvent } from './accountEvents.ts';
import type { BookedTransfer } from './bookings.ts';
import { changesIn, Ledger, type Cause, type LedgerEntry } from './ledger.ts';
import { atPlace, isAtPlace, placeInName, splitRows, tickerInName, type PlacedRows } from './place.ts';
import type { PlacedChange } from './placeAccount.ts';
import { money, textOfMoney, type Millis, type Money } from '../model/units.ts';

/** Place of money in transit, in names of currencies. */
export const TRANSIT = 'transit';

/** Amount that left an account (above 0) or arrived in one (below 0), whose other side is not known yet. */
export type TransitItem = {
  readonly source: string;
  readonly currency: string;
  /** Account that it left or arrived in: the place of the other exchange; `null` for the bot's own; TRANSIT for none. */
  readonly place: string | null;
  readonly amount: Money;
  readonly since: Millis;
};

type Moved = Pick<TransitItem, 'place' | 'currency' | 'amount'>;

export type TransitLimits = {
  /** Maximum fee of one transfer, by currency; 0 for other currencies. */
  readonly feeMax: ReadonlyMap<string, Money>;
  /** Maximum in transit by falls of balances that no transfer list announced, by currency; 0 for other currencies. */
  readonly fallMax: ReadonlyMap<string, Money>;
  /** Maximum time between both sides of a transfer. Later, only the operator can explain the amount. */
  readonly waitMs: Millis;
};

const HOUR_MS = 3_600_000;
/** Maximum number of items that are compared with each other, and of items that are kept apart. */
const COMPARED_MAX = 10;
const ITEMS_MAX = 100;

export class Transit {
  readonly #limits: TransitLimits | null;
  readonly #major: string;
  readonly #onChange: (change: PlacedChange) => void;
  readonly #ledger = new Ledger();
  /** Oldest first. The sum of each currency is its balance in the ledger. */
  #items: readonly TransitItem[] = [];

  /**
   * `major` is the base currency of the bot's book. If `limits` is `null`, nothing new is in transit, and what an earlier
   * run left stays held. `onChange` receives the effect of each booking on the position, except restored bookings.
   */
  constructor(major: string, limits: TransitLimits | null, onChange: (change: PlacedChange) => void) {
    this.#major = major;
    this.#limits = limits;
    this.#onChange = onChange;
  }

  get items(): readonly TransitItem[] {
    return this.#items;
  }

  get version(): number {
    return this.#ledger.version;
  }

  /** Whether the currency is one in transit. */
  has(currency: string): boolean {
    return isAtPlace(currency, TRANSIT);
  }

  held(currency: string): Money {
    return this.#ledger.balance(atPlace(currency, TRANSIT));
  }

  /** Returns the amount of a currency that left other accounts and has not arrived at `place`; below 0 if more arrived. */
  expectedAt(place: string | null, currency: string): Money {
    let sum = 0n;
    for (const { currency: name, place: at, amount } of this.#items)
      if (name === currency && (at === TRANSIT || (at === place) !== amount > 0n)) sum += amount;
    return money(sum);
  }

  /** Whether `amount`, booked in the account at `place`, would complete a transfer. */
  completes({ place, currency, amount }: Moved): boolean {
    return this.#endedBy({ source: '', currency, place, amount: money(-amount), since: 0 }, false) !== null;
  }

  /** Whether `amount`, booked in the account at `place`, would return in full what left or arrived there. */
  returns({ place, currency, amount }: Moved): boolean {
    return this.#endedBy({ source: '', currency, place, amount: money(-amount), since: 0 }, true) !== null;
  }

  /**
   * Whether a fall of a balance that no list announced may be a departure from `place`: it completes a transfer, or all
   * open departures from `places` stay within the maximum.
   */
  mayDepart(fall: Moved, places: readonly (string | null)[]): boolean {
    if (this.completes(fall)) return true;
    const { currency, amount } = fall;
    const open = this.#items.filter(
      item => item.currency === currency && item.amount > 0n && places.includes(item.place),
    );
    return sumOfItems(open) - amount <= (this.#limits?.fallMax.get(currency) ?? 0n);
  }

  /** Books the other side of a transfer that an account has just booked. */
  move(event: TransferEvent): void {
    const [currency, place] = [tickerInName(event.currency), placeInName(event.currency)];
    this.#book(event, { currency, place, amount: money(-event.amount) });
  }

  /**
   * Books the other side of the part of a transfer or adjustment that what is in transit explains, so that no money counts
   * twice: all of it if it completes a transfer or returns in full. The remainder is ordinary.
   */
  explain(transfer: BookedTransfer, at: Millis): void {
    const [currency, place] = [tickerInName(transfer.currency), placeInName(transfer.currency)];
    const { cause, amount } = transfer;
    if (transfer.inTransit === true || cause === 'fees') return;
    const completes = this.completes({ place, currency, amount });
    const isReturn = !completes && this.returns({ place, currency, amount });
    const expected = this.expectedAt(place, currency);
    const isLikely = amount > 0n ? expected > 0n : expected < 0n;
    const isWhole = completes || isReturn || (amount > 0n ? expected >= amount : expected <= amount);
    if (!isWhole && !isLikely) return;
    const part = isWhole ? amount : expected;
    const moved = { currency, place, amount: money(-part) };
    this.#book({ ...transfer, at, cause: isReturn ? 'refunds' : cause }, moved);
  }

  /** Books a change of what is in transit, such as the operator's. */
  transfer(event: TransferEvent): void {
    this.#book(event, { currency: tickerInName(event.currency), place: TRANSIT, amount: event.amount });
  }

  /** Returns which amount has been in transit for too long, with the remedy; `null` if none. */
  overdue(at: Millis): string | null {
    const sumOf = (currency: string) => sumOfItems(this.#lost(currency, at));
    const late = this.#items.find(item => this.#isLate(item, at) && sumOf(item.currency) !== 0n);
    if (late === undefined) return null;
    const { currency, since } = late;
    const name = atPlace(currency, TRANSIT);
    const sum = sumOf(currency);
    const waitMs = this.#limits?.waitMs ?? Infinity;
    return `${textOfMoney(sum)} ${currency} in transit between the two exchanges since ${new Date(since).toISOString()}, and hedge.elsewhere.transferWaitHours is ${waitMs / HOUR_MS}; find the transfer, then run puntas ledger adjust --currency ${name} --amount=${textOfMoney(money(-sum))}`;
  }

  /** Calls `call` with every later ledger entry. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#ledger.listen(call);
  }

  /** Sums and sources, for the ledger of all accounts. */
  get rows(): PlacedRows {
    const { causes, sources } = this.#ledger;
    return { causes, sources };
  }

  /** Restores what is in transit from the rows of all places; returns the rows of the others. */
  restore(placed: PlacedRows, items: readonly TransitItem[], at: Millis): PlacedRows {
    const [own, others] = splitRows(placed, name => isAtPlace(name, TRANSIT));
    this.#ledger.restore(own.causes, own.sources);
    this.#items = items;
    // A version of Puntas that does not know the items keeps only the rows.
    for (const name of own.causes.keys()) {
      const currency = tickerInName(name);
      const missing = money(this.held(currency) - sumOfItems(items.filter(item => item.currency === currency)));
      if (missing !== 0n) this.#add({ source: 'restored', currency, place: TRANSIT, amount: missing, since: at });
    }
    return others;
  }

  #book(
    { source, cause, at, occurredAt, why }: Omit<TransferEvent, 'kind' | 'currency' | 'amount'>,
    moved: Moved,
  ): void {
    if (!this.#post(source, cause, occurredAt, why, moved)) return;
    const item: TransitItem = { source, ...moved, since: at };
    this.#add(item);
    const { currency } = item;
    const ended = this.#endedBy(item, cause === 'refunds');
    if (ended === null) return this.#endLost(item);
    this.#items = this.#items.filter(each => !ended.includes(each));
    const fee = money(-sumOfItems(ended));
    if (fee !== 0n) this.#post(`${source} fee`, 'fees', occurredAt, 'fee of the transfer', { currency, amount: fee });
  }

  /** Books an entry; returns false if its source was already booked. */
  #post(
    source: string,
    cause: Cause,
    at: Millis,
    why: string,
    { currency, amount }: Pick<TransitItem, 'currency' | 'amount'>,
  ): boolean {
    const changes = [{ cause, currency: atPlace(currency, TRANSIT), amount }];
    if (!this.#ledger.book({ source: atPlace(source, TRANSIT), at, why, changes })) return false;
    this.#onChange({ kind: 'transfer', major: changesIn(changes, atPlace(this.#major, TRANSIT)) });
    return true;
  }

  #add(item: TransitItem): void {
    this.#items = [...this.#items, item];
    if (this.#items.length <= ITEMS_MAX) return;
    const older = this.#items.slice(0, -1);
    for (const [i, first] of older.entries()) {
      const { currency, place } = first;
      const isLike = (each: TransitItem) =>
        each.currency === currency && each.place === place && each.amount > 0n === first.amount > 0n;
      const next = older.slice(i + 1).find(isLike);
      if (next === undefined) continue;
      const joined = { ...first, amount: money(first.amount + next.amount) };
      this.#items = this.#items.filter(each => each !== next).map(each => (each === first ? joined : each));
      return;
    }
  }

  /**
   * Ends the items of a currency whose sum is 0: those that are late, and after a booking of the operator all. Nothing of
   * them is missing, although no part of them is one transfer.
   */
  #endLost(item: TransitItem): void {
    const isOfOperator = item.place === TRANSIT;
    const own = this.#items.filter(({ currency }) => currency === item.currency);
    const lost = this.#lost(item.currency, item.since);
    const over = isOfOperator && sumOfItems(own) === 0n ? own : lost;
    if (sumOfItems(over) === 0n) this.#items = this.#items.filter(each => !over.includes(each));
  }

  #isLate({ since }: TransitItem, at: Millis): boolean {
    return at - since > (this.#limits?.waitMs ?? Infinity);
  }

  /** Returns the items of a currency that make up what is lost. Later departures may still arrive. */
  #lost(currency: string, at: Millis): readonly TransitItem[] {
    return this.#items.filter(
      item => item.currency === currency && (this.#isLate(item, at) || item.amount < 0n || item.place === TRANSIT),
    );
  }

  /**
   * Returns the fewest items that are complete transfers together with `item`, which is the newest; `null` if none are.
   * Among equally many, those with the lowest fee.
   */
  #endedBy(item: TransitItem, isReturn: boolean): readonly TransitItem[] | null {
    const others = this.#items.filter(each => each !== item && each.currency === item.currency).slice(0, COMPARED_MAX);
    let ended: readonly TransitItem[] | null = null;
    for (let chosen = 1; chosen < 1 << others.length; chosen++) {
      const some = [...others.filter((_, i) => (chosen & (1 << i)) !== 0), item];
      const isBetter =
        ended === null ||
        some.length < ended.length ||
        (some.length === ended.length && sumOfItems(some) < sumOfItems(ended));
      if (isBetter && this.#areComplete(some, isReturn)) ended = some;
    }
    return ended;
  }

  /**
   * Whether the amounts that left one account arrived in the other, less at most a fee for each. Amounts that were
   * returned or that the operator booked must be equal.
   */
  #areComplete(items: readonly TransitItem[], isReturn: boolean): boolean {
    const lost = sumOfItems(items);
    if (isReturn) return lost === 0n && items.every(({ place }) => place === items[0]!.place);
    if (items.some(({ place }) => place === TRANSIT)) return lost === 0n;
    const [left, arrived] = [items.filter(({ amount }) => amount > 0n), items.filter(({ amount }) => amount < 0n)];
    const [from, to] = [left, arrived].map(side => new Set(side.map(({ place }) => place)));
    const isOneWay = from!.size === 1 && to!.size === 1 && ![...from!].some(place => to!.has(place));
    const feeMax = this.#limits?.feeMax.get(items[0]!.currency) ?? 0n;
    return isOneWay && lost >= 0n && lost <= feeMax * BigInt(Math.max(left.length, arrived.length));
  }
}

function sumOfItems(items: readonly TransitItem[]): Money {
  let sum = 0n;
  for (const { amount } of items) sum += amount;
  return money(sum);
}
