/** State that all actors of a simulated run share: time, random draws, the trace, the active faults, and counters. */
import type { Clock, Millis, VirtualClock } from '../../../src/core/index.ts';
import { chanceOf, type Chance } from './chance.ts';
import type { Fault, Swarm } from './faults.ts';
import { isKept, type Keep } from './keep.ts';
import { Marks } from '../judges/sometimes.ts';
import type { Trace } from './trace.ts';

/** One strike of a fault: number of the strike in its class, and number of the event in which it strikes. */
export type Strike = { readonly fault: Fault; readonly index: number; readonly event: number };

/** Machine whose clock differs from the clock of the exchange. */
export type Machine = 'bot' | 'sentinel';

/** Maximum relative error of the speed of a clock. */
const DRIFT_MAX = 0.001;
/** Maximum time since a clock was last set, before the run. */
const UNSET_MAX_MS = 86_400_000;

/** Distance between the seeds of two continuations, so large that they differ from the seeds of a campaign. */
const BRANCH_STEP = 1_000_003;

export class World {
  readonly seed: number;
  readonly clock: VirtualClock;
  readonly trace: Trace;
  readonly marks = new Marks();
  readonly faults = new Map<Fault, number>();
  /** Number of events of the run so far. */
  events = 0;
  /** Sum of the corrections of the wall clocks of the machines, in ms. */
  steps: Millis = 0;
  /** Speed of the clock of each machine, relative to the clock of the exchange. */
  readonly speeds: Readonly<Record<Machine, number>>;
  /** Drift of the clock of each machine before the run, in ms; negative for a slow clock. */
  readonly #before: Readonly<Record<Machine, Millis>>;
  /** Whether something reached the bot since the last reset. If so, promises must settle before time advances. */
  touched = true;
  /** Clock of the bot's machine. Each scheduled call sets `touched`. */
  readonly machineClock: Clock;
  /** Clock of the exchange's machine, in whole milliseconds. */
  readonly venueClock: Clock;
  readonly #swarm: Swarm;
  readonly #keep: Keep | undefined;
  readonly #onStrike: ((strike: Strike) => void) | undefined;
  readonly #chances = new Map<string, Chance>();
  /** Number of strikes per class, including the strikes that are left out. */
  readonly #strikes = new Map<Fault, number>();
  #branch = 0;
  #faulty = true;

  constructor(
    seed: number,
    clock: VirtualClock,
    swarm: Swarm,
    trace: Trace,
    {
      keep,
      onStrike,
    }: { readonly keep?: Keep | undefined; readonly onStrike?: ((strike: Strike) => void) | undefined },
  ) {
    this.#keep = keep;
    this.#onStrike = onStrike;
    this.seed = seed;
    this.clock = clock;
    this.trace = trace;
    this.#swarm = swarm;
    const clocks = chanceOf(seed, 'drifting clocks');
    const drift = swarm.get('drifting clocks') ?? 0;
    const speed = () => 1 + (drift === 0 ? 0 : clocks.between(-DRIFT_MAX, DRIFT_MAX));
    this.speeds = { bot: speed(), sentinel: speed() };
    const unsetMs = clocks.between(0, UNSET_MAX_MS);
    const before = (machine: Machine) => Math.round((this.speeds[machine] - 1) * unsetMs);
    this.#before = { bot: before('bot'), sentinel: before('sentinel') };
    if (drift > 0) this.count('drifting clocks');
    this.venueClock = {
      now: () => Math.floor(clock.now()),
      elapsed: () => clock.elapsed(),
      after: (ms, call) => clock.after(ms, call),
    };
    this.machineClock = {
      now: () => Math.floor(clock.now()),
      elapsed: () => clock.elapsed(),
      after: (ms, call) =>
        clock.after(ms, () => {
          this.touched = true;
          call();
        }),
    };
  }

  /** Returns the time by which the wall clock of a machine is ahead of the exchange's clock, in whole milliseconds. */
  skewOf(machine: Machine): Millis {
    const drift = (this.speeds[machine] - 1) * this.clock.elapsed();
    return this.steps + this.#before[machine] + Math.floor(drift);
  }

  chance(name: string): Chance {
    let chance = this.#chances.get(name);
    if (!chance) this.#chances.set(name, (chance = chanceOf(this.seed + this.#branch, name)));
    return chance;
  }

  /** Returns the intensity of a class; 0 if the class or all faults are off. */
  intensity(fault: Fault): number {
    return this.#faulty ? (this.#swarm.get(fault) ?? 0) : 0;
  }

  get classes(): readonly Fault[] {
    return [...this.#swarm.keys()];
  }

  /** Returns the intensity of a class as drawn from the seed, even after faults have ended. */
  drawn(fault: Fault): number {
    return this.#swarm.get(fault) ?? 0;
  }

  /** Whether a fault of the class happens now. `most` is its probability at full intensity. */
  strikes(fault: Fault, most: number): boolean {
    if (!this.#hits(fault, most) || !this.#isKept(fault)) return false;
    this.count(fault);
    return true;
  }

  /**
   * Like `strikes`, for a fault with random values: returns the value of `draw`, or `null` without a strike. A strike
   * that is left out also calls `draw`.
   */
  struck<T>(fault: Fault, most: number, draw: () => T): T | null {
    if (!this.#hits(fault, most)) return null;
    const drawn = draw();
    if (!this.#isKept(fault)) return null;
    this.count(fault);
    return drawn;
  }

  #hits(fault: Fault, most: number): boolean {
    const intensity = this.intensity(fault);
    return intensity !== 0 && this.chance(fault).hit(intensity * most);
  }

  /** Counts the strike. Returns false if the strike is left out. */
  #isKept(fault: Fault): boolean {
    const index = this.#strikes.get(fault) ?? 0;
    this.#strikes.set(fault, index + 1);
    if (!isKept(this.#keep, fault, index)) return false;
    this.#onStrike?.({ fault, index, event: this.events });
    return true;
  }

  /** Runs a fault whose random values are drawn, unless the strike is left out. */
  happens(fault: Fault, what: (() => unknown) | null): void {
    if (what && this.#isKept(fault)) what();
  }

  count(fault: Fault): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  /** Ends all faults. */
  heal(): void {
    this.#faulty = false;
  }

  /** Continues the run with other random streams, as another continuation of the same past. */
  branch(number: number): void {
    this.#branch = number * BRANCH_STEP;
    this.#chances.clear();
  }

  get isFaulty(): boolean {
    return this.#faulty;
  }

  /**
   * Repeats `call` after pauses of about `meanMs`, while faults are active. `call` draws its random values and returns
   * the fault as a function, or `null` if no fault is possible. A strike that is left out draws the same values.
   */
  often(fault: Fault, meanMs: Millis, call: (chance: Chance) => (() => unknown) | null): void {
    const chance = this.chance(`often ${fault}`);
    const intensity = this.intensity(fault);
    if (intensity === 0) return;
    const again = () => {
      this.clock.after((-Math.log(1 - chance.next()) * meanMs) / intensity, () => {
        if (!this.#faulty) return;
        this.happens(fault, call(chance));
        again();
      });
    };
    again();
  }
}
