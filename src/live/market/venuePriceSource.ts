/** Source of live prices from a book of an exchange: its stream, or polls while the stream is silent, behind or down. */
import {
  emptyDepth,
  instrumentOf,
  L3Book,
  OrderBook,
  type Clock,
  type Depth,
  type Exchange,
  type Instrument,
  type MarketStream,
  type Millis,
  type Timer,
} from '../../core/index.ts';
import { MarketDataSupervisor, writeLevels, type MarketDataUser } from '../../marketdata/index.ts';
import type { Failed } from '../failedRequest.ts';
import type { LiveLevel, LivePriceNews, LivePriceSource } from './livePriceSource.ts';

/** Public reads of the books of an exchange. */
export type PublicBooks = Pick<Exchange, 'availableBooks' | 'orderBook'>;

export type VenuePriceSourceOptions = {
  readonly name: string;
  readonly book: string;
  readonly exchange: PublicBooks;
  /** Creates a stream of the book; absent if books are only polled. */
  readonly newStream?: (() => MarketStream | undefined) | undefined;
  readonly clock: Clock;
  /** Time between two polls, and the maximum time without a frame before a poll must confirm the book. */
  readonly pollMs: Millis;
  /** Number of levels per side in the news. */
  readonly levels: number;
  /** Called at the end of `close`. */
  readonly onClosed?: () => Promise<void>;
};

/**
 * Time without a current book, in addition to the interval of polls, after which the rules of the book are read again,
 * because they may have changed.
 */
const RESTART_AFTER_MS: Millis = 30_000;
/**
 * Number of failed reads in a row after which the last price is dropped. Until then, the price stays and only its age
 * grows.
 */
const UNREAD_MAX = 2;
/** Pause between two checks of the market. A check reads the rules only if the market has to be opened. */
const RETRY_EVERY_MS: Millis = 5_000;

type Market = { readonly supervisor: MarketDataSupervisor; readonly startedAt: Millis };

export class VenuePriceSource implements LivePriceSource {
  readonly name: string;
  readonly #options: VenuePriceSourceOptions;
  readonly #depth: Depth;
  #onNews: (news: LivePriceNews) => void = () => undefined;
  #isOver = false;
  #timer: Timer | null = null;
  #underway: Promise<void> = Promise.resolve();
  #market: Market | null = null;
  #currentAt: Millis = -Infinity;
  /** Rules of the book, and the time from which the age of `#depth` counts; `null` while the book is unknown. */
  #exact: { readonly instrument: Instrument; readonly at: Millis } | null = null;
  /** Number of failed reads since the last current book. */
  #unread = 0;

  constructor(options: VenuePriceSourceOptions) {
    this.name = options.name;
    this.#options = options;
    this.#depth = emptyDepth(options.levels);
  }

  start(onNews: (news: LivePriceNews) => void): void {
    this.#onNews = onNews;
    this.#lookAfter(0);
  }

  rejectAsUnreliable(reason: string): void {
    this.#market?.supervisor.rejectAsUnreliable(reason);
  }

  /**
   * Returns the best levels, in ticks and lots, and the monotonic time at which they were current; `null` if the book
   * is unknown. The levels change with the next news.
   */
  get exactBook(): { readonly instrument: Instrument; readonly at: Millis; readonly depth: Readonly<Depth> } | null {
    return this.#exact && { ...this.#exact, depth: this.#depth };
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#timer?.stop();
    await this.#underway;
    await this.#market?.supervisor.stop();
    await this.#options.onClosed?.();
  }

  #lookAfter(ms: Millis): void {
    if (this.#isOver) return;
    this.#timer = this.#options.clock.after(ms, () => {
      this.#underway = this.#look()
        .catch((error: unknown) => this.#broken(error))
        .finally(() => this.#lookAfter(RETRY_EVERY_MS));
    });
  }

