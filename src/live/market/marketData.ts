/**
 * Market data for the engine, from the stream, or from polled books while the stream is silent, behind or down. At any
 * time, the book of the engine comes either from the stream or from polls.
 */
import {
  mayLive,
  opposite,
  L3Book,
  OrderBook,
  type BookSnapshot,
  type EngineEvent,
  type Millis,
  type Side,
  type StreamTrade,
  type Timer,
} from '../../core/index.ts';
import {
  MarketDataSupervisor,
  writeLevels,
  type BookSource,
  type MarketDataUser,
  type PollState,
} from '../../marketdata/index.ts';
import type { MarketDataOptions, MarketDataStatus } from './marketDataOptions.ts';
import { oursIn } from '../account/ownOids.ts';
import { EventDrivenReads } from '../account/eventDrivenReads.ts';
import { CompleteTradeFeed } from './completeTrades.ts';
import { LivePriceReads } from './livePriceReads.ts';
import { ReferenceReads } from './reference.ts';
import { amountOrNull, priceOrNull } from '../account/reads.ts';
import { isFailed } from '../failedRequest.ts';

export type { MarketDataOptions, MarketDataStatus } from './marketDataOptions.ts';

const TRADE_EVERY_MS = 20_000;
/** Minimum pause between two reports of the stream's book to the engine, unless another event occurs. */
const TELL_EVERY_MS = 100;
const SLEPT = 'this process was suspended';

export class MarketData {
  readonly #options: MarketDataOptions;
  /** Book that was last reported to the engine, or will be reported next. All its levels are from one source. */
  readonly #book = new OrderBook();
  readonly #feed: L3Book;
  readonly #supervisor: MarketDataSupervisor;
  readonly #prompt: EventDrivenReads;
  readonly #reference: ReferenceReads | null;
  readonly #livePrices: LivePriceReads | null;
  /** Trades without a gap; `null` if the strategy needs no history of trades. */
  readonly #completeTrades: CompleteTradeFeed | null;
  #stopped = false;
  #tradeAt: Millis = -Infinity;
  /**
   * Change of the book that was not reported to the engine yet; `null` if none. `startedAt` is the start time of the
   * read of the book, or `null` for the book of the stream, from which the bot's orders are removed.
   */
  #untold: { readonly startedAt: Millis | null } | null = null;
  #toldAt: Millis = -Infinity;
  #tellTimer: Timer | null = null;

