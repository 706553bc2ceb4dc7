/**
 * Views of past points in time, each from a replay of the run of that time and the runs before it. Requests are handled
 * one after another.
 */
import type { Clock, Millis } from '../../core/index.ts';
import type { ConsoleHistory, ConsoleView } from '../../console/index.ts';
import { chainOf, RunChain } from './runChain.ts';
import { replayedBook, RunReplay } from './runReplay.ts';

/** Maximum time for which one slice of a replay may block the process, in ms. */
const SLICE_MS = 25;
/** Maximum number of waiting requests; further requests are rejected. */
const WAITING_MAX = 8;

/** View and charts at a past point in time. */
export type PastMoment = { readonly view: ConsoleView; readonly history: ConsoleHistory };

type ViewOfMoment = (
  replay: RunReplay,
  note: string | null,
  runs: ConsoleView['runs'],
  book: string | undefined,
) => ConsoleView | null;

export class PastMoments {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #viewOf: ViewOfMoment;
  /** Replay of the last request; a request for a later time continues this replay. */
  #last: RunChain | null = null;
  #lastFirst: number | undefined;
  #lastAt: Millis = -Infinity;
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(dir: string, clock: Clock, viewOf: ViewOfMoment) {
    this.#dir = dir;
    this.#clock = clock;
    this.#viewOf = viewOf;
  }

  /**
   * Returns the view of a book at a time, without a symbol of the first; `runs` are oldest first. Resolves to `null` if nothing was recorded at that time, if
   * too many requests wait, or if the request was aborted.
   */
  async at(
    at: Millis,
    runs: ConsoleView['runs'],
    signal: AbortSignal,
    onProgress: (share: number) => void,
    book?: string,
  ): Promise<PastMoment | null> {
    if (this.#waiting >= WAITING_MAX) return null;
    this.#waiting++;
    const turn = this.#queue.then(() => this.#replayed(at, runs, signal, onProgress, book));
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
    book: string | undefined,
  ): Promise<PastMoment | null> {
    const chained = chainOf(runs.filter(({ from }) => from <= at));
    if (signal.aborted) return null;
    const chain = this.#chainTo(at, chained);
    for (;;) {
      const began = this.#clock.elapsed();
      const state = this.#advanced(chain, chained, () => this.#clock.elapsed() - began > SLICE_MS, at);
      if (state !== 'more') break;
      onProgress(chain.share);
      await new Promise(resolve => setImmediate(resolve));
      if (signal.aborted) {
        // The aborted replay stopped before the requested time.
        this.#lastAt = chain.replay?.now?.seen.at ?? -Infinity;
        return null;
      }
    }
    this.#lastAt = at;
    const { replay } = chain;
    const seenAt = replay?.now?.seen.at ?? null;
    const isOver = seenAt !== null && at - seenAt > 30_000;
    const note = isOver
      ? `the bot was not running at ${new Date(at).toISOString()}; the page shows its last recorded state`
      : null;
    const moment = replay && this.#momentOf(replay, note, runs, book);
    return moment ?? this.#first(at, runs, book);
  }

  /**
   * Returns the first view of the first run, for a requested time at which this run was still reading its initial data.
   */
  #first(at: Millis, runs: ConsoleView['runs'], book: string | undefined): PastMoment | null {
    const [run] = runs;
    if (run === undefined || at < run.from) return null;
    this.close();
    const replay = new RunReplay(this.#dir, run.run);
    replay.advance(() => replay.now !== null);
    const moment = this.#momentOf(
      replay,
      'at the requested time, the bot was still reading its initial data; the page shows its first recorded state',
      runs,
      book,
    );
    replay.close();
    return moment;
  }

  /** Returns view and charts of a book; `null` if the run has not read its rules, or does not have the book. */
  #momentOf(
    replay: RunReplay,
    note: string | null,
    runs: ConsoleView['runs'],
    book: string | undefined,
  ): PastMoment | null {
    const view = this.#viewOf(replay, note, runs, book);
    const of = replay.now && replayedBook(replay.now, book);
    return view !== null && of !== null ? { view, history: of.history.shown } : null;
  }

  #advanced(chain: RunChain, ...rest: Parameters<RunChain['advance']>): ReturnType<RunChain['advance']> {
    try {
      return chain.advance(...rest);
    } catch (error) {
      // The next request starts a new replay after a failure.
      this.close();
      throw error;
    }
  }

  /** Returns the last replay if it can continue to the requested time, otherwise a new replay. */
  #chainTo(at: Millis, runs: ConsoleView['runs']): RunChain {
    if (this.#last !== null && this.#lastFirst === runs[0]?.run && this.#lastAt <= at) return this.#last;
    this.close();
    this.#lastFirst = runs[0]?.run;
    return (this.#last = new RunChain(this.#dir));
  }
}
