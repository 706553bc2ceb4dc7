/** The run that goes on, followed in its recording while the bot writes it: the console reads files, and the bot knows nothing of it. */
import { existsSync } from 'node:fs';
import type { Clock, Millis, Timer } from '../../core/index.ts';
import type { ConsoleView } from '../../console/index.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { RunReplay } from './runReplay.ts';

/** How often the recording is looked at, ms of the wall; the bot writes it once a second. */
const LOOK_EVERY_MS = 500;
/** How long this process may stand still for a replay at a time. */
const SLICE_MS = 25;

export class LiveRun {
  readonly #dir: string;
  readonly #clock: Clock;
  #replay: RunReplay | null = null;
  /** The next run, until its book's rules are there. */
  #next: RunReplay | null = null;
  #runs: ConsoleView['runs'] = [];
  #timer: Timer | null = null;
  #isBehind = true;
  #seenAt = -1;
  #grewAt: Millis | null = null;
  /** Why the directory could not be read at the last look. */
  trouble: string | null = null;

  constructor(dir: string, clock: Clock) {
    this.#dir = dir;
    this.#clock = clock;
  }

  /** Null while there is none. */
  get replay(): RunReplay | null {
    return this.#replay;
  }

  get runs(): ConsoleView['runs'] {
    return this.#runs;
  }

  /** From 0 to 1; null when it is at the end. */
  get catchingUp(): number | null {
    return this.#isBehind && this.#replay !== null ? this.#replay.share : null;
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
    this.#replay?.close();
    this.#next?.close();
  }

  /** True while there is more to take at once. */
  #look(): boolean {
    const began = this.#clock.elapsed();
    const isOver = () => this.#clock.elapsed() - began > SLICE_MS;
    try {
      if (!this.#isBehind || this.#replay === null) this.#lookForRuns();
      if (this.#next !== null) {
        this.#next.advance(isOver);
        this.trouble = this.#next.ended?.difference ?? null;
        if (this.#next.now !== null) {
          this.#replay?.close();
          [this.#replay, this.#next] = [this.#next, null];
        }
      }
      this.#isBehind = this.#replay?.advance(isOver) === 'more';
      const seenAt = this.#replay?.now?.seen.at ?? -1;
      if (seenAt !== this.#seenAt) [this.#seenAt, this.#grewAt] = [seenAt, this.#clock.elapsed()];
      if (this.#next === null) this.trouble = null;
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
    const last = this.#runs.at(-1)?.run;
    if (last === undefined || last === this.#replay?.run || last === this.#next?.run) return;
    this.#next?.close();
    this.#next = new RunReplay(this.#dir, last);
  }
}
