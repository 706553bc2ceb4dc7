/** How far a long piece of work is: said by who works, shown by whoever wants to. */
export type Progress = {
  /** `total` is in a unit of the work's own, `what` a word or two; ends what was shown before. */
  begin(total: number, what: string): void;
  /** So much of the total is done; `what`, when it is another than before. */
  at(done: number, what?: string): void;
  end(): void;
};

export const NO_PROGRESS: Progress = { begin: () => undefined, at: () => undefined, end: () => undefined };
