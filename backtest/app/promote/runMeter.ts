/**
 * Measurements of a replayed run for a promotion: fills with their markouts, time with a quote on both sides, halts.
 */
import {
  approximately,
  signOf,
  type Depth,
  type Engine,
  type EngineEvent,
  type EngineNews,
  type Fill,
  type Instrument,
  type Millis,
} from '../../../src/core/index.ts';
import type { TradedBlock } from '../../index.ts';

/** Sums of one run. Amounts of money are approximate and in the quote currency. */
export type RunSums = {
  /** Times of the first and the last input. */
  readonly from: Millis | null;
  readonly to: Millis | null;
  readonly ms: number;
  /** Time, in ms, during which the bot had a bid and an ask in the book. */
  readonly bothMs: number;
  /**
   * Number of fills of the bot. `judged` counts the fills with a known markout after 60 s; volume and blocks include
   * only such fills.
   */
  readonly fills: number;
  readonly judged: number;
  readonly volume: number;
  readonly blocks: readonly TradedBlock[];
  /** Halts caused by the bot itself. */
  readonly halts: readonly { readonly at: Millis; readonly reason: string }[];
  /** Mid price at the end, in ticks; NaN if the run had no mid price. */
  readonly midTicks: number;
};

const MARKOUT_MS = 60_000;
/** Length of a block, in ms: longer than a markout, which then ends in the block of its fill or in the next block. */
const BLOCK_MS = 120_000;

export class RunMeter {
  readonly #instrument: Instrument;
  #engine: Engine | null = null;
  #depth: Depth | null = null;
  #from: Millis | null = null;
  #at: Millis = 0;
  #hasBoth = false;
  #mid = Number.NaN;
  readonly #all = { ms: 0, bothMs: 0, fills: 0, judged: 0, volume: 0 };
  /** Fills that wait for their markout, oldest first. */
  readonly #waiting: Fill[] = [];
  readonly #blocks = new Map<number, { net: number; volume: number }>();
  #halted: string | null = null;
  readonly #halts: { at: Millis; reason: string }[] = [];

  constructor(instrument: Instrument) {
    this.#instrument = instrument;
  }

  /** Sets the engine whose market and orders are measured. */
  watch(engine: Engine): void {
    this.#engine = engine;
    this.#depth = engine.book.riskContext(0).depth;
  }

  /** Receives news that the engine emits during an input. */
  hear(news: EngineNews): void {
    if (news.kind === 'halted') this.#halted = news.reason;
    if (news.kind !== 'fill' || news.fill.id === null) return;
    this.#all.fills++;
    this.#waiting.push(news.fill);
  }

  /** Updates the measurements after the engine has processed an input. */
  see({ kind, at }: Pick<EngineEvent, 'kind' | 'at'>): void {
    // A halt requested by the operator or a sentinel is not evidence about the configuration.
    if (this.#halted !== null && kind !== 'halt') this.#halts.push({ at, reason: this.#halted });
    this.#halted = null;
    const passed = this.#from === null ? 0 : Math.max(0, at - this.#at);
    this.#all.ms += passed;
    if (this.#hasBoth) this.#all.bothMs += passed;
    // Values the waiting fills with the mid price before this input.
    this.#judge(at);
    this.#from ??= at;
    this.#at = at;
    const [engine, depth] = [this.#engine, this.#depth];
    if (engine === null || depth === null) return;
    if (depth.bids > 0 && depth.asks > 0) this.#mid = (depth.bidPrices[0]! + depth.askPrices[0]!) / 2;
    const sides = new Set(
      engine.book.liveOrders.flatMap(({ state, side }) =>
        state === 'open' || state === 'partially filled' ? [side] : [],
      ),
    );
    this.#hasBoth = sides.size === 2;
  }

  sums(): RunSums {
    const to = this.#from === null ? null : this.#at;
    const blocks = [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
    return { ...this.#all, from: this.#from, to, blocks, halts: this.#halts, midTicks: this.#mid };
  }

  #judge(at: Millis): void {
    for (let [first] = this.#waiting; first && first.at + MARKOUT_MS <= at; [first] = this.#waiting) {
      this.#waiting.shift();
      if (!Number.isFinite(this.#mid)) continue;
      const tick = approximately(this.#instrument.tickMoney);
      const [amount, value] = [approximately(first.major), approximately(first.minor)];
      const fee =
        first.feeIn === 'other' ? 0 : approximately(first.fee) * (first.feeIn === 'major' ? first.price * tick : 1);
      const block = this.#blocks.get(Math.floor(first.at / BLOCK_MS)) ?? { net: 0, volume: 0 };
      this.#blocks.set(Math.floor(first.at / BLOCK_MS), block);
      block.net += signOf(first.side) * (this.#mid - first.price) * tick * amount - fee;
      block.volume += value;
      this.#all.judged++;
      this.#all.volume += value;
    }
  }
}
