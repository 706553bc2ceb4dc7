/**
 * Slow model of the account and of the profit of its books: a list of all bookings, summed again for each query. The
 * model shares no code with `src/core/accounting`. All amounts are in 10^-18.
 */

export const TRADE_DELAY = 2_000;
export const REFUSE_AFTER = 10_000;
const RESIDUE = 10n ** 10n;
const ONE = 10n ** 18n;

export const CAUSES = [
  'opening',
  'trades',
  'fees',
  'conversions',
  'deposits',
  'withdrawals',
  'refunds',
  'adjustments',
] as const;
type Cause = (typeof CAUSES)[number];

export type ModelChange = { readonly cause: Cause; readonly currency: string; readonly amount: bigint };

export type ModelBalance = { readonly currency: string; readonly total: bigint; readonly locked: bigint };

export type ModelTrade = {
  readonly tid: string;
  readonly oid: string;
  readonly book: string;
  readonly isBuy: boolean;
  readonly major: bigint;
  readonly minor: bigint;
  readonly fee: bigint;
  readonly feeCurrency: string;
  readonly isMaker: boolean;
  /** Whether the trade filled an order of the bot. */
  readonly isOwn: boolean;
};

export type ModelConversion = {
  readonly id: string;
  readonly give: readonly [currency: string, amount: bigint];
  readonly get: readonly [currency: string, amount: bigint];
  readonly worth: bigint | null;
};

/** Effect of one booking on a book: changes of its two currencies, and the part of the profit that includes them. */
type Effect = {
  readonly part: 'spread' | 'fees' | 'hedging' | 'none';
  readonly major: bigint;
  readonly minor: bigint;
  /** Mid price at the booking, in half ticks; `null` before the first mid price. */
  readonly mid: bigint | null;
};

export type ModelProfit = {
  readonly spread: bigint;
  readonly inventory: bigint;
  readonly fees: bigint;
  readonly hedging: bigint;
  readonly total: bigint;
};
const NO_PROFIT: ModelProfit = { spread: 0n, inventory: 0n, fees: 0n, hedging: 0n, total: 0n };

/** One book of the account. Tick and lot are 1. */
export class BookModel {
  readonly major: string;
  readonly minor: string;
  /** Target inventory, in lots; `null` if the target is the opening balance. */
  readonly target: number | null;
  #opening: bigint | null = null;
  effects: Effect[] = [];
  /** Mid prices of this run, in half ticks. */
  readonly mids: bigint[] = [];
  #earlier: { readonly profit: ModelProfit; readonly mid: bigint | null } = { profit: NO_PROFIT, mid: null };

  constructor(major: string, minor: string, target: number | null) {
    this.major = major;
    this.minor = minor;
    this.target = target;
  }

  open(held: bigint): void {
    this.#opening = this.target === null ? 0n : held - BigInt(this.target) * ONE;
  }

  /**
   * Continues the book of an earlier run. `held` is the balance of the base currency; `heldBefore` is that balance at
   * the end of the earlier run.
   */
  restore(held: bigint, before: BookModel, heldBefore: bigint): void {
    this.#opening = held - (this.target === null ? before.targetMoney(heldBefore) : BigInt(this.target) * ONE);
    this.#earlier = { profit: before.profitSinceOpening(), mid: before.mid };
  }

  /** Latest mid price of this run or, without one, of earlier runs, in half ticks; `null` if there was none. */
  get mid(): bigint | null {
    return this.mids.at(-1) ?? this.#earlier.mid;
  }

  add(part: Effect['part'], major: bigint, minor: bigint): void {
    this.effects.push({ part, major, minor, mid: this.mids.at(-1) ?? null });
  }

  /** Returns the held amount of the base currency minus the target. */
  position(): bigint {
    let sum = this.#opening ?? 0n;
    for (const { major } of this.effects) sum += major;
    return sum;
  }

  targetMoney(held: bigint): bigint {
    return held - this.position();
  }

