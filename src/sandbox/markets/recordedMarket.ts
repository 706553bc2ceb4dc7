/**
 * Replay of recorded markets as simulator orders, one market per book. Account orders rest among these orders and trade
 * with them.
 */
import {
  haveSameGrid,
  opposite,
  type Amount,
  type Millis,
  type Price,
  type Side,
  type Timer,
} from '../../core/index.ts';
import { Sweep, SWEEP_MS } from '../../fills/index.ts';
import { KIND, RecordedBook, SIDE, type RecordedSide, type Tape } from '../../tape/index.ts';
import { RecordedQueues } from './recordedQueues.ts';
import { SyntheticLiquidity } from './syntheticLiquidity.ts';
import type { FollowedPlace, Market } from './market.ts';

/** Counts of a replay so far. */
export type ReplayCounts = {
  /** Number of restarts of the tape. */
  readonly wraps: number;
  readonly trades: number;
  /** Number of trades whose side was unknown and was inferred from the book. */
  readonly inferredSides: number;
  /** Number of trades that found too few lots at their price or better. */
  readonly shortTrades: number;
  /** Total lots, over all trades, that found no matching order. */
  readonly shortLots: number;
  /** Number of times at which levels were hidden because the recorded book was locked or crossed. */
  readonly hiddenBooks: number;
};

/** Maximum number of rows played without a break. In the break, other pending work runs. */
const ROWS_AT_ONCE = 20_000;
/** Pause between the last row and the first row of the next round, in ms. */
const WRAP_PAUSE_MS = 1_000;
/**
 * Maximum delay of a round, in ms. After a longer delay, as by a suspension of the machine, the missed rounds are
 * skipped.
 */
const SKIP_MS = 600_000;

/**
 * Creates a market that replays a tape. At each recorded time, the levels match the recorded book. Each recorded trade
 * is a taker order whose limit is the price of the trade. Recorded levels at better prices are removed first, except
 * for amounts that account orders took from the same sweep.
 *
 * If the tape has snapshots or limited depth, unrecorded orders may be ahead of account orders. `RecordedQueues` then
 * decides which account orders fill. Time intervals equal those of the recording. Throws if the tape has no amounts, or
 * if its tick or lot differs from the book's. `rounds`: shared by all tapes that are replayed together, on one clock.
 */
export function tapeMarket(
  tape: Tape,
  options: { readonly loop: boolean; readonly rounds?: TapeRounds },
): Market & { counts(): ReplayCounts } {
  return new Replay(tape, options.loop, options.rounds ?? new TapeRounds([tape]));
}

/**
 * Rounds of tapes that are replayed together. A round has the time that all tapes have in common, and equal recorded
 * times are replayed at equal times.
 */
export class TapeRounds {
  /** Recorded time at which a round starts: the latest of the tapes' first rows with a book. */
  readonly from: Millis;
  /** Recorded time at which a round ends: the earliest of the tapes' last rows. */
  readonly to: Millis;
  readonly #starts: Millis[] = [];

  /** Throws a RangeError if a tape has no book, or if the tapes have no time in common. */
  constructor(tapes: readonly Tape[]) {
    const spans = tapes.map(tape => {
      const { at, length } = tape.columns;
      return { tape, first: at[firstBookRow(tape, new RecordedBook(tape.columns))]!, last: at[length - 1]! };
    });
    const latest = spans.reduce((a, b) => (b.first > a.first ? b : a));
    const earliest = spans.reduce((a, b) => (b.last < a.last ? b : a));
    this.from = latest.first;
    this.to = earliest.last;
    if (this.from > this.to)
      throw new RangeError(
        `${latest.tape.source}: starts at ${isoTime(latest.first)}, after ${earliest.tape.source} ends at ${isoTime(earliest.last)}; replay recordings of the same time together`,
      );
  }

