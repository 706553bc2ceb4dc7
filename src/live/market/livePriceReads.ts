/**
 * Engine events with live prices, from the books that the reference price is computed from. A changed price becomes an
 * event at once; repetitions and bursts are limited, because each event is recorded.
 */
import type { EngineEvent, LiveReading, Millis, Timer } from '../../core/index.ts';
import { ClockOffset } from '../../marketdata/index.ts';
import type { RunContext } from '../runContext.ts';
import type { LiveLevel, LivePriceFeed, LivePriceNews } from './livePriceSource.ts';
import type { HostWatch } from './marketDataOptions.ts';

/** Maximum number of events of one book per second, and in a burst. */
const EVENTS_PER_SECOND = 20;
const BURST = 20;

export class LivePriceReads {
  readonly #feeds: readonly FeedEvents[];

  constructor(feeds: readonly LivePriceFeed[], run: RunContext, host: HostWatch) {
    this.#feeds = feeds.map(feed => new FeedEvents(feed, run, host));
  }

  start(): void {
    for (const feed of this.#feeds) feed.start();
  }

  /** Discards the last books and all queued events, because they may be outdated after a suspension of the process. */
  rejectAsUnreliable(reason: string): void {
    for (const feed of this.#feeds) feed.rejectAsUnreliable(reason);
  }

  /** Stops all events. Resolves when the sources have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.#feeds.map(feed => feed.stop()));
  }
}

/** Longest time that `readLivePrices` waits. */
const FIRST_READ_MAX_MS: Millis = 5_000;

/**
 * Returns the last event of each book: its prices, or the reason why it cannot be read. Waits at most five seconds; a
 * book without an event by then is omitted.
 */
export async function readLivePrices(
  feeds: readonly LivePriceFeed[],
  { clock, log, time }: Omit<RunContext, 'step'>,
): Promise<readonly EngineEvent[]> {
  const events = new Map<string, EngineEvent>();
  const onBroken = (error: unknown) => log.error({ error: String(error) }, 'a source of the reference price failed');
  let isRead: () => void = () => undefined;
  const step = (event: EngineEvent): void => {
    if (event.kind === 'source') events.set(event.feed, event);
    if (events.size === feeds.length) isRead();
  };
  const reads = new LivePriceReads(
    feeds,
    { clock, log, time, step },
    { onTurn: () => undefined, isWaking: () => false, onBroken },
  );
  await new Promise<void>(resolve => {
    const timer = clock.after(FIRST_READ_MAX_MS, resolve);
    isRead = () => {
      timer.stop();
      resolve();
    };
    reads.start();
  });
  await reads.stop();
  return [...events.values()];
}

/** Events of one book. */
class FeedEvents {
  readonly #feed: LivePriceFeed;
  readonly #run: RunContext;
  readonly #host: HostWatch;
  readonly #offset = new ClockOffset();
  #stopped = false;
  /** Newest book and the time from which its age counts; `null` if there is none. */
  #newest: { readonly reading: LiveReading; readonly startedAt: Millis } | null = null;
  /** Last event: its book, or the reason why there was none; `null` before the first. */
  #told: LiveReading | string | null = null;
  #toldAt: Millis = -Infinity;
  #tokens = BURST;
  #tokensAt: Millis = 0;
  #timer: Timer | null = null;

  constructor(feed: LivePriceFeed, run: RunContext, host: HostWatch) {
    this.#feed = feed;
    this.#run = run;
    this.#host = host;
  }

  start(): void {
    this.#feed.source.start(news => {
      if (this.#stopped) return;
      try {
        this.#host.onTurn();
        if (!this.#host.isWaking()) this.#take(news);
      } catch (error) {
        this.#host.onBroken(error);
      }
    });
  }

  rejectAsUnreliable(reason: string): void {
    this.#newest = null;
    this.#timer?.stop();
    this.#timer = null;
    this.#offset.reset();
    this.#feed.source.rejectAsUnreliable(reason);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.stop();
    await this.#feed.source.close();
  }

  #take(news: LivePriceNews): void {
    const now = this.#run.time();
    if (news.kind === 'connected') return this.#offset.reset();
    if (news.kind === 'lost') {
      this.#newest = null;
      this.#offset.reset();
      if (this.#told !== news.reason) this.#tellLost(news.reason, now);
      return;
    }
    // A frame that waited in a queue is old on arrival: its age is its delay minus the delay of the fastest frame.
    const waitedMs = news.sentAt === null ? 0 : this.#offset.recordMessage(now, news.sentAt);
    const lagMs = news.sentAt === null ? (this.#newest?.reading.lagMs ?? null) : now - news.sentAt;
    const reading = readingFrom(news, this.#feed.amount, lagMs);
    this.#newest = { reading, startedAt: now - Math.max(0, news.ageMs, waitedMs) };
    this.#tellSoon();
  }

  #tellSoon(): void {
    if (this.#newest === null) return;
    // A new price must not wait for the timer of an earlier change.
    this.#timer?.stop();
    this.#timer = null;
    const { clock } = this.#run;
    const { reading } = this.#newest;
    const told = this.#told;
    const isNew = told === null || typeof told === 'string' || told.bid !== reading.bid || told.ask !== reading.ask;
    const now = clock.elapsed();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#tokensAt) * EVENTS_PER_SECOND) / 1_000);
    this.#tokensAt = now;
    const wait = Math.max(
      isNew ? 0 : this.#toldAt + this.#feed.confirmEveryMs - now,
      this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * 1_000) / EVENTS_PER_SECOND,
    );
    if (wait <= 0) return this.#tell();
    // A repetition needs no timer, because the source sends it again. A changed amount needs one, because it may be
    // sent only once.
    if (!isNew && hasSameAmounts(told, reading)) return;
    this.#timer = clock.after(wait, () => {
      this.#timer = null;
      if (!this.#stopped) this.#tellSoon();
    });
  }

  #tell(): void {
    const { reading, startedAt } = this.#newest!;
    const { clock, log, step, time } = this.#run;
    this.#tokens -= 1;
    if (typeof this.#told === 'string')
      log.info({ feed: this.#feed.key }, `the source ${this.#feed.key} has prices again`);
    this.#told = reading;
    this.#toldAt = clock.elapsed();
    step({ kind: 'source', at: time(), startedAt, feed: this.#feed.key, reading });
  }

  #tellLost(reason: string, now: Millis): void {
    const { key } = this.#feed;
    this.#timer?.stop();
    this.#timer = null;
    this.#told = reason;
    this.#run.log.warn({ feed: key, reason }, `the source ${key} has no price: ${reason}`);
    this.#run.step({ kind: 'source', at: now, startedAt: now, feed: key, reading: reason });
  }
}

const hasSameAmounts = (a: LiveReading, b: LiveReading): boolean =>
  a.bidAmount === b.bidAmount && a.askAmount === b.askAmount && a.sell === b.sell && a.buy === b.buy;

const valid = (value: number | undefined): number => (value !== undefined && value > 0 && value < Infinity ? value : 0);

function readingFrom(
  { bids, asks }: Extract<LivePriceNews, { kind: 'book' }>,
  amount: number | null,
  lagMs: Millis | null,
): LiveReading {
  const [bid, ask] = [valid(bids[0]?.[0]), valid(asks[0]?.[0])];
  return {
    ...{ bid, ask, bidAmount: valid(bids[0]?.[1]), askAmount: valid(asks[0]?.[1]), lagMs },
    sell: amount === null ? bid : averagePrice(bids, amount),
    buy: amount === null ? ask : averagePrice(asks, amount),
  };
}

/**
 * Returns the average price of an amount, best levels first; 0 if the levels are too few. Ignores levels whose price or
 * amount is not a positive number.
 */
export function averagePrice(levels: readonly LiveLevel[], amount: number): number {
  let [left, paid] = [amount, 0];
  for (const [price, available] of levels) {
    const part = valid(price) > 0 ? Math.min(left, valid(available)) : 0;
    paid += part * valid(price);
    left -= part;
    if (!(left > 0)) return valid(paid / amount);
  }
  return 0;
}
