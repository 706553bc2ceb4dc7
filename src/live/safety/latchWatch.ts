/** All that is carried between the state directory's latch and the engine, at the three moments when it is: halt, reduce and pause. */
import type { Engine } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import { takeUpHalt, watchHalt } from './haltWatch.ts';
import type { Halt, Latch } from './latch.ts';
import { watchPause } from './pauseWatch.ts';
import { takeUpReduce, watchReduce } from './reduceWatch.ts';

export class LatchWatch {
  readonly #run: RunContext;
  readonly #engine: Engine;
  readonly #latch: Latch;

  constructor(run: RunContext, engine: Engine, latch: Latch) {
    this.#run = run;
    this.#engine = engine;
    this.#latch = latch;
  }

  /** Before anything is decided. */
  begin(): void {
    const { step, time } = this.#run;
    takeUpReduce(this.#latch, time(), step);
    this.#watchPause();
  }

  /** Before orders leave: what another process latched is told before what it keeps back. The halt, or null. */
  beforePlacing(): Halt | null {
    const { step, time } = this.#run;
    const halt = takeUpHalt(this.#engine, this.#latch, time(), step);
    this.#watchPause();
    return halt;
  }

  /** Every now and then. Nothing lifts the halt of an engine that is `broken`, but a new process. */
  look(isBroken: boolean): void {
    const { step, time } = this.#run;
    watchHalt(this.#engine, this.#latch, time(), isBroken, step);
    watchReduce(this.#engine, this.#latch, time(), step);
    this.#watchPause();
  }

  #watchPause(): void {
    const { log, step, time } = this.#run;
    watchPause(this.#engine, this.#latch, time(), step, log);
  }
}
