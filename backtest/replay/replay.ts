/**
 * Driver of a replay: the production engine, its risk gate and a strategy on a recorded market, with latency and a fill
 * model.
 */
import {
  moneyOf,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Amount,
  type Approved,
  type BookEngine,
  type Command,
  type Engine,
  type EngineEvent,
  type EngineNews,
  type Instrument,
  type Millis,
  type Money,
  type OrderReport,
  type OwnTrade,
  type Price,
  type Side,
  type Snapshot,
} from '../../src/core/index.ts';
import type { FillModel } from '../../src/fills/index.ts';
import { neededBefore, withoutReload } from '../../strategies/index.ts';
import { LOCKED_OUT as LOCKED_OUT_CODE } from '../../src/sandbox/index.ts';
import type { Gap } from '../../src/tape/index.ts';
import { Collector, type Collected } from '../collect/collect.ts';
import { ExternalReferenceReplay, type ExternalReferenceOptions } from './externalReference.ts';
import { SimulatedExchange } from '../exchange/simulatedExchange.ts';
import type { Fees, FeeOptions } from '../exchange/fees.ts';
import type { FeedBook } from '../rows/feedBook.ts';
import { GapIterator } from '../rows/gapIterator.ts';
import type { Latency, Travel } from '../rows/latency.ts';
import { FillNotices } from './fillNotices.ts';
import { Hedging, type Hedged, type ReplayedHedge, type HedgeOptions } from './hedging.ts';
import { LocalOrders } from './localOrders.ts';
import { RecordedTradeHistory } from './recordedTradeHistory.ts';
import { RunHash } from './runHash.ts';
import { MESSAGE, type MessageKind } from '../exchange/messageRing.ts';
import { LOCAL, type OwnOrder } from '../exchange/ownOrders.ts';
import { BUY, FLAG, SELL, type MarketRows } from '../rows/rows.ts';
import type { RowWindow } from '../rows/rowWindow.ts';
import { ReplayAccount, type ReplayAccountOptions } from './replayAccount.ts';
import type { RateSources } from '../../src/hedge/index.ts';
import type { ReplayMarket, RowCursor } from './replayMarket.ts';

