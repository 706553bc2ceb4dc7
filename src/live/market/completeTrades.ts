/**
 * Public trades of the stream without a gap, for a strategy that needs a history of trades: the trades that the stream
 * missed at the start and in outages are read from the exchange's lists and reported before the later trades. Until
 * then, a history gap is open in the engine.
 */
import {
  byTradeNumber,
  opposite,
  sleep,
  TradeReporter,
  type Clock,
  type EngineEvent,
  type Instrument,
  type Millis,
  type StreamTrade,
} from '../../core/index.ts';
import { amountOrNull, priceOrNull } from '../account/reads.ts';
import type { Log } from '../log.ts';
import { ListReads, pageAfter, readPastTrades, type TradeLists } from './pastTrades.ts';

/** Maximum number of trades of the stream that wait for the missed ones. The lists have the trades that are dropped. */
const HELD_MAX = 10_000;
/** Maximum number of pages that are read without a pause. */
const PAGES_MAX = 5;
/** Number of failed reads in a row after which the missed trades are given up. */
const FAILURES_MAX = 4;
/** Pause before the next read after `PAGES_MAX` pages, a failed read, or a list that may lack trades. */
const AGAIN_MS = 5_000;

/** History that the strategy got at the start of the run. */
export type GivenHistory = Pick<Extract<EngineEvent, { kind: 'history' }>, 'last' | 'trades'>;

/** History that the trades of the stream continue, and options for reading the missed trades between both. */
export type ContinuedHistory = Pick<
  CompleteTradesOptions,
  'history' | 'historyMs' | 'tradeReportDelayMaxMs' | 'canReadLatest'
>;

export type CompleteTradesOptions = {
  readonly lists: TradeLists;
  readonly clock: Clock;
  readonly log: Log;
  readonly instrument: () => Instrument;
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
  /** History that the trades continue; `last` is the number of its newest trade, `null` if unknown. */
  readonly history: GivenHistory;
  /** Length of the history that the strategy needs. */
  readonly historyMs: Millis;
  /** Maximum delay until the lists show a trade. A read that starts after this delay shows the trade. */
  readonly tradeReportDelayMaxMs: Millis;
  /** Whether the lists can have a complete history. Those of paper trading lack trades from before its start. */
  readonly canReadLatest: boolean;
  readonly onBroken: (error: unknown) => void;
};

export class CompleteTradeFeed {
  readonly #options: CompleteTradesOptions;
  readonly #history: TradeReporter;
  /** Number of the newest reported trade; `null` if unknown. */
  #last: bigint | null;
  /** Trades of the stream that wait until the missed trades are reported; `null` if no trade is missing. */
  #held: StreamTrade[] | null = [];
  /** Time since which no trade is missing in `#held`. */
  #heldSince: Millis = Infinity;
  /** `#heldSince` by the steady clock. */
  #heldSinceElapsed: Millis = Infinity;
  /** Number of trades in `#held` from before `#heldSince`. */
  #heldBefore = 0;
  /** Latest problem of the lists that was logged. */
  #problem: string | null = null;
  #isCurrent = false;
  #isReading = false;
  readonly #stopping = new AbortController();

  constructor(options: CompleteTradesOptions) {
    const { history, step } = options;
    this.#options = options;
    this.#last = history.last === null ? null : BigInt(history.last);
    this.#history = new TradeReporter(step);
    this.#history.continue(history);
  }

