/** What ends a command with a line of what to do instead of a stack. */

/** What a person did wrong, told in lines; `code` is the exit code. */
export class UsageError extends Error {
  readonly code: number;
  constructor(lines: string | readonly string[], code = 2) {
    super(typeof lines === 'string' ? lines : lines.join('\n'));
    this.name = 'UsageError';
    this.code = code;
  }
}

/** The strategy cannot earn the account's fees. */
export class FeesTooHigh extends UsageError {
  /** Where the account stands between the exchange's tiers; null when that is not known. */
  readonly tier: string | null;
  constructor(problem: string, tier: string | null) {
    super(problem);
    this.tier = tier;
  }
}
