/**
 * Public trades of the stream without a gap, for a strategy that needs a history of trades: the trades that the stream
 * missed at the start and in outages are read from the exchange's lists and reported before the later ones.
 */
import {
  opposite,
  sleep,
  type Clock,
  type EngineEvent,
  type Instrument,
  type Millis,
  type StreamTrade,
} from '../../core/index.ts';
import { amountOrNull, priceOrNull } from '../account/reads.ts';
import type { Log } from '../log.ts';
import { tradesAfter, type TradeLists } from './pastTrades.ts';

/** Maximum number of trades of the stream that wait for the missed ones. The lists have the trades that are dropped. */
const HELD_MAX = 10_000;
/** Maximum number of pages of one read, number of reads, and pause between them. */
const PAGES_MAX = 5;
const READS_MAX = 4;
const AGAIN_MS = 5_000;

export type CompleteTradesOptions = {
  readonly lists: TradeLists;
  readonly clock: Clock;
  readonly log: Log;
  readonly instrument: () => Instrument;
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
  /** Number of the newest trade of the history; `null` if unknown. */
  readonly last: string | null;
  readonly onBroken: (error: unknown) => void;
};

export class CompleteTradeFeed {
  readonly #options: CompleteTradesOptions;
  /** Number of the newest reported trade. */
  #last: bigint | null;
  /** Trades that wait until the missed ones are reported; `null` if none was missed. */
  #held: StreamTrade[] | null = [];
  /** Number of losses of the stream, each of which can lose trades. */
  #losses = 0;
  #isCurrent = false;
  #isReading = false;
  readonly #stopping = new AbortController();

  constructor(options: CompleteTradesOptions) {
    this.#options = options;
    this.#last = options.last === null ? null : BigInt(options.last);
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Receives trades of the stream. */
  hear(trades: readonly StreamTrade[]): void {
    if (this.#held === null) return this.#report(trades);
    this.#held.push(...trades);
    if (this.#held.length > HELD_MAX) this.#held = this.#held.slice(-HELD_MAX / 2);
  }

  /** Handles a loss of the stream or of its data: trades may be missing. */
  lost(): void {
    this.#losses++;
    this.#isCurrent = false;
    this.#held ??= [];
  }

  /** Handles a current stream: it reports every later trade, and the lists have the earlier ones. */
  current(): void {
    this.#isCurrent = true;
    if (this.#held === null || this.#isReading) return;
    this.#isReading = true;
    void this.#catchUp()
      .catch(this.#options.onBroken)
      .finally(() => (this.#isReading = false));
  }

  async #catchUp(): Promise<void> {
    const { clock, instrument, lists, log, step, time } = this.#options;
    const { signal } = this.#stopping;
    for (let read = 1; !signal.aborted; read++) {
      const losses = this.#losses;
      const missed = this.#last === null ? null : await tradesAfter(lists, instrument(), this.#last, PAGES_MAX);
      if (signal.aborted) return;
      // Trades that a stream loses after this read would be missed. Once it is current again, the next read has them.
      if (!this.#isCurrent) return;
      if (losses !== this.#losses) continue;
      if (missed === null && this.#last !== null && read < READS_MAX) {
        await sleep(clock, AGAIN_MS, signal);
        continue;
      }
      const held = this.#held ?? [];
      this.#held = null;
      if (missed === null) {
        log.warn({}, 'public trades were missed and cannot be read; the strategy needs its history of trades again');
        const last = this.#last === null ? null : String(this.#last);
        const now = time();
        step({ kind: 'history', at: now, since: now, source: 'the stream', last, trades: [] });
      } else
        for (const { tid, price, amount, side } of missed) {
          this.#last = tid;
          step({ kind: 'public trade', at: time(), price, amount, side, tid: String(tid) });
        }
      return this.#report(held);
    }
  }

  #report(trades: readonly StreamTrade[]): void {
    const { instrument, step, time } = this.#options;
    const inOrder = trades.length < 2 ? trades : [...trades].sort((a, b) => (BigInt(a.tid) < BigInt(b.tid) ? -1 : 1));
    for (const { tid, price: text, amount: lots, makerSide } of inOrder) {
      const number = BigInt(tid);
      if (this.#last !== null && number <= this.#last) continue;
      this.#last = number;
      const price = priceOrNull(instrument(), text);
      const amount = amountOrNull(instrument(), lots);
      if (price && amount !== null)
        step({ kind: 'public trade', at: time(), price, amount, side: opposite(makerSide), tid });
    }
  }
}
