/**
 * Buffer between a recorder and its tape. Rows wait briefly, so that an execution that arrives late still precedes the
 * book change that it caused.
 */
import type { BookRules, Clock, Millis } from '../../core/index.ts';
import { KIND, type Columns, type DataFlaw, type Gap } from '../model/tape.ts';

/** Methods of a tape writer that the buffer uses. */
export interface RecordSink {
  append(columns: Columns): void;
  gap(gap: Gap): void;
  flaws(entries: readonly DataFlaw[]): void;
  rulesChanged(rules: BookRules, at: Millis): void;
  flush(): void;
}

/**
 * Waiting time of rows in ms. Trades arrive in separate frames, up to about this time after the book steps that they
 * caused.
 */
const HOLD_MS = 250;
const EARLY_MAX = 4_096;

type Held = {
  readonly kind: number;
  readonly side: number;
  readonly at: Millis;
  readonly local: Millis;
  readonly price: number;
  readonly amount: number;
  readonly id: number;
  readonly due: Millis;
  /** Number of the book step; -1 for trades. */
  readonly step: number;
  /** Whether the trade that caused this change already precedes it. */
  told: boolean;
};

export class ReorderBuffer {
  readonly #sink: RecordSink;
  readonly #clock: Clock;
  #held: Held[] = [];
  /** Numbers of orders whose trade arrived before their change. */
  readonly #early = new Set<number>();
  #step = 0;
  #rows = 0;
  #trades = 0;
  #gaps = 0;
  #gapMs = 0;
  #lastAt: Millis = -Infinity;

  constructor(sink: RecordSink, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  get counts(): { readonly rows: number; readonly trades: number; readonly gaps: number; readonly gapMs: Millis } {
    return { rows: this.#rows, trades: this.#trades, gaps: this.#gaps, gapMs: this.#gapMs };
  }

  /** Exchange time of the newest row. */
  get lastAt(): Millis {
    return this.#lastAt;
  }

  /** Starts a book step, to which the following book rows belong. */
  beginStep(): void {
    this.#step++;
  }

  /** Adds a row of the book, in order of receipt. */
  book(kind: number, side: number, at: Millis, local: Millis, price: number, amount: number, id: number): void {
    const told = kind !== KIND.add && this.#early.delete(id);
    this.#held.push({ kind, side, at, local, price, amount, id, due: this.#due(), step: this.#step, told });
    this.#count(at);
  }

  /**
   * Adds a trade before the book step that the trade caused, if this step is still buffered, and after other trades of
   * the step. If the maker's order number is unknown, adds the trade before every change published at the time of the
   * trade or later.
   */
  trade(
    side: number,
    at: Millis,
    local: Millis,
    price: number,
    amount: number,
    id: number,
    maker: number | null,
  ): void {
    const wanted = maker === null ? this.#placeOf(at) : this.#placeBefore(maker);
    // Trades keep their order, even if their changes were lost.
    const place = Math.max(wanted, this.#held.findLastIndex(({ kind }) => kind === KIND.trade) + 1);
    const trade = { kind: KIND.trade, side, at, local, price, amount, id, due: this.#due(), step: -1, told: true };
    this.#held.splice(place, 0, trade);
    this.#trades++;
    this.#count(at);
  }

  /** Adds a gap; all rows so far precede the gap. */
  gap(gap: Gap): void {
    if (!(gap.to > gap.from)) return;
    this.#release(Infinity);
    this.#early.clear();
    this.#sink.gap(gap);
    this.#gaps++;
    this.#gapMs += gap.to - gap.from;
  }

  flaw(entry: DataFlaw): void {
    this.#sink.flaws([entry]);
  }

  rules(rules: BookRules, at: Millis): void {
    this.#release(Infinity);
    this.#sink.rulesChanged(rules, at);
  }

  /** Makes all rows durable that have waited long enough; with `all`, every row. Throws if the write to disk fails. */
  flush(all = false): void {
    this.#release(all ? Infinity : this.#clock.elapsed());
    this.#sink.flush();
  }

  #placeOf(at: Millis): number {
    let place = this.#held.length;
    while (place > 0 && this.#held[place - 1]!.at >= at) place--;
    return place;
  }

  #placeBefore(maker: number): number {
    const place = this.#held.findIndex(
      ({ kind, id, told }) => id === maker && !told && (kind === KIND.change || kind === KIND.remove),
    );
    const change = this.#held[place];
    if (!change) {
      // A full set is cleared, because some changes may never arrive.
      if (this.#early.size >= EARLY_MAX) this.#early.clear();
      this.#early.add(maker);
      return this.#held.length;
    }
    change.told = true;
    return this.#held.findIndex(({ step }) => step === change.step);
  }

  #due(): Millis {
    return this.#clock.elapsed() + HOLD_MS;
  }

  #count(at: Millis): void {
    this.#rows++;
    if (at > this.#lastAt) this.#lastAt = at;
  }

  /** Releases rows in order. A row that must still wait also delays the rows after it. */
  #release(now: Millis): void {
    let length = 0;
    while (length < this.#held.length && this.#held[length]!.due <= now) length++;
    if (length === 0) return;
    const rows = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    const numbers = (pick: (row: Held) => number): Float64Array => Float64Array.from(rows, pick);
    this.#sink.append({
      length,
      kind: Uint8Array.from(rows, row => row.kind),
      side: Uint8Array.from(rows, row => row.side),
      at: numbers(row => row.at),
      local: numbers(row => row.local),
      price: numbers(row => row.price),
      amount: numbers(row => row.amount),
      id: numbers(row => row.id),
    });
  }
}
