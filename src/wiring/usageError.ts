/** Errors that end a command with a line of advice instead of a stack. */

/** Error of the operator, as lines; `code` is the exit code. */
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
  /** Account's position among the exchange's fee tiers; `null` if unknown. */
  readonly tier: string | null;
  constructor(problem: string, tier: string | null) {
    super(problem);
    this.tier = tier;
  }
}
