/**
 * Money on its way between the bot's own exchange and another one. It has left one account and has not arrived in the
 * other, so it is in a ledger of its own, and still counts as held. Its currencies are like `btc@transit`.
 */
import { HOUR_MS } from '../model/durations.ts';
import type { TransferEvent } from './accountEvents.ts';
import type { BookedTransfer } from './bookings.ts';
import { Ledger, type Cause, type LedgerEntry } from './ledger.ts';
import {
  atPlace,
  bookOutCommand,
  isAtPlace,
  placeInName,
  splitRows,
  tickerInName,
  type PlacedRows,
} from './placeNames.ts';
import type { ElsewhereChange } from './elsewhereAccount.ts';
import type { BalanceCheck } from './reconciliation.ts';
import { money, textOfMoney, type Millis, type Money } from '../model/units.ts';

/** Part after the @ in the name of a currency in transit, like `btc@transit`. */
export const TRANSIT = 'transit';

/**
 * Amount that left an account (above 0) or arrived in one (below 0), in a transfer whose other side is not known yet.
 */
export type TransitItem = {
  readonly source: string;
  readonly currency: string;
  /**
   * Account that the amount left or reached: the name of another exchange, `null` for the bot's own exchange, or
   * TRANSIT if the account is unknown.
   */
  readonly place: string | null;
  readonly amount: Money;
  readonly since: Millis;
  /**
   * Whether the amount may have left before the opening balances of the other exchange were read. These may then
   * include the amount, which would count twice. Only its arrival, its return or the operator can settle this.
   */
  readonly mayBeInOpening?: true;
};

/** State for the next run. */
export type TransitState = {
  /** Transfers between both exchanges, each with only one known side, oldest first; absent if there are none. */
  readonly transit?: readonly TransitItem[];
  /**
   * Currencies whose opening balances on the other exchange may include amounts that are not booked as sent yet; absent
   * if there are none.
   */
  readonly openings?: readonly string[];
};

type Moved = Pick<TransitItem, 'place' | 'currency' | 'amount'>;

/**
 * Way in which items can end a transfer: `arrival` in the other account, `return` in full to the account that they
 * left, or `charged return`, less at most a fee for each item. Only a transfer list can show a charged return, because
 * an unlisted increase may have another cause.
 */
type Pairing = 'arrival' | 'return' | 'charged return';

export type TransitLimits = {
  /** Maximum fee of one transfer, by currency; 0 for other currencies. */
  readonly feeMax: ReadonlyMap<string, Money>;
  /**
   * Maximum amount in transit that is known only from falls of balances, not from a transfer list. By currency; 0 for
   * other currencies.
   */
  readonly fallMax: ReadonlyMap<string, Money>;
  /** Maximum time between both sides of a transfer. After this time, the operator must find the transfer. */
  readonly waitMs: Millis;
};

/**
 * `COMPARED_MAX`: maximum number of items among which complete transfers are sought. `ITEMS_MAX`: maximum number of all
 * items; if there are more, items are merged.
 */
const COMPARED_MAX = 10;
const ITEMS_MAX = 100;

export class Transit {
  readonly #limits: TransitLimits | null;
  readonly #place: string | null;
  readonly #onChange: (change: ElsewhereChange) => void;
  readonly #ledger = new Ledger();
  /** Items, oldest first. The sum of the items of a currency is its balance in the ledger. */
  #items: readonly TransitItem[] = [];
  /**
   * Time of the opening balances on another exchange, by currency, or of a later arrival that ended an item in doubt.
   * An entry is deleted once the bot's own balance of the currency equals its ledger. Until then, an amount that is
   * booked as sent may already be in the opening balances, or may be the amount that arrived.
   */
  readonly #openings = new Map<string, Millis>();

  /**
   * `place` is the other exchange that this run reads. If `limits` is `null`, no new amount gets in transit, and amounts
   * in transit from an earlier run still count as held. `onChange` receives each booking with its currency, except
   * restored bookings.
   */
  constructor(place: string | null, limits: TransitLimits | null, onChange: (change: ElsewhereChange) => void) {
    this.#place = place;
    this.#limits = limits;
    this.#onChange = onChange;
  }

  get items(): readonly TransitItem[] {
    return this.#items;
  }

