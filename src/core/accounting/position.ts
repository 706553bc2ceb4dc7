/** What we hold and what it earned: exact inventory, cash and profit split into spread, inventory, hedging and fees. */
import type { Instrument } from '../model/instrument.ts';
import { money } from '../model/units.ts';
import type { Millis, Money, Price, Side } from '../model/units.ts';

/** One execution of ours, in exact money. Amounts and fee are positive. */
export type Fill = {
  readonly tid: string;
  /** Our origin id, or null for an order of this account that is not ours. */
  readonly id: string | null;
  readonly oid: string;
  readonly at: Millis;
  readonly book: string;
  readonly side: Side;
  readonly price: Price;
  readonly major: Money;
  readonly minor: Money;
  readonly fee: Money;
  /** A fee in a third currency is in the ledger, and is no part of this book's profit. */
  readonly feeIn: 'major' | 'minor' | 'other';
  readonly maker: boolean;
};

/** Profit in the minor currency since the start; the parts add up to the total exactly. Fees, and what hedging cost, are negative when paid. */
export type Profit = {
  readonly spread: Money;
  readonly inventory: Money;
  readonly fees: Money;
  /** What conversions, and orders that took liquidity, brought against the mark. */
  readonly hedging: Money;
  readonly total: Money;
};

/** What two times after each other brought together. */
export const sumOfProfits = (a: Profit, b: Profit): Profit => ({
  spread: money(a.spread + b.spread),
  inventory: money(a.inventory + b.inventory),
  fees: money(a.fees + b.fees),
  hedging: money(a.hedging + b.hedging),
  total: money(a.total + b.total),
});

/** What the later one has more than the earlier one. */
export const differenceOfProfits = (later: Profit, earlier: Profit): Profit => ({
  spread: money(later.spread - earlier.spread),
  inventory: money(later.inventory - earlier.inventory),
  fees: money(later.fees - earlier.fees),
  hedging: money(later.hedging - earlier.hedging),
  total: money(later.total - earlier.total),
});

/**
 * Equity is cash + inventory x mark. Between two moments it changes by exactly: what fills captured against the mark (spread),
 * what conversions and orders that took liquidity captured against it (hedging), what the mark did to the inventory held (inventory), and fees. The mark is the middle of the book in half ticks, so that
 * everything is an integer: sums inside are in minor money over 2 x 10^18 (major 10^-18, times half ticks, times the tick's money).
 */
export class Position {
  readonly #tickMoney: bigint;
  /** Major beyond the target. */
  #inventory: bigint;
  #cash = 0n;
  /** Half ticks times the tick's money; 0 before the first mark. Up to it the mark's moves are counted. */
  #mark = 0n;
  #firstMark = 0n;
  /** Where it has come since, in half ticks: what is held in between is the same, so that the moves are counted together when somebody asks. */
  #halfTicks = 0;
  /** What `total`, `profit` and `isExplained` said, until something moves them. */
  #total: Money | null = null;
  #profit: Profit | null = null;
  #isExplained: boolean | null = null;
  #version = 0;
  #spread = 0n;
  #carried = 0n;
  #fees = 0n;
  #hedging = 0n;
  readonly #openingInventory: bigint;
  /** The opening inventory at the first mark. */
  #openingWorth = 0n;
  /** Mark at which an earlier run ended; 0 without one. */
  readonly #earlierMark: bigint;
  #flows = 0n;
  /** What happened before the first mark, in 10^-18: valued when there is one. */
  readonly #early = { bought: 0n, paid: 0n, fees: 0n, flows: 0n, converted: 0n, cost: 0n };

  /**
   * `inventory` is what is held beyond the target at the start; it earns and loses with the mark from the first mark on. `earlierTwiceMid`: where
   * an earlier run ended, twice the mid; null without one.
   */
  constructor(instrument: Instrument, inventory: Money, earlierTwiceMid: Money | null = null) {
    this.#tickMoney = instrument.tickMoney;
    this.#earlierMark = earlierTwiceMid ?? 0n;
    this.#inventory = inventory;
    this.#openingInventory = inventory;
  }

  /** Another one whenever something but the mark has moved. */
  get version(): number {
    return this.#version;
  }