  /** Returns the elapsed time of the clock at which a round starts. The first tape to ask sets it, to `proposed`. */
  startOf(round: number, proposed: Millis): Millis {
    return (this.#starts[round] ??= proposed);
  }
}

const isoTime = (at: Millis): string => new Date(at).toISOString();

class Replay implements Market {
  readonly #tape: Tape;
  readonly #loop: boolean;
  readonly #book: RecordedBook;
  readonly #first: number;
  #place: FollowedPlace | undefined;
  #house: SyntheticLiquidity | undefined;
  /**
   * Queue model; `null` if the tape records every change of the full book, because the exchange's own queues are then
   * exact.
   */
  #queues: RecordedQueues | null = null;
  #timer: Timer | undefined;
  readonly #rounds: TapeRounds;
  /** Elapsed time of the marketplace's clock at which this round starts. */
  #origin: Millis = 0;
  #row: number;
  #stopped = false;
  /** Prices to align with the recorded book, by side. */
  readonly #touched: Record<Side, Set<number>> = { buy: new Set(), sell: new Set() };
  /** Whether to align every price with the recorded book, as after a `clear` and around a crossed book. */
  #all = false;
  #bookChanged = false;
  #wasCrossed = false;
  readonly #sweep = new Sweep(SWEEP_MS);
  /** Executions of simulator orders in the current trade. */
  readonly #met: { readonly price: Price; readonly lots: Amount }[] = [];
  /** Index of the next gap of the recording in this round. */
  #gap = 0;
  #lastTrade = 0;
  #lastSide: Side = 'buy';
  #counts = { wraps: 0, trades: 0, inferredSides: 0, shortTrades: 0, shortLots: 0, hiddenBooks: 0 };

  constructor(tape: Tape, loop: boolean, rounds: TapeRounds) {
    if (tape.quotesOnly)
      throw new RangeError(`${tape.source}: cannot be replayed, because the recording has best prices without amounts`);
    this.#tape = tape;
    this.#loop = loop;
    this.#rounds = rounds;
    this.#book = new RecordedBook(tape.columns);
    this.#first = firstBookRow(tape, this.#book);
    this.#row = this.#first;
  }

