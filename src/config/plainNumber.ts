/** Decimal numbers as text, compared exactly. */

const PLACES = 20;

/**
 * Returns a plain decimal number as an integer of 10^-20; `null` for other text, such as exponents, signs with blanks,
 * or more than 20 decimal places.
 */
export function decimalTextOf(text: string): bigint | null {
  const found = /^(-?)(\d{1,20})(?:\.(\d{1,20}))?$/.exec(text);
  if (found === null) return null;
  const [, sign = '', whole = '', part = ''] = found;
  const size = BigInt(`${whole}${part.padEnd(PLACES, '0')}`);
  return sign === '-' ? -size : size;
}
