/**
 * Recorded book at the exchange, at exchange time. Each row is processed once for all replays whose orders rest in the
 * book.
 */
import { InvalidatedLevels } from './invalidatedLevels.ts';
import { NO_ASK, NO_BID, type OwnSide } from './ownOrders.ts';
import { Unrecorded } from './unrecordedLevels.ts';
import { BUY, FLAG, SELL, type MarketRows, type SideIndex } from '../rows/rows.ts';
import { TickBook } from '../rows/tickBook.ts';
import { Sweep, SWEEP_MS } from '../../src/fills/index.ts';

/**
 * Replay whose orders rest next to the recorded orders. The replay never changes the recorded book, and does not
 * receive the orders of other replays.
 */
export type Resident = {
  readonly bids: OwnSide;
  readonly asks: OwnSide;
  /** Called for each execution by a taker; `sell` is true if the taker sold. `place` is the price index. */
  traded(row: number, sell: boolean, place: number, lots: number): void;
  /**
   * Called if a level with a replay's order changes. Also called if a growing level locks or crosses the best order of
   * a replay.
   */
  levelChanged(row: number, side: SideIndex, place: number, before: number, lots: number): void;
  /** Called after a snapshot, when the recorded book is complete. */
  seen(): void;
};

/**
 * Flags of a row that only sets the amount of a bid level, as nearly all rows do. `PLAIN_ASK`: flags of such a row for
 * an ask level.
 */
const PLAIN_BID = 0;
const PLAIN_ASK = FLAG.sell;

export class ExchangeBook {
  readonly rows: MarketRows;
  readonly book: TickBook;
  /** Number of resting bids of all replays at each price index. */
  readonly ownBidsAt: Uint32Array;
  /** Number of resting asks of all replays at each price index. */
  readonly ownAsksAt: Uint32Array;
  readonly invalidated = new InvalidatedLevels();
  readonly unrecorded = new Unrecorded();
  /** Taker of the last execution. */
  readonly taker = new Sweep(SWEEP_MS);
  /** Whether the last level row is from a snapshot; executions after the snapshot may invalidate its levels. */
  isPicture = false;
  /** Number of stale levels removed from the recorded book: levels that remained although executions passed them. */
  ghosts = 0;
  /**
   * Time at which a best price last moved. `midBefore` is twice the mid price before that time, as a price index, or 0
   * if a side was empty.
   */
  movedAt = -Infinity;
  midBefore = 0;
  readonly #residents: Resident[] = [];
  /** Price index of the best bid of all residents; `#ownAsk` is the price index of their best ask. */
  #ownBid = NO_BID;
  #ownAsk = NO_ASK;
  /** Total time in ms during which the recorded book was crossed, without the current crossing. */
  #crossed = 0;
  /** Time at which the recorded book became crossed; Infinity if the book is not crossed. */
  #crossedSince = Infinity;
  /** Whether a row with plain flags needs no processing except that its level is set. */
  #isPlain = true;
  /** Price index of the best bid at the last check; `#ask` is the price index of the best ask. */
  #bid = 0;
  #ask: number;
  #next = 0;
  #until = -Infinity;
  #isStopped = false;

  constructor(rows: MarketRows) {
    this.rows = rows;
    this.book = new TickBook(rows);
    this.#ask = this.book.ask;
    this.ownBidsAt = new Uint32Array(rows.places);
    this.ownAsksAt = new Uint32Array(rows.places);
  }

  join(resident: Resident): void {
    this.#residents.push(resident);
  }

  /** Removes a resident that has no orders; afterwards, it receives no events. */
  leave(resident: Resident): void {
    this.#residents.splice(this.#residents.indexOf(resident), 1);
    this.ownChanged();
  }

  /** Index of the next row to read. */
  get next(): number {
    return this.#next;
  }

