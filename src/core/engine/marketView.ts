/** Market as the engine sees it: the book without the bot's orders, the last public trade, and a reference price. */
import { bestOf, DEPTH_LEVELS, emptyDepth, subtractOwn, type BookLevels, type Depth } from '../model/book.ts';
import type { EngineEvent } from './event.ts';
import type { Orders } from '../orders/orders.ts';
import type { Reference, RfqPrices } from '../quoting/strategy.ts';
import type { Millis, Price } from '../model/units.ts';

export class MarketView {
  /** The latest book without the bot's orders. */
  readonly depth: Depth = emptyDepth(DEPTH_LEVELS);
  /** Price of the last public trade; 0 before the first trade. */
  #lastTrade = 0 as Price;
  /** Whether the driver reports every public trade. True if the driver's book excludes the bot's orders. */
  hearsTrades = false;
  #reference: Reference | null = null;
  #rfqPrices: RfqPrices | null = null;
  #sleptAt: Millis = -Infinity;

  /**
   * Applies an event. Ignores a read that started before the machine was suspended, because its data may be outdated.
   */
  apply(event: Extract<EngineEvent, { kind: 'public trade' | 'reference' | 'witness' }>): void {
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

  /**
   * Copies the best levels of a book. `startedAt` is the start of the read if the book includes the bot's orders;
   * `null` if it excludes them.
   */
  read(book: BookLevels, startedAt: Millis | null, orders: Orders): void {
    this.hearsTrades = startedAt === null;
    book.depth(this.depth);
    if (startedAt === null) return;
    for (const order of orders.inBookSince(startedAt))
      subtractOwn(this.depth, order.side, order.price, orders.lotsInBookSince(order, startedAt));
  }

  /** Whether both sides have a price, and the bid is below the ask. */
  get isQuotable(): boolean {
    const bid = bestOf(this.depth, 'buy');
    return bid > 0 && bid < bestOf(this.depth, 'sell');
  }

  /** Mid price, in ticks. */
  get mid(): number {
    return (bestOf(this.depth, 'buy') + bestOf(this.depth, 'sell')) / 2;
  }
}