  /** Reports that the trades between the history and the stream may be missing. */
  start(): void {
    this.#history.openGap(this.#options.time());
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Receives trades of the stream. */
  hear(trades: readonly StreamTrade[]): void {
    if (this.#held === null) return this.#report(trades);
    this.#held.push(...trades);
    if (this.#held.length <= HELD_MAX) return;
    this.#held = this.#held.slice(-HELD_MAX / 2);
    // The dropped trades are only in the lists, so the trades in `#held` are complete only from now on.
    if (this.#isCurrent) this.#heldFromNow();
  }

  /** Handles a loss of the stream or of its data: trades may be missing. */
  lost(): void {
    this.#isCurrent = false;
    this.#held ??= [];
    this.#history.openGap(this.#options.time());
  }

  /** Handles a current stream: it reports every later trade, and the lists have the earlier ones. */
  current(): void {
    if (!this.#isCurrent) this.#heldFromNow();
    this.#isCurrent = true;
    if (this.#held === null || this.#isReading) return;
    this.#isReading = true;
    void this.#catchUp()
      .catch(this.#options.onBroken)
      .finally(() => (this.#isReading = false));
  }

  /** Records that no trade is missing in `#held` from now on. */
  #heldFromNow(): void {
    this.#heldSince = this.#options.time();
    this.#heldSinceElapsed = this.#options.clock.elapsed();
    this.#heldBefore = this.#held?.length ?? 0;
  }

  /**
   * Reports the missed trades page by page, then those of the stream. A list can be late: it has all missed trades only
   * if it has the first trade since `#heldSince`, or if its maximum delay has passed since then.
   */
  async #catchUp(): Promise<void> {
    const { clock, historyMs, log, time, tradeReportDelayMaxMs } = this.#options;
    const { signal } = this.#stopping;
    let [failures, pages, isLatestRead] = [0, 0, !this.#options.canReadLatest];
    while (!signal.aborted) {
      const startedAt = clock.elapsed();
      const page = await this.#readPage();
      if (signal.aborted) return;
      const isTooOld = page?.isFull === true && pages + 1 >= PAGES_MAX && page.newestAt < time() - historyMs;
      failures = page === null ? failures + 1 : 0;
      // If the stream is no longer current, trades after this read may be missing. The next read has them, once the
      // stream is current again.
      if (!this.#isCurrent) return;
      const first = this.#held?.[this.#heldBefore];
      const hasFirst = first !== undefined && this.#last !== null && this.#last >= BigInt(first.tid);
      const delayEndsIn = this.#heldSinceElapsed + tradeReportDelayMaxMs - startedAt;
      if (page !== null && (hasFirst || (!page.isFull && delayEndsIn <= 0))) {
        this.#reportHeld();
        return this.#history.closeGap(time());
      }
      const isGivenUp = page === null && (this.#last === null || failures >= FAILURES_MAX);
      if (isGivenUp || isTooOld) {
        if (!isLatestRead && (await this.#readLatest())) {
          [failures, pages, isLatestRead] = [0, 0, true];
          continue;
        }
        if (signal.aborted || !this.#isCurrent) return;
        isLatestRead = true;
        if (isGivenUp) {
          log.warn({}, 'public trades were missed and cannot be read; the strategy must build its history again');
          return this.#restartWithHeld();
        }
      }
      pages = page?.isFull === true ? pages + 1 : PAGES_MAX;
      if (pages < PAGES_MAX) continue;
      pages = 0;
      const isWaiting = page?.isFull === false && delayEndsIn > 0;
      await sleep(clock, isWaiting ? Math.min(AGAIN_MS, delayEndsIn) : AGAIN_MS, signal);
    }
  }

  /** Reads and reports the page of trades after the last reported one; `null` if it cannot be read. */
  async #readPage(): Promise<{ readonly isFull: boolean; readonly newestAt: Millis } | null> {
    const { instrument, lists, time } = this.#options;
    const after = this.#last;
    if (after === null) return null;
    const reads = new ListReads(lists, instrument(), this.#stopping.signal);
    const page = await pageAfter(reads, after);
    if (this.#stopping.signal.aborted) return null;
    this.#warn(reads.problem);
    if (page === null) return null;
    for (const { tid, at, price, amount, side } of page.trades)
      this.#history.trade(time(), { tradedAt: at, price, amount, side, tid: String(tid) });
    this.#last = page.newest;
    return { isFull: page.isFull, newestAt: page.newestAt ?? time() };
  }

  /**
   * Starts the history again with the latest trades of the lists, which may be late. Returns `false` without doing so
   * if the lists cannot be read, reach back less far than the trades of the stream, or lack trades that were reported.
   */
  async #readLatest(): Promise<boolean> {
    const { historyMs: ms, instrument, lists, time } = this.#options;
    const { signal } = this.#stopping;
    const warn = (problem: string) => this.#warn(problem);
    const wanted = { instrument: instrument(), run: 0, time, ms };
    const latest = await readPastTrades(wanted, { sources: [], lists }, warn, signal, signal);
    if (signal.aborted || latest.last === null || latest.since > this.#heldSince) return false;
    const last = BigInt(latest.last);
    // A list that lacks reported trades is too old: the strategy already knows these trades.
    if (this.#last !== null && last < this.#last) return false;
    this.#last = last;
    this.#history.report(latest);
    this.#history.openGap(time());
    return true;
  }

  /** Starts the history again with the waiting trades of the stream. */
  #restartWithHeld(): void {
    const { time } = this.#options;
    const held = this.#held ?? [];
    this.#held = null;
    this.#report(held.slice(0, this.#heldBefore));
    const last = this.#last === null ? null : String(this.#last);
    const since = Math.min(this.#heldSince, time());
    this.#history.report({ kind: 'history', at: time(), since, source: 'the stream', last, trades: [] });
    this.#report(held.slice(this.#heldBefore));
  }

  #reportHeld(): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#report(held);
  }

  #warn(problem: string | null): void {
    if (problem !== null && problem !== this.#problem) this.#options.log.warn({}, problem);
    this.#problem = problem ?? this.#problem;
  }

  #report(trades: readonly StreamTrade[]): void {
    const { instrument, time } = this.#options;
    const inOrder = trades.length < 2 ? trades : [...trades].sort(byTradeNumber);
    for (const { tid, createdAt, price: text, amount: lots, makerSide } of inOrder) {
      const number = BigInt(tid);
      if (this.#last !== null && number <= this.#last) continue;
      this.#last = number;
      const price = priceOrNull(instrument(), text);
      const amount = amountOrNull(instrument(), lots);
      if (price && amount !== null)
        this.#history.trade(time(), { tradedAt: createdAt, price, amount, side: opposite(makerSide), tid });
    }
  }
}
