/** Exact comparison of decimal numbers that are given as text. */

const PLACES = 20;

/**
 * Returns a plain decimal number as an integer number of units of 10^-20; `null` for other text, such as an exponent, a
 * plus sign, or more than 20 digits before or after the point.
 */
export function decimalTextOf(text: string): bigint | null {
  const found = /^(-?)(\d{1,20})(?:\.(\d{1,20}))?$/.exec(text);
  if (found === null) return null;
  const [, sign = '', whole = '', part = ''] = found;
  const size = BigInt(`${whole}${part.padEnd(PLACES, '0')}`);
  return sign === '-' ? -size : size;
}
