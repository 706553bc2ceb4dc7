/**
 * One life of the bot's process: it can be frozen or killed at any moment, and nothing of a dead one has any further
 * effect.
 */
import type { Clock, Millis, Timer } from '../../../src/core/index.ts';

/**
 * Thrown into code of a process that has just died, so that it does not go on; what catches it runs on in a world of
 * its own.
 */
export class Dead extends Error {}

/** Clock error of a machine: offset of its wall clock from the exchange's clock, and relative speed of its timers. */
export type MachineTime = { readonly skew: () => Millis; readonly speed: number };

/** Kinds of calls that reach a process from outside. A process that wakes sees its timers first, as Node does. */
type Call = { readonly kind: 'timer' | 'message'; readonly run: () => void };

export class Life {
  readonly number: number;
  /** The process's view of time: its wall clock may be wrong. */
  readonly clock: Clock;
  readonly #world: Clock;
  readonly #speed: number;
  readonly #onDeath: (why: string) => void;
  #alive = true;
  #frozenUntil: Millis = -Infinity;
  #waiting: Call[] = [];
  #fatalStep = 0;

  constructor(number: number, world: Clock, { skew, speed }: MachineTime, onDeath: (why: string) => void) {
    this.number = number;
    this.#world = world;
    this.#speed = speed;
    this.#onDeath = onDeath;
    this.clock = {
      now: () => world.now() + skew(),
      elapsed: () => world.elapsed() * speed,
      after: (ms, call) => this.#after(ms, call),
    };
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  get isFrozen(): boolean {
    return this.#world.elapsed() < this.#frozenUntil;
  }

  kill(why: string): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#waiting = [];
    this.#onDeath(why);
  }

  /** As SIGSTOP and, after `ms`, SIGCONT. */
  freeze(ms: Millis): void {
    if (!this.#alive || this.isFrozen) return;
    this.#frozenUntil = this.#world.elapsed() + ms;
    this.#world.after(ms, () => this.#wake());
  }

  /** Dies at the `n`th step from now. */
  dieAtStep(n: number): void {
    this.#fatalStep = n;
  }

  /** A point in the process's own code at which it may die: before and after everything that the outside can see. */
  step(where: string): void {
    if (!this.#alive) throw new Dead(where);
    if (this.#fatalStep > 0 && --this.#fatalStep === 0) {
      this.kill(`died at ${where}`);
      throw new Dead(where);
    }
  }

  /** Something from outside reaches the process, unless it is dead; a frozen one finds it when it wakes. */
  receive(run: () => void): void {
    this.#enter({ kind: 'message', run });
  }

  #after(ms: Millis, call: () => void): Timer {
    let set = true;
    const run = () => {
      if (set) call();
    };
    const timer = this.#world.after(ms / this.#speed, () => this.#enter({ kind: 'timer', run }));
    return {
      stop: () => {
        set = false;
        timer.stop();
      },
    };
  }

  #enter(call: Call): void {
    if (!this.#alive) return;
    if (this.isFrozen || this.#waiting.length > 0) this.#waiting.push(call);
    else call.run();
  }

  /** Each call is an event of its own, as promises settle between two callbacks of Node. */
  #wake(): void {
    const calls = this.#waiting;
    this.#waiting = [];
    const order = [...calls.filter(call => call.kind === 'timer'), ...calls.filter(call => call.kind === 'message')];
    for (const call of order) this.#world.after(0, () => this.#enter(call));
  }
}