  constructor(options: MarketDataOptions) {
    this.#options = options;
    const { account, bookPollMs, bot, engine, instrument, newLivePrices, note, reference, run, venue } = options;
    const { clock, time } = run;
    const { isWaking, onBroken } = options.host;
    const { exchange, stream } = venue;
    this.#prompt = new EventDrivenReads({ clock, engine, exchange, onBroken, ...account });
    this.#reference = reference ? new ReferenceReads(reference, { run, exchange, instrument, note, onBroken }) : null;
    this.#livePrices = newLivePrices ? new LivePriceReads(newLivePrices(), run, options.host) : null;
    const { history = null } = options;
    this.#completeTrades =
      history === null
        ? null
        : new CompleteTradeFeed({
            ...{ lists: exchange, clock, log: run.log, instrument, time, step: run.step, onBroken },
            ...history,
          });
    const feed = new L3Book({
      instrument: instrument(),
      book: this.#book,
      pending: () => engine.liveOrders.filter(order => order.oid === null && mayLive(order)),
      onOwn: (oid, change) =>
        this.#prompt.seen(change === 'filled' ? { kind: 'traded', tid: null } : { kind: 'gone', oid }),
    });
    this.#feed = feed;
    this.#supervisor = new MarketDataSupervisor({
      exchange,
      stream,
      clock,
      book: bot.book,
      time,
      isWaking,
      onBroken,
      stepped: feed,
      pollMs: () => bookPollMs,
      polls: 'levels',
      ahead: 'show',
      user: this.#user(),
    });
  }

  start(): void {
    this.#reference?.start();
    this.#livePrices?.start();
    this.#completeTrades?.start();
    this.#supervisor.start();
  }

  /** Stops all reads. Resolves when the current reads of the account and of other books have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#tellTimer?.stop();
    this.#completeTrades?.stop();
    void this.#supervisor.stop();
    await Promise.all([this.#prompt.stop(), this.#reference?.stop(), this.#livePrices?.stop()]);
  }

  /** Reads the balances after a webhook reported a transaction. */
  moved(): void {
    this.#prompt.seen({ kind: 'moved' });
  }

  /** Discards all data received or queued until now, because it may be outdated. */
  distrust(): void {
    this.#supervisor.rejectAsUnreliable(SLEPT);
    this.#livePrices?.rejectAsUnreliable(SLEPT);
  }

  get status(): MarketDataStatus {
    const isStream = this.#supervisor.source === 'stream';
    const ahead = (side: Side) => (isStream ? this.#feed.aheadOfBest(side) : null);
    return {
      streamUp: this.#options.venue.stream === undefined ? null : isStream,
      queueAhead: { buy: ahead('buy'), sell: ahead('sell') },
    };
  }

  /** Whether the engine's book comes from the stream. */
  get isOnStream(): boolean {
    return this.#supervisor.source === 'stream';
  }

  /** Number of book reads over REST that were started. */
  get bookReads(): number {
    return this.#supervisor.reads;
  }

  /** State of the polls of the book; `null` if no poll is wanted now. */
  get pollState(): PollState | null {
    return this.#supervisor.pollState;
  }

  /** Polls the book over REST, unless the stream has just confirmed the book. */
  poll(): Promise<void> {
    return this.#supervisor.poll();
  }

  /**
   * Removes the bot's orders in an event from the book. Call `learn` before the engine handles the event, so that the
   * engine decides with the newest book without these orders.
   */
  learn(event: EngineEvent): void {
    if (event.kind === 'book') return;
    const { engine } = this.#options;
    // The stream may have reported trades of this taker order before its oid was known, so the trades are read.
    if (event.kind === 'placed' && engine.liveOrders.some(({ id, takes }) => takes === true && id === event.id))
      this.#prompt.seen({ kind: 'traded', tid: null });
    let changed = false;
    for (const { oid, id } of oursIn(event, `${this.#options.bot.instance}-`)) {
      if (this.#feed.own(oid, id)) changed = true;
    }
    if (this.#untold) this.#tell(this.#untold.startedAt);
    else if (changed && this.#supervisor.isFresh) this.#tell(null);
  }

  #user(): MarketDataUser {
    const { note, host, run } = this.#options;
    const { log } = run;
    return {
      onNews: host.onTurn,
      onCurrent: was => {
        this.#feed.show();
        this.#completeTrades?.current();
        if (was !== 'stream') {
          const { sequence, size } = this.#feed;
          log.info({ sequence: String(sequence), orders: size }, 'market data comes from the stream');
        }
        this.#tellSoon(null);
      },
      takeBook: book => this.#takeBook(book),
      onBook: (startedAt, source) => {
        if (source !== 'stream') return this.#tell(startedAt);
        this.#completeTrades?.current();
        this.#tellSoon(startedAt);
      },
      onLost: (reason, was) => this.#lost(reason, was),
      onCountedAnew: (sequence, newest) =>
        log.warn(
          { sequence: String(sequence) },
          `the exchange restarted its book sequence numbers: number ${sequence} follows ${newest}`,
        ),
      onTrades: trades => this.#hearTrades(trades),
      onMisfit: seeding => log.info({ seeding }, `a book snapshot did not match the stream: ${seeding}`),
      onUnread: why => note('order_book', why),
      alsoPoll: () => this.#readTrade(),
    };
  }

  #takeBook(book: BookSnapshot): string | null {
    const unfit = writeLevels(book, this.#options.instrument(), this.#book);
    if (unfit === null) this.#feed.hide();
    return unfit;
  }

  #lost(reason: string, was: BookSource): void {
    const { log } = this.#options.run;
    this.#untold = null;
    this.#completeTrades?.lost();
    if (was === 'stream') log.warn({ reason }, `market data is read by polling: ${reason}`);
    else if (was === 'none')
      log.info({ reason }, `market data is read by polling until the stream is available: ${reason}`);
  }

  #hearTrades(trades: readonly StreamTrade[]): void {
    const { instrument, run } = this.#options;
    const { time, step } = run;
    for (const trade of trades) {
      if ([trade.makerOid, trade.takerOid].some(oid => oid !== undefined && this.#feed.isOwn(oid)))
        this.#prompt.seen({ kind: 'traded', tid: trade.tid });
    }
    if (this.#completeTrades !== null) return this.#completeTrades.hear(trades);
    for (const { price: text, amount: lots, makerSide } of trades) {
      const price = priceOrNull(instrument(), text);
      const amount = amountOrNull(instrument(), lots);
      if (price && amount !== null)
        step({ kind: 'public trade', at: time(), price, amount, side: opposite(makerSide) });
    }
  }

  /** Reads the last trade periodically while the stream does not report trades. */
  async #readTrade(): Promise<void> {
    const { account, instrument, note, run } = this.#options;
    const { clock, step } = run;
    if (this.#supervisor.source === 'stream' || clock.elapsed() - this.#tradeAt < TRADE_EVERY_MS) return;
    this.#tradeAt = clock.elapsed();
    const event = await account.reads.publicTrade(instrument());
    if (event === null) return;
    if (isFailed(event)) note('trades', event);
    else step(event);
  }

  /**
   * Reports the book immediately, but at most once per `TELL_EVERY_MS`, because hundreds of frames may arrive together
   * and each report is recorded.
   */
  #tellSoon(startedAt: Millis | null): void {
    const { clock } = this.#options.run;
    this.#untold = { startedAt };
    const pause = this.#toldAt + TELL_EVERY_MS - clock.elapsed();
    if (pause <= 0) this.#tell(startedAt);
    else {
      this.#tellTimer ??= clock.after(pause, () => {
        this.#tellTimer = null;
        if (this.#untold && !this.#stopped) this.#tell(this.#untold.startedAt);
      });
    }
  }

  #tell(startedAt: Millis | null): void {
    this.#untold = null;
    const { clock, step, time } = this.#options.run;
    this.#toldAt = clock.elapsed();
    step({ kind: 'book', at: time(), startedAt, book: this.#book });
  }
}
