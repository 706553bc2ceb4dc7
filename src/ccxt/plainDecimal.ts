/** Decimal text of numbers from ccxt, which holds the levels of books as doubles. */
import { isDecimalText, movedPoint, type DecimalText } from '../core/index.ts';

/** Number of significant digits that a double always keeps (IEEE 754, binary64). */
const DIGITS_KEPT = 15;

/**
 * Returns a number or text without exponent, sign or spare zeros before the point; `null` if it is not a decimal with
 * at most 20 digits before the point and 18 after it. Digits of a double after the 18th decimal are rounding errors,
 * and are dropped.
 */
export function plainDecimal(value: unknown): DecimalText | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const match = /^(\d{0,400})(?:\.(\d{0,400}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(String(value));
  if (match === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  if (whole + fraction === '') return null;
  const { before, after: decimals } = movedPoint(whole, fraction, Number(exponent));
  let end = decimals.length;
  while (end > 0 && decimals[end - 1] === '0') end--;
  const after = decimals.slice(0, typeof value === 'number' ? Math.min(end, 18) : end);
  const text = after === '' ? before : `${before}.${after}`;
  return isDecimalText(text) ? text : null;
}

/** Whether a double may lack digits of the text that the exchange sent. */
export const mayLackDigits = (value: number): boolean =>
  (plainDecimal(value) ?? '').replace('.', '').replace(/^0+/, '').length > DIGITS_KEPT;
