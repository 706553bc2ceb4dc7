/**
 * Synchronization of halt, reduce-only and pause between the latch and the engine: at the start, before orders, and
 * periodically.
 */
import type { Engine } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import { applyPendingHalt, watchHalt } from './haltWatch.ts';
import type { Halt, Latch } from './latch.ts';
import { watchPause } from './pauseWatch.ts';
import { applyPendingReduce, watchReduce } from './reduceWatch.ts';

export class LatchWatch {
  readonly #run: RunContext;
  readonly #engine: Engine;
  readonly #latch: Latch;

  constructor(run: RunContext, engine: Engine, latch: Latch) {
    this.#run = run;
    this.#engine = engine;
    this.#latch = latch;
  }

  /** Applies, before the first decision, a resume, reduce-only and a pause from before the run. */
  begin(): void {
    const { step, time } = this.#run;
    applyPendingReduce(this.#latch, time(), step);
    this.#watchPause();
  }

  /**
   * Applies the latch before orders are sent, so that a halt by another process is reported before the orders that it
   * blocks. Returns the halt, or `null`.
   */
  beforePlacing(): Halt | null {
    const { step, time } = this.#run;
    this.#spread();
    const halt = applyPendingHalt(this.#engine, this.#latch, time(), step);
    this.#watchPause();
    return halt;
  }

  /**
   * Applies changes of the latch; call periodically. `isBroken` means that the engine has failed; then only a new
   * process can end the halt.
   */
  look(isBroken: boolean): void {
    const { step, time } = this.#run;
    const engine = this.#engine;
    // A resume is applied before the states that are set now, because they are later than the resume. The resume may
    // end no state of this engine; its marker is removed nevertheless, so that it does not end a later state.
    const isResumed = !isBroken && this.#latch.takeLifted();
    if (isResumed && (engine.haltedBecause ?? engine.reducingBecause) !== null) step({ kind: 'resume', at: time() });
    watchHalt(engine, this.#latch, time(), isBroken, step);
    watchReduce(engine, this.#latch, time(), step);
    this.#spread();
    this.#watchPause();
  }

  /**
   * Applies a halt or reduce-only of one of several books to the other books, because the latch is of the account. A
   * state that is not latched is not applied: a resume that ends it waits, and would otherwise be undone.
   */
  #spread(): void {
    const { step, time } = this.#run;
    const { books, haltedBecause: halt, reducingBecause: reduce } = this.#engine;
    if (books.length === 1 || (halt === null && reduce === null) || this.#latch.isLifting()) return;
    if (halt !== null && this.#latch.read() !== null && books.some(book => book.haltedBecause === null))
      step({ kind: 'halt', at: time(), reason: halt });
    if (reduce !== null && this.#latch.readReduce() !== null && books.some(book => book.reducingBecause === null))
      step({ kind: 'reduce', at: time(), reason: reduce });
  }

  #watchPause(): void {
    const { log, step, time } = this.#run;
    watchPause(this.#engine, this.#latch, time(), step, log);
  }
}
