/** How far a long piece of work is: said by who works, shown by whoever wants to. */
export type Progress = {
  /** `total` is in a unit of the work's own, `what` a word or two; ends what was shown before. */
  begin(total: number, what: string): void;
  /** So much of the total is done; `what`, when it is another than before. */
  at(done: number, what?: string): void;
  end(): void;
};

/** Hears now and then the share of a piece of work that is behind, from 0 to 1. */
export type OnShare = (share: number) => void;

/** The work is a bar of its own, from its beginning to its end. */
export async function withProgress<T>(
  progress: Progress,
  what: string,
  work: (onShare: OnShare) => T | Promise<T>,
): Promise<T> {
  progress.begin(1_000, what);
  try {
    return await work(share => progress.at(1_000 * share));
  } finally {
    progress.end();
  }
}
