/** The run that goes on, followed in its recording while the bot writes it: the console reads files, and the bot knows nothing of it. */
import { existsSync } from 'node:fs';
import type { Clock, Millis, Timer } from '../../core/index.ts';
import type { ConsoleView } from '../../console/index.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { chainOf, RunChain } from './runChain.ts';
import type { RunReplay } from './runReplay.ts';

/** How often the recording is looked at, ms of the wall; the bot writes it once a second. */
const LOOK_EVERY_MS = 500;
/** How long this process may stand still for a replay at a time. */
const SLICE_MS = 25;

export class LiveRun {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #chain: RunChain;
  #runs: ConsoleView['runs'] = [];
  #timer: Timer | null = null;
  #isBehind = true;
  #seenAt = -1;
  #grewAt: Millis | null = null;
  /** Why the directory could not be read at the last look. */
  trouble: string | null = null;

  constructor(dir: string, clock: Clock) {
    this.#dir = dir;
    this.#chain = new RunChain(dir);
    this.#clock = clock;
  }

  /** Null while there is none. */
  get replay(): RunReplay | null {
    return this.#chain.replay;
  }

  get runs(): ConsoleView['runs'] {
    return this.#runs;
  }

  /** From 0 to 1; null when it is at the end. */
  get catchingUp(): number | null {
    return this.#isBehind && this.replay !== null ? this.#chain.share : null;
  }

  /** Since there last was more of it; null before. */
  get writtenAgo(): Millis | null {
    return this.#grewAt === null ? null : Math.round(this.#clock.elapsed() - this.#grewAt);
  }

  /** Looks again and again from now on. */
  start(): void {
    const turn = () => {
      const isMore = this.#look();
      this.#timer = this.#clock.after(isMore ? 0 : LOOK_EVERY_MS, turn);
    };
    turn();
  }

  stop(): void {
    this.#timer?.stop();
    this.#chain.close();
  }

  /** True while there is more to take at once. */
  #look(): boolean {
    const began = this.#clock.elapsed();
    const isOver = () => this.#clock.elapsed() - began > SLICE_MS;
    try {
      if (!this.#isBehind || this.replay === null) this.#lookForRuns();
      this.#isBehind = this.#chain.advance(chainOf(this.#runs), isOver) === 'more';
      this.trouble = this.#chain.trouble;
      const seenAt = this.replay?.now?.seen.at ?? -1;
      if (seenAt !== this.#seenAt) [this.#seenAt, this.#grewAt] = [seenAt, this.#clock.elapsed()];
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    }
    return this.#isBehind;
  }

  #lookForRuns(): void {
    const found = existsSync(this.#dir) ? recordingsIn(this.#dir) : [];
    const known = new Map(this.#runs.map(one => [one.run, one]));
    this.#runs = found.flatMap(({ run }) => {
      const one = known.get(run);
      if (one) return [one];
      // Null while its first piece is not whole.
      const of = recordedRunOf(this.#dir, run);
      return of === null ? [] : [{ run, from: of.startedAt }];
    });
  }
}
