/** Readers of Kraken's numbers: decimals as text or JSON numbers, and times in seconds with a fraction, all exact. */
import { isDecimalText, movedPoint, trimmedEnd, type DecimalText, type Millis } from '../../../core/index.ts';
import { fault, type Row } from '../../wire/wire.ts';

const NUMBER = /^(\d{1,20})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * Returns the plain decimal digits of a number, without an exponent; undefined for other values.
 *
 * A JSON number of at most 15 characters is read without loss: its double converts back to the same digits.
 * `parseExactJson` keeps longer numbers as text.
 */
export function unfoldedDecimal(value: unknown): DecimalText | undefined {
  const parts = NUMBER.exec(typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '');
  if (!parts) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const { before, after } = movedPoint(whole, fraction, Number(exponent));
  // Zeros after the 18th decimal are dropped. Other digits there are kept, so that the value is rejected and not cut.
  const kept = after.slice(0, DECIMALS_MAX) + trimmedEnd(after.slice(DECIMALS_MAX), '0');
  const plain = kept === '' ? before : `${before}.${kept}`;
  return isDecimalText(plain) ? plain : undefined;
}

/** Maximum number of decimals of money. */
export const DECIMALS_MAX = 18;

/** Reads an unsigned decimal, which is text or a JSON number. */
export function krakenDecimal(of: Row, field: string): DecimalText {
  const plain = unfoldedDecimal(of[field]);
  if (plain === undefined) throw fault(field, `a decimal number with at most ${DECIMALS_MAX} decimals`, of[field]);
  return plain;
}

const SECONDS = /^(\d{1,11})(?:\.(\d{1,12}))?$/;

/** Converts a time in seconds with a fraction, as text or number, to whole milliseconds, rounded down. */
export function millisOfSeconds(value: unknown, field: string): Millis {
  const parts = SECONDS.exec(unfoldedDecimal(value) ?? '');
  if (!parts) throw fault(field, 'a time in seconds', value);
  return Number(parts[1]) * 1000 + Number((parts[2] ?? '').slice(0, 3).padEnd(3, '0'));
}

/** Reads a time in seconds with a fraction. */
export const krakenTime = (of: Row, field: string): Millis => millisOfSeconds(of[field], field);
