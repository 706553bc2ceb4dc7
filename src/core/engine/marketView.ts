/** What is seen of the market: the book without our own orders, the last public trade, and a price from elsewhere. */
import { bestOf, DEPTH_LEVELS, emptyDepth, subtractOwn } from '../model/book.ts';
import type { BookLevels, Depth } from '../model/book.ts';
import type { EngineEvent } from './event.ts';
import type { Order, Orders } from '../orders/orders.ts';
import type { Reference, RfqPrices } from '../quoting/strategy.ts';
import type { Amount, Millis, Price } from '../model/units.ts';

export class MarketView {
  /** The book without our own orders, as it was last read. */
  readonly depth: Depth = emptyDepth(DEPTH_LEVELS);
  /** 0 before the first. */
  #lastTrade = 0 as Price;
  /** A driver that keeps the book itself hears a feed, and every trade with it. */
  hearsTrades = false;
  #reference: Reference | null = null;
  #rfqPrices: RfqPrices | null = null;
  #sleptAt: Millis = -Infinity;

  /** A reading that began before the process stood still may be older than it looks. */
  hear(event: Extract<EngineEvent, { kind: 'public trade' | 'reference' | 'witness' }>): void {
    if (event.kind === 'public trade') {
      this.#lastTrade = event.price;
      return;
    }
    const at = event.startedAt;
    if (!(at >= this.#sleptAt)) return;
    if (event.kind === 'reference') this.#reference = { at, price: event.price };
    else this.#rfqPrices = { at, bid: event.bid, ask: event.ask };
  }

  get lastTrade(): Price {
    return this.#lastTrade;
  }

  get reference(): Reference | null {
    return this.#reference;
  }

  get rfqPrices(): RfqPrices | null {
    return this.#rfqPrices;
  }

  slept(at: Millis): void {
    this.#sleptAt = at;
    this.#rfqPrices = null;
    this.#reference = null;
  }

  /** Copies the best levels of a book. `startedAt`: when the read of it began, with our own orders in it; null when it has none. */
  read(book: BookLevels, startedAt: Millis | null, orders: Orders): void {
    this.hearsTrades = startedAt === null;
    book.depth(this.depth);
    if (startedAt === null) return;
    for (const order of orders.inBookSince(startedAt)) subtractOwn(this.depth, order.side, order.price, leftOf(order));
  }

  /** Both sides are there and do not cross. */
  get isQuotable(): boolean {
    const bid = bestOf(this.depth, 'buy');
    return bid > 0 && bid < bestOf(this.depth, 'sell');
  }

  /** Middle of the touch, in ticks. */
  get mid(): number {
    return (bestOf(this.depth, 'buy') + bestOf(this.depth, 'sell')) / 2;
  }
}

const leftOf = ({ amount, filled }: Order): Amount => (amount - filled) as Amount;
