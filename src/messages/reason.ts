/**
 * Reasons and names from an operator: cleaned before they reach a file, a log or a page, and rejected if meaningless.
 */
import { isReasonTooShort, REASON_MAX, RECORDED_NAME_MAX } from '../console/page/bounds.ts';
import { UsageError } from '../wiring/usageError.ts';

/**
 * Returns a reason as it is stored: one line, without control characters, of at most `REASON_MAX` characters.
 * `canBeEmpty` is whether an empty reason is accepted. `what` names the required content, for the error.
 * @throws UsageError if the reason has fewer than `REASON_MIN` visible characters.
 */
export function checkedReason(reason: string, { canBeEmpty = false, what = 'why' } = {}): string {
  const kept = cleaned(reason, REASON_MAX);
  if (isReasonTooShort(kept) && !(canBeEmpty && kept === ''))
    throw new UsageError(`--reason: expected a few words that say ${what}, for the record`);
  return kept;
}

/**
 * Returns the operator's name as it is stored: one line, without control characters, of at most
 * `RECORDED_NAME_MAX` characters.
 * @throws UsageError if the name is empty.
 */
export function checkedBy(by: string): string {
  const kept = cleaned(by, RECORDED_NAME_MAX);
  if (kept === '') throw new UsageError('--by: expected the name of the operator, found no readable text');
  return kept;
}

/**
 * Removes control characters, invisible characters and characters that change the direction of text, so that displayed
 * text cannot mislead the operator.
 */
const cleaned = (text: string, max: number): string =>
  [...text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim()].slice(0, max).join('').trim();
