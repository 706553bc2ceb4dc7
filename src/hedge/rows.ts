/** The hedges of a bot: the one that goes on, and the last ones that are over. Every change is noted in the recording. */
import { textOfMoney } from '../core/index.ts';
import type { HedgeRow, Millis, Money } from '../core/index.ts';
import { isOver, mayMove } from './row.ts';
import type { HedgeRun, HedgesKept } from './setup.ts';

/** Hedges that are kept after their end. */
const ROWS_KEPT = 20;

export class HedgeRows {
  readonly #run: Pick<HedgeRun, 'time' | 'step'>;
  readonly #prefix: string;
  #list: readonly HedgeRow[];
  #counter = 0;

  constructor({ rows, prefix }: Pick<HedgesKept, 'rows' | 'prefix'>, run: Pick<HedgeRun, 'time' | 'step'>) {
    this.#run = run;
    this.#prefix = prefix;
    this.#list = rows;
  }

  /**
   * What had not been accepted by the end of the last run never will be. What was may be on its way from now on, and what waits between its
   * legs does from now on: the clock may have been set since.
   */
  restore(waitMs: Millis): void {
    const now = this.#run.time();
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

  /** A new one; `spent` is what those before it may have cost. */
  begin(amount: Money, spent: Pick<HedgeRow, 'dayCost' | 'flatten'>): void {
    const row: HedgeRow = {
      id: `${this.#prefix}${++this.#counter}`,
      at: this.#run.time(),
      state: 'requested',
      amount: textOfMoney(amount),
      weighed: [],
      offer: null,
      acceptedAt: null,
      conversionId: null,
      why: null,
      ...spent,
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
    this.#run.step({ kind: 'hedge', at: this.#run.time(), row });
  }
}
