/** What one look of `puntas doctor` found: whether it is as it should be, and what to do where it is not. */
import { sentenceOf } from '../../messages/exits.ts';

/** `warn`: it runs like that, and a person should know; or it cannot be known from here. */
export type FindingResult = 'pass' | 'warn' | 'fail';

export type Finding = {
  /** What was looked at, in a word or two. */
  readonly check: string;
  readonly result: FindingResult;
  readonly says: string;
  /** What a person does about it; null when nothing is to be done. */
  readonly todo: string | null;
};

/** Findings by their result. */
export const finding = {
  pass: (check: string, says: string): Finding => ({ check, result: 'pass', says, todo: null }),
  warn: (check: string, says: string, todo: string): Finding => ({ check, result: 'warn', says, todo }),
  fail: (check: string, says: string, todo: string): Finding => ({ check, result: 'fail', says, todo }),
};

/** Of what could not even be looked at. The sentence of the error says what to do, where anybody knows it. */
export const brokenOff = (check: string, error: unknown, todo = 'fix it, then run puntas doctor again'): Finding =>
  finding.fail(check, sentenceOf(error).split('\n').join('; '), todo);
