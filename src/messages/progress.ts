/** Progress of a long task, independent of its display. */
export type Progress = {
  /**
   * Starts a progress bar and ends the previous one. `total` is in the task's own unit; `what` names the task in one or
   * two words. `advice`: what to do if the task makes no progress; default: no advice.
   */
  begin(total: number, what: string, advice?: string): void;
  /** Reports how much of `total` is done, and the new task name if it changed. */
  at(done: number, what?: string): void;
  end(): void;
};

/** Callback that receives the completed share of a task, from 0 to 1, at irregular times. */
export type OnShare = (share: number) => void;

/** Runs a task with its own progress bar. `advice`: see `Progress.begin`. */
export async function withProgress<T>(
  progress: Progress,
  what: string,
  work: (onShare: OnShare) => T | Promise<T>,
  advice?: string,
): Promise<T> {
  progress.begin(1_000, what, advice);
  try {
    return await work(share => progress.at(1_000 * share));
  } finally {
    progress.end();
  }
}
