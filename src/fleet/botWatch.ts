/**
 * Watch of one bot: requests summaries from its console periodically, and keeps the last one with its age. The pause
 * between requests grows while the console is silent.
 */
import type { Clock, Millis, Timer } from '../core/index.ts';
import type { BotSummary } from '../console/index.ts';
import { ANSWER_WITHIN_MS, type ConsoleAnswer } from './consoleClient.ts';

/** Time between the starts of two requests, in ms. A console makes a new summary every second. */
export const ASK_EVERY_MS = 500;
/** Maximum pause before a silent console is asked again, in ms, unless the console requests a longer one. */
const SILENT_PAUSE_MAX_MS = 15_000;
/**
 * Pause after a rejected token, in ms. After five different wrong tokens in a minute, a console rejects every token
 * from this address, also those of operators.
 */
export const DENIED_PAUSE_MS = 60_000;
/** Time without a new summary after which the answers count as old, in ms. */
export const STANDSTILL_MS = 5_000;

/** State of a bot's console, as this process sees it. */
export type HeardState = {
  /**
   * `heard`: the last request succeeded. `silent`: the last request failed, or the summary has not changed for
   * `STANDSTILL_MS`. `waiting`: no request has ended.
   */
  readonly state: 'waiting' | 'heard' | 'silent';
  readonly summary: BotSummary | null;
  /** Time since the last new summary, in ms; since the start of the watch if there was none. */
  readonly heardAgoMs: Millis;
  /** Reason why the console is silent; `null` if it is not silent. */
  readonly problem: string | null;
};

/** Console that is asked for summaries. */
export type AskedConsole = { ask(): Promise<ConsoleAnswer>; close(): Promise<void> };

export class BotWatch {
  readonly name: string;
  readonly #console: AskedConsole;
  readonly #clock: Clock;
  readonly #changed: () => void;
  #summary: BotSummary | null = null;
  #heardAt: Millis;
  #problem: string | null = null;
  #hasEnded = false;
  #failures = 0;
  #timer: Timer | null = null;
  #isClosed = false;

  /** `changed` is called after each request. */
  constructor(name: string, asked: AskedConsole, clock: Clock, changed: () => void) {
    this.name = name;
    this.#console = asked;
    this.#clock = clock;
    this.#changed = changed;
    this.#heardAt = clock.elapsed();
  }

  get heard(): HeardState {
    const state = !this.#hasEnded ? 'waiting' : this.#problem === null ? 'heard' : 'silent';
    const heardAgoMs = Math.max(0, Math.round(this.#clock.elapsed() - this.#heardAt));
    return { state, summary: this.#summary, heardAgoMs, problem: this.#problem };
  }

  /** Asks once. Never rejects. Returns the time after which to ask again, in ms from the start of this request. */
  async askOnce(): Promise<Millis> {
    const answer = await this.#console.ask();
    this.#hasEnded = true;
    const pause = answer.kind === 'summary' ? this.#take(answer.summary) : this.#fail(answer);
    this.#changed();
    return pause;
  }

  /** Starts to ask periodically. `firstMs`: time until the first request. */
  start(firstMs: Millis = 0): void {
    this.#timer = this.#clock.after(firstMs, () => void this.#turn());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.stop();
    await this.#console.close();
  }

  async #turn(): Promise<void> {
    const began = this.#clock.elapsed();
    const pause = await this.askOnce();
    if (this.#isClosed) return;
    this.start(Math.max(0, pause - (this.#clock.elapsed() - began)));
  }

  #take(summary: BotSummary): Millis {
    const isNew = summary.madeAt !== this.#summary?.madeAt;
    // A proxy that caches, or a console that hangs, can answer with an old summary.
    if (isNew) this.#heardAt = this.#clock.elapsed();
    const isOld = this.#clock.elapsed() - this.#heardAt > STANDSTILL_MS;
    this.#problem = isOld
      ? 'the console answers, but always with the same summary; check for a proxy that caches, or restart the console'
      : null;
    this.#summary = summary;
    this.#failures = 0;
    return ASK_EVERY_MS;
  }

  #fail({ problem, isDenied, retryAfterMs }: Extract<ConsoleAnswer, { kind: 'problem' }>): Millis {
    this.#problem = problem;
    this.#failures++;
    if (isDenied) return DENIED_PAUSE_MS;
    // After a restart, a console is back within seconds, so the first pauses are short.
    const pause = Math.min(SILENT_PAUSE_MAX_MS, ASK_EVERY_MS * 2 ** Math.min(10, this.#failures));
    return Math.max(pause, retryAfterMs ?? 0, ANSWER_WITHIN_MS / 2);
  }
}