  /** Opens the market, unless it is open and current, or was opened recently. */
  async #look(): Promise<void> {
    const now = this.#options.clock.elapsed();
    const since = Math.max(this.#currentAt, this.#market?.startedAt ?? -Infinity);
    if (this.#market !== null && now - since < this.#options.pollMs + RESTART_AFTER_MS) return;
    await this.#market?.supervisor.stop();
    this.#market = null;
    const { book, exchange } = this.#options;
    const outcome = await exchange.availableBooks();
    if (this.#isOver) return;
    if (outcome.kind !== 'done') return this.#lost(`the rules of the book could not be read: ${failureText(outcome)}`);
    const rules = outcome.value.find(each => each.book === book);
    if (rules === undefined) {
      const unread = outcome.unreadable?.find(row => row.book === undefined || row.book === book);
      return this.#lost(
        unread ? `the rules of the book are unreadable: ${unread.why}` : `the exchange has no book ${book}`,
      );
    }
    this.#market = this.#open(instrumentOf(rules));
  }

  #open(instrument: Instrument): Market {
    const { book, clock, exchange, newStream, pollMs } = this.#options;
    const levels = new OrderBook();
    const stepped = new L3Book({ instrument, book: levels, pending: () => [] });
    const supervisor = new MarketDataSupervisor({
      ...{ exchange, clock, book, stepped, polls: 'levels', ahead: 'show' },
      stream: newStream?.(),
      pollMs: () => pollMs,
      time: () => clock.elapsed(),
      user: this.#user(instrument, levels, stepped),
      onBroken: error => this.#broken(error),
    });
    supervisor.start();
    supervisor.keepPolling();
    return { supervisor, startedAt: clock.elapsed() };
  }

  #user(instrument: Instrument, levels: OrderBook, stepped: L3Book): MarketDataUser {
    const { clock } = this.#options;
    const tell = (ageMs: Millis, sentAt: Millis | null) => this.#tell(instrument, levels, ageMs, sentAt);
    return {
      onNews: ({ kind }) => {
        if (kind === 'up' && !this.#isOver) this.#onNews({ kind: 'connected' });
      },
      onCurrent: (_, polledAt, sentAt) => {
        stepped.show();
        if (polledAt === null) tell(0, sentAt);
        else tell(clock.elapsed() - polledAt, null);
      },
      takeBook: snapshot => {
        const unfit = writeLevels(snapshot, instrument, levels);
        if (unfit === null) stepped.hide();
        return unfit;
      },
      onBook: (startedAt, _, sentAt) => tell(clock.elapsed() - startedAt, sentAt),
      // A poll of the book follows, so the loss is not reported.
      onLost: () => {
        this.#exact = null;
      },
      onUnread: why => {
        if (++this.#unread >= UNREAD_MAX) this.#lost(`the book could not be read: ${failureText(why)}`);
      },
    };
  }

  #tell(instrument: Instrument, levels: OrderBook, ageMs: Millis, sentAt: Millis | null): void {
    if (this.#isOver) return;
    const { tick, lot } = instrument;
    const depth = this.#depth;
    levels.depth(depth);
    const age = Math.max(0, ageMs);
    this.#exact = { instrument, at: this.#options.clock.elapsed() - age };
    const [price, amount] = [Number(tick), Number(lot)];
    const side = (prices: Float64Array, amounts: Float64Array, count: number): readonly LiveLevel[] =>
      Array.from({ length: count }, (_, i) => [prices[i]! * price, amounts[i]! * amount] as const);
    this.#currentAt = this.#options.clock.elapsed();
    this.#unread = 0;
    this.#onNews({
      kind: 'book',
      ...(sentAt === null ? { sentAt, ageMs: age } : { sentAt, ageMs: 0 }),
      bids: side(depth.bidPrices, depth.bidAmounts, depth.bids),
      asks: side(depth.askPrices, depth.askAmounts, depth.asks),
    });
  }

  #lost(reason: string): void {
    this.#exact = null;
    if (!this.#isOver) this.#onNews({ kind: 'lost', reason });
  }

  /**
   * Reports an error of this program as a lost price, because a price of another exchange must not stop the bot's
   * cancels.
   */
  #broken(error: unknown): void {
    this.#lost(`internal error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const failureText = (failed: Failed): string =>
  failed.kind === 'refused' ? `${failed.code} ${failed.message}` : failed.reason;
