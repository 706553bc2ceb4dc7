/** Replays a recorded market as house orders: the book as it was recorded, with real orders resting, filling and taking among it. */
import { opposite } from '../../core/index.ts';
import type { Amount, Millis, Price, Side, Timer } from '../../core/index.ts';
import { Sweep, SWEEP_MS } from '../../fills/index.ts';
import { KIND, RecordedBook, SIDE } from '../../tape/index.ts';
import type { RecordedSide, Tape } from '../../tape/index.ts';
import { RecordedQueues } from './recordedQueues.ts';
import { SyntheticLiquidity } from './syntheticLiquidity.ts';
import type { FollowedPlace, Market } from './market.ts';

/** What a replay met so far. */
export type ReplayCounts = {
  /** Times that the tape began again. */
  readonly wraps: number;
  readonly trades: number;
  /** Trades of unknown side whose side was taken from the book. */
  readonly inferredSides: number;
  /** Trades that found less than their amount at their price or better, and the lots that they missed. */
  readonly shortTrades: number;
  readonly shortLots: number;
  /** Times at which levels were hidden because the recorded book was locked or crossed. */
  readonly hiddenBooks: number;
};

/** Rows played in one go; the rest follows at once, after other work had its turn. */
const ROWS_AT_ONCE = 20_000;
/** Between the last row and the first row of the next round. */
const WRAP_PAUSE_MS = 1_000;
const SKIP_MS = 600_000;

/**
 * At each recorded time the levels are made equal to the recorded book, and each trade is executed as a taker of its side with its
 * price as limit: what is recorded at better prices cannot have been there any more, except for what others' orders took out of the same
 * sweep. After each time the levels are the recorded ones again. Where pictures tell the book, or some levels of it alone, accounts' orders have their turn by
 * `RecordedQueues`: what the recording does not tell may be before them. Times keep their recorded distances on the marketplace's clock. Throws on a tape that has no amounts, or whose tick or lot is not the book's.
 */
export function tapeMarket(tape: Tape, options: { readonly loop: boolean }): Market & { counts(): ReplayCounts } {
  return new Replay(tape, options.loop);
}

class Replay implements Market {
  readonly #tape: Tape;
  readonly #loop: boolean;
  readonly #book: RecordedBook;
  readonly #first: number;
  #place: FollowedPlace | undefined;
  #house: SyntheticLiquidity | undefined;
  /** Null where every step of a whole book is told: the exchange's own queues are right then. */
  #queues: RecordedQueues | null = null;
  #timer: Timer | undefined;
  /** Elapsed time of the marketplace at which the row `#first` is due in this round. */
  #origin: Millis = 0;
  #row: number;
  #stopped = false;
  /** Prices to bring in line with the recorded book, a side each; all of them after a `clear` and around a crossed book. */
  readonly #touched: Record<Side, Set<number>> = { buy: new Set(), sell: new Set() };
  #all = false;
  #bookChanged = false;
  #wasCrossed = false;
  readonly #sweep = new Sweep(SWEEP_MS);
  /** What the execution under way has met of the house. */
  readonly #met: { readonly price: Price; readonly lots: Amount }[] = [];
  /** The next gap of the recording in this round. */
  #gap = 0;
  #lastTrade = 0;
  #lastSide: Side = 'buy';
  #counts = { wraps: 0, trades: 0, inferredSides: 0, shortTrades: 0, shortLots: 0, hiddenBooks: 0 };

  constructor(tape: Tape, loop: boolean) {
    if (tape.quotesOnly) throw new RangeError(`${tape.source}: has best prices without amounts; it cannot be replayed`);
    this.#tape = tape;
    this.#loop = loop;
    this.#book = new RecordedBook(tape.columns);
    this.#first = firstBookRow(tape, this.#book);
    this.#row = this.#first;
  }

