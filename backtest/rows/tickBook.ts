/** Book as arrays over a window of ticks, so that setting a level and finding the best prices takes minimal work. */
import { Occupied } from './occupied.ts';
import type { MarketRows } from './rows.ts';

/**
 * Book in which a new level at or beyond the other side's best price hides the levels that it crosses, because
 * recordings contain stale levels. `bid` and `ask` are the indices of the best prices: `bid` is 0 without bids, and
 * `ask` is `last` without asks.
 */
export class TickBook {
  readonly bids: Float64Array;
  readonly asks: Float64Array;
  readonly last: number;
  bid = 0;
  ask: number;
  readonly #bidPlaces: Occupied;
  readonly #askPlaces: Occupied;

  constructor(rows: Pick<MarketRows, 'places'>) {
    this.bids = new Float64Array(rows.places);
    this.asks = new Float64Array(rows.places);
    this.last = rows.places - 1;
    this.ask = this.last;
    this.#bidPlaces = new Occupied(rows.places);
    this.#askPlaces = new Occupied(rows.places);
  }

  /** Sets the amount at a price index and returns the previous amount. Ignores the outermost indices. */
  setBid(place: number, lots: number): number {
    if (!(place > 0 && place < this.last)) return lots;
    const before = this.bids[place]!;
    this.bids[place] = lots;
    if (lots > 0) {
      if (before === 0) this.#bidPlaces.add(place);
      if (place > this.bid) this.#raiseBid(place);
    } else if (before > 0) {
      this.#bidPlaces.remove(place);
      if (place === this.bid) this.bid = this.bidBelow(place);
    }
    return before;
  }

  setAsk(place: number, lots: number): number {
    if (!(place > 0 && place < this.last)) return lots;
    const before = this.asks[place]!;
    this.asks[place] = lots;
    if (lots > 0) {
      if (before === 0) this.#askPlaces.add(place);
      if (place < this.ask) this.#lowerAsk(place);
    } else if (before > 0) {
      this.#askPlaces.remove(place);
      if (place === this.ask) this.ask = this.askAbove(place);
    }
    return before;
  }

  /** Returns the next lower price index with a bid; 0 if there is none. */
  bidBelow(place: number): number {
    return this.#bidPlaces.below(place, 0);
  }

  /** Returns the next higher price index with an ask; the last index of the book if there is none. */
  askAbove(place: number): number {
    return this.#askPlaces.above(place, this.last);
  }

  #raiseBid(place: number): void {
    this.bid = place;
    if (place >= this.ask) this.ask = this.askAbove(place);
  }

  #lowerAsk(place: number): void {
    this.ask = place;
    if (place <= this.bid) this.bid = this.bidBelow(place);
  }
}
