/** Back to a moment of the recordings: the run that went on then, replayed up to there, one asker after the other. */
import type { Clock, Millis } from '../../core/index.ts';
import type { ConsoleHistory, ConsoleView } from '../../console/index.ts';
import { RunReplay } from './runReplay.ts';

/** How long the process may stand still for a replay at a time, ms. */
const SLICE_MS = 25;
/** Askers that wait; more are turned away. */
const WAITING_MAX = 8;

/** A moment of the past, or why there is none. */
export type PastMoment = { readonly view: ConsoleView; readonly history: ConsoleHistory };

type ViewOfMoment = (replay: RunReplay, note: string | null, runs: ConsoleView['runs']) => ConsoleView | null;

export class PastMoments {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #viewOf: ViewOfMoment;
  /** Where the last asker was: a later moment of the same run goes on from there. */
  #last: RunReplay | null = null;
  #lastAt: Millis = -Infinity;
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(dir: string, clock: Clock, viewOf: ViewOfMoment) {
    this.#dir = dir;
    this.#clock = clock;
    this.#viewOf = viewOf;
  }

  /** `runs` oldest first. Null when nothing is kept of that time, too many ask, or the asker has gone. */
  async at(
    at: Millis,
    runs: ConsoleView['runs'],
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<PastMoment | null> {
    if (this.#waiting >= WAITING_MAX) return null;
    this.#waiting++;
    const turn = this.#queue.then(() => this.#replayed(at, runs, signal, onProgress));
    this.#queue = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }

  close(): void {
    this.#last?.close();
    this.#last = null;
  }

  async #replayed(
    at: Millis,
    runs: ConsoleView['runs'],
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<PastMoment | null> {
    for (const { run } of runs.filter(({ from }) => from <= at).reverse()) {
      if (signal.aborted) return null;
      const replay = this.#replayOf(run, at);
      this.#lastAt = at;
      for (;;) {
        const began = this.#clock.elapsed();
        const state = replay.advance(() => this.#clock.elapsed() - began > SLICE_MS, at);
        if (state !== 'more') break;
        onProgress(replay.share);
        await new Promise(resolve => setImmediate(resolve));
        if (signal.aborted) {
          // It stands before the moment now.
          this.#lastAt = replay.now?.seen.at ?? -Infinity;
          return null;
        }
      }
      const seenAt = replay.now?.seen.at ?? null;
      const isOver = seenAt !== null && at - seenAt > 30_000;
      const note = isOver
        ? `the bot was not running at ${new Date(at).toISOString()}: this is how it ended before`
        : null;
      const view = this.#viewOf(replay, note, runs);
      if (view !== null && replay.now) return { view, history: replay.now.history.shown };
    }
    return this.#first(at, runs);
  }

  /** The first moment that there is, for who asks for the seconds in which the first run read what it began with. */
  #first(at: Millis, runs: ConsoleView['runs']): PastMoment | null {
    const [run] = runs;
    if (run === undefined || at < run.from) return null;
    const replay = this.#replayOf(run.run, at);
    replay.advance(() => replay.now !== null);
    this.#lastAt = replay.now?.seen.at ?? -Infinity;
    const view = this.#viewOf(replay, 'the recording begins here', runs);
    return view !== null && replay.now ? { view, history: replay.now.history.shown } : null;
  }

  #replayOf(run: number, at: Millis): RunReplay {
    if (this.#last !== null && this.#last.run === run && this.#lastAt <= at) return this.#last;
    // Opening the next one may throw: what is closed is not kept.
    this.close();
    this.#last = new RunReplay(this.#dir, run);
    return this.#last;
  }
}
