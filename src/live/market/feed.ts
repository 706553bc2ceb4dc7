/** Price feeds: parsing of a feed's text into a price and its age, or a reason for failure. */
import type { Millis } from '../../core/index.ts';

/**
 * `ageMs`: age of the price in wall time; never negative. `bid` and `ask` are present if the feed has both; `price` is
 * then their mean.
 */
export type FeedReading =
  | {
      readonly kind: 'price';
      readonly price: number;
      readonly bid?: number;
      readonly ask?: number;
      readonly ageMs: Millis;
    }
  | { readonly kind: 'failed'; readonly why: string };

/** External price, read on demand. A read never rejects, and ends within its time limit. */
export interface Feed {
  /** Name for the operator: the address without its secrets. */
  readonly name: string;
  read(): Promise<FeedReading>;
  close(): Promise<void>;
}

/**
 * JSON pointers (RFC 6901). `price` points to the price, or to bid and ask; `time` points to the time. If `price` is
 * empty, the complete text is one number.
 */
export type FeedFormat = { readonly price: readonly string[]; readonly time?: string | undefined };

/** Maximum time by which a price may be in the future, to allow for different clocks. */
const AHEAD_MS: Millis = 5_000;
/** Maximum length of a time as text. */
const TIME_LENGTH_MAX = 40;
const PLAIN = /^\d{1,20}(\.\d{1,18})?$/;

const failed = (why: string): FeedReading => ({ kind: 'failed', why });

/**
 * Parses a feed's text. `now` is the time of this machine; `at` is used as the time of the price if the text has no
 * time. `now` and `at` are in epoch ms.
 */
export function readingOf(text: string, format: FeedFormat, now: Millis, at: Millis): FeedReading {
  if (format.price.length === 0) {
    const plain = text.trim();
    if (!PLAIN.test(plain)) return failed(`expected one plain number, found ${shownValue(plain)}`);
    return aged([Number(plain)], now, at);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return failed(`expected JSON, found ${shownValue(text.trim())}`);
  }
  const prices: number[] = [];
  for (const pointer of format.price) {
    const found = numberOf(valueAt(json, pointer));
    if (!(found > 0 && found < Infinity))
      return failed(`expected a price above zero at ${pointer}, found ${shownValue(valueAt(json, pointer))}`);
    prices.push(found);
  }
  if (format.time === undefined) return aged(prices, now, at);
  const time = epochMsOf(valueAt(json, format.time));
  if (Number.isNaN(time))
    return failed(`expected a time at ${format.time}, found ${shownValue(valueAt(json, format.time))}`);
  return aged(prices, now, time);
}

/** Returns the reading of one price, or of bid and ask. */
function aged(prices: readonly number[], now: Millis, at: Millis): FeedReading {
  const [bid, ask] = prices;
  const price = prices.reduce((sum, each) => sum + each, 0) / prices.length;
  if (!(price > 0 && price < Infinity)) return failed(`expected a price above zero, found ${price}`);
  if (!(at - now <= AHEAD_MS))
    return failed(`the time of the price is ${Math.round((at - now) / 1_000)} s in the future`);
  const sides = bid === undefined || ask === undefined ? {} : { bid, ask };
  return { kind: 'price', price, ...sides, ageMs: Math.max(0, now - at) };
}

/** Returns the value at a JSON pointer; `undefined` if there is no value. */
function valueAt(json: unknown, pointer: string): unknown {
  let here = json;
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Readonly<Record<string, unknown>>)[key];
  }
  return here;
}

const numberOf = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'string' && PLAIN.test(value) ? Number(value) : Number.NaN;

/**
 * Parses a time. The magnitude of a number shows its unit, from seconds to nanoseconds since 1970. Text without a time
 * zone is rejected as ambiguous.
 */
function epochMsOf(value: unknown): Millis {
  const number = numberOf(value);
  if (number > 0) {
    for (const [below, factor] of UNITS) if (number < below) return number * factor;
    return Number.NaN;
  }
  return typeof value === 'string' && value.length <= TIME_LENGTH_MAX && /\d[Tt ]/.test(value) && ZONE.test(value)
    ? Date.parse(value)
    : Number.NaN;
}
const ZONE = /(?:[Zz]|[+-]\d\d:?\d\d)$/;
const UNITS = [
  [1e11, 1e3],
  [1e14, 1],
  [1e17, 1e-3],
  [1e20, 1e-6],
] as const;

/** Shortens a value of the feed to one line, for error texts. */
function shownValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null) return 'an object or a list';
  if (typeof value !== 'string' && typeof value !== 'number') return 'neither text nor a number';
  const line = String(value).replace(/[\s\p{Cc}]+/gu, ' ');
  return line === '' ? 'nothing' : JSON.stringify(line.length > 40 ? `${line.slice(0, 37)}...` : line);
}
