/** Exact conversion of printed numbers to whole ticks and lots. */
import {
  amountExact,
  priceExact,
  TooLarge,
  UNITS_MAX,
  type Amount,
  type DecimalText,
  type Instrument,
  type Price,
} from '../../core/index.ts';

const EXPONENT = /^(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,2})$/;
/**
 * Number of decimals above which a number counts as a double printed with 17 digits. No exchange prints so many
 * decimals.
 */
const NOISE_DECIMALS = 12;

/**
 * Returns the number as plain decimal text, without exponents ("1e-05"). A double printed with all 17 digits
 * ("236.61000000000001") becomes its shortest text ("236.61"), and `onNoise` is called.
 */
export function plainText(text: string, onNoise: () => void): DecimalText {
  const point = text.indexOf('.');
  if (point >= 0 && text.length - point - 1 > NOISE_DECIMALS) {
    onNoise();
    const shortest = String(Number(text));
    // The shortest text of a sum of doubles, such as 0.1 + 0.2, can still be long.
    const decimals = shortest.length - shortest.indexOf('.') - 1;
    const isLong = shortest.includes('.') && !shortest.includes('e') && decimals > NOISE_DECIMALS;
    return plainText(isLong ? Number(text).toFixed(NOISE_DECIMALS) : shortest, () => undefined);
  }
  const match = EXPONENT.exec(text);
  if (!match) return text;
  const fraction = match[2] ?? '';
  const shift = Number(match[3]) - fraction.length;
  const digits = match[1]! + fraction;
  if (shift >= 0) return digits + '0'.repeat(shift);
  const padded = digits.padStart(1 - shift, '0');
  return `${padded.slice(0, shift)}.${padded.slice(shift)}`;
}

/**
 * Converts a number from a local format to a format with a decimal point: `1.234,5` is 1234.5 if points separate
 * thousands. Throws a RangeError on other text.
 */
export function withPoint(text: string, decimal: string, thousands: string | undefined): string {
  if ((decimal === '.' && thousands === undefined) || text === '') return text;
  const parts = text.split(decimal);
  const groups = thousands === undefined ? [parts[0]!] : parts[0]!.split(thousands);
  const isGrouped = groups.length === 1 || /^[+-]?\d{1,3}(?:_\d{3})+$/.test(groups.join('_'));
  const number = [groups.join(''), ...parts.slice(1)];
  if (!isGrouped || number.length > 2 || number.some(part => part.includes('.')))
    throw new RangeError(
      `expected a number with ${JSON.stringify(decimal)} as decimal separator${thousands === undefined ? '' : ` and ${JSON.stringify(thousands)} as thousands separator`}, found ${JSON.stringify(text.slice(0, 80))}`,
    );
  return number.join('.');
}

/** Multiplies two plain decimals exactly. Throws a RangeError on other text. */
export function timesUnit(text: DecimalText, unit: DecimalText): DecimalText {
  if (unit === '1') return text;
  const [a, b] = [text, unit].map(each => /^(\d+)(?:\.(\d+))?$/.exec(each));
  if (!a || !b) throw new RangeError(`expected a decimal, found ${text}`);
  const decimals = (a[2]?.length ?? 0) + (b[2]?.length ?? 0);
  const digits = String(BigInt(a[1]! + (a[2] ?? '')) * BigInt(b[1]! + (b[2] ?? ''))).padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Part of the message about a price that is not a multiple of the tick; identifies errors that concern the tick. */
export const OFF_TICK = "'s tick size ";

/** Error for a number that is not a multiple of its tick or lot. */
export class OffGrid extends RangeError {}

/** Converts a price to whole ticks. Throws an OffGrid with the price if it is not a multiple of the tick. */
export function ticksOf(instrument: Instrument, text: DecimalText): Price {
  const ticks = priceExact(instrument, text);
  if (ticks === null)
    throw new OffGrid(`price ${text} is not a multiple of ${instrument.symbol}${OFF_TICK}${instrument.tick}`);
  return ticks;
}

/**
 * Converts an amount to whole lots. Throws an OffGrid if the amount is not a multiple of the lot. If the amount has too
 * many lots, throws a RangeError that suggests a larger lot.
 */
export function lotsOf(instrument: Instrument, text: DecimalText): Amount {
  let lots: Amount | null;
  try {
    lots = amountExact(instrument, text);
  } catch (error) {
    if (error instanceof TooLarge) throw new RangeError(`amount ${error.message}${coarserLot(text)}`);
    throw error;
  }
  if (lots === null)
    throw new OffGrid(`amount ${text} is not a multiple of ${instrument.symbol}'s lot size ${instrument.lot}`);
  return lots;
}

/** Returns advice to use a coarser lot that can represent this amount exactly; empty if there is no such lot. */
function coarserLot(text: DecimalText): string {
  const digitsAfter = text.split('.')[1] ?? '';
  let end = digitsAfter.length;
  while (digitsAfter[end - 1] === '0') end--;
  const fraction = digitsAfter.slice(0, end);
  const digits = BigInt((text.split('.')[0] ?? '') + fraction);
  if (digits > BigInt(UNITS_MAX)) return '';
  return `; set a larger lot size, like --lot ${fraction === '' ? '1' : `0.${'0'.repeat(fraction.length - 1)}1`}`;
}
