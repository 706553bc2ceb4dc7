/** JSON for an agent: texts without control characters, and every value of bounded size. */
import { CONTROL_CHARACTERS } from '../../core/index.ts';

const KEPT = /[\n\t]/;

export type JsonBounds = {
  /** Maximum number of characters of a text. */
  readonly text: number;
  /** Maximum number of elements of a list and of keys of an object. */
  readonly items: number;
  readonly depth: number;
};

const BOUNDS: JsonBounds = { text: 4_000, items: 1_000, depth: 16 };

/**
 * Returns a text, cut with a mark after `max` UTF-16 code units. Replaces control characters with spaces, except line
 * feeds and tabs.
 */
export function boundedText(text: string, max: number = BOUNDS.text): string {
  const cut = text.length > max ? `${text.slice(0, max)}… (cut)` : text;
  return cut.replace(CONTROL_CHARACTERS, sign => (KEPT.test(sign) ? sign : ' '));
}

/**
 * Returns a JSON value within the bounds. Texts, lists and objects that are too long are cut, and values that are too
 * deep are replaced, each with a mark.
 */
export function plainJson(value: unknown, bounds: JsonBounds = BOUNDS): unknown {
  if (typeof value === 'string') return boundedText(value, bounds.text);
  if (typeof value !== 'object' || value === null) return value;
  if (bounds.depth <= 0) return '… (cut)';
  const inner = { ...bounds, depth: bounds.depth - 1 };
  if (Array.isArray(value)) {
    const shown = value.slice(0, bounds.items).map(each => plainJson(each, inner));
    return value.length > bounds.items ? [...shown, omittedText(value.length - bounds.items)] : shown;
  }
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, bounds.items)
    .map(([key, each]): [string, unknown] => [boundedText(key, 200), plainJson(each, inner)]);
  return Object.fromEntries(
    entries.length > bounds.items ? [...shown, ['…', omittedText(entries.length - bounds.items)]] : shown,
  );
}

const omittedText = (count: number): string => `… (${count} more, cut)`;
