/** Queue of engine events. A step, including its commands, ends before the next step starts. */
import type { EngineEvent } from '../../core/index.ts';

export type EventSteps = {
  /**
   * Called with each event just before its step. Events that `prepare` adds are processed before this event; `prepare`
   * is not called again for this event.
   */
  readonly prepare: (event: EngineEvent) => void;
  /**
   * Applies the event and executes its commands. Events that `step` adds are processed next, before all waiting events.
   */
  readonly step: (event: EngineEvent) => void;
  /**
   * Called when one call of `put` has processed `EVENTS_MAX` events. Events that `onEndless` adds are processed next.
   * After another `EVENTS_MAX` events, `put` throws.
   */
  readonly onEndless: () => void;
};

/**
 * Number of events in one call of `put` from which the call counts as endless. A step adds at most a few events for
 * each order of the bot.
 */
export const EVENTS_MAX = 10_000;

type Waiting = { readonly event: EngineEvent; readonly isPrepared: boolean };

export class EventQueue {
  readonly #steps: EventSteps;
  /** Waiting events; the next event is at the end of the list. */
  readonly #waiting: Waiting[] = [];
  /** Events that the current call of `prepare`, `step` or `onEndless` has added, in order. */
  #caused: EngineEvent[] = [];
  #isDraining = false;

  constructor(steps: EventSteps) {
    this.#steps = steps;
  }

  /**
   * Processes the event and all events that it causes. An event that is added during a step is processed after the
   * step, but before all other waiting events. Causes therefore precede effects.
   * @throws Error if events still cause others after `onEndless`, or the error of `prepare` or `step`. Waiting events
   * are then dropped.
   */
  readonly put = (event: EngineEvent): void => {
    if (this.#isDraining) this.#caused.push(event);
    else this.#drain(event);
  };

  #drain(first: EngineEvent): void {
    this.#isDraining = true;
    try {
      this.#waiting.push({ event: first, isPrepared: false });
      let count = 0;
      for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
        this.#handle(next);
        if (++count === EVENTS_MAX) {
          this.#steps.onEndless();
          this.#placeCaused();
        }
        if (count >= 2 * EVENTS_MAX) throw new Error(`one event caused more than ${2 * EVENTS_MAX} further events`);
      }
    } finally {
      this.#waiting.length = 0;
      this.#caused = [];
      this.#isDraining = false;
    }
  }

  #handle({ event, isPrepared }: Waiting): void {
    if (!isPrepared) {
      this.#steps.prepare(event);
      if (this.#caused.length > 0) {
        this.#waiting.push({ event, isPrepared: true });
        this.#placeCaused();
        return;
      }
    }
    this.#steps.step(event);
    this.#placeCaused();
  }

  #placeCaused(): void {
    if (this.#caused.length === 0) return;
    for (const event of this.#caused.toReversed()) this.#waiting.push({ event, isPrepared: false });
    this.#caused = [];
  }
}
