/** Position of one book: exact inventory and cash, with profit split into spread, inventory, hedging and fees. */
import type { Instrument } from '../model/instrument.ts';
import { money, type Millis, type Money, type Price, type Side } from '../model/units.ts';

/** One execution of the account in exact money. Amounts and fee are positive. */
export type Fill = {
  readonly tid: string;
  /** Origin id of the bot's order; `null` for an order that is not the bot's. */
  readonly id: string | null;
  readonly oid: string;
  readonly at: Millis;
  readonly book: string;
  readonly side: Side;
  readonly price: Price;
  readonly major: Money;
  readonly minor: Money;
  readonly fee: Money;
  /** Currency of the fee. A fee in a third currency is in the ledger, but not in this book's profit. */
  readonly feeIn: 'major' | 'minor' | 'other';
  readonly maker: boolean;
};

/**
 * Profit of a period, in the quote currency; the parts sum to the total exactly. Paid fees and hedge costs are
 * negative.
 */
export type Profit = {
  readonly spread: Money;
  readonly inventory: Money;
  readonly fees: Money;
  /** Gain of conversions and taker orders against the mid price. */
  readonly hedging: Money;
  readonly total: Money;
};

/** Adds the profits of two consecutive periods. */
export const sumOfProfits = (a: Profit, b: Profit): Profit => ({
  spread: money(a.spread + b.spread),
  inventory: money(a.inventory + b.inventory),
  fees: money(a.fees + b.fees),
  hedging: money(a.hedging + b.hedging),
  total: money(a.total + b.total),
});

/** Returns the later profit minus the earlier one. */
export const differenceOfProfits = (later: Profit, earlier: Profit): Profit => ({
  spread: money(later.spread - earlier.spread),
  inventory: money(later.inventory - earlier.inventory),
  fees: money(later.fees - earlier.fees),
  hedging: money(later.hedging - earlier.hedging),
  total: money(later.total - earlier.total),
});

/**
 * Position whose equity is cash + inventory x mid price. The change of equity is exactly the sum of four parts:
 * - spread: gain of fills against the mid price.
 * - hedging: gain of conversions and taker orders against the mid price.
 * - inventory: effect of moves of the mid price on the value of held inventory.
 * - fees.
 *
 * The mid price is in half ticks, so that all sums are integers. An internal sum is quote money times 2 x 10^18: base
 * currency in 10^-18, times half ticks, times the money of one tick.
 */
export class Position {
  readonly #tickMoney: bigint;
  /** Held amount of the base currency minus the target. */
  #inventory: bigint;
  #cash = 0n;
  /**
   * Mid price at the latest booking of inventory gains, in half ticks times the tick's money; 0 before the first mid
   * price.
   */
  #mark = 0n;
  #firstMark = 0n;
  /**
   * Latest mid price, in half ticks; 0 before the first mid price. Moves since `#mark` are booked on demand, because
   * inventory is constant in between.
   */
  #halfTicks = 0;
  /** Cached result of `total`. The results of `profit` and `isExplained` are also cached. */
  #total: Money | null = null;
  #profit: Profit | null = null;
  #isExplained: boolean | null = null;
  #version = 0;
  #spread = 0n;
  #carried = 0n;
  #fees = 0n;
  #hedging = 0n;
  readonly #openingInventory: bigint;
  /** Value of the opening inventory at the first mid price. */
  #openingValue = 0n;
  /** Last mid price of an earlier run, in half ticks times the tick's money; 0 if none. */
  readonly #earlierMark: bigint;
  #flows = 0n;
  /**
   * Sums of fills, fees, flows and conversions before the first mid price, in 10^-18. These sums are valued at the
   * first mid price as soon as it is known.
   */
  readonly #early = { bought: 0n, paid: 0n, fees: 0n, flows: 0n, converted: 0n, cost: 0n };

  /**
   * `inventory` is the amount held at the start minus the target. Its value changes with the mid price, from the first
   * known mid price on. `earlierTwiceMid` is twice the last mid price of an earlier run; `null` if there was none.
   */
  constructor(instrument: Instrument, inventory: Money, earlierTwiceMid: Money | null = null) {
    this.#tickMoney = instrument.tickMoney;
    this.#earlierMark = earlierTwiceMid ?? 0n;
    this.#inventory = inventory;
    this.#openingInventory = inventory;
  }

  /** Version of the position; moves of the mid price do not change it. */
  get version(): number {
    return this.#version;
  }

