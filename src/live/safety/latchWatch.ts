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
    const halt = applyPendingHalt(this.#engine.book, this.#latch, time(), step);
    this.#watchPause();
    return halt;
  }

  /**
   * Applies changes of the latch; call periodically. `isBroken` means that the engine has failed; then only a new
   * process can end the halt.
   */
  look(isBroken: boolean): void {
    const { step, time } = this.#run;
    const { book } = this.#engine;
    // A resume is applied before the states that are set now, because they are later than the resume. The resume may
    // end no state of this engine; its marker is removed nevertheless, so that it does not end a later state.
    const isResumed = !isBroken && this.#latch.takeLifted();
    if (isResumed && (book.haltedBecause ?? book.reducingBecause) !== null) step({ kind: 'resume', at: time() });
    watchHalt(book, this.#latch, time(), isBroken, step);
    watchReduce(book, this.#latch, time(), step);
    this.#watchPause();
  }

  #watchPause(): void {
    const { log, step, time } = this.#run;
    watchPause(this.#engine.book, this.#latch, time(), step, log);
  }
}
