/** Recorded book at the exchange, at exchange time. It is read once for all replays whose orders rest in it. */
import { InvalidatedLevels } from './invalidatedLevels.ts';
import { NO_ASK, NO_BID, type OwnSide } from './ownOrders.ts';
import { Unrecorded } from './unrecordedLevels.ts';
import { BUY, FLAG, SELL, type MarketRows, type SideIndex } from '../rows/rows.ts';
import { TickBook } from '../rows/tickBook.ts';
import { Sweep, SWEEP_MS } from '../../src/fills/index.ts';

/** Replay with orders next to the recorded ones. It never changes the recorded book or sees other replays' orders. */
export type Resident = {
  readonly bids: OwnSide;
  readonly asks: OwnSide;
  /** Called for each taker execution; `sell` is the taker's side. */
  traded(row: number, sell: boolean, place: number, lots: number): void;
  /**
   * Called for each change of a level that has a resident's order, or is at or beyond the best order on the other side.
   */
  levelChanged(row: number, side: SideIndex, place: number, before: number, lots: number): void;
  /** Called after a snapshot, when the recorded book is complete. */
  seen(): void;
};

/** Flags of plain level rows, which nearly all rows are: of a bid, then of an ask. */
const PLAIN_BID = 0;
const PLAIN_ASK = FLAG.sell;

export class ExchangeBook {
  readonly rows: MarketRows;
  readonly book: TickBook;
  /** Number of resting bids of all replays at each place (index of a tick). */
  readonly ownBidsAt: Uint32Array;
  /** Number of resting asks of all replays at each place. */
  readonly ownAsksAt: Uint32Array;
  readonly invalidated = new InvalidatedLevels();
  readonly unrecorded = new Unrecorded();
  /** Taker of the last execution. */
  readonly taker = new Sweep(SWEEP_MS);
  /** Whether the book last came from a snapshot, which executions may invalidate. */
  isPicture = false;
  /** Stale levels removed from the recording, because executions passed them and they remained. */
  ghosts = 0;
  /**
   * Time at which a best place last moved; `midBefore` is the mid price before it times two, or 0 if a side was empty.
   */
  movedAt = -Infinity;
  midBefore = 0;
  readonly #residents: Resident[] = [];
  /** Places of the best bid and of the best ask of all residents. */
  #ownBid = NO_BID;
  #ownAsk = NO_ASK;
  /** Total time with a crossed recorded book. */
  #crossed = 0;
  /** Start of the current crossing; Infinity if the book is not crossed. */
  #crossedSince = Infinity;
  /** Whether a plain step only sets its level. */
  #isPlain = true;
  /** Best places at the last check. */
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

  /** Removes a resident without orders; it receives no more events. */
  leave(resident: Resident): void {
    this.#residents.splice(this.#residents.indexOf(resident), 1);
    this.ownChanged();
  }

  /** Next row to read. */
  get next(): number {
    return this.#next;
  }

  /** Adjusts to rows that moved by `places` to the front. */
  moved(places: number): void {
    this.#next -= places;
  }

  /** Mid price of the recorded book times two, as places; 0 if a side is empty. */
  get twiceMid(): number {
    return this.#bid === 0 || this.#ask === this.book.last ? 0 : this.#bid + this.#ask;
  }

  /** Returns the mid price times two, as places, just before `at`, the time of the last row. */
  twiceMidBefore(at: number): number {
    return at === this.movedAt ? this.midBefore : this.twiceMid;
  }

  /** Duration of crossed books up to `at`, which is not before the last row. */
  crossedUpTo(at: number): number {
    return this.#crossed + Math.max(0, at - this.#crossedSince);
  }

  /** Updates the best orders after a resident's order was added or removed. */
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

  /** Requests a stop at `time` while rows are read, before any later row. */
  stopBefore(time: number): void {
    this.#isStopped = true;
    if (time < this.#until) this.#until = time;
  }

  /** Reads the rows up to and including `time`, or until a resident stops it; returns true if one may have. */
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
    // First step after a snapshot: the book was unchanged until this row.
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

  /** Returns the lots of a side's last recorded level if `place` is beyond it; 0 if `place` is a recorded level. */
  lastBefore(side: SideIndex, place: number): number {
    if (this.rows.depth === Infinity) return 0;
    const last = this.lastPlace(side, place);
    return last === place ? 0 : (side === BUY ? this.book.bids : this.book.asks)[last]!;
  }

  /**
   * Returns the place of the last recorded level of a side if that place is better than `limit`. Otherwise, and if the
   * side has fewer levels than the recording can show, returns `limit`.
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
