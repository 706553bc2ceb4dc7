/** The recorded book at the exchange, at the exchange's own time: read once, however many replays have their orders beside it. */
import { Disproved } from './disproved.ts';
import { NO_ASK, NO_BID } from './ownOrders.ts';
import type { OwnSide } from './ownOrders.ts';
import { Unrecorded } from './unrecorded.ts';
import { BUY, FLAG, SELL } from '../rows/rows.ts';
import type { MarketRows, SideIndex } from '../rows/rows.ts';
import { TickBook } from '../rows/tickBook.ts';
import { Sweep, SWEEP_MS } from '../../src/fills/index.ts';

/** Whoever has orders beside the recorded ones. None of them changes the recorded book, and none sees another's. */
export type Resident = {
  readonly bids: OwnSide;
  readonly asks: OwnSide;
  /** A taker met the market in a row; `sell`: with a sell. */
  traded(row: number, sell: boolean, place: number, lots: number): void;
  /** A level where somebody's order rests, or at or beyond the best one of the other side. */
  levelChanged(row: number, side: SideIndex, place: number, before: number, lots: number): void;
  /** All that is recorded has been told. */
  seen(): void;
};

/** Plain steps of a book, bids and asks: nearly all that there is. */
const PLAIN_BID = 0;
const PLAIN_ASK = FLAG.sell;

export class ExchangeBook {
  readonly rows: MarketRows;
  readonly book: TickBook;
  /** How many orders of residents rest at a place. */
  readonly ownBidsAt: Uint32Array;
  readonly ownAsksAt: Uint32Array;
  readonly disproved = new Disproved();
  readonly unrecorded = new Unrecorded();
  /** The taker of the last execution. */
  readonly taker = new Sweep(SWEEP_MS);
  /** The book was last told by a picture, which executions may disprove. */
  isPicture = false;
  /** Levels that were taken out of the recording, as executions went through them and they stayed. */
  ghosts = 0;
  /** When a best place last moved, and twice the middle before the first move at that time, 0 when a side was empty. */
  movedAt = -Infinity;
  midBefore = 0;
  readonly #residents: Resident[] = [];
  /** The best of all orders of residents. */
  #ownBid = NO_BID;
  #ownAsk = NO_ASK;
  /** Time in which the recorded book was crossed, and since when it is now. */
  #crossed = 0;
  #crossedSince = Infinity;
  /** Nothing but plain steps asks for more than its level. */
  #isPlain = true;
  /** Best places as they were last seen. */
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

  /** It has no orders any more, and hears of nothing. */
  leave(resident: Resident): void {
    this.#residents.splice(this.#residents.indexOf(resident), 1);
    this.ownChanged();
  }

  /** The next row to be read. */
  get next(): number {
    return this.#next;
  }

  /** The rows have moved so many places to the front. */
  moved(places: number): void {
    this.#next -= places;
  }

  /** Twice the middle of the recorded book, as places; 0 when a side is empty. */
  get twiceMid(): number {
    return this.#bid === 0 || this.#ask === this.book.last ? 0 : this.#bid + this.#ask;
  }

  /** The same just before `at`, the time of the last row. */
  twiceMidBefore(at: number): number {
    return at === this.movedAt ? this.midBefore : this.twiceMid;
  }

  /** For how long up to `at`, which is not before the last row, the recorded book was crossed. */
  crossedUpTo(at: number): number {
    return this.#crossed + Math.max(0, at - this.#crossedSince);
  }

  /** An order of a resident has come or gone. */
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

  /** While rows are read: something is to be done at `time`, before any later row. */
  stopBefore(time: number): void {
    this.#isStopped = true;
    if (time < this.#until) this.#until = time;
  }

  /** Reads the rows up to and at `time`, or up to where a resident stops it; true when one may have. */
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
      this.disproved.told(sell ? SELL : BUY, place);
      if (this.#heed(flags, row)) this.#set(row, sell, place, lots);
    }
    this.#isPlain = !this.isPicture && this.#crossedSince === Infinity && this.disproved.isEmpty;
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
      this.disproved.traded(this.book, sell ? BUY : SELL, place, lots);
      this.unrecorded.traded(sell ? BUY : SELL, place, lots);
    }
    this.taker.begin(this.rows.at[row]!, sell ? -1 : 1, place);
    for (const resident of this.#residents) resident.traded(row, sell, place, lots);
  }

  /** What a row says besides its level; false when that is all. */
  #heed(flags: number, row: number): boolean {
    if ((flags & FLAG.ghost) !== 0) this.ghosts++;
    if (((flags & FLAG.crossed) !== 0) !== this.#crossedSince < Infinity) this.#crossing(this.rows.at[row]!);
    const isPicture = (flags & FLAG.snapshot) !== 0;
    // Steps go on from a picture: until the first of them nothing had changed.
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

  /** Lots of the last recorded level before an order that stands behind all of them; 0 where its place is recorded. */
  lastBefore(side: SideIndex, place: number): number {
    if (this.rows.depth === Infinity) return 0;
    const last = this.lastPlace(side, place);
    return last === place ? 0 : (side === BUY ? this.book.bids : this.book.asks)[last]!;
  }

  /** Place of the last recorded level of a side, when it is better than `limit`; `limit` when fewer are than the recording shows. */
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
