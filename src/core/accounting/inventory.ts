/** Inventory and profit of one book, from every change of its account. */
import type { Booked } from './bookings.ts';
import { changesIn, type Change } from './ledger.ts';
import { moneyOfAmount, type Instrument } from '../model/instrument.ts';
import type { OwnTrade } from '../ports/port.ts';
import { NO_PROFIT, profitSinceOpening, type ProfitSinceOpening } from './profitSinceOpening.ts';
import type { ElsewhereChange } from './elsewhereAccount.ts';
import { Position, type Fill, type Profit } from './position.ts';
import { money, moneyOf, type Amount, type Millis, type Money, type Price } from '../model/units.ts';

const NOTHING = money(0n);

/** Target holding as it is stored. */
export type StoredTarget = {
  /** Complete lots, rounded toward zero. */
  readonly target: Amount;
  /** Part beyond complete lots, with the sign of the target; absent if zero. */
  readonly targetRest?: Money;
};

/** Returns the target as it is stored, in lots of the book. `targetMoney` is the inverse. */
export function storedTarget({ lotMoney }: Pick<Instrument, 'lotMoney'>, target: Money): StoredTarget {
  const rest = money(target % lotMoney);
  return { target: Number(target / lotMoney) as Amount, ...(rest === 0n ? {} : { targetRest: rest }) };
}

/** Returns a stored target in the base currency. */
export const targetMoney = (
  { lotMoney }: Pick<Instrument, 'lotMoney'>,
  { target, targetRest = NOTHING }: StoredTarget,
): Money => money(BigInt(target) * lotMoney + targetRest);

export class Inventory {
  readonly #instrument: Instrument;
  readonly #target: Amount | null;
  #position: Position | null = null;
  /** Profit up to the end of the earlier run; `null` if this run opened the ledger. */
  #earlier: ProfitSinceOpening | null = null;
  #openedAt: Millis | null = null;
  /** Position in lots; valid while the version of the position equals `#lotsOf`. */
  #lots = 0;
  #lotsOf = -1;

  /**
   * `target` is the amount of the base currency to keep, in lots. If `null`, the target is the amount held at the
   * start.
   */
  constructor(instrument: Instrument, target: Amount | null) {
    this.#instrument = instrument;
    this.#target = target;
  }

  /** Currency of the inventory: the base currency of the book. */
  get currency(): string {
    return this.#instrument.major;
  }

  /** Whether the account's balances are known. */
  get isOpen(): boolean {
    return this.#position !== null;
  }

  /**
   * Restores the state of an earlier run: amount of the base currency (`held`), its target, and profit since the
   * opening.
   */
  restore(held: Money, target: Money, earlier: ProfitSinceOpening | null = null): void {
    this.#earlier = earlier ?? { since: null, at: null, twiceMid: null, profit: NO_PROFIT };
    this.#open(held, this.#target === null ? target : moneyOfAmount(this.#instrument, this.#target));
  }

  /**
   * Applies a booked change that is not a trade of this book.
   *
   * A conversion between the book's two currencies, directly or as a leg of a route, is a hedge. Other conversions and
   * transfers change the inventory without profit; refunded fees are profit. A configured target does not change.
   */
  moved(booked: Booked, at: Millis): void {
    const { major } = this.#instrument;
    const held = changesIn(booked.changes, major);
    switch (booked.kind) {
      case 'opening':
        this.#openedAt = at;
        this.#open(held, this.#target === null ? held : moneyOfAmount(this.#instrument, this.#target));
        break;
      case 'trade':
        this.#position?.flow(held);
        break;
      case 'conversion':
        this.#converted(booked.changes, booked.worth);
        break;
      case 'rounding':
      case 'transfer':
        for (const change of booked.changes) this.#transferred(change);
    }
  }