  get inventory(): Money {
    return money(this.#inventory);
  }

  /** Change of the minor currency by our fills. */
  get cash(): Money {
    return money(this.#cash);
  }

  /** Twice the mid that everything is marked at; null before the first. */
  get twiceMid(): Money | null {
    return this.#halfTicks === 0 ? null : money(BigInt(this.#halfTicks) * this.#tickMoney);
  }

  /** Gain of the opening inventory between the last mark of the earlier run and the first mark of this one. It is no part of `profit`. */
  get gainBeforeStart(): Money {
    if (this.#mark === 0n || this.#earlierMark === 0n) return money(0n);
    return cooked(this.#openingInventory * (this.#firstMark - this.#earlierMark));
  }

  /** A new middle of the market, in half ticks. */
  mark(halfTicks: number): void {
    if (halfTicks === this.#halfTicks && halfTicks > 0) return;
    if (!(Number.isSafeInteger(halfTicks) && halfTicks > 0))
      throw new RangeError(`a mark must be a whole number above zero, found ${halfTicks}`);
    this.#halfTicks = halfTicks;
    if (this.#mark === 0n) this.#open(BigInt(halfTicks) * this.#tickMoney);
    else if (this.#inventory !== 0n) this.#isAnother();
  }

  /** Counts what the mark's moves did to the inventory. */
  #carry(): void {
    const next = BigInt(this.#halfTicks) * this.#tickMoney;
    if (next === this.#mark) return;
    this.#carried += this.#inventory * (next - this.#mark);
    this.#mark = next;
  }

  fill(fill: Fill): void {
    this.#moved();
    const sign = fill.side === 'buy' ? 1n : -1n;
    const hasMark = this.#mark !== 0n;
    // What takes liquidity pays to leave: it is no part of what quotes earn.
    if (!fill.maker) this.#leave(sign * fill.major, -sign * fill.minor);
    else if (hasMark) this.#spread += sign * (fill.major * this.#mark - raw(fill.minor));
    else {
      this.#early.bought += sign * fill.major;
      this.#early.paid += sign * fill.minor;
    }
    if (fill.feeIn === 'major' && hasMark) this.#fees -= fill.fee * this.#mark;
    else if (fill.feeIn === 'major') this.#early.fees += fill.fee;
    if (fill.feeIn === 'minor') this.#fees -= raw(fill.fee);
    this.#inventory += sign * fill.major - (fill.feeIn === 'major' ? fill.fee : 0n);
    this.#cash -= sign * fill.minor + (fill.feeIn === 'minor' ? fill.fee : 0n);
  }

  /** A conversion of ours between the two currencies: what each of them changed by, in opposite directions. */
  convert(major: bigint, minor: bigint): void {
    this.#moved();
    this.#leave(major, minor);
    this.#inventory += major;
    this.#cash += minor;
  }

  /** A fee that was given back, in the major currency or in the minor one. */
  rebate(isMajor: boolean, sum: Money): void {
    this.#moved();
    if (!isMajor) {
      this.#fees += raw(sum);
      this.#cash += sum;
      return;
    }
    if (this.#mark === 0n) this.#early.fees -= sum;
    else this.#fees += sum * this.#mark;
    this.#inventory += sum;
  }

  /** Major that came or went by something other than our fills: a deposit, another program's trade. Never profit. */
  flow(major: Money): void {
    this.#moved();
    this.#inventory += major;
    if (this.#mark === 0n) this.#early.flows += major;
    else this.#flows += major * this.#mark;
  }

  /** Before the first mark only fees in the minor currency are known. */
  profit(): Profit {
    return (this.#profit ??= this.#computed());
  }

  /** The total of `profit`, without its parts: every decision asks for it. */
  total(): Money {
    if (this.#total === null) {
      this.#carry();
      this.#total = cooked(this.#spread + this.#carried + this.#fees + this.#hedging);
    }
    return this.#total;
  }

  #computed(): Profit {
    const spread = cooked(this.#spread);
    const fees = cooked(this.#fees);
    const hedging = cooked(this.#hedging);
    const all = this.total();
    // The parts are rounded to 10^-18; inventory takes the remainder, so that they add up to the total exactly.
    return { spread, fees, hedging, inventory: money(all - spread - fees - hedging), total: all };
  }

  /** True when the parts explain the change of equity to the last unit: the identity that everything above must keep. */
  isExplained(): boolean {
    return (this.#isExplained ??= this.#addsUp());
  }

  #addsUp(): boolean {
    this.#carry();
    if (this.#mark === 0n) return true;
    const equity = raw(money(this.#cash)) + this.#inventory * this.#mark;
    return equity - this.#openingWorth === this.#spread + this.#carried + this.#fees + this.#hedging + this.#flows;
  }

  #moved(): void {
    this.#carry();
    this.#version++;
    this.#isAnother();
  }

  #isAnother(): void {
    this.#total = null;
    this.#profit = null;
    this.#isExplained = null;
  }

  #leave(major: bigint, minor: bigint): void {
    if (this.#mark === 0n) {
      this.#early.converted += major;
      this.#early.cost -= minor;
    } else this.#hedging += major * this.#mark + raw(money(minor));
  }

  /** The first mark: leftovers of an earlier run may have been filled before the first book arrived. */
  #open(mark: bigint): void {
    const { bought, paid, fees, flows, converted, cost } = this.#early;
    this.#isAnother();
    this.#mark = mark;
    this.#firstMark = mark;
    this.#openingWorth = this.#openingInventory * mark;
    this.#spread += bought * mark - raw(money(paid));
    this.#fees -= fees * mark;
    this.#hedging += converted * mark - raw(money(cost));
    this.#flows += flows * mark;
  }
}

const UNIT = 2n * 10n ** 18n;
const raw = (minor: Money): bigint => minor * UNIT;
const cooked = (sum: bigint): Money => money(sum / UNIT);
