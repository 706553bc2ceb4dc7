/**
 * Hedges of a bot: the active hedge, and hedges that ended recently. Every change of a hedge becomes an event of the
 * recording.
 */
import { textOfMoney, type HedgeRow, type Millis, type Money } from '../core/index.ts';
import { isOver, mayStillExecute } from './hedgeText.ts';
import { reconciledElsewhere, type EarlierHedges } from './roomAndBudget.ts';
import type { HedgeRun, RestoredHedges } from './setup.ts';

/** Maximum number of stored hedges that have ended: of those that were sent, and of those that were not. */
const ROWS_KEPT = 20;

/**
 * Returns the hedges that have ended and are kept. Hedges that were never sent do not displace sent ones: while the disk
 * is full none is sent, so the end of a sent hedge remains until it can be stored.
 */
function keptRows(rows: readonly HedgeRow[]): readonly HedgeRow[] {
  const ended = rows.filter(isOver);
  const isSent = ({ acceptedAt }: HedgeRow): boolean => acceptedAt !== null;
  const kept = new Set([
    ...ended.filter(isSent).slice(-ROWS_KEPT),
    ...ended.filter(row => !isSent(row)).slice(-ROWS_KEPT),
  ]);
  return ended.filter(row => kept.has(row));
}

export class HedgeHistory {
  readonly #run: Pick<HedgeRun, 'time' | 'step'>;
  readonly #prefix: string;
  #list: readonly HedgeRow[];
  #counter = 0;

  constructor({ rows, prefix }: Pick<RestoredHedges, 'rows' | 'prefix'>, run: Pick<HedgeRun, 'time' | 'step'>) {
    this.#run = run;
    this.#prefix = prefix;
    this.#list = rows;
  }

  /**
   * Restores the hedges of the last run. A hedge whose offer was not accepted becomes failed. The waiting time of
   * accepted hedges and of hedges between legs restarts, because the clock may have changed.
   */
  restore(waitMs: Millis): void {
    const now = this.#run.time();
    this.#list = this.#list.map(row => {
      if (isOver(row)) return row;
      if (mayStillExecute(row)) return { ...row, acceptedAt: now };
      if (row.state === 'between' && row.route) return { ...row, route: { ...row.route, until: now + waitMs } };
      return { ...row, state: 'failed', why: 'the run ended' };
    });
  }

  /** Hedges, oldest first; the last may be active. */
  get list(): readonly HedgeRow[] {
    return this.#list;
  }

  /** Hedge that may still execute, or waits between its legs. */
  get open(): HedgeRow | undefined {
    return this.#list.find(row => mayStillExecute(row) || row.state === 'between');
  }

  get isMoving(): boolean {
    return this.#list.some(mayStillExecute);
  }

  /** Adds a hedge. `known` holds the computed band, and costs and counts of earlier hedges, which count against limits. */
  begin(amount: Money, known: EarlierHedges & Pick<HedgeRow, 'band'>): void {
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
      ...known,
    };
    this.#list = [...keptRows(this.#list), row];
    this.#note(row);
  }

  /** Changes the last hedge, which must not have ended. */
  change(to: Partial<HedgeRow>): HedgeRow {
    const row = this.#list.findLast(each => !isOver(each));
    if (!row) throw new Error('a hedge that has ended cannot be changed');
    const changed = { ...row, ...to };
    this.#list = this.#list.map(each => (each === row ? changed : each));
    this.#note(changed);
    return changed;
  }

  /**
   * Applies a comparison of the balances at the other exchange `place` with the ledger. It is the first one for the
   * hedges that have executed there since the last comparison: they count if it agrees, and never if it does not. The
   * comparison is no event of a hedge, because an event would end the hedge again.
   */
  compared(place: string, agrees: boolean): void {
    const isWaiting = ({ elsewhere, reconciled }: HedgeRow) => reconciled === null && elsewhere?.place === place;
    const waiting = this.#list.filter(isWaiting).length;
    if (waiting === 0) return;
    const count = reconciledElsewhere(this.#list, place) + waiting;
    const last = this.#list.length - 1;
    this.#list = this.#list.map((row, i) => ({
      ...row,
      ...(isWaiting(row) ? { reconciled: agrees } : {}),
      ...(agrees && i === last ? { placed: { place, count } } : {}),
    }));
  }

  #note(row: HedgeRow): void {
    this.#run.step({ kind: 'hedge', at: this.#run.time(), row });
  }
}
