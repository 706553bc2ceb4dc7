/** Where a recorder's rows go: held a moment, so that an execution told late stands before the change that it caused, then into the tape. */
import type { BookRules, Clock, Millis } from '../../core/index.ts';
import { KIND } from '../model/tape.ts';
import type { Columns, DataFlaw, Gap } from '../model/tape.ts';

/** What the outlet needs of a writer of tapes. */
export interface RecordSink {
  append(columns: Columns): void;
  gap(gap: Gap): void;
  flaws(entries: readonly DataFlaw[]): void;
  rulesChanged(rules: BookRules, at: Millis): void;
  flush(): void;
}

/** Trades come in frames of their own, up to about this much later than the steps of the book that they caused. */
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
  /** Which step of the book it is of; -1 for trades. */
  readonly step: number;
  /** The trade that it tells of stands before it already. */
  told: boolean;
};

export class ReorderBuffer {
  readonly #sink: RecordSink;
  readonly #clock: Clock;
  #held: Held[] = [];
  /** Orders of which a trade was told before their change. */
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

  /** The rows of the book that follow are of one step. */
  beginStep(): void {
    this.#step++;
  }

  /** Rows of the book, in the order in which they were heard. */
  book(kind: number, side: number, at: Millis, local: Millis, price: number, amount: number, id: number): void {
    const told = kind !== KIND.add && this.#early.delete(id);
    this.#held.push({ kind, side, at, local, price, amount, id, due: this.#due(), step: this.#step, told });
    this.#count(at);
  }

  /**
   * Stands before the step of the book that it made, when the change to the order that rested is here already, behind other trades of
   * that step. Without that order's number it stands before every change that was published at its time or later.
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
    // Trades keep their own order, also where what they changed was lost.
    const place = Math.max(wanted, this.#held.findLastIndex(({ kind }) => kind === KIND.trade) + 1);
    const trade = { kind: KIND.trade, side, at, local, price, amount, id, due: this.#due(), step: -1, told: true };
    this.#held.splice(place, 0, trade);
    this.#trades++;
    this.#count(at);
  }

  /** All rows until now are before it. */
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

  /** Makes everything durable that has been held long enough; everything, with `all`. Throws when the disk does not take it. */
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
      // A change that never comes would be waited for until the next gap.
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

  /** Rows are released in their order: one that may wait longer holds back those behind it. */
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
