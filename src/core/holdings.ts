/** What the account holds by currency, from its opening balances and every trade since; and our own position in it. */
import { moneyOfAmount } from './instrument.ts';
import type { Instrument } from './instrument.ts';
import type { Conversion } from './event.ts';
import type { Balance, OwnTrade } from './port.ts';
import { Position } from './position.ts';
import type { Fill, Profit } from './position.ts';
import { money, moneyOf } from './units.ts';
import type { Amount, Money, Price } from './units.ts';

/** Trades remembered to recognise repeats; pages overlap by far less. */
const SEEN_MAX = 20_000;

const NOTHING = money(0n);
const NO_PROFIT: Profit = { spread: NOTHING, inventory: NOTHING, fees: NOTHING, hedging: NOTHING, total: NOTHING };

export class Holdings {
  readonly #instrument: Instrument;
  readonly #target: Amount | null;
  readonly #totals = new Map<string, Money>();
  readonly #reported = new Map<string, Money>();
  readonly #seen = new Map<string, string>();
  #version = 0;
  #position: Position | null = null;

  constructor(instrument: Instrument, target: Amount | null) {
    this.#instrument = instrument;
    this.#target = target;
  }

  /** Grows with every change of a total. */
  get version(): number {
    return this.#version;
  }

  /** True once the opening balances are known. */
  get isOpen(): boolean {
    return this.#position !== null;
  }

  /** Our own ledger: opening balance plus every trade, by currency. */
  get totals(): ReadonlyMap<string, Money> {
    return this.#totals;
  }

  total(currency: string): Money {
    return this.#totals.get(currency) ?? money(0n);
  }

