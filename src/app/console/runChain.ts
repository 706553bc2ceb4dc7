/**
 * Consecutive runs of one bot, replayed in order. Each run continues the data of the runs before it, so that a reload
 * or restart does not reset the page.
 */
import type { ConsoleView } from '../../console/index.ts';
import type { Millis } from '../../core/index.ts';
import { configChanges } from '../../config.ts';
import { replayedBook, RunReplay } from './runReplay.ts';

type Runs = ConsoleView['runs'];

/** Maximum time between the starts of the first and the last run of a chain, in ms. */
const BACK_MS = 86_400_000;
/** Maximum number of runs in a chain. */
const RUNS_MAX = 20;

/**
 * Returns the runs that the page shows, oldest first: the last run, and earlier runs within `BACK_MS` and `RUNS_MAX`.
 */
export function chainOf(runs: Runs): Runs {
  const last = runs.at(-1);
  return last === undefined ? [] : runs.filter(({ from }) => from >= last.from - BACK_MS).slice(-RUNS_MAX);
}

export class RunChain {
  readonly #dir: string;
  #replay: RunReplay | null = null;
  /** Run that replaces the current run once it has read the rules of its book; `null` if there is none. */
  #next: RunReplay | null = null;
  #left = 0;
  #taken = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Returns the replay of the current run; `null` before the first run. */
  get replay(): RunReplay | null {
    return this.#replay;
  }

  /** Returns why the next run cannot be shown yet; `null` if the replay of the next run has no error. */
  get trouble(): string | null {
    return this.#next?.ended?.difference ?? null;
  }

  /** Returns the progress of the replay from 0 to 1. */
  get share(): number {
    return (this.#taken + (this.#replay?.share ?? 0)) / (this.#taken + this.#left + 1);
  }

  /**
   * Replays `runs`, oldest first, up to a time; returns the result of `RunReplay.advance`. Skips a run that never read
   * its rules if there is a later run. Throws if the last run cannot be opened.
   */
  advance(runs: Runs, isOver: () => boolean, until: Millis = Infinity): 'more' | 'end' | 'there' {
    for (;;) {
      const current = this.#next ?? this.#replay;
      const later = runs.filter(({ run, from }) => run > (current?.run ?? -Infinity) && from <= until);
      this.#left = later.length;
      const state = current?.advance(isOver, until) ?? 'end';
      if (this.#next !== null && this.#next.now !== null) this.#takeOver(this.#next);
      if (state === 'more') return 'more';
      if (!this.#open(later)) return state;
    }
  }

  close(): void {
    this.#replay?.close();
    this.#next?.close();
  }

  #takeOver(next: RunReplay): void {
    const [before, after] = [this.#replay?.now ?? null, next.now];
    if (before !== null && after !== null) {
      for (const { book, setup, history } of after.books) {
        const earlier = replayedBook(before, book.symbol);
        if (earlier === null) continue;
        history.changed(configChanges(earlier.setup, setup));
        history.follow(earlier.history);
      }
    }
    if (this.#replay !== null) this.#taken++;
    this.#replay?.close();
    [this.#replay, this.#next] = [next, null];
  }

  /** Opens the first available run; returns `false` if no run is available. */
  #open(later: Runs): boolean {
    const last = later.at(-1);
    for (const one of later) {
      try {
        const opened = new RunReplay(this.#dir, one.run);
        this.#next?.close();
        this.#next = opened;
        return true;
      } catch (error) {
        // Recordings of earlier runs may be missing, because the oldest are deleted first. Only the last run must be
        // readable.
        if (one === last) throw error;
      }
    }
    return false;
  }
}
