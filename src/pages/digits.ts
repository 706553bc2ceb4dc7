/** Numbers rounded to their significant digits, for JSON and for readers. */

/** Rounds to nine digits, more than a plot can show. Never returns −0. */
export const short = (x: number): number => Number(x.toPrecision(9)) + 0;
/** Rounds like `short`; returns `null` for `null`, NaN and infinity. */
export const shortOrNull = (x: number | null): number | null => (x !== null && Number.isFinite(x) ? short(x) : null);

/** Formats a number with about six digits, never in exponential notation. */
export function numberText(x: number): string {
  const whole = Math.abs(x) >= 1 ? Math.floor(Math.log10(Math.abs(x))) + 1 : 1;
  return x.toLocaleString('en-US', { maximumFractionDigits: Math.max(0, Math.min(8, 6 - whole)) });
}

/** Default decimals of a coin. */
const COIN_DIGITS = 8;
/** Stable coins, each worth one unit of a national currency. */
const STABLE = new Set(['usdt', 'usdc', 'usdd', 'tusd', 'busd', 'fdusd', 'pyusd', 'dai', 'rlusd', 'mxnb', 'brl1']);
const MONIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/**
 * Returns the number of decimals of a currency: the number in ISO 4217, two for a stable coin, eight for another coin.
 */
export function moneyDigits(currency: string): number {
  const code = currency.toUpperCase();
  if (STABLE.has(currency.toLowerCase())) return 2;
  if (!MONIES.has(code)) return COIN_DIGITS;
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions().maximumFractionDigits ?? 2
  );
}

/**
 * Formats a sum with the decimals of its currency, without the name of the currency. A sum below the last decimal has
 * two significant digits. The minus sign is U+2212.
 */
export function sumText(sum: string | number, currency: string): string {
  const x = Number(sum);
  const digits = moneyDigits(currency);
  const size = Math.abs(x);
  const isSmall = size > 0 && size < 10 ** -digits;
  const decimals = isSmall ? Math.min(COIN_DIGITS + 4, 1 - Math.floor(Math.log10(size))) : digits;
  const least = digits > 2 ? 0 : digits;
  const text = size.toLocaleString('en-US', { minimumFractionDigits: least, maximumFractionDigits: decimals });
  return x < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** Formats a sum like `sumText`, with a plus sign before a gain. */
export const gainText = (sum: string | number, currency: string): string => {
  const text = sumText(sum, currency);
  return Number(sum) > 0 && /[1-9]/.test(text) ? `+${text}` : text;
};

/** Formats a share, such as 0.5, as a percentage with one decimal. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

/**
 * Formats seconds: `90 s` below two minutes, then `5 min`, `1 h 30 min`, and `2 d 3 h` from two days on. Below two
 * minutes, the number has three significant digits. Longer durations are rounded to the nearest minute, and from two
 * days on also down to the whole hour.
 */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${numberText(Number(seconds.toPrecision(3)))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats a number; returns a dash for `null`. */
export const numberOr = (x: number | null, decimals = 2): string =>
  x === null ? '–' : x.toLocaleString('en-US', { maximumFractionDigits: decimals });
/** Formats seconds like `durationText`; returns a dash for `null`. */
export const secondsOr = (x: number | null): string => (x === null ? '–' : durationText(x));

/** Shortens an ISO 8601 time to minutes, such as `2026-01-31 12:00`. */
export const minuteText = (iso: string): string => iso.slice(0, 16).replace('T', ' ');
