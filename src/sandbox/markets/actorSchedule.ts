/** Timer of a simulated market: runs the events of its actors in order of time, on a clock that may be late or jump. */
import type { Clock, Millis, Timer } from '../../core/index.ts';

/** Maximum number of events that are run without a return to the clock. */
const EVENTS_AT_ONCE = 5_000;
/**
 * Maximum delay of the earliest event, in ms. After a larger delay, such as a suspension of the machine, the market
 * skips the missed time.
 */
const SKIP_MS = 600_000;

export class ActorSchedule {
  /** Due time of each actor's next event, in seconds since the start. */
  readonly due: number[] = [];
  readonly #act: (actor: number, seconds: number) => void;
  #clock: Clock | undefined;
  #timer: Timer | undefined;
  #stopped = false;
  /** Time of the clock, in elapsed ms, at which the market's own time is 0. */
  #origin: Millis = 0;

  /** `act` runs the event of an actor and must set the due time of the actor's next event. */
  constructor(act: (actor: number, seconds: number) => void) {
    this.#act = act;
  }

  /** Starts the market's time. Must be called once, before the first actor acts. */
  begin(clock: Clock): void {
    this.#clock = clock;
    this.#origin = clock.elapsed();
  }

  /** Starts the timer of the earliest event. */
  sleep(): void {
    const clock = this.#clock!;
    const due = this.#origin + Math.min(...this.due) * 1000;
    this.#timer = clock.after(Math.max(0, due - clock.elapsed()), () => this.#run());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.stop();
  }

  /** Runs all due events in order of time. */
  #run(): void {
    const clock = this.#clock!;
    const late = clock.elapsed() - this.#origin - Math.min(...this.due) * 1000;
    if (late > SKIP_MS) this.#origin += late;
    for (let done = 0; done < EVENTS_AT_ONCE && !this.#stopped; done++) {
      const seconds = Math.min(...this.due);
      if (this.#origin + seconds * 1000 > clock.elapsed()) break;
      this.#act(this.due.indexOf(seconds), seconds);
    }
    if (!this.#stopped) this.sleep();
  }
}