  /**
   * Returns the profit of this run. Each booking is valued at its mid price, or at the first mid price if the booking
   * was earlier. The inventory profit is the base currency that it moved, times the later change of the mid price.
   */
  profit(): ModelProfit {
    const last = this.mids.at(-1) ?? 0n;
    const first = this.mids[0] ?? 0n;
    const sums = { spread: 0n, fees: 0n, hedging: 0n, none: 0n };
    let carried = (this.#opening ?? 0n) * (last - first);
    for (const { part, major, minor, mid } of this.effects) {
      const at = mid ?? first;
      // Before the first mid price, only fees in the quote currency are profit.
      if (first > 0n || part === 'fees') sums[part] += major * at + 2n * minor;
      carried += major * (last - at);
    }
    const total = (sums.spread + sums.fees + sums.hedging + carried) / 2n;
    const [spread, fees, hedging] = [sums.spread / 2n, sums.fees / 2n, sums.hedging / 2n];
    return { spread, fees, hedging, inventory: total - spread - fees - hedging, total };
  }

  profitSinceOpening(): ModelProfit {
    const { profit, mid } = this.#earlier;
    const own = this.profit();
    const [first] = this.mids;
    const gap = mid === null || first === undefined ? 0n : ((this.#opening ?? 0n) * (first - mid)) / 2n;
    return {
      spread: profit.spread + own.spread,
      fees: profit.fees + own.fees,
      hedging: profit.hedging + own.hedging,
      inventory: profit.inventory + own.inventory + gap,
      total: profit.total + own.total + gap,
    };
  }
}

export type ModelMemory = { readonly tradesMax: number; readonly sourcesMax: number };

export class AccountModel {
  readonly #memory: ModelMemory;
  readonly #listWait: number;
  readonly books: readonly BookModel[];
  readonly changes: ModelChange[] = [];
  entries = 0;
  /** Remembered trades, oldest first, with one record for each order of the trade. */
  trades: { tid: string; records: string[] }[] = [];
  sources: string[] = [];
  isOpen = false;
  /** Currencies that the opening balances lack, from their first trade until a read shows what was held before. */
  unopened: string[] = [];
  reported: (readonly [currency: string, total: bigint])[] = [];
  #lockedByOthers: (readonly [currency: string, amount: bigint])[] = [];
  pending: { conversion: ModelConversion; isInFlight: boolean }[] = [];
  #unsettled: ModelConversion[] = [];
  #mismatches = 0;
  #differedSince: number | null = null;
  #isOld = false;
  isReconciled = false;
  checked: { readonly at: number; readonly differences: string } | null = null;
  #watched: { readonly difference: string; readonly since: number } | null = null;

  constructor(memory: ModelMemory, listWait: number, books: readonly BookModel[]) {
    this.#memory = memory;
    this.#listWait = listWait;
    this.books = books;
  }

  /** Continues the account of an earlier run. Of its trades, only those with the ids in `recent` are remembered. */
  restore(before: AccountModel, recent: readonly string[]): void {
    this.changes.push(...before.changes);
    this.unopened = [...before.unopened];
    this.sources = [...before.sources];
    for (const tid of recent) {
      const found = before.trades.find(one => one.tid === tid);
      if (found !== undefined) this.trades.push({ tid, records: [...found.records] });
    }
    for (const [i, book] of this.books.entries())
      book.restore(this.total(book.major), before.books[i]!, before.total(book.major));
    this.isOpen = true;
  }

  total(currency: string): bigint {
    let sum = 0n;
    for (const change of this.changes) if (change.currency === currency) sum += change.amount;
    return sum;
  }

  sum(currency: string, cause: Cause): bigint {
    let sum = 0n;
    for (const change of this.changes) if (change.currency === currency && change.cause === cause) sum += change.amount;
    return sum;
  }

  /** Currencies of the ledger, in the order of their first change. */
  currencies(): readonly string[] {
    const all: string[] = [];
    for (const { currency } of this.changes) if (!all.includes(currency)) all.push(currency);
    return all;
  }

  /**
   * Applies a balance read. `own` has the amounts that the bot's orders lock. Returns whether trading must halt.
   */
  read(
    balances: readonly ModelBalance[],
    own: readonly (readonly [currency: string, amount: bigint])[],
    startedAt: number,
    isQuiet: boolean,
  ): boolean {
    const known = this.currencies();
    this.reported = balances.flatMap(({ currency, total }) =>
      !this.isOpen || (known.includes(currency) && !this.unopened.includes(currency))
        ? [[currency, total] as const]
        : [],
    );
    this.#lockedByOthers = [];
    for (const { currency, locked } of balances)
      for (const [mine, amount] of own)
        if (mine === currency && locked > amount) this.#lockedByOthers.push([currency, locked - amount]);
    if (!this.isOpen) {
      this.#post(this.reported.map(([currency, amount]) => ({ cause: 'opening', currency, amount })));
      this.isOpen = true;
      for (const book of this.books) book.open(this.total(book.major));
    }
    if (!isQuiet) return false;
    const flying = this.pending.filter(one => one.isInFlight);
    if (flying.length === 0) {
      if (this.differences().length === 0) this.#openLate(balances);
      return this.#compare(startedAt);
    }
    const differences = this.differences();
    const [only] = flying.map(one => one.conversion);
    const isExplained =
      differences.length === 0 ||
      (flying.length === 1 &&
        differences.length === 2 &&
        differences.some(([currency, sum]) => currency === only!.give[0] && sum === -only!.give[1]) &&
        differences.some(([currency, sum]) => currency === only!.get[0] && sum === only!.get[1]));
    if (isExplained && (this.#watched === null || differences.length === 0)) {
      this.#watched = null;
      this.isReconciled = true;
    }
    return false;
  }

  /** Returns the amount of a currency that the bot may spend. */
  funds(currency: string): bigint {
    let sum = this.total(currency) - this.pendingOf('give', currency);
    for (const [one, amount] of this.#lockedByOthers) if (one === currency) sum -= amount;
    return sum;
  }

  differences(): readonly (readonly [string, bigint])[] {
    const all = this.reported.map(([currency, total]) => [currency, total - this.total(currency)] as const);
    return all.filter(([, sum]) => sum !== 0n);
  }

  /** Books a trade once. Returns false if an earlier report of this trade had other content. */
  trade(trade: ModelTrade): boolean {
    const content = [trade.oid, trade.isBuy, trade.major, trade.minor, trade.fee, trade.feeCurrency].join(' ');
    const told = this.trades.find(one => one.tid === trade.tid);
    const before = told?.records.find(record => record.split(' ')[0] === trade.oid);
    if (before !== undefined) return before === content;
    if (told === undefined) this.trades.push({ tid: trade.tid, records: [content] });
    else told.records.push(content);
    if (this.trades.length > this.#memory.tradesMax) this.trades.shift();
    const [major, minor] = trade.isBuy ? [trade.major, -trade.minor] : [-trade.major, trade.minor];
    const changes: ModelChange[] = [];
    const [first, second, ...more] = trade.book.split('_');
    if (first !== undefined && second !== undefined && more.length === 0)
      changes.push(
        { cause: 'trades', currency: first, amount: major },
        { cause: 'trades', currency: second, amount: minor },
      );
    changes.push({ cause: 'fees', currency: trade.feeCurrency, amount: -trade.fee });
    const known = this.currencies();
    for (const { currency } of changes)
      if (!known.includes(currency) && !this.unopened.includes(currency)) this.unopened.push(currency);
    this.#post(changes);
    for (const book of this.books) {
      const feeMajor = trade.feeCurrency === book.major ? trade.fee : 0n;
      const feeMinor = trade.feeCurrency === book.minor ? trade.fee : 0n;
      if (trade.book !== `${book.major}_${book.minor}`) book.add('none', this.#moved(changes, book.major), 0n);
      else if (trade.isOwn) {
        book.add(trade.isMaker ? 'spread' : 'hedging', major, minor);
        book.add('fees', -feeMajor, -feeMinor);
      } else book.add('none', major - feeMajor, 0n);
    }
    return true;
  }

  convert(phase: 'planned' | 'in flight' | 'done' | 'failed', conversion: ModelConversion): void {
    const place = this.pending.findIndex(one => one.conversion.id === conversion.id);
    if (phase === 'planned' || phase === 'in flight') {
      const one = { conversion, isInFlight: phase === 'in flight' };
      if (place === -1) this.pending.push(one);
      else this.pending[place] = one;
    } else if (place !== -1) this.pending.splice(place, 1);
    if (phase === 'done') {
      const { id, give, get, worth } = conversion;
      const changes: readonly ModelChange[] = [
        { cause: 'conversions', currency: give[0], amount: -give[1] },
        { cause: 'conversions', currency: get[0], amount: get[1] },
      ];
      if (this.#book(`conversion ${id}`, changes)) {
        this.#unsettled.push(conversion);
        this.#converted(changes, worth);
      }
    }
    this.#mismatches = 0;
  }

  transfer(source: string, cause: Cause, currency: string, amount: bigint): void {
    this.#transfer(source, cause, currency, amount);
    this.#mismatches = 0;
    this.#differedSince = null;
  }

  resume(at: number): void {
    this.#mismatches = 0;
    this.#differedSince = null;
    this.isReconciled = false;
    this.#watched ??= { difference: '', since: at };
  }

  get differs(): boolean {
    return this.#mismatches >= 2 && this.#isOld;
  }

  /**
   * Differences that transfer lists may still explain, and the time of the halt; `null` if no difference is pending.
   */
  get unexplained(): string | null {
    if (!this.differs || this.#differedSince === null) return null;
    return `${textOf(this.differences())} until ${this.#differedSince + this.#listWait}`;
  }

  /** Returns the amount of a currency that pending conversions may still spend (`give`) or bring (`get`). */
  pendingOf(leg: 'give' | 'get', currency: string): bigint {
    let sum = 0n;
    for (const { conversion } of this.pending) if (conversion[leg][0] === currency) sum += conversion[leg][1];
    return sum;
  }

  #openLate(balances: readonly ModelBalance[]): void {
    for (const { currency, total } of balances) {
      if (!this.unopened.includes(currency)) continue;
      this.unopened = this.unopened.filter(one => one !== currency);
      const held = total - this.total(currency);
      this.#post([{ cause: 'opening', currency, amount: held }]);
      for (const book of this.books) if (currency === book.major && book.target !== null) book.add('none', held, 0n);
      this.reported.push([currency, total]);
    }
  }

  #compare(at: number): boolean {
    this.#settleRounding();
    const list = textOf(this.differences());
    this.checked = { at, differences: list };
    if (this.#watched !== null && list !== '') {
      if (this.#watched.difference !== list) this.#watched = { difference: list, since: at };
      else if (at - this.#watched.since >= TRADE_DELAY) {
        for (const [currency, sum] of this.differences())
          this.#transfer(`resume ${at} ${currency}`, 'adjustments', currency, sum);
        this.#watched = null;
        this.isReconciled = true;
      }
      return false;
    }
    this.#watched = null;
    if (list === '') {
      this.#mismatches = 0;
      this.#differedSince = null;
      this.isReconciled = true;
      return false;
    }
    this.#mismatches++;
    this.#differedSince ??= at;
    const age = at - this.#differedSince;
    this.#isOld = age >= REFUSE_AFTER || age >= this.#listWait;
    return this.#mismatches >= 3 && age >= this.#listWait;
  }

  #settleRounding(): void {
    const last = this.#unsettled.at(-1);
    if (last === undefined) return;
    const differences = this.differences();
    for (const [currency, sum] of differences) {
      let max = 0n;
      for (const { give, get } of this.#unsettled) {
        if (give[0] === currency) max += RESIDUE;
        if (get[0] === currency) max += RESIDUE;
      }
      if (sum > max || sum < -max) return;
    }
    this.#unsettled = [];
    if (differences.length === 0) return;
    const changes = differences.map(([currency, amount]) => ({ cause: 'conversions' as const, currency, amount }));
    if (this.#book(`residue ${last.id}`, changes)) this.#converted(changes, null);
  }

  #converted(changes: readonly ModelChange[], worth: bigint | null): void {
    for (const book of this.books) {
      const [major, minor] = [this.#moved(changes, book.major), this.#moved(changes, book.minor)];
      const others = changes.filter(({ currency }) => currency !== book.major && currency !== book.minor);
      if (others.length === 0) book.add('hedging', major, minor);
      else if (worth === null) book.add('none', major, 0n);
      else {
        // `worth` is the value of the third currency, which was spent if the book received one of its currencies.
        const isSpent = changes.some(one => one.amount > 0n && !others.includes(one));
        book.add('hedging', major, isSpent ? minor - worth : minor + worth);
      }
    }
  }

  #transfer(source: string, cause: Cause, currency: string, amount: bigint): void {
    if (!this.#book(source, [{ cause, currency, amount }])) return;
    for (const book of this.books) {
      if (cause === 'fees' && currency === book.major) book.add('fees', amount, 0n);
      else if (cause === 'fees' && currency === book.minor) book.add('fees', 0n, amount);
      else if (currency === book.major && book.target !== null) book.add('none', amount, 0n);
    }
  }

  #moved(changes: readonly ModelChange[], currency: string): bigint {
    let sum = 0n;
    for (const change of changes) if (change.currency === currency) sum += change.amount;
    return sum;
  }

  #book(source: string, changes: readonly ModelChange[]): boolean {
    if (this.sources.includes(source)) return false;
    this.sources.push(source);
    if (this.sources.length > this.#memory.sourcesMax) this.sources.shift();
    this.#post(changes);
    return true;
  }

  #post(changes: readonly ModelChange[]): void {
    this.entries++;
    this.changes.push(...changes);
  }
}

/** Returns differences as text, such as `-100 mxn, 0.5 btc`. */
export function textOf(differences: readonly (readonly [string, bigint])[]): string {
  return differences.map(([currency, sum]) => `${decimal(sum)} ${currency}`).join(', ');
}

/** Returns an amount in 10^-18 as decimal text. */
export function decimal(sum: bigint): string {
  const digits = (sum < 0n ? -sum : sum).toString().padStart(19, '0');
  const [whole, fraction] = [digits.slice(0, -18), digits.slice(-18).replace(/0+$/, '')];
  return `${sum < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
