/** Decimal text of numbers from ccxt, which holds the levels of books as doubles. */
import { isDecimalText, type DecimalText } from '../core/index.ts';

/** Number of significant digits that a double always keeps (IEEE 754, binary64). */
const DIGITS_KEPT = 15;

/**
 * Returns a number or text without exponent, sign or spare zeros before the point; `null` if it is no decimal of at
 * most 20 digits before the point and 18 after it. Further digits of a double are rounding errors, and are dropped.
 */
export function plainDecimal(value: unknown): DecimalText | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const match = /^(\d{0,400})(?:\.(\d{0,400}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(String(value));
  if (match === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  if (whole + fraction === '') return null;
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0');
  const at = Math.max(0, point);
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  let end = padded.length;
  while (end > at && padded[end - 1] === '0') end--;
  const after = padded.slice(at, typeof value === 'number' ? Math.min(end, at + 18) : end);
  const text = after === '' ? before : `${before}.${after}`;
  return isDecimalText(text) ? text : null;
}

/** Whether a double may lack digits of the text that the exchange sent. */
export const mayLackDigits = (value: number): boolean =>
  (plainDecimal(value) ?? '').replace('.', '').replace(/^0+/, '').length > DIGITS_KEPT;