  start(place: FollowedPlace): void {
    const { instrument, columns, depth } = this.#tape;
    if (this.#place) throw new Error('a replay starts once');
    if (place.instrument.tick !== instrument.tick || place.instrument.lot !== instrument.lot) {
      throw new RangeError(
        `${place.instrument.symbol} has tick ${place.instrument.tick} and lot ${place.instrument.lot}, the tape ${instrument.tick} and ${instrument.lot}`,
      );
    }
    this.#place = place;
    const house = new SyntheticLiquidity(place);
    this.#house = house;
    if (columns.kind.includes(KIND.level) && (depth < Infinity || columns.kind.includes(KIND.clear)))
      this.#queues = new RecordedQueues(place, this.#book, depth);
    // What somebody's order took of a level that came against it is there again, as recorded, once that order is gone.
    place.onCancel(() => house.regrow());
    place.onHouseFill((_id, _side, price, lots, maker) => {
      if (maker) this.#met.push({ price, lots });
    });
    this.#origin = place.clock.elapsed();
    this.#playDue();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.stop();
  }

  counts(): ReplayCounts {
    return { ...this.#counts };
  }

  /** Plays every time that is due, and sets the timer for the next one. */
  #playDue(): void {
    const { columns } = this.#tape;
    const clock = this.#place!.clock;
    const start = columns.at[this.#first]!;
    let played = 0;
    while (!this.#stopped) {
      if (this.#row >= columns.length) {
        if (!this.#loop) return;
        const end = this.#origin + (columns.at[columns.length - 1]! - start) + WRAP_PAUSE_MS;
        if (end > clock.elapsed() || played >= ROWS_AT_ONCE) return this.#sleepUntil(end);
        // Rounds that a sleeping machine missed are not played after it woke.
        this.#wrap(clock.elapsed() - end > SKIP_MS ? clock.elapsed() : end);
      }
      const due = this.#origin + (columns.at[this.#row]! - start);
      if (due > clock.elapsed() || played >= ROWS_AT_ONCE) return this.#sleepUntil(due);
      played += this.#playTime();
    }
  }

  #sleepUntil(due: Millis): void {
    const clock = this.#place!.clock;
    const next = Math.min(due, this.#fallSilent());
    this.#timer = clock.after(Math.max(0, next - clock.elapsed()), () => this.#playDue());
  }

  /** In a gap of the recording nobody is told anything. Returns when the next one begins, of the clock's elapsed time. */
  #fallSilent(): Millis {
    const { gaps, columns } = this.#tape;
    const { clock, feed } = this.#place!;
    const shift = this.#origin - columns.at[this.#first]!;
    for (let gap = gaps[this.#gap]; gap !== undefined; gap = gaps[++this.#gap]) {
      if (gap.from + shift > clock.elapsed()) return gap.from + shift;
      feed.silentUntil = Math.max(feed.silentUntil, gap.to + shift);
    }
    return Infinity;
  }

  #wrap(origin: Millis): void {
    this.#house!.clear();
    this.#book.clear();
    this.#touched.buy.clear();
    this.#touched.sell.clear();
    this.#all = true;
    this.#origin = origin;
    this.#row = this.#first;
    this.#gap = 0;
    this.#counts.wraps++;
  }

  /** Plays the rows of one recorded time; returns how many they were. */
  #playTime(): number {
    const { columns } = this.#tape;
    const from = this.#row;
    const at = columns.at[from]!;
    const queues = this.#queues;
    let inPicture = false;
    const endPicture = (): void => {
      if (inPicture) queues?.pictured();
      inPicture = false;
    };
    queues?.look(this.#startedAt());
    let row = from;
    // As the backtest has it: what was recorded at once is told at once, as late as the latest of it.
    let heard = at;
    for (let n = from; n < columns.length && columns.at[n] === at; n++) heard = Math.max(heard, columns.local[n]!);
    this.#place!.feed.delayMs = heard - at;
    for (; row < columns.length && columns.at[row] === at; row++) {
      if (columns.kind[row] === KIND.trade) {
        endPicture();
        if (this.#bookChanged) this.#sync();
        this.#trade(at, columns.side[row]!, columns.price[row]! as Price, columns.amount[row]! as Amount);
      } else if (this.#book.concerns(row)) {
        const isLevel = columns.kind[row] === KIND.level;
        if (!isLevel) endPicture();
        else if (!inPicture) queues?.stepped();
        if (columns.kind[row] === KIND.clear) inPicture = true;
        this.#book.apply(row);
        this.#bookChanged = true;
        if (isLevel) {
          const side = columns.side[row] === SIDE.buy ? 'buy' : 'sell';
          this.#touched[side].add(columns.price[row]!);
          if (!inPicture) queues?.changed(side, columns.price[row]!);
        }
        // An order's row may concern another price than its own: the one that it had before.
        else this.#all = true;
      }
    }
    endPicture();
    this.#sync();
    this.#house!.regrow();
    this.#row = row;
    return row - from;
  }

  /** Makes the house's levels equal to the recorded book. */
  #sync(): void {
    this.#bookChanged = false;
    const { bids, asks } = this.#book;
    const crossed = bids.length > 0 && asks.length > 0 && bids.priceAt(0) >= asks.priceAt(0);
    if (crossed) this.#counts.hiddenBooks++;
    const everything = this.#all || crossed || this.#wasCrossed;
    // A level that lies at or through the other side's best one cannot be had by anybody: it is not shown.
    const hidden = {
      buy: crossed ? asks.priceAt(0) : Infinity,
      sell: crossed ? bids.priceAt(0) : -Infinity,
    };
    const bidWanted = (price: number) => (price >= hidden.buy ? 0 : bids.amountOf(price));
    const askWanted = (price: number) => (price <= hidden.sell ? 0 : asks.amountOf(price));
    if (everything) {
      addAll(this.#touched.buy, bids, this.#house!.prices('buy'));
      addAll(this.#touched.sell, asks, this.#house!.prices('sell'));
    }
    for (const price of this.#touched.buy) this.#house!.shrink('buy', price as Price, bidWanted(price));
    for (const price of this.#touched.sell) this.#house!.shrink('sell', price as Price, askWanted(price));
    this.#house!.grow();
    this.#touched.buy.clear();
    this.#touched.sell.clear();
    this.#all = false;
    this.#wasCrossed = crossed;
  }

  #trade(at: Millis, code: number, price: Price, amount: Amount): void {
    const side = code === SIDE.buy ? 'buy' : code === SIDE.sell ? 'sell' : this.#inferSide(price);
    const maker = opposite(side);
    this.#sweep.begin(at, maker === 'sell' ? 1 : -1, price);
    this.#lastTrade = price;
    this.#lastSide = side;
    this.#counts.trades++;
    this.#touched[maker].add(price);
    const missed =
      this.#queues === null ? this.#match(side, price, amount) : this.#share(this.#queues, side, price, amount);
    if (missed === 0) return;
    this.#counts.shortTrades++;
    this.#counts.shortLots += missed;
  }

  /** By the model's turns; returns what nobody recorded had. */
  #share(queues: RecordedQueues, side: Side, price: Price, amount: Amount): number {
    const maker = opposite(side);
    // Levels that came through their prices may have met some.
    queues.look(this.#startedAt());
    const rest = amount - queues.traded(maker, price, amount, this.#sweep);
    this.#clearBefore(maker, price);
    this.#met.length = 0;
    return rest > 0 ? this.#house!.take(maker, price, rest, (id, lots) => this.#place!.hit(id, lots)) : 0;
  }

  /** By the exchange's own; returns what found nobody. */
  #match(side: Side, price: Price, amount: Amount): number {
    const maker = opposite(side);
    const sweep = this.#sweep;
    const place = this.#place!;
    // Where the other side has come to stand since, those before it are not shown again: they are met first.
    const against = side === 'buy' ? place.bestBid() + 1 : place.bestAsk() - 1;
    let passed = against > 0 && sweep.isOpen ? sweep.before(against, amount) : 0;
    this.#clearBefore(maker, price);
    this.#met.length = 0;
    const rest = (amount - passed) as Amount;
    const traded = rest > 0 ? place.takeStanding(side, price, rest, this.#startedAt() + sweep.began - 0.01) : 0;
    let others = 0;
    for (const { price: there, lots } of this.#met) {
      others += lots;
      if (there !== price) passed += sweep.at(there, lots);
    }
    sweep.end(price, passed + traded - others);
    return rest - traded;
  }

  /** When the time 0 of the rows was, on the marketplace's clock. */
  #startedAt(): Millis {
    const { clock } = this.#place!;
    return clock.now() - clock.elapsed() + this.#origin - this.#tape.columns.at[this.#first]!;
  }

  /** At prices better than an execution's only what its sweep has left there can stand. */
  #clearBefore(side: Side, price: Price): void {
    const recorded = side === 'buy' ? this.#book.bids : this.#book.asks;
    const sign = side === 'buy' ? -1 : 1;
    const house = this.#house!;
    const prices = new Set<number>(this.#sweep.places);
    for (let i = 0; i < recorded.length && recorded.priceAt(i) * sign < price * sign; i++)
      prices.add(recorded.priceAt(i));
    for (const there of prices) {
      if (!(there * sign < price * sign)) continue;
      this.#touched[side].add(there);
      house.shrink(side, there as Price, this.#sweep.standingAt(there));
    }
    if (prices.size > 0) house.grow();
  }

  /** At or beyond a best price: its taker. Between them: the nearer side; in the middle: where the price moved, else as before. */
  #inferSide(price: Price): Side {
    this.#counts.inferredSides++;
    const bid = this.#book.bids.priceAt(0);
    const ask = this.#book.asks.priceAt(0);
    if (bid > 0 && ask > 0 && price * 2 !== bid + ask) return price * 2 > bid + ask ? 'buy' : 'sell';
    if (price !== this.#lastTrade && this.#lastTrade > 0) return price > this.#lastTrade ? 'buy' : 'sell';
    return this.#lastSide;
  }
}

function firstBookRow(tape: Tape, book: RecordedBook): number {
  for (let row = 0; row < tape.columns.length; row++) if (book.concerns(row)) return row;
  throw new RangeError(`${tape.source}: has no book`);
}

function addAll(to: Set<number>, recorded: RecordedSide, house: readonly Price[]): void {
  for (let i = 0; i < recorded.length; i++) to.add(recorded.priceAt(i));
  for (const price of house) to.add(price);
}
