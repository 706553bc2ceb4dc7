/** What one book holds beyond its target and has earned, from everything that moves the account that it trades in. */
import type { Booked } from './holdings.ts';
import type { Change } from './ledger.ts';
import { moneyOfAmount } from '../model/instrument.ts';
import type { Instrument } from '../model/instrument.ts';
import type { OwnTrade } from '../ports/port.ts';
import { NO_PROFIT, profitSinceOpening } from './sinceOpening.ts';
import type { ProfitSinceOpening } from './sinceOpening.ts';
import { Position } from './position.ts';
import type { Fill, Profit } from './position.ts';
import { money, moneyOf } from '../model/units.ts';
import type { Amount, Millis, Money, Price } from '../model/units.ts';

const NOTHING = money(0n);

export class Inventory {
  readonly #instrument: Instrument;
  readonly #target: Amount | null;
  #position: Position | null = null;
  /** Profit up to the end of the earlier run; `null` if this run opened the ledger. */
  #earlier: ProfitSinceOpening | null = null;
  #openedAt: Millis | null = null;
  /** The position in lots, and of which version of it. */
  #lots = 0;
  #lotsOf = -1;

  /** `target`: lots to hold; null: what is held at the start. */
  constructor(instrument: Instrument, target: Amount | null) {
    this.#instrument = instrument;
    this.#target = target;
  }

  /** In what it is counted: the major currency of the book. */
  get currency(): string {
    return this.#instrument.major;
  }

  /** True once the account's balances are known. */
  get isOpen(): boolean {
    return this.#position !== null;
  }

  /** Goes on where an earlier run left off: `held` of the major currency, the target that it had, in lots, and its profit since the opening. */
  restore(held: Money, target: Amount, earlier: ProfitSinceOpening | null = null): void {
    this.#earlier = earlier ?? { since: null, at: null, twiceMid: null, profit: NO_PROFIT };
    this.#open(held, moneyOfAmount(this.#instrument, this.#target ?? target));
  }

  /**
   * Something was booked that is no trade of this book. A conversion between its two currencies, or as a leg of a route between them, is a
   * hedge; another one moves money out of or into them, and is no profit. Nor is a transfer, except for fees that were given back; a target
   * of our own stays where it is.
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
      case 'transfer':
        for (const change of booked.changes) this.#transferred(change);
    }
  }

  /** A trade of this book. `id`: our origin id, or null when the order is not ours: then it moves the position, and is no profit. */
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

  /** A new middle of the market, in half ticks. */
  mark(halfTicks: number): void {
    this.#position?.mark(halfTicks);
  }

  /** Major beyond the target. */
  position(): Money {
    return this.#position?.inventory ?? NOTHING;
  }

  /** The same in whole lots, rounded toward zero: fees may leave a part of a lot. */
  positionLots(): number {
    if (this.#position === null) return 0;
    if (this.#position.version !== this.#lotsOf) {
      this.#lotsOf = this.#position.version;
      this.#lots = Number(this.#position.inventory / this.#instrument.lotMoney);
    }
    return this.#lots;
  }

  /** What is wanted to be held, in lots, when so much is `held`. */
  targetLots(held: Money): Amount {
    return Number((held - this.position()) / this.#instrument.lotMoney) as Amount;
  }

  /** Throws an Error when it does not add up to the change of equity. */
  profit(): Profit {
    return this.#explained()?.profit() ?? NO_PROFIT;
  }

  /** Profit of all fills and conversions against the mid, less fees: what moves of the mid bring is not in it. Null before the first mid. */
  profitOfTrading(): Money | null {
    if (this.#position === null || this.#position.twiceMid === null) return null;
    const { spread, fees, hedging } = this.#position.profit();
    return money(spread + fees + hedging);
  }

  /** Profit since the opening of the ledger, with this run's; throws as `profit` does. `at`: time of the last event. */
  profitSinceOpening(at: Millis): ProfitSinceOpening {
    return profitSinceOpening(this.#earlier, this.#explained(), this.#openedAt, at);
  }

  /** Its total; throws as `profit` does. */
  totalProfit(): Money {
    return this.#explained()?.total() ?? NOTHING;
  }

  #explained(): Position | null {
    if (this.#position?.isExplained() === false) throw new Error('profit does not add up to the change of equity');
    return this.#position;
  }

  #open(held: Money, target: Money): void {
    this.#lotsOf = -1;
    this.#position = new Position(this.#instrument, money(held - target), this.#earlier?.twiceMid ?? null);
  }

  /** `worth`: what the third currency of a leg of a route is counted for. */
  #converted(changes: readonly Change[], worth?: Money): void {
    const { major, minor } = this.#instrument;
    const isOfBook = ({ currency }: Change) => currency === major || currency === minor;
    const [inMajor, inMinor] = [changesIn(changes, major), changesIn(changes, minor)];
    if (changes.every(isOfBook)) this.#position?.convert(inMajor, inMinor);
    else if (worth !== undefined) {
      // What lies in the third currency is cash at what it is counted for, until the other leg says what it was.
      const brought = changes.some(change => change.amount > 0n && isOfBook(change));
      this.#position?.convert(inMajor, inMinor + (brought ? -worth : worth));
    } else if (inMajor !== 0n) this.#position?.flow(inMajor);
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

function changesIn(changes: readonly Change[], currency: string): Money {
  let sum = 0n;
  for (const change of changes) if (change.currency === currency) sum += change.amount;
  return money(sum);
}
