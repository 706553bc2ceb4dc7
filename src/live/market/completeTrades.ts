/**
 * Public trades of the stream without a gap, for a strategy that needs a history of trades: the trades that the stream
 * missed at the start and in outages are read from the exchange's lists and reported before the later ones. Until then,
 * the engine knows that trades are missing.
 */
import {
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
import { ListReads, tradesAfter, type TradeLists } from './pastTrades.ts';

/** Maximum number of trades of the stream that wait for the missed ones. The lists have the trades that are dropped. */
const HELD_MAX = 10_000;
/** Maximum number of pages of one read, number of reads, and pause between them. */
const PAGES_MAX = 5;
const READS_MAX = 4;
const AGAIN_MS = 5_000;

/** History that the strategy got at the start of the run. */
export type GivenHistory = Pick<Extract<EngineEvent, { kind: 'history' }>, 'last' | 'trades'>;

export type CompleteTradesOptions = {
  readonly lists: TradeLists;
  readonly clock: Clock;
  readonly log: Log;
  readonly instrument: () => Instrument;
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
  /** History that the trades continue; `last` is the number of its newest trade, `null` if unknown. */
  readonly history: GivenHistory;
  readonly onBroken: (error: unknown) => void;
};

export class CompleteTradeFeed {
  readonly #options: CompleteTradesOptions;
  readonly #history: TradeReporter;
  /** Number of the newest reported trade. */
  #last: bigint | null;
  /** Trades that wait until the missed ones are reported; `null` if none was missed. */
  #held: StreamTrade[] | null = [];
  /** Time since which no trade is missing in `#held`, and the number of trades there from before that time. */
  #heldSince: Millis = Infinity;
  #heldBefore = 0;
  /** Number of losses of the stream, each of which can lose trades. */
  #losses = 0;
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
    // Without the lists, the trades are complete only from here on.
    if (this.#isCurrent) this.#heldFromNow();
  }

  /** Handles a loss of the stream or of its data: trades may be missing. */
  lost(): void {
    this.#losses++;
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

  #heldFromNow(): void {
    this.#heldSince = this.#options.time();
    this.#heldBefore = this.#held?.length ?? 0;
  }

  async #catchUp(): Promise<void> {
    const { clock, instrument, lists, log, time } = this.#options;
    const { signal } = this.#stopping;
    for (let read = 1; !signal.aborted; read++) {
      const losses = this.#losses;
      const reads = new ListReads(lists, instrument());
      const missed = this.#last === null ? null : await tradesAfter(reads, this.#last, PAGES_MAX);
      if (signal.aborted) return;
      // Trades that a stream loses after this read would be missed. Once it is current again, the next read has them.
      if (!this.#isCurrent) return;
      if (losses !== this.#losses) continue;
      if (missed === null && this.#last !== null && read < READS_MAX) {
        await sleep(clock, AGAIN_MS, signal);
        continue;
      }
      if (reads.problem !== null) log.warn({}, reads.problem);
      const held = this.#held ?? [];
      this.#held = null;
      if (missed === null) {
        log.warn({}, 'public trades were missed and cannot be read; the strategy needs its history of trades again');
        this.#report(held.slice(0, this.#heldBefore));
        const last = this.#last === null ? null : String(this.#last);
        const since = Math.min(this.#heldSince, time());
        this.#history.report({ kind: 'history', at: time(), since, source: 'the stream', last, trades: [] });
        return this.#report(held.slice(this.#heldBefore));
      }
      for (const { tid, at, price, amount, side } of missed) {
        this.#last = tid;
        this.#history.trade(time(), { tradedAt: at, price, amount, side, tid: String(tid) });
      }
      this.#report(held);
      return this.#history.closeGap(time());
    }
  }

  #report(trades: readonly StreamTrade[]): void {
    const { instrument, time } = this.#options;
    const inOrder = trades.length < 2 ? trades : [...trades].sort((a, b) => (BigInt(a.tid) < BigInt(b.tid) ? -1 : 1));
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
