/**
 * Public trades of a recording, for a strategy that needs a history of trades: first the trades from before the start
 * of trading, then each later trade. A gap of the recording has the effect of an outage whose trades a live bot cannot
 * read.
 */
import {
  PAST_TRADES_MAX,
  pastTradesUpTo,
  TradeReporter,
  type EngineEvent,
  type Millis,
  type UnreportedTrade,
} from '../../src/core/index.ts';
import type { Gap } from '../../src/tape/index.ts';

type RecordedTradesOptions = {
  /** Start of trading. */
  readonly from: Millis;
  /** Length of the history that the strategy needs. */
  readonly ms: Millis;
  readonly gaps: readonly Gap[];
  readonly step: (event: EngineEvent) => void;
};

type PastTradeRow = UnreportedTrade & { readonly at: Millis };
type Span = { readonly from: Millis; readonly to: Millis };

export class RecordedTradeHistory {
  readonly #options: RecordedTradesOptions;
  readonly #history: TradeReporter;
  /** Gaps that do not overlap, by time. */
  readonly #gaps: readonly Span[];
  #next = 0;
  #isInGap = false;
  /** Trades from before the start of trading; `null` once they are reported. */
  #past: PastTradeRow[] | null = [];
  /** Time of the first row; Infinity before it. */
  #since: Millis = Infinity;

  constructor(options: RecordedTradesOptions) {
    this.#options = options;
    this.#history = new TradeReporter(options.step);
    this.#gaps = separateSpans(options.gaps);
  }

  /** Time of the next start or end of a gap; Infinity if there is none. */
  get dueAt(): Millis {
    const gap = this.#gaps[this.#next];
    return gap === undefined ? Infinity : this.#isInGap ? gap.to : gap.from;
  }

  /** Handles a row that arrives at the time `at`. */
  row(at: Millis): void {
    if (this.#since === Infinity) this.#since = at;
    if (at >= this.#options.from) this.advanceTo(at);
  }

  /** Handles a trade that arrives at the time `at`, after its row. A trade without a price is not reported. */
  trade(at: Millis, trade: UnreportedTrade): void {
    if (!(trade.price > 0)) return;
    if (this.#past === null) this.#history.trade(at, trade);
    else if (at >= this.#options.from - this.#options.ms) {
      this.#past.push({ ...trade, at: Math.min(trade.tradedAt, at) });
      // One trade more than the maximum of a history shows that older trades were left out.
      if (this.#past.length > 2 * PAST_TRADES_MAX) this.#past = this.#past.slice(-PAST_TRADES_MAX - 1);
    }
  }

  /** Reports the past trades, and the starts and ends of gaps until `at`. Called only from the start of trading on. */
  advanceTo(at: Millis): void {
    if (this.#past !== null) this.#reportPast(this.#past);
    for (; this.dueAt <= at;) {
      const { from, to } = this.#gaps[this.#next]!;
      if (this.#isInGap) {
        this.#history.report({ kind: 'history', at: to, since: to, source: RECORDING, last: null, trades: [] });
        this.#next++;
      } else this.#history.openGap(Math.max(from, this.#options.from));
      this.#isInGap = !this.#isInGap;
    }
  }

  /** Reports the trades from before the start of trading, without those from before the latest gap. */
  #reportPast(past: readonly PastTradeRow[]): void {
    const { from, ms } = this.#options;
    this.#past = null;
    let since = Math.min(from, this.#since);
    for (; (this.#gaps[this.#next]?.to ?? Infinity) <= from; this.#next++)
      since = Math.max(since, this.#gaps[this.#next]!.to);
    const known = pastTradesUpTo(
      { now: from, ms, since },
      past.filter(({ at }) => at >= since),
    );
    this.#history.report({ kind: 'history', at: from, source: RECORDING, last: null, ...known });
  }
}

const RECORDING = 'the recording';

/** Returns the gaps as spans in order of time. Gaps that overlap or touch become one span. */
function separateSpans(gaps: readonly Gap[]): readonly Span[] {
  const spans: { from: Millis; to: Millis }[] = [];
  for (const { from, to } of [...gaps].sort((a, b) => a.from - b.from)) {
    const last = spans.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else if (to > from) spans.push({ from, to });
  }
  return spans;
}
