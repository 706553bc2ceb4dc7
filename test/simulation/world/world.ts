/** What all actors of one simulated run share: time, dice, the trace, the faults that are on, and the counters. */
import type { Clock, Millis, VirtualClock } from '../../../src/core/index.ts';
import { chanceOf, type Chance } from './chance.ts';
import type { Fault, Swarm } from './faults.ts';
import { Marks } from '../judges/sometimes.ts';
import type { Trace } from './trace.ts';

export class World {
  readonly seed: number;
  readonly clock: VirtualClock;
  readonly trace: Trace;
  readonly marks = new Marks();
  readonly faults = new Map<Fault, number>();
  /** The wall clock of the bot's machine is this far from the exchange's. */
  skew: Millis = 0;
  /** Something reached the bot since this was last put back: promises must settle before time goes on. */
  touched = true;
  /** The world's clock as the bot's machine has it: whatever it calls reaches the bot. */
  readonly machineClock: Clock;
  /** The exchange's: clocks of machines show whole milliseconds. */
  readonly venueClock: Clock;
  readonly #swarm: Swarm;
  readonly #chances = new Map<string, Chance>();
  #faulty = true;

  constructor(seed: number, clock: VirtualClock, swarm: Swarm, trace: Trace) {
    this.seed = seed;
    this.clock = clock;
    this.trace = trace;
    this.#swarm = swarm;
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

  chance(name: string): Chance {
    let chance = this.#chances.get(name);
    if (!chance) this.#chances.set(name, (chance = chanceOf(this.seed, name)));
    return chance;
  }

  /** Intensity of a class, 0 while it is off. */
  intensity(fault: Fault): number {
    return this.#faulty ? (this.#swarm.get(fault) ?? 0) : 0;
  }

  /** What this seed drew, whether faults go on or not. */
  drawn(fault: Fault): number {
    return this.#swarm.get(fault) ?? 0;
  }

  /** True when a fault of the class happens now; `most` is its probability at full intensity. */
  strikes(fault: Fault, most: number): boolean {
    const intensity = this.intensity(fault);
    if (intensity === 0 || !this.chance(fault).hit(intensity * most)) return false;
    this.count(fault);
    return true;
  }

  count(fault: Fault): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  /** From here on nothing goes wrong any more. */
  heal(): void {
    this.#faulty = false;
  }

  get isFaulty(): boolean {
    return this.#faulty;
  }

  /** Calls again and again after pauses around `meanMs`, while faults go on. */
  often(fault: Fault, meanMs: Millis, call: (chance: Chance, intensity: number) => unknown): void {
    const chance = this.chance(`often ${fault}`);
    const intensity = this.intensity(fault);
    if (intensity === 0) return;
    const again = () => {
      this.clock.after((-Math.log(1 - chance.next()) * meanMs) / intensity, () => {
        if (!this.#faulty) return;
        call(chance, intensity);
        again();
      });
    };
    again();
  }
}