  /** Time of the next row; Infinity after the last row. */
  get nextAt(): number {
    return this.rows.at[this.#next]!;
  }

  /** Time of the last row that was read; -Infinity before the first, and if the row is no longer in memory. */
  get readAt(): number {
    return this.rows.at[this.#next - 1] ?? -Infinity;
  }

  /** Adjusts the index of the next row after all rows were moved `places` indices to the front. */
  moved(places: number): void {
    this.#next -= places;
  }

  /** Twice the mid price of the recorded book, as a price index; 0 if a side is empty. */
  get twiceMid(): number {
    return this.#bid === 0 || this.#ask === this.book.last ? 0 : this.#bid + this.#ask;
  }

  /** Returns twice the mid price, as a price index, just before `at`, which is the time of the last row. */
  twiceMidBefore(at: number): number {
    return at === this.movedAt ? this.midBefore : this.twiceMid;
  }

  /**
   * Returns the total time in ms during which the recorded book was crossed, up to `at`, which is not before the last
   * row.
   */
  crossedUpTo(at: number): number {
    return this.#crossed + Math.max(0, at - this.#crossedSince);
  }

  /** Updates the best prices of the residents after an order of a resident was added or removed. */
  ownChanged(): void {
    let bid = NO_BID;
    let ask = NO_ASK;
    for (const { bids, asks } of this.#residents) {
      if (bids.best > bid) bid = bids.best;
      if (asks.best < ask) ask = asks.best;
    }
    this.#ownBid = bid;
    this.#ownAsk = ask;
  }

  /** Requests a stop while rows are read, so that no row later than `time` is read. */
  stopBefore(time: number): void {
    this.#isStopped = true;
    if (time < this.#until) this.#until = time;
  }

  /**
   * Reads the rows up to and including `time`, or until a resident requests a stop. Returns whether a stop was
   * requested.
   */
  readTo(time: number): boolean {
    this.#until = time;
    this.#isStopped = false;
    const { book } = this;
    const { at, place: places, lots: amounts, flags } = this.rows;
    let row = this.#next;
    while (at[row]! <= this.#until) {
      const flag = flags[row]!;
      const place = places[row]!;
      const lots = amounts[row]!;
      if (flag === PLAIN_BID && this.#isPlain) {
        const before = book.setBid(place, lots);
        if (book.bid !== this.#bid || book.ask !== this.#ask) this.#bestMoved(at[row]!);
        if (this.ownBidsAt[place] !== 0 || (place >= this.#ownAsk && lots > before))
          this.#levelChanged(row, BUY, place, before, lots);
      } else if (flag === PLAIN_ASK && this.#isPlain) {
        const before = book.setAsk(place, lots);
        if (book.bid !== this.#bid || book.ask !== this.#ask) this.#bestMoved(at[row]!);
        if (this.ownAsksAt[place] !== 0 || (place <= this.#ownBid && lots > before))
          this.#levelChanged(row, SELL, place, before, lots);
      } else this.#read(row, flag, place, lots);
      row++;
    }
    this.#next = row;
    return this.#isStopped;
  }

  #read(row: number, flags: number, place: number, lots: number): void {
    const sell = (flags & FLAG.sell) !== 0;
    if ((flags & FLAG.trade) !== 0) this.#trade(row, sell, place, lots);
    else {
      this.invalidated.updated(sell ? SELL : BUY, place);
      if (this.#heed(flags, row)) this.#set(row, sell, place, lots);
    }
    this.#isPlain = !this.isPicture && this.#crossedSince === Infinity && this.invalidated.isEmpty;
  }

  #set(row: number, sell: boolean, place: number, lots: number): void {
    const { book } = this;
    const before = sell ? book.setAsk(place, lots) : book.setBid(place, lots);
    if (book.bid !== this.#bid || book.ask !== this.#ask) this.#bestMoved(this.rows.at[row]!);
    const meets = sell ? place <= this.#ownBid : place >= this.#ownAsk;
    if ((sell ? this.ownAsksAt : this.ownBidsAt)[place] !== 0 || (meets && lots > before))
      this.#levelChanged(row, sell ? SELL : BUY, place, before, lots);
  }

  #levelChanged(row: number, side: SideIndex, place: number, before: number, lots: number): void {
    for (const resident of this.#residents) resident.levelChanged(row, side, place, before, lots);
  }

  #trade(row: number, sell: boolean, place: number, lots: number): void {
    if (this.isPicture) {
      this.invalidated.traded(this.book, sell ? BUY : SELL, place, lots);
      this.unrecorded.traded(sell ? BUY : SELL, place, lots);
    }
    this.taker.begin(this.rows.at[row]!, sell ? -1 : 1, place);
    for (const resident of this.#residents) resident.traded(row, sell, place, lots);
  }

  /** Processes the flags of a row; returns whether its level must be applied. */
  #heed(flags: number, row: number): boolean {
    if ((flags & FLAG.ghost) !== 0) this.ghosts++;
    if (((flags & FLAG.crossed) !== 0) !== this.#crossedSince < Infinity) this.#crossing(this.rows.at[row]!);
    const isPicture = (flags & FLAG.snapshot) !== 0;
    // Only the first row after a snapshot shows that the snapshot is complete. That row is not applied yet, so the book
    // still equals the snapshot.
    const goesOn = this.isPicture && !isPicture;
    if (goesOn) this.#seen();
    this.isPicture = isPicture;
    if ((flags & FLAG.unseen) !== 0) {
      const [side, levels] = (flags & FLAG.sell) !== 0 ? [SELL, this.book.asks] : [BUY, this.book.bids];
      const place = this.rows.place[row]!;
      this.unrecorded.slidOut(side as SideIndex, place, levels[place]!);
    }
    if ((flags & FLAG.again) === 0) return true;
    if ((flags & FLAG.end) !== 0) this.#pictured();
    return false;
  }

  #pictured(): void {
    for (const side of [BUY, SELL] as const)
      if (!this.unrecorded.isEmpty(side))
        this.unrecorded.recorded(side, this.lastPlace(side, side === BUY ? 0 : this.book.last));
    this.#seen();
  }

  #seen(): void {
    for (const resident of this.#residents) resident.seen();
  }

  #crossing(at: number): void {
    this.#crossed = this.crossedUpTo(at);
    this.#crossedSince = this.#crossedSince < Infinity ? Infinity : at;
  }

  #bestMoved(at: number): void {
    if (at !== this.movedAt) {
      this.movedAt = at;
      this.midBefore = this.twiceMid;
    }
    this.#bid = this.book.bid;
    this.#ask = this.book.ask;
  }

  /** Returns the lots of a side's last recorded level if `place` is beyond that level; otherwise 0. */
  lastBefore(side: SideIndex, place: number): number {
    if (this.rows.depth === Infinity) return 0;
    const last = this.lastPlace(side, place);
    return last === place ? 0 : (side === BUY ? this.book.bids : this.book.asks)[last]!;
  }

  /**
   * Returns the price index of the last recorded level of a side if that price is better than `limit`. Otherwise
   * returns `limit`, also if the side has fewer levels than the recorded depth.
   */
  lastPlace(side: SideIndex, limit: number): number {
    const { book } = this;
    const { depth } = this.rows;
    const buys = side === BUY;
    let count = 0;
    for (
      let at = buys ? book.bid : book.ask;
      at > 0 && at < book.last && (buys ? at > limit : at < limit);
      at = buys ? book.bidBelow(at) : book.askAbove(at)
    )
      if (++count >= depth) return at;
    return limit;
  }
}