  get inventory(): Money {
    return money(this.#inventory);
  }

  /** Change of the quote currency through fills, hedges and fees. */
  get cash(): Money {
    return money(this.#cash);
  }

  /** Latest mid price times two, so that half ticks stay exact; `null` before the first mid price. */
  get twiceMid(): Money | null {
    return this.#halfTicks === 0 ? null : money(BigInt(this.#halfTicks) * this.#tickMoney);
  }

  /**
   * Gain of the opening inventory between the earlier run's last mid price and this run's first mid price; not part of
   * `profit`.
   */
  get gainBeforeStart(): Money {
    if (this.#mark === 0n || this.#earlierMark === 0n) return money(0n);
    return toMoney(this.#openingInventory * (this.#firstMark - this.#earlierMark));
  }

  /** Sets a new mid price, in half ticks. */
  mark(halfTicks: number): void {
    if (halfTicks === this.#halfTicks && halfTicks > 0) return;
    if (!(Number.isSafeInteger(halfTicks) && halfTicks > 0))
      throw new RangeError(`expected a valuation price above zero as a whole number of half ticks, found ${halfTicks}`);
    this.#halfTicks = halfTicks;
    if (this.#mark === 0n) this.#open(BigInt(halfTicks) * this.#tickMoney);
    else if (this.#inventory !== 0n) this.#clearCache();
  }

  /** Books the effect of mid-price moves on the value of the inventory. */
  #bookMarkMoves(): void {
    const next = BigInt(this.#halfTicks) * this.#tickMoney;
    this.#carried += this.#inventory * (next - this.#mark);
    this.#mark = next;
  }

  fill(fill: Fill): void {
    this.#startChange();
    const sign = fill.side === 'buy' ? 1n : -1n;
    const hasMark = this.#mark !== 0n;
    // A taker order is a hedge, not earnings of quotes.
    if (!fill.maker) this.#bookHedge(sign * fill.major, -sign * fill.minor);
    else if (hasMark) this.#spread += sign * (fill.major * this.#mark - toRawMoney(fill.minor));
    else {
      this.#early.bought += sign * fill.major;
      this.#early.paid += sign * fill.minor;
    }
    if (fill.feeIn === 'major' && hasMark) this.#fees -= fill.fee * this.#mark;
    else if (fill.feeIn === 'major') this.#early.fees += fill.fee;
    if (fill.feeIn === 'minor') this.#fees -= toRawMoney(fill.fee);
    this.#inventory += sign * fill.major - (fill.feeIn === 'major' ? fill.fee : 0n);
    this.#cash -= sign * fill.minor + (fill.feeIn === 'minor' ? fill.fee : 0n);
  }

  /** Books a conversion between the two currencies. The two changes have opposite signs. */
  convert(major: bigint, minor: bigint): void {
    this.#startChange();
    this.#bookHedge(major, minor);
    this.#inventory += major;
    this.#cash += minor;
  }

  /** Books a refunded fee, in the base or quote currency. */
  rebate(isMajor: boolean, sum: Money): void {
    this.#startChange();
    if (!isMajor) {
      this.#fees += toRawMoney(sum);
      this.#cash += sum;
      return;
    }
    if (this.#mark === 0n) this.#early.fees -= sum;
    else this.#fees += sum * this.#mark;
    this.#inventory += sum;
  }

  /**
   * Books a change of the base currency from outside the bot, such as a deposit or another program's trade. The change
   * is never profit.
   */
  flow(major: Money): void {
    this.#startChange();
    this.#inventory += major;
    if (this.#mark === 0n) this.#early.flows += major;
    else this.#flows += major * this.#mark;
  }

  /** Returns the profit by part. Before the first mid price, only fees in the quote currency are known. */
  profit(): Profit {
    return (this.#profit ??= this.#computed());
  }

  /** Returns the total of `profit`, without computing the parts. Every decision needs the total. */
  total(): Money {
    if (this.#total === null) {
      this.#bookMarkMoves();
      this.#total = toMoney(this.#spread + this.#carried + this.#fees + this.#hedging);
    }
    return this.#total;
  }

  #computed(): Profit {
    const spread = toMoney(this.#spread);
    const fees = toMoney(this.#fees);
    const hedging = toMoney(this.#hedging);
    const all = this.total();
    // Parts are rounded to 10^-18. The inventory part takes the remainder, so that the sum is exact.
    return { spread, fees, hedging, inventory: money(all - spread - fees - hedging), total: all };
  }

  /** Whether the parts sum to the change of equity exactly. All methods above must preserve this invariant. */
  isExplained(): boolean {
    return (this.#isExplained ??= this.#addsUp());
  }

  #addsUp(): boolean {
    this.#bookMarkMoves();
    if (this.#mark === 0n) return true;
    const equity = toRawMoney(money(this.#cash)) + this.#inventory * this.#mark;
    return equity - this.#openingValue === this.#spread + this.#carried + this.#fees + this.#hedging + this.#flows;
  }

  #startChange(): void {
    this.#bookMarkMoves();
    this.#version++;
    this.#clearCache();
  }

  #clearCache(): void {
    this.#total = null;
    this.#profit = null;
    this.#isExplained = null;
  }

  #bookHedge(major: bigint, minor: bigint): void {
    if (this.#mark === 0n) {
      this.#early.converted += major;
      this.#early.cost -= minor;
    } else this.#hedging += major * this.#mark + toRawMoney(money(minor));
  }

  /**
   * Applies the first mid price. Orders of an earlier run may have been filled before the first book arrived, so the
   * sums of these fills are valued now.
   */
  #open(mark: bigint): void {
    const { bought, paid, fees, flows, converted, cost } = this.#early;
    this.#clearCache();
    this.#mark = mark;
    this.#firstMark = mark;
    this.#openingValue = this.#openingInventory * mark;
    this.#spread += bought * mark - toRawMoney(money(paid));
    this.#fees -= fees * mark;
    this.#hedging += converted * mark - toRawMoney(money(cost));
    this.#flows += flows * mark;
  }
}

const UNIT = 2n * 10n ** 18n;
const toRawMoney = (minor: Money): bigint => minor * UNIT;
const toMoney = (sum: bigint): Money => money(sum / UNIT);
