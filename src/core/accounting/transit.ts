/**
 * Money on its way between the bot's own exchange and another one. It has left one account and has not arrived in the
 * other, so it is in a ledger of its own, and still counts as held. Its currencies are like `btc@transit`.
 */
import type { TransferEvent } from './accountEvents.ts';
import type { BookedTransfer } from './bookings.ts';
import { changesIn, Ledger, type Cause, type LedgerEntry } from './ledger.ts';
import { atPlace, bookOutCommand, isAtPlace, placeInName, splitRows, tickerInName, type PlacedRows } from './place.ts';
import type { PlacedChange } from './placeAccount.ts';
import type { BalanceCheck } from './reconciliation.ts';
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
  /**
   * Whether the amount may have left before the opening balances of the other exchange were read, so that they may include
   * it. Only its arrival, its return or the operator can then say that it does not count twice.
   */
  readonly mayBeInOpening?: true;
};

/** State for the next run. */
export type TransitState = {
  /** Transfers between both exchanges without their other side, oldest first; absent if there are none. */
  readonly transit?: readonly TransitItem[];
  /** Currencies whose opening balances there may include what is not booked as sent yet; absent if there are none. */
  readonly openings?: readonly string[];
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
  readonly #place: string | null;
  readonly #onChange: (change: PlacedChange) => void;
  readonly #ledger = new Ledger();
  /** Oldest first. The sum of each currency is its balance in the ledger. */
  #items: readonly TransitItem[] = [];
  /**
   * Currencies with the time of their opening balances on another exchange, or of a later arrival that ended an item in
   * doubt. Each stays until the bot's own balance of it equals its ledger. Until then, an amount that is booked as sent may
   * be older than that opening, or that arrival may be its own.
   */
  readonly #openings = new Map<string, Millis>();

  /**
   * `major` is the base currency of the bot's book, `place` the other exchange that this run reads. If `limits` is `null`,
   * nothing new is in transit, and what an earlier run left stays held. `onChange` receives the effect of each booking on
   * the position, except restored bookings.
   */
  constructor(
    major: string,
    place: string | null,
    limits: TransitLimits | null,
    onChange: (change: PlacedChange) => void,
  ) {
    this.#major = major;
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

  /** Records that the opening balances of another exchange were read. `names` are its currencies, as `btc@other`. */
  opened(names: readonly string[], at: Millis): void {
    this.#openings.clear();
    for (const name of names) this.#openings.set(tickerInName(name), at);
    const isSent = (item: TransitItem) => this.#openings.has(item.currency) && this.#mayArriveThere(item);
    this.#items = this.#items.map(item => (isSent(item) ? inDoubt(item) : item));
  }

  /** Applies a comparison of the bot's own balances: what is equal has nothing on its way that is not booked. */
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

  /**
   * Returns which amount has been in transit for too long, or may be in the opening balances of the other exchange too,
   * with the remedy; `null` if none.
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
      // Arrivals may be of amounts in doubt, and then only the rest is missing in both accounts.
      const isRest = all > 0n && all < doubtful;
      const amount = isRest ? all : doubtful;
      const orFee = isRest ? ', or if the amount is the fee of a transfer that has arrived' : '';
      // Without limits, nothing reads the arrival.
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

  /** Sums and sources, for the ledger of all accounts. */
  get rows(): PlacedRows {
    const { causes, sources } = this.#ledger;
    return { causes, sources };
  }

  /** Restores what is in transit from the rows of all places; returns the rows of the others. */
  restore(placed: PlacedRows, { transit: items = [], openings = [] }: TransitState, at: Millis): PlacedRows {
    const [own, others] = splitRows(placed, name => isAtPlace(name, TRANSIT));
    this.#ledger.restore(own.causes, own.sources);
    this.#items = items;
    for (const currency of openings) this.#openings.set(currency, -Infinity);
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
    const sent: TransitItem = { source, ...moved, since: at };
    const item = this.#mayBeOlder(sent) ? inDoubt(sent) : sent;
    this.#add(item);
    const { currency } = item;
    const isReturn = cause === 'refunds';
    const ended = this.#endedBy(item, isReturn) ?? this.#withoutRest(item);
    this.#keepDoubt(item, ended, isReturn);
    this.#items = this.#items.filter(each => !ended.includes(each));
    const fee = money(-sumOfItems(ended));
    if (fee !== 0n) this.#post(`${source} fee`, 'fees', occurredAt, 'fee of the transfer', { currency, amount: fee });
  }

  /** Whether the amount left an account from which it can arrive at the other exchange. */
  #mayArriveThere({ place, amount }: TransitItem): boolean {
    return amount > 0n && (place === null || place !== this.#place);
  }

  /**
   * Whether the amount may have left before the opening balances of the other exchange. The balances of a third exchange
   * are not read, so that nothing can say when it left there.
   */
  #mayBeOlder(item: TransitItem): boolean {
    if (item.place === TRANSIT || !this.#mayArriveThere(item)) return false;
    return item.place !== null || this.#openings.has(item.currency);
  }

  /**
   * An arrival may be that of another departure than the one in doubt that it ends, or that the operator's booking ends
   * together with it. The doubt is then about those that may be its own, and about what is not booked as sent yet.
   */
  #keepDoubt(last: TransitItem, ended: readonly TransitItem[], isReturn: boolean): void {
    const isArrival = ({ place, amount }: TransitItem) => amount < 0n && place !== TRANSIT;
    if (last.amount > 0n || !ended.some(isArrival)) return;
    if (ended.every(({ mayBeInOpening }) => mayBeInOpening !== true)) return;
    const { currency, since } = last;
    this.#openings.set(currency, since);
    const fitting = new Set([...this.#completeSets(last, isReturn)].flat());
    const isFitting = (item: TransitItem) =>
      last.place === TRANSIT
        ? this.#mayArriveThere(item)
        : item.amount > 0n &&
          (fitting.has(item) || this.#areComplete([item, last], isReturn) || mayInclude(item, last, isReturn));
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
      const sum = { ...first, amount: money(first.amount + next.amount) };
      const joined = next.mayBeInOpening === true ? inDoubt(sum) : sum;
      this.#items = this.#items.filter(each => each !== next).map(each => (each === first ? joined : each));
      return;
    }
  }

  /**
   * Returns items of a currency whose sum is 0: those that are late, and after a booking of the operator those in doubt, or
   * all. Nothing of them is missing, although no part of them is one transfer.
   */
  #withoutRest({ currency, place, since }: TransitItem): readonly TransitItem[] {
    const lost = this.#lost(currency, since);
    const sets = place === TRANSIT ? [this.#of(currency), lost, this.#doubtful(currency)] : [lost];
    return sets.find(some => sumOfItems(some) === 0n) ?? [];
  }

  #isLate({ since }: TransitItem, at: Millis): boolean {
    return at - since > (this.#limits?.waitMs ?? Infinity);
  }

  /** Returns the items of a currency that make up what is lost. Later departures may still arrive. */
  #lost(currency: string, at: Millis): readonly TransitItem[] {
    return this.#of(currency).filter(item => this.#isLate(item, at) || item.amount < 0n || item.place === TRANSIT);
  }

  /** Returns the items of a currency that are in doubt, with what the operator has booked out. */
  #doubtful(currency: string): readonly TransitItem[] {
    return this.#of(currency).filter(
      ({ mayBeInOpening, place, amount }) => mayBeInOpening === true || (place === TRANSIT && amount < 0n),
    );
  }

  #of(currency: string): readonly TransitItem[] {
    return this.#items.filter(item => item.currency === currency);
  }

  /**
   * Returns the fewest items that are complete transfers together with `item`, which is the newest; `null` if none are.
   * Among equally many, those with the lowest fee. Among those, the operator's booking ends what is in doubt first, and an
   * arrival last.
   */
  #endedBy(item: TransitItem, isReturn: boolean): readonly TransitItem[] | null {
    let ended: readonly TransitItem[] | null = null;
    for (const some of this.#completeSets(item, isReturn)) {
      const isBetter =
        ended === null ||
        some.length < ended.length ||
        (some.length === ended.length && sumOfItems(some) < sumOfItems(ended));
      if (isBetter) ended = some;
    }
    return ended;
  }

  /** Yields all items that are complete transfers together with `item`. */
  *#completeSets(item: TransitItem, isReturn: boolean): Generator<readonly TransitItem[]> {
    const sign = item.place === TRANSIT ? -1 : 1;
    const others = this.#items
      .filter(each => each !== item && each.currency === item.currency)
      .toSorted((a, b) => sign * (Number(a.mayBeInOpening ?? false) - Number(b.mayBeInOpening ?? false)))
      .slice(0, COMPARED_MAX);
    for (let chosen = 1; chosen < 1 << others.length; chosen++) {
      const some = [...others.filter((_, i) => (chosen & (1 << i)) !== 0), item];
      if (this.#areComplete(some, isReturn)) yield some;
    }
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

/** Start of the source of a departure that only a fall of a balance showed. */
export const FALL_SOURCE = 'departure';

/** Whether the departure is a fall that may be several transfers, one of which arrived or returned as `arrival`. */
const mayInclude = ({ source, place, amount }: TransitItem, arrival: TransitItem, isReturn: boolean): boolean =>
  source.startsWith(`${FALL_SOURCE} `) && amount > -arrival.amount && (place === arrival.place) === isReturn;

const inDoubt = (item: TransitItem): TransitItem => ({ ...item, mayBeInOpening: true });

function sumOfItems(items: readonly TransitItem[]): Money {
  let sum = 0n;
  for (const { amount } of items) sum += amount;
  return money(sum);
}