  /** Applies a booked change of the account on another exchange. A trade there is a hedge of this book. */
  placed(change: ElsewhereChange): void {
    if (change.kind === 'trade') this.#position?.convert(change.major, change.cash);
    else if (this.#target !== null) this.#position?.flow(change.major);
  }

  /**
   * Applies a trade of this book. `id` is the origin id of the bot's order; `null` for another order of the account. A
   * trade of another order changes the position without profit.
   */
  trade(trade: OwnTrade, price: Price, id: string | null): Fill {
    const fill: Fill = {
      tid: trade.tid,
      id,
      oid: trade.oid,
      at: trade.createdAt,
      book: trade.book,
      side: trade.side,
      price,
      major: moneyOf(trade.major),
      minor: moneyOf(trade.minor),
      fee: moneyOf(trade.feeAmount),
      feeIn: this.#feeIn(trade.feeCurrency),
      maker: trade.maker,
    };
    if (this.#position === null) throw new Error('a trade arrived before the opening balances');
    if (id !== null) this.#position.fill(fill);
    else {
      const received = trade.side === 'buy' ? fill.major : -fill.major;
      this.#position.flow(money(received - (fill.feeIn === 'major' ? fill.fee : 0n)));
    }
    return fill;
  }

  /** Sets a new mid price, in half ticks. */
  mark(halfTicks: number): void {
    this.#position?.mark(halfTicks);
  }

  /** Returns the held amount of the base currency minus the target. */
  position(): Money {
    return this.#position?.inventory ?? NOTHING;
  }

  /** Returns the position in whole lots, rounded toward zero; fees may leave a fraction of a lot. */
  positionLots(): number {
    if (this.#position === null) return 0;
    if (this.#position.version !== this.#lotsOf) {
      this.#lotsOf = this.#position.version;
      this.#lots = Number(this.#position.inventory / this.#instrument.lotMoney);
    }
    return this.#lots;
  }

  /** Returns the exact target, given the current amount of the base currency (`held`). */
  target(held: Money): Money {
    return money(held - this.position());
  }

  /** Returns the profit by part. Throws Error if the profit does not equal the change of equity. */
  profit(): Profit {
    return this.#explained()?.profit() ?? NO_PROFIT;
  }

  /**
   * Returns the profit of all fills and conversions against the mid price, minus fees. Excludes the effect of mid-price
   * moves on the value of the inventory. Returns `null` before the first mid price.
   */
  profitOfTrading(): Money | null {
    if (this.#position === null || this.#position.twiceMid === null) return null;
    const { spread, fees, hedging } = this.#position.profit();
    return money(spread + fees + hedging);
  }

  /**
   * Returns the profit since the opening of the ledger, including this run. `at` is the time of the last event. Throws
   * Error as `profit` does.
   */
  profitSinceOpening(at: Millis): ProfitSinceOpening {
    return profitSinceOpening(this.#earlier, this.#explained(), this.#openedAt, at);
  }

  /**
   * Returns the profit that the limits on losses measure: of this run, and of the inventory since the last mid price of
   * the run before. `null` before the first mid price. Throws Error as `profit` does.
   */
  profitForLimits(): Money | null {
    const position = this.#explained();
    if (position === null || position.twiceMid === null) return null;
    return money(position.total() + position.gainBeforeStart);
  }

  #explained(): Position | null {
    if (this.#position?.isExplained() === false)
      throw new Error('the parts of the profit do not add up to the change of equity');
    return this.#position;
  }

  #open(held: Money, target: Money): void {
    this.#position = new Position(this.#instrument, money(held - target), this.#earlier?.twiceMid ?? null);
  }

  /**
   * Applies a conversion. `worth`: for a leg of a route through a third currency, the value of the third-currency
   * amount in the quote currency.
   */
  #converted(changes: readonly Change[], worth?: Money): void {
    const { major, minor } = this.#instrument;
    const isOfBook = ({ currency }: Change) => currency === major || currency === minor;
    const [inMajor, inMinor] = [changesIn(changes, major), changesIn(changes, minor)];
    if (changes.every(isOfBook)) this.#position?.convert(inMajor, inMinor);
    else if (worth !== undefined) {
      // The third currency counts as cash at its estimated value until the other leg is executed.
      const brought = changes.some(change => change.amount > 0n && isOfBook(change));
      this.#position?.convert(inMajor, inMinor + (brought ? -worth : worth));
    } else this.#position?.flow(inMajor);
  }

  #transferred({ cause, currency, amount }: Change): void {
    const { major, minor } = this.#instrument;
    if (cause === 'fees' && (currency === major || currency === minor))
      this.#position?.rebate(currency === major, amount);
    else if (currency === major && this.#target !== null) this.#position?.flow(amount);
  }

  #feeIn(currency: string): Fill['feeIn'] {
    if (currency === this.#instrument.major) return 'major';
    return currency === this.#instrument.minor ? 'minor' : 'other';
  }
}
