/**
 * Current run of the bot, read from its recording while the bot writes it. The console only reads files, so the bot is
 * not affected.
 */
import { existsSync } from 'node:fs';
import { textOfError, type Clock, type Millis, type Timer } from '../../core/index.ts';
import type { ConsoleView, ShownChange } from '../../console/index.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { RecordedChanges } from './history/configHistory.ts';
import { chainOf, RunChain } from './runChain.ts';
import type { RunReplay } from './runReplay.ts';

/** Interval between reads of the recording, in ms of real time. The bot writes its recording once per second. */
const LOOK_EVERY_MS = 500;
/** Maximum time for which one slice of a replay may block this process, in ms. */
const SLICE_MS = 25;

export class LiveRun {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #chain: RunChain;
  readonly #changes = new RecordedChanges();
  #runs: ConsoleView['runs'] = [];
  #timer: Timer | null = null;
  #isBehind = true;
  #seenAt = -1;
  #grewAt: Millis | null = null;
  /** Error of the last read of the directory; `null` if the read succeeded. */
  trouble: string | null = null;

  constructor(dir: string, clock: Clock) {
    this.#dir = dir;
    this.#chain = new RunChain(dir);
    this.#clock = clock;
  }

  /** Returns the replay of the current run; `null` if there is no run yet. */
  get replay(): RunReplay | null {
    return this.#chain.replay;
  }

  get runs(): ConsoleView['runs'] {
    return this.#runs;
  }

  /**
   * Returns the changes of the configuration between the recorded runs, oldest first: those of a book, without a symbol
   * of the first.
   */
  changesOf(symbol?: string): readonly ShownChange[] {
    return this.#changes.of(symbol);
  }

  /** Returns the progress of the replay from 0 to 1; `null` once the replay has caught up with the recording. */
  get catchingUp(): number | null {
    return this.#isBehind && this.replay !== null ? this.#chain.share : null;
  }

  /** Whether the replay has read the whole recording, and the last read had no error. */
  get isCaughtUp(): boolean {
    return !this.#isBehind && this.trouble === null && (this.replay?.now ?? null) !== null;
  }

  /** Returns the time since the recording last grew, in ms; `null` before the first growth. */
  get writtenAgoMs(): Millis | null {
    return this.#grewAt === null ? null : Math.round(this.#clock.elapsed() - this.#grewAt);
  }

  /** Starts periodic reads of the recording. */
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

  /** Reads a slice of the recording. Returns whether the recording has more lines that can be read immediately. */
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
      this.trouble = textOfError(error);
    }
    return this.#isBehind;
  }

  #lookForRuns(): void {
    const found = existsSync(this.#dir) ? recordingsIn(this.#dir) : [];
    const known = new Map(this.#runs.map(one => [one.run, one]));
    this.#runs = found.flatMap(({ run }) => {
      const one = known.get(run);
      if (one) return [one];
      // `recordedRunOf` returns `null` while the first piece of the recording is incomplete.
      const of = recordedRunOf(this.#dir, run);
      if (of === null) return [];
      this.#changes.add(of);
      return [{ run, from: of.startedAt }];
    });
  }
}