  get state(): TransitState {
    const openings = [...this.#openings.keys()];
    return {
      ...(this.#items.length > 0 ? { transit: this.#items } : {}),
      ...(openings.length > 0 ? { openings } : {}),
    };
  }

  get version(): number {
    return this.#ledger.version;
  }

  /** Whether the name is that of a currency in transit, like `btc@transit`. */
  has(currency: string): boolean {
    return isAtPlace(currency, TRANSIT);
  }

  held(currency: string): Money {
    return this.#ledger.balance(atPlace(currency, TRANSIT));
  }

  /**
   * Returns the amount of a currency that left other accounts and has not arrived at `place`; below 0 if more arrived.
   */
  expectedAt(place: string | null, currency: string): Money {
    let sum = 0n;
    for (const { currency: name, place: at, amount } of this.#items)
      if (name === currency && (at === TRANSIT || (at === place) !== amount > 0n)) sum += amount;
    return money(sum);
  }

  /** Whether `amount`, booked in the account at `place`, would complete a transfer. */
  completes({ place, currency, amount }: Moved): boolean {
    return this.#endedBy({ source: '', currency, place, amount: money(-amount), since: 0 }, 'arrival') !== null;
  }

  /**
   * Whether `amount`, booked in the account at `place`, would return what left or arrived there: in full or, if a list
   * shows it as returned (`isListed`), less the fees.
   */
  returns({ place, currency, amount }: Moved, isListed = false): boolean {
    const item = { source: '', currency, place, amount: money(-amount), since: 0 };
    return this.#endedBy(item, 'return') !== null || (isListed && this.#endedBy(item, 'charged return') !== null);
  }

  /**
   * Whether a fall of a balance that is in no transfer list may be a departure to another account. This is possible if
   * the fall completes a transfer, or if all open departures from `places`, with the fall, stay within the maximum.
   */
  mayDepart(fall: Moved, places: readonly (string | null)[]): boolean {
    if (this.completes(fall)) return true;
    const { currency, amount } = fall;
    const open = this.#items.filter(
      item => item.currency === currency && item.amount > 0n && places.includes(item.place),
    );
    return sumOfItems(open) - amount <= (this.#limits?.fallMax.get(currency) ?? 0n);
  }

  /** Records that the opening balances of another exchange were read. `names` are its currencies, as `btc@other`. */
  opened(names: readonly string[], at: Millis): void {
    this.#openings.clear();
    for (const name of names) this.#openings.set(tickerInName(name), at);
    const isSent = (item: TransitItem) => this.#openings.has(item.currency) && this.#mayArriveThere(item);
    this.#items = this.#items.map(item => (isSent(item) ? inDoubt(item) : item));
  }

  /**
   * Applies a comparison of the bot's own balances with the ledger. If they are equal in a currency, every departure of
   * that currency from the bot's own exchange is booked. Departures from there after the comparison are not in doubt
   * (`mayBeInOpening`).
   */
  compared({ at, reported, differences }: BalanceCheck): void {
    for (const [currency, since] of this.#openings)
      if (at >= since && reported.has(currency) && !differences.has(currency)) this.#openings.delete(currency);
  }

  /** Books the other side of a transfer that an account has just booked. */
  move(event: TransferEvent): void {
    const [currency, place] = [tickerInName(event.currency), placeInName(event.currency)];
    this.#book(event, { currency, place, amount: money(-event.amount) });
  }

  /**
   * Books the other side of a transfer or adjustment against the amounts in transit, so that no money counts twice. An
   * amount that completes a transfer, or returns one in full, is booked completely; otherwise at most the expected
   * amount. The part beyond the expected amount does not change the amounts in transit.
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

  /** Books a change of the amounts in transit, such as an adjustment by the operator. */
  transfer(event: TransferEvent): void {
    this.#book(event, { currency: tickerInName(event.currency), place: TRANSIT, amount: event.amount });
  }

  /**
   * Returns a text about an amount that has been in transit for too long, or that may also be in the opening balances
   * of the other exchange, with the remedy; `null` if there is none.
   */
  overdue(at: Millis): string | null {
    const lost = (currency: string) => sumOfItems(this.#lost(currency, at));
    const isDue = (item: TransitItem) =>
      item.mayBeInOpening === true
        ? sumOfItems(this.#of(item.currency)) !== 0n
        : this.#isLate(item, at) && lost(item.currency) !== 0n;
    const due = this.#items.find(isDue);
    if (due === undefined) return null;
    const { currency, since } = due;
    const name = atPlace(currency, TRANSIT);
    const doubted = this.#of(currency).filter(({ mayBeInOpening }) => mayBeInOpening === true);
    if (doubted.length > 0) {
      const [all, left] = [this.#of(currency), this.#doubtful(currency)].map(sumOfItems) as [Money, Money];
      const doubtful = left > 0n ? left : sumOfItems(doubted);
      // Some of the amounts in doubt may have arrived already. Then only the sum of all items is missing in both
      // accounts.
      const isRest = all > 0n && all < doubtful;
      const amount = isRest ? all : doubtful;
      const orFee = isRest ? ', or if the amount is the fee of a transfer that has arrived' : '';
      // Without limits, the bot does not notice an arrival.
      const otherwise =
        this.#limits === null
          ? `restore the section hedge.elsewhere, or book the arrival with puntas ledger adjust -c FILE --currency ${currency}@PLACE --amount AMOUNT --reason "..."`
          : 'wait until the amount arrives';
      return `${textOfMoney(amount)} ${currency} was sent to the other exchange, possibly before the bot read the opening balances there; if these balances include the amount${orFee}, run ${bookOutCommand(name, amount)}; otherwise ${otherwise}`;
    }
    const sum = lost(currency);
    const waitMs = this.#limits?.waitMs ?? Infinity;
    return `${textOfMoney(sum)} ${currency} has been in transit between the two exchanges since ${new Date(since).toISOString()}, longer than hedge.elsewhere.transferWaitHours (${waitMs / HOUR_MS}); find the transfer, then run ${bookOutCommand(name, sum)}`;
  }

  /** Calls `call` with every later ledger entry. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#ledger.listen(call);
  }

  /** Rows of this ledger, to be stored in the ledger of all accounts. */
  get rows(): PlacedRows {
    const { causes, sources } = this.#ledger;
    return { causes, sources };
  }

  /** Restores the amounts in transit from the rows named like `btc@transit`; returns the other rows. */
  restore(placed: PlacedRows, { transit: items = [], openings = [] }: TransitState, at: Millis): PlacedRows {
    const [own, others] = splitRows(placed, name => isAtPlace(name, TRANSIT));
    this.#ledger.restore(own.causes, own.sources);
    this.#items = items;
    for (const currency of openings) this.#openings.set(currency, -Infinity);
    // An older version of Puntas stores only the rows, without the items.
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
    const sent: TransitItem = { source, ...moved, since: at };
    const item = this.#mayBeOlder(sent) ? inDoubt(sent) : sent;
    this.#add(item);
    const { currency } = item;
    const pairing = this.#pairingOf(item, cause);
    const ended = this.#endedBy(item, pairing) ?? this.#withoutRest(item);
    this.#keepDoubt(item, ended, pairing);
    this.#items = this.#items.filter(each => !ended.includes(each));
    const fee = money(-sumOfItems(ended));
    if (fee !== 0n) this.#post(`${source} fee`, 'fees', occurredAt, 'fee of the transfer', { currency, amount: fee });
  }

  #pairingOf(item: TransitItem, cause: Cause): Pairing {
    if (cause !== 'refunds') return 'arrival';
    return this.#endedBy(item, 'return') === null ? 'charged return' : 'return';
  }

  /** Whether the amount left an account from which it can arrive at the other exchange. */
  #mayArriveThere({ place, amount }: TransitItem): boolean {
    return amount > 0n && (place === null || place !== this.#place);
  }

  /**
   * Whether the amount may have left before the opening balances of the other exchange. The balances of a third
   * exchange are not read, so the time at which an amount left it is unknown.
   */
  #mayBeOlder(item: TransitItem): boolean {
    if (item.place === TRANSIT || !this.#mayArriveThere(item)) return false;
    return item.place !== null || this.#openings.has(item.currency);
  }

  /**
   * Called after an arrival has ended a departure in doubt (`mayBeInOpening`), directly or together with a booking of
   * the operator. The arrival may belong to another departure. So every departure that fits the arrival is then in
   * doubt, and so is an amount that is not booked as sent yet.
   */
  #keepDoubt(last: TransitItem, ended: readonly TransitItem[], pairing: Pairing): void {
    const isArrival = ({ place, amount }: TransitItem) => amount < 0n && place !== TRANSIT;
    if (last.amount > 0n || !ended.some(isArrival)) return;
    if (ended.every(({ mayBeInOpening }) => mayBeInOpening !== true)) return;
    const { currency, since } = last;
    this.#openings.set(currency, since);
    const fitting = new Set([...this.#completeSets(last, pairing)].flat());
    const isFitting = (item: TransitItem) =>
      last.place === TRANSIT
        ? this.#mayArriveThere(item)
        : item.amount > 0n &&
          (fitting.has(item) || this.#areComplete([item, last], pairing) || mayInclude(item, last, pairing));
    const isDoubtful = (item: TransitItem) => item.currency === currency && isFitting(item) && !ended.includes(item);
    this.#items = this.#items.map(item => (isDoubtful(item) ? inDoubt(item) : item));
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
    this.#onChange({ kind: 'transfer', currency, major: amount });
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
      const sum = { ...first, amount: money(first.amount + next.amount) };
      const joined = next.mayBeInOpening === true ? inDoubt(sum) : sum;
      this.#items = this.#items.filter(each => each !== next).map(each => (each === first ? joined : each));
      return;
    }
  }

  /**
   * Returns a group of items of a currency whose sum is 0; empty if there is none. The group is the lost items or,
   * after a booking of the operator, all items or those in doubt. Their amounts cancel out, so nothing is missing,
   * although they do not form complete transfers.
   */
  #withoutRest({ currency, place, since }: TransitItem): readonly TransitItem[] {
    const lost = this.#lost(currency, since);
    const sets = place === TRANSIT ? [this.#of(currency), lost, this.#doubtful(currency)] : [lost];
    return sets.find(some => sumOfItems(some) === 0n) ?? [];
  }

  #isLate({ since }: TransitItem, at: Millis): boolean {
    return at - since > (this.#limits?.waitMs ?? Infinity);
  }

  /**
   * Returns the items of a currency whose sum counts as lost. Departures that are not late are excluded, because they
   * may still arrive.
   */
  #lost(currency: string, at: Millis): readonly TransitItem[] {
    return this.#of(currency).filter(item => this.#isLate(item, at) || item.amount < 0n || item.place === TRANSIT);
  }

  /**
   * Returns the items of a currency that are in doubt (`mayBeInOpening`), and the amounts that the operator has booked
   * out.
   */
  #doubtful(currency: string): readonly TransitItem[] {
    return this.#of(currency).filter(
      ({ mayBeInOpening, place, amount }) => mayBeInOpening === true || (place === TRANSIT && amount < 0n),
    );
  }

  #of(currency: string): readonly TransitItem[] {
    return this.#items.filter(item => item.currency === currency);
  }

  /**
   * Returns the smallest set of items that form complete transfers together with `item`, the newest; `null` if there is
   * none. Among sets of equal size, the one with the lowest fee is returned. If the fees are equal too, a booking of
   * the operator ends items in doubt first, and an arrival ends them last.
   */
  #endedBy(item: TransitItem, pairing: Pairing): readonly TransitItem[] | null {
    let ended: readonly TransitItem[] | null = null;
    for (const some of this.#completeSets(item, pairing)) {
      const isBetter =
        ended === null ||
        some.length < ended.length ||
        (some.length === ended.length && sumOfItems(some) < sumOfItems(ended));
      if (isBetter) ended = some;
    }
    return ended;
  }

  /** Yields every set of items that form complete transfers together with `item`. */
  *#completeSets(item: TransitItem, pairing: Pairing): Generator<readonly TransitItem[]> {
    const sign = item.place === TRANSIT ? -1 : 1;
    const others = this.#items
      .filter(each => each !== item && each.currency === item.currency)
      .toSorted((a, b) => sign * (Number(a.mayBeInOpening ?? false) - Number(b.mayBeInOpening ?? false)))
      .slice(0, COMPARED_MAX);
    for (let chosen = 1; chosen < 1 << others.length; chosen++) {
      const some = [...others.filter((_, i) => (chosen & (1 << i)) !== 0), item];
      if (this.#areComplete(some, pairing)) yield some;
    }
  }

  /**
   * Whether the amounts that left one account arrived in the other, less at most a fee for each. Amounts that were
   * returned without a fee or that the operator booked must be equal. Transfers in both directions may show as one net
   * change in one account.
   */
  #areComplete(items: readonly TransitItem[], pairing: Pairing): boolean {
    const lost = sumOfItems(items);
    if (pairing === 'return') return lost === 0n && items.every(({ place }) => place === items[0]!.place);
    if (items.some(({ place }) => place === TRANSIT)) return lost === 0n;
    const [left, arrived] = [items.filter(({ amount }) => amount > 0n), items.filter(({ amount }) => amount < 0n)];
    const [from, to] = [left, arrived].map(side => new Set(side.map(({ place }) => place)));
    const isSame = [...from!].some(place => to!.has(place));
    const isOneWay = from!.size === 1 && to!.size === 1 && isSame === (pairing === 'charged return');
    const places = new Set(items.map(({ place }) => place));
    const isTwoWay = pairing === 'arrival' && places.size === 2 && from!.size + to!.size === 3;
    const feeMax = this.#limits?.feeMax.get(items[0]!.currency) ?? 0n;
    return (isOneWay || isTwoWay) && lost >= 0n && lost <= feeMax * BigInt(Math.max(left.length, arrived.length));
  }
}

/** Beginning of the source of a departure that is known only from a fall of a balance. */
export const FALL_SOURCE = 'departure';

/**
 * Whether the departure is known only from a fall of a balance. It may then be several transfers, and `arrival` the
 * arrival or return of one of them.
 */
const mayInclude = ({ source, place, amount }: TransitItem, arrival: TransitItem, pairing: Pairing): boolean =>
  source.startsWith(`${FALL_SOURCE} `) &&
  amount > -arrival.amount &&
  (place === arrival.place) === (pairing !== 'arrival');

const inDoubt = (item: TransitItem): TransitItem => ({ ...item, mayBeInOpening: true });

function sumOfItems(items: readonly TransitItem[]): Money {
  let sum = 0n;
  for (const { amount } of items) sum += amount;
  return money(sum);
}
