/** Finding of one `puntas doctor` check: its result, and the remedy. */
import { sentenceOf } from '../../messages/exits.ts';

/**
 * Result of a check. `warn`: the bot can run but the operator should know the finding, or the check could not decide.
 */
export type FindingResult = 'pass' | 'warn' | 'fail';

export type Finding = {
  /** Subject of the check, in one or two words. */
  readonly check: string;
  readonly result: FindingResult;
  readonly says: string;
  /** Remedy for the operator; `null` if nothing needs to be done. */
  readonly todo: string | null;
};

/** Constructors of findings by result. */
export const finding = {
  pass: (check: string, says: string): Finding => ({ check, result: 'pass', says, todo: null }),
  warn: (check: string, says: string, todo: string): Finding => ({ check, result: 'warn', says, todo }),
  fail: (check: string, says: string, todo: string): Finding => ({ check, result: 'fail', says, todo }),
};

/** Returns the finding of a check that could not run. The error's message contains the remedy, if known. */
export const checkAborted = (check: string, error: unknown): Finding =>
  finding.fail(check, sentenceOf(error).split('\n').join('; '), 'fix the cause, then run puntas doctor again');