/** Options of a replay; times are in ms. */
export type ReplayOptions = ReplayAccountOptions & {
  readonly instrument: Instrument;
  /** Rows in memory, or a sliding window. */
  readonly rows: MarketRows | RowWindow;
  /** Times without recorded data, during which the bot receives no book. */
  readonly gaps: readonly Gap[];
  readonly model: FillModel;
  readonly latency: Latency;
  /**
   * Delay from an execution until the bot receives the fill notice. If this field is absent, or its delay is shorter
   * than the latency of answers, the latency of answers applies.
   */
  readonly fillNotice?: Travel | undefined;
  readonly fees: FeeOptions;
  readonly decideEveryMs: Millis;
  readonly privatePollMs: Millis;
  /** Creates the engine for this run at the given fee rates. The engine must report its news to `onNews`. */
  readonly engine: (
    rates: { readonly makerRate: number; readonly takerRate: number },
    onNews: (news: EngineNews) => void,
  ) => Engine;
  /**
   * Start (`from`) and end (`to`) of trading within the tape. Defaults: the first and the last row. A sliding window
   * requires `to`.
   */
  readonly from?: Millis;
  readonly to?: Millis;
  /** Options of hedges by conversion and taker orders. If absent, only quotes reduce the inventory. */
  readonly hedge?: HedgeOptions | undefined;
  /** Reference price from other recordings. If absent, the bot has no reference price. */
  readonly elsewhere?: ExternalReferenceOptions | undefined;
  /**
   * Whether the engine receives, after fills, the fee tier and the volume that is missing to the next tier; at most
   * once per `RATES_EVERY_MS`. If false, the engine receives both only when the tier changes.
   */
  readonly followsTier?: boolean;
  readonly sink?: ReplaySink;
  /** Receives the share of the trading time that is processed, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
};

/** Receiver of executions, finished orders and finished hedges. */
export type ReplaySink = { fill(row: FillRow): void; order(row: OrderRow): void; hedge?(row: ReplayedHedge): void };

/** Execution of an order of the bot. Money and prices are decimal text. */
export type FillRow = {
  readonly tid: string;
  readonly orderId: string;
  /** Level of the strategy for which the order was placed, from 1; 0 for a taker order. */
  readonly level: number;
  /** Time of the execution at the exchange; `heardAt` is the time at which the bot received it. */
  readonly at: Millis;
  readonly heardAt: Millis;
  readonly side: Side;
  readonly price: string;
  readonly amount: string;
  readonly value: string;
  readonly fee: string;
  readonly feeCurrency: string;
  /**
   * Mid price of the recorded book just before the execution, in ticks, without the bot's orders; `null` if a side was
   * empty.
   */
  readonly midTicks: number | null;
  /** Change of the base currency since the start, including this execution. */
  readonly held: string;
};

export type OrderRow = {
  readonly orderId: string;
  readonly side: Side;
  readonly price: string;
  readonly amount: string;
  readonly filled: string;
  readonly placedAt: Millis;
  readonly endedAt: Millis;
  readonly ending: string;
};

export type ReplayResult = {
  readonly model: string;
  readonly from: Millis;
  readonly to: Millis;
  readonly events: number;
  readonly decisions: number;
  /** Balances at the start as decimal text, by currency. */
  readonly opening: ReplayOptions['balances'];
  readonly feeTiers: FeeOptions['tiers'];
  readonly requests: {
    readonly placed: number;
    readonly canceled: number;
    readonly overBudget: number;
    readonly lockedOut: number;
  };
  readonly refusedPostOnly: number;
  readonly volume: { readonly major: string; readonly minor: string };
  readonly snapshot: Snapshot;
  readonly collected: Collected;
  /** Totals of the hedges; `null` without a hedger. */
  readonly hedged: Hedged | null;
  /**
   * Flaws of the recording in the replayed time. `ghosts`: number of stale levels that were removed because executions
   * passed them. `crossedMs`: time with the best bid above the best ask.
   */
  readonly recorded: { readonly ghosts: number; readonly crossedMs: Millis };
  readonly haltedBecause: string | null;
  /** First error or invalid quote of a strategy file; `null` if there was none. */
  readonly strategyFault: string | null;
  /** Number of orders that were still live when the replay ended. */
  readonly left: number;
  /** Hash of every fill, order and final number. Equal tapes, configurations and seeds give equal hashes. */
  readonly hash: string;
};

/** Time after the tape for answers to the last cancels, in ms. */
const STOP_MS = 120_000;
/**
 * Time after the tape in a replay with a hedger, in ms: enough to resolve an acceptance with a lost answer. It includes
 * the request delay, the quote's life and the settlement.
 */
const HEDGES_END_MS = 3_600_000;
/**
 * Reason for a side without a live order although the engine quotes it: the order is in transit, was just filled, or is
 * being replaced.
 */
const UNDER_WAY = 'an order was in transit or being replaced';
const PROGRESS_EVERY = 1_000;
/** Interval at which the bot reads its fees, in ms. */
const RATES_EVERY_MS = 300_000;
const OVER_BUDGET = { kind: 'refused', code: 'budget', message: 'the request budget was used up' } as const;
const NO_SHARE = { kind: 'refused', code: 'share', message: 'this book has used its share of the budget' } as const;
const LOCKED_OUT = { kind: 'refused', code: LOCKED_OUT_CODE, message: 'too many requests: locked out' } as const;

/** Numbers that precede a fact in the hash and identify its type. */
const HASHED = { order: 0, fill: 1, hedge: 2 } as const;

type Placed = {
  readonly id: string;
  readonly oid: string;
  /** Object of the order. A later order may reuse it, so it is this order's only while `#byOrder` says so. */
  readonly order: OwnOrder;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  /**
   * Last report of the order; `reportedFilled` are the filled lots in the report. The report is reused, because most
   * reports are unchanged.
   */
  report: OrderReport | null;
  reportedFilled: number;
  /**
   * Filled lots of an order that has ended, from the answer to the cancel; `null` before. Every later report repeats
   * them, although notices of these fills may still be waiting.
   */
  filledAtEnd: number | null;
  /** Whether an answer to a look-up has reported the end. */
  isEndReported: boolean;
  /** Whether the engine knows the end. */
  isOver: boolean;
  /** Whether the answer to a look-up is in transit. */
  isLookedUp: boolean;
};

/**
 * Returns the reason for a missing side. The strategy's own text is used without numbers that change, because they
 * would split one reason into many.
 */
function reasonOf(unshown: Snapshot['unshown'][Side]): string {
  if (unshown === null) return UNDER_WAY;
  const { reason, words } = unshown;
  if (words === null) return reason;
  return neededBefore(words) ?? (/\d/.test(words) ? reason : withoutReload(words));
}

/** Answer that has arrived at the bot. */
type Heard = {
  readonly kind: MessageKind;
  readonly placed: Placed;
  readonly order: OwnOrder;
  readonly lots: number;
  readonly sent: Millis;
  readonly mid: number;
  readonly place: number;
  /** Whether the bot learned of this end before the notices of the fills that precede it. */
  readonly isAnswered: boolean;
};

/**
 * Answer in transit. `event` is evaluated on arrival. If all orders in `ids` have ended before, the answer is dropped.
 * `ids` is `null` for an answer that is never dropped.
 */
type Later = {
  readonly at: Millis;
  readonly event: (at: Millis) => EngineEvent | null;
  readonly ids: readonly string[] | null;
};

type ConsumedLevel = { readonly side: Side; readonly price: Price; readonly amount: Amount };
const NO_LEVELS: readonly ConsumedLevel[] = [];

/**
 * Returns start and end of trading of a replay.
 * @throws RangeError if the rows are a sliding window and the options have no end.
 */
function spanOfReplay({ from, to }: Pick<ReplayOptions, 'from' | 'to'>, { rows, isSliding }: ReplayMarket) {
  if (isSliding && to === undefined) throw new RangeError('a replay of a sliding window needs an end time; pass `to`');
  return { from: from ?? rows.at[0]!, to: to ?? rows.local[rows.length - 1]! };
}

/** Returns the account of a replay with one book. */
const accountOf = (options: ReplayOptions, market: ReplayMarket): ReplayAccount =>
  new ReplayAccount(
    { ...options, ...(options.hedge?.place && { place: options.hedge.place }) },
    [options],
    ([rates], onNews) => options.engine(rates!, news => onNews(news, options.instrument.symbol)),
    spanOfReplay(options, market).from,
  );

/** Phase of a replay: before trading, trading, the time of the stop, waiting for the remaining answers, over. */
type Phase = 'before' | 'trading' | 'stop' | 'stopping' | 'over';

/**
 * One replay, which its caller advances. First `exchange` advances to the target of the replay, then `turn` runs the
 * bot at that time.
 */
export class TapeReplay {
  readonly #options: ReplayOptions;
  readonly #rows: MarketRows;
  readonly #market: ReplayMarket;
  readonly #span: { readonly from: Millis; readonly to: Millis };
  readonly #account: ReplayAccount;
  readonly #book: BookEngine;
  /** Recorded book as the bot knows it, without the bot's orders. */
  readonly #feed: FeedBook;
  readonly #collector: Collector;
  readonly #gaps: GapIterator;
  /** Gaps of the recording, by the exchange's clock. */
  readonly #gapsThere: GapIterator;
  readonly exchange: SimulatedExchange;
  readonly #orders: LocalOrders;
  readonly #fees: Fees;
  #ratesAt = -Infinity;
  #overBudget = 0;
  readonly #hash = new RunHash();
  /** Orders by client id, until they have ended at the exchange and at the bot. */
  readonly #byId = new Map<string, Placed>();
  readonly #byOrder = new Map<OwnOrder, Placed>();
  /** Strategy level of each order that the engine has just decided to place, by client id. */
  readonly #levels = new Map<string, number>();
  /** Answers to look-ups, to reads of the reference, and to requests in a lockout, in order of arrival. */
  readonly #later: Later[] = [];
  readonly #hedging: Hedging | null;
  /** Sources of the latest reading of the reference. */
  #rateSources: RateSources = [];
  readonly #notices: FillNotices<Heard>;
  #lockedOut = 0;
  #recorded: ReplayResult['recorded'] = { ghosts: 0, crossedMs: 0 };
  #phase: Phase = 'before';
  #readAt = 0;
  #stopsBy = 0;
  #turns = 0;
  /** Latest time up to which rows were requested. */
  #latest = -Infinity;
  /** Time that the exchange and the bot have reached. */
  #reached = 0;
  /** Number of rows received from the feed; the next two fields count the levels and the trades among these rows. */
  #rowsHeard = 0;
  #levelsHeard = 0;
  #tradesHeard = 0;
  /** Position in the rows up to which all trades were read; `null` if the engine does not use trades. */
  readonly #trades: RowCursor | null;
  /** Trades for a strategy that needs a history of trades; `null` if it needs none. */
  readonly #tradeHistory: RecordedTradeHistory | null;
  #lastTrade = 0;
  /** Whether levels were hidden when the engine last received the book. */
  #hid = false;
  /** Levels that the bot's taker orders have just consumed, which are hidden from the engine until rows arrive. */
  #took: readonly ConsumedLevel[] = NO_LEVELS;
  #decisions = 0;
  #placed = 0;
  #canceled = 0;
  #refusedPostOnly = 0;
  #held = 0n;
  #major = 0n;
  #minor = 0n;

  /**
   * `market` is the market of `options.rows`, which other replays may share. `account` is an account of several books.
   * Default: an account with only this book.
   */
  constructor(options: ReplayOptions, market: ReplayMarket, account = accountOf(options, market)) {
    const { instrument, model, latency, fees, gaps } = options;
    const { rows } = market;
    this.#market = market;
    this.#feed = market.here;
    this.#rows = rows;
    const { from, to } = spanOfReplay(options, market);
    this.#span = { from, to };
    this.#options = options;
    this.#account = account;
    const joined = account.join(instrument.symbol, {
      send: (command, at) => this.#send(command, at),
      onNews: news => this.#onNews(news),
      tellRates: at => {
        this.showNewest(at);
        this.#tellRates(at);
      },
    });
    this.#book = joined.book;
    this.#fees = joined.fees;
    this.#ratesAt = from;
    this.#gaps = new GapIterator(gaps);
    this.#gapsThere = new GapIterator(gaps);
    this.#trades = this.#book.wantsTrades ? { next: 0 } : null;
    if (this.#trades !== null) market.readBy(this.#trades);
    const { historyMs } = this.#book;
    this.#tradeHistory =
      historyMs > 0 ? new RecordedTradeHistory({ from, ms: historyMs, gaps, step: event => this.#step(event) }) : null;
    this.#collector = new Collector({
      instrument,
      from,
      to,
      gaps,
      fees,
      volume: joined.volume,
      budget: account.budget,
      base: rows.base,
      opening: this.#book.snapshot(from).booked.inventory,
    });
    this.#notices = new FillNotices(options.fillNotice ?? null);
    this.exchange = new SimulatedExchange(market.there, model, latency, this.#collector);
    this.#orders = new LocalOrders(this.exchange, latency);
    this.#hedging = options.hedge ? this.#hedgingOf(options.hedge, from) : null;
    if (options.elsewhere)
      this.#readReference(new ExternalReferenceReplay(options.elsewhere, instrument, latency), from);
  }

  run(): ReplayResult {
    while (this.aim()) {
      const hedgeAt = this.turn(this.exchange.run());
      // Hedges are asynchronous, so none may be due in a synchronous replay.
      if (hedgeAt !== null) throw new Error(`a synchronous replay cannot execute the hedge that is due at ${hedgeAt}`);
    }
    return this.result();
  }

  async runHedged(): Promise<ReplayResult> {
    while (this.aim()) {
      const hedgeAt = this.turn(this.exchange.run());
      if (hedgeAt !== null) await this.liveTo(hedgeAt);
    }
    return this.result();
  }

  /** Advances the hedger to a time that the exchange and the bot have reached. */
  async liveTo(at: Millis): Promise<void> {
    await this.#hedging?.liveTo(at);
  }

  /** Whether the next event of this replay is the stop, which takes effect when all books of the account reach it. */
  get isStopNext(): boolean {
    return this.#phase === 'stop';
  }

  /** Moves the next event to an earlier time, if an event of the account has made a decision of this book due. */
  wake(): void {
    if (this.#phase !== 'trading' || !(this.#reached < this.#span.to)) return;
    const next = Math.min(this.#wakesAt(), this.#span.to);
    if (next < this.exchange.reached) this.exchange.aim(next, true);
  }

  /** Whether a decision of the book is due by `now`. */
  decidesBy(now: Millis): boolean {
    return this.#phase === 'trading' && this.#book.decidesAt <= now;
  }

  /** Sends the newest order book to the engine, because another book is about to use its price. */
  showNewest(now: Millis): void {
    if (this.#phase !== 'trading') return;
    this.#hearRows(now);
    this.#showBook(now, false);
  }

  /** Sets the exchange's target to the bot's next event; returns false when the replay is over. */
  aim(): boolean {
    const { from, to } = this.#span;
    const hedging = this.#hedging;
    let next = from;
    switch (this.#phase) {
      case 'before':
        break;
      case 'trading':
        if (this.#reached < to) next = Math.min(this.#wakesAt(), to);
        else {
          this.#recorded = this.#recordedUpTo(to, this.#recorded);
          this.#phase = 'stop';
          next = to;
        }
        break;
      case 'stop':
      case 'stopping': {
        const isOpen = this.#book.unfinished.length > 0 || hedging?.isDone === false;
        this.#phase = this.#reached < this.#stopsBy && isOpen ? 'stopping' : 'over';
        next = Math.min(this.#reached + this.#options.decideEveryMs, hedging?.dueAt ?? Infinity);
        next = Math.max(this.#reached, Math.min(next, this.#laterAt));
        break;
      }
      case 'over':
    }
    if (this.#phase === 'over') {
      // Releases the rows, because an ended replay reads no more rows.
      if (this.#trades !== null) this.#trades.next = Infinity;
      return false;
    }
    if (next > this.#latest) this.#latest = next;
    this.#market.load(next);
    this.exchange.aim(next, true);
    return true;
  }

  #wakesAt(): Millis {
    let next = Math.min(this.#book.decidesAt, this.#readAt, this.#notices.dueAt, this.#laterAt);
    if (this.#hedging !== null) next = Math.min(next, this.#hedging.dueAt);
    if (this.#tradeHistory !== null) next = Math.min(next, this.#tradeHistory.dueAt);
    return Math.max(this.#account.now, next);
  }

  /** Time of the next answer in `#later`; Infinity if there is none. */
  get #laterAt(): Millis {
    return this.#later.length > 0 ? this.#later[0]!.at : Infinity;
  }

  /**
   * Delivers to the bot everything that arrives by `now`, and lets the bot act. The exchange must have reached `now`.
   * Returns the time of the hedger's next event; `null` if no event is due.
   */
  turn(now: Millis): Millis | null {
    this.#hearRows(now);
    if (this.#phase === 'trading') this.#tradeHistory?.advanceTo(now);
    switch (this.#phase) {
      case 'before':
        this.#begin();
        return null;
      case 'trading':
        this.#trade(now);
        break;
      case 'stop':
        this.#stop(now);
        return null;
      case 'stopping':
      case 'over':
        this.#hear(now);
        this.#answerLater(now);
        this.#readAccount(now);
    }
    this.#reached = now;
    return this.#hedging !== null && this.#hedging.dueAt <= now ? this.#hedgeAt(now) : null;
  }

  #begin(): void {
    const { from, to } = this.#span;
    this.#recorded = this.#recordedUpTo(from);
    this.#tradeHistory?.advanceTo(from);
    this.#readAt = from;
    this.#reached = from < to ? from : to;
    this.#phase = 'trading';
  }

  #trade(now: Millis): void {
    const { privatePollMs, onProgress } = this.#options;
    const { from, to } = this.#span;
    this.#hear(now);
    // The engine must decide on the newest book.
    if (this.#book.decidesAt <= now) this.#showBook(now, true);
    if (this.#readAt <= now) {
      this.#readAccount(now);
      this.#readAt = now + privatePollMs;
    }
    this.#answerLater(now);
    if (onProgress && ++this.#turns % PROGRESS_EVERY === 0) onProgress((now - from) / (to - from));
  }

  /** Sends the newest book to the engine, because the hedger prices its routes on that book. Returns `now`. */
  #hedgeAt(now: Millis): Millis {
    this.#showBook(now, false);
    return (this.#account.now = now);
  }

  #recordedUpTo(at: Millis, before = { ghosts: 0, crossedMs: 0 }): ReplayResult['recorded'] {
    const { there } = this.#market;
    return { ghosts: there.ghosts - before.ghosts, crossedMs: there.crossedUpTo(at) - before.crossedMs };
  }

  #hedgingOf(hedge: HedgeOptions, from: Millis): Hedging {
    const { instrument, balances, gaps, latency } = this.#options;
    return new Hedging(hedge, {
      ...{ instrument, balances, gaps, latency, from },
      engine: this.#account.engine,
      exchange: this.exchange,
      collector: this.#collector,
      base: this.#rows.base,
      takerRate: () => this.#fees.takerRate,
      now: () => this.#account.now,
      rateSources: () => this.#rateSources,
      step: event => this.#step(event),
      admit: () => {
        if (!this.#takes(this.#account.now, 1)) return OVER_BUDGET;
        return this.#isAdmitted(1) ? null : LOCKED_OUT;
      },
      onEnd: row => {
        this.#hash.number(HASHED.hedge);
        this.#hash.text(JSON.stringify(row));
        this.#options.sink?.hedge?.(row);
      },
    });
  }

  /** Reads the reference repeatedly, like `live/market/reference.ts`. */
  #readReference(elsewhere: ExternalReferenceReplay, startedAt: Millis): void {
    const reading = elsewhere.read(startedAt);
    const { at } = reading;
    this.#answerAt(at, () => {
      this.#rateSources = reading.rates;
      this.#readReference(elsewhere, Math.max(startedAt + elsewhere.everyMs, at));
      return elsewhere.eventOf(reading, startedAt);
    });
  }

  /**
   * Processes the rows that have arrived by `now`. Rows before trading only build the book. The engine receives trades
   * only from the start of trading.
   */
  #hearRows(now: Millis): void {
    const feed = this.#feed;
    feed.hear(now);
    if (feed.rows === this.#rowsHeard) return;
    this.#rowsHeard = feed.rows;
    this.#took = NO_LEVELS;
    if (this.#trades !== null) this.#hearTrades(this.#trades, now);
    else if (feed.trades !== this.#tradesHeard) {
      this.#tradesHeard = feed.trades;
      this.#lastTrade = feed.lastTrade;
    }
  }

  #hearTrades(trades: RowCursor, now: Millis): void {
    const { at: there, local, place, lots, flags, base } = this.#rows;
    const { from } = this.#span;
    const history = this.#tradeHistory;
    for (; local[trades.next]! <= now; trades.next++) {
      const row = trades.next;
      const at = local[row]!;
      history?.row(at);
      if ((flags[row]! & FLAG.trade) === 0) continue;
      this.#lastTrade = place[row]! + base;
      const [price, amount] = [this.#lastTrade as Price, lots[row]! as Amount];
      const side = (flags[row]! & FLAG.sell) !== 0 ? 'sell' : 'buy';
      if (history !== null) {
        history.trade(at, { tradedAt: there[row]!, price, amount, side });
        if (at >= from) this.#lastTrade = 0;
      } else if (at >= from) {
        this.#lastTrade = 0;
        if (price > 0) this.#step({ kind: 'public trade', at, price, amount, side });
      }
    }
  }

  /** Sends the book to the engine; during a gap of the recording, sends only the time. */
  #showBook(at: Millis, always: boolean): void {
    if (this.#lastTrade > 0) {
      this.#step({ kind: 'public trade', at, price: this.#lastTrade as Price });
      this.#lastTrade = 0;
    }
    const feed = this.#feed;
    const isNews = feed.levels !== this.#levelsHeard;
    if (!always && !isNews && !this.#hid) return;
    this.#levelsHeard = feed.levels;
    this.#decisions++;
    // Rows that are in transit when a gap begins arrive during the gap, and the engine still receives them.
    const isUnderWay = isNews && !this.#gapsThere.isIn(feed.changedAt);
    if (this.#gaps.isIn(at) && !isUnderWay) this.#step({ kind: 'timer', at });
    else {
      const taken = this.#took.length === 0 ? NO_LEVELS : this.#hideTaken();
      const met = this.#hideConsumed();
      this.#hid = taken.length > 0 || met.length > 0;
      this.#step({ kind: 'book', at, startedAt: null, book: feed.book });
      if (this.#hid)
        for (const { side, price, amount } of [...taken, ...met].reverse()) feed.book.set(side, price, amount);
    }
    if (this.#collector.isMissing) this.#explain(at);
  }

  #explain(at: Millis): void {
    const { quoting, unshown } = this.#book.snapshot(at);
    const of = (side: Side): string => quoting ?? reasonOf(unshown[side]);
    this.#collector.explain(of('buy'), of('sell'));
  }

  #seesTaken({ side }: OwnOrder, place: number, lots: number): void {
    this.#took = [
      ...this.#took,
      {
        side: side === BUY ? 'sell' : 'buy',
        price: (place + this.#rows.base) as Price,
        amount: lots as Amount,
      },
    ];
    this.#hid = true;
  }

  #hideTaken(): readonly ConsumedLevel[] {
    const { book } = this.#feed;
    return this.#took.map(({ side, price, amount: lots }) => {
      const amount = book.amountAt(side, price);
      book.set(side, price, Math.max(0, amount - lots) as Amount);
      return { side, price, amount };
    });
  }

  /**
   * Hides from the engine's book the levels at or through the price of a resting order of the bot, because these levels
   * have traded with that order.
   */
  #hideConsumed(): readonly ConsumedLevel[] {
    const { book } = this.#feed;
    let bid = -Infinity;
    let ask = Infinity;
    for (const { side, place, state, takes } of this.#orders.orders) {
      if (takes || (state !== LOCAL.live && state !== LOCAL.canceling)) continue;
      if (side === BUY) bid = Math.max(bid, place);
      else ask = Math.min(ask, place);
    }
    const { base } = this.#rows;
    const [bestBid, bestAsk] = [book.best('buy'), book.best('sell')];
    if (!(bestAsk > 0 && bestAsk <= bid + base) && !(bestBid > 0 && bestBid >= ask + base)) return NO_LEVELS;
    const met: ConsumedLevel[] = [];
    const hide = (side: Side, isMet: (price: Price) => boolean): void => {
      for (let price = book.best(side); price > 0 && isMet(price); price = book.best(side)) {
        met.push({ side, price, amount: book.amountAt(side, price) });
        book.set(side, price, 0 as Amount);
      }
    };
    hide('sell', price => price <= bid + base);
    hide('buy', price => price >= ask + base);
    return met;
  }

  /** Processes all answers and notices that have arrived. */
  #hear(now: Millis): void {
    const { answers } = this.exchange;
    const { fillNotice } = this.#options;
    if (answers.headAt > now && this.#notices.dueAt > now) return;
    const heard = [...this.#notices.due(now)];
    const missed: Placed[] = [];
    const canceled: Placed[] = [];
    let shownAt = now;
    while (answers.headAt <= now) {
      const { kind, order, lots, sent, mid, place } = answers;
      answers.shift();
      const placed = this.#byOrder.get(order);
      if (placed === undefined) throw new Error(`received an answer for order ${order.id}, which was never placed`);
      const isEnd = kind === MESSAGE.canceled || kind === MESSAGE.missed;
      const message = { kind, placed, order, lots, sent, mid, place, isAnswered: isEnd };
      // A fill notice may still be waiting when the exchange answers the cancel request. By a look-up the bot learns
      // that
      // the order has ended and how much was filled, but not the trades.
      const isHeldBack = this.#notices.holdBack(message, now);
      if (!isHeldBack) heard.push({ ...message, isAnswered: isEnd && kind !== MESSAGE.missed });
      if (kind === MESSAGE.canceled || (kind === MESSAGE.missed && isHeldBack)) {
        placed.filledAtEnd = placed.amount - lots;
        shownAt = Math.max(shownAt, sent + (fillNotice?.(sent) ?? 0));
        (kind === MESSAGE.missed ? missed : canceled).push(placed);
      }
    }
    for (const { kind, order, lots, place } of heard) {
      this.#orders.learn(kind, order, lots);
      if (kind === MESSAGE.filled && order.takes) this.#seesTaken(order, place, lots);
    }
    this.#showBook(now, false);
    const trades: OwnTrade[] = [];
    const gone: Placed[] = [];
    for (const { kind, placed, lots, sent, mid, place, isAnswered } of heard) {
      if (kind === MESSAGE.accepted || kind === MESSAGE.refused) {
        const outcome = { kind: 'done', value: { oid: placed.oid } } as const;
        this.#step({ kind: 'placed', at: now, id: placed.id, outcome });
        // The exchange first accepts a post-only order that would trade, and then cancels it (public facts 16.1).
        if (kind === MESSAGE.refused) {
          this.#refusedPostOnly++;
          gone.push(placed);
        }
      } else if (kind === MESSAGE.filled) trades.push(this.#tradeOf(placed, lots as Amount, sent, now, mid, place));
      else if (kind === MESSAGE.spent) gone.push(placed);
      else if (!isAnswered) this.#tellCanceled([placed], [], now);
    }
    if (trades.length > 0) this.#tellTrades(trades, now);
    for (const placed of missed) this.#tellCanceled([placed], [], now);
    if (canceled.length > 0) {
      this.#tellCanceled(canceled, canceled, now);
      this.#lookUpGone(canceled, shownAt);
    }
    this.#tellEnds(gone, now);
    this.#forget();
  }

  /** Reports the answer to a request to cancel `asked`, of which the exchange canceled `done`. */
  #tellCanceled(asked: readonly Placed[], done: readonly Placed[], now: Millis): void {
    const outcome = { kind: 'done', value: done.map(({ oid }) => oid) } as const;
    this.#step({ kind: 'canceled', at: now, startedAt: now, ids: asked.map(({ id }) => id), outcome });
  }

  /**
   * Looks up the canceled orders that the engine itself does not look up yet, because its last look-up was recent. The
   * stream of the book shows that they are gone as late as it would show fills.
   */
  #lookUpGone(canceled: readonly Placed[], shownAt: Millis): void {
    if (canceled.every(({ isLookedUp }) => isLookedUp)) return;
    this.#answerAt(shownAt, at => {
      const ids = canceled.flatMap(({ id, isLookedUp, isEndReported }) => (isLookedUp || isEndReported ? [] : [id]));
      if (ids.length > 0) this.#lookUp(ids, at);
      return null;
    });
  }

  /** Reports orders that ended. */
  #tellEnds(ended: readonly Placed[], now: Millis): void {
    if (ended.length === 0) return;
    const reports = ended.map(one => this.#reportOf(one, 'cancelled', now));
    const ids = ended.map(({ id }) => id);
    this.#step({ kind: 'looked up', at: now, startedAt: now, ids, outcome: { kind: 'done', value: reports } });
  }

  #tradeOf(
    { id, oid, order }: Placed,
    lots: Amount,
    at: Millis,
    heardAt: Millis,
    mid: number,
    place: number,
  ): OwnTrade {
    const { instrument, sink } = this.#options;
    const side: Side = order.side === BUY ? 'buy' : 'sell';
    const price = (place + this.#rows.base) as Price;
    const { major, minor, fee } = this.#fees.fill(side, price, lots, order.takes, this.#collector.takeCharged());
    this.#major += major;
    this.#minor += minor;
    const tid = String(this.#account.nextTrade());
    const came = side === 'buy' ? major - fee : -major;
    this.#held += came;
    if (order.takes) this.#hedging?.onTakerExecution(came, side === 'buy' ? -minor : minor - fee, at, mid);
    const trade: OwnTrade = {
      book: instrument.symbol,
      tid,
      oid,
      originId: id,
      createdAt: at,
      side,
      price: textOfPrice(instrument, price),
      major: textOfMoney(major),
      minor: textOfMoney(minor),
      feeAmount: textOfMoney(fee),
      feeCurrency: side === 'buy' ? instrument.major : instrument.minor,
      maker: !order.takes,
    };
    const hasOtherTier = this.#fees.traded(minor, at);
    this.#account.traded(instrument.symbol, heardAt);
    if (hasOtherTier || (this.#options.followsTier === true && heardAt - this.#ratesAt >= RATES_EVERY_MS))
      this.#tellRates(heardAt);
    const level = order.level + 1;
    const midTicks = mid === 0 ? null : mid / 2 + this.#rows.base;
    const hash = this.#hash;
    hash.number(HASHED.fill);
    hash.text(id);
    hash.number(level);
    hash.number(at);
    hash.number(heardAt);
    hash.number(order.side);
    hash.number(price);
    hash.number(lots);
    hash.text(trade.minor);
    hash.text(trade.feeAmount);
    hash.number(midTicks ?? -1);
    sink?.fill({
      tid,
      orderId: id,
      level,
      at,
      heardAt,
      side,
      price: trade.price,
      amount: textOfAmount(instrument, lots),
      value: trade.minor,
      fee: trade.feeAmount,
      feeCurrency: trade.feeCurrency,
      midTicks,
      held: textOfMoney(this.#held as Money),
    });
    return trade;
  }

  #tellTrades(trades: readonly OwnTrade[], now: Millis): void {
    this.#step({ kind: 'trades', at: now, startedAt: now, complete: true, trades });
  }

  #reportOf(placed: Placed, status: OrderReport['status'], at: Millis): OrderReport {
    const { order, report } = placed;
    if (report !== null && report.status === status && placed.reportedFilled === order.filled) return report;
    placed.reportedFilled = order.filled;
    return (placed.report = this.#reportAs(placed, status, order.filled, at));
  }

  /** Returns a report of an order with `filled` lots. */
  #reportAs(
    { id, oid, side, price: place, amount, report }: Placed,
    status: OrderReport['status'],
    filled: number,
    at: Millis,
  ): OrderReport {
    const { instrument } = this.#options;
    // Texts of an order are constant, so the texts of the last report are reused.
    const price = report?.price ?? textOfPrice(instrument, place);
    const originalAmount = report?.originalAmount ?? textOfAmount(instrument, amount);
    return {
      book: instrument.symbol,
      oid,
      originId: id,
      side,
      type: 'limit',
      status,
      price,
      originalAmount,
      unfilledAmount: filled === 0 ? originalAmount : textOfAmount(instrument, (amount - filled) as Amount),
      createdAt: at,
    };
  }

  /**
   * Delivers the bot's orders and trades as reads of the account, so that the engine considers the account data fresh.
   */
  #readAccount(at: Millis): void {
    this.#account.now = at;
    const { symbol } = this.#options.instrument;
    if (!this.#account.isReadNow(symbol, at, count => this.#takes(at, count) && this.#isAdmitted(count))) return;
    this.#notices.releaseAll(at);
    this.#hear(at);
    this.#step({ kind: 'trades', at, startedAt: at, complete: true, trades: [] });
    const reports: OrderReport[] = [];
    for (const order of this.#orders.orders) {
      if (order.state !== LOCAL.live && order.state !== LOCAL.canceling) continue;
      const placed = this.#byOrder.get(order)!;
      // The answer to the cancel overtook the notices of the fills, so the bot knows already that the order is gone.
      if (placed.filledAtEnd !== null) continue;
      reports.push(this.#reportOf(placed, order.filled > 0 ? 'partially filled' : 'open', at));
    }
    this.#step({ kind: 'open orders', at, startedAt: at, complete: true, orders: reports });
  }

  /** Whether the exchange accepts `count` requests now. The exchange locks out clients with too many requests. */
  #isAdmitted(count: number): boolean {
    let admitted = true;
    for (let n = 0; n < count; n++) {
      if (this.#account.admit()) continue;
      admitted = false;
      this.#lockedOut++;
    }
    return admitted;
  }

  #answerAt(at: Millis, event: Later['event'], ids: Later['ids'] = null): void {
    const later = this.#later;
    let i = later.length;
    while (i > 0 && later[i - 1]!.at > at) i--;
    later.splice(i, 0, { at, event, ids });
  }

  #answerLater(now: Millis): void {
    for (let next = this.#later[0]; next && next.at <= now; next = this.#later[0]) {
      this.#later.shift();
      this.#account.now = next.at;
      const event = next.event(next.at);
      if (event === null) continue;
      this.#showBook(now, false);
      this.#step(event);
    }
  }

  /** Returns the answer to a look-up that was sent at `startedAt`. */
  #lookedUp(ids: readonly string[], startedAt: Millis, at: Millis): EngineEvent {
    const reports: OrderReport[] = [];
    for (const id of ids) {
      const placed = this.#byId.get(id);
      if (!placed) continue;
      const { order, filledAtEnd } = placed;
      placed.isLookedUp = false;
      if (filledAtEnd !== null) {
        const status = filledAtEnd < placed.amount ? 'cancelled' : 'completed';
        reports.push(this.#reportAs(placed, status, filledAtEnd, at));
        placed.isEndReported = true;
        this.#dropIfKnown(placed);
      } else if (this.#byOrder.get(order) === placed && order.state !== LOCAL.sent && order.state !== LOCAL.done) {
        reports.push(this.#reportOf(placed, order.filled > 0 ? 'partially filled' : 'open', at));
      }
    }
    return { kind: 'looked up', at, startedAt, ids, outcome: { kind: 'done', value: reports } };
  }

  #step(event: EngineEvent): void {
    this.#account.step(this.#options.instrument.symbol, event);
  }

  #send(command: Approved<Command>, at: Millis): void {
    switch (command.kind) {
      case 'place':
        if (!this.#account.hasShare(this.#options.instrument.symbol)) return this.#notSent(command.id, at, NO_SHARE);
        if (!this.#takes(at, 1)) return this.#notSent(command.id, at, OVER_BUDGET);
        if (this.#isAdmitted(1)) this.#place(command, at);
        else this.#refuse(command.id, at);
        return;
      case 'cancel':
        for (const id of command.ids) {
          const placed = this.#byId.get(id);
          // Until its look-up, an order that ended keeps its id, but not its object, which a later order may have.
          if (!placed || this.#byOrder.get(placed.order) !== placed || placed.order.state === LOCAL.done) continue;
          this.#canceled++;
          this.#orders.cancel(at, placed.order);
        }
        return;
      case 'look':
        this.#lookUp(command.ids, at);
        return;
    }
  }

  /** Answers a placement that the bot does not send to the exchange. */
  #notSent(id: string, at: Millis, outcome: typeof OVER_BUDGET | typeof NO_SHARE): void {
    this.#levels.delete(id);
    this.#step({ kind: 'placed', at, id, outcome });
  }

  /** Takes requests from the bot's own budget; returns false and counts a refusal if the budget is used up. */
  #takes(at: Millis, count: number): boolean {
    const takes = this.#account.budget.take(at, count);
    if (!takes) this.#overBudget++;
    return takes;
  }

  #lookUp(ids: readonly string[], at: Millis): void {
    const { latency } = this.#options;
    // A request over the budget is not sent, and the engine requests the look-up again.
    if (!this.#takes(at, 1)) return;
    for (const id of ids) {
      const placed = this.#byId.get(id);
      if (placed) placed.isLookedUp = true;
    }
    const answeredAt = at + latency.there(at) + latency.back(at);
    const admitted = this.#isAdmitted(1);
    this.#answerAt(
      answeredAt,
      () =>
        admitted
          ? this.#lookedUp(ids, at, answeredAt)
          : { kind: 'looked up', at: answeredAt, startedAt: at, ids, outcome: LOCKED_OUT },
      ids,
    );
  }

  /** Answers a placement that the exchange rejects during a lockout. */
  #refuse(id: string, at: Millis): void {
    const { latency } = this.#options;
    this.#levels.delete(id);
    const answeredAt = at + latency.there(at) + latency.back(at);
    this.#answerAt(answeredAt, () => ({ kind: 'placed', at: answeredAt, id, outcome: LOCKED_OUT }));
  }

  #place(command: Extract<Command, { kind: 'place' }>, at: Millis): void {
    const { id, side, price, amount, takes } = command;
    this.#placed++;
    const order = this.#orders.place(at, side === 'buy' ? BUY : SELL, price - this.#rows.base, amount, takes);
    order.level = this.#levels.get(id) ?? (takes ? -1 : 0);
    this.#levels.delete(id);
    const placed: Placed = {
      id,
      oid: `r${this.#account.nextOrder()}`,
      order,
      side,
      price,
      amount,
      report: null,
      reportedFilled: 0,
      filledAtEnd: null,
      isEndReported: false,
      isOver: false,
      isLookedUp: false,
    };
    this.#byId.set(id, placed);
    this.#byOrder.set(order, placed);
  }

  /** Drops the orders that ended and to which no message refers. */
  #forget(): void {
    this.#orders.forgetDone(order => {
      const placed = this.#byOrder.get(order)!;
      this.#byOrder.delete(order);
      this.#dropIfKnown(placed);
    });
    // Drops answers to look-ups of orders whose ends the bot knows already.
    for (let i = this.#later.length - 1; i >= 0; i--) {
      const { ids } = this.#later[i]!;
      if (ids !== null && !ids.some(id => this.#byId.has(id))) this.#later.splice(i, 1);
    }
  }

  /**
   * Drops the id of an order whose object is free for later orders, unless the engine has yet to learn the end by a
   * look-up.
   */
  #dropIfKnown(placed: Placed): void {
    const { id, order, filledAtEnd, isEndReported, isOver, isLookedUp } = placed;
    if (this.#byOrder.get(order) === placed) return;
    if (filledAtEnd === null || isEndReported || (isOver && !isLookedUp)) this.#byId.delete(id);
  }

  #onNews(news: EngineNews): void {
    this.#hedging?.heard(news);
    if (news.kind === 'placing') this.#levels.set(news.command.id, news.level.index);
    if (news.kind !== 'order' || news.news.kind !== 'ended') return;
    const { order, ending } = news.news;
    const { instrument, sink } = this.#options;
    const { id: orderId, side, price, amount, filled, placedAt } = order;
    const placed = this.#byId.get(orderId);
    if (placed !== undefined) {
      placed.isOver = true;
      this.#dropIfKnown(placed);
    }
    const endedAt = this.#account.now;
    const hash = this.#hash;
    hash.number(HASHED.order);
    hash.text(orderId);
    hash.number(side === 'buy' ? BUY : SELL);
    hash.number(price);
    hash.number(amount);
    hash.number(filled);
    hash.number(placedAt);
    hash.number(endedAt);
    hash.text(ending);
    // Texts are formatted only if there is a sink.
    sink?.order({
      orderId,
      side,
      price: textOfPrice(instrument, price),
      amount: textOfAmount(instrument, amount),
      filled: textOfAmount(instrument, filled),
      placedAt,
      endedAt,
      ending,
    });
  }

  /**
   * Stops trading and cancels all orders. The exchange continues without new rows until all answers have arrived and
   * every hedge has ended.
   */
  #stop(now: Millis): void {
    this.#hear(now);
    this.#account.stop(this.#options.instrument.symbol, now);
    this.#hedging?.stop();
    this.#reached = now;
    this.#stopsBy = now + (this.#hedging === null ? STOP_MS : HEDGES_END_MS);
  }

  /** Change of the account's balances by trades in this book since the start, in each currency of the book. */
  get moved(): Collector['moved'] {
    return this.#collector.moved;
  }

  /** Returns the result of an ended replay. */
  result(): ReplayResult {
    const { from, to } = this.#span;
    const left = this.#book.liveOrders.length;
    const hedged = this.#hedging?.end() ?? null;
    const snapshot = this.#book.snapshot(to);
    const { profit, inventory } = snapshot.booked;
    const collected = this.#collector.end();
    const { balances } = this.#options;
    const { strategyFault: fault } = this.#book;
    if (this.#account.engine.books.length === 1) this.#assertEqual(snapshot.booked, collected);
    const numbers = [profit.total, profit.spread, profit.inventory, profit.fees, inventory, this.#minor];
    if (hedged !== null) numbers.push(profit.hedging);
    if (snapshot.elsewhere !== null)
      numbers.push(snapshot.elsewhere.debt, ...(hedged?.elsewhere?.holdings.values() ?? []));
    this.#hash.text(numbers.map(String).join(' '));
    return {
      model: this.#options.model.name,
      opening: balances,
      feeTiers: this.#options.fees.tiers,
      from,
      to,
      events: this.#market.totalFor(this.#latest),
      decisions: this.#decisions,
      requests: {
        placed: this.#placed,
        canceled: this.#canceled,
        overBudget: this.#overBudget,
        lockedOut: this.#lockedOut,
      },
      refusedPostOnly: this.#refusedPostOnly,
      volume: { major: textOfMoney(this.#major as Money), minor: textOfMoney(this.#minor as Money) },
      snapshot,
      collected,
      hedged,
      recorded: this.#recorded,
      haltedBecause: this.#book.haltedBecause,
      strategyFault: fault === null ? null : withoutReload(fault),
      left,
      hash: this.#hash.digest(),
    };
  }

  /** Throws unless the accounts of exchange and bot, which are computed from the same fills, are equal. */
  #assertEqual({ inventory, holdings }: Snapshot['booked'], collected: Collected): void {
    const { instrument, balances } = this.#options;
    const cash = (holdings.get(instrument.minor) ?? 0n) - moneyOf(balances[instrument.minor] ?? '0');
    const counted = cash + (this.#hedging?.thirdCurrencyValue ?? 0n) + (this.#hedging?.cashElsewhere ?? 0n);
    this.#hedging?.assertEqualElsewhere();
    if (collected.position !== inventory || collected.cash !== counted) {
      throw new Error(
        `the accounts differ at the end of the replay: the exchange has position ${collected.position} and cash ${collected.cash}, the bot has position ${inventory} and cash ${counted}`,
      );
    }
  }

  #tellRates(at: Millis): void {
    const { instrument } = this.#options;
    this.#ratesAt = at;
    this.#step({ kind: 'rules', at, instrument, ...this.#rates(), tier: this.#fees.tier });
  }

  #rates(): { readonly makerRate: number; readonly takerRate: number } {
    return { makerRate: this.#fees.makerRate, takerRate: this.#fees.takerRate };
  }
}