  start(place: FollowedPlace): void {
    const { instrument, columns, depth } = this.#tape;
    if (this.#place) throw new Error('the replay was already started');
    if (!haveSameGrid(place.instrument, instrument)) {
      throw new RangeError(
        `${place.instrument.symbol} has tick size ${place.instrument.tick} and lot size ${place.instrument.lot}, but the tape has tick size ${instrument.tick} and lot size ${instrument.lot}`,
      );
    }
    this.#place = place;
    const house = new SyntheticLiquidity(place);
    this.#house = house;
    if (columns.kind.includes(KIND.level) && (depth < Infinity || columns.kind.includes(KIND.clear)))
      this.#queues = new RecordedQueues(place, this.#book, depth);
    // A canceled account order may have crossed a recorded level and taken a part of it. The level is then restored.
    place.onCancel(() => house.regrow());
    place.onSyntheticFill((_id, _side, price, lots, maker) => {
      if (maker) this.#met.push({ price, lots });
    });
    this.#origin = this.#rounds.startOf(0, place.clock.elapsed());
    this.#skipToStart();
    this.#playDue();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.stop();
  }

  counts(): ReplayCounts {
    return { ...this.#counts };
  }

  /** Plays all due times and sets the timer for the next time. */
  #playDue(): void {
    const { columns } = this.#tape;
    const { from, to } = this.#rounds;
    const { clock } = this.#place!;
    let played = 0;
    while (!this.#stopped) {
      if (this.#row >= columns.length || columns.at[this.#row]! > to) {
        if (!this.#loop) return;
        const end = this.#origin + (to - from) + WRAP_PAUSE_MS;
        if (end > clock.elapsed() || played >= ROWS_AT_ONCE) return this.#sleepUntil(end);
        // Rounds missed while the machine was suspended are skipped.
        this.#wrap(clock.elapsed() - end > SKIP_MS ? clock.elapsed() : end);
      }
      const due = this.#origin + (columns.at[this.#row]! - from);
      if (due > clock.elapsed() || played >= ROWS_AT_ONCE) return this.#sleepUntil(due);
      played += this.#playTime();
    }
  }

  #sleepUntil(due: Millis): void {
    const clock = this.#place!.clock;
    const next = Math.min(due, this.#fallSilent());
    this.#timer = clock.after(Math.max(0, next - clock.elapsed()), () => this.#playDue());
  }

  /** Stops public data during a gap of the recording. Returns the elapsed time at which the next gap starts. */
  #fallSilent(): Millis {
    const { gaps } = this.#tape;
    const { clock, feed } = this.#place!;
    const shift = this.#origin - this.#rounds.from;
    for (let gap = gaps[this.#gap]; gap !== undefined; gap = gaps[++this.#gap]) {
      if (gap.from + shift > clock.elapsed()) return gap.from + shift;
      feed.silentUntil = Math.max(feed.silentUntil, gap.to + shift);
    }
    return Infinity;
  }

  /** Starts the next round. `proposed`: elapsed time of its start, unless another tape has already started it. */
  #wrap(proposed: Millis): void {
    this.#house!.clear();
    this.#book.clear();
    this.#touched.buy.clear();
    this.#touched.sell.clear();
    this.#all = true;
    this.#gap = 0;
    this.#counts.wraps++;
    this.#origin = this.#rounds.startOf(this.#counts.wraps, proposed);
    this.#skipToStart();
  }

  /** Applies the rows before the start of the round to the book at once, without their trades. */
  #skipToStart(): void {
    const { columns } = this.#tape;
    this.#row = this.#first;
    for (; columns.at[this.#row]! < this.#rounds.from; this.#row++)
      if (this.#book.concerns(this.#row)) this.#book.apply(this.#row);
    if (this.#row === this.#first) return;
    this.#all = true;
    this.#sync();
    this.#queues?.onSnapshot();
    this.#house!.regrow();
  }

  /** Plays the rows of one recorded time. Returns the number of rows. */
  #playTime(): number {
    const { columns } = this.#tape;
    const from = this.#row;
    const at = columns.at[from]!;
    const queues = this.#queues;
    let inPicture = false;
    const endPicture = (): void => {
      if (inPicture) queues?.onSnapshot();
      inPicture = false;
    };
    queues?.look(this.#startedAt());
    let row = from;
    // As in the backtest, rows of one time are published together, with the longest delay of these rows.
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
        // A row of an order may also change the level at the order's previous price, so all prices are aligned.
        else this.#all = true;
      }
    }
    endPicture();
    this.#sync();
    this.#house!.regrow();
    this.#row = row;
    return row - from;
  }

  /** Aligns the simulator's levels with the recorded book. */
  #sync(): void {
    this.#bookChanged = false;
    const { bids, asks } = this.#book;
    const crossed = bids.length > 0 && asks.length > 0 && bids.priceAt(0) >= asks.priceAt(0);
    if (crossed) this.#counts.hiddenBooks++;
    const everything = this.#all || crossed || this.#wasCrossed;
    // A level at or through the best opposite price cannot be traded, so it is hidden.
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

  /** Executes a trade by the model's queue positions. Returns the lots that found no matching order. */
  #share(queues: RecordedQueues, side: Side, price: Price, amount: Amount): number {
    const maker = opposite(side);
    // Recorded levels that crossed account orders may have filled some of these orders, so the queues are updated
    // first.
    queues.look(this.#startedAt());
    const rest = amount - queues.traded(maker, price, amount, this.#sweep);
    this.#clearBefore(maker, price);
    this.#met.length = 0;
    return rest > 0 ? this.#house!.take(maker, price, rest, (id, lots) => this.#place!.hit(id, lots)) : 0;
  }

  /** Executes a trade by the exchange's own queues. Returns the lots that found no matching order. */
  #match(side: Side, price: Price, amount: Amount): number {
    const maker = opposite(side);
    const sweep = this.#sweep;
    const place = this.#place!;
    // The simulated book lacks the recorded levels at prices where orders of the taker's side rest now. The sweep
    // trades against these recorded levels first.
    const against = side === 'buy' ? place.bestBid() + 1 : place.bestAsk() - 1;
    let passed = against > 0 && sweep.isOpen ? sweep.tradeBetterThan(against, amount) : 0;
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

  /** Returns the time on the marketplace's clock that corresponds to time 0 of the rows. */
  #startedAt(): Millis {
    const { clock } = this.#place!;
    return clock.now() - clock.elapsed() + this.#origin - this.#rounds.from;
  }

  /** Reduces each level at a better price than the execution to the amount that the sweep has left there. */
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
      house.shrink(side, there as Price, this.#sweep.remainingAt(there));
    }
    if (prices.size > 0) house.grow();
  }

  /**
   * Infers the taker's side: the side whose opposite best price is nearer. At the mid price, the direction of the last
   * price change decides, or else the previous side.
   */
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
