/**
 * `puntas shadow`: follows the recordings of a bot while it runs. Reads only the bot's files, and writes only its own.
 * Each run is replayed in slices, so that the process also answers scrapes and signals.
 */
import { existsSync } from 'node:fs';
import { sleep, type Clock, type Instrument, type Millis, textOfError } from '../../../src/core/index.ts';
import type { LevelModelName } from '../../../src/fills/index.ts';
import { recordedRunOf, recordingsIn } from '../../../src/live/recording/recordings.ts';
import type { ShadowAlarm } from '../../shadow/memory.ts';
import { ShadowedRun } from './shadowedRun.ts';
import { newShadow, readShadow, writeShadow, type StoredShadow } from './shadowFile.ts';

/** Pause between two reads of a recording that has no further line, in ms. The bot writes once per second. */
const LOOK_EVERY_MS = 1_000;
/** Maximum time for which one slice may block the process, in ms. */
const SLICE_MS = 25;
/** Number of reported alarms of the current run that are kept. */
const REPORTED_MAX = 1_000;

type ShadowTask = {
  readonly dir: string;
  readonly model: LevelModelName;
  readonly clock: Clock;
  /**
   * Whether to process all recordings from the start, without the file of an earlier shadow, and to end after the last
   * line. Otherwise the task continues from its file, and follows the recordings until `signal` aborts.
   */
  readonly once: boolean;
  readonly signal: AbortSignal;
  /** Receives each alarm once, also across restarts. */
  readonly onAlarm: (alarm: ShadowAlarm) => void;
  /** Receives a problem: a run that is skipped or cut short, or a file that cannot be written. */
  readonly onTrouble: (line: string) => void;
  /** Called after each slice. */
  readonly onSlice?: (now: ShadowNow) => void;
};

/** State of a shadow at one time. */
export type ShadowNow = {
  readonly stored: StoredShadow;
  /** Instrument of the last opened run; `null` before the first. */
  readonly instrument: Instrument | null;
  /** Current run, with the time of its last input; `null` if there is none. */
  readonly run: number | null;
  readonly at: Millis | null;
  /** Whether every recorded line was processed; `false` while the last run is skipped or cut short. */
  readonly isCaughtUp: boolean;
  /** Number of runs with a result. */
  readonly runs: number;
};

/**
 * Follows the recordings. Resolves with the last state. Rejects with `UsageError` if the file of the shadow cannot be
 * used.
 */
export async function shadowRuns(task: ShadowTask): Promise<ShadowNow> {
  const follower = new RecordingsFollower(task);
  try {
    return await follower.follow();
  } finally {
    follower.close();
  }
}

class RecordingsFollower {
  readonly #task: ShadowTask;
  /** State at the start of the current run, as written to the shadow's file. */
  #checkpoint: StoredShadow;
  #stored: StoredShadow;
  #current: ShadowedRun | null = null;
  #instrument: Instrument | null = null;
  #runs = 0;
  /** Whether the last run could not be used. */
  #isLeftOut = false;
  /** Last run whose trouble was reported. */
  #reportedRun: number | null = null;

  constructor(task: ShadowTask) {
    this.#task = task;
    this.#checkpoint = task.once ? newShadow(task.model) : readShadow(task.dir, task.model);
    this.#stored = structuredClone(this.#checkpoint);
  }

  async follow(): Promise<ShadowNow> {
    const { clock, once, signal, onSlice } = this.#task;
    for (;;) {
      const state = this.#turn();
      const now = this.#now(state !== 'more');
      onSlice?.(now);
      if (signal.aborted) return now;
      if (state === 'end' && once) {
        this.#finish();
        return this.#now(true);
      }
      await sleep(clock, state === 'end' ? LOOK_EVERY_MS : 0, signal);
    }
  }

  close(): void {
    this.#current?.close();
  }

  #now(isCaughtUp: boolean): ShadowNow {
    const [current, instrument] = [this.#current, this.#instrument];
    const isWhole = !this.#isLeftOut && (current?.trouble ?? null) === null;
    return {
      ...{
        stored: this.#stored,
        instrument,
        isCaughtUp: isCaughtUp && isWhole,
        run: current?.run ?? null,
        at: current?.at ?? null,
      },
      runs: this.#runs + (current === null ? 0 : 1),
    };
  }

  /**
   * Processes one slice of the current run, or changes to the next run. Returns `end` if no further line is recorded
   * yet.
   */
  #turn(): 'more' | 'end' {
    const { clock } = this.#task;
    const current = this.#current;
    // Looked up before the slice: the bot ends a recording before it starts the next, so if there is a later run, the
    // end of this recording is final.
    const later = this.#nextRun(current?.run ?? this.#stored.memory.nextRun - 1);
    if (current !== null) {
      const began = clock.elapsed();
      const state = current.advance(() => clock.elapsed() - began > SLICE_MS);
      this.#reportTrouble(current);
      if (state === 'more') return 'more';
      if (later === null) return 'end';
      this.#finish();
      return 'more';
    }
    if (later === null) return 'end';
    return this.#open(later) ? 'more' : 'end';
  }

  #nextRun(after: number): number | null {
    const { dir } = this.#task;
    return (existsSync(dir) ? recordingsIn(dir) : []).find(({ run }) => run > after)?.run ?? null;
  }

  /** Opens a run. Returns `false` if the run cannot be used yet. */
  #open(run: number): boolean {
    const { dir, model, onTrouble } = this.#task;
    try {
      if (recordedRunOf(dir, run) !== null) {
        this.#current = ShadowedRun.open({
          dir,
          run,
          model,
          memory: this.#stored.memory,
          onAlarm: alarm => this.#alarm(alarm),
        });
        if (this.#current !== null) {
          this.#instrument = this.#current.instrument;
          this.#isLeftOut = false;
          return true;
        }
      }
      // A run that never read its rules is skipped once there is a later one.
      if (this.#nextRun(run) === null) return false;
    } catch (error) {
      this.#isLeftOut = true;
      onTrouble(`run ${run} is left out: ${textOfError(error)}`);
    }
    this.#stored.memory.nextRun = run + 1;
    return true;
  }

  /** Ends the current run, and writes the file. */
  #finish(): void {
    const current = this.#current;
    if (current === null) return;
    current.finish();
    this.#reportTrouble(current);
    current.close();
    this.#current = null;
    this.#runs++;
    this.#stored.memory.nextRun = current.run + 1;
    this.#stored = { ...this.#stored, reported: [] };
    this.#checkpoint = structuredClone(this.#stored);
    this.#write();
  }

  /** Reports once why the rest of a run cannot be used. */
  #reportTrouble({ run, trouble }: ShadowedRun): void {
    if (trouble === null || this.#reportedRun === run) return;
    this.#reportedRun = run;
    this.#task.onTrouble(`run ${run}: ${trouble}`);
  }

  #alarm(alarm: ShadowAlarm): void {
    const key = `${alarm.run} ${alarm.at} ${alarm.detector}`;
    if (this.#checkpoint.reported.includes(key)) return;
    this.#checkpoint = { ...this.#checkpoint, reported: [...this.#checkpoint.reported, key].slice(-REPORTED_MAX) };
    this.#task.onAlarm(alarm);
    this.#write();
  }

  #write(): void {
    if (this.#task.once) return;
    try {
      writeShadow(this.#task.dir, this.#checkpoint);
    } catch (error) {
      this.#task.onTrouble(`the file of the shadow could not be written: ${textOfError(error)}`);
    }
  }
}