  /** Goes on with the ledger of an earlier run. Its trades up to that moment are in the totals. */
  restore(totals: ReadonlyMap<string, Money>, seen: ReadonlyMap<string, string>, target: Amount): void {
    if (this.#position !== null) throw new Error('the ledger is open already');
    for (const [currency, total] of totals) this.#totals.set(currency, total);
    for (const [tid, content] of seen) this.#seen.set(tid, content);
    const wanted = moneyOfAmount(this.#instrument, this.#target ?? target);
    this.#position = new Position(this.#instrument, money(this.total(this.#instrument.major) - wanted));
  }

  /** Takes the last reported totals for the ledger: what differed came or went by something that is not ours, and is never profit. */
  adjust(): void {
    for (const { currency, difference } of this.differences()) {
      // Without a target of its own the bot comes back to what it holds: then the target moves with it, and the position does not.
      this.transfer(currency, difference);
    }
  }

  /** The first read opens the ledger; later ones are kept to be compared with it. */
  read(balances: readonly Balance[]): void {
    for (const { currency, total } of balances) {
      this.#reported.set(currency, moneyOf(total));
      if (this.#position === null) this.#totals.set(currency, moneyOf(total));
    }
    if (this.#position !== null) return;
    const held = this.total(this.#instrument.major);
    const target = this.#target === null ? held : moneyOfAmount(this.#instrument, this.#target);
    this.#position = new Position(this.#instrument, money(held - target));
  }

  /** Currencies whose last reported total differs from our ledger, with the difference: reported minus ours. */
  differences(): readonly { readonly currency: string; readonly difference: Money }[] {
    const result: { currency: string; difference: Money }[] = [];
    for (const [currency, reported] of this.#reported) {
      const difference = money(reported - this.total(currency));
      if (difference !== 0n) result.push({ currency, difference });
    }
    return result;
  }

  /** A trade in our book, once: null for a repeat. `id` is our origin id, or null when the order is not ours. */
  trade(trade: OwnTrade, price: Price, id: string | null): Fill | null {
    if (!this.#isNew(trade)) return null;
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
    this.#book(trade);
    if (this.#position === null) throw new Error('a trade arrived before the opening balances');
    if (id !== null) this.#position.fill(fill);
    else {
      const received = trade.side === 'buy' ? fill.major : -fill.major;
      this.#position.flow(money(received - (fill.feeIn === 'major' ? fill.fee : 0n)));
    }
    return fill;
  }

  /** A trade of this account in another book: it moves balances, and our position when it moves our major currency. */
  otherTrade(trade: OwnTrade): void {
    if (!this.#isNew(trade)) return;
    const before = this.total(this.#instrument.major);
    this.#book(trade);
    this.#position?.flow(money(this.total(this.#instrument.major) - before));
  }

  /**
   * A conversion of ours has been carried out. Between the two currencies of the book it is a hedge; another one moves money out of or into
   * the book's currencies, and is no profit.
   */
  convert({ give, get }: Conversion): void {
    this.#add(give.currency, -give.amount);
    this.#add(get.currency, get.amount);
    const { major, minor } = this.#instrument;
    const pair = [give.currency, get.currency];
    if (pair.includes(major) && pair.includes(minor)) {
      const sells = give.currency === major;
      this.#position?.convert(money(sells ? -give.amount : get.amount), money(sells ? get.amount : -give.amount));
    } else if (pair.includes(major)) this.#position?.flow(money(give.currency === major ? -give.amount : get.amount));
  }

  /** Money came or went, and it is known why: it is never profit, and a target of our own stays. */
  transfer(currency: string, amount: Money): void {
    this.#add(currency, amount);
    if (currency === this.#instrument.major && this.#target !== null) this.#position?.flow(amount);
  }

  /** What was said of these trades, of those that are in the ledger. */
  seenOf(tids: readonly string[]): ReadonlyMap<string, string> {
    return new Map(tids.flatMap(tid => (this.#seen.has(tid) ? [[tid, this.#seen.get(tid)!] as const] : [])));
  }

  /** What is wanted to be held, in lots. */
  targetLots(): Amount {
    const target = this.total(this.#instrument.major) - this.position();
    return Number(target / this.#instrument.lotMoney) as Amount;
  }

  mark(halfTicks: number): void {
    this.#position?.mark(halfTicks);
  }

  /** Major beyond the target. */
  position(): Money {
    return this.#position?.inventory ?? money(0n);
  }

  /** The same in whole lots, rounded toward zero: fees may leave a part of a lot. */
  positionLots(): number {
    return Number(this.position() / this.#instrument.lotMoney);
  }

  profit(): Profit {
    if (this.#position === null) return NO_PROFIT;
    if (!this.#position.isExplained()) throw new Error('profit does not add up to the change of equity');
    return this.#position.profit();
  }

  #feeIn(currency: string): Fill['feeIn'] {
    if (currency === this.#instrument.major) return 'major';
    return currency === this.#instrument.minor ? 'minor' : 'other';
  }

  /**
   * The first report of a trade is booked; one that tells the same trade differently is an impossible event. When the account trades with
   * itself, through another of its programs, one trade id has two records: one for each order.
   */
  #isNew({ tid, oid, side, price, major, minor, feeAmount, feeCurrency }: OwnTrade): boolean {
    const content = [oid, side, price, major, minor, feeAmount, feeCurrency].join(' ');
    const records = this.#seen.get(tid)?.split('\n') ?? [];
    const before = records.find(record => record.startsWith(`${oid} `));
    if (before !== undefined) {
      if (before !== content) throw new Error(`trade ${tid} was reported as ${before}, and now as ${content}`);
      return false;
    }
    this.#seen.set(tid, [...records, content].join('\n'));
    if (this.#seen.size > SEEN_MAX) this.#seen.delete(this.#seen.keys().next().value!);
    return true;
  }

  #book(trade: OwnTrade): void {
    const [major, minor] = trade.book.split('_') as [string, string];
    const sign = trade.side === 'buy' ? 1n : -1n;
    this.#add(major, sign * moneyOf(trade.major));
    this.#add(minor, -sign * moneyOf(trade.minor));
    this.#add(trade.feeCurrency, -moneyOf(trade.feeAmount));
  }

  #add(currency: string, change: bigint): void {
    this.#version++;
    this.#totals.set(currency, money(this.total(currency) + change));
  }
}
