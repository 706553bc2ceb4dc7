/** The hedges of a bot: the one that goes on, and the last ones that are over. Every change is noted in the recording. */
import { textOfMoney } from '../core/index.ts';
import type { EngineEvent, HedgeRow, Millis, Money } from '../core/index.ts';
import { isOver, mayMove } from './row.ts';

/** Hedges that are kept after their end. */
const ROWS_KEPT = 20;

export type RowsOptions = {
  /** Begins the ids of hedges of this run. */
  readonly prefix: string;
  /** What the last run left. */
  readonly rows: readonly HedgeRow[];
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
};

export class HedgeRows {
  readonly #o: RowsOptions;
  #list: readonly HedgeRow[];
  #counter = 0;

  constructor(options: RowsOptions) {
    this.#o = options;
    this.#list = options.rows;
  }

  /**
   * What had not been accepted by the end of the last run never will be. What was may be on its way from now on, and what waits between its
   * legs does from now on: the clock may have been set since.
   */
  restore(waitMs: Millis): void {
    const now = this.#o.time();
    this.#list = this.#list.map(row => {
      if (isOver(row)) return row;
      if (mayMove(row)) return { ...row, acceptedAt: now };
      if (row.state === 'between' && row.route) return { ...row, route: { ...row.route, until: now + waitMs } };
      return { ...row, state: 'failed', why: 'the run ended' };
    });
  }

  /** Oldest first; the last one may go on. */
  get list(): readonly HedgeRow[] {
    return this.#list;
  }

  /** The one that may be carried out at any moment, or waits between its legs. */
  get open(): HedgeRow | undefined {
    return this.#list.find(row => mayMove(row) || row.state === 'between');
  }

  get isMoving(): boolean {
    return this.#list.some(mayMove);
  }

  /** A new one; `dayCost` is what those before it may have cost on its UTC day. */
  begin(amount: Money, dayCost: Money): void {
    const row: HedgeRow = {
      id: `${this.#o.prefix}${++this.#counter}`,
      at: this.#o.time(),
      state: 'requested',
      amount: textOfMoney(amount),
      weighed: [],
      offer: null,
      acceptedAt: null,
      conversionId: null,
      why: null,
      dayCost: textOfMoney(dayCost),
    };
    this.#list = [...this.#list.filter(isOver).slice(-ROWS_KEPT), row];
    this.#note(row);
  }

  /** Of the one that is not over: the last. */
  change(to: Partial<HedgeRow>): HedgeRow {
    const row = this.#list.findLast(each => !isOver(each));
    if (!row) throw new Error('a hedge that is over cannot change');
    const changed = { ...row, ...to };
    this.#list = this.#list.map(each => (each === row ? changed : each));
    this.#note(changed);
    return changed;
  }

  #note(row: HedgeRow): void {
    this.#o.step({ kind: 'hedge', at: this.#o.time(), row });
  }
}
