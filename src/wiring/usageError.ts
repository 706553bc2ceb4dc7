/** Errors that end a command with a line of advice instead of a stack trace. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Error that the operator can fix, with one or more lines of text; `code` is the exit code. */
export class UsageError extends Error {
  readonly code: number;
  constructor(lines: string | readonly string[], code = 2) {
    super(typeof lines === 'string' ? lines : lines.join('\n'));
    this.name = 'UsageError';
    this.code = code;
  }
}

/** Error if the spreads of the strategy do not cover the account's fees. */
export class FeesTooHigh extends UsageError {
  /** Account's position in the exchange's fee tiers, as text; `null` if unknown. */
  readonly tier: string | null;
  constructor(problem: string, tier: string | null) {
    super(problem);
    this.tier = tier;
  }
}

/** State directory of `npm start` and of a bot without `state.dir`, relative to the working directory. */
const USUAL = 'state';

/**
 * Checks that the folder exists.
 * @throws UsageError if it does not; the error names the default state directory if that directory exists.
 */
export function requireStateFolder(dir: string): void {
  if (existsSync(dir)) return;
  const hasUsual = resolve(dir) !== resolve(USUAL) && existsSync(USUAL);
  const hint = hasUsual ? `; for the state in ./${USUAL}, use --state ./${USUAL} instead of -c` : '';
  throw new UsageError(`${dir}: no such folder; expected the state directory of a bot (state.dir)${hint}`);
}
