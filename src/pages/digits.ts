/** Numbers with the digits that mean something: for JSON, and for people. */

/** Nine digits are more than any plot shows. Zero has no sign. */
export const short = (x: number): number => Number(x.toPrecision(9)) + 0;
/** The same; what is no number is null. */
export const shortOrNull = (x: number | null): number | null => (x !== null && Number.isFinite(x) ? short(x) : null);

/** About six digits, never in powers of ten. */
export function numberText(x: number): string {
  const whole = Math.abs(x) >= 1 ? Math.floor(Math.log10(Math.abs(x))) + 1 : 1;
  return x.toLocaleString('en-US', { maximumFractionDigits: Math.max(0, Math.min(8, 6 - whole)) });
}

/** Decimals of a coin that has no others here. */
const COIN_DIGITS = 8;
/** Coins that are worth a unit of money. */
const STABLE = new Set(['usdt', 'usdc', 'usdd', 'tusd', 'busd', 'fdusd', 'pyusd', 'dai', 'rlusd', 'mxnb', 'brl1']);
const MONIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Decimals in which a currency is shown: those of ISO 4217, two of a stable coin, eight of another coin. */
export function moneyDigits(currency: string): number {
  const code = currency.toUpperCase();
  if (STABLE.has(currency.toLowerCase())) return 2;
  if (!MONIES.has(code)) return COIN_DIGITS;
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions().maximumFractionDigits ?? 2
  );
}

/** A sum (decimal text, or approximate) in the digits of its currency, without its name; of less than its last digit two digits that are not zero. A true minus. */
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

/** The same with a plus before a gain. */
export const gainText = (sum: string | number, currency: string): string => {
  const text = sumText(sum, currency);
  return Number(sum) > 0 && /[1-9]/.test(text) ? `+${text}` : text;
};

/** Of a share; one decimal. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** From seconds: `90 s` below two minutes, then `5 min`, `1 h 30 min`, from two days on `2 d 3 h`. Rounded; hours beside days downwards. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${numberText(Number(seconds.toPrecision(3)))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A dash for what is not known. */
export const numberOr = (x: number | null, decimals = 2): string =>
  x === null ? '–' : x.toLocaleString('en-US', { maximumFractionDigits: decimals });
/** A dash for what is not known, else as `durationText`. */
export const secondsOr = (x: number | null): string => (x === null ? '–' : durationText(x));

/** `2026-01-31 12:00` of ISO 8601. */
export const minuteText = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

/** Returns a number of things in words, such as `1 bot` or `3 bots`. */
export const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
